"""Ask an agent in a position, and a compiled agent by the games themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from millebornes_env import vector_env
from millebornes_env.agents import load
from millebornes_env.agents.compiled.agent import MEMORY, CompiledAgent, agent_kernels_of
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.engine.rulebook import StateArray
from tests.support import Position


def action_in(spec: str, position: Position) -> int:
    """Return the action of the agent of that name for the seat to act, from its observation."""
    rules = position.rules
    env = vector_env(1, players=rules.players, teams=rules.teams)
    observations, _ = env.reset(seed=1)
    position.check()
    env.set_states(position.games.states)
    return int(load(spec, env).act(observations["observation"], observations["action_mask"])[0])


def chosen_by_state(
    agent: CompiledAgent,
    rules: Any,
    states: StateArray,
    draws: np.ndarray | None = None,
    memories: np.ndarray | None = None,
) -> np.ndarray:
    """Return the agent's choices when it is given the states themselves, of any game, each at a decision.

    Random numbers, int64[N], are 0 by default; memories, int16[N, MEMORY], blank; the agent overwrites them.
    """
    count = len(states)
    actions, rulebook = np.empty(count, np.int64), agent.table.rulebook
    agent_kernels_of(rulebook).choose_each(
        *(agent.address, for_kernels(states), for_kernels(rulebook.rules_array(rules))[0]),
        states["seat"].astype(np.int32),
        np.zeros((count, MEMORY), np.int16) if memories is None else memories,
        agent.options,
        np.zeros(count, np.int64) if draws is None else draws,
        actions,
    )
    return actions
