"""`millebornes train`: runs the scripts of the checkout, and says where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from millebornes_env.__main__ import main
from millebornes_env._util.command_line import program
from tests.each import each

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script takes over the process, as `python -m` would."""
    monkeypatch.setattr(sys, "argv", ["millebornes"])
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_the_scripts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"]) == 0
    told = capsys.readouterr().out
    assert "usage: millebornes train SCRIPT" in told
    for file in (ROOT / "train").glob("*.py"):
        assert (f"  {file.stem} " in told) == (file.stem != "__init__")
    assert "  tools.average " in told
    assert "hand_games" not in told


def test_a_script_runs_with_its_own_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["train", "tools.average", "no_such_run", "nor_this", "--out", "average"]) == 2
    assert "no_such_run" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        main(["train", "selfplay", "--help"])
    assert "--run-dir" in capsys.readouterr().out


def test_a_script_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "self-play"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: there is no training script 'self-play'; the scripts are: cleanrl_ppo, ")


def test_a_library_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "train.selfplay", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["train", "selfplay"]) == 2
    told = capsys.readouterr().err
    assert told == (
        "error: train selfplay needs torch, which is not installed: pip install 'millebornes-env[train]'\n"
    )


@each(
    ("typed", "name"),
    [
        ("/usr/bin/millebornes", "millebornes"),
        ("/x/millebornes_env/__main__.py", "python -m millebornes_env"),
    ],
)
def test_help_names_what_was_typed(typed: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [typed, "arena"])
    assert program() == name
