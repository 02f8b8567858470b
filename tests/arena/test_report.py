"""The report holds everything, in every form, and says what is not known."""

from __future__ import annotations

import dataclasses
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from millebornes_env._util.files import save_figure_atomically
from millebornes_env.arena.analysis import Analysis, analyse
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.pictures import draw_overview, draw_payoff, draw_ratings, signed
from millebornes_env.arena.report import (
    Grid,
    behaviour_grid,
    grids,
    luck_sentence,
    markdown,
    markdown_table,
    notes,
    payoff_grid,
    ratings_grid,
    to_json,
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


def test_payoff_cells_hold_the_half_width() -> None:
    result = analyse(("a", "b"), [outcome_of((0, 1), [[[9, 1]] * 2] * 50)], replicates=5)
    assert payoff_grid(result).rows[0][2:] == ("-", "+8\n± 0.00")


def test_an_undefined_saving_is_a_sentence() -> None:
    even = outcome_of((0, 1), [[[9, 1], [1, 9]]] * 3)
    sentence = notes(analyse(("a", "b"), [even], replicates=5))[1]
    assert sentence == "Variance reduction is undefined: all deals were tied."
    lost = outcome_of((0, 1), [[[9, 1], [9, 1]]] * 3)
    for measure in ("points", "wins"):
        result = analyse(("a", "b"), [lost], replicates=5, measure=measure)
        sentence = notes(result)[1]
        assert sentence == "Variance reduction is undefined: all deals ended with the same result."
    assert luck_sentence([]) == "Variance reduction is undefined: nothing was played."


def test_plain_deals_have_no_saving_by_duplicate_deals() -> None:
    one = outcome_of((0, 1), [[[9, 1], [1, 3]], [[5, 2], [1, 7]]] * 3)
    assert any("Duplicate deals" in note for note in notes(analyse(("a", "b"), [one], replicates=5)))
    plain = analyse(("a", "b"), [one], replicates=5, plain=True)
    assert not any("Duplicate deals" in note or "reduction" in note for note in notes(plain))
    assert plain.variance_reductions == {}


def test_what_weakens_the_figures_is_said() -> None:
    text = " ".join(notes(analysis(deals=5)))
    assert "fewer than 30 deals are too narrow" in text
    assert "2 groups that never met" in text
    assert "cheat has no bounds: it played no game that tells." in text


def test_missing_ends_of_ratings_have_a_reason() -> None:
    pairs = ((0, 1), (0, 2), (1, 2))
    lost = outcome_of((0, 1), [[[9, 1]] * 2] * 40)
    even = outcome_of((0, 1), [[[9, 1], [1, 9]]] * 40)
    beaten = outcome_of((1, 2), [[[1, 9]] * 2] * 40)
    one_lost = [lost, dataclasses.replace(even, lineup=(0, 2)), beaten]
    result = notes(analyse(("a", "b", "c"), one_lost, replicates=5))
    assert "b has no lower bound: it lost every game that tells." in result
    ladder = [dataclasses.replace(lost, lineup=pair) for pair in pairs]
    result = notes(analyse(("a", "b", "c"), ladder, replicates=5, anchor=1))
    assert "c has no lower bound: it lost every game that tells." in result
    assert "a has no upper bound: it won every game that tells." in result


def without_points(shares: object, deals: int = 60) -> Outcome:
    """Episodes without points; role 0 has those shares of the win, deal by deal in turn."""
    own = np.resize(np.array(shares, np.float64), (deals, 2))
    outcome = outcome_of((0, 1), np.zeros((deals, 2, 2)))
    return dataclasses.replace(outcome, wins=np.stack([own, 1 - own], axis=2))


def test_without_points_all_tables_show_wins() -> None:
    result = analyse(("a", "b"), [without_points([1, 1, 1, 0, 1, 1])], replicates=5, measure="wins")
    assert "points per round" not in ratings_grid(result).headings
    assert ratings_grid(result).title == "Ratings; wins against the field"
    grid = payoff_grid(result)
    assert grid.title == "Episodes won, %, row against column"
    assert grid.rows[0][3].startswith("83.3\n± ")
    assert grid.rows[1][2].startswith("16.7\n± ")
    text = " ".join(notes(result))
    assert "oints are those" not in text
    assert "plain deals would have needed" in text


def test_without_points_circles_are_found_by_wins() -> None:
    pairs = ((0, 1), (1, 2), (2, 0))
    outcomes = [dataclasses.replace(without_points([1, 1, 1, 0]), lineup=pair) for pair in pairs]
    names = ("a", "b", "c")
    result = analyse(names, outcomes, replicates=5, measure="wins")
    assert result.cycles == [(0, 1, 2)]
    assert any(
        "Significant cycles, which a rating cannot show: a > b > c > a." in note for note in notes(result)
    )
    assert analyse(names, outcomes, replicates=5).cycles == []  # all points are even


def test_a_terminal_shows_the_behaviour_that_differs() -> None:
    outcome = outcome_of((0, 1), [[[9, 1]] * 2] * 50)
    with_counters(outcome, 0, rounds=100, km=80_000, safe_trips=10)
    with_counters(outcome, 1, rounds=100, km=75_000, safe_trips=20)
    result = analyse(("a", "b"), [outcome], replicates=5)
    shown, left = behaviour_grid(result, only_differing=True), behaviour_grid(result)
    assert [row[0] for row in left.rows] == ["distance", "safe trip"]
    assert [row[0] for row in shown.rows] == ["safe trip"]
    assert shown.title == "Behaviour, where it differs by 20 % or more"
    assert [grid.title for grid in grids(result, brief=True)][-1] == shown.title
    assert [grid.title for grid in grids(result)][-1] == "Behaviour"


def test_the_overview_has_a_dot_for_every_rating_and_arrows_for_those_far_off() -> None:
    elo = np.array([[50.0, 40.0], [30.0, np.nan], [0.0, 0.0], [20.0, 10.0], [-9000.0, -800.0]])
    figure = draw_overview(["a", "b", "c", "d", "e"], ["parker, 2", "dutch, 2"], elo, "c")
    (axes,) = figure.axes
    drawn_points = dict.fromkeys("o<>", 0)
    for line in axes.lines:
        if line.get_marker() in drawn_points:
            drawn_points[str(line.get_marker())] += len(line.get_xdata())  # type: ignore[arg-type]
    assert drawn_points == {"o": 7, "<": 2, ">": 0}
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["parker, 2", "dutch, 2"]


def test_arrows_are_explained_where_there_are_some() -> None:
    even = outcome_of((0, 1), [[[9, 1], [1, 9]]] * 40)
    lost = outcome_of((0, 1), [[[9, 1]] * 2] * 40)
    for outcome, has_arrows in ((even, False), (lost, True)):
        result = analyse(("a", "b"), [outcome], replicates=5)
        assert ("arrow" in draw_ratings(("a", "b"), result.ratings).axes[0].get_xlabel()) == has_arrows
    for elo, has_arrows in (([[50.0], [0.0], [20.0]], False), ([[50.0], [0.0], [20.0], [-900.0]], True)):
        names = list("abcd")[: len(elo)]
        figure = draw_overview(names, ["parker, 2"], np.array(elo), "b")
        assert any("arrows" in text.get_text() for text in figure.texts) == has_arrows


def test_zero_has_no_sign_and_is_written_once_beside_the_colours() -> None:
    assert [signed(value) for value in (-0.4, 0.0, 0.4, 0.6, -1.2)] == ["0", "0", "0", "+1", "\u22121"]
    result = analyse(("a", "b"), [outcome_of((0, 1), [[[9, 1], [1, 9]]] * 40)], replicates=5)
    figure = draw_payoff(("a", "b"), result.payoff, [0, 1])
    figure.canvas.draw()
    ticks = [label.get_text() for label in figure.axes[1].get_yticklabels()]
    assert ticks.count("0") == 1
    assert "+0" not in ticks


def test_colours_end_at_the_leads_of_agents_that_have_met_and_the_heading_fits() -> None:
    lost = [outcome_of(pair, [[[9, 1], [1, 9]]] * 40) for pair in ((0, 2), (1, 2))]
    even = outcome_of((0, 1), [[[1, 1], [1, 1]]] * 40)
    for outcomes, is_clipped in (([even, *lost], True), (lost[:1], False)):
        payoff = analyse(("a", "b", "c"), outcomes, replicates=5).payoff
        figure = draw_payoff(("a", "b", "c"), payoff, [0, 1, 2], "a long name of a table, 2 players, matches")
        figure.canvas.draw()
        assert ("colours end" in figure.texts[1].get_text()) == is_clipped
        assert all(text.get_window_extent().x1 < figure.bbox.x1 for text in figure.texts)


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


def test_markdown_shows_names_as_they_are() -> None:
    table = markdown_table(Grid("t", ("agent", "1"), [("a|b_*", "+1\n± 2")]))
    assert table == "| agent | 1 |\n| --- | --: |\n| a\\|b\\_\\* | +1<br>± 2 |\n"
    text = markdown(analysis())
    assert text.count("## ") == len(grids(analysis())) + 1
    assert "- Not played: weak - cheat" in text


@pytest.mark.parametrize("agents", [2, 9])
def test_pictures_are_written(tmp_path: Path, agents: int) -> None:
    rng = np.random.default_rng(3)
    pairs = list(combinations(range(agents), 2))[:-1] or [(0, 1)]
    outcomes = [drawn(pair, rng.normal(0, 50, agents), 2, rng) for pair in pairs]
    names = [f"$agent_{agent}$" + "x" * 60 for agent in range(agents)]
    result = analyse(names, outcomes, replicates=5)
    save_figure_atomically(
        draw_payoff(names, result.payoff, result.ratings.order(), "parker"), tmp_path / "payoff.png"
    )
    save_figure_atomically(draw_ratings(names, result.ratings), tmp_path / "ratings.png")
    for name in ("payoff", "ratings"):
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
