"""Match equity: the chance to win a match from a score, for a reward that knows what points are worth.

In a match to 5,000 points the hundred that leads to 5,000 is worth more than the hundred before. As in
backgammon (Keith and Kleinman's tables) a match is a Markov chain of rounds: with the law of a round's points
between equal players, the chance to win from every score follows by going backwards from the end.
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

_MOST_SWEEPS: Final = 200
_CLOSE_ENOUGH: Final = 1e-7


def score_distribution(
    config: MatchConfig, agent: str = "strategist", deals: int = 5000
) -> npt.NDArray[np.int64]:
    """Points of both teams in rounds between equal players.

    Args:
        config: the table; two teams.
        agent: the agent that plays both.
        deals: played twice each, seats exchanged.

    Returns:
        int64[2 * deals, 2], the points of the round.

    Raises:
        RunError: the table has no points, or not two teams.
    """
    rules = config.rules
    if rules.teams != 2 or rules.count_points == 0:
        raise RunError(
            f"match equity is for two teams that count points; {config.edition!r} with {config.players} "
            f"players has {rules.teams} teams" + ("" if rules.count_points else " and counts none")
        )
    points = play([agent, agent], config, deals).points
    law: npt.NDArray[np.int64] = points.reshape(-1, 2).astype(np.int64)
    return law


def equity_table(law: npt.NDArray[np.int64], rules: Rules) -> npt.NDArray[np.float32]:
    """The chance to win from every score, by value iteration over all scores.

    Args:
        law: from `score_distribution`.
        rules: of the table; the match ends when somebody has its `goal`.

    Returns:
        float32[G, G]: row own points, column the other's, in steps of `UNIT`; a tie at the end counts half.
    """
    size = -(-rules.goal // UNIT)
    gains, times = np.unique(np.rint(np.maximum(law, 0) / UNIT).astype(np.int64), axis=0, return_counts=True)
    chances = times / times.sum()
    own, other = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    table = np.full((size, size), 0.5)
    for _ in range(_MOST_SWEEPS):
        updated = np.zeros_like(table)
        for (gain, loss), chance in zip(gains.tolist(), chances.tolist(), strict=True):
            updated += chance * _after(table, own + gain, other + loss, size)
        updated = (updated + 1.0 - updated.T) / 2
        change = np.abs(updated - table).max()
        table = updated
        if change < _CLOSE_ENOUGH:
            break
    return table.astype(np.float32)


def _after(
    table: npt.NDArray[np.float64], own: npt.NDArray[np.int64], other: npt.NDArray[np.int64], size: int
) -> npt.NDArray[np.float64]:
    """The chance to win after a round: from the table, or what the score sheet says if the match is over."""
    over = (own >= size) | (other >= size)
    decided = np.where(own == other, 0.5, (own > other).astype(np.float64))
    at = table[np.minimum(own, size - 1), np.minimum(other, size - 1)]
    return np.where(over, decided, at)


def equity(
    table: npt.NDArray[np.float32], own: npt.NDArray[np.int64], other: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """The chance to win from scores, between two entries of the table from the nearer.

    Args:
        table: from `equity_table`.
        own: int64[N], points below the goal.
        other: int64[N].

    Returns:
        float32[N].
    """
    last = len(table) - 1
    rows, columns = (np.clip(np.rint(points / UNIT).astype(np.int64), 0, last) for points in (own, other))
    chances: npt.NDArray[np.float32] = table[rows, columns]
    return chances
