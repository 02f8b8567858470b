"""The compiled passes over a seat's tree: probabilities forward, values backward.

Arrays are indexed by sequence: `weights` is the probability of its last choice at the decision, `reach` the
product of the weights of all its choices (summed over the orders of own draws), and `gains` the seat's payoff
after it, weighted by the other seat's reach and the probability of the cards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import kernel, rule

Int32Array = npt.NDArray[np.int32]
Float64Array = npt.NDArray[np.float64]


class Operations(NamedTuple):
    """The decisions and merges of a seat, in the order of the walk; O operations."""

    heads: Int32Array  # [O] decision: the sequence that leads to it; merge: the resulting sequence
    firsts: Int32Array  # [O] decision: sequence of its first choice; merge: index of its first source
    counts: Int32Array  # [O] decision: number of choices; merge: minus the number of sources
    sources: Int32Array  # [...] merged sequences


@kernel
def uniform_weights(operations: Operations, weights: Float64Array) -> None:
    """Fill `weights` with the uniform policy."""
    firsts, counts = operations.firsts, operations.counts
    for at in range(len(firsts)):
        for choice in range(counts[at]):
            weights[firsts[at] + choice] = 1.0 / counts[at]


@kernel
def reach_forward(operations: Operations, weights: Float64Array, reach: Float64Array) -> None:
    """Fill `reach`, given the values at the roots."""
    heads, firsts, counts, sources = operations
    for at in range(len(heads)):
        count, head, first = counts[at], heads[at], firsts[at]
        if count > 0:
            for choice in range(first, first + count):
                reach[choice] = reach[head] * weights[choice]
        else:
            total = 0.0
            for source in range(first, first - count):
                total += reach[sources[source]]
            reach[head] = total


@kernel
def meet(
    own: Int32Array,
    others: Int32Array,
    values: Float64Array,
    sign: float,
    reach: Float64Array,
    gains: Float64Array,
) -> None:
    """Add the payoffs of the ends to the gains of their sequences."""
    for end in range(len(values)):
        gains[own[end]] += sign * values[end] * reach[others[end]]


@kernel
def expected_backward(
    operations: Operations,
    weights: Float64Array,
    gains: Float64Array,
) -> None:
    """Propagate gains back to the roots, weighting choices by the policy."""
    heads, firsts, counts, sources = operations
    for at in range(len(heads) - 1, -1, -1):
        count, head, first = counts[at], heads[at], firsts[at]
        if count > 0:
            total = 0.0
            for choice in range(first, first + count):
                total += weights[choice] * gains[choice]
            gains[head] += total
        else:
            for source in range(first, first - count):
                gains[sources[source]] += gains[head]


@kernel
def best_backward(operations: Operations, gains: Float64Array) -> None:
    """Propagate gains back to the roots, taking the best choice at each decision."""
    heads, firsts, counts, sources = operations
    for at in range(len(heads) - 1, -1, -1):
        count, head, first = counts[at], heads[at], firsts[at]
        if count > 0:
            best = gains[first]
            for choice in range(first + 1, first + count):
                best = max(best, gains[choice])
            gains[head] += best
        else:
            for source in range(first, first - count):
                gains[sources[source]] += gains[head]


# Regret matching --------------------------------------------------------------------------------------------


@rule
def match_choices(
    regrets: Float64Array, last: Float64Array, weights: Float64Array, first: int, count: int
) -> None:
    """Compute the next policy at one decision; uniform if no regret is positive."""
    total = 0.0
    for choice in range(first, first + count):
        expected = max(regrets[choice] + last[choice], 0.0)
        weights[choice] = expected
        total += expected
    for choice in range(first, first + count):
        weights[choice] = weights[choice] / total if total > 0.0 else 1.0 / count


@kernel
def match_weights(
    operations: Operations, regrets: Float64Array, last: Float64Array, weights: Float64Array
) -> None:
    """Compute the next policy without reach or average: only the `weights` of `match_forward`."""
    firsts, counts = operations.firsts, operations.counts
    for at in range(len(firsts)):
        if counts[at] > 0:
            match_choices(regrets, last, weights, firsts[at], counts[at])


@kernel
def match_forward(
    operations: Operations,
    regrets: Float64Array,
    last: Float64Array,
    weight: float,
    weights: Float64Array,
    reach: Float64Array,
    average: Float64Array,
) -> None:
    """Compute the next policy, in proportion to the regrets, and add it to the average with this weight.

    `last` has the regrets of the last iteration, as a prediction for this one. `weights` and `reach` (except
    for its roots) are overwritten; `average` is the weighted sum of the reach of all policies.
    """
    heads, firsts, counts, sources = operations
    average[0] += weight
    for at in range(len(heads)):
        count, head, first = counts[at], heads[at], firsts[at]
        if count > 0:
            match_choices(regrets, last, weights, first, count)
            for choice in range(first, first + count):
                reach[choice] = reach[head] * weights[choice]
                average[choice] += weight * reach[choice]
        else:
            total = 0.0
            for source in range(first, first - count):
                total += reach[sources[source]]
            reach[head] = total
            average[head] += weight * total


@kernel
def regret_backward(
    operations: Operations,
    weights: Float64Array,
    gains: Float64Array,
    regrets: Float64Array,
    last: Float64Array,
) -> None:
    """Propagate gains back to the roots, and add the advantage of each choice to the regrets."""
    heads, firsts, counts, sources = operations
    for at in range(len(heads) - 1, -1, -1):
        count, head, first = counts[at], heads[at], firsts[at]
        if count > 0:
            total = 0.0
            for choice in range(first, first + count):
                total += weights[choice] * gains[choice]
            gains[head] += total
            for choice in range(first, first + count):
                regret = gains[choice] - total
                last[choice] = regret
                regrets[choice] = max(regrets[choice] + regret, 0.0)
        else:
            for source in range(first, first - count):
                gains[sources[source]] += gains[head]


@kernel
def weights_of_reach(operations: Operations, reach: Float64Array, weights: Float64Array) -> None:
    """Compute the policy with the given reach; uniform at decisions that it does not reach."""
    heads, firsts, counts = operations.heads, operations.firsts, operations.counts
    for at in range(len(heads)):
        count, first = counts[at], firsts[at]
        total = 0.0
        for choice in range(first, first + count):
            total += reach[choice]
        for choice in range(first, first + count):
            weights[choice] = reach[choice] / total if total > 0.0 else 1.0 / count
