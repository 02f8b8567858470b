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
    """Compute the probability of winning from every score.

    The samples are from `score_distribution`; the match ends when a team reaches the `goal` of the rules.

    Returns:
        float32[G, G]: row own points, column the other's, in steps of `UNIT`; a tie at the end counts half.
    """
    steps = np.rint(np.maximum(samples, 0) / UNIT).astype(np.int64)
    law = np.zeros((int(steps.max()) + 1,) * 2)
    np.add.at(law, (steps[:, 0], steps[:, 1]), 1.0)
    return equity_table(law + law.T, -(-rules.goal // UNIT)).astype(np.float32)


def equity_table(law: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.float64]:
    """Compute the exact probability of winning a match from each score, for a distribution of points.

    Args:
        law: float64[P, P], symmetric: probability (or count) of own points and the other's in a round, in
            some unit.
        size: G, points in this unit that end the match; more points win it, and a tie counts half.

    Returns:
        float64[G, G]: row own points, column the other's.
    """
    reach, chances = len(law), law / law.sum()
    nothing, chances[0, 0] = chances[0, 0], 0.0
    chances /= 1.0 - nothing
    scores = np.arange(size + reach)
    table: npt.NDArray[np.float64] = (np.sign(scores[:, np.newaxis] - scores) + 1.0) / 2.0
    for own in range(size - 1, -1, -1):
        for other in range(own, -1, -1):
            chance = float((chances * table[own : own + reach, other : other + reach]).sum())
            table[own, other], table[other, own] = chance, 1.0 - chance
    return table[:size, :size]


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
