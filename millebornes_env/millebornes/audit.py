"""What is wrong with a game record: for states that come from outside, and for tests.

A law is a small function named after what it says; `problem_of` is the table of contents. The laws of this
file hold for every record that can be played on, one that was set up by hand included; those of single fields
are in `audit_ranges.py`. What holds only for records that play from a deal leads to is in
`audit_reachable.py`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env import machine_code
from millebornes_env.compile import for_kernels, kernel, rule
from millebornes_env.millebornes.audit_ranges import NO_PROBLEM, broken_range, judged
from millebornes_env.millebornes.audit_reachable import UNREACHABLE, unreached_law
from millebornes_env.millebornes.cards import (
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
from millebornes_env.millebornes.coup_fourre import can_claim
from millebornes_env.millebornes.ending import can_extend
from millebornes_env.millebornes.hazards import can_attack
from millebornes_env.millebornes.motion import has_safety, is_limited, team_of
from millebornes_env.millebornes.rules import Rules, RulesRecord, card_count, compiled_rules
from millebornes_env.millebornes.state import (
    CLAIM,
    EXTENSION,
    NO_SEAT,
    NO_TEAM,
    PLAY,
    ROUND_OVER,
    State,
    StateArray,
)

Int64Array = npt.NDArray[np.int64]

_UNSOUND: Final = (
    "nothing",
    # 1 to 10: what a field can be at all; the laws after 25 rely on these
    "seat is not one of 0 to {last_seat}",
    "dealer is not one of 0 to {last_seat}",
    "phase is not one of 0 to 3",
    "extension_team is not a team of this table, nor -1",
    "winner is not a team of this table, nor -1",
    "pending_team is not a team of this table, nor -1",
    "attacker is not a seat of this table, nor -1",
    "pending_hazard is no hazard",
    "target is not the table's",
    "key is not two 32-bit words",
    # 11 to 20
    "a stream does not lie in the deck",
    "the deck holds a card that there is not",
    "discard_top is a card that there is not",
    "hand has fewer than no cards",
    "tableau has fewer than no cards",
    "discard_pile has fewer than no cards",
    "hidden has fewer than no cards",
    "a field of a seat or team that this table does not have is not 0",
    "score is below 0, or too high for a match that goes on",
    "hand_count is more than a hand can hold",
    # 21 to 25
    "battle shows a card that never lies there",
    "battle_below shows a card that never lies there",
    "speed shows a card that never lies there",
    "opening is not one of 0 to 2",
    "coup_fourre is neither 0 nor 1",
    # 26 to 35: cards
    "two streams share a card",
    "a card to come is none",
    "draw_pile is not what is left in the streams",
    "hidden is not what hands and draw pile hold",
    "the cards are not those of this table's {size}",
    "hand_count is not the hand's",
    "discard_top is a card that the discard pile does not hold",
    # 33 to 42: piles
    "battle shows a card that the tableau does not hold",
    "speed shows a card that the tableau does not hold",
    "battle_below shows a card that the tableau does not hold",
    "battle_below shows a card though no hazard covers it",
    "km is not the sum of the distance cards",
    "a team has laid more 200s than it may",
    "a team has gone beyond the target",
    "a hazard shows whose safety the team has laid",
    "a speed limit shows under right of way",
    "coup_fourre names a safety that the team has not laid",
    # 43 to 51: what is decided
    "a claim is asked for without a hazard, or unasked",
    "pending_team and attacker are not two teams where a claim is asked for, or not -1 elsewhere",
    "the seat that is asked cannot claim",
    "target does not go with extension_team",
    "an extension is asked for that cannot be called",
    "winner has not completed the trip, or the round goes on",
    "a trip is completed and the round goes on",
    "the seat to play has no cards",
    "the hazard that waits for an answer could not have been laid",
)

PROBLEMS: Final = _UNSOUND + UNREACHABLE
"""What `problem_of` returns, in words, by number; `problem_text` fills in `{last_seat}` and `{size}`."""

SCRATCH: Final = NUM_CARD_TYPES + 1
"""Of the int64 array that `problem_of` counts the hidden cards in."""

_LAST_UNSOUND: Final = len(_UNSOUND) - 1


def first_problem(states: StateArray, rules: Rules) -> tuple[int, str] | None:
    """The first game whose record cannot be a game of this table.

    Positions that were set up by hand, which no deal led to, are welcome if they can be played on.

    Args:
        states: `STATE[N]`.
        rules: the table's rules.

    Returns:
        Its number and what is wrong with it; None if nothing is.
    """
    shown = for_kernels(np.ascontiguousarray(states))
    first_unsound = machine_code.of(_first_unsound)
    game, problem = first_unsound(shown, compiled_rules(rules), np.zeros(SCRATCH, np.int64))
    return None if problem == NO_PROBLEM else (int(game), problem_text(int(problem), rules))


def problem_text(problem: int, rules: Rules) -> str:
    """What `problem_of` found at this table, in words."""
    return PROBLEMS[problem].format(last_seat=rules.players - 1, size=sum(rules.deck))


@kernel
def _first_unsound(states: StateArray, rules: RulesRecord, scratch: Int64Array) -> tuple[int, int]:
    for game in range(len(states)):
        problem = unsound_law(states[game], rules, scratch)
        if problem != NO_PROBLEM:
            return game, problem
    return -1, NO_PROBLEM


@rule
def problem_of(state: State, rules: RulesRecord, scratch: Int64Array) -> int:
    """The number of the first law that a game which was played from its deal breaks, or NO_PROBLEM.

    Args:
        state: the game; any bytes may stand in it.
        rules: the table's rules.
        scratch: int64[SCRATCH], overwritten.
    """
    problem = unsound_law(state, rules, scratch)
    if problem != NO_PROBLEM:
        return problem
    problem = unreached_law(state, rules)
    return problem if problem == NO_PROBLEM else _LAST_UNSOUND + problem


@rule
def unsound_law(state: State, rules: RulesRecord, scratch: Int64Array) -> int:
    """The first broken law of this file, or NO_PROBLEM; reads nothing out of bounds, whatever the record."""
    found = broken_range(state, rules)
    if found != NO_PROBLEM:
        return found
    found = broken_law_of_cards(state, rules, scratch)
    for team in range(rules.teams):
        found = broken_law_of_piles(state, rules, team, found)
    return broken_law_of_decisions(state, rules, found)


# Cards ----------------------------------------------------------------------------------------------------


@rule
def broken_law_of_cards(state: State, rules: RulesRecord, scratch: Int64Array) -> int:
    """Laws 26 to 32. `scratch` counts cards by id + 1, and at 0 the places without one."""
    count_cards_to_come(state, rules, scratch)
    found = judged(NO_PROBLEM, 26, streams_are_apart(state, rules))
    found = judged(found, 27, scratch[0] == 0)
    found = judged(found, 28, pile_is_what_is_left(state, rules))
    add_hands(state, rules, scratch)
    found = judged(found, 29, hidden_is_what_lies_face_down(state, scratch))
    found = judged(found, 30, cards_are_those_of_the_table(state, rules, scratch))
    found = judged(found, 31, hand_counts_are_right(state, rules))
    return judged(found, 32, discard_top_lies_there(state))


@rule
def count_cards_to_come(state: State, rules: RulesRecord, counts: Int64Array) -> None:
    """Count the cards of all streams into `counts`."""
    counts[:] = 0
    for seat in range(rules.players):
        for place in range(int(state.stream_next[seat]), int(state.stream_end[seat])):
            counts[int(state.deck[place]) + 1] += 1


@rule
def add_hands(state: State, rules: RulesRecord, counts: Int64Array) -> None:
    """Add the cards of all hands to `counts`."""
    for seat in range(rules.players):
        for card in range(NUM_CARD_TYPES):
            counts[card + 1] += int(state.hand[seat, card])


@rule
def streams_are_apart(state: State, rules: RulesRecord) -> bool:
    """No place of the deck lies in two streams."""
    for seat in range(1, rules.players):
        for other in range(seat):
            first = max(int(state.stream_next[seat]), int(state.stream_next[other]))
            end = min(int(state.stream_end[seat]), int(state.stream_end[other]))
            if first < end:
                return False
    return True


@rule
def pile_is_what_is_left(state: State, rules: RulesRecord) -> bool:
    """The draw pile counts what the streams hold."""
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
        found = int(counts[card + 1]) + int(state.discard_pile[card])
        for team in range(rules.teams):
            found += int(state.tableau[team, card])
        found += 1 if card == int(state.pending_hazard) else 0
        difference |= found ^ card_count(rules, card)
    return difference == 0


@rule
def hand_counts_are_right(state: State, rules: RulesRecord) -> bool:
    """Each hand is as large as is said."""
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
def broken_law_of_piles(state: State, rules: RulesRecord, team: int, found: int) -> int:
    """Laws 33 to 42, for one team."""
    top, below = int(state.battle[team]), int(state.battle_below[team])
    found = judged(found, 33, lies_in_tableau(state, team, top))
    found = judged(found, 34, lies_in_tableau(state, team, int(state.speed[team])))
    found = judged(found, 35, lies_in_tableau(state, team, below))
    found = judged(found, 36, below == NO_CARD or is_battle_hazard(top))
    found = judged(found, 37, km_are_the_sum_of_the_cards(state, team))
    found = judged(found, 38, int(state.tableau[team, DISTANCE_200]) <= rules.max_200)
    found = judged(found, 39, trip_ends_at_the_target(state, rules, team))
    found = judged(found, 40, no_hazard_shows_under_its_safety(state, rules, team))
    found = judged(found, 41, not (is_limited(state, team) and has_safety(state, team, RIGHT_OF_WAY)))
    return judged(found, 42, coups_fourres_were_laid(state, team))


@rule
def lies_in_tableau(state: State, team: int, card: int) -> bool:
    """The card that shows is one of the team's."""
    return card == NO_CARD or int(state.tableau[team, card]) > 0


@rule
def km_are_the_sum_of_the_cards(state: State, team: int) -> bool:
    """The km are those of the distance cards laid."""
    km = 0
    for card in range(NUM_DISTANCES):
        km += km_of(card) * int(state.tableau[team, card])
    return km == int(state.km[team])


@rule
def trip_ends_at_the_target(state: State, rules: RulesRecord, team: int) -> bool:
    """Nobody goes beyond the target; where that is allowed, no card is laid from there on (004:30)."""
    beyond = int(state.km[team]) - int(state.target)
    return beyond <= 0 if rules.exact_finish == 1 else beyond < km_of(DISTANCE_200)


@rule
def no_hazard_shows_under_its_safety(state: State, rules: RulesRecord, team: int) -> bool:
    """No hazard shows whose safety is out, but one that waits for a Roll (E22); never a Stop (004:26)."""
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
def broken_law_of_decisions(state: State, rules: RulesRecord, found: int) -> int:
    """Laws 43 to 51."""
    asked = int(state.phase) == CLAIM
    found = judged(found, 43, asked == (int(state.pending_hazard) != NO_CARD))
    found = judged(found, 44, two_teams_are_concerned(state, rules, asked))
    found = judged(found, 45, not asked or can_claim(state, rules, int(state.seat)))
    found = judged(found, 46, target_goes_with_the_extension(state, rules))
    offered = int(state.phase) == EXTENSION
    found = judged(found, 47, not offered or can_extend(state, rules, int(state.seat)))
    found = judged(found, 48, winner_has_completed(state))
    found = judged(found, 49, completed_trip_ends_the_round(state, rules))
    to_play = int(state.phase) == PLAY
    found = judged(found, 50, not to_play or int(state.hand_count[int(state.seat)]) > 0)
    return judged(found, 51, found != NO_PROBLEM or pending_hazard_can_be_laid(state, rules))


@rule
def two_teams_are_concerned(state: State, rules: RulesRecord, asked: bool) -> bool:
    """The hazard of a claim is laid by a member of one team against another; otherwise both are nobody."""
    team, attacker = int(state.pending_team), int(state.attacker)
    if not asked:
        return team == NO_TEAM and attacker == NO_SEAT
    return team != NO_TEAM and attacker != NO_SEAT and team_of(rules, attacker) != team


@rule
def target_goes_with_the_extension(state: State, rules: RulesRecord) -> bool:
    """The trip is the long one if, and only if, a team has called the extension (US C)."""
    if int(state.extension_team) == NO_TEAM:
        return int(state.target) == rules.target
    return rules.extended_target > 0 and int(state.target) == rules.extended_target


@rule
def pending_hazard_can_be_laid(state: State, rules: RulesRecord) -> bool:
    """The hazard that waits for an answer is one that the rules allow against that team (004:16)."""
    if int(state.phase) != CLAIM:
        return True
    return can_attack(state, rules, int(state.pending_team), int(state.pending_hazard))


@rule
def winner_has_completed(state: State) -> bool:
    """Nobody has won before the end of the round, nor without having completed the trip."""
    winner = int(state.winner)
    if winner == NO_TEAM:
        return True
    return int(state.phase) == ROUND_OVER and int(state.km[winner]) >= int(state.target)


@rule
def completed_trip_ends_the_round(state: State, rules: RulesRecord) -> bool:
    """While play goes on nobody is at the target, but the team that is asked whether it extends (004:34)."""
    if int(state.phase) == ROUND_OVER:
        return True
    for team in range(rules.teams):
        asked = int(state.phase) == EXTENSION and team == team_of(rules, int(state.seat))
        if int(state.km[team]) >= int(state.target) and not asked:
            return False
    return True


__all__ = ["NO_PROBLEM", "PROBLEMS", "SCRATCH", "first_problem", "problem_of", "problem_text"]
