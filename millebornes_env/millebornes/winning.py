"""Who has won: a round, a match."""

from __future__ import annotations

from typing import Final

from millebornes_env.compile import rule
from millebornes_env.millebornes.rules import Rules
from millebornes_env.millebornes.scoring import round_score, safeties_laid
from millebornes_env.millebornes.state import NO_TEAM, State

# What teams are compared by.
_ROUND_POINTS: Final = 0
_NEARNESS: Final = 1
_MATCH_POINTS: Final = 2

_MORE_THAN_SAFETIES: Final = 8
"""More than the safeties that a team can lay: a kilometre outweighs all of them."""


@rule
def measured(state: State, rules: Rules, measure: int, team: int) -> int:
    """How well the team did, by one of the measures above.

    Ruling E53: nearness is counted in km; more safeties decide between equal km only where the field says so.
    """
    if measure == _ROUND_POINTS:
        return round_score(state, team)
    if measure == _MATCH_POINTS:
        return int(state.score[team])
    safeties = safeties_laid(state, team) if rules.safeties_break_tie == 1 else 0
    return int(state.km[team]) * _MORE_THAN_SAFETIES + safeties


@rule
def leader(state: State, rules: Rules, measure: int) -> int:
    """The team that did best, or NO_TEAM if two share the lead."""
    best = 0
    shared = False
    for team in range(1, rules.teams):
        ahead = measured(state, rules, measure, team) - measured(state, rules, measure, best)
        if ahead > 0:
            best = team
            shared = False
        elif ahead == 0:
            shared = True
    return NO_TEAM if shared else best


@rule
def round_winner(state: State, rules: Rules) -> int:
    """The team that did best in the finished round, or NO_TEAM if two share it: by points, if they count.

    Rule: where no points are counted, the team that completed the trip, else the nearest (rules 1.4).
    """
    if rules.count_points == 1:
        return leader(state, rules, _ROUND_POINTS)
    if int(state.winner) != NO_TEAM:
        return int(state.winner)
    return leader(state, rules, _NEARNESS)


@rule
def is_match_over(state: State, rules: Rules) -> bool:
    """Whether the round that has just finished decides the match; without points every round does."""
    return rules.count_points == 0 or leading_past_goal(state, rules) != NO_TEAM


@rule
def match_winner(state: State, rules: Rules) -> int:
    """The team that has won the match, or NO_TEAM (if it is not over, or a win without points is shared)."""
    if rules.count_points == 0:
        return round_winner(state, rules)
    return leading_past_goal(state, rules)


@rule
def leading_past_goal(state: State, rules: Rules) -> int:
    """The team with the highest total, if that reaches the goal.

    Rule: US, winning the game: the first to 5,000; if several pass it in one round, the highest total.
    Ruling E52: equal highest totals, another round.
    """
    best = leader(state, rules, _MATCH_POINTS)
    if best == NO_TEAM or int(state.score[best]) < rules.goal:
        return NO_TEAM
    return best
