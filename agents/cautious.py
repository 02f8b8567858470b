"""An example agent: copy this file, change its preferences, and run it.

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
    """Attacks only after it has driven some distance; else takes the first legal action."""

    name = "cautious"

    def __init__(
        self, table: Table, seed: int = 0, patience: Annotated[int, Between(0, 1_000)] = 300
    ) -> None:
        """Create the agent.

        Args:
            table: the table to play at.
            seed: unused, because the agent is deterministic.
            patience: km to drive before attacking.
        """
        self.table, self.patience = table, patience

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        """Choose an action for each row; see `Agent.act`."""
        km = 25 * self.table.section(observations, "km")[:, 0]  # its own km; observations count in 25s
        preference = np.zeros(action_masks.shape, np.int64)
        preference[km < self.patience, ACCIDENT : SPEED_LIMIT + 1] = -1
        return best_legal(preference, action_masks)
