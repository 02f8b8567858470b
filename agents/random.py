"""`random`: any legal action, all equally probable."""

from __future__ import annotations

import numpy as np

from agents.protocol import Actions, Masks, Observations, Table


class RandomAgent:
    """Any legal action, all equally probable."""

    name = "random"

    def __init__(self, table: Table, seed: int = 0) -> None:
        """The choices are a function of the seed and of the calls made."""
        self._random = np.random.default_rng(seed)

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        """Choose; see `Agent.act`."""
        lots = self._random.random(action_masks.shape, dtype=np.float32)
        chosen: Actions = np.where(action_masks != 0, lots, -1.0).argmax(axis=1)
        return chosen
