"""Safeties and coups fourrés on decks that are solved."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env.games.millebornes.cards import STOP
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.tree import Grower
from millebornes_env.solving.values import Uniform, Weights, judge_tree, visits
from research.coup_fourre import claims_against
from research.solved import Solved, continued, holding_rate, solved

NO_BONUS = "mini7+points_per_coup_fourre=0"


@pytest.fixture(scope="module")
def mini7() -> Solved:
    return solved("mini7")


def with_weights(found: Solved, weights: Weights) -> Solved:
    return Solved(found.tree, weights, 0.0)


def lays_first(found: Solved, *, lays: bool) -> Weights:
    """Play anything, but lay the safety wherever it can be laid, or never where there is another play."""
    kind, weights = len(found.game.deck.cards) - 1, Uniform().weights(found.tree)
    for seat, own in zip(found.tree.seats, weights, strict=True):
        for at in np.flatnonzero((seat.choices >> kind) & 1):
            first, count = int(seat.operations.firsts[at]), int(seat.operations.counts[at])
            laid = first + int(np.bitwise_count(seat.choices[at] & ((1 << kind) - 1)))
            own[first : first + count] = 0.0 if lays else 1.0 / (count - 1)
            own[laid] = 1.0 if lays else 0.0
    return weights


@pytest.mark.parametrize(("lays", "held"), [(True, 0.0), (False, 1.0)])
def test_a_safety_is_held_as_often_as_the_policy_says(mini7: Solved, lays: bool, held: float) -> None:
    result = holding_rate(with_weights(mini7, lays_first(mini7, lays=lays)))
    assert result["held"] == pytest.approx(held, abs=1e-9)
    assert result["turns"] > 0.1


def times_taken(found: Solved, choice: int) -> float:
    """Return the mean number of times per round that a choice is taken.

    Choices are plays by card type, discards by card type, claiming or extending, and declining.
    """
    times = 0.0
    for taken, seat in zip(visits(found.tree, found.weights), found.tree.seats, strict=True):
        at = np.flatnonzero((seat.choices >> choice) & 1)
        before = np.bitwise_count(seat.choices[at] & ((1 << choice) - 1))
        times += float(taken[seat.operations.firsts[at].astype(np.int64) + before].sum())
    return times


def check_the_page(found: Solved, stops: int, beyond: float, held: int, turns: int) -> None:
    """In a hundred rounds: Stops laid, claims and extensions, turns that hold a safety, all such turns."""
    kinds = [int(card) for card in found.game.deck.cards]
    assert round(100 * times_taken(found, kinds.index(STOP))) == stops
    assert 100 * times_taken(found, 2 * len(kinds)) == pytest.approx(beyond, rel=0.05)
    safety = holding_rate(found)
    assert (round(100 * safety["turns"] * safety["held"]), round(100 * safety["turns"])) == (held, turns)


def test_an_equilibrium_of_mini7_does_what_the_page_says(mini7: Solved) -> None:
    check_the_page(mini7, 51, 2.9, 25, 122)
    assert times_taken(mini7, 2 * len(mini7.game.deck.cards) + 1) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_an_equilibrium_of_mini10_does_what_the_page_says() -> None:
    """Ten seconds, and some gigabytes."""
    check_the_page(solved("mini10"), 90, 10.0, 33, 123)


def test_what_choices_win_is_the_value_of_the_game(mini7: Solved) -> None:
    judged = judge_tree(mini7.tree, mini7.weights)
    for number, sign in ((0, 1.0), (1, -1.0)):
        gains, chances = continued(mini7.tree, number, mini7.weights)
        assert gains[0] == pytest.approx(sign * judged.value)
        assert chances[0] == pytest.approx(1.0)
        best, _ = continued(mini7.tree, number, mini7.weights, best=True)
        assert best[0] == pytest.approx(judged.best[number])


def test_a_coup_fourre_is_worth_its_bonus_less_the_chance_of_a_later_one(mini7: Solved) -> None:
    weights = Uniform().weights(mini7.tree)
    result = claims_against(mini7, weights)
    assert result["sets"] == result["reached"] == 196
    assert result["better"] == 0
    assert 0 < result["least"] < result["mean"] < result["most"] == pytest.approx(300)
    game = solvable(NO_BONUS)
    nothing = Solved(Grower(game).whole(), weights, 0.0)
    without = claims_against(nothing, weights)
    assert without["least"] == pytest.approx(0, abs=1e-9)
    assert without["most"] == pytest.approx(0, abs=1e-9)
