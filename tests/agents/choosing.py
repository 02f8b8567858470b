"""Ask a compiled agent by the games themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from millebornes_env.agents.compiled.agent import MEMORY, CompiledAgent, agent_kernels_of
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.engine.rulebook import StateArray


def chosen_by_state(
    agent: CompiledAgent,
    rules: Any,
    states: StateArray,
    draws: np.ndarray | None = None,
    memories: np.ndarray | None = None,
) -> np.ndarray:
    """Return the agent's choices when it is given the states themselves, of any game.

    Args:
        agent: Its function is called once for each state.
        rules: Those of the table.
        states: Records of games, each at a decision.
        draws: Random numbers, int64[N]; 0 by default.
        memories: int16[N, MEMORY], which the agent overwrites; blank ones by default.
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
