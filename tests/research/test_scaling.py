"""Question 10: what search gains by the millisecond."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from millebornes_env._util.files import new_figure
from research.frame import main
from research.parts import Part, Record
from research.scaling import NAIVE, QUESTION, SURE, gains, measure, plot, tables


def record(family: str, options: str, points: Sequence[float], ms: float | None, seed: int = 1) -> Record:
    config = {"over": "greedy", "family": family, "options": options}
    result = {"points": list(points)} | ({} if ms is None else {"ms": ms})
    return Record(Part("x", seed, config), result, 1.0, 1.0)


def test_naive_search_loses_points_and_sure_search_does_not() -> None:
    result = {}
    for family, text in ((NAIVE, "rollouts=4,z=0"), (SURE, "rollouts=4,z=4")):
        part = Part(
            "x", 1, {"over": "greedy", "family": family, "searcher": "", "options": text, "deals": 20}
        )
        result[family] = Record(part, measure(part, lambda share: None), 1.0, 1.0)
    naive, sure = gains(list(result.values()))
    assert naive.points.high is not None
    assert sure.points.low is not None
    assert naive.points.high < 0
    assert naive.points.high < sure.points.mean
    assert naive.ms is not None
    assert naive.ms > 0
    assert result[NAIVE].result["playouts"] > 4


def test_seeds_are_taken_together_and_cheats_are_not_timed() -> None:
    result = gains([record(NAIVE, "z=0", [0, 10], 1.0), record(NAIVE, "z=0", [20, 30], 3.0, 2)])
    assert (result[0].deals, result[0].points.mean, result[0].ms) == (4, 15.0, 2.0)
    cheat = record("sees all cards", "sees=all", [500, 600], None)
    assert tables([cheat])[0].rows[0][-1] == ""
    figure = new_figure(8.0, 4.5)
    plot(figure, [record(NAIVE, "z=0", [0, 10], 1.0), cheat])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [NAIVE, "sees all cards"]


def test_wrong_options_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for options, said in (
        (["--rollouts", "1"], "--rollouts 1: give numbers of 2 or more"),
        (["--others", "30", "0"], "--others 30 0: give numbers of 2 or more"),
        (["--over", "human"], "compiled agent"),
        (["--over", "nobody"], "nobody"),
    ):
        assert main(QUESTION, options) == 2
        error = capsys.readouterr().err
        assert said in error
        assert "Traceback" not in error
