"""An agent's opinion of a position: play probabilities, the position's value, beliefs about hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from millebornes_env.agents.millebornes.strategist.agent import StrategistAgent
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.protocol import Agent, Table
from millebornes_env.agents.search.agent import SearchAgent, can_judge
from millebornes_env.agents.search.beliefs import POLICY, drawn_hands
from millebornes_env.agents.search.over import OVER_A_JUDGE
from millebornes_env.agents.search.seen_plays import (
    CANDIDATES,
    EPSILON,
    TEMPERATURE,
    WINDOW,
    PastPlay,
    windows_seen,
)
from millebornes_env.envs.vector import Observations, VectorEnv
from millebornes_env.errors import PlayError
from millebornes_env.games.millebornes.rulebook import POINTS_PER_REWARD

REDEALS: Final = 39
"""Number of redeals; few enough that search drops no action, because the page compares all of them."""

Key = tuple[int, int]

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
        agent: an agent with a network, or search over one; or `strategist`, which only has its choice, search
            and beliefs.
        observations: observations of the position.
        with_search: let it search, too.
        plays: all decisions of the round so far, to include its belief about the hidden hands; else None.

    Returns:
        `value` in points or, without points, the chance to `win` (None if it has learned neither),
        `probabilities` and, if requested, `search` and `belief` (see `belief_about_hands`).

    Raises:
        PlayError: the agent has no opinions.
    """
    policy: Any = agent.rollout_agent if isinstance(agent, SearchAgent) else agent
    if not isinstance(policy, PolicyAgent | StrategistAgent):
        raise PlayError(
            f"{agent.name} plays by rules of thumb, and cannot say how good a play is; the champion can, "
            "and 'strategist' where there is none"
        )
    found: dict[str, Any] = {
        "agent": agent.name,
        "seat": int(env.agent_selection[0]),
        **_worth(policy, observations["observation"]),
        "probabilities": _probabilities(policy, observations),
    }
    if with_search:
        found["search"] = _searched(env, policy)
    if plays is not None:
        found["belief"] = belief_about_hands(env, policy, plays)
    return found


def _probabilities(policy: PolicyAgent | StrategistAgent, observations: Observations) -> list[dict[str, Any]]:
    """Return the probability of each legal action, likeliest first; for a rule-based agent its choice."""
    rows, masks = observations["observation"], observations["action_mask"]
    if not isinstance(policy, PolicyAgent):
        return [{"action": int(policy.act(rows, masks)[0]), "p": 1.0}]
    chances = policy.probabilities(rows, masks)[0]
    legal = sorted(np.flatnonzero(masks[0]).tolist(), key=lambda action: -chances[action])
    return [{"action": action, "p": round(float(chances[action]), 4)} for action in legal]


def belief_about_hands(
    env: VectorEnv, policy: PolicyAgent | StrategistAgent, plays: Sequence[PastPlay], key: Key = (1, 2)
) -> list[dict[str, Any]]:
    """Return the beliefs of the seat to act about each other hand, given the plays of this round.

    Possible hands are drawn and weighted by the probability of the public plays if their holders play like
    the agent, like `strategist` or at random (`agents.search.beliefs.PolicyBelief`).

    Args:
        env: environment with one game.
        policy: the agent.
        plays: all decisions of the round so far.
        key: random key.

    Returns:
        For each other seat `seat`, its number, and `p`, the probability for each card that the seat holds at
        least one.
    """
    states, seats = env.get_states(), env.agent_selection.astype(np.int32)
    table, own = Table.of(env), int(seats[0])
    settings: dict[str, Any] = {"epsilon": EPSILON, "temperature": TEMPERATURE, "window": WINDOW}
    searcher = SearchAgent(table, 0, policy, threads=1, belief=POLICY, **settings)
    (known,) = searcher.known(states, seats, np.zeros(1, np.int64))
    drawn = drawn_hands(known, CANDIDATES, key)
    hands = np.roll(drawn, own, axis=1)  # drawn by seats from the own one; the record has those of the table
    known = known._replace(windows=windows_seen(plays, known.rules, own))
    weights = searcher.belief.weigh(known, hands, key).weights
    held = np.einsum("c,csk->sk", weights, hands > 0) / weights.sum()
    others = [seat for seat in range(table.rules.players) if seat != own]
    return [{"seat": seat, "p": held[seat].round(4).tolist()} for seat in others]


def _worth(policy: PolicyAgent | StrategistAgent, rows: Any) -> dict[str, float | None]:
    """Return the worth of the position: `value` in points or, without points, the chance to `win`."""
    if not isinstance(policy, PolicyAgent) or policy.value is None:
        return {"value": None, "win": None}
    value, rules = float(policy.values(policy.inputs(rows))[0]), policy.table.rules
    if rules.count_points == 1:
        unit = POINTS_PER_REWARD if policy.value == "points" else 1.0
        return {"value": round(value * unit, 1), "win": None}
    share = (value * (rules.teams - 1) + 1) / rules.teams  # as rewards.reward_of_share has made it
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


__all__ = ["belief_about_hands", "opinion"]
