"""Winners of rounds and matches."""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.scoring import round_score, safeties_laid
from millebornes_env.games.millebornes.state import NO_TEAM, State

# Measures to compare teams by.
_ROUND_POINTS: Final = 0
_NEARNESS: Final = 1
_MATCH_POINTS: Final = 2

_MORE_THAN_SAFETIES: Final = 8
"""More than the safeties that a team can lay: a kilometre outweighs all of them."""


@rule
def measured(state: State, rules: RulesRecord, measure: int, team: int) -> int:
    """Return the team's result by one of the measures above.

    Ruling E53: nearness is counted in km; more safeties decide between equal km only where the field says so.
    """
    if measure == _ROUND_POINTS:
        return round_score(state, team)
    if measure == _MATCH_POINTS:
        return int(state.score[team])
    safeties = safeties_laid(state, team) if rules.safeties_break_tie == 1 else 0
    return int(state.km[team]) * _MORE_THAN_SAFETIES + safeties


@rule
def is_unbeaten(state: State, rules: RulesRecord, measure: int, team: int) -> bool:
    """Return True if no other team did better: the team leads, alone or with others."""
    own = measured(state, rules, measure, team)
    for other in range(rules.teams):
        if measured(state, rules, measure, other) > own:
            return False
    return True


@rule
def has_won_round(state: State, rules: RulesRecord, team: int) -> bool:
    """Return True if the team has won the finished round, alone or together with others.

    Rule: where no points are counted, the team that completed the trip, else the nearest (rules 1.4).
    Ruling E53: teams that are equally near share the win, the others have lost; so it is with equal points.
    """
    if rules.count_points == 1:
        return is_unbeaten(state, rules, _ROUND_POINTS, team)
    if int(state.winner) != NO_TEAM:
        return int(state.winner) == team
    return is_unbeaten(state, rules, _NEARNESS, team)


@rule
def round_winner(state: State, rules: RulesRecord) -> int:
    """Return the team that has won the finished round alone, or NO_TEAM if several share it."""
    winner = NO_TEAM
    for team in range(rules.teams):
        if has_won_round(state, rules, team):
            if winner != NO_TEAM:
                return NO_TEAM
            winner = team
    return winner


@rule
def is_match_over(state: State, rules: RulesRecord) -> bool:
    """Return True if the round that has just finished decides the match; without points every round does."""
    return rules.count_points == 0 or leading_past_goal(state, rules) != NO_TEAM


@rule
def match_winner(state: State, rules: RulesRecord) -> int:
    """Return the team that has won the match, or NO_TEAM (not over, or a shared win without points)."""
    if rules.count_points == 0:
        return round_winner(state, rules)
    return leading_past_goal(state, rules)


@rule
def has_won_match(state: State, rules: RulesRecord, team: int) -> bool:
    """Return True if the team has won the match; without points it is one round, and a win can be shared."""
    if rules.count_points == 0:
        return has_won_round(state, rules, team)
    return leading_past_goal(state, rules) == team


@rule
def leading_past_goal(state: State, rules: RulesRecord) -> int:
    """Return the team with the highest total, if that reaches the goal.

    Rule: US, winning the game: the first to 5,000; if several pass it in one round, the highest total.
    Ruling E52: equal highest totals, another round.
    """
    best = NO_TEAM
    for team in range(rules.teams):
        if is_unbeaten(state, rules, _MATCH_POINTS, team):
            if best != NO_TEAM or int(state.score[team]) < rules.goal:
                return NO_TEAM
            best = team
    return best
