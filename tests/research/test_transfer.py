"""Question 9: networks of one edition at the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env.arena.match import MatchConfig
from research.parts import Part, Record
from research.transfer import ALL, ALL_LONGER, AnyEdition, elo, matrix, measure, train, training_args

SMALL: dict[str, Any] = {"decisions": 400, "hidden": 4, "num_envs": 4, "deals": 4}
TWO = ["parker", "dutch"]


@pytest.fixture(scope="module")
def measured() -> Record:
    part = Part("seed-1", 1, {"editions": TWO, **SMALL})
    return Record(part, measure(part, lambda share: None), 1.0, 1.0)


def test_every_network_plays_every_edition_but_the_specialist_at_home(measured: Record) -> None:
    played = {network: set(result["played"]) for network, result in measured.result.items()}
    assert played == {"parker": {"dutch"}, "dutch": {"parker"}, ALL: set(TWO), ALL_LONGER: set(TWO)}
    learned = {network: result["decisions"] for network, result in measured.result.items()}
    assert learned[ALL_LONGER] >= 2 * SMALL["decisions"] > learned["parker"] >= SMALL["decisions"]


def test_a_specialist_plays_by_rules_that_it_does_not_know(tmp_path: Path) -> None:
    train(training_args(Part("x", 1, SMALL), ("parker",), 400), tmp_path)
    agent = AnyEdition(MatchConfig("dujardin", 2).table(), 1, str(tmp_path))
    assert agent.description["editions"] == ["parker"]
    assert not agent.input_spec.observation.rules


def record(seed: int, share: float) -> Record:
    met = {"share": share, "error": 0.02}
    result = {"a": {"decisions": 1, "played": {"b": met}}, "b": {"decisions": 1, "played": {"a": met}}}
    return Record(
        Part(f"seed-{seed}", seed, {"editions": ["a", "b"], **SMALL, "deals": 500}), result, 1.0, 1.0
    )


def test_elo_of_shares() -> None:
    assert elo(0.5, 100) == 0
    assert elo(0.4, 1e9) == pytest.approx(-70.4, abs=0.1)
    assert 300 < elo(1.0, 10) < 600  # all of ten matches: a lot, but finite
    assert elo(0.3, 50) == pytest.approx(-elo(0.7, 50))


def test_intervals_are_over_seeds_where_there_are_enough() -> None:
    result = matrix([record(1, 0.4)])
    assert result["a"]["a"].mean == 0
    assert result["a"]["b"].half_width == pytest.approx(1.96 * 0.02 * 400 / 2.302585 / 0.24, rel=1e-3)
    spread = matrix([record(seed, share) for seed, share in enumerate((0.3, 0.4, 0.5))])["a"]["b"]
    assert spread.low is not None
    assert spread.high is not None
    assert elo(0.3, 1000) <= spread.low < spread.mean < spread.high <= 0
    alike = matrix([record(seed, 0.4) for seed in range(3)])["a"]["b"]
    assert alike.half_width == pytest.approx(result["a"]["b"].half_width / np.sqrt(3))
