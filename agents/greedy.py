"""`greedy`: finish > distance > remedy > hazard > safety > discard, the largest distance first.

It claims every coup fourré, never extends a trip, and when it must discard gives away what it is least likely
to need.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.protocol import Actions, Masks, Observations, Table, best_legal
from millebornes_env.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    FINISH,
    card_of,
    is_discard,
)
from millebornes_env.millebornes.cards import (
    KM,
    NO_CARD,
    NUM_DISTANCES,
    STOP,
    Card,
    is_distance,
    is_hazard,
    is_remedy,
    is_safety,
)

# Each kind has a band of a thousand; within it, what a rule below adds.
_FINISH, _DISTANCE, _REMEDY, _HAZARD, _SAFETY, _DISCARD = 6000, 5000, 4000, 3000, 2000, 1000

DISCARD_FIRST = (
    Card.DISTANCE_25,
    Card.END_OF_LIMIT,
    Card.DISTANCE_50,
    Card.SPEED_LIMIT,
    Card.DISTANCE_75,
    Card.REPAIRS,
    Card.GASOLINE,
    Card.SPARE_TIRE,
    Card.DISTANCE_100,
    Card.DISTANCE_200,
    Card.ACCIDENT,
    Card.OUT_OF_GAS,
    Card.FLAT_TIRE,
    Card.STOP,
    Card.ROLL,
    Card.DRIVING_ACE,
    Card.EXTRA_TANK,
    Card.PUNCTURE_PROOF,
    Card.RIGHT_OF_WAY,
)
"""The order in which cards are given away: what stops or starts a car is kept longest."""


def preferences(num_actions: int) -> npt.NDArray[np.int64]:
    """How much `greedy` likes each action of a table, finishing apart: int64[num_actions]."""
    liking = np.zeros(num_actions, np.int64)
    for action in range(num_actions):
        card = card_of(action)
        if card == NO_CARD:
            liking[action] = _FINISH if action in (CLAIM_COUP_FOURRE, FINISH) else 0
        elif is_discard(action):
            liking[action] = _DISCARD - DISCARD_FIRST.index(Card(card))
        elif is_distance(card):
            liking[action] = _DISTANCE + int(KM[card])
        elif is_remedy(card):
            liking[action] = _REMEDY
        elif is_hazard(card):
            liking[action] = _HAZARD + (1 if card <= STOP else 0)  # a stopped car is worse than a slow one
        elif is_safety(card):
            liking[action] = _SAFETY
    return liking


class GreedyAgent:
    """Finish > distance > remedy > hazard > safety > discard."""

    name = "greedy"

    def __init__(self, table: Table, seed: int = 0) -> None:
        """Nothing is drawn by chance; `seed` is there because every agent takes one."""
        self._table = table
        self._preferences = preferences(table.num_actions)

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        """Choose; see `Agent.act`."""
        return best_legal(self.liking(observations), action_masks)

    def liking(self, observations: Observations) -> npt.NDArray[np.int64]:
        """How much each action is liked in each row: int64[N, A]."""
        liking = np.repeat(self._preferences[np.newaxis], len(observations), axis=0)
        to_go = 25 * (
            self._table.view(observations, "target")[:, 0] - self._table.view(observations, "km")[:, 0]
        )
        for card in range(NUM_DISTANCES):
            liking[to_go == KM[card], card] = _FINISH
        return liking
