"""Training: a run is made, goes on after it was killed, and complains in words."""

from __future__ import annotations

import functools
import json
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sb3_contrib import MaskablePPO

from millebornes_env import agents, vector_env
from millebornes_env.agents.policy.agent import observation_scale
from millebornes_env.engine.numba.compiling import IS_COMPILED
from tests.train.short_runs import Clock, killed, run_main
from train import maskable_ppo
from train.common import runs
from train.common.run_folder import CHECKPOINT_FILE, read_progress, read_tensors
from train.common.runs import LOSS_NOT_FINITE
from train.maskable_ppo import (
    CHECKPOINT_KIND,
    Args,
    Learner,
    RunCallback,
    new_env,
    new_learner,
    train,
)

CLOCK_SECONDS = 2.0
"""Duration of a short run, by the clock below."""
SHORT = {
    "minutes": CLOCK_SECONDS / 60,
    "num_envs": 8,
    "num_steps": 16,
    "batch_size": 64,
    "eval_deals": 2,
    "hidden": (16,),
    "threads": 1,
}


command = functools.partial(run_main, maskable_ppo.main)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock tick with each call: what is learned in two seconds then depends on no machine."""
    monkeypatch.setattr(runs, "time", Clock(0.01))


def short(folder: Path, **changes: object) -> Args:
    return Args(run_dir=folder, **{**SHORT, **changes})  # type: ignore[arg-type]


def restored(folder: Path) -> Learner:
    """The learner of a short run, from its checkpoint."""
    args = short(folder)
    learner = new_learner(args, new_env(args), lambda: 0.0)
    progress, tensors = read_tensors(folder, CHECKPOINT_KIND)
    learner.restore(tensors, progress)
    return learner


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished short run."""
    folder = tmp_path_factory.mktemp("runs") / "lr=1e-3,seed=2"  # no options of the policy there
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "time", Clock(0.01))
        train(short(folder))
    return folder


def test_the_saved_policy_plays_as_the_network_does(run: Path) -> None:
    env = vector_env(16, seed=3)
    observations, _ = env.reset()
    agent = agents.load(f"policy:{run}", env)
    model = restored(run).model
    scaled = torch.from_numpy(observations["observation"] * observation_scale(agents.Table.of(env)))
    with torch.no_grad():
        logits = model.policy.action_net(model.policy.mlp_extractor.forward_actor(scaled)).numpy()
    expected = np.where(observations["action_mask"] != 0, logits, -np.inf).argmax(axis=1)
    assert agent.act(observations["observation"], observations["action_mask"]).tolist() == expected.tolist()


def test_resuming_gives_back_weights_and_optimizer(run: Path) -> None:
    model = restored(run).model
    progress = read_progress(run, CHECKPOINT_KIND)
    saved = load_file(run / CHECKPOINT_FILE)
    for name, value in model.policy.state_dict().items():
        assert torch.equal(value, saved[f"policy.{name}"])
    state = model.policy.optimizer.state_dict()["state"]
    assert state
    for number, values in state.items():
        for name, value in values.items():
            assert torch.equal(torch.as_tensor(value), saved[f"optimizer.{number}.{name}"])
    assert model.num_timesteps == progress["decisions"] > 0


def test_a_checkpoint_of_another_observation_version_is_refused(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "older"
    folder.mkdir()
    for name in (CHECKPOINT_FILE, "policy.safetensors"):
        (folder / name).write_bytes((run / name).read_bytes())
    description = json.loads((run / "policy.json").read_text())
    (folder / "policy.json").write_text(json.dumps({**description, "observation_version": 0}))
    with pytest.raises(ValueError, match="observation_version 0, but this table needs 2"):
        train(short(folder, resume=True, minutes=1.0))


def test_a_killed_run_goes_on_from_its_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that it needed was compiled when its clock started."""
    folder = tmp_path / "killed"
    options = ["--num-envs", "8", "--num-steps", "16", "--batch-size", "64", "--threads", "1"]
    known, late = killed("train.maskable_ppo", folder, *options, "--minutes", "1000")
    if IS_COMPILED:
        assert known > 20
        assert late == []
    before = read_progress(folder, CHECKPOINT_KIND)
    assert before["decisions"] == 2 * 8 * 16
    minutes = str((before["seconds"] + CLOCK_SECONDS) / 60)
    going_on = ["--run-dir", str(folder), "--eval-seconds", "0", "--minutes", minutes, "--resume"]
    assert command(monkeypatch, *options, *going_on) == 0
    after = read_progress(folder, CHECKPOINT_KIND)
    assert after["decisions"] > before["decisions"]
    assert "decisions in" in capsys.readouterr().out


def test_a_budget_of_timesteps_is_rounded_up_to_whole_rollouts(tmp_path: Path) -> None:
    options = {"minutes": 0.0, "eval_seconds": 0.0}
    summary = train(short(tmp_path, total_timesteps=200, **options)).summary()
    assert summary.startswith("256 decisions (a budget of 200, rounded up to whole rollouts) in ")
    before = read_progress(tmp_path, CHECKPOINT_KIND)
    assert (before["decisions"], before["updates"]) == (2 * 8 * 16, 2 * 3)
    train(short(tmp_path, total_timesteps=300, resume=True, **options))
    assert read_progress(tmp_path, CHECKPOINT_KIND)["decisions"] == 3 * 8 * 16
    assert read_progress(tmp_path, CHECKPOINT_KIND)["curve"] == []


def test_a_loss_that_became_nan_stops_the_run_before_it_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    learn = MaskablePPO.train

    def spoiled(model: MaskablePPO) -> None:
        learn(model)
        if model.num_timesteps == 2 * 128:
            model.logger.record("train/loss", float("nan"))

    monkeypatch.setattr(MaskablePPO, "train", spoiled)
    options = ["--run-dir", str(tmp_path), "--num-envs", "8", "--num-steps", "16", "--hidden", "16"]
    options += ["--batch-size", "128", "--total-timesteps", "256", "--eval-seconds", "0"]
    assert command(monkeypatch, *options, "--checkpoint-seconds", "1e-9") == LOSS_NOT_FINITE
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert complaint.startswith("error: loss became NaN or infinite at timestep 256; a lower --lear")
    assert read_progress(tmp_path, CHECKPOINT_KIND)["decisions"] == 128


def happening(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Something happens at a step of every run; it then ends after a number of steps, not by its clock."""

    def on_step(callback: RunCallback) -> bool:
        if callback.n_calls == 20:
            happens()
        return not callback.stops.is_waiting and callback.n_calls < 60

    monkeypatch.setattr(RunCallback, "_on_step", on_step)


def test_a_signal_saves_and_tells_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    happening(monkeypatch, lambda: signal.raise_signal(signal.SIGTERM))
    monkeypatch.setattr(maskable_ppo, "train", lambda args: train(short(args.run_dir, minutes=60.0)))
    assert command(monkeypatch, "--run-dir", str(tmp_path / "run")) == 143
    assert capsys.readouterr().err.splitlines()[-1] == (
        "error: stopped; continue from the last checkpoint with the same command and --resume"
    )
    assert 0 < read_progress(tmp_path / "run", CHECKPOINT_KIND)["decisions"] <= 20 * 8
    agents.make(f"policy:{tmp_path / 'run'}", agents.Table.of(vector_env(1)))
