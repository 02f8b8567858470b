"""The audit's script: everything happens at every table, no law is broken, and one that is gets reported."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import edition
from millebornes_env.engine.numba.compiling import IS_COMPILED
from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.games.millebornes.editions import editions
from millebornes_env.games.millebornes.rules import PLAY_OUT
from millebornes_env.testing.audited_play import play_kernels
from millebornes_env.testing.millebornes import random_play
from tests.laws import audit as script

TABLES = [(name, *table) for name in editions() for table in edition(name).tables]


def quiet(**options: Any) -> script.Args:
    return script.Args(**{"seed": 5, **options})


def test_everything_happens_at_every_table_and_breaks_no_law(tmp_path: Path) -> None:
    """Claims, extensions, empty piles, hands played out, shut-outs, whole matches."""
    steps = 40_000 * len(TABLES) if IS_COMPILED else 40 * len(TABLES)
    report = script.audit(quiet(steps=steps, out=tmp_path / "audit.json"))
    assert [(row["edition"], row["players"], row["teams"]) for row in report["tables"]] == TABLES
    assert report["total"]["violations"] == 0
    if not IS_COMPILED:
        return
    for row in report["tables"]:
        rules = edition(row["edition"]).table(row["players"], row["teams"])
        assert min(row[name] for name in ("games", "rounds", "matches", "claims", "empty_piles")) > 0
        assert (row["extensions"] > 0) == (rules.extended_target > 0)
        after_extension = rules.play_out_after_extension == 1 and rules.extended_target > 0
        assert (row["play_outs"] > 0) == (rules.when_pile_is_empty == PLAY_OUT or after_extension)
        assert row["shutouts"] > 0, (row["edition"], row["players"])


def run_script(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["audit", *arguments])
    with pytest.raises(SystemExit) as left:
        script.main()
    return int(left.value.code or 0)


def test_the_script_prints_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "audit.json"
    monkeypatch.setattr(script, "ROOT", tmp_path)
    assert run_script(monkeypatch, "--steps", "20000", "--out", str(out), "--docs") == 0
    printed = capsys.readouterr().out
    saved = json.loads(out.read_text(encoding="utf-8"))
    assert saved["finished"]
    assert saved["command"] == "python -m tests.laws.audit --steps 20000 --seed 1"
    assert saved["total"]["steps"] >= 20_000
    assert saved["environment"]["numba"]
    assert "0 violations in" in printed
    assert printed.count("parker") == 4
    assert json.loads((tmp_path / "docs" / "benchmarks" / "audit.json").read_text()) == saved
    assert "**0 violations**" in (tmp_path / "research" / "notes" / "audit.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_no_figure(tmp_path: Path, threads: int) -> None:
    options = {"steps": 8_000, "edition": ("parker", "dujardin"), "out": tmp_path / "audit.json"}
    one, other = (script.audit(quiet(**options, threads=count)) for count in (1, threads))
    for row, same in zip(one["tables"], other["tables"], strict=True):
        assert [row[name] for name in random_play.COUNTS] == [same[name] for name in random_play.COUNTS]


def test_a_violation_is_reported_and_the_rest_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kilometre card that was not laid, put into one game of each table."""
    kernels = play_kernels(random_play)

    def tampered(play: Any, rules: Any, steps: int) -> None:
        kernels.play_on(play, rules, min(steps, 20))
        if steps > 20:
            play.states["km"][1, 0] += 25
            kernels.play_on(play, rules, steps - 20)

    monkeypatch.setattr(script, "play_kernels", lambda hooks: kernels._replace(play_on=tampered))
    out = tmp_path / "audit.json"
    assert run_script(monkeypatch, "--steps", "6000", "--edition", "dutch", "--out", str(out)) == 1
    printed = capsys.readouterr().out
    result = "VIOLATION: dutch, 3 players in 3 teams, seed 1, game 1, step 21, seat "
    assert result in printed
    assert "km is not the sum of the distance cards" in printed
    assert "4 violations in" in printed
    assert "violation_dutch_3_3_0.npy" in printed
    states = np.load(tmp_path / "violation_dutch_3_3_0.npy")
    assert states.shape == (2,)
    assert first_violation(states, edition("dutch").table(3)) == (
        0,
        "km is not the sum of the distance cards",
    )
    assert json.loads(out.read_text())["total"]["steps"] >= 6_000


def test_ctrl_c_prints_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(self: Any, bar: Any) -> None:
        monkeypatch.setattr(script.Run, "_show", lambda self, bar: None)
        raise KeyboardInterrupt

    monkeypatch.setattr(script.Run, "_show", interrupt)
    report = script.audit(quiet(steps=1e9, edition=("parker",), out=tmp_path / "audit.json"))
    assert not report["finished"]
    assert 0 < report["total"]["steps"] < 1e9
    assert "stopped before the end" in capsys.readouterr().out
