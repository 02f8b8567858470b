"""Match-win probability: properties known without playing, and a table against many simulated matches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env.arena.match import MatchConfig
from train.common.match_win_prob import RunError, match_win_prob, match_win_prob_table, score_distribution


def rules() -> Any:
    return MatchConfig("parker", 2).rules


@pytest.fixture(scope="module")
def samples() -> np.ndarray:  # type: ignore[type-arg]
    return score_distribution(MatchConfig("parker", 2, episode="round"), deals=1000)


@pytest.fixture(scope="module")
def table(samples: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return match_win_prob_table(samples, rules())


def test_more_points_are_never_worse(table: np.ndarray) -> None:  # type: ignore[type-arg]
    assert (np.diff(table, axis=0) > -5e-3).all()
    assert (np.diff(table, axis=1) < 5e-3).all()
    assert table[-1, 0] > 0.99


def test_the_table_is_that_of_matches_played_with_its_rounds(samples: np.ndarray, table: np.ndarray) -> None:  # type: ignore[type-arg]
    rng = np.random.default_rng(1)
    start = (4000, 3500)
    won, goal = [], rules().goal
    for _ in range(4000):
        own, other = start
        while max(own, other) < goal:
            gain, loss = samples[rng.integers(len(samples))]
            own, other = own + int(gain), other + int(loss)
        won.append(0.5 if own == other else float(own > other))
    result = match_win_prob(table, np.array([start[0]]), np.array([start[1]]))[0]
    assert result == pytest.approx(np.mean(won), abs=4 * 0.5 / np.sqrt(len(won)))


def test_a_fixed_gain_decides_a_match_at_once() -> None:
    goal = rules().goal
    always_first = np.array([[goal, 0], [0, goal]])
    half = match_win_prob_table(always_first, rules())
    assert half == pytest.approx(0.5)


def test_tables_without_two_teams_or_points_are_refused() -> None:
    with pytest.raises(RunError, match="3 teams"):
        score_distribution(MatchConfig("parker", 3, episode="round"))
    with pytest.raises(RunError, match="counts none"):
        score_distribution(MatchConfig("dujardin", 2, episode="round"))
