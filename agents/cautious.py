"""An agent of your own: copy this file, change what it prefers, and let it play.

python -m millebornes_env arena agents/cautious.py:Cautious greedy --deals 20
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from millebornes_env.agents import BaseAgent, Table
from millebornes_env.agents.options import Between
from millebornes_env.agents.protocol import Actions, Masks, Observations, best_legal
from millebornes_env.games.millebornes.cards import ACCIDENT, SPEED_LIMIT


class Cautious(BaseAgent):
    """Attacks nobody before it has driven some way; else the first legal action."""

    name = "cautious"

    def __init__(
        self, table: Table, seed: int = 0, patience: Annotated[int, Between(0, 1_000)] = 300
    ) -> None:
        """Nothing is drawn by chance, so `seed` is not used.

        Args:
            table: the table to play at.
            seed: of its own random numbers.
            patience: km that it drives before it attacks.
        """
        self.table, self.patience = table, patience

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        """Choose an action for each row; see `Agent.act`."""
        km = 25 * self.table.section(observations, "km")[:, 0]  # its own; observations count in 25s
        preference = np.zeros(action_masks.shape, np.int64)
        preference[km < self.patience, ACCIDENT : SPEED_LIMIT + 1] = -1
        return best_legal(preference, action_masks)
