"""Every figure in the prose of README and docs has a source."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from website import figures
from website.figures import Figure, figures_in, is_recorded

SOURCES = figures.load()
FOUND = figures.all_figures()
HOW = "; give it one: python -m website.figures --help"


def test_every_figure_has_a_source() -> None:
    missing = [f"{one.page}:{one.line}: {one.text}" for one in figures.without_source(FOUND, SOURCES)]
    assert not missing, f"no source: {missing}{HOW}"


def test_what_has_left_the_pages_has_left_the_list() -> None:
    assert figures.stale(FOUND, SOURCES) == []


def test_the_check_would_notice_a_new_figure() -> None:
    page = "docs/arena.md"
    text = (figures.ROOT / page).read_text(encoding="utf-8") + "\nIt wins 61.37 % of 77,123 games.\n"
    missing = figures.without_source(list(figures_in(page, text)), SOURCES)
    assert [one.text for one in missing] == ["61.37 %", "77,123"]


def test_an_entry_says_what_and_when() -> None:
    """Commands have a day, and are there to be run again."""
    for entry in SOURCES["figures"]:
        assert entry["source"].strip(), entry
        assert entry["figures"], entry
        commands = re.findall(r"python -m ([\w.]+)", entry["source"])
        assert all(importlib.util.find_spec(module) is not None for module in commands), entry
        assert not commands or re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", entry["date"]), entry


def test_recorded_files_are_there() -> None:
    for entry in SOURCES["recorded"]:
        assert all(figures.recorded_in(file) for file in entry["files"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It takes 12 ms, or 3.5 s.", ["12 ms", "3.5 s"]),
        ("won 58.1 ± 0.4 % of 20,000 matches", ["58.1", "0.4 %", "20,000"]),
        ("| 1.64x | -49 | .7 |", ["1.64 x", "49", ".7"]),
        ("8.7 million steps, 2.03 M rows", ["8.7 million", "2.03 M"]),
        ("two players, 12 agents, in 2026 and on 2026-11-22", []),
        ("a trip of 700 km, 106 cards, a batch of 4,096, 1,000 rounds", []),
        ("`--deals 77123`, [a page](page_58.1.md), E34, 000:219, rules 1.4, Python 3.11, NumPy 2.4.6", []),
        ("95 % intervals", []),
        ("```\n61.37\n```", []),
        ("<!-- table: written by python -m benchmarks.search --docs -->\n| 61.37 |\n<!-- end -->", []),
        ("Written by `python -m millebornes_env leaderboard`; do not edit. 61.37\n\n## More\n\n61.37", []),
    ],
)
def test_what_is_a_figure(text: str, found: list[str]) -> None:
    assert [one.text for one in figures_in("page.md", text)] == found


@pytest.mark.parametrize(
    ("text", "number", "is_the_same"),
    [
        ("8.71 million", 8_712_345.0, True),
        ("8.72 million", 8_712_345.0, False),
        ("58.1 %", 0.5812, True),
        ("58.1 %", 58.14, True),
        ("58.1 %", 5.81, False),
        ("122,835", 122834.9, True),
        ("54", 54.0, False),  # two digits are in every file
    ],
)
def test_what_is_recorded(text: str, number: float, is_the_same: bool) -> None:
    assert is_recorded(Figure("page.md", "", 1, text), [number]) == is_the_same


def test_the_command_enters_what_has_no_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    page, listed = tmp_path / "docs" / "new.md", tmp_path / figures.SOURCES
    page.write_text("# New\n\n## Speed\n\nIt makes 7.25 million steps.\n", encoding="utf-8")
    listed.write_text("", encoding="utf-8")
    assert figures.main([]) == 1
    assert "docs/new.md:5: 7.25 million has no source (section 'Speed')" in capsys.readouterr().out
    assert figures.main(["--source", "python -m benchmarks.throughput", "--date", "2026-11-22"]) == 0
    assert figures.main([]) == 0
    other = tmp_path / "docs" / "other.md"
    other.write_text("It takes 12.5 s.\n", encoding="utf-8")
    assert figures.main(["--source", "by hand", "--page", "docs/new.md"]) == 0
    assert figures.main([]) == 1
    other.unlink()
    page.write_text("# New\n\n## Speed\n\nIt makes 7.31 million steps.\n", encoding="utf-8")
    capsys.readouterr()
    assert figures.main([]) == 1
    assert "not there any more: docs/new.md, Speed: 7.25 million" in capsys.readouterr().out
    assert figures.main(["--source", "python -m benchmarks.throughput", "--date", "2026-11-23"]) == 0
    assert "7.25" not in listed.read_text(encoding="utf-8")
    assert figures.main([]) == 0
