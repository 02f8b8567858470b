"""Pruned games: what is left is the game, what is found there is put back and judged in the whole one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env.solving import cfr_in_parts, pruning
from millebornes_env.solving.cfr import Solver
from millebornes_env.solving.cfr_in_parts import SolverInParts
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.pruning import PrunedGame
from millebornes_env.solving.values import Uniform, judge_tree

VALUES = {"mini7": 1670 / 63, "mini8": 1445 / 28}


@pytest.mark.parametrize("kind", [Solver, SolverInParts])
@pytest.mark.parametrize("deck", list(VALUES))
def test_the_last_digits_come_from_what_is_left(
    deck: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NashConv is judged in the whole game, which does not change."""
    monkeypatch.setattr(cfr_in_parts, "TRUNK", 2)
    solver: Solver = kind(solvable(deck))
    solver.run(300)
    before = solver.judge()
    polished = solver.polish(1e-6)
    assert solver.judge() == before
    assert polished.judgement.nash_conv < 1e-6 < before.nash_conv / 1000
    assert polished.judgement.value == pytest.approx(VALUES[deck], abs=1e-6)
    assert polished.judgement.counts == before.counts
    left = sum(seat.size for seat in polished.pruned.tree.seats)
    assert 5 * left < sum(solver._sequences())


def test_where_nothing_is_pruned_it_is_the_same_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a trunk and branches, in another order; random play is worth the same, and to best responses too."""
    monkeypatch.setattr(pruning, "_KEPT_PROBABILITY", -1.0)
    monkeypatch.setattr(cfr_in_parts, "TRUNK", 3)
    solver = SolverInParts(solvable("mini7"))
    pruned = PrunedGame(solver._pieces(), solver._average_policy)
    whole = Solver(solvable("mini7")).tree
    assert [seat.size for seat in pruned.tree.seats] == [seat.size for seat in whole.seats]
    assert len(pruned.tree.end_values) == len(whole.end_values)
    assert pruned.tree.counts == whole.counts
    one, other = (judge_tree(tree, Uniform().weights(tree)) for tree in (whole, pruned.tree))
    assert (other.value, *other.best) == pytest.approx((one.value, *one.best), abs=1e-9)


def test_what_is_put_back_is_a_policy() -> None:
    """The rest of a decision adds up to 1, its pruned actions are 0, and nothing else changes."""
    solver = Solver(solvable("mini7"))
    solver.run(100)
    pruned = PrunedGame(solver._pieces(), solver._average_policy)
    before = solver.weights()
    after = pruned.restore(0, before, Uniform().weights(pruned.tree))
    for seat, old, new in zip(solver.tree.seats, before, after, strict=True):
        changed = 0
        for first, count in zip(*seat.operations[1:3], strict=True):
            if count > 0:
                weights = new[first : first + count]
                assert weights.sum() == pytest.approx(1.0)
                if not (weights == old[first : first + count]).all():
                    assert len(set(weights[weights > 0])) == 1
                    changed += 1
        assert changed > 10
    assert all((one == other).all() for one, other in zip(before, solver.weights(), strict=True))


def test_regrets_are_taken_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the sequences that are left, to their places in the pruned game."""
    monkeypatch.setattr(cfr_in_parts, "TRUNK", 2)
    solver = SolverInParts(solvable("mini7"))
    solver.run(50)
    pruned = PrunedGame(solver._pieces(), solver._average_policy)
    for number, seat in enumerate(pruned.tree.seats):
        taken = pruned.select(number, solver._learned(number, "regrets"))
        assert taken.shape == (seat.size,)
        assert np.count_nonzero(taken) > 20
        pieces = zip(solver._learned(number, "regrets"), pruned._pruned[number], strict=True)
        for whole, (_, own, numbers) in pieces:
            kept = np.flatnonzero(own)
            assert (taken[numbers[kept]] == whole[kept]).all()
