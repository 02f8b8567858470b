"""The rows of a throughput benchmark: stored, printed, drawn."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.results import (
    OUR_LIBRARY,
    Measurement,
    Row,
    Skipped,
    environment_info,
    format_rate,
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


def test_results_are_stored(tmp_path: Path) -> None:
    info = {**environment_info(), "comment": "für alle"}
    save_results(tmp_path / "new" / "results.json", ROWS, info)
    content = json.loads((tmp_path / "new" / "results.json").read_text(encoding="utf-8"))
    assert content["environment"] == info
    assert [Measurement(**row) for row in content["measurements"]] == ROWS[:2]
    assert [Skipped(**row) for row in content["skipped"]] == ROWS[2:]


def test_the_table_shows_every_row_fastest_first(capsys: pytest.CaptureFixture[str]) -> None:
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
