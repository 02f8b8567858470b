"""`python -m millebornes_env solve`: what it prints, what it refuses, runs that are stopped."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env.__main__ import main
from millebornes_env.solving import cfr_in_parts, memory, policies
from millebornes_env.solving.cfr import Solver
from tests.each import each

SMALL = "mini7+copies_of_roll=1+copies_of_stop=1"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["solve", *arguments]) == 0
    return capsys.readouterr().out


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["solve", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


def test_the_value_of_the_game(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A policy is written, and the agent of it is judged as good as it was said to be."""
    path = tmp_path / "policy.npz"
    text = printed(capsys, SMALL, "--until", "0.00001", "--out", str(path))
    assert "value of the game to seat 0" in text
    assert f"wrote {path}" in text
    row = printed(capsys, SMALL, f"equilibrium:file={path}", "random").splitlines()
    assert row[0].startswith("policy | exploitability | of the payoff range")
    assert row[2].startswith("random | ")
    assert float(row[1].split(" | ")[1]) < 0.1 < float(row[2].split(" | ")[1])
    _, exploited, _, value, first, second = row[2].split(" | ")
    assert (float(first) + float(second)) / 2 == pytest.approx(float(exploited), rel=1e-3)
    assert float(first) > float(value)


def test_a_small_deck_is_solved_out_and_a_large_one_says_how_sure_its_value_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = printed(capsys, "mini7")
    assert "seat 0, which begins: +26.507937 points, between +26.5079" in text
    monkeypatch.setattr("millebornes_env.cli.solve.DEFAULT_UNTIL", {16_204: 1e-4})  # it has one more
    text = printed(capsys, "mini7")
    result = re.search(r"begins: ([-+.\d]+) points, between ([-+.\d]+) and ([-+.\d]+); ", text)
    assert result is not None
    value, low, high = map(float, result.groups())
    assert low <= value <= high
    assert low < 1670 / 63 < high
    assert high - low > 1
    assert len(result[1]) == len("+24.0")  # no digits that are not sure


def test_how_large_a_game_is(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "mini7", "--count")
    assert text.startswith("mini7-v0: 4,795 chance nodes")
    assert "8,104 + 7,226 information sets; at most 4 actions; seat 0 wins -2,000 to +2,000" in text


def test_a_run_that_was_killed_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint is kept, and the same command goes on from there."""
    path = str(tmp_path / "run.npz")
    iterate = Solver._iterate

    def killed(solver: Any) -> None:
        if solver.iteration == 7:
            raise KeyboardInterrupt
        iterate(solver)

    monkeypatch.setattr(Solver, "_iterate", killed)
    assert main(["solve", SMALL, "--until", "0.001", "--checkpoint", path]) == 130
    assert "the same command continues from it" in capsys.readouterr().err
    monkeypatch.undo()
    text = printed(capsys, SMALL, "--until", "0.001", "--checkpoint", path)
    assert "continuing after 7 iterations" in text
    other = complaint(capsys, "mini7", "--checkpoint", path)
    assert other.startswith(f"error: {path} is a checkpoint of 'mini7-v0+")


def test_the_last_digits_of_a_value(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what pruning leaves of the game; the policy that is written is the one that was judged."""
    monkeypatch.setattr(cfr_in_parts, "WHOLE", 10)
    monkeypatch.setattr(cfr_in_parts, "TRUNK", 2)
    result, policy, run = (tmp_path / name for name in ("a.json", "policy.npz", "run.npz"))
    files = ("--json", str(result), "--checkpoint", str(run))
    printed(capsys, "mini7", "--until", "1e-2", *files)
    said = json.loads(result.read_text(encoding="utf-8"))
    assert "pruning" not in said["made_by"]
    printed(capsys, "mini7", "--until", "1e-9", *files, "--out", str(policy))
    said = json.loads(result.read_text(encoding="utf-8"))
    low, high = said["between"]
    assert high - low <= 8e-8
    assert low - 1e-7 < 1670 / 63 < high + 1e-7
    assert said["made_by"].endswith("on the pruned game")
    row = printed(capsys, "mini7", f"equilibrium:file={policy}").splitlines()[1]
    assert float(row.split(" | ")[-1]) < 1e-3  # rounded to steps of probability


def test_a_large_game_is_solved_in_parts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says the same, and writes it as JSON; where there is no memory for it, how much it would take."""
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    printed(capsys, SMALL, "--until", "0.01", "--json", str(one))
    monkeypatch.setattr(cfr_in_parts, "WHOLE", 4)
    run = ("--checkpoint", str(tmp_path / "run.npz"), "--json", str(other))
    assert f"wrote {other}" in printed(capsys, SMALL, "--until", "0.02", *run)
    assert "continuing after" in printed(capsys, SMALL, "--until", "0.01", *run)
    said = [json.loads(path.read_text(encoding="utf-8")) for path in (one, other)]
    assert said[0]["game"] == said[1]["game"]
    for name in ("value", "between"):
        assert said[0][name] == pytest.approx(said[1][name], abs=1)
    assert all(0 < one["of_range"] <= 0.01 / 100 for one in said)
    low, high = said[0]["between"]
    assert low <= said[0]["value"] <= high
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    assert "GiB of memory, and 0.0 GiB are free" in complaint(capsys, SMALL)


def test_a_full_disk_leaves_the_old_checkpoint_and_the_value_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.npz"
    printed(capsys, SMALL, "--checkpoint", str(path))
    before = path.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    assert main(["solve", SMALL, "--until", "0.001", "--checkpoint", str(path)]) == 2
    told = capsys.readouterr()
    assert "value of the game to seat 0" in told.out
    assert told.err == f"error: {path}: No space left on device\n"
    assert path.read_bytes() == before
    assert [file for file in tmp_path.iterdir() if file.suffix != ".lock"] == [path]


@each(
    ("arguments", "words"),
    [
        (("parker",), "101 cards and about"),
        (
            ("arc_en_ciel",),
            "the game 'wielerspel' has no solver of small tables, which the command solve",
        ),
        (("mini7", "--until", "nan"), "--until is nan"),
        (("mini7", "--threads", "0", "random"), "--threads is 0"),
        (("mini7", "random", "--out", "x.npz"), "leave them out when naming agents"),
        (("mini7", "--count", "--json", "x.json"), "leave them out when naming agents, and with --count"),
        (("mini7", "random", "--count"), "--count measures the deck"),
        (
            ("mini7", "--count", "--seed", "5"),
            "--seed is for the random choices of agents, and none are named",
        ),
        (("mini7", "--checkpoint", "x.npz", "--out", "./x.npz"), "name the same file"),
        (("mini7", "nobody"), "'nobody'"),
        (("mini12", "--out", "x.npz"), "--out: a policy of mini12-v0 is too large for a policy file"),
        (("mini7", "equilibrium:file=nowhere.npz"), "nowhere.npz"),
    ],
)
def test_what_makes_no_sense(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert words in complaint(capsys, *arguments)


def test_a_disk_that_is_full_at_the_end_costs_no_checkpoint(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on from there when there is room again."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    run, policy = str(tmp_path / "run.npz"), str(tmp_path / "policy.npz")
    monkeypatch.setattr(policies, "_write_arrays", full)
    said = complaint(capsys, SMALL, "--checkpoint", run, "--out", policy)
    assert "policy.npz" in said
    assert "No space left" in said
    monkeypatch.undo()
    assert "continuing after" in printed(capsys, SMALL, "--checkpoint", run, "--out", policy)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".run.npz.lock", "policy.npz", "run.npz"]


def test_an_agent_that_raises_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "failing.py"
    path.write_text(
        "class Failing:\n    name = 'failing'\n    def __init__(self, table, seed=0): pass\n"
        "    def act(self, observations, action_masks): raise RuntimeError('no weights')\n"
    )
    error = complaint(capsys, SMALL, f"{path}:Failing")
    assert "raised RuntimeError" in error
    assert "no weights; correct the agent" in error


def test_all_agents_are_loaded_before_the_heading(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", SMALL, "random", "nobody"]) == 2
    assert capsys.readouterr().out == ""


def test_only_the_deck_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["solve"])
    assert capsys.readouterr().err.endswith("required: deck\n")


@each("arguments", [("random",), ("--count",)])
@each("option", ["--until", "--minutes"])
def test_limits_without_solving_are_refused(
    arguments: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--until and --minutes are options for solving" in complaint(
        capsys, SMALL, *arguments, option, "3"
    )
