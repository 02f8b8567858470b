"""A comparison says who is better, by how much and how sure, or what it would take to know."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env.arena.evaluation import Result, few_deals_warning
from millebornes_env.arena.intervals import Interval
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.outcome import Outcome
from tests.arena.simulated import drawn, outcome_of


def of(outcome: Outcome, **config: object) -> Result:
    return Result("new", "old", MatchConfig(**config), outcome)  # type: ignore[arg-type]


def measured(strength: float, deals: int = 400) -> Result:
    return of(drawn((0, 1), (strength, 0), deals, np.random.default_rng(3)))


def test_who_is_better_by_how_much_and_how_sure() -> None:
    better, worse = measured(60), measured(-60)
    points, wins = better.points_per_round, better.win_rate
    assert isinstance(points, Interval)
    assert 0 < points.low < 60 < (points.high or 0)
    assert better.verdict() == (
        f"new is better than old: {points.mean:+.1f} points a round (95 %: {points.low:+.1f} to "
        f"{points.high:+.1f}), wins {100 * wins.mean:.1f} % of the matches (95 %: {100 * wins.low:.1f} to "
        f"{100 * (wins.high or 0):.1f}), 400 deals."
    )
    assert worse.verdict().startswith("new is worse than old: -")
    assert (better.sign, worse.sign) == (1, -1)


def test_no_difference_says_how_many_deals_a_smaller_one_takes() -> None:
    result = measured(0, 400)
    half = result.points_per_round.half_width
    assert 4 < half < 10
    verdict = result.verdict()
    assert verdict.startswith("No difference found between new and old: ")
    assert "to see one of 2 points a round you need some " in verdict
    deals = float(verdict.split()[-2].replace(",", ""))
    assert deals == pytest.approx(400 * ((1.96 + 0.84) * half / 1.96 / 2) ** 2, rel=0.1)


def test_points_and_wins_may_tell_against_each_other() -> None:
    rare = np.where(np.arange(200)[:, None, None] % 4 == 0, [900, 0], [0, 100]).repeat(2, axis=1)
    verdict = of(outcome_of((0, 1), rare)).verdict()
    assert verdict.startswith("new makes more points than old, but wins less often: +")
    swapped = of(outcome_of((0, 1), rare[..., ::-1])).verdict()
    assert swapped.startswith("old makes more points than new, but wins less often: -")


def test_without_points_it_speaks_of_wins() -> None:
    wins = (np.arange(300) % 3 > 0).astype(np.float64)
    outcome = outcome_of((0, 1), np.zeros((300, 2, 2)))
    shares = np.stack([wins, 1 - wins], axis=1)[:, None].repeat(2, axis=1)
    better = of(Outcome(**{**vars(outcome), "wins": shares}), edition="dujardin")
    assert better.points_per_round is None
    assert better.verdict().startswith("new is better than old: wins 66.7 % of the matches (95 %: ")
    even = of(Outcome(**{**vars(outcome), "wins": shares[::-1].copy() * 0 + [0.5, 0.5]}), edition="dujardin")
    assert even.verdict() == (
        "No difference found between new and old: wins 50.0 % of the matches (95 %: 50.0 to 50.0), 300 deals."
    )
    some = np.where(np.arange(300)[:, None, None] % 2 == 0, [1.0, 0.0], [0.0, 1.0]).repeat(2, axis=1)
    unknown = of(Outcome(**{**vars(outcome), "wins": some}), edition="dujardin")
    assert "to see one of 2 % of the wins you need some " in unknown.verdict()


def test_few_deals_are_told() -> None:
    assert "too narrow" in few_deals_warning(29)
    assert few_deals_warning(30) == ""
