"""Laws of every record that can be played on, including positions set up by hand.

`soundness_violation` is their table of contents; `first_violation` applies it to arrays of records.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.laws import NO_VIOLATION, require
from millebornes_env.engine.numba import machine_code
from millebornes_env.engine.numba.compiling import for_kernels, kernel, rule
from millebornes_env.games.millebornes.audit import violations as law
from millebornes_env.games.millebornes.audit.fields import field_violation
from millebornes_env.games.millebornes.cards import (
    DISTANCE_200,
    DRIVING_ACE,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    NUM_SAFETIES,
    RIGHT_OF_WAY,
    STOP,
    is_battle_hazard,
    km_of,
    safety_against,
)
from millebornes_env.games.millebornes.coup_fourre import can_claim
from millebornes_env.games.millebornes.ending import can_extend
from millebornes_env.games.millebornes.hazards import can_attack
from millebornes_env.games.millebornes.motion import has_safety, is_limited, team_of
from millebornes_env.games.millebornes.rules import Rules, RulesRecord, card_count, compiled_rules
from millebornes_env.games.millebornes.state import (
    CLAIM,
    EXTENSION,
    NO_SEAT,
    NO_TEAM,
    PLAY,
    ROUND_OVER,
    STATE,
    State,
    StateArray,
)

Int64Array = npt.NDArray[np.int64]

SCRATCH_SIZE: Final = NUM_CARD_TYPES + 1
"""Length of the int64 array that counts the hidden cards."""


def first_violation(states: StateArray, rules: Rules) -> tuple[int, str] | None:
    """Return the first game whose record is impossible at this table.

    A position set up by hand, to which no deal leads, is accepted if it can be played on.

    Args:
        states: `STATE[N]`.
        rules: the table's rules.

    Returns:
        Its index and the message of the violation; None if all records are sound.
    """
    records = for_kernels(np.ascontiguousarray(states).view(STATE))  # compiles once for arrays of all origins
    first_unsound = machine_code.of(_first_unsound)
    game, violation = first_unsound(records, compiled_rules(rules), np.zeros(SCRATCH_SIZE, np.int64))
    return None if violation == NO_VIOLATION else (int(game), law.message_of(int(violation), rules))


@kernel
def _first_unsound(states: StateArray, rules: RulesRecord, scratch: Int64Array) -> tuple[int, int]:
    for game in range(len(states)):
        violation = soundness_violation(states[game], rules, scratch)
        if violation != NO_VIOLATION:
            return game, violation
    return -1, NO_VIOLATION


@rule
def soundness_violation(state: State, rules: RulesRecord, scratch: Int64Array) -> int:
    """Return the first law of this file or of `fields` that the record breaks, or NO_VIOLATION.

    Reads nothing out of bounds, whatever the record.

    Args:
        state: the game; it may contain any bytes.
        rules: the table's rules.
        scratch: int64[SCRATCH_SIZE], overwritten.

    Returns:
        One of `violations`.
    """
    result = field_violation(state, rules)
    if result != NO_VIOLATION:
        return result
    result = card_violation(state, rules, scratch)
    for team in range(rules.teams):
        result = pile_violation(state, rules, team, result)
    return decision_violation(state, rules, result)


# Cards ----------------------------------------------------------------------------------------------------


@rule
def card_violation(state: State, rules: RulesRecord, scratch: Int64Array) -> int:
    """Return the first broken law of the cards; `scratch` counts cards by id + 1, and empty slots at 0."""
    count_cards_to_come(state, rules, scratch)
    result = require(NO_VIOLATION, law.STREAMS_OVERLAP, streams_are_apart(state, rules))
    result = require(result, law.EMPTY_SLOT_IN_STREAM, scratch[0] == 0)
    result = require(result, law.WRONG_DRAW_PILE, pile_is_what_is_left(state, rules))
    add_hands(state, rules, scratch)
    result = require(result, law.WRONG_HIDDEN, hidden_is_what_lies_face_down(state, scratch))
    result = require(result, law.WRONG_DECK, cards_are_those_of_the_table(state, rules, scratch))
    result = require(result, law.WRONG_HAND_COUNT, hand_counts_are_right(state, rules))
    return require(result, law.DISCARD_TOP_NOT_IN_PILE, discard_top_lies_there(state))


@rule
def count_cards_to_come(state: State, rules: RulesRecord, counts: Int64Array) -> None:
    """Count the cards of all streams into `counts`."""
    counts[:] = 0
    for seat in range(rules.players):
        for slot in range(int(state.stream_next[seat]), int(state.stream_end[seat])):
            counts[int(state.deck[slot]) + 1] += 1


@rule
def add_hands(state: State, rules: RulesRecord, counts: Int64Array) -> None:
    """Add the cards of all hands to `counts`."""
    for seat in range(rules.players):
        for card in range(NUM_CARD_TYPES):
            counts[card + 1] += int(state.hand[seat, card])


@rule
def streams_are_apart(state: State, rules: RulesRecord) -> bool:
    """No slot of the deck is in two streams."""
    for seat in range(1, rules.players):
        for other in range(seat):
            first = max(int(state.stream_next[seat]), int(state.stream_next[other]))
            end = min(int(state.stream_end[seat]), int(state.stream_end[other]))
            if first < end:
                return False
    return True


@rule
def pile_is_what_is_left(state: State, rules: RulesRecord) -> bool:
    """The draw pile counts the cards in the streams."""
    left = 0
    for seat in range(rules.players):
        left += int(state.stream_end[seat]) - int(state.stream_next[seat])
    return left == int(state.draw_pile)


@rule
def hidden_is_what_lies_face_down(state: State, counts: Int64Array) -> bool:
    """`hidden` counts the cards in hands and to come, type by type."""
    difference = 0
    for card in range(NUM_CARD_TYPES):
        difference |= int(state.hidden[card]) ^ int(counts[card + 1])
    return difference == 0


@rule
def cards_are_those_of_the_table(state: State, rules: RulesRecord, counts: Int64Array) -> bool:
    """No card was lost, doubled or changed: each type is there as often as in the deck (rules 0.2)."""
    difference = 0
    for card in range(NUM_CARD_TYPES):
        result = int(counts[card + 1]) + int(state.discard_pile[card])
        for team in range(rules.teams):
            result += int(state.tableau[team, card])
        result += 1 if card == int(state.pending_hazard) else 0
        difference |= result ^ card_count(rules, card)
    return difference == 0


@rule
def hand_counts_are_right(state: State, rules: RulesRecord) -> bool:
    """`hand_count` is the number of cards in each hand."""
    for seat in range(rules.players):
        cards = 0
        for card in range(NUM_CARD_TYPES):
            cards += int(state.hand[seat, card])
        if cards != int(state.hand_count[seat]):
            return False
    return True


@rule
def discard_top_lies_there(state: State) -> bool:
    """The last card discarded lies on the discard pile."""
    top = int(state.discard_top)
    return top == NO_CARD or int(state.discard_pile[top]) > 0


# Piles ----------------------------------------------------------------------------------------------------


@rule
def pile_violation(state: State, rules: RulesRecord, team: int, found: int) -> int:
    """Return `found` if it is a violation, else the first law that one team's piles break."""
    top, below = int(state.battle[team]), int(state.battle_below[team])
    found = require(found, law.BATTLE_NOT_IN_TABLEAU, lies_in_tableau(state, team, top))
    found = require(found, law.SPEED_NOT_IN_TABLEAU, lies_in_tableau(state, team, int(state.speed[team])))
    found = require(found, law.BATTLE_BELOW_NOT_IN_TABLEAU, lies_in_tableau(state, team, below))
    found = require(found, law.BATTLE_BELOW_WITHOUT_HAZARD, below == NO_CARD or is_battle_hazard(top))
    found = require(found, law.WRONG_KM, km_are_the_sum_of_the_cards(state, team))
    found = require(found, law.TOO_MANY_200S, int(state.tableau[team, DISTANCE_200]) <= rules.max_200)
    found = require(found, law.BEYOND_TARGET, trip_ends_at_the_target(state, rules, team))
    found = require(found, law.HAZARD_DESPITE_SAFETY, no_hazard_shows_under_its_safety(state, rules, team))
    found = require(
        found,
        law.LIMIT_DESPITE_RIGHT_OF_WAY,
        not (is_limited(state, team) and has_safety(state, team, RIGHT_OF_WAY)),
    )
    return require(found, law.COUP_FOURRE_WITHOUT_SAFETY, coups_fourres_were_laid(state, team))


@rule
def lies_in_tableau(state: State, team: int, card: int) -> bool:
    """The visible card, if any, is in the team's tableau."""
    return card == NO_CARD or int(state.tableau[team, card]) > 0


@rule
def km_are_the_sum_of_the_cards(state: State, team: int) -> bool:
    """The km are the sum of the distance cards laid."""
    km = 0
    for card in range(NUM_DISTANCES):
        km += km_of(card) * int(state.tableau[team, card])
    return km == int(state.km[team])


@rule
def trip_ends_at_the_target(state: State, rules: RulesRecord, team: int) -> bool:
    """No team goes beyond the target; if that is allowed, it lays no further distance card (004:30)."""
    beyond = int(state.km[team]) - int(state.target)
    return beyond <= 0 if rules.exact_finish == 1 else beyond < km_of(DISTANCE_200)


@rule
def no_hazard_shows_under_its_safety(state: State, rules: RulesRecord, team: int) -> bool:
    """No hazard shows despite its safety, except one that waits for a Roll (E22); never a Stop (004:26)."""
    top = int(state.battle[team])
    if not is_battle_hazard(top) or not has_safety(state, team, safety_against(top)):
        return True
    return top != STOP and rules.roll_after_safety == 1


@rule
def coups_fourres_were_laid(state: State, team: int) -> bool:
    """A coup fourré is one of the safeties laid."""
    missing = 0
    for safety in range(NUM_SAFETIES):
        claimed = int(state.coup_fourre[team, safety])
        missing |= claimed > int(state.tableau[team, DRIVING_ACE + safety])
    return missing == 0


# What is decided ------------------------------------------------------------------------------------------


@rule
def decision_violation(state: State, rules: RulesRecord, found: int) -> int:
    """Return `found` if it is a violation, else the first law of the decision that is broken."""
    asked = int(state.phase) == CLAIM
    found = require(found, law.CLAIM_WITHOUT_HAZARD, asked == (int(state.pending_hazard) != NO_CARD))
    found = require(found, law.WRONG_PARTIES_OF_CLAIM, two_teams_are_concerned(state, rules, asked))
    found = require(found, law.SEAT_CANNOT_CLAIM, not asked or can_claim(state, rules, int(state.seat)))
    found = require(found, law.TARGET_WITHOUT_EXTENSION, target_goes_with_the_extension(state, rules))
    offered = int(state.phase) == EXTENSION
    found = require(
        found, law.EXTENSION_NOT_ALLOWED, not offered or can_extend(state, rules, int(state.seat))
    )
    found = require(found, law.WINNER_WITHOUT_TRIP, winner_has_completed(state))
    found = require(found, law.ROUND_GOES_ON_AFTER_TRIP, completed_trip_ends_the_round(state, rules))
    to_play = int(state.phase) == PLAY
    found = require(found, law.NO_CARD_TO_PLAY, not to_play or int(state.hand_count[int(state.seat)]) > 0)
    return require(
        found,
        law.PENDING_HAZARD_NOT_ALLOWED,
        found != NO_VIOLATION or pending_hazard_can_be_laid(state, rules),
    )


@rule
def two_teams_are_concerned(state: State, rules: RulesRecord, asked: bool) -> bool:
    """In a claim attacker and pending team are of different teams; otherwise there is neither."""
    team, attacker = int(state.pending_team), int(state.attacker)
    if not asked:
        return team == NO_TEAM and attacker == NO_SEAT
    return team != NO_TEAM and attacker != NO_SEAT and team_of(rules, attacker) != team


@rule
def target_goes_with_the_extension(state: State, rules: RulesRecord) -> bool:
    """The trip is the long one if and only if a team has called the extension (US C)."""
    if int(state.extension_team) == NO_TEAM:
        return int(state.target) == rules.target
    return rules.extended_target > 0 and int(state.target) == rules.extended_target


@rule
def pending_hazard_can_be_laid(state: State, rules: RulesRecord) -> bool:
    """The rules allow the pending hazard against that team (004:16)."""
    if int(state.phase) != CLAIM:
        return True
    return can_attack(state, rules, int(state.pending_team), int(state.pending_hazard))


@rule
def winner_has_completed(state: State) -> bool:
    """A winner has completed the trip, and the round is over."""
    winner = int(state.winner)
    if winner == NO_TEAM:
        return True
    return int(state.phase) == ROUND_OVER and int(state.km[winner]) >= int(state.target)


@rule
def completed_trip_ends_the_round(state: State, rules: RulesRecord) -> bool:
    """While play goes on no team is at the target, except one that may call the extension (004:34)."""
    if int(state.phase) == ROUND_OVER:
        return True
    for team in range(rules.teams):
        asked = int(state.phase) == EXTENSION and team == team_of(rules, int(state.seat))
        if int(state.km[team]) >= int(state.target) and not asked:
            return False
    return True
