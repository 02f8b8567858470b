"""The kinds of squares of the outer track and of chance cards.

Rule: 003:138, a chance square is for this turn the kind of square that the card shows: so cards and squares
share one list of kinds.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule

START: Final = 0
EFFORT: Final = 1
CHANCE: Final = 2
ESCAPE: Final = 3
GREEN: Final = 4
POLKA_DOT: Final = 5
SUPPLY: Final = 6
EVENT: Final = 7
# On cards only.
TAIL_WIND: Final = 8
NO_SUPPLY: Final = 9
EVENT_FOR_ALL: Final = 10
FORCED_RETIREMENT: Final = 11

KIND_NAMES: Final = (
    "start",
    "effort",
    "chance",
    "escape",
    "green",
    "polka_dot",
    "supply",
    "event",
    "tail_wind",
    "no_supply",
    "event_for_all",
    "forced_retirement",
)
NUM_KINDS: Final = len(KIND_NAMES)

KINDS_OF_SQUARES: Final = (START, EFFORT, CHANCE, ESCAPE, GREEN, POLKA_DOT, SUPPLY, EVENT)
KINDS_OF_CARDS: Final = (SUPPLY, TAIL_WIND, NO_SUPPLY, ESCAPE, EVENT, EVENT_FOR_ALL, FORCED_RETIREMENT)
"""Ruling W14: no card shows an effort square, a jersey, the start or a chance square."""

KINDS_WITH_A_NUMBER: Final = (EFFORT, POLKA_DOT, SUPPLY, EVENT, TAIL_WIND, EVENT_FOR_ALL)
"""The kinds with a number printed on them: energy, or how many jerseys a card is worth."""

MAX_SQUARES: Final = 43
"""003:109: 22 effort squares are the majority of the squares, so there are at most 43 in all."""

NO_SQUARE: Final = -1


@rule
def gives_energy(kind: int) -> bool:
    """Return True if the leader gains the number: a supply post, its card, a tail wind (003:143, 003:148)."""
    return kind in (SUPPLY, TAIL_WIND)


@rule
def holds_jerseys(kind: int) -> bool:
    """Return True if the race leader takes a jersey there (003:73)."""
    return kind in (GREEN, POLKA_DOT)
