"""95 % intervals of means, shares and ratios over independent blocks, such as deals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Float64Array = npt.NDArray[np.float64]

NORMAL_QUANTILE: Final = 1.96
"""Half-width of a 95 % interval in standard errors, for many blocks (Student's t of 30 blocks is 2.05)."""

FEW_DEALS: Final = 30
"""With fewer blocks, intervals by the normal quantile are noticeably too narrow."""


_ROUNDING: Final = 1e-9
"""Points and shares of a block below it are rounding errors: those of equal agents do not cancel exactly."""


class Interval(NamedTuple):
    """An estimate and its 95 % interval; both ends are None for a single block."""

    mean: float
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float:
        """Distance from the estimate to the farther end; infinite without ends."""
        if self.low is None or self.high is None:
            return math.inf
        return max(self.mean - self.low, self.high - self.mean)

    def text(self, form: str, scale: float = 1.0, ends: bool = False) -> str:
        """Return a text such as `53.4 ± 1.2`, with the distance to the farther end.

        Args:
            form: format of the numbers, such as "+z,.1f".
            scale: factor for the numbers (100 for a share in percent).
            ends: append the ends: `53.4 ± 1.2 [52.2, 54.6]`.
        """
        mean, low, high = self
        if low is None or high is None:
            return f"{scale * mean:{form}}"
        mean, low, high = scale * mean, scale * low, scale * high
        half = f"{max(mean - low, high - mean):{form}}".lstrip("+")
        return f"{mean:{form}} ± {half}" + (f" [{low:{form}}, {high:{form}}]" if ends else "")


def standard_error(blocks: Float64Array) -> float:
    """Return the standard error of the mean of independent blocks, float64[n] with n of 2 or more."""
    return float(blocks.std(ddof=1) / np.sqrt(len(blocks)))


def mean_interval(blocks: Float64Array) -> Interval:
    """Return the mean of independent blocks, float64[n], and its 95 % interval.

    The interval is the mean plus and minus 1.96 standard errors (with n - 1); the normal quantile is meant
    for 30 blocks or more.
    """
    mean = float(blocks.mean())
    if len(blocks) == 1:
        return Interval(mean, None, None)
    half = NORMAL_QUANTILE * standard_error(blocks)
    return Interval(mean, mean - half, mean + half)


def share_interval(blocks: Float64Array) -> Interval:
    """Return the mean of shares of wins, float64[n] in 0..1, and its 95 % interval within 0..1.

    As `mean_interval`; but if all episodes were won (or none), the spread of zero would claim certainty. Then
    the far end is the exact (Clopper-Pearson) bound of n trials without an exception, 0.025 ** (1 / n), which
    is conservative because a block with an exception need not be lost as a whole. For a single block the ends
    are 0 and 1.
    """
    mean, low, high = mean_interval(blocks)
    if low is None or high is None:
        return Interval(mean, 0.0, 1.0)
    bound = float(0.025 ** (1 / len(blocks)))
    if (blocks == 1.0).all():
        return Interval(1.0, bound, 1.0)
    if (blocks == 0.0).all():
        return Interval(0.0, 0.0, 1.0 - bound)
    return Interval(mean, max(low, 0.0), min(high, 1.0))


def ratio_interval(amounts: Float64Array, sizes: Float64Array) -> Interval:
    """Return the ratio of two sums over independent blocks, such as points per round, and its 95 % interval.

    Uses the delta method: the standard error is that of the sum of the residuals, amount - ratio * size, over
    the sum of the sizes.

    Args:
        amounts: float64[n].
        sizes: float64[n], not all 0.
    """
    return _interval(*_ratio(amounts, sizes))


def mean_of_ratios(parts: Sequence[tuple[Float64Array, Float64Array]]) -> Interval:
    """Return the mean of several ratios over the same blocks, and its interval over these blocks.

    Args:
        parts: amounts and sizes of each ratio, as for `ratio_interval`; block b is the same in all of them.
    """
    ratios = [_ratio(amounts, sizes) for amounts, sizes in parts]
    influence = sum_by_deal([moved for _, moved in ratios]) / len(ratios)
    return _interval(float(np.mean([ratio for ratio, _ in ratios])), influence)


def mean_of_shares(parts: Sequence[tuple[Float64Array, Float64Array]]) -> Interval:
    """Return `mean_of_ratios` of shares: within 0..1, and not certain if all or none was won."""
    mean, low, high = mean_of_ratios(parts)
    if low is None or high is None or mean in (0.0, 1.0):
        return share_interval(np.full(max(len(shares) for shares, _ in parts), mean))
    return Interval(mean, max(low, 0.0), min(high, 1.0))


def sum_by_deal(parts: Sequence[Float64Array]) -> Float64Array:
    """Sum up arrays of different lengths, float64[B_i], by deal."""
    total = np.zeros(max(len(part) for part in parts))
    for part in parts:
        total[: len(part)] += part
    return total


def _ratio(amounts: Float64Array, sizes: Float64Array) -> tuple[float, Float64Array]:
    """Return the ratio and the influence of each block; amounts below `_ROUNDING` count as 0."""
    amounts = np.where(np.abs(amounts) < _ROUNDING, 0.0, amounts)
    ratio = float(amounts.sum() / sizes.sum())
    return ratio, (amounts - ratio * sizes) / sizes.sum()


def _interval(value: float, influence: Float64Array) -> Interval:
    """Return the interval of an estimate, given the influence of each block."""
    count = len(influence)
    if count == 1:
        return Interval(value, None, None)
    half = NORMAL_QUANTILE * math.sqrt(count / (count - 1) * float(influence @ influence))
    return Interval(value, value - half, value + half)
