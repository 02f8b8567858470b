"""Decoder of a race from an observation, as the observing seat knows it.

Each row is first checked (`validate_row`), as `observation_reader` does for Mille Bornes. Only the order of
the chance cards is hidden in a race, so the result is the race itself, except for the fields that only the
rules of a turn use (the dice, the stage of the turn).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from millebornes_env.agents.decoder import NO_FAULT, OUT_OF_RANGE, is_in_range, sum_of
from millebornes_env.agents.protocol import Observations, Table
from millebornes_env.engine.numba.compiling import kernel, rule
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.games.wielerspel.rules import MAX_CARD_TYPES, MAX_PLAYERS, MAX_SERVANTS, Rules
from millebornes_env.games.wielerspel.sections import CONTENTS, MAX_INT8, TURN_UNIT, BySection, sections
from millebornes_env.games.wielerspel.squares import EFFORT, MAX_SQUARES, NUM_KINDS
from millebornes_env.games.wielerspel.state import (
    AWAY,
    BID,
    MOVE,
    MUST_PAY,
    MUST_RETIRE,
    NO_CARD,
    NO_SEAT,
    NOT_ENDED,
    NUM_SETS,
    RACE_OVER,
    TURN_BEGINS,
    Int8Array,
    State,
)

Starts = BySection[int]
"""Start indices of the sections of an observation."""

_OWN: Final = 0
"""The seat that sees the row."""
_PHASES: Final = RACE_OVER - AWAY
_MOST_RETIRED: Final = MAX_PLAYERS * MAX_SERVANTS


def starts_of(table: Table, *, counts_unseen: bool = True) -> Starts:
    """Return the start index of each section; observations of a race always have all of them."""
    starts = {section.name: section.start for section in table.sections}
    return BySection(*(starts[name] for name in BySection._fields))


def bounds_of(table: Table) -> Int8Array:
    """The least and the largest value of each number of an observation, int8[2, D].

    What the table has no seat, square or card for is 0.
    """
    rules: Rules = table.rules
    bounds = np.zeros((2, table.sections[-1].stop), np.int8)
    here = {section.name: section for section in sections(rules)}
    for section in table.sections:
        size, high = CONTENTS[section.name].size, min(here[section.name].high, MAX_INT8)
        used = {"cards_left": rules.card_types, "servants": rules.length}.get(section.name, size)
        for owner in range(rules.players if section.owner == "seat" else 1):
            start = section.start + owner * size
            bounds[1, start : start + used] = high
        if section.name == "cards_left":
            bounds[1, section.start : section.start + used] = rules.card_copies
    return bounds


# Whether a table can show a row ----------------------------------------------------------------------------

FAULTS: Final = (
    "",
    "a number is out of its range",
    "what is to be decided does not go with who is to decide",
    "it is another seat's turn",
    "the square has no kind, or several",
    "the places in the race are not 1, 2 and so on",
    "the lead does not go with who is away",
    "a seat has more or fewer servants than there are",
    "two servants stand on a square, or one on a square without effort",
    "there are more or fewer jersey cards than in the box",
    "who has yet to pay or bid does not go with what is to be decided",
    "the highest bid does not go with who has bid it",
    "no action would be legal",
)
"""Descriptions of the faults that `validate_row` finds, by number."""

BAD_DECISION: Final = 2
NOT_ITS_TURN: Final = 3
BAD_KIND: Final = 4
BAD_PLACES: Final = 5
BAD_LEAD: Final = 6
BAD_SERVANTS: Final = 7
BAD_SQUARE: Final = 8
BAD_JERSEYS: Final = 9
BAD_LINE: Final = 10
BAD_BID: Final = 11
NO_CHOICE: Final = 12


@rule
def validate_row(row: Int8Array, starts: Starts, bounds: Int8Array, rules: Rules) -> int:
    """Return the fault of a row, int8[D], that is impossible for a deciding seat, or NO_FAULT.

    A row of a race that is over has no decision, and is not a fault.
    """
    if not is_in_range(row, bounds):
        return OUT_OF_RANGE
    result = validate_decision(row, starts, rules)
    if result == NO_FAULT:
        result = validate_order(row, starts, rules)
    if result == NO_FAULT:
        result = validate_board(row, starts, rules)
    if result == NO_FAULT:
        result = validate_line(row, starts, rules)
    if result == NO_FAULT and not has_a_choice(row, starts, rules):
        return NO_CHOICE
    return result


@rule
def phase_of(row: Int8Array, starts: Starts) -> int:
    """Return the phase of the decision, or RACE_OVER."""
    for phase in range(_PHASES):
        if int(row[starts.phase + phase]) == 1:
            return AWAY + phase
    return RACE_OVER


@rule
def validate_decision(row: Int8Array, starts: Starts, rules: Rules) -> int:
    """Check that the own seat has exactly one decision, or that the race is over."""
    phases = sum_of(row, starts.phase, _PHASES)
    if phases > 1 or sum_of(row, starts.to_act, rules.players) != phases:
        return BAD_DECISION
    if phases == 1 and int(row[starts.to_act]) == 0:
        return NOT_ITS_TURN
    return NO_FAULT if sum_of(row, starts.kind, NUM_KINDS) == 1 else BAD_KIND


@rule
def validate_order(row: Int8Array, starts: Starts, rules: Rules) -> int:
    """Check that each place is held once, the deciding seat is in the race, and a seat away leads it."""
    riding = 0
    for seat in range(rules.players):
        riding += 1 if int(row[starts.place + seat]) > 0 else 0
    for place in range(1, riding + 1):
        held = 0
        for seat in range(rules.players):
            held += 1 if int(row[starts.place + seat]) == place else 0
        if held != 1:
            return BAD_PLACES
    if phase_of(row, starts) != RACE_OVER and int(row[starts.place]) == 0:
        return BAD_PLACES
    away = 0
    for seat in range(rules.players):
        if int(row[starts.away + seat]) == 1:
            away += 1
            if int(row[starts.place + seat]) != 1:
                return BAD_LEAD
    return NO_FAULT if away <= 1 and (away == 1) == (int(row[starts.lead]) > 0) else BAD_LEAD


@rule
def validate_board(row: Int8Array, starts: Starts, rules: Rules) -> int:
    """Check the numbers of servants and jersey cards, and the squares that the servants stand on."""
    for seat in range(rules.players):
        servants = int(row[starts.off_board + seat]) + int(row[starts.retired + seat])
        if servants + sum_of(row, starts.servants + MAX_SQUARES * seat, MAX_SQUARES) != rules.servants:
            return BAD_SERVANTS
    for square in range(rules.length):
        standing = 0
        for seat in range(rules.players):
            standing += int(row[starts.servants + MAX_SQUARES * seat + square])
        if standing > (1 if rules.square_kind[square] == EFFORT else 0):
            return BAD_SQUARE
    for kind in range(NUM_SETS):
        cards = int(row[starts.stacks + kind])
        for seat in range(rules.players):
            cards += int(row[starts.jerseys + NUM_SETS * seat + kind])
        if cards != rules.jersey_cards:
            return BAD_JERSEYS
    return NO_FAULT


@rule
def validate_line(row: Int8Array, starts: Starts, rules: Rules) -> int:
    """Check that seats yet to pay or bid are in the race, and that a highest bid has a bidder."""
    phase = phase_of(row, starts)
    is_line = phase in (MUST_PAY, BID)
    if is_line != (int(row[starts.to_come]) == 1):
        return BAD_LINE
    for seat in range(rules.players):
        if int(row[starts.to_come + seat]) == 1 and not (is_line and int(row[starts.place + seat]) > 0):
            return BAD_LINE
    bidders = sum_of(row, starts.highest_bidder, rules.players)
    return NO_FAULT if bidders == (1 if int(row[starts.highest_bid]) > 0 else 0) else BAD_BID


@rule
def has_a_choice(row: Int8Array, starts: Starts, rules: Rules) -> bool:
    """Return True if the deciding seat has a legal action.

    Giving up, staying, passing and keeping are always possible; retiring or moving needs a servant.
    """
    phase = phase_of(row, starts)
    if phase in (MUST_PAY, MUST_RETIRE):
        return int(row[starts.retired]) < rules.servants
    return phase != MOVE or sum_of(row, starts.servants, MAX_SQUARES) > 0


@kernel
def first_invalid_row(
    rows: Observations, starts: Starts, bounds: Int8Array, rules: StateArray
) -> tuple[int, int]:
    """By `validate_row`, as `agents.decoder.ObservationDecoder` says."""
    for number in range(len(rows)):
        fault = validate_row(rows[number], starts, bounds, rules[0])
        if fault != NO_FAULT:
            return number, fault
    return -1, NO_FAULT


# Reading ---------------------------------------------------------------------------------------------------


@rule
def sheet_code(row: Int8Array, starts: Starts) -> int:
    """Return 0: all races of a batch have the same rule sheet."""
    return 0


@rule
def clock(state: State) -> int:
    """Return a clock from the turns left (as observations count them), then the servants left.

    Neither number grows in a race. The end of a race within 16 turns, before any servant has retired, is not
    detected.
    """
    turns = MAX_INT8 - min(int(state.turn) // TURN_UNIT, MAX_INT8)
    servants = _MOST_RETIRED
    for seat in range(MAX_PLAYERS):
        servants -= int(state.retired[seat])
    return turns * (_MOST_RETIRED + 1) + servants


@rule
def read_observation(row: Int8Array, starts: Starts, rules: Rules, state: State) -> None:
    """Write the race as the observing seat knows it: the observer is seat 0, those to its left 1, 2 ...

    The chance cards that are left lie in the order of their types. Fields that observations lack are as at
    the beginning of a turn: the dice, the card, the seat that rolled; turns are counted in 16s, as shown.
    """
    state.key[0], state.key[1] = 0, 0
    state.episode, state.shuffles = 0, 0
    state.turn = TURN_UNIT * int(row[starts.turn])
    state.stage, state.winner, state.ending = TURN_BEGINS, NO_SEAT, NOT_ENDED
    state.roller, state.white, state.yellow, state.card = NO_SEAT, 0, 0, NO_CARD
    state.landed_on_line = 0
    read_decision(row, starts, rules, state)
    read_order(row, starts, rules, state)
    for seat in range(MAX_PLAYERS):
        read_team(row, starts, rules, state, seat)
    read_board(row, starts, rules, state)
    read_line(row, starts, rules, state)
    read_cards(row, starts, rules, state)


@rule
def read_decision(row: Int8Array, starts: Starts, rules: Rules, state: State) -> None:
    """Read the decision, the seat that takes it, and its price."""
    state.phase = phase_of(row, starts)
    state.due = int(row[starts.price]) if int(state.phase) == MUST_PAY else 0
    state.seat = _OWN
    state.highest_bid = row[starts.highest_bid]
    state.highest_bidder = NO_SEAT
    for seat in range(rules.players):
        if int(row[starts.to_act + seat]) == 1:
            state.seat = seat
        if int(row[starts.highest_bidder + seat]) == 1:
            state.highest_bidder = seat


@rule
def read_order(row: Int8Array, starts: Starts, rules: Rules, state: State) -> None:
    """Read the order of the race, the seat that is away, and the seats that have left."""
    state.lead = row[starts.lead]
    state.highest_lead = row[starts.highest_lead]
    state.escaped, state.riders = NO_SEAT, 0
    for place in range(MAX_PLAYERS):
        state.peloton[place] = NO_SEAT
        state.out[place] = 0
    for seat in range(rules.players):
        state.out[seat] = 1 if int(row[starts.place + seat]) == 0 else 0
        if int(row[starts.away + seat]) == 1:
            state.escaped = seat
    for place in range(1, rules.players + 1):
        for seat in range(rules.players):
            if int(row[starts.place + seat]) == place and int(state.escaped) != seat:
                state.peloton[int(state.riders)] = seat
                state.riders = int(state.riders) + 1


@rule
def read_team(row: Int8Array, starts: Starts, rules: Rules, state: State, seat: int) -> None:
    """Read the possessions of one team; seats that the table lacks have nothing."""
    is_here = seat < rules.players
    state.energy[seat] = int(row[starts.energy + seat]) if is_here else 0
    state.off_board[seat] = int(row[starts.off_board + seat]) if is_here else 0
    state.retired[seat] = int(row[starts.retired + seat]) if is_here else 0
    state.escape_points[seat] = int(row[starts.escape_points + seat]) if is_here else 0
    for kind in range(NUM_SETS):
        state.jerseys[seat, kind] = int(row[starts.jerseys + NUM_SETS * seat + kind]) if is_here else 0


@rule
def read_board(row: Int8Array, starts: Starts, rules: Rules, state: State) -> None:
    """The outer track: the rainbow rider, what the square is, the servants, and what lies at the start."""
    state.square = row[starts.square]
    state.number = row[starts.number]
    state.rainbow_lap = row[starts.rainbow_lap]
    state.no_supply = row[starts.no_supply]
    for kind in range(NUM_KINDS):
        if int(row[starts.kind + kind]) == 1:
            state.kind = kind
    for kind in range(NUM_SETS):
        state.stacks[kind] = row[starts.stacks + kind]
    for square in range(MAX_SQUARES):
        state.owner[square] = NO_SEAT
        for seat in range(rules.players):
            if int(row[starts.servants + MAX_SQUARES * seat + square]) == 1:
                state.owner[square] = seat
    state.holder = state.owner[int(state.square)]


@rule
def read_line(row: Int8Array, starts: Starts, rules: Rules, state: State) -> None:
    """Read the seats that have yet to pay or bid, in the order of the race, as they were lined up."""
    end = 0
    for seat in range(MAX_PLAYERS):
        state.queue[seat] = NO_SEAT
    for place in range(1, rules.players + 1):
        for seat in range(rules.players):
            if int(row[starts.to_come + seat]) == 1 and int(row[starts.place + seat]) == place:
                state.queue[end] = seat
                end += 1
    state.queue_next, state.queue_end = 0, end


@rule
def read_cards(row: Int8Array, starts: Starts, rules: Rules, state: State) -> None:
    """Read the chance cards that are left, type by type; their order is hidden."""
    end = 0
    for card in range(MAX_CARD_TYPES):
        for _ in range(int(row[starts.cards_left + card])):
            state.deck[end] = card
            end += 1
    for place in range(end, len(state.deck)):
        state.deck[place] = NO_CARD
    state.deck_next = 0
