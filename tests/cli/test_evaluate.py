"""An evaluation: fair by rotation, exact in its figures, reproducible, and clear about what is wrong."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import millebornes_env._util.files
from millebornes_env import agents, vector_env
from millebornes_env.arena.evaluation import evaluate, save_results
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.cli.evaluate import main
from tests.agents.policies import network_for, write_run


def test_intervals_are_1_96_standard_errors_of_the_blocks() -> None:
    outcome = play(["holder", "greedy"], MatchConfig(), 20)
    (row,) = evaluate("holder", ["greedy"], MatchConfig(), 20)
    assert (row.num_episodes, row.num_deals) == (40, 20)
    for values, figures in ((outcome.lead, row.points_per_episode), (outcome.wins[..., 0], row.win_rate)):
        means = [(values[number, 0] + values[number, 1]) / 2 for number in range(20)]
        mean = sum(means) / 20
        variance = sum((value - mean) ** 2 for value in means) / 19
        half = 1.96 * math.sqrt(variance / 20)
        assert half > 0
        assert figures == pytest.approx((mean, mean - half, mean + half))


def figures(agent: str, opponents: list[str], *arguments: Any, **options: Any) -> list[dict[str, Any]]:
    """Return the results of an evaluation without the time that it took."""
    results = evaluate(agent, opponents, *arguments, **options)
    return [{**result.as_json(), "seconds": 0.0} for result in results]


def test_results_are_reproducible() -> None:
    both = figures("greedy", ["random", "holder"], deals=15)
    assert both == figures("greedy", ["random", "holder"], deals=15)
    assert both[1:] == figures("greedy", ["holder"], deals=15)  # no result depends on those before it
    assert both != figures("greedy", ["random", "holder"], MatchConfig(seed=2), 15)
    one, *others = (
        figures("greedy", ["holder"], MatchConfig(players=3), 10, batch_size=size) for size in (4096, 13, 3)
    )
    assert others == [one, one]


def test_saved_results(tmp_path: Path) -> None:
    results = evaluate("greedy", ["random", "holder:pile=8"], deals=1)
    path = tmp_path / "new" / "results.json"
    save_results(path, results, {"seed": 1, "comment": "für alle"})
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["results"] == [result.as_json() for result in results]
    assert content["config"] == {"seed": 1, "comment": "für alle"}
    assert {"python", "numpy", "numba"} <= set(content["versions"])
    assert content["created"].endswith("+00:00")


def test_the_command_prints_a_table_and_writes_both_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["holder:pile=8", "--against", "greedy", "random", "--players", "3", "--deals", "4"]
    assert main([*arguments, "--out", str(tmp_path / "found.png")]) == 0
    printed = capsys.readouterr()
    for word in ("holder:pile=8", "greedy", "random", "parker, 3 players", "in all other teams", "33.3 %"):
        assert word in printed.out
    content = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert [(one["agent"], one["opponent"], one["num_episodes"]) for one in content["results"]] == [
        ("holder:pile=8", "greedy", 12),
        ("holder:pile=8", "random", 12),
    ]
    assert (content["config"]["teams"], content["config"]["deals"]) == (3, 4)
    assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in tmp_path.iterdir()} == {"found.json", "found.png"}


# A full disk, a folder that cannot be written to.


def test_what_cannot_be_written_has_been_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    out = tmp_path / "file" / "found"
    assert main(["holder", "--against", "greedy", "--deals", "1", "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert "win rate" in printed.out
    assert printed.err.splitlines() == [
        f"warning: could not write the picture {out}.png (File exists)",
        f"error: could not write {out}.json (File exists); choose another path with --out",
    ]


def test_a_picture_that_cannot_be_drawn_costs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("no font\nat all")

    monkeypatch.setattr("millebornes_env.arena.evaluation.new_figure", fail)
    arguments = ["holder", "--against", "greedy", "--deals", "1", "--out", str(tmp_path / "found")]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert "win rate" in printed.out
    assert printed.out.endswith(f"wrote {tmp_path / 'found'}.json\n")
    path = tmp_path / "found.png"
    assert printed.err == f"warning: no picture {path}: plotting it failed (RuntimeError: no font at all)\n"
    monkeypatch.setattr("millebornes_env.arena.evaluation.new_figure", millebornes_env._util.files.new_figure)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(arguments) == 0
    assert "is not installed (pip install 'millebornes-env[arena]')" in capsys.readouterr().err


def test_pictures_need_no_backend(tmp_path: Path) -> None:
    """A notebook's kernel sets MPLBACKEND for the processes that it starts."""
    script = (
        "import os, sys, pathlib; from millebornes_env._util.files import new_figure, save_picture;"
        "problem = save_picture(pathlib.Path(sys.argv[1]), lambda: new_figure(1, 1));"
        "sys.exit(problem or os.environ['MPLBACKEND'] != 'module://there.is.none')"
    )
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "drawn.png")],
        env={**os.environ, "MPLBACKEND": "module://there.is.none"},
        cwd=Path(millebornes_env._util.files.__file__).parents[2],
        check=True,
    )
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new" / "file.txt"
    millebornes_env._util.files.write_text_atomically(path, "first\n")

    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="the disk is full"):
            millebornes_env._util.files.write_text_atomically(path, "second\n")
    assert path.read_bytes() == b"first\n"
    assert list(path.parent.iterdir()) == [path]


# Run folders.


@pytest.mark.parametrize("inside", [True, False])
def test_a_run_folder_is_evaluated_at_its_own_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("greedy") if inside else tmp_path / "runs" / "a,b=c"  # names that could mean something else
    env = vector_env(1, players=3)
    write_run(folder, env, network_for(env, ()))
    assert main(["--run-dir", str(folder), "--deals", "1"]) == 0
    content = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    assert [one["opponent"] for one in content["results"]] == ["random", "greedy", "holder"]
    assert content["config"]["players"] == 3
    assert (folder / "evaluation.png").exists()


# Stopped, or an agent that breaks the rules.


def test_what_was_finished_is_printed_when_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stopped(agents.RandomAgent):
        decisions = 0

        def act(self, *batch: np.ndarray) -> np.ndarray:
            Stopped.decisions += 1
            if Stopped.decisions > 5:
                raise KeyboardInterrupt
            return super().act(*batch)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(agents.AGENTS, "stopped", Stopped)
    assert main(["greedy", "--against", "holder", "stopped", "--deals", "1"]) == 130
    printed = capsys.readouterr()
    assert "holder" in printed.out
    assert "stopped; no file was written" in printed.err
    assert list(tmp_path.iterdir()) == []


class FailingAgent:
    """Raises at its first decision."""

    name = "failing"

    def __init__(self, table: Any, seed: int = 0) -> None:
        pass

    def act(self, observations: Any, action_masks: Any) -> Any:
        raise IndexError("row 5")


def test_an_agent_that_raises_at_its_first_decision_is_named() -> None:
    with pytest.raises(ValueError, match="'failing' cannot play: it raised IndexError: row 5"):
        evaluate(FailingAgent(vector_env(1)), ["greedy"], deals=1)
