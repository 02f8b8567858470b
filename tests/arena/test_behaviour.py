"""Every statistic by hand, from counts."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env.arena.behaviour import behaviour, counts_of
from millebornes_env.arena.millebornes import counters as millebornes
from millebornes_env.arena.millebornes.counters import NUM_COUNTERS, STATISTICS, hazard_actions, index_of
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.statistics import Counts
from millebornes_env.games.millebornes.actions import play_action
from millebornes_env.games.millebornes.cards import ACCIDENT, SPEED_LIMIT, STOP
from tests.arena.simulated import outcome_of
from tests.each import each


def counts(actions: dict[int, int] | None = None, **named: int) -> Counts:
    counters = np.zeros(NUM_COUNTERS, np.int64)
    for action, count in (actions or {}).items():
        counters[action] = count
    for name, count in named.items():
        counters[index_of(name)] = count
    return Counts(counters, millebornes)


def test_there_are_many_statistics_and_no_two_of_one_name() -> None:
    keys = [statistic.key for statistic in STATISTICS]
    assert len(keys) == len(set(keys)) >= 20


def test_nothing_counted_is_nothing_known() -> None:
    assert set(behaviour(counts()).values()) == {None}


@each(
    ("key", "value"),
    [
        ("points_per_round", 150),
        ("rounds_won", 50),
        ("trips_completed", 25),
        ("safe_trips", 12.5),
        ("km_per_round", 75),
        ("extensions_called", 25),
        ("extensions_won", 50),
        ("shut_out", 12.5),
        ("safeties_per_round", 0.5),
        ("coups_fourres_per_round", 0.25),
        ("two_hundreds_per_round", 0.125),
        ("rounds_per_episode", 4),
        ("episodes_won", 50),
        ("episodes_won_starting", 100),
        ("starters_advantage", 300 / 2 - 900 / 6),
        ("rounds_won_starting", 50),
        ("trips_completed_starting", 50),
        ("trips_completed_not_starting", 100 / 6),
        ("delayed_actions", 0),
    ],
)
def test_what_came_of_rounds(key: str, value: float) -> None:
    known = counts(
        **{"rounds": 8, "started": 2, "round_wins": 4, "points": 1200, "trips_completed": 2},
        **{"trips_completed_starting": 1, "safe_trips": 1, "km": 600, "extensions_called": 2},
        **{"extensions_won": 1, "shut_out": 1, "safeties": 4, "coups_fourres": 2, "two_hundreds": 1},
        **{"episodes": 2, "episode_wins": 1, "episodes_started": 1, "episodes_won_starting": 1},
        **{"points_starting": 300, "round_wins_starting": 1},
    )
    assert behaviour(known)[key] == pytest.approx(value)


@each(
    ("key", "value"),
    [
        ("decisions", (3 + 3 + 3 + 4 + 11 + 3 + 4) / 2),
        ("distances", 1.5),
        ("hazards", (2 + 1 + 1 + 2) / 2),
        ("hazards_stop", (2 + 1) / 2),
        ("hazards_accident", 0.5),
        ("hazards_on_next_team", 50),
        ("hazards_on_second_team", 100 / 6),
        ("hazards_on_third_team", 200 / 6),
        ("remedies", 2),
        ("discards", 11 / 2),
        ("discards_distances", 3),
        ("discards_safeties", 2.5),
        ("discards_hazards", 0),
        ("coups_fourres_claimed", 200 / 3),
        ("extensions_taken", 75),
    ],
)
def test_what_was_chosen(key: str, value: float) -> None:
    laid = {0: 3, 5: 1, 8: 2, 45: 1, 51: 2, 10: 4}  # 25 km, Accident, Stop twice, Speed Limit, Repairs
    others = {19: 6, 37: 5, 38: 2, 39: 1, 40: 3, 41: 1}  # discards, coup fourré or not, extension or not
    assert behaviour(counts({**laid, **others}, rounds=2))[key] == pytest.approx(value)


def test_the_spread_is_that_of_the_points() -> None:
    points = [0, 700, 1250, 300]
    known = counts(rounds=4, points=sum(points), points_squared=sum(point**2 for point in points))
    assert behaviour(known)["points_spread"] == pytest.approx(np.std(points, ddof=1))
    assert behaviour(counts(rounds=1, points=5, points_squared=25))["points_spread"] is None


def test_hazards_have_the_ids_of_the_rulebook() -> None:
    for opponent in range(3):
        expected = [play_action(card, opponent) for card in range(ACCIDENT, SPEED_LIMIT + 1)]
        assert hazard_actions(range(ACCIDENT, SPEED_LIMIT + 1), [opponent]) == expected
    assert hazard_actions([STOP]) == [8, 45, 50]


def test_roles_and_lineups_of_an_agent_are_added_up() -> None:
    one, two = outcome_of((0, 0, 1), [[[0, 0, 0]] * 3]), outcome_of((1, 0, 2), [[[0, 0, 0]] * 3])
    one.counters[:, index_of("rounds")] = [1, 2, 4]
    two.counters[:, index_of("rounds")] = [8, 16, 32]
    outcomes = [one, two, Outcome.faulty((0, 1, 2), "raised")]
    assert [counts_of(outcomes, agent)["rounds"] for agent in range(3)] == [19, 12, 32]
