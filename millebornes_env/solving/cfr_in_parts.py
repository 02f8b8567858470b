"""CFR+ on a trunk and branches: the same iterates as `Solver`, computed by all processors.

Even twelve cards are solved in full. A branch keeps its tree, its regrets and the sum of its policies;
policies and reach are recomputed for each branch in turn, from the reach of the trunk at its roots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from threading import local
from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.solving.cfr import LEARNED, Solver
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.memory import check_memory
from millebornes_env.solving.passes import (
    match_forward,
    match_weights,
    meet,
    regret_backward,
    weights_of_reach,
)
from millebornes_env.solving.tree import Grower, Node, Tree, origins_of
from millebornes_env.solving.values import (
    TRUNK,
    WHOLE,
    BranchResult,
    Judgement,
    OnProgress,
    Weights,
    in_order,
    judge_branch,
    judge_tree,
    reach_of_both,
)

Float64Array = npt.NDArray[np.float64]

_SAMPLED: Final = 48
"""Number of branches grown to estimate the memory of all branches."""
_BYTES_OF_END: Final = 24
_BYTES_OF_OPERATION: Final = 16
_BYTES_OF_SEQUENCE: Final = 8 * len(LEARNED)
_MARGIN: Final = 1.4
"""Safety factor of the memory estimate: polishing takes a third more for a while."""


def solver_of(
    game: Solvable,
    *,
    predictive: bool = True,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Solver:
    """Return the solver for the size of the game; the arguments are those of `SolverInParts`."""
    if game.cards <= WHOLE:
        return Solver(game, predictive=predictive)
    return SolverInParts(game, predictive=predictive, threads=threads, on_progress=on_progress)


@dataclass(frozen=True)
class _Seat:
    """The learned arrays of a seat in a branch; float64[size]."""

    regrets: Float64Array
    last: Float64Array
    average: Float64Array


@dataclass(frozen=True)
class _Branch:
    """A branch, and the arrays learned there."""

    tree: Tree
    seats: tuple[_Seat, _Seat]


class _Scratch(local):
    """Scratch arrays of a thread, large enough for the largest branch."""

    def __init__(self, size: int) -> None:
        self.weights, self.reach, self.values = np.zeros(size), np.zeros(size), np.zeros(size)


class SolverInParts(Solver):
    """Solver that works branch by branch; results do not depend on the number of threads.

    A seat's policy is added to the averages of the branches when the other seat learns against it. For the
    second seat that happens in the next iteration, or when the average is evaluated.

    Attributes:
        tree: the trunk.
    """

    def __init__(
        self,
        game: Solvable,
        *,
        predictive: bool = True,
        threads: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Walk the game.

        `threads` None: one for each processor; `on_progress` is called with the number of branches walked.

        Raises:
            SolvingError: the game does not fit in memory; the message reports the required size.
        """
        super().__init__(game, predictive=predictive, tree=Grower(game).trunk(TRUNK))
        self._threads = threads
        check_memory(game.name, _MARGIN * bytes_of_branches(game, self.tree))
        own = local()

        def grow(node: Node) -> Tree:
            if not hasattr(own, "grower"):
                own.grower = Grower(game)
            tree: Tree = own.grower.branch(node)
            return tree

        trees = list(in_order(grow, self.tree.frontier, threads, on_progress))
        self.counts = reduce(add, (tree.counts for tree in trees), self.tree.counts)
        self._stored = [
            {name: np.zeros(sum(tree.seats[seat].size for tree in trees)) for name in LEARNED}
            for seat in (0, 1)
        ]
        self._branches = self._cut(trees)
        sizes = [seat.size for tree in trees for seat in tree.seats]
        self._scratch = _Scratch(max(sizes, default=0))

    def _cut(self, trees: list[Tree]) -> list[_Branch]:
        """Assign each branch its part of the learned arrays."""
        branches, starts = [], [0, 0]
        for tree in trees:
            ends = [start + seat.size for start, seat in zip(starts, tree.seats, strict=True)]
            first, second = (
                _Seat(*(self._stored[seat][name][starts[seat] : ends[seat]] for name in LEARNED))
                for seat in (0, 1)
            )
            branches.append(_Branch(tree, (first, second)))
            starts = ends
        return branches

    # An iteration -------------------------------------------------------------------------------------------

    def _learn_branches(self, number: int) -> None:
        def learn(branch: _Branch) -> Float64Array:
            return self._learn_branch(number, branch)

        gains = in_order(learn, self._branches, self._threads)
        for branch, gain in zip(self._branches, gains, strict=True):
            np.add.at(self._seats[number].gains, origins_of(branch.tree.root)[number], gain)

    def _learn_branch(self, number: int, branch: _Branch) -> Float64Array:
        """Update one seat in a branch; return its gains at the roots, float64[roots]."""
        tree, scratch = branch.tree, self._scratch
        own, learned = tree.seats[number], branch.seats[number]
        others_iteration = self.iteration - (1 if number == 0 else 0)
        reach = self._match_branch(branch, 1 - number, others_iteration, branch.seats[1 - number].average)
        gains = scratch.values[: own.size]
        gains[:] = 0.0
        sign = 1.0 if number == 0 else -1.0
        meet(tree.end_sequences[number], tree.end_sequences[1 - number], tree.end_values, sign, reach, gains)
        weights = scratch.weights[: own.size]
        match_weights(own.operations, learned.regrets, learned.last, weights)
        regret_backward(own.operations, weights, gains, learned.regrets, learned.last)
        if not self.predictive:
            learned.last[:] = 0.0
        return gains[: own.roots].copy()

    def _match_branch(
        self, branch: _Branch, number: int, iteration: int, average: Float64Array
    ) -> Float64Array:
        """Add a seat's policy of an iteration to a branch's average; return its reach, float64[size]."""
        seat, learned, scratch = branch.tree.seats[number], branch.seats[number], self._scratch
        weights, reach = scratch.weights[: seat.size], scratch.reach[: seat.size]
        reach[: seat.roots] = self._seats[number].reach[origins_of(branch.tree.root)[number]]
        match_forward(
            seat.operations,
            learned.regrets, learned.last, self.weight(iteration), weights, reach, average,
        )  # fmt: skip
        return reach

    # The average policy -------------------------------------------------------------------------------------

    def _judge_weights(self, name: str, weights: Callable[[int], Weights]) -> Judgement:
        reach = reach_of_both(self.tree, weights(0))

        def result(index: int) -> BranchResult:
            return judge_branch(self._branches[index].tree, weights(1 + index), reach)

        results = in_order(result, range(len(self._branches)), self._threads)
        return judge_tree(self.tree, weights(0), name, branches=results)

    def _pieces(self) -> Sequence[Tree]:
        return [self.tree, *(branch.tree for branch in self._branches)]

    def _learned(self, seat: int, name: str) -> list[Float64Array]:
        of_branches = (getattr(branch.seats[seat], name) for branch in self._branches)
        return [*super()._learned(seat, name), *of_branches]

    def _average_policy(self, at: int) -> Weights:
        return self.weights() if at == 0 else self._average_policy_in_branch(self._branches[at - 1])

    def _average_policy_in_branch(self, branch: _Branch) -> Weights:
        """Return the average policy, including the second seat's last policy, which is not yet added."""
        sums = branch.seats[0].average, self._scratch.values[: branch.tree.seats[1].size]
        sums[1][:] = branch.seats[1].average
        self._match_branch(branch, 1, self.iteration, sums[1])
        first, second = (np.ones(seat.size) for seat in branch.tree.seats)
        for seat, total, weights in zip(branch.tree.seats, sums, (first, second), strict=True):
            weights_of_reach(seat.operations, total, weights)
        return first, second

    # Checkpoints --------------------------------------------------------------------------------------------

    def _arrays(self) -> dict[str, Float64Array]:
        arrays = {f"trunk_{name}": array for name, array in super()._arrays().items()}
        for number, learned in enumerate(self._stored):
            arrays |= {f"{name}_{number}": array for name, array in learned.items()}
        return arrays

    def _sequences(self) -> list[int]:
        return [len(learned["regrets"]) for learned in self._stored]


def bytes_of_branches(game: Solvable, trunk: Tree) -> float:
    """Estimate the memory of a solver for all branches, in bytes, by growing some of them."""
    step = max(1, len(trunk.frontier) // _SAMPLED)
    sample = trunk.frontier[step // 2 :: step]
    grower = Grower(game)
    taken = 0
    for node in sample:
        branch = grower.branch(node)
        operations = sum(len(seat.operations.heads) for seat in branch.seats)
        taken += _BYTES_OF_END * len(branch.end_values) + _BYTES_OF_OPERATION * operations
        taken += sum(4 * len(seat.operations.sources) for seat in branch.seats)
        taken += sum(_BYTES_OF_SEQUENCE * seat.size for seat in branch.seats)
    return taken * len(trunk.frontier) / max(1, len(sample))
