"""Tests of `research.measurements.beliefs` and `belief_gain`: bits, reliability, turns that are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from research.intervals import mean_and_error
from research.measurements import belief_gain
from research.measurements.belief_gain import Args, check, compared, leads_of
from research.measurements.beliefs import Scores, calibration_error, clustered, plot, reliability, summary


def test_reliability_says_how_often_it_was_so() -> None:
    said = np.array([0.05, 0.05, 0.05, 0.05, 0.95, 1.0])
    holds = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    low, high = reliability(said, holds)
    assert low == {"times": 4, "said": pytest.approx(0.05), "was_so": 0.25}
    assert high == {"times": 2, "said": pytest.approx(0.975), "was_so": 1.0}
    assert calibration_error(said, holds) == pytest.approx((4 * 0.2 + 2 * 0.025) / 6)


def test_errors_are_those_of_rounds() -> None:
    """Decisions of a round that all say the same are one observation."""
    rounds = np.random.default_rng(1).normal(size=400)
    mean, error = clustered(np.repeat(rounds, 10), np.repeat(np.arange(400), 10))
    alone, error_alone = mean_and_error(rounds)
    assert mean == pytest.approx(alone)
    assert error == pytest.approx(error_alone, rel=0.01)


def test_a_summary_groups_decisions_by_the_cards_left() -> None:
    scores = Scores(
        bits=[1.0, 3.0, -1.0, 0.0],
        rounds=[0, 0, 1, 1],
        cards_left=[0, 20, 21, 90],
        milliseconds=[1.0] * 4,
        said=[0.5, 0.5],
        uniform=[0.1, 0.1],
        holds=[True, False],
        cards_left_then=[20, 90],
    )
    result = summary(scores)
    assert result["bits"] == pytest.approx(0.75)
    bits = {name: group["bits"] for name, group in result["by_cards_left"].items()}
    assert bits == {"none": 1.0, "1 to 20": 3.0, "21 to 40": -1.0, "more": 0.0}
    errors = {name: group["calibration_error"] for name, group in result["by_cards_left"].items()}
    assert errors == {"none": 0.0, "1 to 20": 0.5, "21 to 40": 0.0, "more": 0.5}
    uniform = result["by_cards_left"]["1 to 20"]["calibration_error_uniform"]
    assert uniform == pytest.approx(0.9)
    assert result["calibration_error"] == 0.0
    assert result["calibration_error_uniform"] == pytest.approx(0.4)
    assert result["brier"] == pytest.approx(0.25)
    assert plot({"somebody": result}).axes[0].get_ylabel() == "bits over uniform redeals"


QUICK = Args(
    rollout="greedy",
    belief="belief=network,rollouts=2,threads=1",
    uniform="belief=uniform,rollouts=2,threads=1",
    opponents=("random",),
    deals=25,
)


def test_turns_of_several_processes_are_those_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = compared("random", replace(QUICK, deals=50))
    for first in (0, 25):
        compared("random", replace(QUICK, first_deal=first, out=tmp_path / f"{first}.jsonl"))
    joined = tmp_path / "all.jsonl"
    joined.write_text("".join((tmp_path / f"{first}.jsonl").read_text() for first in (25, 0)))
    with monkeypatch.context() as patched:
        patched.setattr(belief_gain, "leads_of", None)  # nothing is played again
        result = compared("random", replace(QUICK, out=joined))
    assert {**result, "cost": 0.0} == {**whole, "cost": 0.0}
    assert result["deals"] == 50
    assert compared("random", replace(QUICK, out=joined, seed=2))["deals"] == 25  # another measurement
    assert len(joined.read_text().splitlines()) == 3


def test_a_damaged_turn_is_named(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text('{"first_deal": 0}\n')
    with pytest.raises(ValueError, match=r"turns.jsonl, line 1 is no turn .* remove that line"):
        compared("random", replace(QUICK, out=path))


def test_wins_are_measured_where_no_points_are_counted() -> None:
    leads, _ = leads_of("strategist", "random", replace(QUICK, edition="dujardin"), 0)
    assert set(leads) <= {-50.0, -25.0, 0.0, 25.0, 50.0}
    assert np.mean(leads) > 30
    with pytest.raises(ValueError, match="--aivat corrects points, and 'dujardin' counts none: omit it"):
        check(replace(QUICK, edition="dujardin", aivat=True))


@pytest.mark.parametrize("first", [-25, 10])
def test_deals_begin_with_a_turn(first: int) -> None:
    with pytest.raises(ValueError, match=f"--first-deal is {first}; it must be 0 or a multiple of 25"):
        check(replace(QUICK, first_deal=first))
