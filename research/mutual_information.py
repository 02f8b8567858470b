"""Conditional mutual information of counts, in bits.

The plug-in estimate is too high by about (values - 1) * (values - 1) * strata / (2 n ln 2) bits. Here that is
taken off as it is found: the mean of the same estimate after the first thing was shuffled within each
stratum, where there is nothing to be told. The shuffled estimates are the null distribution, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]


class Bits(NamedTuple):
    """An estimate of mutual information.

    Attributes:
        bits: the estimate after bias correction; may be negative.
        bias: the bias that was subtracted.
        p: share of the shuffled estimates, including the true one, that are at least as high.
    """

    bits: float
    bias: float
    p: float


def entropy(*codes: Int64Array) -> float:
    """Entropy in bits of the joint values, plug-in.

    Args:
        codes: int64[n] each, 0 or more.
    """
    joint = codes[0]
    for code in codes[1:]:
        joint = joint * (int(code.max()) + 1) + code
    counts = np.bincount(joint)
    shares = counts[counts > 0] / len(joint)
    return float(-(shares * np.log2(shares)).sum())


def plug_in(told: Int64Array, about: Int64Array, given: Int64Array) -> float:
    """I(told; about | given) in bits, plug-in.

    Args:
        told: int64[n], 0 or more, as all three.
        about: int64[n].
        given: int64[n], the stratum.
    """
    return entropy(told, given) + entropy(about, given) - entropy(told, about, given) - entropy(given)


def shuffled_within(values: Int64Array, given: Int64Array, rng: np.random.Generator) -> Int64Array:
    """The values in another order, each in its stratum."""
    order = np.lexsort((rng.random(len(values)), given))
    places = np.argsort(given, kind="stable")
    shuffled = np.empty_like(values)
    shuffled[places] = values[order]
    return shuffled


def conditional_bits(
    told: Int64Array, about: Int64Array, given: Int64Array, shuffles: int, rng: np.random.Generator
) -> Bits:
    """I(told; about | given) in bits, with its bias taken off, and how seldom chance reaches as much.

    Args:
        told: int64[n], 0 or more, as all three.
        about: int64[n].
        given: int64[n], the stratum.
        shuffles: how often `told` is shuffled within the strata.
        rng: for that.
    """
    result = plug_in(told, about, given)
    null = [plug_in(shuffled_within(told, given, rng), about, given) for _ in range(shuffles)]
    bias = float(np.mean(null))
    as_high = sum(value >= result for value in null)
    return Bits(result - bias, bias, (1 + as_high) / (1 + shuffles))


def jackknife_error(values: Float64Array) -> float:
    """Standard error of an estimate, from its values with each of k blocks left out in turn, float64[k]."""
    count = len(values)
    return float(np.sqrt((count - 1) / count * ((values - values.mean()) ** 2).sum()))


def draw_cards(piles: Int64Array, numbers: Int64Array, rng: np.random.Generator) -> Int64Array:
    """Cards drawn by chance from piles that are given as counts, without putting them back.

    Args:
        piles: int64[n, k], cards of each of k types.
        numbers: int64[n], how many to draw; not more than there are.
        rng: for that.

    Returns:
        int64[n, k], how many of each type were drawn.
    """
    drawn = np.zeros_like(piles)
    left, wanted = piles.sum(axis=1), numbers.copy()
    for card in range(piles.shape[1]):
        others = left - piles[:, card]
        drawn[:, card] = rng.hypergeometric(piles[:, card], others, wanted)
        wanted -= drawn[:, card]
        left = others
    return drawn
