"""95 % intervals of research questions.

Use `mean_interval` (1.96 standard errors) over deals, which are many; `over_seeds` (bootstrap) over seeds,
which are few; `over_tasks` (stratified bootstrap) over seeds of several tasks; `over_sheets` over rule sheets
and seeds of networks that play all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import stats

from millebornes_env.arena.intervals import NORMAL_QUANTILE, Interval, mean_interval, standard_error

__all__ = ["Interval", "interquartile_mean", "mean_interval", "over_seeds", "over_sheets", "over_tasks"]

Float64Array = npt.NDArray[np.float64]
Statistic = Callable[..., object]

DRAWS: Final = 10_000
"""Resamples of a bootstrap."""


def of_error(mean: float, error: float) -> Interval:
    """Return the interval of a mean with a standard error."""
    half = NORMAL_QUANTILE * error
    return Interval(mean, mean - half, mean + half)


def mean_and_error(values: Float64Array) -> tuple[float, float]:
    """Return the mean of independent values, float64[n], and its standard error."""
    return float(values.mean()), standard_error(values)


def interquartile_mean(values: npt.ArrayLike, axis: int = -1) -> object:
    """Return the mean of the middle half of the values, which is robust to outliers.

    Args:
        values: float64[..., n].
        axis: axis of the seeds.

    Returns:
        float64[...].
    """
    return stats.trim_mean(np.asarray(values, dtype=np.float64), 0.25, axis=axis)


def over_seeds(values: Sequence[float] | Float64Array, statistic: Statistic = np.mean) -> Interval:
    """Return a statistic over the seeds of one task; see `over_tasks`."""
    return over_tasks([values], statistic)


def over_tasks(
    tasks: Sequence[Sequence[float] | Float64Array] | Float64Array, statistic: Statistic = interquartile_mean
) -> Interval:
    """Return a statistic over the seeds of several tasks with its stratified percentile bootstrap interval.

    A resample draws as many seeds of each task as it has (Agarwal et al. 2021). The result is deterministic.

    Args:
        tasks: values of the seeds of each task.
        statistic: function with an argument `axis`, such as `numpy.mean` or `interquartile_mean`.

    Returns:
        The statistic and its interval; without ends if no task has two seeds.
    """
    result = [np.asarray(values, dtype=np.float64) for values in tasks]
    centre = _of(statistic, np.concatenate(result))
    if max(map(len, result)) == 1:
        return Interval(float(centre), None, None)
    rng = np.random.default_rng(0)
    resamples = [values[rng.integers(len(values), size=(DRAWS, len(values)))] for values in result]
    return _interval(centre, _of(statistic, np.concatenate(resamples, axis=1)))


def over_sheets(values: npt.ArrayLike, statistic: Statistic = interquartile_mean) -> Interval:
    """Return a statistic over sheets, each with the mean over seeds, and its bootstrap interval.

    A resample draws sheets and seeds, both with replacement: a seed is a network that plays all sheets. The
    result is deterministic.

    Args:
        values: float64[sheets, seeds].
        statistic: function with an argument `axis`.

    Returns:
        The statistic and its interval; without ends for a single sheet.
    """
    result = np.asarray(values, dtype=np.float64)
    sheets, seeds = result.shape
    centre = _of(statistic, result.mean(axis=1))
    if sheets == 1:
        return Interval(float(centre), None, None)
    rng = np.random.default_rng(0)
    drawn = np.empty((DRAWS, sheets))
    for resample in drawn:
        rows, columns = rng.integers(sheets, size=sheets), rng.integers(seeds, size=seeds)
        resample[:] = result[rows][:, columns].mean(axis=1)
    return _interval(centre, _of(statistic, drawn))


def _of(statistic: Statistic, values: Float64Array) -> Float64Array:
    return np.asarray(statistic(values, axis=-1))


def _interval(centre: Float64Array, of_resamples: Float64Array) -> Interval:
    return Interval(float(centre), *np.percentile(of_resamples, (2.5, 97.5)).tolist())
