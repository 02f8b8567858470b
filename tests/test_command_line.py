"""`python -m millebornes_env`: what it prints, and what it says to a slip of the pen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from millebornes_env import edition, editions
from millebornes_env.__main__ import main
from millebornes_env.millebornes.rules import Rules
from millebornes_env.notation import read_record, write_jsonl
from millebornes_env.render.editions import CHAPTERS, cell, fields_of, markdown, table_name
from tests.patience import SECONDS_OF_A_HANG


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def table_rows(text: str) -> dict[str, list[str]]:
    """The cells of each row, by what stands in its first column."""
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]
    return {row[0]: row[1:] for row in rows}


def test_all_editions_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "editions")
    assert table_rows(text)[""] == list(editions())
    for name in editions():
        assert f"{name}: {edition(name).title}" in text.replace("\n", " ")


def test_some_editions_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["dujardin", "dujardin_2014", "dujardin_classic", "dutch", "parker", "winning_moves"]
    rows = table_rows(printed(capsys, "editions", *names))
    assert rows[""] == names
    assert rows["start_needs_roll"] == ["no", "yes", "yes", "yes", "yes", "yes"]
    assert rows["points_extension_failed"] == ["-", "-", "200", "200", "200", "0"]
    assert rows["players:teams"][3] == "2, 3, 4:2, 6:2"


def test_every_rule_is_in_the_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    """In a row where editions differ, in the line below the table where they agree."""
    words = printed(capsys, "editions").replace("\n", " ").split(" ")
    assert set(Rules._fields) - {"players", "teams"} <= set(words)


def test_one_edition_is_described_with_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    rows = table_rows(printed(capsys, "editions", "dutch"))
    sheet = edition("dutch")
    for name in Rules._fields[2:]:
        assert rows[name][1:] == [cell(sheet, name), sheet.sources[name]]


def test_what_is_overridden_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    rows = table_rows(printed(capsys, "editions", "parker+max_200=4"))
    assert rows["max_200"][1:] == ["4", "overridden"]
    rows = table_rows(printed(capsys, "editions", "parker", "parker+max_200=4"))
    assert rows["max_200"] == ["2", "4"]


def test_a_sheet_in_a_file_is_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sheet = tmp_path / "mine.toml"
    shipped = Path(sys.modules["millebornes_env"].__file__ or "").parent / "millebornes/sheets/parker.toml"
    text = shipped.read_text(encoding="utf-8").replace('name = "parker"', 'name = "mine"')
    sheet.write_text(text.replace("hand_limit = { value = 6", "hand_limit = { value = 7"), encoding="utf-8")
    rows = table_rows(printed(capsys, "editions", "parker", str(sheet)))
    assert rows[""] == ["parker", "mine"]
    assert rows["hand_limit"] == ["6", "7"]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("ducth", ("there is no edition 'ducth'", "dutch")),
        ("parker+max_200", ("name=number",)),
        ("nowhere.toml", ("nowhere.toml", "No such file")),
    ],
)
def test_a_wrong_name_is_explained(
    capsys: pytest.CaptureFixture[str], name: str, parts: tuple[str, ...]
) -> None:
    message = complaint(capsys, "editions", name)
    assert message.startswith("error: ")
    assert all(part in message for part in parts)


def test_the_chapters_cover_every_rule_once() -> None:
    covered = [field for chapter in CHAPTERS for field in fields_of(chapter)]
    assert covered == list(Rules._fields[2:])


def test_tables_of_markdown_are_aligned() -> None:
    assert markdown([["a", "bb"], ["ccc", "d"]]) == ["| a   | bb |", "|-----|----|", "| ccc | d  |"]


def test_tables_have_short_names() -> None:
    assert [table_name(4, 4), table_name(6, 2)] == ["4", "6:2"]


def test_it_runs_as_a_module_and_stops_quietly_when_nobody_reads_on() -> None:
    command = f"{sys.executable} -m millebornes_env editions | head -1"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=True, timeout=SECONDS_OF_A_HANG
    )
    assert done.stdout.startswith("dujardin: ")
    assert done.stderr == ""


GAME = """
battle 0: roll
distance 0: 2x200 2x100 75
hand 0: 25 roll stop ...
hand 1: 25 ...
plays:
seat 0: 25
seat 0: finish
"""


def test_a_game_is_replayed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    file.write_text(GAME + "result: 1600 0\n", encoding="utf-8")
    text = printed(capsys, "replay", str(file))
    assert text.startswith("game 1: parker, 2 plays, all legal")
    assert "700 km" in text
    assert "trip completed     400       0" in text


def test_many_games_are_replayed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    write_jsonl(file, [read_record(GAME), read_record(GAME, edition="winning_moves")])
    text = printed(capsys, "replay", str(file))
    assert "game 1: parker, 2 plays" in text
    assert "game 2: winning_moves, 2 plays" in text


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (("seat 0: 25", "seat 0: 50"), ("line 7", "seat 0: 50", "does not hold 50", "It may: 25")),
        (("seat 0: finish", "seat 0: fnish"), ("line 8", "fnish", "finish")),
        (("roll stop", "rol stop"), ("line 4", "rol", "roll")),
        (("finish\n", "finish\nresult: 700 0\n"), ("the result of the record is 700 0", "1600 0")),
    ],
)
def test_a_wrong_game_is_explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: tuple[str, str], parts: tuple[str, ...]
) -> None:
    file = tmp_path / "game.txt"
    file.write_text(GAME.replace(*change), encoding="utf-8")
    message = complaint(capsys, "replay", str(file))
    for part in parts:
        assert part in message


def test_a_damaged_file_of_games_names_the_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    write_jsonl(file, [read_record(GAME)] * 2)
    file.write_bytes(file.read_bytes()[:-20])
    assert main(["replay", str(file)]) == 2
    captured = capsys.readouterr()
    assert "game 1" in captured.out
    assert f"{file}, line 2" in captured.err


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nowhere.txt" in complaint(capsys, "replay", "nowhere.txt")
