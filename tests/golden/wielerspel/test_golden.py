"""The recorded races come out the same, bit for bit."""

from __future__ import annotations

import pytest

from tests.golden.trace import changes_of, rounds_in
from tests.golden.wielerspel.trace import FOLDER, TABLES, Table, retraced

tables = pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])


def differences(table: Table, text: str) -> list[str]:
    """List the differences between the races of a file and their replays."""
    return [
        f"seed {seed}, {difference}"
        for seed, lines in rounds_in(text, "race")
        for difference in changes_of(lines, retraced(table, seed, lines))
    ]


def text_of(table: Table) -> str:
    assert table.path.exists(), f"{table.path.name}: run python tests/golden/wielerspel/record.py"
    return table.path.read_text(encoding="utf-8")


@tables
def test_the_recorded_races_come_out_the_same(table: Table) -> None:
    text = text_of(table)
    races = list(rounds_in(text, "race"))
    assert races
    for _, lines in races:
        assert sum(line.startswith("> ") for line in lines) >= 30
        assert any(line.startswith("  rewards") for line in lines)
    assert differences(table, text) == []


def test_the_recorded_races_show_every_decision() -> None:
    text = "".join(text_of(table) for table in TABLES)
    for phase in ("away", "exchange", "must pay", "must retire", "escape", "bid", "move"):
        assert f", {phase}: " in text


def test_no_file_is_of_a_table_that_there_is_not() -> None:
    assert set(FOLDER.glob("*.txt")) == {table.path for table in TABLES}


@pytest.mark.parametrize("line", ["  legal", "  sees", "  record", "  rewards", "  winner", "  energy"])
def test_a_difference_would_be_seen(line: str) -> None:
    """Each kind of line is compared: a changed one is named."""
    before, result, after = text_of(TABLES[0]).rpartition(f"\n{line} ")
    assert result
    assert len(differences(TABLES[0], f"{before}{result}9{after}")) == 1


def test_a_play_that_is_not_legal_any_more_is_named() -> None:
    before, result, after = text_of(TABLES[0]).rpartition(", bid: ")
    assert result
    changed = f"{before}, bid: keep\n{after.partition(chr(10))[2]}"
    assert "cannot be played any more" in differences(TABLES[0], changed)[0]
