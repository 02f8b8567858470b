"""`train.rllib` on a cluster: it learns, survives the death of a worker, and goes on from its checkpoint."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

import numpy as np
import torch

from millebornes_env._util.signals import Stopped
from millebornes_env.arena.cluster.ray import connected
from millebornes_env.arena.match import MatchConfig, play
from tests.on_ray.conftest import LocalCluster
from train.common.run_folder import read_progress
from train.rllib import CHECKPOINT_KIND, Args, Learner, algorithm_config, check, train

pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore:.*Overriding environment rllib"),  # RLlib's own, of a second algorithm
]

SMALL = Args(num_envs=8, num_steps=16, batch_size=64, num_epochs=1, hidden=(16,), eval_seconds=0.0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"workers": 3}, "--num-envs is 8; it must be a multiple of --workers, 3"),
        ({"workers": -1}, "--workers is -1; it must be a number, 0 or more"),
        ({"batch_size": 1_000}, r"--batch-size is 1000; a rollout \(.*\) has only 128"),
        ({"players": 7}, "has no table for 7 players"),
        ({"episode": "turn"}, "--episode is 'turn'; in the game 'millebornes' it may be round or match"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check(replace(SMALL, **options))


def test_a_killed_worker_is_replaced_and_a_checkpoint_is_resumed(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = replace(SMALL, run_dir=tmp_path / "run", cluster=cluster.address, workers=2)
    workers: list[set[int]] = []
    update = Learner.update

    def update_and_kill(learner: Learner, share: float) -> dict[str, float]:
        result = learner.algorithm.env_runner_group.foreach_env_runner(
            lambda _: os.getpid(), local_env_runner=False
        )
        workers.append(set(result))
        if len(workers) == 2:
            os.kill(result[0], signal.SIGKILL)
        if len(set.union(*workers)) == 3:  # another one is in the place of the killed one
            os.kill(os.getpid(), signal.SIGTERM)
        return update(learner, share)

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "update", update_and_kill)
        with pytest.raises(Stopped):
            train(args)
    begun = read_progress(tmp_path / "run", CHECKPOINT_KIND)
    assert begun["decisions"] > 128

    train(replace(args, resume=True, total_timesteps=begun["decisions"] + 200))
    resumed = read_progress(tmp_path / "run", CHECKPOINT_KIND)
    assert resumed["decisions"] >= begun["decisions"] + 200
    played = play([f"policy:{tmp_path / 'run'}", "random"], MatchConfig(threads=1), 2)
    assert played.num_deals == 2


def test_a_seed_determines_a_run_and_a_resumed_one_plays_with_its_weights(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = replace(SMALL, edition="dujardin", players=4, teams=4, cluster=cluster.address)
    args = replace(args, total_timesteps=300, run_dir=tmp_path / "first")
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        train(replace(args, run_dir=folder))
    first, second = ((folder / "policy.safetensors").read_bytes() for folder in folders)
    assert first == second
    restore = Learner.restore

    def restore_and_compare(learner: Learner, tensors: dict[str, Any], progress: dict[str, Any]) -> None:
        restore(learner, tensors, progress)
        for name, weights in learner.algorithm.get_module("main").state_dict().items():
            assert torch.equal(weights, tensors[f"policy.{name}"])

    monkeypatch.setattr(Learner, "restore", restore_and_compare)
    train(replace(args, resume=True, total_timesteps=500))
    assert read_progress(args.run_dir, CHECKPOINT_KIND)["decisions"] >= 500
    with pytest.raises(ValueError, match="was started with teams 4, now it is None"):
        train(replace(args, resume=True, teams=None))


def test_illegal_actions_have_no_probability(cluster: LocalCluster) -> None:
    with connected(cluster.address):
        algorithm = algorithm_config(replace(SMALL, cluster=cluster.address)).build_algo()
        try:
            seen = algorithm.env_runner_group.local_env_runner.sample(num_timesteps=50, random_actions=False)
        finally:
            algorithm.stop()
    played = [agent for episode in seen for agent in episode.agent_episodes.values() if len(agent)]
    assert len(played) > 1
    for agent in played:
        actions = np.asarray(agent.get_actions())
        masks = agent.get_observations()["action_mask"][: len(actions)]
        assert masks[np.arange(len(actions)), actions].all()
        assert not masks.all(axis=1).any()


@pytest.mark.slow
def test_it_beats_random(tmp_path: Path) -> None:
    train(Args(run_dir=tmp_path / "run", total_timesteps=30_000, eval_seconds=0.0))
    config = MatchConfig(episode="round", threads=1)
    assert play([f"policy:{tmp_path / 'run'}", "random"], config, 250).win_rate().mean > 0.9
