"""Laws of single fields: the values that each can hold.

All other laws rely on these, so they are checked first.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.laws import NO_VIOLATION, all_are_between, is_between, require
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.audit import violations as law
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    DECK_SIZE,
    END_OF_LIMIT,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_SAFETIES,
    REPAIRS,
    RIGHT_OF_WAY,
    ROLL,
    SPEED_LIMIT,
    STOP,
)
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import (
    HAZARD_AGAIN,
    MAX_SEATS,
    MAX_TEAMS,
    NO_SEAT,
    NO_TEAM,
    NUM_SCORE_LINES,
    PLAY,
    ROUND_OVER,
    Int8Array,
    State,
)

_WORD: Final = 2**32
_MOST_POINTS_IN_PLAY: Final = 12_000
"""Above any goal, and low enough that the points of one more round fit into the record."""


@rule
def field_violation(state: State, rules: RulesRecord) -> int:
    """Return the violation of the first field with an impossible value, or NO_VIOLATION."""
    result = require(NO_VIOLATION, law.SEAT_OUT_OF_RANGE, is_between(int(state.seat), 0, rules.players - 1))
    result = require(result, law.DEALER_OUT_OF_RANGE, is_between(int(state.dealer), 0, rules.players - 1))
    result = require(result, law.PHASE_OUT_OF_RANGE, is_between(int(state.phase), PLAY, ROUND_OVER))
    result = require(
        result, law.UNKNOWN_EXTENSION_TEAM, is_between(int(state.extension_team), NO_TEAM, rules.teams - 1)
    )
    result = require(result, law.UNKNOWN_WINNER, is_between(int(state.winner), NO_TEAM, rules.teams - 1))
    result = require(
        result, law.UNKNOWN_PENDING_TEAM, is_between(int(state.pending_team), NO_TEAM, rules.teams - 1)
    )
    result = require(
        result, law.UNKNOWN_ATTACKER, is_between(int(state.attacker), NO_SEAT, rules.players - 1)
    )
    result = require(result, law.UNKNOWN_PENDING_HAZARD, pending_hazard_is_a_hazard(state))
    result = require(result, law.UNKNOWN_TARGET, target_is_the_tables(state, rules))
    result = require(result, law.KEY_OUT_OF_RANGE, key_is_two_words(state))
    result = require(result, law.STREAM_OUTSIDE_DECK, streams_lie_in_the_deck(state, rules))
    result = require(result, law.UNKNOWN_CARD_IN_DECK, all_are_between(state.deck, NO_CARD, RIGHT_OF_WAY))
    result = require(
        result, law.UNKNOWN_CARD_IN_DISCARD_TOP, is_between(int(state.discard_top), NO_CARD, RIGHT_OF_WAY)
    )
    for seat in range(rules.players):
        result = require(result, law.NEGATIVE_COUNT_IN_HAND, none_is_negative(state.hand[seat]))
        result = require(
            result, law.HAND_COUNT_TOO_LARGE, int(state.hand_count[seat]) <= most_cards_of(state, rules, seat)
        )
    for team in range(rules.teams):
        result = require(result, law.NEGATIVE_COUNT_IN_TABLEAU, none_is_negative(state.tableau[team]))
        result = require(result, law.SCORE_OUT_OF_RANGE, score_can_be_added_to(state, team))
        result = pile_field_violation(state, team, result)
    result = require(result, law.NEGATIVE_COUNT_IN_DISCARD_PILE, none_is_negative(state.discard_pile))
    result = require(result, law.NEGATIVE_COUNT_IN_HIDDEN, none_is_negative(state.hidden))
    return require(result, law.UNUSED_FIELD_NOT_ZERO, the_rest_of_the_record_is_blank(state, rules))


@rule
def pile_field_violation(state: State, team: int, found: int) -> int:
    """Return `found` if it is a violation, else the first of the fields that show one team's piles."""
    found = require(found, law.IMPOSSIBLE_CARD_IN_BATTLE, may_lie_in_battle(int(state.battle[team])))
    found = require(
        found, law.IMPOSSIBLE_CARD_IN_BATTLE_BELOW, may_lie_in_battle(int(state.battle_below[team]))
    )
    found = require(found, law.IMPOSSIBLE_CARD_IN_SPEED, may_lie_at_speed(int(state.speed[team])))
    found = require(found, law.OPENING_OUT_OF_RANGE, is_between(int(state.opening[team]), 0, HAZARD_AGAIN))
    return require(found, law.COUP_FOURRE_OUT_OF_RANGE, all_are_between(state.coup_fourre[team], 0, 1))


@rule
def score_can_be_added_to(state: State, team: int) -> bool:
    """The total is not negative and, while the match goes on, has room for a round's points."""
    score = int(state.score[team])
    return score >= 0 and (score <= _MOST_POINTS_IN_PLAY or int(state.phase) == ROUND_OVER)


@rule
def most_cards_of(state: State, rules: RulesRecord, seat: int) -> int:
    """Return the most cards that a hand can hold: one above the limit if its seat is to act, having drawn."""
    return rules.hand_limit + 1 if seat == int(state.seat) else rules.hand_limit


@rule
def pending_hazard_is_a_hazard(state: State) -> bool:
    """The pending hazard is a hazard or NO_CARD."""
    hazard = int(state.pending_hazard)
    return hazard == NO_CARD or ACCIDENT <= hazard <= SPEED_LIMIT


@rule
def target_is_the_tables(state: State, rules: RulesRecord) -> bool:
    """The target is that of the table or of its extension."""
    target = int(state.target)
    return target == rules.target or (target == rules.extended_target and rules.extended_target > 0)


@rule
def key_is_two_words(state: State) -> bool:
    """The key is two 32-bit words; with others the shuffle would index outside the deck."""
    return 0 <= int(state.key[0]) < _WORD and 0 <= int(state.key[1]) < _WORD


@rule
def streams_lie_in_the_deck(state: State, rules: RulesRecord) -> bool:
    """Each stream lies in the deck and does not end before it starts."""
    for seat in range(rules.players):
        first, end = int(state.stream_next[seat]), int(state.stream_end[seat])
        if first < 0 or first > end or end > DECK_SIZE:
            return False
    return True


@rule
def none_is_negative(values: Int8Array) -> bool:
    """Return True if no value is below 0."""
    union = 0
    for index in range(len(values)):
        union |= int(values[index])
    return union >= 0


@rule
def the_rest_of_the_record_is_blank(state: State, rules: RulesRecord) -> bool:
    """All fields of seats and teams that the table does not have are 0."""
    union = 0
    for seat in range(rules.players, MAX_SEATS):
        union |= int(state.hand_count[seat]) | int(state.stream_next[seat]) | int(state.stream_end[seat])
        for card in range(NUM_CARD_TYPES):
            union |= int(state.hand[seat, card])
    for team in range(rules.teams, MAX_TEAMS):
        union |= int(state.battle[team]) | int(state.battle_below[team]) | int(state.speed[team])
        union |= int(state.opening[team]) | int(state.km[team]) | int(state.score[team])
        for card in range(NUM_CARD_TYPES):
            union |= int(state.tableau[team, card])
        for safety in range(NUM_SAFETIES):
            union |= int(state.coup_fourre[team, safety])
        for line in range(NUM_SCORE_LINES):
            union |= int(state.score_sheet[team, line])
    return union == 0


@rule
def may_lie_in_battle(card: int) -> bool:
    """Return True if the card may lie on a battle pile, or is NO_CARD."""
    return card == NO_CARD or ACCIDENT <= card <= STOP or REPAIRS <= card <= ROLL


@rule
def may_lie_at_speed(card: int) -> bool:
    """Return True if the card may lie on a speed pile, or is NO_CARD."""
    return card in (NO_CARD, SPEED_LIMIT, END_OF_LIMIT)
