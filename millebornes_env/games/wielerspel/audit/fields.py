"""Laws of single fields: the values that each can hold.

All other laws rely on these, and kernels check no index, so they are checked first.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.laws import NO_VIOLATION, all_are_between, is_between, require
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.audit import violations as law
from millebornes_env.games.wielerspel.dice import FACES
from millebornes_env.games.wielerspel.rules import MAX_DECK, MAX_NUMBER, MAX_PLAYERS, Rules
from millebornes_env.games.wielerspel.squares import NUM_KINDS
from millebornes_env.games.wielerspel.state import (
    AWAY,
    BROKEN_OFF,
    NO_CARD,
    NO_SEAT,
    NOT_ENDED,
    NUM_SETS,
    RACE_OVER,
    TURN_BEGINS,
    TURN_ENDS,
    State,
)

_WORD: Final = 2**32


@rule
def field_violation(state: State, rules: Rules) -> int:
    """Return the violation of the first field with an impossible value, or NO_VIOLATION."""
    result = decision_field_violation(state, rules, NO_VIOLATION)
    result = seat_field_violation(state, rules, result)
    result = track_field_violation(state, rules, result)
    result = turn_field_violation(state, rules, result)
    for seat in range(rules.players):
        result = team_field_violation(state, rules, seat, result)
    result = require(result, law.JERSEYS_OUT_OF_RANGE, all_are_between(state.stacks, 0, rules.jersey_cards))
    return require(result, law.UNUSED_FIELD_NOT_BLANK, the_rest_of_the_record_is_blank(state, rules))


@rule
def decision_field_violation(state: State, rules: Rules, found: int) -> int:
    """Return `found` if it is a violation, else the first of the fields of progress and phase."""
    found = require(found, law.SEAT_OUT_OF_RANGE, is_between(int(state.seat), 0, rules.players - 1))
    found = require(found, law.PHASE_OUT_OF_RANGE, is_between(int(state.phase), AWAY, RACE_OVER))
    found = require(found, law.STAGE_OUT_OF_RANGE, is_between(int(state.stage), TURN_BEGINS, TURN_ENDS))
    found = require(found, law.ENDING_OUT_OF_RANGE, is_between(int(state.ending), NOT_ENDED, BROKEN_OFF))
    found = require(found, law.KEY_OUT_OF_RANGE, key_is_two_words(state))
    found = require(found, law.NEGATIVE_TURN, is_between(int(state.turn), 0, rules.max_turns))
    return require(found, law.NEGATIVE_SHUFFLES, int(state.shuffles) >= 0)


@rule
def seat_field_violation(state: State, rules: Rules, found: int) -> int:
    """Return `found` if it is a violation, else the first of the fields that hold a seat or NO_SEAT."""
    last = rules.players - 1
    found = require(found, law.UNKNOWN_WINNER, is_between(int(state.winner), NO_SEAT, last))
    found = require(found, law.UNKNOWN_ESCAPED, is_between(int(state.escaped), NO_SEAT, last))
    found = require(found, law.UNKNOWN_ROLLER, is_between(int(state.roller), NO_SEAT, last))
    found = require(found, law.UNKNOWN_HOLDER, is_between(int(state.holder), NO_SEAT, last))
    found = require(found, law.UNKNOWN_HIGHEST_BIDDER, is_between(int(state.highest_bidder), NO_SEAT, last))
    found = require(found, law.UNKNOWN_SEAT_IN_PELOTON, all_are_between(state.peloton, NO_SEAT, last))
    found = require(found, law.UNKNOWN_SEAT_IN_QUEUE, all_are_between(state.queue, NO_SEAT, last))
    return require(found, law.UNKNOWN_OWNER, all_are_between(state.owner, NO_SEAT, last))


@rule
def track_field_violation(state: State, rules: Rules, found: int) -> int:
    """Return `found` if it is a violation, else the first of the tracks, the queue and the deck."""
    found = require(found, law.RIDERS_OUT_OF_RANGE, is_between(int(state.riders), 0, rules.players))
    found = require(found, law.QUEUE_OUT_OF_RANGE, queue_is_a_part(state, rules))
    highest = rules.inner_track + FACES
    lead = is_between(int(state.lead), 0, highest) and is_between(int(state.highest_lead), 0, highest)
    found = require(found, law.LEAD_OUT_OF_RANGE, lead)
    found = require(found, law.SQUARE_OUT_OF_RANGE, is_between(int(state.square), 0, rules.length - 1))
    last = rules.card_types - 1
    found = require(found, law.UNKNOWN_CARD_IN_DECK, all_are_between(state.deck, NO_CARD, last))
    found = require(found, law.UNKNOWN_CARD, is_between(int(state.card), NO_CARD, last))
    return require(found, law.DECK_NEXT_OUT_OF_RANGE, is_between(int(state.deck_next), 0, MAX_DECK))


@rule
def queue_is_a_part(state: State, rules: Rules) -> bool:
    """The seats that wait are a part of the queue."""
    return 0 <= int(state.queue_next) <= int(state.queue_end) <= rules.players


@rule
def turn_field_violation(state: State, rules: Rules, found: int) -> int:
    """Return `found` if it is a violation, else the first of the fields of the present turn."""
    dice = is_between(int(state.white), 0, FACES) and is_between(int(state.yellow), 0, FACES)
    found = require(found, law.DIE_OUT_OF_RANGE, dice)
    found = require(found, law.KIND_OUT_OF_RANGE, is_between(int(state.kind), 0, NUM_KINDS - 1))
    numbers = is_between(int(state.number), 0, MAX_NUMBER) and is_between(int(state.due), 0, MAX_NUMBER)
    found = require(found, law.NUMBER_OUT_OF_RANGE, numbers)
    found = require(found, law.BID_OUT_OF_RANGE, is_between(int(state.highest_bid), 0, rules.max_energy))
    marks = int(state.rainbow_lap) | int(state.no_supply) | int(state.landed_on_line)
    marked = is_between(marks, 0, 1) and all_are_between(state.out, 0, 1)
    return require(found, law.NO_YES_OR_NO, marked)


@rule
def team_field_violation(state: State, rules: Rules, seat: int, found: int) -> int:
    """Return `found` if it is a violation, else the first of the fields of one team."""
    found = require(found, law.ENERGY_OUT_OF_RANGE, is_between(int(state.energy[seat]), 0, rules.max_energy))
    off_board = is_between(int(state.off_board[seat]), 0, rules.servants)
    retired = is_between(int(state.retired[seat]), 0, rules.servants)
    found = require(found, law.SERVANTS_OUT_OF_RANGE, off_board and retired)
    jerseys = all_are_between(state.jerseys[seat], 0, rules.jersey_cards)
    found = require(found, law.JERSEYS_OUT_OF_RANGE, jerseys)
    return require(found, law.NEGATIVE_ESCAPE_POINTS, int(state.escape_points[seat]) >= 0)


@rule
def key_is_two_words(state: State) -> bool:
    """The key is two 32-bit words; with others the dice would show impossible numbers."""
    return 0 <= int(state.key[0]) < _WORD and 0 <= int(state.key[1]) < _WORD


@rule
def the_rest_of_the_record_is_blank(state: State, rules: Rules) -> bool:
    """The fields of seats that the table does not have are blank, as after the start."""
    union = 0
    for seat in range(rules.players, MAX_PLAYERS):
        union |= int(state.energy[seat]) | int(state.off_board[seat]) | int(state.retired[seat])
        union |= int(state.out[seat]) | int(state.escape_points[seat])
        union |= int(state.peloton[seat]) - NO_SEAT
        for kind in range(NUM_SETS):
            union |= int(state.jerseys[seat, kind])
    for index in range(rules.players, MAX_PLAYERS):
        union |= int(state.queue[index]) - NO_SEAT
    return union == 0
