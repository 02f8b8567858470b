"""Observation and action spaces of one game."""

from __future__ import annotations

from collections.abc import Sequence

import gymnasium
import numpy as np

from millebornes_env.engine.layout import Section

Spaces = tuple[gymnasium.spaces.Dict, gymnasium.spaces.Discrete]
"""Observation space and action space."""


def spaces_of_one(sections: Sequence[Section], actions: int, players: int) -> Spaces:
    """Return the spaces of one game, of the layout of an observation, A actions and the seats at the table.

    Returns:
        A dictionary space of `observation` int8[D], `action_mask` int8[A] and `agent_selection`; and
        `Discrete(A)`.
    """
    # At least 1: numbers that are always 0 (cards that a mini deck lacks) need a range, too.
    high = np.concatenate([np.full(one.size, max(one.high, 1), np.int8) for one in sections])
    observations = gymnasium.spaces.Dict(
        {
            "observation": gymnasium.spaces.Box(np.zeros_like(high), high, dtype=np.int8),
            "action_mask": gymnasium.spaces.Box(0, 1, (actions,), np.int8),
            "agent_selection": gymnasium.spaces.Discrete(players, dtype=np.int32),
        }
    )
    return observations, gymnasium.spaces.Discrete(actions)
