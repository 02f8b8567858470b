"""External-sampling MCCFR: it comes to the equilibrium that the tree is solved for, and repeats itself."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env.errors import SolvingError
from millebornes_env.solving.cfr import Solver
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.mccfr import Sampler
from millebornes_env.solving.tree import Grower
from millebornes_env.solving.values import Uniform, judge, reach_of

SMALL = "mini7+copies_of_roll=1+copies_of_stop=1"


def test_it_comes_to_the_value_of_the_game() -> None:
    game = solvable(SMALL)
    sampler = Sampler(game, seed=3)
    result = []
    for traversals in (100, 1_000, 10_000):
        sampler.run(traversals)
        result.append(sampler.judge().exploitability)
    assert judge(game, Uniform()).exploitability > result[0] > result[1] > result[2]
    assert result[2] < 5
    solver = Solver(game)
    solver.run(200)
    assert sampler.judge().value == pytest.approx(solver.judge().value, abs=5)


def test_a_seed_gives_the_same_policy_however_it_is_run() -> None:
    game = solvable(SMALL)
    at_once, by_and_by, other = Sampler(game, seed=1), Sampler(game, seed=1), Sampler(game, seed=2)
    at_once.run(60)
    for _ in range(3):
        by_and_by.run(20)
    other.run(60)
    for one, same, different in zip(at_once.weights(), by_and_by.weights(), other.weights(), strict=True):
        assert np.array_equal(one, same)
        assert not np.array_equal(one, different)
    assert at_once.decisions == by_and_by.decisions > 60


def test_regrets_are_those_of_the_policy_that_is_given() -> None:
    """Sampled with a fixed policy, the mean regrets are those that the exact walk finds."""
    game = solvable(SMALL)
    sampler = Sampler(game, seed=5)
    weights = Uniform().weights(sampler.tree)
    first, second = (
        side._replace(weights=weight) for side, weight in zip(sampler.sides, weights, strict=True)
    )
    sampler.sides = first, second
    sampler.run(200_000)
    solver = Solver(game)
    solver.run(1)  # its first policy is uniform
    seat = sampler.tree.seats[0]
    orders = reach_of(seat, np.ones(seat.size))  # a hand may be drawn in several, which the walk counts once
    exact = solver._seats[0].last * orders
    largest = np.argsort(-np.abs(exact))[:20]
    assert np.abs(exact[largest]).min() > 1
    assert first.regrets[largest] / (sampler.traversals / 2) == pytest.approx(
        exact[largest], rel=0.2, abs=0.5
    )


def test_what_it_cannot_sample_is_refused() -> None:
    with pytest.raises(SolvingError, match="does not fit in memory"):
        Sampler(solvable("mini12"))
    game = solvable(SMALL)
    with pytest.raises(SolvingError, match="the tree is of mini7-v0, not of"):
        Sampler(game, tree=Grower(solvable("mini7")).whole(keys=True))
    with pytest.raises(SolvingError, match="no keys"):
        Sampler(game, tree=Grower(game).whole())
