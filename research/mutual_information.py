"""Conditional mutual information of counts, in bits.

The plug-in estimate is too high by about (values - 1) * (values - 1) * strata / (2 n ln 2) bits. This bias is
estimated by the mean of the same estimate after the first variable was shuffled within each stratum, which
leaves no information, and subtracted. The shuffled estimates are the null distribution, too.
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
    """Return the plug-in entropy of joint values, int64[n] each and 0 or more, in bits."""
    joint = codes[0]
    for code in codes[1:]:
        joint = joint * (int(code.max()) + 1) + code
    counts = np.bincount(joint)
    shares = counts[counts > 0] / len(joint)
    return float(-(shares * np.log2(shares)).sum())


def plug_in(signal: Int64Array, about: Int64Array, given: Int64Array) -> float:
    """Return the plug-in estimate of I(signal; about | given), in bits; see `conditional_bits`."""
    return entropy(signal, given) + entropy(about, given) - entropy(signal, about, given) - entropy(given)


def shuffled_within(values: Int64Array, given: Int64Array, rng: np.random.Generator) -> Int64Array:
    """Shuffle values within their strata."""
    order = np.lexsort((rng.random(len(values)), given))
    shuffled = np.empty_like(values)
    shuffled[np.argsort(given, kind="stable")] = values[order]
    return shuffled


def conditional_bits(
    signal: Int64Array, about: Int64Array, given: Int64Array, shuffles: int, rng: np.random.Generator
) -> Bits:
    """Estimate I(signal; about | given) in bits, corrected for bias, with a permutation p-value.

    Args:
        signal: int64[n], 0 or more, as all three.
        about: int64[n].
        given: int64[n], the stratum.
        shuffles: number of shuffles of `signal` within the strata.
        rng: random numbers for the shuffles.
    """
    result = plug_in(signal, about, given)
    null = [plug_in(shuffled_within(signal, given, rng), about, given) for _ in range(shuffles)]
    bias = float(np.mean(null))
    as_high = sum(value >= result for value in null)
    return Bits(result - bias, bias, (1 + as_high) / (1 + shuffles))


def jackknife_error(values: Float64Array) -> float:
    """Return the jackknife standard error, from the estimates float64[k] without each of k blocks."""
    count = len(values)
    return float(np.sqrt((count - 1) / count * ((values - values.mean()) ** 2).sum()))


def draw_cards(piles: Int64Array, numbers: Int64Array, rng: np.random.Generator) -> Int64Array:
    """Draw random cards from piles without replacement.

    Args:
        piles: int64[n, k], number of cards of each of k types.
        numbers: int64[n], number of cards to draw, at most the size of the pile.
        rng: random numbers for the draws.

    Returns:
        int64[n, k], number of drawn cards of each type.
    """
    drawn = np.zeros_like(piles)
    left, wanted = piles.sum(axis=1), numbers.copy()
    for card in range(piles.shape[1]):
        others = left - piles[:, card]
        drawn[:, card] = rng.hypergeometric(piles[:, card], others, wanted)
        wanted -= drawn[:, card]
        left = others
    return drawn
