"""The report holds everything, in every form, and says what is not known."""

from __future__ import annotations

import io
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from millebornes_env.arena.analysis import Analysis, analyse
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.pictures import LONGEST_NAME, save_payoff, save_ratings, shown_name
from millebornes_env.arena.report import (
    Grid,
    behaviour_grid,
    fault_lines,
    grids,
    markdown,
    markdown_table,
    notes,
    payoff_grid,
    ratings_grid,
    rich_table,
    to_json,
    variance_reduction_sentence,
)
from tests.arena.simulated import drawn, outcome_of, with_counters

NAMES = ("weak", "a|b [x]", "policy:runs/" + "long_" * 12, "cheat")


def analysis(deals: int = 60, **options: object) -> Analysis:
    rng = np.random.default_rng(0)
    strengths = (-80.0, 0.0, 70.0)
    outcomes = [drawn(lineup, strengths, deals, rng) for lineup in combinations(range(3), 2)]
    with_counters(outcomes[0], 0, rounds=4, points=1000, km=1200)
    faulty = Outcome.faulty((0, 3), "cheat chose Stop, which is illegal")
    return analyse(NAMES, [*outcomes, faulty], replicates=20, **options)  # type: ignore[arg-type]


def test_agents_stand_in_the_order_of_their_ratings() -> None:
    found = analysis()
    assert [row[1] for row in ratings_grid(found).rows[:1]] == [NAMES[2]]
    order = [row[1] for row in payoff_grid(found).rows]
    assert order.index(NAMES[2]) < order.index(NAMES[1]) < order.index(NAMES[0])
    assert list(behaviour_grid(found).headings[2:]) == order


def test_unplayed_cells_hold_a_dash() -> None:
    grid = payoff_grid(analysis())
    cheat = next(row for row in grid.rows if row[1] == "cheat")
    assert set(cheat[2:]) == {"-"}


def test_payoff_cells_hold_the_half_width() -> None:
    found = analyse(("a", "b"), [outcome_of((0, 1), [[[9, 1]] * 2] * 50)], replicates=5)
    assert payoff_grid(found).rows[0][2:] == ("-", "+8\n± 0.00")


def test_statistics_that_nobody_has_are_left_out() -> None:
    headings = {row[0] for row in behaviour_grid(analysis()).rows}
    assert {"points", "distance"} <= headings
    assert "extension won" not in headings


def test_a_measured_saving_is_a_sentence() -> None:
    sentence = variance_reduction_sentence(analysis().variance_reductions)
    assert sentence.startswith("Duplicate deals, measured: plain deals would have needed ")
    assert "(median of 3 lineups, from " in sentence


def test_an_undefined_saving_is_a_sentence() -> None:
    even = outcome_of((0, 1), [[[9, 1], [1, 9]]] * 3)
    sentence = variance_reduction_sentence(analyse(("a", "b"), [even], replicates=5).variance_reductions)
    assert sentence == (
        "What was saved is not defined: every deal ended even over its rotations: "
        "a variance of 0 makes no ratio."
    )
    assert variance_reduction_sentence({}) == "What was saved is not defined: nothing was played."


def test_faults_are_listed() -> None:
    found = analysis()
    assert fault_lines(found) == ["Not played: weak - cheat: cheat chose Stop, which is illegal"]
    assert fault_lines(found)[0] in notes(found)


def test_what_weakens_the_figures_is_said() -> None:
    text = " ".join(notes(analysis(deals=5)))
    assert "fewer than 30 deals are too narrow" in text
    assert "2 groups that never met" in text
    assert "No games bound the ratings of " in text


def test_circles_are_named() -> None:
    rng = np.random.default_rng(1)
    pairs = ((0, 1), (1, 2), (2, 0))
    outcomes = [drawn(pair, [90 * (agent == pair[0]) for agent in range(3)], 100, rng) for pair in pairs]
    found = analyse(("a", "b", "c"), outcomes, replicates=5)
    assert any("a > b > c > a" in note for note in notes(found))


def test_json_holds_no_nan_and_everything() -> None:
    content = json.loads(json.dumps(to_json(analysis()), allow_nan=False))
    assert content["payoff"]["points"][0][3] is None
    assert content["payoff"]["points"][0][1] == -content["payoff"]["points"][1][0]
    assert content["totals"][3]["points"] == {"mean": None, "low": None, "high": None}
    assert content["ratings"]["order"][0] == 2
    assert content["behaviour"]["weak"]["points_per_round"] == 250
    assert set(content["statistics"]) == set(content["behaviour"]["weak"])
    assert content["variance_reductions"][0]["lineup"] == ["weak", "a|b [x]"]
    assert content["faults"] == [{"lineup": ["weak", "cheat"], "fault": "cheat chose Stop, which is illegal"}]


def test_luck_is_reported_where_it_was_taken_off() -> None:
    rng = np.random.default_rng(2)
    variates = rng.normal(0, 1, (50, 2, 1, 2))
    points = np.round(40 * variates[:, :, 0] + rng.normal(0, 30, (50, 2, 2)))
    outcome = outcome_of((0, 1), points, variates=variates)
    found = analyse(("a", "b"), [outcome], replicates=5, coefficients=np.array([40.0]))
    assert any(note.startswith("Luck was taken off the points, measured") for note in notes(found))
    assert to_json(found)["control_variate_reductions"][0]["ratio"] > 1.5


def test_markdown_shows_names_as_they_are() -> None:
    table = markdown_table(Grid("t", ("agent", "1"), [("a|b_*", "+1\n± 2")]))
    assert table == "| agent | 1 |\n| --- | --: |\n| a\\|b\\_\\* | +1<br>± 2 |\n"
    text = markdown(analysis(), level=3)
    assert text.count("### ") == len(grids(analysis())) + 1
    assert "- Not played: weak - cheat" in text


def test_tables_can_be_printed() -> None:
    out = io.StringIO()
    console = Console(file=out, width=200)
    for grid in grids(analysis()):
        console.print(rich_table(grid))
    assert "a|b [x]" in out.getvalue()


@pytest.mark.parametrize("agents", [2, 9])
def test_pictures_are_written(tmp_path: Path, agents: int) -> None:
    rng = np.random.default_rng(3)
    pairs = list(combinations(range(agents), 2))[:-1] or [(0, 1)]
    outcomes = [drawn(pair, rng.normal(0, 50, agents), 2, rng) for pair in pairs]
    names = [f"$agent_{agent}$" + "x" * 60 for agent in range(agents)]
    found = analyse(names, outcomes, replicates=5)
    save_payoff(tmp_path / "payoff.png", names, found.payoff, found.ratings.order(), "parker")
    save_ratings(tmp_path / "ratings.png", names, found.ratings)
    for name in ("payoff", "ratings"):
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_long_names_lose_their_middle() -> None:
    assert shown_name("x" * LONGEST_NAME) == "x" * LONGEST_NAME
    shown = shown_name("policy:" + "y" * 60 + "end")
    assert len(shown) <= LONGEST_NAME
    assert shown.startswith("policy:")
    assert shown.endswith("end")
    assert shown_name("$x") == r"\$x"
