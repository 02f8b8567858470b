"""Numbers that a network can use better than a race's observation: ones and zeros for what matters exactly.

What a square, a lead or a bid of 7 means is another matter than one of 6, and a perceptron cannot easily tell
them apart if both are one input. And which squares are held matters by how far ahead of the rainbow rider
they are, wherever he is. So behind the numbers of the observation stand, as ones:

    square      where the rainbow rider is
    ahead       which of the next squares each seat's servants hold, by how far they are, the own seat first
    lead        the lead of the escaped rider
    bid         the highest bid so far, high ones as one
    energy      the own energy, in threes
"""

from __future__ import annotations

from typing import Final

from millebornes_env.compile import rule
from millebornes_env.wielerspel.actions import MOST_ENERGY
from millebornes_env.wielerspel.dice import FACES
from millebornes_env.wielerspel.rules import Rules
from millebornes_env.wielerspel.sections import OFFSETS, ObservationSpec, part_of, shown_seats, start_of
from millebornes_env.wielerspel.squares import MAX_SQUARES
from millebornes_env.wielerspel.state import Int8Array

AHEAD: Final = 2 * FACES
"""Squares that the rainbow rider can reach in two turns."""
LEADS: Final = 25
"""Leads from 0 on; higher ones count as the highest."""
BIDS: Final = 21
"""Bids from 0 on; likewise."""
ENERGY_OF_A_STEP: Final = 3
ENERGIES: Final = MOST_ENERGY // ENERGY_OF_A_STEP + 1


@rule
def num_features(rules: Rules, spec: ObservationSpec) -> int:
    """How many numbers stand behind those of the observation."""
    return MAX_SQUARES + AHEAD * shown_seats(rules, spec) + LEADS + BIDS + ENERGIES


@rule
def write_features(rules: Rules, spec: ObservationSpec, row: Int8Array, size: int) -> None:
    """Write them.

    Args:
        rules: the table's.
        spec: what the observation shows.
        row: int8[size + num_features], the observation in front; the rest is overwritten.
        size: numbers of the observation.
    """
    seats = shown_seats(rules, spec)
    for place in range(size, size + num_features(rules, spec)):
        row[place] = 0
    square = int(row[start_of(OFFSETS.square, seats)])
    row[size + square] = 1
    at = size + MAX_SQUARES
    for place in range(rules.players):
        servants = part_of(OFFSETS.servants, seats, place)
        for ahead in range(AHEAD):
            row[at + ahead] = row[servants + (square + 1 + ahead) % rules.length]
        at += AHEAD
    at = size + MAX_SQUARES + AHEAD * seats
    row[at + min(int(row[start_of(OFFSETS.lead, seats)]), LEADS - 1)] = 1
    at += LEADS
    row[at + min(int(row[start_of(OFFSETS.highest_bid, seats)]), BIDS - 1)] = 1
    at += BIDS
    row[at + int(row[part_of(OFFSETS.energy, seats, 0)]) // ENERGY_OF_A_STEP] = 1
