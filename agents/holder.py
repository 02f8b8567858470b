"""`holder`: plays like `greedy` but keeps its safeties for coups fourrés until the draw pile runs low.

A safety that lifts the hazard now lying on the own pile is played at once; the others are laid when at most
`pile` cards are left to draw, because a safety still in hand at the end is worth nothing.
"""

from __future__ import annotations

import numpy as np

from agents.greedy import GreedyAgent
from agents.protocol import Actions, Masks, Observations, Table, best_legal
from millebornes_env.millebornes.actions import discard_action
from millebornes_env.millebornes.cards import DRIVING_ACE, NUM_SAFETIES, RIGHT_OF_WAY
from millebornes_env.millebornes.observation import BATTLE_TOPS

_AT_ONCE, _NOT_YET = 5500, -1
_HAZARDS_IN_SAFETY_ORDER = ("accident", "out of gas", "flat tire", "stop")


class HolderAgent(GreedyAgent):
    """`greedy` with patience for the coup fourré."""

    name = "holder"

    def __init__(self, table: Table, seed: int = 0, pile: int = 40) -> None:
        """Nothing is drawn by chance.

        Args:
            table: the table to play at.
            seed: not used.
            pile: safeties are laid when at most so many cards are left to draw.
        """
        super().__init__(table, seed)
        self._pile = pile

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        """Choose; see `Agent.act`."""
        view = self._table.view
        liking = self.liking(observations)
        waits = view(observations, "draw_pile")[:, 0] > self._pile
        battle = view(observations, "battle")
        limited = view(observations, "limited")[:, 0] == 1
        for safety in range(NUM_SAFETIES):
            action = DRIVING_ACE + safety
            cures = battle[:, BATTLE_TOPS.index(_HAZARDS_IN_SAFETY_ORDER[safety])] == 1
            if action == RIGHT_OF_WAY:
                cures = cures | limited
            liking[:, action] = np.where(cures, _AT_ONCE, np.where(waits, _NOT_YET, liking[:, action]))
            liking[:, discard_action(action)] = _NOT_YET - 1
        return best_legal(liking, action_masks)
