"""95 % intervals of means, shares and ratios over independent blocks, such as deals.

Nothing in this file plays.
"""

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
"""With fewer blocks than this the normal quantile makes intervals that are noticeably too narrow."""


class Interval(NamedTuple):
    """An estimate and its 95 % interval; both ends None where there is only one block."""

    mean: float
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float:
        """From the estimate to the farther end; infinite without ends."""
        if self.low is None or self.high is None:
            return math.inf
        return max(self.mean - self.low, self.high - self.mean)

    def text(self, form: str, scale: float = 1.0, ends: bool = False) -> str:
        """Such as `53.4 ± 1.2`; where the ends lie unevenly, the greater distance.

        Args:
            form: of the numbers, such as "+z,.1f".
            scale: they are multiplied by this first (100 for a share in percent).
            ends: whether they stand behind: `53.4 ± 1.2 [52.2, 54.6]`.
        """
        mean, low, high = self
        if low is None or high is None:
            return f"{scale * mean:{form}}"
        mean, low, high = scale * mean, scale * low, scale * high
        half = f"{max(mean - low, high - mean):{form}}".lstrip("+")
        return f"{mean:{form}} ± {half}" + (f" [{low:{form}}, {high:{form}}]" if ends else "")


def standard_error(blocks: Float64Array) -> float:
    """Of the mean of independent blocks, float64[n] with n of 2 or more."""
    return float(blocks.std(ddof=1) / np.sqrt(len(blocks)))


def mean_interval(blocks: Float64Array) -> Interval:
    """The mean of independent blocks and its 95 % interval.

    The interval is the mean plus and minus 1.96 standard errors, the standard deviation of the blocks (with
    n - 1) over the square root of n: the normal quantile, which is meant for 30 blocks and more.

    Args:
        blocks: float64[n], one mean for each block.

    Returns:
        Mean and ends, in the unit of the blocks.
    """
    mean = float(blocks.mean())
    if len(blocks) == 1:
        return Interval(mean, None, None)
    half = NORMAL_QUANTILE * float(blocks.std(ddof=1)) / math.sqrt(len(blocks))
    return Interval(mean, mean - half, mean + half)


def share_interval(blocks: Float64Array) -> Interval:
    """The mean of blocks that lie in 0..1, and its 95 % interval within 0..1.

    As `mean_interval`; but where all episodes were won (or none), the blocks' spread of zero would claim
    certainty. There the far end is the exact (Clopper-Pearson) bound of n trials without an exception,
    0.025 ** (1 / n), on the wide side because a block with an exception need not be lost as a whole.

    Args:
        blocks: float64[n], the share of wins in each block.

    Returns:
        Mean, lower and upper end; 0 and 1 are the ends for a single block.
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
    """The ratio of two sums over independent blocks, such as points per round, and its 95 % interval.

    By the delta method: the standard error is that of the sum of the residuals, amount - ratio * size, over
    the sum of the sizes.

    Args:
        amounts: float64[n].
        sizes: float64[n], not all 0.

    Returns:
        The ratio and its ends; without ends for a single block.
    """
    return _interval(*_ratio(amounts, sizes))


def mean_of_ratios(parts: Sequence[tuple[Float64Array, Float64Array]]) -> Interval:
    """The mean of several ratios over the same blocks, and its interval over the blocks that they share.

    Args:
        parts: amounts and sizes of each ratio, as for `ratio_interval`; block b is the same in all of them.
    """
    ratios = [_ratio(amounts, sizes) for amounts, sizes in parts]
    influence = sum_by_deal([moved for _, moved in ratios]) / len(ratios)
    return _interval(float(np.mean([ratio for ratio, _ in ratios])), influence)


def mean_of_shares(parts: Sequence[tuple[Float64Array, Float64Array]]) -> Interval:
    """`mean_of_ratios` of shares: within 0..1, and not certain where all or none was won."""
    mean, low, high = mean_of_ratios(parts)
    if low is None or high is None or mean in (0.0, 1.0):
        return share_interval(np.full(max(len(shares) for shares, _ in parts), mean))
    return Interval(mean, max(low, 0.0), min(high, 1.0))


def sum_by_deal(parts: Sequence[Float64Array]) -> Float64Array:
    """Add up what lineups have for the same deal.

    Args:
        parts: float64[B_i] each, from the first deal on.

    Returns:
        float64[max B_i].
    """
    total = np.zeros(max(len(part) for part in parts))
    for part in parts:
        total[: len(part)] += part
    return total


def _ratio(amounts: Float64Array, sizes: Float64Array) -> tuple[float, Float64Array]:
    """The ratio, and how much each block moves it."""
    ratio = float(amounts.sum() / sizes.sum())
    return ratio, (amounts - ratio * sizes) / sizes.sum()


def _interval(value: float, influence: Float64Array) -> Interval:
    """The interval of an estimate to which independent blocks contribute those errors."""
    count = len(influence)
    if count == 1:
        return Interval(value, None, None)
    half = NORMAL_QUANTILE * math.sqrt(count / (count - 1) * float(influence @ influence))
    return Interval(value, value - half, value + half)
