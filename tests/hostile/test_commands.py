"""Command lines that make no sense: the commands say so, exit with 2, and write nothing."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from millebornes_env.__main__ import module_of

NUMBERS = ("x", "", "nan", "-1", "1e3", "9" * 5000, "\ud800")
WHOLE = (*NUMBERS, "1.5", "0x10")
EDITIONS = (
    *("", "no_such", "parker+", "parker+goal", "parker+goal=x", "parker+goal=1+goal=2", "parker+players=3"),
    *("no.toml", "parker+stop=5", "x" * 5000, "a\0b", "../parker", "parker+goal=" + "9" * 5000),
)
AGENTS = (
    *("", "no_such", "holder:pile=x", "holder:pile=-1", "holder:hole=1", "runs/none", ":", "+search"),
    *("policy:", "policy:none", "human+search", "search:z=x", "x" * 5000, "a\0b", "greedy:x=1"),
    "champion:which=x",
)
EPISODES = ("", "x", "Match", "1")
SEEDS = (*WHOLE, "18446744073709551616")
FEW = ("x", "nan", "-1", "1.5")
"""For options that another command reads in the same way."""
TEAMS = ("x", "", "0", "-1", "3", "99")
PLAYERS = (*WHOLE, "0", "5", "99")


def with_options(*before: str, **options: Sequence[str]) -> list[Sequence[str]]:
    """Command lines with one option each."""
    return [[*before, f"--{name}", value] for name, values in options.items() for value in values]


COMMANDS: dict[str, list[Sequence[str]]] = {
    "millebornes_env": [
        *([], ["x"], ["editions", "--x"], ["replay"], ["replay", "none.txt"], ["replay", "."]),
        *(["replay", "empty.txt"], ["replay", "binary.txt"], ["replay", "binary.jsonl"], ["replay", "a\0b"]),
        *with_options("replay", "empty.txt", edition=EDITIONS),
        *(["editions", edition] for edition in EDITIONS),
    ],
    "evaluate": [
        *([], ["--x"], ["greedy", "greedy"]),
        *([agent] for agent in AGENTS),
        *with_options("greedy", against=AGENTS, edition=EDITIONS, players=PLAYERS, deals=(*WHOLE, "0")),
        *with_options("greedy", teams=TEAMS, threads=(*WHOLE, "0"), seed=SEEDS, episode=EPISODES),
    ],
    "arena": [
        *([], ["--x"], ["greedy"], ["greedy", "greedy"], ["greedy", "random", "--anchor", "holder"]),
        *(["greedy", agent, "--deals", "1"] for agent in AGENTS),
        *with_options("greedy", "random", edition=EDITIONS[:4], players=FEW, teams=TEAMS, seed=FEW),
        *with_options("greedy", "random", deals=(*FEW, "0"), threads=(*FEW, "0"), episode=EPISODES),
        *with_options("greedy", "random", until=("", "x", "-1", "nan", "0")),
    ],
    "play": [
        *(["--x"], ["x"]),
        *with_options(against=AGENTS, edition=EDITIONS, players=PLAYERS, seed=SEEDS, episode=EPISODES),
    ],
}
"""The arguments of each command, all wrong."""


def complaint_about(
    main: str, arguments: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: object
) -> str | None:
    """Return a fault in a command's handling of its arguments; None if there is none."""
    before = sorted(folder.rglob("*"))
    monkeypatch.setattr(sys, "argv", [main, *arguments])
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    name = "millebornes_env.__main__" if main == "millebornes_env" else module_of(main)
    try:
        code = importlib.import_module(name).main()
    except SystemExit as end:  # as argparse and tyro end
        code = end.code
    assert isinstance(capsys, pytest.CaptureFixture)
    told = capsys.readouterr().err.strip()
    last = told.splitlines()[-1:]
    if code != 2 or not told or "Traceback" in told:
        return f"code {code}: {told[-500:]}"
    if last[0].startswith("error: ") and len(last[0]) >= 2000:
        return f"{len(last[0])} letters"
    return None if sorted(folder.rglob("*")) == before else "it wrote files"


@pytest.mark.parametrize("command", COMMANDS)
def test_command_lines_that_make_no_sense(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if command != "millebornes_env":
        pytest.importorskip("tyro")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").touch()
    for name in ("binary.txt", "binary.jsonl"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n\0")
    failures = []
    for arguments in COMMANDS[command]:
        problem = complaint_about(command, arguments, tmp_path, monkeypatch, capsys)
        if problem is not None:
            failures.append(f"{' '.join(arguments)[:60]!r}: {problem}")
    assert not failures, "\n".join(failures)
