"""Asking a compiled agent by the games themselves."""

from __future__ import annotations

import numpy as np

from millebornes_env import VectorEnv
from millebornes_env.agents.compiled.agent import MEMORY, CompiledAgent, agent_kernels_of
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes.rules import compiled_rules
from millebornes_env.games.millebornes.state import StateArray


def chosen_by_state(
    agent: CompiledAgent, env: VectorEnv, states: StateArray, draws: np.ndarray | None = None
) -> np.ndarray:
    """Return the agent's choices when it is given the states themselves."""
    count = len(states)
    actions = np.empty(count, np.int64)
    agent_kernels_of(Table.of(env).rulebook).choose_each(
        agent.address,
        for_kernels(states),
        compiled_rules(env.rules),
        states["seat"].astype(np.int32),
        np.zeros((count, MEMORY), np.int16),
        agent.options,
        np.zeros(count, np.int64) if draws is None else draws,
        actions,
    )
    return actions
