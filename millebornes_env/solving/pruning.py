"""A game without the choices that a policy hardly takes and that are margin worse.

Near an equilibrium nearly all choices are out of the question (Brown and Sandholm 2015: regret-based
pruning). About a fiftieth of the game is left, and CFR+ continues there with its regrets. The policy that it
finds is restored to the whole game and evaluated there. So no proof about the pruned choices is needed: a
choice that should have been kept increases the value of the best response.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import kernel
from millebornes_env.solving.passes import Operations, meet
from millebornes_env.solving.tree import SeatTree, Tree, origins_of
from millebornes_env.solving.values import Weights, gains_at_ends, reach_of_both

BoolArray = npt.NDArray[np.bool_]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

_KEPT_PROBABILITY: Final = 1e-3
"""Probability above which a choice is kept."""
_PRUNING_MARGIN: Final = 1.0
"""Points by which a pruned choice is worse than the best one, given that the game reaches it."""


class _Pruned(NamedTuple):
    """The remaining sequences of a piece for one seat."""

    used: BoolArray  # [size] sequences
    own: BoolArray  # [size] the same without the roots of a branch, which belong to its trunk
    numbers: Int64Array  # [size] of them in the pruned game


class PrunedGame:
    """A pruned game.

    Attributes:
        tree: the tree of the pruned game.
    """

    def __init__(self, pieces: Sequence[Tree], weights: Callable[[int], Weights]) -> None:
        """Prune a whole tree, or a trunk and all its branches.

        `weights` returns the policy on the piece of a number, float64[size] for each seat.
        """
        self._pieces = pieces
        kept = _kept(pieces, weights)
        reached = _reached(pieces, kept)
        used, ends = _used(pieces, reached)
        self._pruned = [_numbered(pieces, used, seat) for seat in (0, 1)]
        seats = [_pruned_seat(pieces, self._pruned[seat], seat) for seat in (0, 1)]
        self.tree = replace(
            pieces[0],
            seats=(seats[0], seats[1]),
            end_sequences=np.concatenate([self._ends(at, ends[at]) for at in range(len(pieces))], axis=1),
            end_values=np.concatenate([tree.end_values[at] for tree, at in zip(pieces, ends, strict=True)]),
            end_chances=np.concatenate([tree.end_chances[at] for tree, at in zip(pieces, ends, strict=True)]),
            counts=reduce(add, (tree.counts for tree in pieces)),
            frontier=(),
        )

    def _ends(self, at: int, ends: BoolArray) -> Int32Array:
        sequences = self._pieces[at].end_sequences
        rows = [self._pruned[seat][at].numbers[sequences[seat][ends]] for seat in (0, 1)]
        return np.stack(rows).astype(np.int32)

    def select(self, seat: int, arrays: Sequence[Float64Array]) -> Float64Array:
        """Return the remaining entries of float64[size] arrays of all pieces, in the pruned game's order."""
        return np.concatenate(
            [array[pruned.own] for array, pruned in zip(arrays, self._pruned[seat], strict=True)]
        )

    def restore(self, at: int, policy: Weights, found: Weights) -> Weights:
        """Return the policy of the pruned game, completed by the whole game's policy elsewhere.

        Both are float64[size] for each seat; `policy` is of piece number `at`, and not changed.
        """
        first, second = (self._put_back(at, seat, policy[seat], found[seat]) for seat in (0, 1))
        return first, second

    def _put_back(self, at: int, seat: int, policy: Float64Array, found: Float64Array) -> Float64Array:
        operations = self._pieces[at].seats[seat].operations
        used, _, numbers = self._pruned[seat][at]
        weights = policy.copy()
        restore_weights(operations, used, numbers, found, weights)
        return weights


# What is kept -----------------------------------------------------------------------------------------------


def _kept(pieces: Sequence[Tree], weights: Callable[[int], Weights]) -> list[tuple[BoolArray, BoolArray]]:
    """Return the choices that are taken or are not margin worse, as masks for each piece."""
    trunk = pieces[0]
    of_trunk = weights(0)
    reach = reach_of_both(trunk, of_trunk)
    gains = [gains_at_ends(trunk, seat, reach[1 - seat]) for seat in (0, 1)]
    chances = [_chances(trunk, seat, reach[1 - seat]) for seat in (0, 1)]
    kept: list[tuple[BoolArray, BoolArray]] = []
    for at, branch in enumerate(pieces[1:], 1):
        policy, origins = weights(at), origins_of(branch.root)
        branch_reach = reach_of_both(branch, policy, reach)
        result = []
        for seat, tree in enumerate(branch.seats):
            own = gains_at_ends(branch, seat, branch_reach[1 - seat])
            chance = _chances(branch, seat, branch_reach[1 - seat])
            result.append(_kept_of_seat(tree, policy[seat], own, chance))
            np.add.at(gains[seat], origins[seat], own[: tree.roots])
            np.add.at(chances[seat], origins[seat], chance[: tree.roots])
        kept.append((result[0], result[1]))
    first, second = (
        _kept_of_seat(trunk.seats[seat], of_trunk[seat], gains[seat], chances[seat]) for seat in (0, 1)
    )
    return [(first, second), *kept]


def _chances(tree: Tree, seat: int, reach: Float64Array) -> Float64Array:
    """Return the probability of each sequence's ends from the cards and the other seat alone."""
    result = np.zeros(tree.seats[seat].size)
    meet(tree.end_sequences[seat], tree.end_sequences[1 - seat], tree.end_chances, 1.0, reach, result)
    return result


def _kept_of_seat(
    seat: SeatTree, weights: Float64Array, gains: Float64Array, chances: Float64Array
) -> BoolArray:
    kept = weights > _KEPT_PROBABILITY
    keep_backward(seat.operations, gains, chances, _PRUNING_MARGIN, kept)
    return kept


def _reached(
    pieces: Sequence[Tree], kept: list[tuple[BoolArray, BoolArray]]
) -> list[tuple[BoolArray, BoolArray]]:
    """Return the sequences that consist of kept choices, as masks for each piece."""
    reached: list[tuple[BoolArray, BoolArray]] = []
    for at, piece in enumerate(pieces):
        result = []
        for seat, own in enumerate(piece.seats):
            array = np.zeros(own.size, np.bool_)
            array[: own.roots] = reached[0][seat][origins_of(piece.root)[seat]] if at else True
            follow_forward(own.operations, kept[at][seat], array)
            result.append(array)
        reached.append((result[0], result[1]))
    return reached


def _used(
    pieces: Sequence[Tree], reached: list[tuple[BoolArray, BoolArray]]
) -> tuple[list[tuple[BoolArray, BoolArray]], list[BoolArray]]:
    """Return the sequences that lead to an end that both seats can reach, and these ends."""
    used = [(np.zeros_like(first), np.zeros_like(second)) for first, second in reached]
    ends = []
    for piece, result in zip(pieces, reached, strict=True):
        first, second = piece.end_sequences
        ends.append(result[0][first] & result[1][second])
    for at in range(len(pieces) - 1, -1, -1):
        piece = pieces[at]
        for seat, own in enumerate(piece.seats):
            array = used[at][seat]
            array[piece.end_sequences[seat][ends[at]]] = True
            use_backward(own.operations, reached[at][seat], array)
            if at:
                used[0][seat][origins_of(piece.root)[seat][array[: own.roots]]] = True
    return used, ends


# The pruned game --------------------------------------------------------------------------------------------


def _numbered(pieces: Sequence[Tree], used: list[tuple[BoolArray, BoolArray]], seat: int) -> list[_Pruned]:
    result: list[_Pruned] = []
    start = 0
    for piece, masks in zip(pieces, used, strict=True):
        own, roots = masks[seat].copy(), piece.seats[seat].roots
        if result:
            own[:roots] = False
        numbers = np.cumsum(own) - 1 + start
        if result:
            numbers[:roots] = result[0].numbers[origins_of(piece.root)[seat]]
        start += int(own.sum())
        result.append(_Pruned(masks[seat], own, numbers))
    return result


def _pruned_seat(pieces: Sequence[Tree], pruned: list[_Pruned], seat: int) -> SeatTree:
    parts, start = [], 0
    for piece, left in zip(pieces, pruned, strict=True):
        parts.append(_pruned_operations(piece.seats[seat].operations, left, start))
        start += len(parts[-1].sources)
    heads, firsts, counts, sources = (np.concatenate(column) for column in zip(*parts, strict=True))
    infosets = sum(piece.seats[seat].infosets for piece in pieces)
    return SeatTree(
        operations=Operations(heads, firsts, counts, sources),
        choices=np.zeros(0, np.int32),
        keys=np.zeros(0, np.int64),
        roots=1,
        size=int(sum(left.own.sum() for left in pruned)),
        infosets=infosets,
    )


def _pruned_operations(operations: Operations, left: _Pruned, start: int) -> Operations:
    """Return the remaining operations of one piece; `start` is the number of earlier sources."""
    heads, firsts, counts, sources = operations
    used, _, numbers = left
    is_merge = counts < 0
    ends = firsts.astype(np.int64) + np.abs(counts)
    of_choices = np.concatenate([[0], np.cumsum(used)])
    of_sources = np.concatenate([[0], np.cumsum(used[sources])])
    choices, merges = np.flatnonzero(~is_merge), np.flatnonzero(is_merge)
    left_over = np.zeros(len(heads), np.int64)
    left_over[choices] = of_choices[ends[choices]] - of_choices[firsts[choices]]
    left_over[merges] = of_sources[firsts[merges]] - of_sources[ends[merges]]
    kept = np.where(is_merge, used[heads], left_over > 0)
    begin = np.zeros(len(heads), np.int64)
    first_used = np.flatnonzero(used)
    some = choices[left_over[choices] > 0]
    begin[some] = numbers[first_used[of_choices[firsts[some]]]]
    begin[merges] = start + of_sources[firsts[merges]]
    return Operations(
        heads=numbers[heads[kept]].astype(np.int32),
        firsts=begin[kept].astype(np.int32),
        counts=left_over[kept].astype(np.int32),
        sources=numbers[sources[used[sources]]].astype(np.int32),
    )


# Passes -----------------------------------------------------------------------------------------------------


@kernel
def keep_backward(
    operations: Operations, gains: Float64Array, chances: Float64Array, margin: float, kept: BoolArray
) -> None:
    """Keep choices not margin worse than the best one, propagating `gains` and `chances` back."""
    heads, firsts, counts, sources = operations
    for at in range(len(heads) - 1, -1, -1):
        count, head, first = counts[at], heads[at], firsts[at]
        if count > 0:
            best, chance = gains[first], chances[first]
            for choice in range(first + 1, first + count):
                best, chance = max(best, gains[choice]), max(chance, chances[choice])
            for choice in range(first, first + count):
                kept[choice] = kept[choice] or best - gains[choice] <= margin * chance
            gains[head] += best
            chances[head] += chance
        else:
            for source in range(first, first - count):
                gains[sources[source]] += gains[head]
                chances[sources[source]] += chances[head]


@kernel
def follow_forward(operations: Operations, kept: BoolArray, reached: BoolArray) -> None:
    """Fill `reached` along kept choices, given the values at the roots."""
    heads, firsts, counts, sources = operations
    for at in range(len(heads)):
        count, head, first = counts[at], heads[at], firsts[at]
        if count > 0:
            for choice in range(first, first + count):
                reached[choice] = reached[head] and kept[choice]
        else:
            for source in range(first, first - count):
                reached[head] = reached[head] or reached[sources[source]]


@kernel
def use_backward(operations: Operations, reached: BoolArray, used: BoolArray) -> None:
    """Propagate `used` back along reached sequences."""
    heads, firsts, counts, sources = operations
    for at in range(len(heads) - 1, -1, -1):
        count, head, first = counts[at], heads[at], firsts[at]
        if count > 0:
            for choice in range(first, first + count):
                used[head] = used[head] or used[choice]
        elif used[head]:
            for source in range(first, first - count):
                used[sources[source]] = used[sources[source]] or reached[sources[source]]


@kernel
def restore_weights(
    operations: Operations, used: BoolArray, numbers: Int64Array, found: Float64Array, weights: Float64Array
) -> None:
    """Write the pruned game's weights at decisions that remain, with 0 for pruned choices."""
    firsts, counts = operations.firsts, operations.counts
    for at in range(len(firsts)):
        first, count = firsts[at], counts[at]
        is_left = False
        for choice in range(first, first + count):
            is_left = is_left or used[choice]
        if is_left:
            for choice in range(first, first + count):
                weights[choice] = found[numbers[choice]] if used[choice] else 0.0
