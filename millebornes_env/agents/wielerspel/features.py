"""Binary features appended to the observation of a race.

A square, a lead or a bid of 7 has another meaning than one of 6, and a perceptron has difficulty separating
them if both are one input. And the squares that are held matter by their distance ahead of the rainbow rider,
wherever he is. So these features follow the numbers of the observation, as ones:

    square      where the rainbow rider is
    number      what is printed there
    price       what the decision costs
    lead        the lead of the escaped rider
    bid         the highest bid so far, high ones as one
    own energy  in threes

and for each seat, the own one first:

    ahead       which of the next squares its servants hold, by how far they are
    place       its place in the race
    energy      which of `ENOUGH` it has
    jerseys     whether it has one, and two, rainbow jerseys, and green ones
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.actions import MOST_ENERGY
from millebornes_env.games.wielerspel.dice import FACES
from millebornes_env.games.wielerspel.rules import MAX_PLAYERS, Rules
from millebornes_env.games.wielerspel.sections import OFFSETS, ObservationSpec, part_of, shown_seats, start_of
from millebornes_env.games.wielerspel.squares import MAX_SQUARES
from millebornes_env.games.wielerspel.state import GREENS, RAINBOW, Int8Array

NUMBERS: Final = 8
"""Numbers and prices from 0 on; higher ones count as the highest."""
LEADS: Final = 25
BIDS: Final = 21
ENERGY_OF_A_STEP: Final = 3
ENERGIES: Final = MOST_ENERGY // ENERGY_OF_A_STEP + 1
OF_TABLE: Final = MAX_SQUARES + 2 * NUMBERS + LEADS + BIDS + ENERGIES

AHEAD: Final = 2 * FACES
"""Squares that the rainbow rider can reach in two turns."""
PLACES: Final = MAX_PLAYERS
ENOUGH: Final = (2, 5, 10, 20, 35)
"""Amounts of energy."""
MOST_JERSEYS: Final = 2
OF_SEAT: Final = AHEAD + PLACES + len(ENOUGH) + 2 * MOST_JERSEYS


@rule
def num_features(rules: Rules, spec: ObservationSpec) -> int:
    """Count the features appended to the observation."""
    return OF_TABLE + OF_SEAT * shown_seats(rules, spec)


@rule
def write_features(rules: Rules, spec: ObservationSpec, row: Int8Array, size: int) -> None:
    """Write the features behind an observation of this size, int8[size + num_features]."""
    seats = shown_seats(rules, spec)
    for place in range(size, size + num_features(rules, spec)):
        row[place] = 0
    square = int(row[start_of(OFFSETS.square, seats)])
    at = size + mark(row, size, square, MAX_SQUARES)
    at += mark(row, at, int(row[start_of(OFFSETS.number, seats)]), NUMBERS)
    at += mark(row, at, int(row[start_of(OFFSETS.price, seats)]), NUMBERS)
    at += mark(row, at, int(row[start_of(OFFSETS.lead, seats)]), LEADS)
    at += mark(row, at, int(row[start_of(OFFSETS.highest_bid, seats)]), BIDS)
    at += mark(row, at, int(row[part_of(OFFSETS.energy, seats, 0)]) // ENERGY_OF_A_STEP, ENERGIES)
    for place in range(rules.players):
        write_seat(rules, seats, place, row, at)
        at += OF_SEAT


@rule
def mark(row: Int8Array, at: int, value: int, size: int) -> int:
    """Write a one for a value, in a place of its own of `size`; returns `size`."""
    row[at + min(value, size - 1)] = 1
    return size


@rule
def write_seat(rules: Rules, seats: int, place: int, row: Int8Array, at: int) -> None:
    """Write what each seat has: the one so many places to the left of the observer's."""
    next_square = int(row[start_of(OFFSETS.square, seats)]) + 1
    servants = part_of(OFFSETS.servants, seats, place)
    for ahead in range(AHEAD):
        row[at + ahead] = row[servants + (next_square + ahead) % rules.length]
    at += AHEAD
    in_race = int(row[part_of(OFFSETS.place, seats, place)])
    if in_race > 0:
        row[at + in_race - 1] = 1
    at += PLACES
    energy = int(row[part_of(OFFSETS.energy, seats, place)])
    for enough in ENOUGH:
        row[at] = 1 if energy >= enough else 0
        at += 1
    jerseys = part_of(OFFSETS.jerseys, seats, place)
    for number in range(MOST_JERSEYS):
        row[at + number] = 1 if int(row[jerseys + RAINBOW]) > number else 0
        row[at + MOST_JERSEYS + number] = 1 if int(row[jerseys + GREENS]) > number else 0
