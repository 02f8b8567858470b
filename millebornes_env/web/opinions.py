"""What an agent with a network thinks of a position: how probable each play is, what it is all worth."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from millebornes_env import VectorEnv
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.protocol import Agent, Table
from millebornes_env.agents.search.agent import SearchAgent, can_judge
from millebornes_env.envs.vector import Observations
from millebornes_env.millebornes.rulebook import POINTS_PER_REWARD
from millebornes_env.web.errors import TableError

REDEALS: Final = 39
"""So few that search drops no action: the page compares all of them."""

DEPTH: Final = 24
"""Decisions after which the network judges instead of playing on."""


def opinion(
    env: VectorEnv, agent: Agent, observations: Observations, *, with_search: bool = False
) -> dict[str, Any]:
    """What the agent thinks of the position of the seat whose turn it is, from what that seat sees.

    Args:
        env: of one game.
        agent: with a network, or search over one.
        observations: of that position.
        with_search: whether to let it search, too.

    Returns:
        `value` in points (None: it has not learned any), `probabilities` and, if it searches, `search`.

    Raises:
        TableError: the agent has no network.
    """
    policy = agent.rollout_agent if isinstance(agent, SearchAgent) else agent
    if not isinstance(policy, PolicyAgent):
        raise TableError(
            f"{agent.name} plays by rules of thumb, and cannot say how good a play is; the champion can"
        )
    rows, masks = observations["observation"], observations["action_mask"]
    chances = policy.probabilities(rows, masks)[0]
    legal = sorted(np.flatnonzero(masks[0]).tolist(), key=lambda action: -chances[action])
    found: dict[str, Any] = {
        "agent": agent.name,
        "seat": int(env.agent_selection[0]),
        "value": _value(policy, rows),
        "probabilities": [{"action": action, "p": round(float(chances[action]), 4)} for action in legal],
    }
    if with_search:
        found["search"] = _searched(env, policy)
    return found


def _value(policy: PolicyAgent, rows: Any) -> float | None:
    if policy.value is None:
        return None
    unit = POINTS_PER_REWARD if policy.value == "points" else 1.0
    return round(float(policy.values(policy.inputs(rows))[0]) * unit, 1)


def _searched(env: VectorEnv, policy: PolicyAgent) -> list[dict[str, Any]]:
    """The mean gain of each play over what the network would do, in points, the best first."""
    table = Table.of(env)
    depth = DEPTH if can_judge(policy, table) else 0
    searcher = SearchAgent(table, 1, policy, rollouts=REDEALS, z=1.0, threads=1, depth=depth)
    searcher.act_on(env.get_states(), env.agent_selection.astype(np.int32), np.zeros(1, np.int64))
    gains = sorted(searcher.last_gains(), key=lambda one: -one[1])
    return [
        {"action": action, "mean": round(mean, 1), "error": round(error, 1)} for action, mean, error in gains
    ]


__all__ = ["opinion"]
