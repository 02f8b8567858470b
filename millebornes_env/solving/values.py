"""Expected values, best responses and NashConv of policies, exactly."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from threading import local
from typing import Final, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from millebornes_env.errors import SolvingError
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.passes import (
    best_backward,
    expected_backward,
    meet,
    reach_forward,
    uniform_weights,
)
from millebornes_env.solving.tree import Counts, Grower, Node, SeatTree, Tree, origins_of

Float64Array = npt.NDArray[np.float64]
S = TypeVar("S")
T = TypeVar("T")
Weights = tuple[Float64Array, Float64Array]
"""For each seat, float64[size]: the probability of each sequence's last choice at its decision."""
OnProgress = Callable[[int, int], None]
"""Callback that receives the number of finished branches and the total number."""
OnTree = Callable[[Tree, Weights, Weights, Weights], None]
"""Callback that receives a tree, the weights of a policy, the reach of each seat's sequences under it, and
the counterfactual values of its best response to the policy. Several threads may call it."""

TRUNK: Final = 4
"""Depth at which branches begin if a game is walked in parts, in decisions."""
WHOLE: Final = 10
"""Largest number of cards of a deck whose whole tree fits in memory."""
SMALL: Final = 8
"""Largest number of cards of a deck that a single thread walks."""
_AHEAD: Final = 4
"""Number of branches per thread that may be queued."""
_TOLERANCE: Final = 1e-9


class Policy(Protocol):
    """A policy of both seats.

    Attributes:
        name: name of the policy in reports.
        needs_states: True if it needs `Tree.decision_states`.
        in_parts: True if it supports a trunk and branches; False: only the whole tree.
    """

    name: str
    needs_states: bool
    in_parts: bool

    def weights(self, tree: Tree) -> Weights:
        """Return the probability of each choice: float64[size] for each seat, at the choice's sequence.

        Raises:
            SolvingError: an illegal action has a weight, or the policy is of another game.
        """
        ...


@dataclass(frozen=True)
class Judgement:
    """The exact evaluation of a policy; seat 0 begins.

    Attributes:
        name: name of the policy.
        value: expected payoff of seat 0 if both seats play the policy.
        best: best-response values of seat 0 and of seat 1 against it.
        counts: the size of the game.
    """

    name: str
    value: float
    best: tuple[float, float]
    counts: Counts

    @property
    def nash_conv(self) -> float:
        """Sum of the seats' gains from deviating to a best response; 0 for an equilibrium."""
        return self.best[0] + self.best[1]

    @property
    def exploitability(self) -> float:
        """NashConv divided by the number of seats."""
        return self.nash_conv / 2

    @property
    def of_range(self) -> float:
        """Exploitability divided by the range of the payoffs."""
        return self.exploitability / self.counts.payoff_range


class Uniform:
    """The uniform policy: every legal choice has the same probability."""

    name = "uniform"
    needs_states = False
    in_parts = True

    def weights(self, tree: Tree) -> Weights:
        """Return the uniform weights."""
        first, second = (np.ones(seat.size) for seat in tree.seats)
        for seat, weights in zip(tree.seats, (first, second), strict=True):
            uniform_weights(seat.operations, weights)
        return first, second


# A whole tree -----------------------------------------------------------------------------------------------


def reach_of(seat: SeatTree, weights: Float64Array, roots: Float64Array | None = None) -> Float64Array:
    """Return the seat's reach of each of its sequences, float64[size], summed over the orders of its draws.

    `roots`, float64[roots], is the reach of the initial sequences of a branch; None: 1.
    """
    reach = np.zeros(seat.size)
    reach[: seat.roots] = 1.0 if roots is None else roots
    reach_forward(seat.operations, weights, reach)
    return reach


def reach_of_both(tree: Tree, weights: Weights, trunk: Weights | None = None) -> Weights:
    """Return the reach of each sequence for each seat; `trunk` is that of a branch's trunk."""
    roots = (None, None) if trunk is None else tuple(map(np.take, trunk, origins_of(tree.root)))
    first, second = (reach_of(*of_seat) for of_seat in zip(tree.seats, weights, roots, strict=True))
    return first, second


def gains_at_ends(tree: Tree, seat: int, reach: Float64Array) -> Float64Array:
    """Return the payoffs at the ends of each of the seat's sequences, weighted by the other seat's reach."""
    gains = np.zeros(tree.seats[seat].size)
    own, others = tree.end_sequences[seat], tree.end_sequences[1 - seat]
    meet(own, others, tree.end_values, 1.0 if seat == 0 else -1.0, reach, gains)
    return gains


def visits(tree: Tree, weights: Weights) -> Weights:
    """Return the expected number of times that each choice is taken in a round of the whole tree.

    Returns:
        float64[size] for each seat, at the choice's sequence.
    """
    reach = reach_of_both(tree, weights)
    result = []
    for number, seat in enumerate(tree.seats):
        ends = np.zeros(seat.size)
        own, others = tree.end_sequences[number], tree.end_sequences[1 - number]
        meet(own, others, tree.end_chances, 1.0, reach[1 - number], ends)
        expected_backward(seat.operations, weights[number], ends)
        result.append(reach[number] * ends)
    return result[0], result[1]


def judge_tree(
    tree: Tree,
    weights: Weights,
    name: str = "policy",
    *,
    branches: Iterable[BranchResult] = (),
    on_tree: OnTree | None = None,
) -> Judgement:
    """Evaluate a policy on the whole tree; or on a trunk, given the results of all its branches.

    Raises:
        SolvingError: the probabilities of all ends do not sum to 1.
    """
    result = judge_branch(tree, weights, branches=branches, on_tree=on_tree)
    if not abs(result.chance - 1.0) < _TOLERANCE:
        raise SolvingError(
            f"the probabilities of all ends sum to {result.chance!r} instead of 1: a seat has no legal "
            "action somewhere, or the weights of a policy are not probabilities"
        )
    first, second = (float(gains[0]) for gains in result.gains)
    return Judgement(name, result.value, (first, second), result.counts)


def total(values: Float64Array, weights: Float64Array) -> float:
    """Return the weighted sum of numbers at ends.

    Not NumPy's `@`: it would start a thread of the linear algebra library, which then keeps a core busy.
    """
    return float((values * weights).sum())


# In parts ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BranchResult:
    """The contribution of a branch to the trunk.

    Attributes:
        root: the node that the branch grows from; None: the whole tree, or a trunk.
        value: contribution to the value of seat 0 if both play the policy.
        chance: total probability of the ends of the branch.
        gains: float64[roots] for each seat, its best-response gains at the sequences of the root.
        counts: the size of the branch.
    """

    root: Node | None
    value: float
    chance: float
    gains: Weights
    counts: Counts


def judge_branch(
    tree: Tree,
    weights: Weights,
    trunk: Weights | None = None,
    *,
    branches: Iterable[BranchResult] = (),
    on_tree: OnTree | None = None,
) -> BranchResult:
    """Evaluate a policy on a branch, given the reach of each sequence of its trunk, or on another tree.

    Of a trunk, `branches` are the results of its branches.
    """
    reach = reach_of_both(tree, weights, trunk)
    ends = tree.end_sequences
    together = reach[0][ends[0]] * reach[1][ends[1]]
    value, chance, counts = total(tree.end_values, together), total(tree.end_chances, together), tree.counts
    gains = gains_at_ends(tree, 0, reach[1]), gains_at_ends(tree, 1, reach[0])
    for branch in branches:
        value, chance, counts = value + branch.value, chance + branch.chance, counts + branch.counts
        for gain, sequences, more in zip(gains, origins_of(branch.root), branch.gains, strict=True):
            np.add.at(gain, sequences, more)
    for seat, gain in zip(tree.seats, gains, strict=True):
        best_backward(seat.operations, gain)
    if on_tree is not None:
        on_tree(tree, weights, reach, gains)
    first, second = (gain[: seat.roots].copy() for seat, gain in zip(tree.seats, gains, strict=True))
    return BranchResult(tree.root, value, chance, (first, second), counts)


def judge(
    game: Solvable,
    policy: Policy,
    *,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    on_tree: OnTree | None = None,
) -> Judgement:
    """Compute expected value, best responses and NashConv of a policy, exact up to rounding.

    Args:
        game: from `solvable`.
        policy: policy of both seats.
        threads: number of threads; None: one for each processor. Results do not depend on it.
        on_progress: called with the number of finished branches and the total.
        on_tree: called with each tree that the game is walked in, all with `decision_states`.

    Raises:
        SolvingError: the policy is of another game; or it is a table of a tree that does not fit in memory.
    """
    has_states = policy.needs_states or on_tree is not None
    if not policy.in_parts or game.cards <= SMALL:
        if game.cards > WHOLE:
            raise SolvingError(
                f"the policy {policy.name!r} is a table of the whole tree, and the tree of {game.name} does "
                f"not fit in memory; such policies can be evaluated on decks of up to {WHOLE} cards"
            )
        tree = Grower(game).whole(states=has_states)
        return judge_tree(tree, policy.weights(tree), policy.name, on_tree=on_tree)
    trunk = Grower(game).trunk(TRUNK, states=has_states)
    weights = policy.weights(trunk)
    reach = reach_of_both(trunk, weights)
    own = local()

    def result(node: Node) -> BranchResult:
        if not hasattr(own, "grower"):
            own.grower = Grower(game)
        branch = own.grower.branch(node, states=has_states)
        return judge_branch(branch, policy.weights(branch), reach, on_tree=on_tree)

    branches = in_order(result, trunk.frontier, threads, on_progress)
    return judge_tree(trunk, weights, policy.name, branches=branches, on_tree=on_tree)


def in_order(
    work: Callable[[S], T], items: Sequence[S], threads: int | None, on_progress: OnProgress | None = None
) -> Iterator[T]:
    """Yield the result of each item, in the order of the items; threads work a few items ahead."""
    workers = threads or os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        more = iter(items)
        waiting = deque(pool.submit(work, item) for item in islice(more, _AHEAD * workers))
        done = 0
        try:
            while waiting:
                yield waiting.popleft().result()
                done += 1
                waiting.extend(pool.submit(work, item) for item in islice(more, 1))
                if on_progress is not None:
                    on_progress(done, len(items))
        finally:
            for future in waiting:
                future.cancel()


def count_nodes(
    game: Solvable, *, threads: int | None = None, on_progress: OnProgress | None = None
) -> Counts:
    """Compute the size of the game."""
    return judge(game, Uniform(), threads=threads, on_progress=on_progress).counts
