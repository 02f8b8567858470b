"""The recorded rounds come out the same: compiled, in plain Python and with every index checked."""

from __future__ import annotations

import pytest

from millebornes_env import Edition, edition, editions
from tests.each import each
from tests.golden.trace import FOLDER, changes_of, dealt, file_of, position_lines, retraced, rounds_in

TABLES = [(edition(name), *table) for name in editions() for table in edition(name).tables]
IDS = [file_of(*table).stem for table in TABLES]

tables = each("sheet, players, teams", TABLES)


def differences(text: str) -> list[str]:
    """Return the differences between a file's rounds and the replayed ones."""
    return [
        f"seed {seed}, {difference}"
        for seed, lines in rounds_in(text)
        for difference in changes_of(lines, retraced(lines))
    ]


@tables
def test_every_table_has_golden_games(sheet: Edition, players: int, teams: int) -> None:
    """At least two rounds; `python tests/golden/record.py` records what is missing."""
    path = file_of(sheet, players, teams)
    assert path.exists(), f"{path.name} is missing: run python tests/golden/record.py"
    rounds = list(rounds_in(path.read_text(encoding="utf-8")))
    assert len(rounds) >= 2
    for _, lines in rounds:
        assert sum(line.startswith("> ") for line in lines) >= 10
        assert any("rewards" in line for line in lines)


def test_no_file_is_of_a_table_that_there_is_not() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(IDS)


@tables
def test_the_recorded_rounds_come_out_the_same(sheet: Edition, players: int, teams: int) -> None:
    assert differences(file_of(sheet, players, teams).read_text(encoding="utf-8")) == []


@tables
def test_the_recorded_seeds_deal_the_same_positions(sheet: Edition, players: int, teams: int) -> None:
    for seed, lines in rounds_in(file_of(sheet, players, teams).read_text(encoding="utf-8")):
        first_play = next(number for number, line in enumerate(lines) if line.startswith("> "))
        assert position_lines(dealt(sheet, players, teams, seed), sheet) == lines[:first_play]


@pytest.mark.parametrize("line", ["  legal", "  sees", "  record", "  rewards", "  winner", "  +"])
def test_a_difference_would_be_seen(line: str) -> None:
    """Each kind of line is compared: a changed one is named."""
    before, result, after = file_of(*TABLES[0]).read_text(encoding="utf-8").rpartition(f"\n{line} ")
    assert result
    assert len(differences(f"{before}{result}9{after}")) == 1
