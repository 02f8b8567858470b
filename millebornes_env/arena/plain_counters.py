"""The default counts of a game: decisions, rounds, episodes and wins."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.statistics import Float64Array, Int64Array, Statistic, per, percent
from millebornes_env.engine.numba.compiling import rule, seldom

COUNTS: Final = (
    *("decisions", "rounds", "episodes", "episode_wins"),
    *("episodes_shared", "episodes_started", "episodes_won_starting"),
)
"""Names of the counts."""
NUM_COUNTERS: Final = len(COUNTS)

_DECISIONS, _ROUNDS, _EPISODES, _WINS, _SHARED, _STARTED, _WON_STARTING = range(NUM_COUNTERS)


def index_of(name: str) -> int:
    """Return the index of a count in the counters."""
    return COUNTS.index(name)


@rule
def count_action(state: Any, rules: Any, action: int, role_of: Any, counters: Int64Array) -> None:
    """Count a decision of a role."""
    counters[int(role_of[int(state.seat) % rules.teams]), _DECISIONS] += 1


@seldom
def count_round(state: Any, rules: Any, role_of: Any, counters: Int64Array) -> None:
    """Count a finished round of all roles."""
    for role in range(rules.teams):
        counters[role, _ROUNDS] += 1


@seldom
def count_episode(rules: Any, first: int, shares: Float64Array, counters: Int64Array) -> None:
    """Count a finished episode: the role that began it, and each role's share of the win."""
    for role in range(rules.teams):
        counters[role, _EPISODES] += 1
        counters[role, _WINS] += 1 if shares[role] == 1.0 else 0
        counters[role, _SHARED] += 1 if 0.0 < shares[role] < 1.0 else 0
    counters[first, _STARTED] += 1
    counters[first, _WON_STARTING] += 1 if shares[first] == 1.0 else 0


def part_played(points: npt.NDArray[np.int32], rules: Any) -> Float64Array:
    """Return 0 for all: points do not predict the length of an episode."""
    return np.zeros(len(points))


STATISTICS: Final[tuple[Statistic, ...]] = (
    percent("episodes_won", "episodes won", "episode_wins", "episodes", "episodes"),
    percent("episodes_shared", "episodes won together", "episodes_shared", "episodes", "episodes"),
    percent(
        "episodes_won_starting",
        "episodes won when beginning",
        "episodes_won_starting",
        "episodes_started",
        "episodes begun",
    ),
    per("rounds_per_episode", "rounds in an episode", "rounds", "rounds", "episodes"),
    per("decisions", "decisions", "decisions per round", "decisions", "rounds"),
)
"""All statistics, in the order of the tables."""
