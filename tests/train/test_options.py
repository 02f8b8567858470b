"""The trainers agree: in the names, the help and the defaults of their options, and in what a run leaves."""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from millebornes_env.arena.match import MatchConfig
from millebornes_env.cli.options import MatchArgs, match_config
from tests.each import each
from tests.train.short_runs import short
from train import exploit, maskable_ppo, selfplay
from train.common.options import TrainingOptions
from train.common.run_folder import FAILED_BATCH, RESPONSE_FILE, RUN_FILES

ROOT = Path(__file__).parents[2]
SCRIPTS = ("selfplay", "maskable_ppo", "exploit", "tools.average")


def defaults(args: type) -> dict[str, object]:
    """The default of each option that has one."""
    return {
        field.name: field.default
        for field in dataclasses.fields(args)
        if field.default is not dataclasses.MISSING
    }


def test_the_trainers_have_the_same_defaults() -> None:
    """But for how much is learned from at once, which each learner has its own best of."""
    shared = defaults(TrainingOptions)
    assert shared.items() <= defaults(selfplay.Args).items()
    theirs = defaults(maskable_ppo.Args)
    other = {name for name, value in shared.items() if theirs[name] != value}
    assert other == {"num_envs", "batch_size", "num_epochs", "ent_coef", "final_ent_coef"}


def test_a_best_response_is_trained_with_the_defaults_of_self_play() -> None:
    ours, theirs = defaults(exploit.Args), defaults(selfplay.Args)
    differ = {name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]}
    assert differ == {"total_timesteps", "run_dir", "edition"}
    assert (
        ours["edition"] == selfplay.Args().sheets[0] == "parker"
    )  # one sheet here, as many as one likes there


@each("script", SCRIPTS)
def test_every_option_has_its_sentence(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = importlib.import_module(f"train.{script}")
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(sys, "argv", [f"somewhere/{script.replace('.', '/')}.py", "--help"])
    with pytest.raises(SystemExit) as stop:
        module.main()
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: python -m train.{script} ")
    words = re.sub(r"[\s│]+", " ", shown)
    for field in dataclasses.fields(module.Args):
        name = field.name.replace("_", "-")
        option = rf" --{name}( [^ ]+|, --no-{name}) "
        pattern = {"agent": " AGENT ", "folders": r" FOLDER \.\.\. "}.get(name, option)
        result = re.search(pattern + r"(?!\(|--)\w+", words)
        assert result, f"--{name} is not explained"


@pytest.mark.parametrize("trainer", ["selfplay", "maskable_ppo"])
def test_a_run_leaves_the_files_that_are_listed(trainer: str, tmp_path: Path) -> None:
    args = short(tmp_path / "run", total_timesteps=1500, eval_seconds=0.01, eval_deals=2)
    if trainer == "selfplay":
        selfplay.train(args)
    else:
        shared = {field.name: getattr(args, field.name) for field in dataclasses.fields(TrainingOptions)}
        maskable_ppo.train(maskable_ppo.Args(**shared))
    listed = {name.rstrip("/") for names in RUN_FILES for name in names}
    assert set(os.listdir(tmp_path / "run")) == listed - {FAILED_BATCH, RESPONSE_FILE}


def test_the_page_lists_the_same_files() -> None:
    page = (ROOT / "docs" / "agents" / "training.md").read_text(encoding="utf-8")
    rows = [f"| {', '.join(f'`{name}`' for name in names)} | {what} |\n" for names, what in RUN_FILES.items()]
    assert "| file | what it holds |\n|---|---|\n" + "".join(rows) + "\n" in page


def test_ctrl_c_while_pytorch_is_imported(tmp_path: Path) -> None:
    """A package in the place of PyTorch sends the signal while it is imported."""
    (tmp_path / "torch.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nraise RuntimeError('it goes on')\n",
        encoding="utf-8",
    )
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "train.selfplay"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")


def test_importing_the_package_leaves_signals_alone() -> None:
    """Only a script that is being started has them. In a process of its own: tests set their signals."""
    program = "import signal, train\nassert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_teams_that_are_not_the_usual_ones(tmp_path: Path) -> None:
    """`dujardin` seats four each for itself; as partners by --teams, and the run folder then says so."""
    selfplay.train(short(tmp_path, edition=("dujardin",), players=4, teams=2))
    assert MatchConfig("dujardin", 4).rules.teams == 4
    assert match_config(MatchArgs(), [str(tmp_path)]).rules.teams == 2
    assert match_config(MatchArgs(edition="parker"), [str(tmp_path)]).teams is None  # as usual there
    assert match_config(MatchArgs(teams=4), [str(tmp_path)]).rules.teams == 4
