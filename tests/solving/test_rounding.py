"""The bound on rounding: it holds, seen in fractions, and is far below what values are stated to."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from millebornes_env.solving.cfr import Solver
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.rounding import rounding_of
from millebornes_env.solving.tree import Grower, SeatTree, Tree
from millebornes_env.solving.values import best_response

SMALL = "mini7+copies_of_roll=1+copies_of_stop=1"


def exact_reach(seat: SeatTree, weights: np.ndarray) -> list[Fraction]:
    """Without rounding, the weights of each decision made to add up to 1."""
    reach = [Fraction(1)] * seat.size
    heads, firsts, counts, sources = seat.operations
    for head, first, count in zip(heads, firsts, counts, strict=True):
        if count > 0:
            exact = [Fraction(float(weight)) for weight in weights[first : first + count]]
            for choice, weight in enumerate(exact, first):
                reach[choice] = reach[head] * weight / sum(exact)
        else:
            reach[head] = sum((reach[at] for at in sources[first : first - count]), Fraction(0))
    return reach


def exact_best_response(tree: Tree, number: int, weights: np.ndarray) -> Fraction:
    """Return the seat's best-response value against these weights of the other."""
    own, other = tree.seats[number], tree.seats[1 - number]
    reach = exact_reach(other, weights)
    gains = [Fraction(0)] * own.size
    sign = 1 if number == 0 else -1
    ends = zip(*tree.end_sequences[[number, 1 - number]], tree.end_values, strict=True)
    for mine, others, value in ends:
        gains[mine] += sign * Fraction(float(value)) * reach[others]
    heads, firsts, counts, sources = own.operations
    for head, first, count in zip(heads[::-1], firsts[::-1], counts[::-1], strict=True):
        if count > 0:
            gains[head] += max(gains[first : first + count])
        else:
            for source in sources[first : first - count]:
                gains[source] += gains[head]
    return gains[0]


def test_a_best_response_is_off_by_no_more() -> None:
    solver = Solver(solvable(SMALL))
    solver.run(50)
    weights = solver.weights()
    most = rounding_of(solver.tree)
    off = [
        abs(float(exact_best_response(solver.tree, seat, weights[1 - seat]) - Fraction(won)))
        for seat in (0, 1)
        for won in [best_response(solver.tree, seat, weights[1 - seat])[0]]
    ]
    assert 0 < max(off) <= most < 1e-8


def test_a_larger_game_is_rounded_more() -> None:
    """And still far below the millionth of a point to which values are stated."""
    small, large = (rounding_of(Grower(solvable(deck)).whole()) for deck in (SMALL, "mini7"))
    assert small < large < 1e-8
