"""Numbers that a network can use better than an observation's own: ones and zeros for what matters exactly.

A round is won by laying exactly what is left of the trip, and a perceptron cannot easily tell 300 km from
325 km if both are one input of .30 and .33. So behind the numbers of the observation stand, as ones:

    left     what each team has left of its trip, in 25s: one of `LEFT` for each team, the own first
    pairs    of which cards the seat holds two or more, and then three or more
    pile     how many cards are left to draw, in fours
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.cards import DECK_SIZE, NUM_CARD_TYPES
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.sections import (
    OFFSETS,
    ObservationSpec,
    row_shape_of,
    shown_teams,
    start_of,
)
from millebornes_env.games.millebornes.state import Int8Array

LEFT: Final = 41
"""Of a trip of up to 1,000 km; longer ones count as that long, and what is laid beyond the goal as 0."""
CARDS_OF_A_STEP: Final = 4
PILE: Final = DECK_SIZE // CARDS_OF_A_STEP + 1


@rule
def num_features(rules: RulesRecord, spec: ObservationSpec) -> int:
    """Return the number of features appended to the observation."""
    return LEFT * shown_teams(rules, spec) + 2 * NUM_CARD_TYPES + PILE


@rule
def write_features(rules: RulesRecord, spec: ObservationSpec, row: Int8Array, size: int) -> None:
    """Write the features behind an observation of this size, int8[size + num_features]."""
    shape = row_shape_of(rules, spec)
    target, km = start_of(OFFSETS.target, shape), start_of(OFFSETS.km, shape)
    hand, draw_pile = start_of(OFFSETS.hand, shape), start_of(OFFSETS.draw_pile, shape)
    at = size
    for place in range(at, at + num_features(rules, spec)):
        row[place] = 0
    for team in range(rules.teams):
        left = int(row[target]) - int(row[km + team])
        row[at + min(max(left, 0), LEFT - 1)] = 1
        at += LEFT
    at = size + LEFT * shape.teams
    for card in range(NUM_CARD_TYPES):
        held = int(row[hand + card])
        row[at + card] = 1 if held >= 2 else 0
        row[at + NUM_CARD_TYPES + card] = 1 if held >= 3 else 0
    at += 2 * NUM_CARD_TYPES
    row[at + (int(row[draw_pile]) >> 2)] = 1
