"""The spaces of a table: what a seat is shown and may do, of one game and of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space

from millebornes_env.engine.layout import Section

Spaces = tuple[gymnasium.spaces.Dict, gymnasium.spaces.Discrete]
"""Of observations, and of actions."""


def spaces_of_one(sections: Sequence[Section], actions: int, players: int) -> Spaces:
    """The spaces of one game.

    Args:
        sections: the layout of an observation.
        actions: A, how many there are.
        players: seats at the table.

    Returns:
        A dictionary of `observation` int8[D], `action_mask` int8[A] and `agent_selection`; and `Discrete(A)`.
    """
    # At least 1: a number that is always 0 (a card that a mini deck lacks) has a range as well.
    high = np.concatenate([np.full(one.size, max(one.high, 1), np.int8) for one in sections])
    observations = gymnasium.spaces.Dict(
        {
            "observation": gymnasium.spaces.Box(np.zeros_like(high), high, dtype=np.int8),
            "action_mask": gymnasium.spaces.Box(0, 1, (actions,), np.int8),
            "agent_selection": gymnasium.spaces.Discrete(players, dtype=np.int32),
        }
    )
    return observations, gymnasium.spaces.Discrete(actions)


def batched(spaces: Spaces, num_envs: int) -> tuple[gymnasium.Space[Any], gymnasium.Space[Any]]:
    """The same for N games."""
    return batch_space(spaces[0], num_envs), batch_space(spaces[1], num_envs)
