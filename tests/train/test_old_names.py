"""Runs that were begun before options were renamed go on; the old names are refused with the new ones."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path

import pytest

from train import exploit, maskable_ppo, selfplay
from train.common import checkpoints, runs
from train.common.checkpoints import RunError, recorded_config
from train.common.options import OLD_NAMES, refuse_old_options

OLD_RUN = Path(__file__).parent / "old_run"
MAIN = {"selfplay": selfplay.main, "maskable_ppo": maskable_ppo.main, "exploit": exploit.main}


def resumed(folder: Path, **changes: object) -> selfplay.Args:
    """The options of the old run, to go on with it."""
    (folder / "run").mkdir()
    shutil.copy(OLD_RUN / checkpoints.CHECKPOINT_FILE, folder / "run")
    begun = selfplay.Args(
        run_dir=folder / "run",
        total_timesteps=1200,
        threads=1,
        eval_seconds=0.0,
        num_envs=4,
        num_steps=32,
        batch_size=64,
        hidden=(4,),
        features=False,
        pool_updates=2,
        pool_size=1,
        precision="float32",
        resume=True,
    )
    return dataclasses.replace(begun, **changes)  # type: ignore[arg-type]


def test_the_old_run_was_begun_with_old_names() -> None:
    progress = checkpoints.read_progress(OLD_RUN, runs.CHECKPOINT_KIND)
    assert set(OLD_NAMES) <= set(progress["config"])
    assert not set(OLD_NAMES.values()) & set(progress["config"])


def test_a_run_begun_with_old_names_goes_on(tmp_path: Path) -> None:
    before = checkpoints.read_progress(OLD_RUN, runs.CHECKPOINT_KIND)
    selfplay.train(resumed(tmp_path))
    after = checkpoints.read_progress(tmp_path / "run", runs.CHECKPOINT_KIND)
    assert (before["updates"], before["decisions"]) == (5, 600)
    assert after["updates"] > before["updates"]
    assert after["decisions"] >= 1200
    assert set(OLD_NAMES.values()) <= set(after["config"])
    assert not set(OLD_NAMES) & set(after["config"])


@pytest.mark.parametrize(
    ("option", "begun", "now"),
    [
        ("ent_coef", 0.02, 0.5),
        ("final_ent_coef", 0.001, 0.5),
        ("vf_coef", 0.5, 0.25),
        ("max_grad_norm", 0.5, 0.25),
        ("ema_decay", 0.98, 0.5),
    ],
)
def test_it_keeps_its_options(tmp_path: Path, option: str, begun: float, now: float) -> None:
    with pytest.raises(RunError, match=f"begun with {option} {begun}, now it is {now}"):
        selfplay.train(resumed(tmp_path, **{option: now}))


def test_options_of_an_old_run_of_maskable_ppo_are_read_by_todays_names(tmp_path: Path) -> None:
    begun = {"learning_rate": 0.001, "entropy": 0.03, "value_coefficient": 0.5}
    now = {"learning_rate": 0.001, "ent_coef": 0.03, "vf_coef": 0.5}
    assert recorded_config(tmp_path, {"config": begun}) == now
    assert set(now) <= set(maskable_ppo.saved_config(maskable_ppo.Args()))


@pytest.mark.parametrize(
    ("command", "option", "new"),
    [
        *(("selfplay", old, new) for old, new in OLD_NAMES.items()),
        ("maskable_ppo", "entropy", "ent_coef"),
        ("maskable_ppo", "value_coefficient", "vf_coef"),
        ("exploit", "decisions", "total_timesteps"),
    ],
)
@pytest.mark.parametrize("form", ["--{} 1", "--{}=1"])
def test_an_old_name_is_refused_with_the_new_one(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    option: str,
    new: str,
    form: str,
) -> None:
    shown, better = (f"{name.replace('_', '-')}" for name in (option, new))
    agent = ["greedy"] if command == "exploit" else []
    monkeypatch.setattr(sys, "argv", [command, *agent, *form.format(shown).split()])
    assert MAIN[command]() == 2
    assert capsys.readouterr().err == f"error: --{shown} is called --{better} now\n"


def test_what_is_no_old_name_is_left_alone() -> None:
    refuse_old_options(
        selfplay.Args, ["--run-dir", "average", "--ent-coef", "0.1", "--wandb-project=entropy"]
    )
    refuse_old_options(maskable_ppo.Args, ["--decisions"])  # it never had that option
