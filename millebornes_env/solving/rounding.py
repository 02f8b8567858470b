"""Bounds on rounding errors, which make the bounds of a value rigorous.

Each result is a sum of products. If each term takes part in at most `k` roundings with relative error
`u = 2 ** -53`, the error of the result is at most `k * u / (1 - k * u)` times the sum of the absolute terms
(Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1). That sum is at most the largest
absolute payoff, as the probabilities of the ends sum to 1.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import kernel
from millebornes_env.solving.passes import Operations
from millebornes_env.solving.tree import Tree

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

_UNIT: Final = 2.0**-53


def rounding_of(tree: Tree) -> float:
    """Return an upper bound on the rounding error of a best response's value, in points, for any policy."""
    kinds = len(tree.game.deck.cards)
    at_ends = 3 * kinds + 4  # a probability, with a factor for each type of card, times a payoff
    most = 0
    for number in (0, 1):
        own, other = tree.seats[number], tree.seats[1 - number]
        reached = np.zeros(other.size, np.int64)
        roundings_of_reach(other.operations, reached)
        result, terms = np.zeros(own.size, np.int64), np.zeros(own.size, np.int64)
        ends = tree.end_sequences
        roundings_at_ends(ends[number], ends[1 - number], reached + at_ends, result, terms)
        roundings_of_gains(own.operations, result, terms)
        most = max(most, int(result[0] + terms[0]))
    payoff = max(abs(tree.counts.lowest), abs(tree.counts.highest))
    return most * _UNIT / (1 - most * _UNIT) * payoff


@kernel
def roundings_of_reach(operations: Operations, reached: Int64Array) -> None:
    """Count the roundings of each sequence's reach, including those of normalising the weights."""
    heads, firsts, counts, sources = operations
    for at in range(len(heads)):
        count, head, first = counts[at], heads[at], firsts[at]
        if count > 0:
            for choice in range(first, first + count):
                reached[choice] = reached[head] + count + 1
        else:
            most = 0
            for source in range(first, first - count):
                most = max(most, reached[sources[source]])
            reached[head] = most - count


@kernel
def roundings_at_ends(
    own: Int32Array, others: Int32Array, reached: Int64Array, roundings: Int64Array, terms: Int64Array
) -> None:
    """Count the roundings of the gains at each sequence's ends: the most per term, and the terms."""
    for end in range(len(own)):
        roundings[own[end]] = max(roundings[own[end]], reached[others[end]] + 1)
        terms[own[end]] += 1


@kernel
def roundings_of_gains(operations: Operations, roundings: Int64Array, terms: Int64Array) -> None:
    """Propagate the counts back to the root, taking the best choice at each decision."""
    heads, firsts, counts, sources = operations
    for at in range(len(heads) - 1, -1, -1):
        count, head, first = counts[at], heads[at], firsts[at]
        if count > 0:
            for choice in range(first, first + count):
                roundings[head] = max(roundings[head], roundings[choice] + terms[choice])
            terms[head] += 1
        else:
            for source in range(first, first - count):
                roundings[sources[source]] = max(roundings[sources[source]], roundings[head] + terms[head])
                terms[sources[source]] += 1
