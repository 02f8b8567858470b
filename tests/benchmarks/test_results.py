"""The rows of a throughput benchmark: stored, read back, printed, drawn; and what a missing package does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.others import Case, measure
from benchmarks.results import (
    OUR_LIBRARY,
    Measurement,
    Row,
    Skipped,
    environment_info,
    format_rate,
    load_results,
    print_table,
    save_bar_chart,
    save_results,
)
from tests.each import each

ROWS: list[Row] = [
    Measurement("slow", "Other", "2.0", 1, 640.4, 1.5),
    Measurement("fast", OUR_LIBRARY, "0.1.0", 4096, 8.24e6, 1.5, note="a note [in brackets]"),
    Skipped("other is not installed", "absent", "Other"),
]


def test_results_come_back_as_they_were_stored(tmp_path: Path) -> None:
    info = {**environment_info(), "comment": "für alle"}
    save_results(tmp_path / "new" / "results.json", ROWS, info)
    assert load_results(tmp_path / "new" / "results.json") == (ROWS, info)


@pytest.mark.parametrize("has_rich", [True, False])
def test_the_table_shows_every_row_fastest_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], has_rich: bool
) -> None:
    if has_rich:
        pytest.importorskip("rich")
    else:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    print_table(ROWS)
    printed = capsys.readouterr().out
    assert printed.index("8.2 M/s") < printed.index("640 /s") < printed.index("skipped")
    assert "a note [in brackets]" in printed
    assert "other is not installed" in printed


@each(
    ("rate", "text"),
    [
        (0.4, "0 /s"),
        (999.4, "999 /s"),
        (999.6, "1.0 k/s"),
        (52_345, "52.3 k/s"),
        (112_900, "113 k/s"),
        (999_600, "1.0 M/s"),
        (8_240_000, "8.2 M/s"),
        (1.5e9, "1.5 G/s"),
    ],
)
def test_rates_are_written_for_people(rate: float, text: str) -> None:
    assert format_rate(rate) == text


def test_a_chart_that_cannot_be_drawn_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no measurement"):
        save_bar_chart(tmp_path / "throughput.png", ROWS[2:])
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "matplotlib.figure is not installed" in save_bar_chart(tmp_path / "throughput.png", ROWS)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_skipped() -> None:
    case = Case("game", "Other", ("a-package-that-nobody-has",), build=lambda: lambda _seconds: 1)
    assert measure(case, 0.0) == Skipped("a-package-that-nobody-has is not installed", "game", "Other")


def test_decisions_are_divided_by_the_time_of_the_second_play() -> None:
    played: list[float] = []

    def play(seconds: float) -> int:
        played.append(seconds)
        return 100 * len(played)

    row = measure(Case("game", "Other", ("numpy",), lambda: play, batch=8, note="a note"), 0.5)
    assert isinstance(row, Measurement)
    assert played == [0.125, 0.5]
    assert row.agent_steps_per_second == pytest.approx(200 / row.seconds)
    assert (row.name, row.library, row.batch) == ("game", "Other", 8)
    assert row.note.startswith("a note; ")
