"""Who has won: a round, a match."""

from __future__ import annotations

from typing import Final

from millebornes_env.compile import rule
from millebornes_env.millebornes.rules import Rules
from millebornes_env.millebornes.scoring import round_score, safeties_laid
from millebornes_env.millebornes.state import NO_TEAM, State

_MORE_THAN_SAFETIES: Final = 8
"""More than the safeties that a team can lay: a kilometre outweighs all of them."""


@rule
def leader(values: tuple[int, int, int, int], teams: int) -> int:
    """The team with the single highest of the values, or NO_TEAM if two share it."""
    best = 0
    shared = False
    for team in range(1, teams):
        if values[team] > values[best]:
            best = team
            shared = False
        elif values[team] == values[best]:
            shared = True
    return NO_TEAM if shared else best


@rule
def round_winner(state: State, rules: Rules) -> int:
    """The team that did best in the finished round, or NO_TEAM if two share it: by points, if they count."""
    if rules.count_points == 0:
        return trip_winner(state, rules)
    points = (
        round_score(state, 0),
        round_score(state, 1),
        round_score(state, 2),
        round_score(state, 3),
    )
    return leader(points, rules.teams)


@rule
def trip_winner(state: State, rules: Rules) -> int:
    """The team that completed the trip, else the nearest, or NO_TEAM if two are equally near (rules 1.4).

    Ruling E53: a tie is a shared win, unless the field says that more safeties decide it.
    """
    if int(state.winner) != NO_TEAM:
        return int(state.winner)
    nearness = (
        how_near(state, rules, 0),
        how_near(state, rules, 1),
        how_near(state, rules, 2),
        how_near(state, rules, 3),
    )
    return leader(nearness, rules.teams)


@rule
def how_near(state: State, rules: Rules, team: int) -> int:
    """A number that grows with the team's km and, where they decide a tie, with its safeties."""
    safeties = safeties_laid(state, team) if rules.safeties_break_tie == 1 else 0
    return int(state.km[team]) * _MORE_THAN_SAFETIES + safeties


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
    scores = (int(state.score[0]), int(state.score[1]), int(state.score[2]), int(state.score[3]))
    best = leader(scores, rules.teams)
    if best == NO_TEAM or int(state.score[best]) < rules.goal:
        return NO_TEAM
    return best
