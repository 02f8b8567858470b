"""Laws of every record that play from a deal leads to.

A position set up by hand may break them and still be playable. They hold for all rules, not only for the
published editions.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.laws import NO_VIOLATION, require
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.audit import violations as law
from millebornes_env.games.millebornes.audit.soundness import Int64Array, soundness_violation
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    DECK_SIZE,
    DISTANCE_200,
    END_OF_LIMIT,
    FLAT_TIRE,
    NO_CARD,
    NUM_SAFETIES,
    REPAIRS,
    RIGHT_OF_WAY,
    ROLL,
    SPARE_TIRE,
    SPEED_LIMIT,
    STOP,
    is_battle_hazard,
    is_remedy,
    remedy_for,
    safety_against,
)
from millebornes_env.games.millebornes.ending import are_hands_played_out
from millebornes_env.games.millebornes.legality import is_everybody_stuck
from millebornes_env.games.millebornes.motion import has_any_safety, has_safety
from millebornes_env.games.millebornes.rules import EVERY_PLACED_TEAM, RulesRecord, deck_size
from millebornes_env.games.millebornes.scoring import coups_fourres, safeties_laid
from millebornes_env.games.millebornes.state import (
    ALL_SAFETIES_LINE,
    BY_HAZARD,
    BY_ROLL,
    COUPS_FOURRES_LINE,
    DELAYED_ACTION_LINE,
    DISTANCE_LINE,
    EXTENSION_LINE,
    NO_TEAM,
    NUM_SCORE_LINES,
    PLAY,
    ROUND_OVER,
    SAFE_TRIP_LINE,
    SAFETIES_LINE,
    SHUTOUT_LINE,
    TRIP_COMPLETED_LINE,
    State,
)
from millebornes_env.games.millebornes.winning import leading_past_goal

_SEATS_OF_A_TURN: Final = 2
_HAZARD_AND_REMEDY: Final = 2


@rule
def violation_of(state: State, rules: RulesRecord, scratch: Int64Array) -> int:
    """Return the first law that a game breaks if it was played from its deal, or NO_VIOLATION.

    Args:
        state: the game; it may contain any bytes.
        rules: the table's rules.
        scratch: int64[SCRATCH_SIZE], overwritten.

    Returns:
        One of `violations`.
    """
    result = soundness_violation(state, rules, scratch)
    return reachability_violation(state, rules) if result == NO_VIOLATION else result


@rule
def reachability_violation(state: State, rules: RulesRecord) -> int:
    """Return the first law of this file that a sound record breaks, or NO_VIOLATION."""
    played_out = are_hands_played_out(state, rules)
    result = require(NO_VIOLATION, law.STREAM_OUTSIDE_ITS_PART, streams_lie_in_their_parts(state, rules))
    result = require(result, law.DRAWN_CARD_IN_DECK, deck_is_blank_where_drawn(state))
    result = require(result, law.WRONG_DISCARD_TOP, discard_top_shows_an_empty_pile(state))
    if int(state.draw_pile) > 0:
        result = require(result, law.WRONG_HAND_SIZE, hands_are_full(state, rules))
    else:
        result = require(result, law.HAND_TOO_LARGE_WITHOUT_PILE, hands_are_no_larger(state, rules))
        result = require(
            result, law.HAND_SHRANK, played_out or only_the_last_turn_shrinks_hands(state, rules)
        )
    for team in range(rules.teams):
        result = played_pile_violation(state, rules, team, result)
    result = require(result, law.EXTENSION_BEFORE_TRIP, caller_has_completed_the_short_trip(state, rules))
    result = require(result, law.ROUND_OVER_TOO_EARLY, round_ends_for_want_of_cards(state, rules, played_out))
    result = require(result, law.TRIP_WITHOUT_WINNER, completed_trip_wins(state, rules))
    if int(state.phase) == ROUND_OVER:
        result = require(result, law.WRONG_SCORE_SHEET, score_sheet_adds_up(state, rules))
    else:
        result = require(result, law.SCORE_SHEET_TOO_EARLY, score_sheet_is_empty(state, rules))
        result = require(
            result,
            law.MATCH_IS_DECIDED,
            rules.count_points == 0 or leading_past_goal(state, rules) == NO_TEAM,
        )
    return require(result, law.POINTS_NOT_COUNTED, points_are_counted(state, rules))


@rule
def played_pile_violation(state: State, rules: RulesRecord, team: int, found: int) -> int:
    """Return `found` if it is a violation, else the first law that one team's piles break."""
    found = require(
        found, law.WRONG_BATTLE, (int(state.battle[team]) == NO_CARD) == (battle_cards(state, team) == 0)
    )
    found = require(found, law.WRONG_BATTLE_BELOW, below_is_a_card_to_attack_on(state, rules, team))
    found = require(found, law.UNMATCHED_REMEDIES, breakdowns_were_answered(state, rules, team))
    found = require(found, law.WRONG_NUMBER_OF_ROLLS, rolls_had_their_occasions(state, rules, team))
    found = require(found, law.UNMATCHED_LIMITS, limits_were_answered(state, team))
    found = require(found, law.WRONG_OPENING, opening_goes_with_the_pile(state, team))
    return require(found, law.KM_WITHOUT_START, km_were_travelled_moving(state, rules, team))


# Cards ----------------------------------------------------------------------------------------------------


@rule
def streams_lie_in_their_parts(state: State, rules: RulesRecord) -> bool:
    """Each stream lies in its seat's part of the deck, which starts at seat * size // players."""
    size = deck_size(rules)
    whole = size // rules.players
    rest = size - whole * rules.players
    start, carried = 0, 0
    for seat in range(rules.players):
        end = start + whole
        carried += rest  # so no division is needed but the one above
        if carried >= rules.players:
            carried -= rules.players
            end += 1
        if int(state.stream_next[seat]) < start or int(state.stream_end[seat]) > end:
            return False
        start = end
    return True


@rule
def deck_is_blank_where_drawn(state: State) -> bool:
    """The deck holds only the cards to come."""
    cards = 0
    for index in range(DECK_SIZE):
        cards += 1 if int(state.deck[index]) != NO_CARD else 0
    return cards == int(state.draw_pile)


@rule
def discard_top_shows_an_empty_pile(state: State) -> bool:
    """The discard pile shows no card if, and only if, it is empty."""
    cards = 0
    for card in range(len(state.discard_pile)):
        cards += int(state.discard_pile[card])
    return (int(state.discard_top) == NO_CARD) == (cards == 0)


@rule
def hands_are_full(state: State, rules: RulesRecord) -> bool:
    """While there are cards to draw no draw has failed: the seat to play has one more than dealt."""
    for seat in range(rules.players):
        to_play = int(state.phase) == PLAY and seat == int(state.seat)
        if int(state.hand_count[seat]) != rules.hand_limit + (1 if to_play else 0):
            return False
    return True


@rule
def hands_are_no_larger(state: State, rules: RulesRecord) -> bool:
    """With an empty pile no hand is larger than dealt, except right after the last draw.

    The seat that has just drawn the last card then has one more, and all other hands are still full.
    """
    drew_last = int(state.phase) == PLAY and int(state.hand_count[int(state.seat)]) == rules.hand_limit + 1
    for seat in range(rules.players):
        cards = int(state.hand_count[seat])
        if drew_last and seat == int(state.seat):
            continue
        if cards > rules.hand_limit or (drew_last and cards < rules.hand_limit):
            return False
    return True


@rule
def only_the_last_turn_shrinks_hands(state: State, rules: RulesRecord) -> bool:
    """If the round ends with the turn that empties the pile, all other seats have full hands.

    The exceptions are the seat to act and the attacker; at the end of the round, one or two seats. If a
    claim gives a play with the pile empty, one turn can shrink all hands, and this law does not apply.
    """
    if rules.replay_after_claim_when_empty == 1:
        return True
    over = int(state.phase) == ROUND_OVER
    short = 0
    for seat in range(rules.players):
        if int(state.hand_count[seat]) < rules.hand_limit:
            short += 1
            if not over and seat not in (int(state.seat), int(state.attacker)):
                return False
    return short <= _SEATS_OF_A_TURN


# Piles ----------------------------------------------------------------------------------------------------


@rule
def battle_cards(state: State, team: int) -> int:
    """Count the cards on the battle pile, covered ones included."""
    cards = 0
    for hazard in range(ACCIDENT, STOP + 1):
        cards += int(state.tableau[team, hazard]) + int(state.tableau[team, remedy_for(hazard)])
    return cards


@rule
def below_is_a_card_to_attack_on(state: State, rules: RulesRecord, team: int) -> bool:
    """No hazard lies under a hazard, except a cancelled one of a team that rolled on by Right of Way."""
    below = int(state.battle_below[team])
    if not is_battle_hazard(below):
        return True
    cancelled = below != STOP and has_safety(state, team, safety_against(below))
    return rules.roll_after_safety == 1 and cancelled and has_safety(state, team, RIGHT_OF_WAY)


@rule
def unanswered(state: State, team: int, hazard: int) -> int:
    """Count the hazards in the pile without a remedy there."""
    return int(state.tableau[team, hazard]) - int(state.tableau[team, remedy_for(hazard)])


@rule
def breakdowns_were_answered(state: State, rules: RulesRecord, team: int) -> bool:
    """Every breakdown has its remedy, except the visible one and those cancelled by a safety (E22)."""
    for hazard in range(ACCIDENT, FLAT_TIRE + 1):
        left = unanswered(state, team, hazard)
        if int(state.battle[team]) == hazard:
            if left != 1:
                return False
        elif left != 0:
            cancelled = rules.roll_after_safety == 1 and has_safety(state, team, safety_against(hazard))
            if left != 1 or not cancelled:
                return False
    return True


@rule
def rolls_had_their_occasions(state: State, rules: RulesRecord, team: int) -> bool:
    """Each covered Stop has a Roll; others: one at the start, for a remedy, for a cancelled hazard (E25)."""
    stops = int(state.tableau[team, STOP]) - (1 if int(state.battle[team]) == STOP else 0)
    others = rules.start_needs_roll
    if rules.roll_after_remedy == 1:
        for remedy in range(REPAIRS, SPARE_TIRE + 1):
            others += int(state.tableau[team, remedy])
    if rules.roll_after_safety == 1:
        for hazard in range(ACCIDENT, FLAT_TIRE + 1):
            others += 1 if unanswered(state, team, hazard) > 0 else 0
    return stops <= int(state.tableau[team, ROLL]) <= stops + others


@rule
def limits_were_answered(state: State, team: int) -> bool:
    """Every Speed Limit has its End of Limit, except the visible one (Right of Way removes it)."""
    top = int(state.speed[team])
    limits, ends = int(state.tableau[team, SPEED_LIMIT]), int(state.tableau[team, END_OF_LIMIT])
    if top == SPEED_LIMIT:
        return limits == ends + 1
    return limits == ends and (top == END_OF_LIMIT) == (ends > 0)


@rule
def opening_goes_with_the_pile(state: State, team: int) -> bool:
    """`opening` agrees with the cards of the battle pile about its first card."""
    opening, top = int(state.opening[team]), int(state.battle[team])
    attacked = is_battle_hazard(top)
    mended = is_remedy(top) and top != ROLL
    cards = battle_cards(state, team)
    opened_by_hazard = (attacked and cards == 1) or (mended and cards == _HAZARD_AND_REMEDY)
    if opening == BY_ROLL:
        return not opened_by_hazard
    if int(state.tableau[team, ROLL]) > 0:
        return False
    if opening == BY_HAZARD:
        return opened_by_hazard
    return attacked and int(state.battle_below[team]) != NO_CARD


@rule
def km_were_travelled_moving(state: State, rules: RulesRecord, team: int) -> bool:
    """A team with km has been able to move (rules 1.2)."""
    if int(state.km[team]) == 0 or rules.start_needs_roll == 0 or int(state.tableau[team, ROLL]) > 0:
        return True
    if has_safety(state, team, RIGHT_OF_WAY) or (
        rules.any_safety_starts == 1 and has_any_safety(state, team)
    ):
        return True
    mended = 0
    for remedy in range(REPAIRS, SPARE_TIRE + 1):
        mended += int(state.tableau[team, remedy])
    return mended > 0 and (rules.roll_after_remedy == 0 or rules.opening_remedy_starts == 1)


# The round and the match ----------------------------------------------------------------------------------


@rule
def caller_has_completed_the_short_trip(state: State, rules: RulesRecord) -> bool:
    """The team that called the extension had completed the short trip (US C)."""
    caller = int(state.extension_team)
    return caller == NO_TEAM or int(state.km[caller]) >= rules.target


@rule
def round_ends_for_want_of_cards(state: State, rules: RulesRecord, played_out: bool) -> bool:
    """A round without a winner ends with an empty draw pile and, if hands are played out, empty hands.

    Where `end_when_stuck` says so, hands that hold no card that can be laid are as good as empty.
    """
    if int(state.phase) != ROUND_OVER or int(state.winner) != NO_TEAM or is_everybody_stuck(state, rules):
        return True
    cards = int(state.draw_pile)
    if played_out:
        for seat in range(rules.players):
            cards += int(state.hand_count[seat])
    return cards == 0


@rule
def completed_trip_wins(state: State, rules: RulesRecord) -> bool:
    """At the end of a round exactly the winner has completed the trip."""
    if int(state.phase) != ROUND_OVER:
        return True
    for team in range(rules.teams):
        if (int(state.km[team]) >= int(state.target)) != (team == int(state.winner)):
            return False
    return True


@rule
def score_sheet_is_empty(state: State, rules: RulesRecord) -> bool:
    """The score sheet has no points before the end of the round."""
    union = 0
    for team in range(rules.teams):
        for line in range(NUM_SCORE_LINES):
            union |= int(state.score_sheet[team, line])
    return union == 0


@rule
def points_are_counted(state: State, rules: RulesRecord) -> bool:
    """All points are 0 if the rules count none (`count_points`)."""
    union = 0
    for team in range(rules.teams):
        union |= int(state.score[team])
    return rules.count_points == 1 or union == 0


@rule
def score_sheet_adds_up(state: State, rules: RulesRecord) -> bool:
    """Every line matches the piles, and the total includes all lines (rules 1.5)."""
    if rules.count_points == 0:
        return score_sheet_is_empty(state, rules)
    for team in range(rules.teams):
        total = int(state.score_sheet[team, DISTANCE_LINE])
        if total != int(state.km[team]):
            return False
        for line in range(DISTANCE_LINE + 1, NUM_SCORE_LINES):
            total += int(state.score_sheet[team, line])
        if not bonuses_are_right(state, rules, team) or int(state.score[team]) < total:
            return False
    return True


@rule
def bonuses_are_right(state: State, rules: RulesRecord, team: int) -> bool:
    """The lines after the first are right; each is calculated in another way than in the rulebook."""
    sheet = state.score_sheet[team]
    won = 1 if team == int(state.winner) else 0
    failed = 1 if team == int(state.extension_team) and won == 0 else 0
    kept = 1 - failed * rules.failed_extension_forfeits_bonuses
    safeties = safeties_laid(state, team)
    delayed = 1 if int(state.draw_pile) == 0 else 0
    safe = 1 if int(state.tableau[team, DISTANCE_200]) == 0 else 0
    wrong = int(sheet[SAFETIES_LINE]) ^ (kept * safeties * rules.points_per_safety)
    wrong |= int(sheet[ALL_SAFETIES_LINE]) ^ (kept * (safeties // NUM_SAFETIES) * rules.points_all_safeties)
    wrong |= int(sheet[COUPS_FOURRES_LINE]) ^ (
        kept * coups_fourres(state, team) * rules.points_per_coup_fourre
    )
    wrong |= int(sheet[TRIP_COMPLETED_LINE]) ^ (won * rules.points_trip_completed)
    wrong |= int(sheet[DELAYED_ACTION_LINE]) ^ (won * delayed * rules.points_delayed_action)
    wrong |= int(sheet[SAFE_TRIP_LINE]) ^ (won * safe * rules.points_safe_trip)
    wrong |= int(sheet[EXTENSION_LINE]) ^ (kept * points_of_extension(state, rules, team))
    wrong |= int(sheet[SHUTOUT_LINE]) ^ (kept * points_of_shutout(state, rules, team, won))
    return wrong == 0


@rule
def points_of_shutout(state: State, rules: RulesRecord, team: int, won: int) -> int:
    """Return the points: per team without km, to each with some; or once, to a winner (E42, E43)."""
    blank = 0
    for other in range(rules.teams):
        blank += 1 if int(state.km[other]) == 0 else 0
    if rules.shutout_for == EVERY_PLACED_TEAM:
        return rules.points_shutout * (0 if int(state.km[team]) == 0 else blank)
    return won * rules.points_shutout * (1 if blank == rules.teams - 1 else 0)


@rule
def points_of_extension(state: State, rules: RulesRecord, team: int) -> int:
    """Return the points: to the caller if it completed the longer trip, otherwise to all others."""
    caller = int(state.extension_team)
    if caller == NO_TEAM:
        return 0
    completed = caller == int(state.winner)
    if team == caller:
        return rules.points_extension if completed else 0
    return 0 if completed else rules.points_extension_failed
