"""Policies are averaged: those of run folders, and the earlier selves of a run."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from millebornes_env import agents, vector_env
from millebornes_env.games.millebornes.sections import ObservationSpec
from tests.agents.policies import network_for, write_run
from tests.each import each
from tests.train.short_runs import run_main, short
from train.common.run_folder import CHECKPOINT_FILE, read_tensors
from train.selfplay import CHECKPOINT_KIND, Trainer, train
from train.tools import average

command = functools.partial(run_main, average.main)


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Three policies, of weights by chance."""
    env = vector_env(1)
    return [write_run(tmp_path / f"a={seed}", env, network_for(env, seed=seed)) for seed in (1, 2, 3)]


def test_the_mean_of_policies_is_played(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command(monkeypatch, *folders, "--out", tmp_path / "mean") == 0
    result = load_file(tmp_path / "mean" / "policy.safetensors")
    ours = [load_file(folder / "policy.safetensors") for folder in folders]
    assert result.keys() == ours[0].keys()
    for name, value in result.items():
        assert value == pytest.approx(sum(one[name] for one in ours) / 3, rel=1e-6, abs=1e-7)
    env = vector_env(4, seed=1)
    observations, _ = env.reset()
    agents.load(tmp_path / "mean", env).act(observations["observation"], observations["action_mask"])


def test_policies_that_see_the_rules_may_have_learned_other_editions(tmp_path: Path) -> None:
    env, shown = vector_env(1), ObservationSpec(rules=1)
    learned = {"a": ["parker", "dutch"], "b": ["dutch", "winning_moves"]}
    folders = [
        write_run(tmp_path / name, env, network_for(env, shown=shown), shown=shown, editions=editions)
        for name, editions in learned.items()
    ]
    average.average_policies(folders, tmp_path / "mean")
    description = json.loads((tmp_path / "mean" / "policy.json").read_text())
    assert description["editions"] == ["parker", "dutch", "winning_moves"]


def test_the_mean_of_the_last_snapshots_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    train(short(run, total_timesteps=3500))
    progress, tensors = read_tensors(run, CHECKPOINT_KIND)
    assert progress["pool"] >= 3
    assert command(monkeypatch, run, "--snapshots", "2", "--out", tmp_path / "mean") == 0
    result = load_file(tmp_path / "mean" / "policy.safetensors")
    trainer = Trainer(short(run))
    last = [progress["pool"] - 2, progress["pool"] - 1]
    weights = np.mean([tensors[f"pool.{number}.layers.0.weight"].numpy() for number in last], axis=0)
    scale = trainer.network.scale.numpy()
    assert result["layers.0.weight"] == pytest.approx(weights * scale, rel=1e-5, abs=1e-7)


@each(
    ("words", "complaint"),
    [
        (["a=1"], "name two or more run folders to average, or one with --snapshots"),
        (["a=1", "wide"], "their layers (outputs, inputs) are [(8, "),
        (["a=1", "relu"], "their activation are tanh and relu"),
        (["a=1", "dutch"], "was trained on dutch without observing the rules: it cannot play 'parker'"),
        (["a=1", "--snapshots", "2"], "there is no checkpoint in"),
        (["run", "--snapshots", "2"], "keeps 0 earlier selves"),
        (["a=1", "a=2", "--out", "a=3"], "already holds a policy: choose another --out"),
    ],
)
def test_what_cannot_be_averaged_is_told(
    words: list[str],
    complaint: str,
    folders: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    env = vector_env(1)
    write_run(tmp_path / "wide", env, network_for(env, hidden=(16, 6)))
    write_run(tmp_path / "relu", env, network_for(env), activation="relu")
    write_run(tmp_path / "dutch", env, network_for(env), editions=["dutch"])
    if "run" in words:
        train(short(tmp_path / "run", total_timesteps=300))
        assert (tmp_path / "run" / CHECKPOINT_FILE).exists()
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert command(monkeypatch, *words, *([] if "--out" in words else ["--out", "mean"])) == 2
    complaints = capsys.readouterr().err.splitlines()
    assert complaint in complaints[-1]
    assert complaints[-1].startswith("error: ")
    assert sorted(tmp_path.rglob("*")) == before
