"""`train.rllib` on a cluster: it learns, survives the death of a worker, and goes on from its checkpoint."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

from millebornes_env._util.signals import Stopped
from millebornes_env.arena.match import MatchConfig, play
from tests.on_ray.conftest import LocalCluster
from train.common.rllib_module import MAIN, Casting, in_pool
from train.common.run_folder import read_progress
from train.rllib import CHECKPOINT_KIND, Args, Learner, check, train

pytestmark = pytest.mark.ray

SMALL = Args(
    num_envs=8, num_steps=16, batch_size=64, num_epochs=1, hidden=(16,), pool_updates=2, eval_seconds=0.0
)


class Episode:
    def __init__(self, name: str) -> None:
        self.id_ = name


def test_a_pool_policy_plays_all_other_teams_in_its_share_of_the_episodes() -> None:
    casting = Casting(teams=2, pool_size=3, pool_share=0.25)
    seats = [f"player_{seat}" for seat in range(4)]
    casts = [[casting(seat, Episode(f"episode {n}")) for seat in seats] for n in range(2_000)]
    mixed = [cast for cast in casts if set(cast) != {MAIN}]
    assert 0.2 < len(mixed) / len(casts) < 0.3
    for cast in mixed:
        assert cast[:2] == cast[2:]  # partners
        assert cast.count(MAIN) == 2
    assert {name for cast in mixed for name in cast} == {MAIN, in_pool(0), in_pool(1), in_pool(2)}
    assert casts[7] == [casting(seat, Episode("episode 7")) for seat in seats]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"workers": 3}, "--num-envs is 8, which 3 --workers cannot share evenly"),
        ({"pool_share": 1.5}, "--pool-share is 1.5"),
        ({"workers": -1}, "--workers is -1"),
        ({"batch_size": 1_000}, "--batch-size is 1000, more than the 128 decisions"),
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
        found = learner.algorithm.env_runner_group.foreach_env_runner(
            lambda _: os.getpid(), local_env_runner=False
        )
        workers.append(set(found))
        if len(workers) == 2:
            os.kill(found[0], signal.SIGKILL)
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
    assert resumed["updates"] > begun["updates"]
    played = play([f"policy:{tmp_path / 'run'}", "random"], MatchConfig(threads=1), 2)
    assert played.num_deals == 2


@pytest.mark.slow
def test_it_beats_random(tmp_path: Path) -> None:
    train(Args(run_dir=tmp_path / "run", total_timesteps=30_000, eval_seconds=0.0))
    config = MatchConfig(episode="round", threads=1)
    assert play([f"policy:{tmp_path / 'run'}", "random"], config, 250).win_rate().mean > 0.8
