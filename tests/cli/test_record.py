"""`millebornes record`: what it writes and says, and what is left of a run that was killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from millebornes_env.arena.recording import check, open_data
from millebornes_env.cli import record
from millebornes_env.cli.record import main
from tests.each import each
from tests.patience import SECONDS_OF_A_HANG

KILLED = """
import os, signal, sys
from millebornes_env.arena.recording import folder

written = []
real = folder.write_bytes_atomically


def dies(path, content):
    if len(written) == 3:  # a file of rounds is half on the disk
        (path.parent / f".{path.name}.{os.getpid()}-00000000.tmp").write_bytes(b"PAR1 half of it")
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(path)
    return real(path, content)


folder.write_bytes_atomically = dies
from millebornes_env.cli.record import main

main(sys.argv[1:])
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_records_and_checks(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["greedy", "random", "--rounds", "12", "--rounds-per-file", "5", "--out", "data", "--seed", "7"]
    assert main(line) == 0
    said, wrote = capsys.readouterr().out.splitlines()
    assert said.startswith("12 rounds, ")
    assert said.endswith(" bytes a decision")
    assert wrote == "wrote data"
    card = Path("data/README.md").read_text(encoding="utf-8")
    assert "millebornes record greedy random --rounds 12" in card
    assert main(["--check", "--out", "data"]) == 0
    assert capsys.readouterr().out.endswith("; every row agrees with the game\n")


def test_a_killed_run_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["greedy", "--rounds", "20", "--rounds-per-file", "5", "--threads", "1", "--out"]
    program = [sys.executable, "-c", KILLED, *line, "killed"]
    done = subprocess.run(program, capture_output=True, timeout=SECONDS_OF_A_HANG, check=False)
    assert done.returncode == -9, done.stderr
    assert len(list(Path("killed/rounds").glob(".*.tmp"))) == 1
    assert open_data("killed").rounds == (5,)
    assert main([*line, "killed"]) == 0
    assert not list(Path("killed/rounds").glob(".*.tmp"))
    assert main([*line, "whole"]) == 0
    for table in ("decisions", "rounds"):
        result, wanted = (sorted(Path(name, table).iterdir()) for name in ("killed", "whole"))
        assert [path.read_bytes() for path in result] == [path.read_bytes() for path in wanted]
    assert check("killed").rounds == (5, 5, 5, 5)
    capsys.readouterr()


def test_ctrl_c_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(record, "record", interrupted)
    assert main(["greedy", "--out", "data"]) == 130
    assert capsys.readouterr().err == "error: stopped; there is no recording in data\n"
    Path("data").mkdir()
    Path("data/recording.json").touch()
    assert main(["greedy", "--out", "data"]) == 130
    assert capsys.readouterr().err.endswith(
        "written files are complete; give the same command again to continue\n"
    )


@each(
    ("line", "reason"),
    [
        (["--out", "data"], "name the agents, such as"),
        (["gredy", "--out", "data"], "there is no agent 'gredy'"),
        (["greedy", "--rounds", "4", "--out", "/dev/null/data"], "/dev/null/data: Not a directory"),
        (
            ["greedy", "--check", "--out", "data", "--rounds", "9", "--hidden", "--rounds-per-file", "4"],
            "--check replays the folder as it was recorded: leave out agents, --rounds, --hidden, --rounds",
        ),
        (["--check", "--out", "data"], "there is no recording in this folder"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    line: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert said.startswith("error: ")
    assert said.count("\n") == 1


def test_who_sees_hidden_cards_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "from millebornes_env.agents import GreedyAgent\nclass Peeks(GreedyAgent): sees_hidden_cards = True\n"
    )
    Path("peeks.py").write_text(text, encoding="utf-8")
    line = ["./peeks.py:Peeks", "--rounds", "2", "--out", "data"]
    assert main(line) == 2
    assert (
        "sees hidden cards, which is not allowed unless --allow-cheating is given" in capsys.readouterr().err
    )
    assert main([*line, "--allow-cheating"]) == 0
    assert ", which sees hidden cards" in Path("data/README.md").read_text(encoding="utf-8")
