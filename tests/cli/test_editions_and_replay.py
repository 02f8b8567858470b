"""`python -m millebornes_env`: what it prints, and what it says to a slip of the pen."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import pytest

from millebornes_env import agents, edition, editions
from millebornes_env.__main__ import main
from millebornes_env.agents.options import defaults_of
from millebornes_env.cli import editions as own_editions
from millebornes_env.cli.editions import with_its_game
from millebornes_env.games import registry as games
from millebornes_env.games.wielerspel.editions import OVERRIDABLE
from millebornes_env.notation import Position, read_record, record_of, write_jsonl
from tests.each import each
from tests.patience import SECONDS_OF_A_HANG
from tests.race_players import decisions, new_race, sober


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


def test_tables_at_which_an_override_is_impossible_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Hands of 20 leave cards to draw at the smaller tables only."""
    rows = table_rows(printed(capsys, "editions", "parker+hand_limit=20"))
    assert rows["hand_limit"][1:] == ["20", "overridden"]
    tables = rows["players teams"][1]
    assert tables == "2, 3, 4:2"
    both = table_rows(printed(capsys, "editions", "parker", "parker+hand_limit=20"))["players:teams"]
    assert both[1] == tables != both[0]


def test_the_file_of_a_sheet_is_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("parker", "mini7", "arc_en_ciel"):
        (tmp_path / "own.toml").write_text(printed(capsys, "editions", name, "--toml"), encoding="utf-8")
        assert edition(tmp_path / "own.toml") == edition(name)
    for names, said in {
        (): "--toml prints the file of one sheet: name one",
        ("parker", "dutch"): "--toml prints the file of one sheet: name one",
        ("parker+max_200=3",): "leave out '+max_200=3'",
        ("parkr",): "Did you mean 'parker'?",
    }.items():
        assert said in complaint(capsys, "editions", *names, "--toml")


def test_a_rule_that_there_is_not_is_told_in_a_line_or_two(capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "editions", "parker+max_20=1")
    assert said.startswith("error: there is no rule 'max_20' to override. Did you mean 'max_200'? The ")
    assert len(said) < 300


def test_agents_are_listed_with_their_options_and_tables(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "agents")
    for name, maker in agents.AGENTS.items():
        assert f"\n{name} " in f"\n{text}"
        for option in defaults_of(maker):
            assert f" {option}=" in text
    few = printed(capsys, "agents", "holder", "bidder", "equilibrium")
    assert "every table of millebornes: `greedy` with patience" in few
    assert "pile=40 (0 to 1,000)" in few
    assert "every table of wielerspel" in few
    assert "the mini decks mini7-v0, mini8-v0, mini10-v0" in few
    assert "greedy " not in few.replace("`greedy`", "")
    assert "'all-3' plays every edition with 3 players" in printed(capsys, "agents", "champion")
    assert "there is no agent 'holde'. Did you mean 'holder'?" in complaint(capsys, "agents", "holde")


# Games of one's own, and the current folder.

GAME_FILE = """
from millebornes_env.games.registry import Game, SheetOfTables, register_game
from millebornes_env.games.millebornes.editions import edition
register_game(Game(
    name="mine", rulebook="millebornes_env.games.millebornes.rulebook",
    sheets=[SheetOfTables("mine", "ours", [edition("parker").table(2)])],
))
"""


@pytest.fixture
def own_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a game, in the current folder."""
    monkeypatch.setattr(games, "GAMES", dict(games.GAMES))
    monkeypatch.setattr(own_editions, "GAMES", games.GAMES)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "my_game", sys)  # so that it is put back afterwards ...
    del sys.modules["my_game"]  # ... and is not there before
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_game.py").write_text(GAME_FILE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "named", ["my_game:ours", "my_game.py:ours", "./my_game.py:ours", "{}/my_game.py:ours"]
)
def test_a_sheet_of_an_own_game_is_found(own_game: Path, named: str) -> None:
    sys.path.insert(0, str(own_game))
    assert with_its_game(named.format(own_game)) == "ours"
    assert edition("ours").game == "mine"


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("my_game.py", "name a sheet of the game, too, as my_game.py:SHEET; there are: ours"),
        ("my_gam.py:ours", "there is no file 'my_gam.py'. Did you mean 'my_game.py'?"),
        ("no_game:ours", "the module 'no_game' that should register its game cannot be imported"),
        ("broken.py:ours", "'broken.py' could not be imported: ZeroDivisionError: division by zero (line 1)"),
        ("folder.py:ours", "there is no file 'folder.py'"),
    ],
)
def test_a_game_that_is_not_there_is_told(
    own_game: Path, named: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (own_game / "broken.py").write_text("1 / 0", encoding="utf-8")
    (own_game / "folder.py").mkdir()
    for command in (
        ["editions"],
        ["solve"],
        ["export"],
        ["replay", "none.txt", "--edition"],
        ["arena", "a", "b", "--edition"],
    ):
        assert main([*command, named]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert f"edition is '{named}': " in printed.err
        assert said in printed.err


@pytest.mark.parametrize("is_safe", [False, True])
def test_the_console_script_imports_from_the_current_folder(
    is_safe: bool, own_game: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`python -m` puts the current folder first on the path; a script finds its own folder there."""
    monkeypatch.setattr(sys, "argv", ["/usr/bin/millebornes", "solve", "my_game:ours", "--count"])
    monkeypatch.setattr(
        sys, "path", ["/usr/bin", *(path for path in sys.path if path not in ("", os.getcwd()))]
    )
    flags = {name: getattr(sys.flags, name) for name in dir(sys.flags) if not name.startswith("_")}
    monkeypatch.setattr(sys, "flags", types.SimpleNamespace(**flags | {"safe_path": is_safe}))
    assert main() == 2
    wanted = "cannot be imported" if is_safe else "the game 'mine' has no solver of small tables"
    assert wanted in capsys.readouterr().err
    assert (str(own_game) in sys.path) is not is_safe


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


@each(
    ("change", "parts"),
    [
        (("seat 0: 25", "seat 0: 50"), ("line 7", "seat 0: 50", "the hand holds no 50 km", "It may: 25")),
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


# The race --------------------------------------------------------------------------------------------------


def test_a_board_is_described_with_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "editions", "arc_en_ciel+target_rainbows=5")
    sheet = edition("arc_en_ciel")
    rows = table_rows(text)
    for name in OVERRIDABLE:
        assert rows[name][2] == ("overridden" if name == "target_rainbows" else sheet.sources[name])
    assert rows["target_rainbows"][1] == "5"
    assert rows["combativity"][1] == "no"
    assert rows["players"][1:] == ["2 to 6", sheet.sources["players"]]
    for square, place in enumerate(sheet.rules.board):
        assert rows[str(square)][1] == (str(place.number) if place.number else "")
        assert rows[str(square)][3] == sheet.sources[f"board {square}"]
    assert rows["forced retirement"] == ["", "1", sheet.sources["deck 9"]]


def test_sheets_of_different_games_are_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    message = complaint(capsys, "editions", "parker", "arc_en_ciel")
    assert "'parker' of millebornes and 'arc_en_ciel' of wielerspel; name those of one" in message


def test_a_race_is_replayed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rules = edition("arc_en_ciel").table(3)
    actions = [action for _, action in decisions(rules, 1, sober)][:-1]
    start = new_race(rules, 1).reshape(1).view(np.recarray)
    record = record_of(Position(edition("arc_en_ciel"), rules, start), actions)
    write_jsonl(tmp_path / "games.jsonl", [record, read_record(GAME)])
    text = printed(capsys, "replay", str(tmp_path / "games.jsonl"))
    assert text.startswith(f"game 1: arc_en_ciel, {len(actions)} plays, all legal\nturn ")
    assert f"\nThe race is over.\nplayer_{record.winner} wins" in text
    assert "\ngame 2: parker, 2 plays, all legal\n" in text
    file = tmp_path / "race.txt"
    file.write_text(str(record).replace(": pass", ": escape", 1), encoding="utf-8")
    assert "the rules do not allow it now: the decision is 'bid'" in complaint(capsys, "replay", str(file))


# Streams and files that are not what they should be ---------------------------------------------------------


def ran(shell: str) -> subprocess.CompletedProcess[str]:
    """A command line of a shell in which `$RUN` is this program."""
    variables = os.environ | {"RUN": f"{sys.executable} -m millebornes_env"}
    return subprocess.run(
        ["bash", "-c", shell],
        capture_output=True,
        text=True,
        env=variables,
        timeout=SECONDS_OF_A_HANG,
        check=False,
    )


def test_it_runs_as_a_module_and_stops_quietly_when_nobody_reads_on() -> None:
    done = ran("set -o pipefail; $RUN editions | head -1")
    assert done.stdout.startswith("dujardin: ")
    assert (done.returncode, done.stderr) == (0, "")


def test_an_old_code_page_prints_escapes(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    file.write_text(GAME, encoding="utf-8")
    done = ran(f"PYTHONIOENCODING=ascii NUMBA_DISABLE_JIT=1 $RUN replay {file}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "coups fourr\\xe9s" in done.stdout


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("", ("Is a directory",)),
        ("nowhere.txt", ("nowhere.txt: No such file",)),
        ("binary.txt", ("binary.txt: it is not text in UTF-8", "byte 0xff at index 3")),
        ("utf-16.txt", ("utf-16.txt", "UTF-16; save it as UTF-8")),
        ("endless.txt", ("endless.txt: the file has more than 16,777,216 bytes",)),
        ("endless.jsonl", ("endless.jsonl, line 1: it has more than 16,777,216 bytes",)),
        ("blank.jsonl", ("blank.jsonl: it holds no game",)),
        ("a\0b", ("names no file",)),
        ("x" * 5000, ("File name too long",)),
        ("escape\x1b[2J", ("escape\\x1b[2J: No such file",)),
    ],
)
def test_a_file_that_is_no_game_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, parts: tuple[str, ...]
) -> None:
    (tmp_path / "binary.txt").write_bytes(b"abc\xff")
    (tmp_path / "blank.jsonl").write_text("\n\n")
    (tmp_path / "utf-16.txt").write_text(GAME, encoding="utf-16")
    for endless in ("endless.txt", "endless.jsonl"):
        (tmp_path / endless).symlink_to("/dev/zero")
    message = complaint(capsys, "replay", str(tmp_path / name))
    assert message.count("\n") == 1
    assert len(message) < 500
    for part in parts:
        assert part in message


def test_help_and_wrong_options_keep_their_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, code in ((["--help"], 0), (["nonsense"], 2), ([], 2)):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == code
    assert capsys.readouterr().out.startswith("usage: ")


def test_ctrl_c_while_a_command_is_imported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("importlib.import_module", interrupted)
    assert main(["play"]) == 130
    assert capsys.readouterr().err == "error: interrupted\n"


def test_a_closed_stream_is_replaced_so_that_no_file_takes_its_number() -> None:
    program = (
        "import os, sys\n"
        "from millebornes_env._util.command_line import run_command\n"
        "def command():\n"
        "    print('lost')\n"
        "    file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
        "    os.write(1, b'noise of a library')\n"
        "    return 7 if file > 2 else 8\n"
        "sys.exit(run_command(command, prints=False))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        done = subprocess.run(
            ["bash", "-c", '"$@" >&- 2>&- <&-', "bash", sys.executable, "-c", program, str(file)],
            capture_output=True,
            timeout=SECONDS_OF_A_HANG,
            check=False,
        )
        assert done.returncode == 7
        assert file.read_bytes() == b""
