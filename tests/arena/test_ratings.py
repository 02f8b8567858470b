"""Ratings find known strengths again, cover them, and stay sensible where games say little."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations
from types import ModuleType

import numpy as np
import pytest

from millebornes_env.arena.estimates import payoff_matrix
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.ratings import alpha_rank, bradley_terry, cycles, open_ends, ratings, win_matrix
from tests.arena.simulated import drawn, outcome_of, won_by_odds

ELO = (150.0, 40.0, -190.0)


def round_robin(elo: tuple[float, ...], deals: int, seed: int) -> list[Outcome]:
    rng = np.random.default_rng(seed)
    return [won_by_odds(one, other, elo, deals, rng) for one, other in combinations(range(len(elo)), 2)]


def always(winner: int, loser: int, deals: int = 20) -> Outcome:
    return outcome_of((winner, loser), np.tile([100, 0], (deals, 2, 1)))


def test_ten_to_one_is_400_points() -> None:
    elo = bradley_terry(np.array([[0, 1000], [100, 0]]), prior=0.0)
    assert elo == pytest.approx([200, -200])


def test_shared_wins_count_half_to_both() -> None:
    outcome = outcome_of((0, 1), [[[5, 5], [9, 1]]])
    assert win_matrix([outcome], 2).tolist() == [[0, 1.5], [0.5, 0]]


def test_known_ratings_are_found() -> None:
    result = ratings(round_robin(ELO, 20_000, 1), 3)
    assert result.elo == pytest.approx(ELO, abs=8)
    assert result.order() == [0, 1, 2]
    assert result.num_groups == 1
    assert result.elo.sum() == pytest.approx(0, abs=1e-9)


def test_the_anchor_is_zero_and_nothing_else_changes() -> None:
    outcomes = round_robin(ELO, 500, 2)
    free, anchored = ratings(outcomes, 3), ratings(outcomes, 3, anchor=1)
    assert anchored.elo[1] == anchored.low[1] == anchored.high[1] == 0
    assert np.diff(anchored.elo) == pytest.approx(np.diff(free.elo))


def test_intervals_cover() -> None:
    inside = total = 0
    for seed in range(30):
        result = ratings(round_robin(ELO, 150, 100 + seed), 3, replicates=60, seed=seed)
        inside += int(((result.low <= ELO) & (np.array(ELO) <= result.high)).sum())
        total += 3
    assert 0.88 <= inside / total <= 0.995


def test_deals_are_drawn_with_all_their_rotations() -> None:
    # Every deal is won once by each: the deals are all alike, whatever is drawn.
    outcome = outcome_of((0, 1), np.tile([[[9, 0], [0, 9]]], (2000, 1, 1)))
    result = ratings([outcome], 2)
    assert result.elo == pytest.approx([0, 0])
    assert result.high[0] - result.low[0] < 2


def test_who_wins_everything_has_no_upper_end_but_a_rating() -> None:
    result = ratings(
        [always(0, 1), always(0, 2), won_by_odds(1, 2, (0, 0, 0), 200, np.random.default_rng(0))], 3
    )
    assert np.isfinite(result.elo).all()
    assert result.order()[0] == 0
    assert np.isnan(result.high).tolist() == [True, False, False]
    assert not np.isnan(result.low).any()
    assert result.elo[1:].mean() == pytest.approx(
        0
    )  # the two that beat each other have the zero, and both ends
    assert result.low[0] < result.elo[0] - 10  # 40 wins of 40 are not certainty


def test_agents_that_never_met_are_of_different_groups() -> None:
    rng = np.random.default_rng(5)
    parts = [won_by_odds(0, 1, (0, 0), 300, rng), won_by_odds(2, 3, (0, 0, 0, 0), 300, rng)]
    result = ratings(parts, 4)
    assert np.isfinite(result.elo).all()
    assert result.groups.tolist() == [0, 0, 1, 1]
    assert np.isnan(result.low).tolist() == [False, False, True, True]  # the zero lies in the first group


def test_a_circle_of_wins_bounds_all() -> None:
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 2] = wins[2, 0] = 3
    wins[2, 3] = 1
    zero = np.arange(3)
    without_low, without_high = open_ends(wins, zero)
    assert without_low.tolist() == [False, False, False, True]
    assert not without_high.any()
    wins[3, 0] = 1
    assert not np.any(open_ends(wins, zero))


def test_wins_over_agents_that_lose_to_everybody_bound_nothing() -> None:
    """Agent 3 beats only 4, so only the prior says how much weaker than the first three it is."""
    beaten = np.zeros((5, 5))
    beaten[:3, :3] = 5
    beaten[:3, 3:] = beaten[3, 4] = 10
    without_low, without_high = open_ends(beaten, np.arange(3))
    assert without_low.tolist() == [False, False, False, True, True]
    assert not without_high.any()
    without_low, without_high = open_ends(beaten.T, np.arange(3))
    assert without_high.tolist() == [False, False, False, True, True]
    assert not without_low.any()


def circle(deals: int, gain: float = 60.0) -> list[Outcome]:
    rng = np.random.default_rng(7)
    pairs = ((0, 1), (1, 2), (2, 0))
    return [
        drawn(pair, [gain if agent == pair[0] else 0 for agent in range(3)], deals, rng) for pair in pairs
    ]


def test_a_sure_circle_is_found_once() -> None:
    assert cycles(payoff_matrix(circle(200), 3)) == [(0, 1, 2)]
    turned = [replace(outcome, lineup=outcome.lineup[::-1]) for outcome in circle(200)]
    assert cycles(payoff_matrix(turned, 3)) == [(0, 2, 1)]


def test_an_unsure_circle_is_none() -> None:
    assert cycles(payoff_matrix(circle(4, gain=1.0), 3)) == []
    assert cycles(payoff_matrix([circle(200)[0]], 3)) == []


def test_alpha_rank_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "open_spiel.python.egt.alpharank", None)
    payoff = payoff_matrix(circle(200), 3)
    assert alpha_rank(payoff).masses is None
    assert "pip install" in alpha_rank(payoff).note
    assert "some have not met" in alpha_rank(payoff_matrix(circle(200)[:2], 3)).note


def test_alpha_rank_is_given_what_is_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def compute(tables: list[object], use_inf_alpha: bool) -> tuple[None, None, list[float]]:
        given.extend(tables)
        assert use_inf_alpha
        return None, None, [0.5, 0.25, 0.25]

    for name in (
        "open_spiel",
        "open_spiel.python",
        "open_spiel.python.egt",
        "open_spiel.python.egt.alpharank",
    ):
        module = ModuleType(name)
        module.compute = compute  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    outcomes = [*circle(200)[:2], outcome_of((2, 0), [[[1, 0], [0, 1]], [[0, 1], [0, 1]]])]
    result = alpha_rank(payoff_matrix(outcomes, 3))
    assert result.masses is not None
    assert result.masses.tolist() == [0.5, 0.25, 0.25]
    table = np.asarray(given[0])
    assert table[0, 2] == table[1, 1] == 0
    assert table[0, 1] == -table[1, 0] > 0


def test_alpha_rank_by_openspiel() -> None:
    pytest.importorskip("open_spiel.python.egt.alpharank")
    masses = alpha_rank(payoff_matrix(circle(200), 3)).masses
    assert masses == pytest.approx([1 / 3] * 3)
