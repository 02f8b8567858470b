"""An agent's opinion of a position: play probabilities, the position's value, beliefs about hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from millebornes_env.agents.millebornes.strategist.agent import StrategistAgent
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.protocol import Agent, Table
from millebornes_env.agents.search.agent import SearchAgent, can_judge
from millebornes_env.agents.search.beliefs import NetworkBelief, uniform_chances
from millebornes_env.agents.search.hand_files import has_hand_network
from millebornes_env.agents.search.over import OVER_A_JUDGE
from millebornes_env.agents.search.seen_plays import PastPlay, windows_seen
from millebornes_env.envs.vector import Observations, VectorEnv
from millebornes_env.errors import PlayError
from millebornes_env.games.millebornes.rulebook import POINTS_PER_REWARD

REDEALS: Final = 39
"""Number of redeals; few enough that search drops no action, because the page compares all of them."""

_HANDS: Final = 1_000
_KEY: Final = (1, 2)
DEPTH: Final[int] = OVER_A_JUDGE["depth"]
"""Decisions after which the network judges instead of playing on."""


def opinion(
    env: VectorEnv,
    agent: Agent,
    observations: Observations,
    *,
    with_search: bool = False,
    plays: Sequence[PastPlay] | None = None,
) -> dict[str, Any]:
    """Return the agent's opinion of the position, from the view of the seat to act.

    Args:
        env: environment with one game.
        agent: an agent with a network, or search over one; or `strategist`, which only has a choice, search
            and beliefs.
        observations: observations of the position.
        with_search: also search.
        plays: all decisions of the round so far, to include the belief about hidden hands; else None.

    Returns:
        `value` in points or, without points, the chance to `win` (None without a value network),
        `probabilities` and, if requested, `search` and `belief` (see `belief_about_hands`).

    Raises:
        PlayError: the agent has no opinions.
    """
    policy: Any = agent.rollout_agent if isinstance(agent, SearchAgent) else agent
    if not isinstance(policy, PolicyAgent | StrategistAgent):
        raise PlayError(
            f"{agent.name} cannot judge plays; the champion can, or 'strategist' at tables without a champion"
        )
    result: dict[str, Any] = {
        "agent": agent.name,
        "seat": int(env.agent_selection[0]),
        **_worth(policy, observations["observation"]),
        "probabilities": _probabilities(policy, observations),
    }
    if with_search:
        result["search"] = _searched(env, policy)
    if plays is not None:
        result["belief"] = belief_about_hands(env, plays)
    return result


def _probabilities(policy: PolicyAgent | StrategistAgent, observations: Observations) -> list[dict[str, Any]]:
    """Return the probability of each legal action, likeliest first; for a rule-based agent its choice."""
    rows, masks = observations["observation"], observations["action_mask"]
    if not isinstance(policy, PolicyAgent):
        return [{"action": int(policy.act(rows, masks)[0]), "p": 1.0}]
    chances = policy.probabilities(rows, masks)[0]
    legal = sorted(np.flatnonzero(masks[0]).tolist(), key=lambda action: -chances[action])
    return [{"action": action, "p": round(float(chances[action]), 4)} for action in legal]


def belief_about_hands(env: VectorEnv, plays: Sequence[PastPlay]) -> list[dict[str, Any]]:
    """Estimate the hidden hands, as the seat to act may see them.

    A hand network (`agents.search.beliefs.NetworkBelief`) is used at tables that it knows; at others all
    deals that fit are equally probable.

    Args:
        env: one game.
        plays: all decisions of the round so far.

    Returns:
        For each other seat, `seat` and `p`, the probability that it holds each card at least once.
    """
    table = Table.of(env)
    states, seats = env.get_states(), env.agent_selection.astype(np.int32)
    own = int(seats[0])
    if has_hand_network(table):
        belief = NetworkBelief(table)
        (known,) = SearchAgent(table).known(states, seats, np.zeros(1, np.int64))
        known = known._replace(windows=windows_seen(plays, known.rules, own))
        held = (belief.sample(known, _HANDS, _KEY)[:, 1] > 0).mean(axis=0)
        return [{"seat": 1 - own, "p": held.round(4).tolist()}]
    unseen = states["hidden"][0].astype(np.int64) - states["hand"][0, own]
    sizes = states["hand_count"][0].tolist()
    others = [seat for seat in range(table.rules.players) if seat != own]
    return [{"seat": seat, "p": uniform_chances(unseen, sizes[seat]).round(4).tolist()} for seat in others]


def _worth(policy: PolicyAgent | StrategistAgent, rows: Any) -> dict[str, float | None]:
    """Return the worth of the position: `value` in points or, without points, the chance to `win`."""
    if not isinstance(policy, PolicyAgent) or policy.value is None:
        return {"value": None, "win": None}
    value, rules = float(policy.values(policy.inputs(rows))[0]), policy.table.rules
    if rules.count_points == 1:
        unit = POINTS_PER_REWARD if policy.value == "points" else 1.0
        return {"value": round(value * unit, 1), "win": None}
    share = (value * (rules.teams - 1) + 1) / rules.teams  # inverse of rewards.reward_of_share
    return {"value": None, "win": round(min(1.0, max(0.0, share)), 4)}


def _searched(env: VectorEnv, policy: PolicyAgent | StrategistAgent) -> list[dict[str, Any]]:
    """List the mean gain in points of each play over the network's choice, best first."""
    table = Table.of(env)
    depth = DEPTH if can_judge(policy, table) else 0
    searcher = SearchAgent(table, 1, policy, rollouts=REDEALS, z=1.0, threads=1, depth=depth)
    searcher.act_on(env.get_states(), env.agent_selection.astype(np.int32), np.zeros(1, np.int64))
    gains = sorted(searcher.last_gains(), key=lambda one: -one[1])
    return [
        {"action": action, "mean": round(mean, 3), "error": round(error, 3)} for action, mean, error in gains
    ]
