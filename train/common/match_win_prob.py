"""Match-win probability by score ("match equity"), for a reward that values points by what they win.

In a match to 5,000 points the hundred that leads to 5,000 is worth more than the hundred before. As in
backgammon (Keith and Kleinman's tables) a match is a Markov chain of rounds: the distribution of a round's
points between equal players determines the probability of winning from every score.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env import Rules
from millebornes_env.arena.match import MatchConfig, play
from train.common.run_folder import RunError

UNIT: Final = 50
"""Points between two entries of a table; all round scores are multiples of it or of half of it."""

_MAX_SWEEPS: Final = 200
_TOLERANCE: Final = 1e-7


def score_distribution(
    config: MatchConfig, agent: str = "strategist", deals: int = 5000
) -> npt.NDArray[np.int64]:
    """Sample the points of both teams in rounds between equal players, int64[2 * deals, 2].

    Each deal is played twice, with the seats exchanged.

    Raises:
        RunError: the table has no points, or not two teams.
    """
    rules = config.rules
    if rules.teams != 2 or rules.count_points == 0:
        raise RunError(
            f"--reward win_prob is for two teams that count points; {config.edition!r} with {config.players} "
            f"players has {rules.teams} teams" + ("" if rules.count_points else " and counts none")
        )
    points = play([agent, agent], config, deals).points
    samples: npt.NDArray[np.int64] = points.reshape(-1, 2).astype(np.int64)
    return samples


def match_win_prob_table(samples: npt.NDArray[np.int64], rules: Rules) -> npt.NDArray[np.float32]:
    """Compute the probability of winning from every score, by value iteration over all scores.

    The samples are from `score_distribution`; the match ends when a team reaches the `goal` of the rules.

    Returns:
        float32[G, G]: row own points, column the other's, in steps of `UNIT`; a tie at the end counts half.
    """
    size = -(-rules.goal // UNIT)
    steps = np.rint(np.maximum(samples, 0) / UNIT).astype(np.int64)
    gains, times = np.unique(steps, axis=0, return_counts=True)
    probs = times / times.sum()
    own, other = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    table = np.full((size, size), 0.5)
    for _ in range(_MAX_SWEEPS):
        updated = np.zeros_like(table)
        for (gain, loss), prob in zip(gains.tolist(), probs.tolist(), strict=True):
            updated += prob * _win_prob_at(table, own + gain, other + loss)
        updated = (updated + 1.0 - updated.T) / 2
        change = np.abs(updated - table).max()
        table = updated
        if change < _TOLERANCE:
            break
    return table.astype(np.float32)


def _win_prob_at(
    table: npt.NDArray[np.float64], own: npt.NDArray[np.int64], other: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the table's entries at scores in units; 0, 0.5 or 1 where a score ends the match."""
    size = len(table)
    over = (own >= size) | (other >= size)
    outcome = np.where(own == other, 0.5, (own > other).astype(np.float64))
    return np.where(over, outcome, table[np.minimum(own, size - 1), np.minimum(other, size - 1)])


def match_win_prob(
    table: npt.NDArray[np.float32], own: npt.NDArray[np.int64], other: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """Look up the probability of winning, float32[N], from scores int64[N] below the goal.

    They are rounded to the nearest entry of the table of `match_win_prob_table`.
    """
    last = len(table) - 1
    rows, columns = (np.clip(np.rint(points / UNIT).astype(np.int64), 0, last) for points in (own, other))
    probs: npt.NDArray[np.float32] = table[rows, columns]
    return probs
