"""What the arena counts while it plays, for each role: every action, and how the rounds ended."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.compile import rule, seldom
from millebornes_env.millebornes.actions import FIRST_FURTHER_HAZARD, around
from millebornes_env.millebornes.cards import DISTANCE_200, NUM_HAZARDS, NUM_SAFETIES
from millebornes_env.millebornes.motion import team_of
from millebornes_env.millebornes.rules import RulesRecord
from millebornes_env.millebornes.scoring import blank_opponents, coups_fourres, round_score, safeties_laid
from millebornes_env.millebornes.state import MAX_TEAMS, NO_TEAM, Int8Array, State
from millebornes_env.millebornes.winning import has_won_round, round_winner

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

ACTION_COUNTS: Final = FIRST_FURTHER_HAZARD + NUM_HAZARDS * (MAX_TEAMS - 2)
"""First come the actions, by id."""

ROUND_COUNTS: Final = (
    *("rounds", "started", "round_wins", "round_ties", "points", "points_squared"),
    *("trips_completed", "trips_completed_starting", "safe_trips", "delayed_actions", "shutouts"),
    *("shut_out", "extensions_called", "extensions_won", "safeties", "coups_fourres", "all_safeties"),
    *("two_hundreds", "km", "episodes", "episode_wins", "episodes_started", "episodes_won_starting"),
    *("points_starting", "round_wins_starting", "empty_pile_rounds"),
)
"""Then these, a number of rounds or a sum over rounds each."""

NUM_COUNTERS: Final = ACTION_COUNTS + len(ROUND_COUNTS)


def index_of(name: str) -> int:
    """Where a count stands among the counters."""
    return ACTION_COUNTS + ROUND_COUNTS.index(name)


(
    _ROUNDS,
    _STARTED,
    _ROUND_WINS,
    _ROUND_TIES,
    _POINTS,
    _POINTS_SQUARED,
    _TRIPS,
    _TRIPS_STARTING,
    _SAFE_TRIPS,
    _DELAYED,
    _SHUTOUTS,
    _SHUT_OUT,
    _CALLED,
    _WON,
    _SAFETIES,
    _COUPS,
    _ALL_SAFETIES,
    _TWO_HUNDREDS,
    _KM,
    _EPISODES,
    _EPISODE_WINS,
    _EPISODES_STARTED,
    _EPISODES_WON_STARTING,
    _POINTS_STARTING,
    _ROUND_WINS_STARTING,
    _EMPTY_PILE,
) = (index_of(name) for name in ROUND_COUNTS)


@rule
def count_action(counters: Int64Array, action: int) -> None:
    """Count one action of a role."""
    counters[action] += 1


@seldom
def count_round(state: State, rules: RulesRecord, role_of: Int8Array, counters: Int64Array) -> None:
    """Count a finished round, from each team's side.

    Args:
        state: scored.
        rules: the table's.
        role_of: int8[T], the role that played each team.
        counters: int64[T, NUM_COUNTERS].
    """
    starter = team_of(rules, around(int(state.dealer) + 1, rules.players))
    best = round_winner(state, rules)
    for team in range(rules.teams):
        row = counters[int(role_of[team])]
        points = round_score(state, team)
        row[_ROUNDS] += 1
        row[_POINTS] += points
        row[_POINTS_SQUARED] += points * points
        row[_ROUND_WINS] += 1 if best == team else 0
        row[_ROUND_TIES] += 1 if best == NO_TEAM and has_won_round(state, rules, team) else 0
        row[_EMPTY_PILE] += 1 if int(state.draw_pile) == 0 else 0
        count_deeds(state, rules, team, row)
        if team == starter:
            row[_STARTED] += 1
            row[_POINTS_STARTING] += points
            row[_ROUND_WINS_STARTING] += 1 if best == team else 0
            row[_TRIPS_STARTING] += 1 if int(state.winner) == team else 0


@rule
def count_deeds(state: State, rules: RulesRecord, team: int, row: Int64Array) -> None:
    """Count what a team achieved in the round."""
    won, caller = int(state.winner) == team, int(state.extension_team) == team
    blank = blank_opponents(state, rules, team)
    row[_TRIPS] += 1 if won else 0
    row[_SAFE_TRIPS] += 1 if won and int(state.tableau[team, DISTANCE_200]) == 0 else 0
    row[_DELAYED] += 1 if won and int(state.draw_pile) == 0 else 0
    row[_SHUTOUTS] += 1 if won and blank == rules.teams - 1 else 0
    row[_SHUT_OUT] += 1 if int(state.winner) != NO_TEAM and int(state.km[team]) == 0 else 0
    row[_CALLED] += 1 if caller else 0
    row[_WON] += 1 if caller and won else 0
    row[_SAFETIES] += safeties_laid(state, team)
    row[_COUPS] += coups_fourres(state, team)
    row[_ALL_SAFETIES] += 1 if safeties_laid(state, team) == NUM_SAFETIES else 0
    row[_TWO_HUNDREDS] += int(state.tableau[team, DISTANCE_200])
    row[_KM] += int(state.km[team])


@seldom
def count_episode(rules: RulesRecord, first: int, shares: Float64Array, counters: Int64Array) -> None:
    """Count a finished episode: the role that began it, and the one that won it alone, if there is one.

    Args:
        rules: the table's.
        first: role.
        shares: float64[T], of the win, by role.
        counters: int64[T, NUM_COUNTERS].
    """
    for role in range(rules.teams):
        counters[role, _EPISODES] += 1
        counters[role, _EPISODE_WINS] += 1 if shares[role] == 1.0 else 0
    counters[first, _EPISODES_STARTED] += 1
    counters[first, _EPISODES_WON_STARTING] += 1 if shares[first] == 1.0 else 0
