"""The play of safeties in an equilibrium, on decks that are solved exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.games.millebornes.cards import is_safety
from millebornes_env.solving.cfr import Solver
from millebornes_env.solving.deck import Solvable, solvable
from millebornes_env.solving.equilibrium.agent import FOLDER
from millebornes_env.solving.passes import best_backward, expected_backward, meet
from millebornes_env.solving.policies import read_policy
from millebornes_env.solving.tree import Grower, SeatTree, Tree
from millebornes_env.solving.values import Weights, gains_at_ends, judge_tree, reach_of, visits

Float64Array = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]

ITERATIONS: Final = 300
"""Iterations of CFR+ for a deck without a shipped policy."""
_REACHED: Final = 1e-12


@dataclass(frozen=True)
class Solved:
    """A deck with a policy near an equilibrium.

    Attributes:
        tree: tree of the whole game.
        weights: weights of the policy.
        nash_conv: NashConv of the policy, in points.
    """

    tree: Tree
    weights: Weights
    nash_conv: float

    @property
    def game(self) -> Solvable:
        """The deck."""
        return self.tree.game


def solved(deck: str) -> Solved:
    """Load the shipped policy of a deck, or compute one; overrides may follow the name of its sheet.

    Raises:
        SolvingError: the deck cannot be solved.
        EditionError: there is no such sheet.
    """
    game = solvable(deck)
    path = FOLDER / f"{game.name}.npz"
    if path.is_file():
        tree = Grower(game).whole()
        weights = read_policy(path, tree).weights(tree)
    else:
        solver = Solver(game)
        solver.run(ITERATIONS)
        tree, weights = solver.tree, solver.weights()
    return Solved(tree, weights, judge_tree(tree, weights, deck).nash_conv)


def holding_rate(found: Solved) -> dict[str, Any]:
    """Measure the rate at which the playable safety of a deck with one is held, if both play the policy.

    Returns:
        `sets`: number of information sets with a playable safety; `turns`: mean number of them per round;
        `held`: share of them in which it is not played; `holding`: gain of the best other play over playing
        it, in points, weighted by the reach of each set.
    """
    tree = found.tree
    kind = next(index for index, card in enumerate(tree.game.deck.cards) if is_safety(int(card)))
    taken = visits(tree, found.weights)
    sets, turns, played, holding = 0, 0.0, 0.0, 0.0
    for number, seat in enumerate(tree.seats):
        rows, operations = np.flatnonzero((seat.choices >> kind) & 1), seat.operations
        first, counts = (part[rows].astype(np.int64) for part in (operations.firsts, operations.counts))
        safeties = first + np.bitwise_count(seat.choices[rows] & ((1 << kind) - 1))
        sets += len(rows)
        mine = taken[number]
        whole = sums_of(mine, first, counts)
        turns += float(whole.sum())
        played += float(mine[safeties].sum())
        gains, chances = continued(tree, number, found.weights)
        others = highest_but(gains, first, counts, safeties)
        reached = chances[first] > _REACHED
        more = (others - gains[safeties])[reached] / chances[first][reached]
        holding += float((whole[reached] * more).sum())
    held = {"held": 1.0 - played / turns, "holding": holding / turns}
    return {"sets": sets, "turns": turns, **held, "nash_conv": found.nash_conv}


def sums_of(values: Float64Array, first: Int64Array, counts: Int64Array) -> Float64Array:
    """Return the sum over the choices of each decision."""
    before = np.concatenate([[0.0], np.cumsum(values)])
    sums: Float64Array = before[first + counts] - before[first]
    return sums


def highest_but(values: Float64Array, first: Int64Array, counts: Int64Array, but: Int64Array) -> Float64Array:
    """Return the highest value among the choices of each decision, leaving out one choice."""
    highest = np.full(len(first), -np.inf)
    for offset in range(int(counts.max(initial=0))):
        rows = (offset < counts) & (first + offset != but)
        highest[rows] = np.maximum(highest[rows], values[(first + offset)[rows]])
    return highest


def continued(
    tree: Tree, number: int, weights: Weights, *, best: bool = False
) -> tuple[Float64Array, Float64Array]:
    """Compute the counterfactual value of each choice of a seat.

    Args:
        tree: tree of the whole game.
        number: the seat.
        weights: weights of both seats.
        best: if True, the seat itself continues with a best response instead of its weights.

    Returns:
        Counterfactual values and reach of the other seat and chance, float64[size] each; their quotient is
        in points.
    """
    seat = tree.seats[number]
    reach = reach_of(tree.seats[1 - number], weights[1 - number])
    gains = gains_at_ends(tree, number, reach)
    if best:
        best_backward(seat.operations, gains)
    else:
        expected_backward(seat.operations, weights[number], gains)
    return gains, chances_of(tree, number, reach)


def chances_of(tree: Tree, number: int, reach: Float64Array) -> Float64Array:
    """Return the counterfactual reach of each choice: the probability of the other seat and of chance."""
    seat = tree.seats[number]
    chances = np.zeros(seat.size)
    meet(tree.end_sequences[number], tree.end_sequences[1 - number], tree.end_chances, 1.0, reach, chances)
    expected_backward(seat.operations, any_weights(seat), chances)
    return chances


def any_weights(seat: SeatTree) -> Float64Array:
    """Return weights of an arbitrary policy; the reach of the others does not depend on it."""
    weights = np.zeros(seat.size)
    decisions = seat.operations.counts > 0
    weights[: seat.roots] = 1.0
    weights[seat.operations.heads[~decisions]] = 1.0
    weights[seat.operations.firsts[decisions]] = 1.0
    return weights
