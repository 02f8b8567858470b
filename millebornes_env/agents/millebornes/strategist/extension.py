"""When `strategist` extends a trip, and what it makes of the score of the match."""

from __future__ import annotations

from typing import Final

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.millebornes.preferences import km_to_go
from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.millebornes.cards import ACCIDENT, DISTANCE_200, RIGHT_OF_WAY, SPEED_LIMIT, km_of
from millebornes_env.games.millebornes.motion import has_safety, is_limited, is_moving, team_of
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.scoring import (
    blank_opponents,
    coups_fourres,
    points_for_all_safeties,
    safeties_laid,
)
from millebornes_env.games.millebornes.sections import MAX_INT8, SCORE_UNIT
from millebornes_env.games.millebornes.state import State

# Its options.
EXTENDS: Final = 0
MINDS_SCORE: Final = 1

# What going on is worth, in points: a straight line, fitted to what 37,565 extensions brought that were
# called whatever the prospects.
GOING_ON: Final = -850
EACH_CARD_LEFT: Final = 10
EACH_100_KM_IN_HAND: Final = 160
MOST_KM_IN_HAND: Final = 300
EACH_HAZARD_IN_HAND: Final = 120
EACH_SAFETY: Final = 90
OWN_LIMIT: Final = 260
OPPONENT_MOVES: Final = 300


@rule
def safe_trip_at_stake(state: State, rules: RulesRecord, team: int) -> int:
    """Points that the first 200 costs a team that completes its trip."""
    if rules.count_points == 0 or int(state.tableau[team, DISTANCE_200]) > 0:
        return 0
    return rules.points_safe_trip


@seldom
def would_extend(state: State, rules: RulesRecord, seat: int, options: Int64Array) -> bool:
    """Return True if the agent extends: to decide the match if finishing would, else if it pays."""
    if options[MINDS_SCORE] == 1:
        lead = lead_at_end_of_match(state, rules, seat)
        if lead != 0:
            return lead < 0
    if options[EXTENDS] == 0:
        return False
    return worth_of_longer_trip(state, rules, seat) > 0


@rule
def worth_of_longer_trip(state: State, rules: RulesRecord, seat: int) -> int:
    """Return the mean gain of extending, by a linear fit to measured gains and losses."""
    team = team_of(rules, seat)
    worth = GOING_ON + EACH_CARD_LEFT * int(state.draw_pile)
    worth += (2 * rules.points_extension - rules.points_extension_failed) * 2 // 5
    worth += EACH_100_KM_IN_HAND * min(km_in_hand(state, rules, seat), MOST_KM_IN_HAND) // 100
    for hazard in range(ACCIDENT, SPEED_LIMIT):
        worth += EACH_HAZARD_IN_HAND * int(state.hand[seat, hazard])
    worth += EACH_SAFETY * safeties_laid(state, team)
    if has_safety(state, team, RIGHT_OF_WAY):
        worth += EACH_SAFETY
    if is_limited(state, team):
        worth -= OWN_LIMIT
    worth -= safe_trip_at_stake(state, rules, team) // 2
    if blank_opponents(state, rules, team) == rules.teams - 1:
        worth -= rules.points_shutout // 2
    for other in range(rules.teams):
        if other != team:
            worth -= strength_of_opponent(state, rules, other)
    return worth


@rule
def strength_of_opponent(state: State, rules: RulesRecord, team: int) -> int:
    """Return the cost of an opponent on a longer trip."""
    strength = EACH_SAFETY * safeties_laid(state, team)
    if is_moving(state, rules, team):
        strength += OPPONENT_MOVES
    if is_limited(state, team):
        strength -= OPPONENT_MOVES
    return strength


@rule
def km_in_hand(state: State, rules: RulesRecord, seat: int) -> int:
    """Km of the distance cards in hand, without 200s where these would cost the safe trip."""
    km = 0
    for card in range(DISTANCE_200):
        km += km_of(card) * int(state.hand[seat, card])
    if safe_trip_at_stake(state, rules, team_of(rules, seat)) == 0:
        km += km_of(DISTANCE_200) * int(state.hand[seat, DISTANCE_200])
    return km


@rule
def lead_at_end_of_match(state: State, rules: RulesRecord, seat: int) -> int:
    """By how many points the seat's team leads if it completes its trip now and that ends the match.

    0 if the match goes on then; behind, it is less than 0.
    """
    if rules.count_points == 0:
        return 0
    team = team_of(rules, seat)
    own = total_so_far(state, rules, team) + rules.points_trip_completed
    own += max(km_to_go(state, team), 0)  # if the card that completes it is still in hand
    own += safe_trip_at_stake(state, rules, team)
    if int(state.draw_pile) == 0:
        own += rules.points_delayed_action
    if blank_opponents(state, rules, team) == rules.teams - 1:
        own += rules.points_shutout
    best = 0
    for other in range(rules.teams):
        if other != team:
            best = max(best, total_so_far(state, rules, other))
    if max(own, best) < rules.goal or own == best:
        return 0
    return own - best


@rule
def total_so_far(state: State, rules: RulesRecord, team: int) -> int:
    """The team's score, as everybody sees it, with what it has in this round for certain."""
    total = SCORE_UNIT * min(int(state.score[team]) // SCORE_UNIT, MAX_INT8) + int(state.km[team])
    total += rules.points_per_safety * safeties_laid(state, team)
    total += points_for_all_safeties(state, rules, team)
    return total + rules.points_per_coup_fourre * coups_fourres(state, team)
