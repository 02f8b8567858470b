"""The value of a place in the race: expected gains over this lap and the next, by the white die.

`value_laps` computes a table backwards from the end of the next lap. For each square the table has the gain
that the seat can expect if the rainbow rider stands there and the seat rides in this place of the race, or is
away with this lead. Each landing moves the seat to another place, by `games.wielerspel.positions`; where that
depends on the places of the other seats, all of their orders are assumed to be equally probable. The seat
itself makes the best choice: it escapes, rides further, keeps its lead or gives up.

Gains are measured in energy (`stakes`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.wielerspel.questions import riders_left
from millebornes_env.agents.wielerspel.stakes import ENERGY, ESCAPE_CARDS, OTHERS, WHOLE_RACE
from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.dice import FACES
from millebornes_env.games.wielerspel.jerseys import JERSEYS_ON_A_DOUBLE
from millebornes_env.games.wielerspel.rules import MAX_PLAYERS, Rules
from millebornes_env.games.wielerspel.squares import (
    CHANCE,
    ESCAPE,
    EVENT,
    GREEN,
    MAX_SQUARES,
    POLKA_DOT,
    gives_energy,
)
from millebornes_env.games.wielerspel.state import DOUBLES, GREENS, NO_SEAT, RAINBOW, TRIPLES, State

Values = npt.NDArray[np.float64]

# The laps that are looked at.
NEXT_LAP: Final = 0
NEXT_RAINBOW_LAP: Final = 1
THIS_LAP: Final = 2
_LAPS: Final = 3

MOST_ARROWS: Final = 24
"""Longest lead in the table; a longer one counts as this one."""
_SLOTS: Final = MAX_PLAYERS + MOST_ARROWS
SIZE: Final = _LAPS * MAX_SQUARES * _SLOTS
"""Size of a table."""


@rule
def at(lap: int, square: int, slot: int) -> int:
    """Return the index of a square in a table, by place in the race (0: first) or `slot_of_lead`."""
    return (lap * MAX_SQUARES + square) * _SLOTS + slot


@rule
def value_at(values: Values, lap: int, square: int, slot: int) -> float:
    """Return the table's value at that index."""
    return float(values[at(lap, square, slot)])


@rule
def slot_of_lead(lead: int) -> int:
    """Return the slot of a lead; the leads follow the places."""
    return MAX_PLAYERS - 1 + min(lead, MOST_ARROWS)


@rule
def further(rules: Rules, stakes: Values, values: Values, lap: int, square: int, lead: int) -> float:
    """Return the mean value of a lead after the yellow die; a lead of 0 is the front of the peloton."""
    total = 0.0
    for eyes in range(1, FACES + 1):
        if lead + eyes > int(rules.inner_track):
            total += float(stakes[WHOLE_RACE])
        else:
            total += value_at(values, lap, square, slot_of_lead(lead + eyes))
    return total / FACES


@seldom
def value_laps(
    state: State,
    rules: Rules,
    seat: int,
    stakes: Values,
    values: Values,
    landings: Values,
    with_this_lap: bool,
) -> None:
    """Compute the value of both kinds of a next lap and, if needed, of the remainder of this one.

    `values`, float64[SIZE], is what a seat may expect from a square on, `landings` the same when the rainbow
    rider has just landed there and the positions are not worked out yet; `stakes` are by `write_stakes`.
    """
    for lap in range(_LAPS if with_this_lap else THIS_LAP):
        first = int(state.square) if lap == THIS_LAP else 0
        for square in range(int(rules.length) - 1, first - 1, -1):
            value_square(state, rules, stakes, values, landings, lap, square)
            value_landing(state, rules, seat, stakes, values, landings, lap, square)


@rule
def value_square(
    state: State, rules: Rules, stakes: Values, values: Values, landings: Values, lap: int, square: int
) -> None:
    """Write the expected gains from the square on: the mean of the six landings ahead."""
    here, slots = at(lap, square, 0), slots_of(rules)
    for slot in range(slots):
        values[here + slot] = 0.0
    passes = 0
    for target in range(square + 1, square + FACES + 1):
        passes += 1 if target >= int(rules.length) else 0
        add_landing(rules, values, landings, lap, target, here, slots)
    for slot in range(slots):
        leads = slot == 0 or slot >= MAX_PLAYERS
        jersey = rainbow_at_the_line(state, stakes, lap, leads)
        values[here + slot] = (values[here + slot] + passes * jersey) / FACES
    gives_up = values[here + riders_left(state) - 1]
    for slot in range(MAX_PLAYERS, slots):
        price = stakes[ENERGY] * price_of(rules, slot - MAX_PLAYERS + 1)
        values[here + slot] = max(values[here + slot] - price, gives_up)


@rule
def slots_of(rules: Rules) -> int:
    """Count the slots of each square that are in use."""
    return MAX_PLAYERS + min(int(rules.inner_track), MOST_ARROWS)


@rule
def add_landing(
    rules: Rules, values: Values, landings: Values, lap: int, target: int, here: int, slots: int
) -> None:
    """Add what a landing brings in each place; beyond the line it is one of the next lap, if that is seen."""
    length = int(rules.length)
    then, ahead = lap, target
    if target >= length:
        if lap != THIS_LAP:
            return
        then, ahead = NEXT_RAINBOW_LAP if target == length else NEXT_LAP, target - length
    there = at(then, ahead, 0)
    for slot in range(slots):
        values[here + slot] += landings[there + slot]


@rule
def rainbow_at_the_line(state: State, stakes: Values, lap: int, leads: bool) -> float:
    """Return the gain at the end of the lap: a rainbow lap gives the race leader a rainbow jersey."""
    if lap == NEXT_RAINBOW_LAP or (lap == THIS_LAP and int(state.rainbow_lap) == 1):
        return float(stakes[RAINBOW if leads else OTHERS + RAINBOW])
    return 0.0


@rule
def price_of(rules: Rules, lead: int) -> int:
    """Return the price of a turn with this lead (003:57)."""
    if lead < int(rules.first_minute):
        return int(rules.first_price)
    return int(rules.second_price) if lead <= int(rules.second_minute) else int(rules.third_price)


# Landings --------------------------------------------------------------------------------------------------


@rule
def value_landing(
    state: State,
    rules: Rules,
    seat: int,
    stakes: Values,
    values: Values,
    landings: Values,
    lap: int,
    square: int,
) -> None:
    """Write the expected gains when the rainbow rider lands on the square."""
    led = gain_of_landing(rules, stakes, square, True)
    followed = gain_of_landing(rules, stakes, square, False)
    riders = riders_left(state)
    for place in range(riders, MAX_PLAYERS):
        landings[at(lap, square, place)] = 0.0
    for place in range(riders):
        gain = led if place == 0 else followed
        then = after_in_peloton(state, rules, seat, stakes, values, lap, square, place)
        landings[at(lap, square, place)] = gain + then
    for lead in range(1, min(int(rules.inner_track), MOST_ARROWS) + 1):
        then = after_away(state, rules, seat, stakes, values, lap, square, lead)
        landings[at(lap, square, slot_of_lead(lead))] = led + then


@rule
def gain_of_landing(rules: Rules, stakes: Values, square: int, leads: bool) -> float:
    """Return the square's gain for the race leader, or the seat's loss because another seat leads."""
    first = 0 if leads else OTHERS
    kind, number = int(rules.square_kind[square]), int(rules.square_number[square])
    if kind == GREEN:
        return float(stakes[first + GREENS])
    if kind == POLKA_DOT:
        return float(stakes[first + (DOUBLES if number == JERSEYS_ON_A_DOUBLE else TRIPLES)])
    if not leads:
        return 0.0
    energy = float(stakes[ENERGY]) * number
    if gives_energy(kind):
        return energy
    return -energy if kind == EVENT else 0.0


@rule
def after_in_peloton(
    state: State, rules: Rules, seat: int, stakes: Values, values: Values, lap: int, square: int, place: int
) -> float:
    """Return the expected gain of a seat in this place, after the positions are updated (003:83-90)."""
    riders, owner = riders_left(state), int(state.owner[square])
    stays = value_at(values, lap, square, place)
    if owner == seat:
        price = float(stakes[ENERGY]) * int(rules.square_number[square])
        return max(value_at(values, lap, square, 0), further(rules, stakes, values, lap, square, 0) - price)
    if owner != NO_SEAT:
        falls_back = value_at(values, lap, square, min(place + 1, riders - 1))
        from_behind = 1.0 - place / max(riders - 1, 1)
        return from_behind * falls_back + (1.0 - from_behind) * stays
    kind = int(rules.square_kind[square])
    if place == 0 and kind in (ESCAPE, CHANCE):
        stays = max(stays, further(rules, stakes, values, lap, square, 0))
    moves_up = value_at(values, lap, square, riders - 1 if place == 0 else place - 1)
    return mixed(rules, stakes, kind, stays, moves_up)


@rule
def mixed(rules: Rules, stakes: Values, kind: int, escape: float, free: float) -> float:
    """An escape square, an unoccupied one, or a chance square, which is either."""
    if kind == ESCAPE:
        return escape
    if kind != CHANCE:
        return free
    escapes = float(stakes[ESCAPE_CARDS])
    return escapes * escape + (1.0 - escapes) * free


@rule
def after_away(
    state: State, rules: Rules, seat: int, stakes: Values, values: Values, lap: int, square: int, lead: int
) -> float:
    """Return the expected gain of a seat that is away, after the positions are updated (003:95-103)."""
    owner, kind = int(state.owner[square]), int(rules.square_kind[square])
    keeps = value_at(values, lap, square, slot_of_lead(lead))
    if owner == seat or kind in (ESCAPE, CHANCE):
        price = float(stakes[ENERGY]) * int(rules.square_number[square])
        keeps = max(keeps, further(rules, stakes, values, lap, square, lead) - price)
        if owner == seat:
            return keeps
    if owner == NO_SEAT:
        return mixed(rules, stakes, kind, keeps, after_loss(state, values, lap, square, lead, 1))
    total = 0.0
    for eyes in range(1, FACES + 1):
        total += after_loss(state, values, lap, square, lead, eyes)
    return total / FACES


@rule
def after_loss(state: State, values: Values, lap: int, square: int, lead: int, arrows: int) -> float:
    """A shorter lead, or the last place for who is caught (003:59)."""
    slot = slot_of_lead(lead - arrows) if lead > arrows else riders_left(state) - 1
    return value_at(values, lap, square, slot)
