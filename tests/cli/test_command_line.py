"""Errors around a command: one sentence and the usual exit code, and written files stay."""

from __future__ import annotations

import errno
import importlib
import io
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import millebornes_env.arena.tournament
from millebornes_env.__main__ import PLAYING, module_of
from millebornes_env._util.command_line import run_command
from tests.each import each
from train.common.runs import per_second

EVALUATE = ["greedy", "--against", "random", "--deals", "1", "--episode", "round"]
ARENA = ["greedy", "random", "--deals", "20", "--episode", "round", "--out", "here"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def one_sentence(text: str) -> str:
    """The only line of stderr, which is a complaint."""
    lines = text.splitlines()
    assert len(lines) == 1, text
    assert lines[0].startswith("error: ")
    return lines[0]


def raising(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


@each(
    ("error", "exit_code", "words"),
    [
        (ValueError("wrong\n  number"), 2, "wrong number"),
        (KeyError("name"), None, "name"),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            2,
            "standard output could not be written: No space",
        ),
        (OSError(errno.ENOSPC, "No space left on device", "a/b.json"), 2, "a/b.json: No space left"),
        (PermissionError(errno.EACCES, "Permission denied", "a", None, "b"), 2, "a and b: Permission denied"),
        (
            MemoryError("Unable to allocate 4 TiB"),
            2,
            "not enough memory for what was asked (Unable to allocate 4",
        ),
        (MemoryError(), 2, "not enough memory"),
        (KeyboardInterrupt(), 130, "stopped; go on"),
    ],
)
def test_errors_become_a_sentence(
    error: BaseException, exit_code: int | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if exit_code is None:  # a defect of ours keeps its traceback
        with pytest.raises(type(error)):
            run_command(raising(error))
        return
    assert run_command(raising(error), stopped="stopped; go on with --resume") == exit_code
    assert words in one_sentence(capsys.readouterr().err)


@each(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_have_their_exit_code(name: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        signal.raise_signal(getattr(signal, name))
        return 0

    assert run_command(command, stopped="stopped; go on with --resume") == code
    assert one_sentence(capsys.readouterr().err) == "error: stopped; go on with --resume"


def test_a_stdout_that_is_full_is_told_and_given_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run_command(lambda: print("found") or 0) == 2
        print("more")  # goes nowhere: closing would else raise
    assert "standard output could not be written: No space left" in one_sentence(capsys.readouterr().err)


def test_a_closed_stdout_is_told_before_the_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[int] = []
    monkeypatch.setattr(sys, "stdout", None)
    assert run_command(lambda: done.append(1) or 0) == 2
    assert "standard output is closed" in one_sentence(capsys.readouterr().err)
    assert done == []


def test_a_closed_stdout_does_not_stop_what_is_written_to_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert run_command(lambda: print("found") or 0, prints=False) == 0


def test_a_closed_or_full_stderr_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        for stream in (None, full):
            monkeypatch.setattr(sys, "stderr", stream)
            assert run_command(raising(ValueError("wrong"))) == 2


def test_rates_have_digits_that_mean_something() -> None:
    rates = [0.31, 4.04, 27.8, 278, 999.6, 1234, 12_345, 464_000, 999_600, 1_234_000, 23_000_000]
    assert [per_second(rate) for rate in rates] == [
        *("0.3/s", "4.0/s", "28/s", "278/s", "1.00 k/s", "1.23 k/s", "12.3 k/s", "464 k/s"),
        *("1.00 M/s", "1.23 M/s", "23.0 M/s"),
    ]


def run(name: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Call a command as the shell would, in this process."""
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    module = module_of(name) if name in PLAYING else f"train.{name}"
    result: int = importlib.import_module(module).main()
    return result


def test_nobody_can_answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run("play", ["--terminal", "--against", "greedy"], monkeypatch) == 2
    assert "standard input is closed: no answers can be read" in one_sentence(capsys.readouterr().err)


def test_play_ends_with_its_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert run("play", ["--terminal", "--against", "greedy"], monkeypatch) == 130
    assert "Goodbye." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "arguments", "files"),
    [
        ("evaluate", [*EVALUATE, "--out", "here/found"], ("found.json", "found.png")),
        ("arena", ARENA, ("arena.json", "report.md", "payoff.png", "tournament.json")),
    ],
)
def test_a_full_stdout_costs_no_file(
    name: str,
    arguments: list[str],
    files: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with open("/dev/full", "w", encoding="utf-8", buffering=1) as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run(name, arguments, monkeypatch) == 2
    assert "standard output could not be written" in capsys.readouterr().err.splitlines()[-1]
    assert all((Path("here") / file).stat().st_size for file in files)


def stopping(number: int, real: Callable[..., Any]) -> Callable[..., Any]:
    """`real`, which a signal breaks into at its second call."""
    calls: list[int] = []

    def stops(*arguments: object, **options: object) -> object:
        calls.append(1)
        if len(calls) > 1:
            signal.raise_signal(number)
        return real(*arguments, **options)

    return stops


def test_a_stopped_arena_keeps_what_was_played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            millebornes_env.arena.tournament,
            "play",
            stopping(signal.SIGTERM, millebornes_env.arena.tournament.play),
        )
        assert run("arena", ARENA, monkeypatch) == 143
    printed = capsys.readouterr()
    assert "Ratings" in printed.out
    assert "the results so far are in here: give the same command again to continue" in printed.err
    assert len(list(Path("here/lineups").glob("*.npz"))) == 1
    assert run("arena", ARENA, monkeypatch) == 0
