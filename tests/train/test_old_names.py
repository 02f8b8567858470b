"""Runs that were begun before options were renamed go on; the old names are refused with the new ones."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path

import pytest

from train import exploit, maskable_ppo, selfplay
from train.common.checkpoints import read_progress, recorded_config
from train.common.errors import RunError
from train.common.options import OLD_NAMES, refuse_old_options
from train.common.run_folder import CHECKPOINT_FILE

OLD_RUN = Path(__file__).parent / "old_run"
OLD_MASKABLE_PPO = Path(__file__).parent / "old_run_maskable_ppo"
MAIN = {"selfplay": selfplay.main, "maskable_ppo": maskable_ppo.main, "exploit": exploit.main}


def resumed(folder: Path, **changes: object) -> selfplay.Args:
    """The options of the old run, to go on with it."""
    (folder / "run").mkdir()
    shutil.copy(OLD_RUN / CHECKPOINT_FILE, folder / "run")
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
    progress = read_progress(OLD_RUN, selfplay.CHECKPOINT_KIND)
    assert set(OLD_NAMES) <= set(progress["config"])
    assert not set(OLD_NAMES.values()) & set(progress["config"])


def test_a_run_begun_with_old_names_goes_on(tmp_path: Path) -> None:
    before = read_progress(OLD_RUN, selfplay.CHECKPOINT_KIND)
    selfplay.train(resumed(tmp_path))
    after = read_progress(tmp_path / "run", selfplay.CHECKPOINT_KIND)
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
    final = {
        "final_learning_rate": 0.0001,
        "final_ent_coef": 0.003,
    }  # it fell to a tenth, there was no option
    assert recorded_config(tmp_path, {"config": begun}) == {**now, **final}
    assert {**now, **final}.items() <= maskable_ppo.Args().config().items()


def old_maskable_ppo(folder: Path, **changes: object) -> maskable_ppo.Args:
    """The options of the old run of MaskablePPO, to go on with it."""
    shutil.copytree(OLD_MASKABLE_PPO, folder / "run")
    begun = maskable_ppo.Args(
        run_dir=folder / "run",
        total_timesteps=12_100,
        episode="round",
        num_envs=4,
        num_steps=16,
        batch_size=64,
        hidden=(4,),
        eval_seconds=0.0,
        resume=True,
    )
    return dataclasses.replace(begun, **changes)  # type: ignore[arg-type]


def test_an_old_run_of_maskable_ppo_goes_on(tmp_path: Path) -> None:
    before = read_progress(OLD_MASKABLE_PPO, maskable_ppo.CHECKPOINT_KIND)
    maskable_ppo.train(old_maskable_ppo(tmp_path))
    after = read_progress(tmp_path / "run", maskable_ppo.CHECKPOINT_KIND)
    assert before["num_timesteps"] < 12_100 <= after["num_timesteps"]
    assert after["num_updates"] > before["num_updates"] > 0
    assert after["curve"] == before["curve"]
    assert after["seconds"] > before["seconds"]


def test_an_old_run_of_maskable_ppo_keeps_its_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is compiled."""
    monkeypatch.setattr(maskable_ppo, "warmed_up", lambda _: pytest.fail("too late"))
    args = old_maskable_ppo(tmp_path, episode="match")
    with pytest.raises(
        RunError, match="begun with episode 'round', now it is 'match': give --episode as it was, or choose"
    ):
        maskable_ppo.train(args)
    with pytest.raises(RunError, match=r"begun with final_learning_rate 0\.0001, now it is 0\.5"):
        maskable_ppo.train(dataclasses.replace(args, episode="round", final_learning_rate=0.5))


@pytest.mark.parametrize(
    ("command", "option", "new"),
    [
        *(("selfplay", old, new) for old, new in OLD_NAMES.items()),
        ("maskable_ppo", "entropy", "ent_coef"),
        ("maskable_ppo", "value_coefficient", "vf_coef"),
        ("exploit", "decisions", "total_timesteps"),
        ("exploit", "docs", "leaderboard"),
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
    refuse_old_options(exploit.Args, ["--average"])  # it never had that option
