"""95 % intervals of research questions.

Over deals, which are many: `mean_interval`, 1.96 standard errors. Over seeds, which are few: `over_seeds`,
the bootstrap. Over seeds of several tasks: `over_tasks`, the stratified bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import stats

from millebornes_env.arena.intervals import Interval, mean_interval, share_interval

__all__ = ["Interval", "interquartile_mean", "mean_interval", "over_seeds", "over_tasks", "share_interval"]

Float64Array = npt.NDArray[np.float64]
Statistic = Callable[..., object]

DRAWS: Final = 10_000
"""Resamples of a bootstrap."""


def interquartile_mean(values: npt.ArrayLike, axis: int = -1) -> object:
    """The mean of the middle half of the values, which outliers among the seeds do not move.

    Args:
        values: float64[..., n].
        axis: of the seeds.

    Returns:
        float64[...].
    """
    return stats.trim_mean(np.asarray(values, dtype=np.float64), 0.25, axis=axis)


def over_seeds(values: Sequence[float] | Float64Array, statistic: Statistic = np.mean) -> Interval:
    """A statistic over seeds, and its percentile bootstrap interval; always the same for the same values.

    Args:
        values: float64[n], one for each seed.
        statistic: takes `axis`, such as `numpy.mean` or `interquartile_mean`.

    Returns:
        The statistic and its ends; without ends for a single seed.
    """
    result = np.asarray(values, dtype=np.float64)
    centre = float(np.asarray(statistic(result, axis=-1)))
    if len(result) == 1:
        return Interval(centre, None, None)
    ends = stats.bootstrap(
        (result,),
        statistic,
        n_resamples=DRAWS,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Interval(centre, float(ends.low), float(ends.high))


def over_tasks(
    tasks: Sequence[Sequence[float] | Float64Array] | Float64Array, statistic: Statistic = interquartile_mean
) -> Interval:
    """A statistic over the seeds of several tasks together, and its stratified bootstrap interval.

    A resample draws as many seeds of each task as it has (Agarwal et al. 2021); always the same for the same
    values.

    Args:
        tasks: the values of the seeds of each task.
        statistic: takes `axis`, such as `numpy.mean` or `interquartile_mean`.

    Returns:
        The statistic and its ends; without ends where no task has two seeds.
    """
    result = [np.asarray(values, dtype=np.float64) for values in tasks]
    centre = float(np.asarray(statistic(np.concatenate(result), axis=-1)))
    if max(len(values) for values in result) == 1:
        return Interval(centre, None, None)
    rng = np.random.default_rng(0)
    drawn = [values[rng.integers(len(values), size=(DRAWS, len(values)))] for values in result]
    low, high = np.percentile(np.asarray(statistic(np.concatenate(drawn, axis=1), axis=-1)), (2.5, 97.5))
    return Interval(centre, float(low), float(high))
