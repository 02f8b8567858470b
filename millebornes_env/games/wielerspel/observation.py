"""Observations: everything that a seat can see, as a row of small integers.

The row consists of sections (`sections.BySection`). Only the order of the chance cards and the future dice
are hidden, so all seats see the same, except that seats are counted from the observer to the left.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import IS_COMPILED, rule
from millebornes_env.games.wielerspel.escape import price_of_lead
from millebornes_env.games.wielerspel.rules import MAX_CARD_TYPES, Rules
from millebornes_env.games.wielerspel.sections import (
    MAX_INT8,
    OFFSETS,
    TURN_UNIT,
    ObservationSpec,
    observation_size,
    part_of,
    shown_seats,
    start_of,
)
from millebornes_env.games.wielerspel.state import (
    AWAY,
    BID,
    ESCAPING,
    MUST_PAY,
    NO_CARD,
    NO_SEAT,
    NUM_SETS,
    RACE_OVER,
    Int8Array,
    State,
)

OBSERVATION_VERSION: Final = 1
"""Increased when a trained agent would see different numbers."""


@rule
def write_observation(state: State, rules: Rules, seat: int, spec: ObservationSpec, row: Int8Array) -> None:
    """Write the observation of a seat.

    Args:
        state: the race.
        rules: the table's rules.
        seat: the observer, whether it is to act or not.
        spec: the observation spec.
        row: int8[observation_size], overwritten.
    """
    if not IS_COMPILED:
        assert len(row) == observation_size(rules, spec), "the row is not as long as the observation"
    seats = shown_seats(rules, spec)
    row[:] = 0
    write_decision(state, rules, seats, row)
    write_tracks(state, seats, row)
    write_cards_left(state, row, start_of(OFFSETS.cards_left, seats))
    for index in range(rules.players):
        write_team(state, around(seat + index, rules.players), seats, index, row)
    write_race_order(state, rules, seat, seats, row)
    write_deciders(state, rules, seat, seats, row)
    write_servants(state, rules, seat, seats, row)


@rule
def around(index: int, players: int) -> int:
    """Return `index % players`, for indices below twice the players."""
    return index - players if index >= players else index


@rule
def offset_of(rules: Rules, observer: int, seat: int) -> int:
    """Return the number of seats from the observer to the left."""
    return around(seat - observer + rules.players, rules.players)


@rule
def write_decision(state: State, rules: Rules, seats: int, row: Int8Array) -> None:
    """Write sections `phase`, `price`, `highest_bid`: the decision."""
    phase = int(state.phase)
    if phase != RACE_OVER:
        row[start_of(OFFSETS.phase, seats) + phase - 1] = 1
    row[start_of(OFFSETS.price, seats)] = price_of_decision(state, rules, phase)
    row[start_of(OFFSETS.highest_bid, seats)] = state.highest_bid


@rule
def price_of_decision(state: State, rules: Rules, phase: int) -> int:
    """Return the energy that the decision costs: the price of the lead, the payment, or the escape."""
    if phase == AWAY:
        return price_of_lead(state, rules)
    if phase == MUST_PAY:
        return int(state.due)
    return int(state.number) if phase == ESCAPING else 0


@rule
def write_tracks(state: State, seats: int, row: Int8Array) -> None:
    """Write sections `square` to `turn`: the positions on both tracks."""
    row[start_of(OFFSETS.square, seats)] = state.square
    row[start_of(OFFSETS.kind, seats) + int(state.kind)] = 1
    row[start_of(OFFSETS.number, seats)] = state.number
    row[start_of(OFFSETS.lead, seats)] = state.lead
    row[start_of(OFFSETS.highest_lead, seats)] = state.highest_lead
    row[start_of(OFFSETS.rainbow_lap, seats)] = state.rainbow_lap
    row[start_of(OFFSETS.no_supply, seats)] = state.no_supply
    for kind in range(NUM_SETS):
        row[start_of(OFFSETS.stacks, seats) + kind] = state.stacks[kind]
    row[start_of(OFFSETS.turn, seats)] = min(int(state.turn) // TURN_UNIT, MAX_INT8)


@rule
def write_cards_left(state: State, row: Int8Array, at: int) -> None:
    """Write section `cards_left`: the count of each type in the deck, without their order."""
    counts = row[at : at + MAX_CARD_TYPES]
    for card in state.deck[int(state.deck_next) :]:
        if card == NO_CARD:
            return
        counts[card] += 1


@rule
def write_deciders(state: State, rules: Rules, seat: int, seats: int, row: Int8Array) -> None:
    """Write sections `to_act`, `to_come`, `highest_bidder`: the seat to act, and the seats in the queue."""
    phase = int(state.phase)
    if phase != RACE_OVER:
        index = offset_of(rules, seat, int(state.seat))
        row[part_of(OFFSETS.to_act, seats, index)] = 1
    if phase in (MUST_PAY, BID):
        for waiting in range(int(state.queue_next), int(state.queue_end)):
            index = offset_of(rules, seat, int(state.queue[waiting]))
            row[part_of(OFFSETS.to_come, seats, index)] = 1
    if int(state.highest_bidder) != NO_SEAT:
        index = offset_of(rules, seat, int(state.highest_bidder))
        row[part_of(OFFSETS.highest_bidder, seats, index)] = 1


@rule
def write_race_order(state: State, rules: Rules, seat: int, seats: int, row: Int8Array) -> None:
    """Write sections `place` and `away`: 1 leads the race, 2 is next; 0 for a leader who has left it."""
    number = 1
    if int(state.escaped) != NO_SEAT:
        index = offset_of(rules, seat, int(state.escaped))
        row[part_of(OFFSETS.away, seats, index)] = 1
        row[part_of(OFFSETS.place, seats, index)] = 1
        number = 2
    for behind in range(int(state.riders)):
        index = offset_of(rules, seat, int(state.peloton[behind]))
        row[part_of(OFFSETS.place, seats, index)] = number + behind


@rule
def write_team(state: State, seat: int, seats: int, index: int, row: Int8Array) -> None:
    """Write sections `energy` to `escape_points`: the seat's energy, servants beside the board, jerseys."""
    row[part_of(OFFSETS.energy, seats, index)] = state.energy[seat]
    row[part_of(OFFSETS.off_board, seats, index)] = state.off_board[seat]
    row[part_of(OFFSETS.retired, seats, index)] = state.retired[seat]
    for kind in range(NUM_SETS):
        row[part_of(OFFSETS.jerseys, seats, index) + kind] = state.jerseys[seat, kind]
    row[part_of(OFFSETS.escape_points, seats, index)] = min(int(state.escape_points[seat]), MAX_INT8)


@rule
def write_servants(state: State, rules: Rules, seat: int, seats: int, row: Int8Array) -> None:
    """Write section `servants`: squares that each seat holds, without a branch so that it is vectorized."""
    for index in range(rules.players):
        owner = around(seat + index, rules.players)
        first = part_of(OFFSETS.servants, seats, index)
        squares = row[first : first + rules.length]
        for square in range(rules.length):
            squares[square] = 1 if int(state.owner[square]) == owner else 0


@rule
def write_cards_to_come(
    state: State, rules: Rules, seat: int, spec: ObservationSpec, row: Int8Array, at: int
) -> None:
    """Write the part of a full state after the observation, from `at` on; the row is 0 there."""
    for index in range(int(state.deck_next), len(state.deck)):
        row[at + index - int(state.deck_next)] = int(state.deck[index]) + 1
