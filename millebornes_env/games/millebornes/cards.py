"""The 19 card types: their names, kinds and counts in the full printed deck.

The counts of an edition are in its sheet, `sheets/*.toml`, `[deck]`.

Rule: rules 0.2 (the deck is the same wherever a count is printed: 106 cards).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from millebornes_env.engine.numba.compiling import rule


class Card(IntEnum):
    """A card type, for people and type checkers; the rules use the plain ints below."""

    DISTANCE_25 = 0
    DISTANCE_50 = 1
    DISTANCE_75 = 2
    DISTANCE_100 = 3
    DISTANCE_200 = 4
    ACCIDENT = 5
    OUT_OF_GAS = 6
    FLAT_TIRE = 7
    STOP = 8
    SPEED_LIMIT = 9
    REPAIRS = 10
    GASOLINE = 11
    SPARE_TIRE = 12
    ROLL = 13
    END_OF_LIMIT = 14
    DRIVING_ACE = 15
    EXTRA_TANK = 16
    PUNCTURE_PROOF = 17
    RIGHT_OF_WAY = 18


# Plain ints: members of an enum do not compile for every target.
DISTANCE_25: Final = Card.DISTANCE_25.value
DISTANCE_50: Final = Card.DISTANCE_50.value
DISTANCE_75: Final = Card.DISTANCE_75.value
DISTANCE_100: Final = Card.DISTANCE_100.value
DISTANCE_200: Final = Card.DISTANCE_200.value
ACCIDENT: Final = Card.ACCIDENT.value
OUT_OF_GAS: Final = Card.OUT_OF_GAS.value
FLAT_TIRE: Final = Card.FLAT_TIRE.value
STOP: Final = Card.STOP.value
SPEED_LIMIT: Final = Card.SPEED_LIMIT.value
REPAIRS: Final = Card.REPAIRS.value
GASOLINE: Final = Card.GASOLINE.value
SPARE_TIRE: Final = Card.SPARE_TIRE.value
ROLL: Final = Card.ROLL.value
END_OF_LIMIT: Final = Card.END_OF_LIMIT.value
DRIVING_ACE: Final = Card.DRIVING_ACE.value
EXTRA_TANK: Final = Card.EXTRA_TANK.value
PUNCTURE_PROOF: Final = Card.PUNCTURE_PROOF.value
RIGHT_OF_WAY: Final = Card.RIGHT_OF_WAY.value

NO_CARD: Final = -1
"""No card, such as the top of an empty pile."""

NUM_CARD_TYPES: Final = 19
NUM_DISTANCES: Final = 5
NUM_HAZARDS: Final = 5
NUM_SAFETIES: Final = 4
DECK_SIZE: Final = 106

KM: Final = np.array([25, 50, 75, 100, 200])
"""Kilometres of each distance card, by card id."""

#        25  50  75  100 200 acc gas flt stp lim rep gas spr rol end ace tnk pun row
COUNTS: Final = np.array([10, 10, 10, 12, 4, 3, 3, 3, 5, 4, 6, 6, 6, 14, 6, 1, 1, 1, 1])
"""Copies of each card in the full deck of 106 (rules 0.2)."""

for _table in (KM, COUNTS):
    _table.setflags(write=False)

CARD_NAMES: Final = tuple(
    f"{KM[card]} km" if card < NUM_DISTANCES else card.name.replace("_", " ").capitalize() for card in Card
)
"""Names of the cards in words, by card id: "25 km", "Out of gas", "Right of way"."""


@rule
def is_distance(card: int) -> bool:
    """Return True if the card is a distance card."""
    return DISTANCE_25 <= card <= DISTANCE_200


@rule
def is_hazard(card: int) -> bool:
    """Return True if the card is a hazard, Speed Limit included."""
    return ACCIDENT <= card <= SPEED_LIMIT


@rule
def is_battle_hazard(card: int) -> bool:
    """Return True if the card is a hazard of the battle pile: all but the Speed Limit (004:9)."""
    return ACCIDENT <= card <= STOP


@rule
def is_remedy(card: int) -> bool:
    """Return True if the card is a remedy, Roll and End of Limit included."""
    return REPAIRS <= card <= END_OF_LIMIT


@rule
def is_safety(card: int) -> bool:
    """Return True if the card is a safety."""
    return DRIVING_ACE <= card <= RIGHT_OF_WAY


@rule
def remedy_for(hazard: int) -> int:
    """Return the remedy that answers the hazard; hazards and remedies have the same order."""
    return hazard + NUM_HAZARDS


@rule
def hazard_of(remedy: int) -> int:
    """Return the hazard that the remedy answers."""
    return remedy - NUM_HAZARDS


@rule
def safety_against(hazard: int) -> int:
    """Return the safety against the hazard: Right of Way for both Stop and Speed Limit (004:26)."""
    if hazard == SPEED_LIMIT:
        return RIGHT_OF_WAY
    return hazard + (DRIVING_ACE - ACCIDENT)


@rule
def km_of(card: int) -> int:
    """Return the kilometres of a distance card."""
    return int(KM[card])
