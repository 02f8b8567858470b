"""Statistics of the agents' behaviour, from the counts of their game.

Counts of an agent's roles and lineups are added up first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from millebornes_env.arena.estimates import played, roles_of
from millebornes_env.arena.kernels import counts_of_game
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.statistics import Counts, GameCounts
from millebornes_env.games.registry import DEFAULT_GAME
from millebornes_env.games.registry import game as find_game


def counted_in(outcomes: Sequence[Outcome]) -> GameCounts:
    """Return the counting module of the game that the outcomes are of."""
    counted: GameCounts = counts_of_game(find_game(outcomes[0].game if outcomes else DEFAULT_GAME))
    return counted


def counts_of(outcomes: Sequence[Outcome], agent: int) -> Counts:
    """Return the counts of an agent, summed over all its lineups and roles.

    Args:
        outcomes: outcomes of all lineups.
        agent: number of the agent.
    """
    counted = counted_in(outcomes)
    total = np.zeros(counted.NUM_COUNTERS, np.int64)
    for outcome in played(outcomes):
        total += outcome.counters[roles_of(outcome, agent)].sum(axis=0)
    return Counts(total, counted)


def behaviour(counts: Counts) -> dict[str, float | None]:
    """Return the statistics of an agent by key, in the order of the game's `STATISTICS`."""
    return {statistic.key: statistic.of(counts) for statistic in counts.counted.STATISTICS}
