"""Several processes learn as one would: the same step in each, from games of their own."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import distributed, nn

from tests.patience import SECONDS_OF_A_HANG
from tests.train.short_runs import ROOT, SHORT, WORDS, same, short, weights
from train.common.run_folder import LossError, RunError
from train.common.workers import ALONE, Order, Workers, joined
from train.selfplay import Trainer, follow, train

pytestmark = pytest.mark.torchrun
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def in_both(*functions: Callable[[], Any]) -> list[Any]:
    """Return the results of two functions that wait for each other, as two processes do."""
    with ThreadPoolExecutor(2) as pool:
        return [future.result() for future in [pool.submit(function) for function in functions]]


def pair() -> tuple[Workers, Workers]:
    """Two workers with real exchanges between them, as if they were processes; here they are threads."""
    store = distributed.HashStore()
    groups = in_both(*(lambda rank=rank: distributed.ProcessGroupGloo(store, rank, 2) for rank in range(2)))
    one, other = (Workers(group) for group in groups)
    return one, other


def parameter(*gradient: float) -> nn.Parameter:
    result = nn.Parameter(torch.zeros(len(gradient)))
    result.grad = torch.tensor(gradient)
    return result


def test_gradients_and_means_are_averaged_over_the_rows_of_all() -> None:
    workers = pair()
    learners = [parameter(1.0, 2.0), parameter(5.0, -2.0)]
    means = in_both(
        lambda: workers[0].average([learners[0]], np.array([10.0]), 30),
        lambda: workers[1].average([learners[1]], np.array([50.0]), 10),
    )
    for learner, mean in zip(learners, means, strict=True):
        assert learner.grad is not None
        assert learner.grad.tolist() == [2.0, 1.0]  # (3 * 1 + 5) / 4, (3 * 2 - 2) / 4
        assert mean.tolist() == [20.0]


def test_each_process_has_a_seed_of_its_own_and_the_first_that_of_the_run() -> None:
    one, other = pair()
    assert (ALONE.seed(7), one.seed(7)) == (7, 7)
    assert other.seed(7) != 7
    assert 0 <= other.seed(2**64 - 1) < 2**64


def test_games_that_cannot_be_shared_equally_are_refused_in_words(tmp_path: Path) -> None:
    args = short(tmp_path / "run", num_envs=33)
    one, other = pair()
    with pytest.raises(ValueError, match="--num-envs is 33; 2 processes cannot share the games equally"):
        train(args, one)
    with pytest.raises(ValueError, match="give a multiple of 2"):
        follow(args, other)


@pytest.fixture(params=["torch", "sparse"])
def trainers(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Trainer, Trainer]:
    args = short(tmp_path, pool_agent=("greedy",), pool_share=0.5, oracle=True, learner=request.param)
    one, other = (Trainer(args, workers) for workers in pair())
    return one, other


def updated(trainer: Trainer) -> dict[str, float]:
    trainer.collect()
    return trainer.learn(0.5)


def test_all_take_the_same_step_from_games_of_their_own(trainers: tuple[Trainer, Trainer]) -> None:
    before = [value.clone() for value in trainers[0].network.parameters()]
    in_both(*(lambda trainer=trainer: updated(trainer) for trainer in trainers))
    one, other = trainers
    assert one.games.num_games == SHORT["num_envs"] // 2
    assert (one.games.save() != other.games.save()).any()
    for name, value in one.network.state_dict().items():
        assert torch.equal(value, other.network.state_dict()[name])
    assert any(not torch.equal(old, new) for old, new in zip(before, one.network.parameters(), strict=True))
    assert one.decisions == other.decisions
    rows = one.games.num_games * SHORT["num_steps"]
    assert rows < one.decisions <= 2 * rows  # of both: each alone has no more than its rows


def test_a_checkpoint_has_the_games_of_all_and_goes_on_bit_for_bit(
    trainers: tuple[Trainer, Trainer], tmp_path: Path
) -> None:
    def follower(trainer: Trainer) -> None:
        assert trainer.workers.receive_order()[0] is Order.CHECKPOINT
        trainer.checkpoint()

    one, other = trainers
    in_both(lambda: updated(one), lambda: updated(other))
    (tensors, progress), _ = in_both(one.checkpoint, lambda: follower(other))
    assert len(tensors["games"]) == SHORT["num_envs"]
    tensors = {name: value.clone() for name, value in tensors.items()}
    in_both(lambda: updated(one), lambda: updated(other))

    again, its_other = (Trainer(one.args, workers) for workers in pair())

    def restored() -> None:
        assert its_other.workers.receive_order()[0] is Order.RESTORE
        its_other.restore(*its_other.workers.received())

    in_both(lambda: again.restore(tensors, json.loads(json.dumps(progress))), restored)
    in_both(lambda: updated(again), lambda: updated(its_other))
    assert (again.games.save() == one.games.save()).all()
    assert (its_other.games.save() == other.games.save()).all()
    assert same(dict(one.network.state_dict()), dict(again.network.state_dict()))
    assert same(dict(one.network.state_dict()), dict(its_other.network.state_dict()))


def test_a_loss_that_became_nan_in_one_process_is_an_error_in_all(trainers: tuple[Trainer, Trainer]) -> None:
    one, other = trainers

    def broken(trainer: Trainer) -> None:
        trainer.collect()
        if trainer is other:
            trainer.flat.returns[:] = np.nan
        with pytest.raises(LossError, match="became NaN or infinite in update 1"):
            trainer.learn(0.5)

    in_both(lambda: broken(one), lambda: broken(other))
    assert same(dict(one.network.state_dict()), dict(other.network.state_dict()))
    assert all(bool(value.isfinite().all()) for value in one.network.parameters())


THREADS = Path("/proc/self/task")


def threads_of_gloo() -> set[str]:
    """The numbers of gloo's threads in this process. One that ends just now may be listed or not."""
    result = set()
    for thread in THREADS.iterdir():
        with contextlib.suppress(OSError):  # it has ended since it was listed
            if "gloo" in (thread / "comm").read_text():
                result.add(thread.name)
    return result


def have_ended(threads: set[str]) -> bool:
    """Return True if gloo's threads end. A joined thread can be listed a moment longer, so it looks again."""
    for _ in range(1000):
        if not threads & threads_of_gloo():
            return True
        time.sleep(0.01)
    return False


@pytest.mark.skipif(not THREADS.is_dir(), reason="only Linux tells the names of threads")
def test_the_threads_of_gloo_end_when_the_processes_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def alone(backend: str) -> None:
        begin(backend, init_method=f"file://{tmp_path}/store", rank=0, world_size=1)

    begin = distributed.init_process_group
    monkeypatch.setattr(distributed, "init_process_group", alone)
    monkeypatch.setattr(distributed, "is_torchelastic_launched", lambda: True)
    monkeypatch.setenv("WORLD_SIZE", "2")
    before = threads_of_gloo()
    with joined() as workers:
        workers.send_order(Order.END)
        begun = threads_of_gloo() - before
        assert begun
    assert have_ended(begun)  # one that lives while Python ends may abort the process
    assert workers.sums(1.0, 2.0) == (1.0, 2.0)


def test_torchrun_makes_one_run_of_two_processes(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    ran = subprocess.run(
        [*TORCHRUN, "-m", "train.selfplay", *WORDS, "--run-dir", str(folder), "--learner", "sparse"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS_OF_A_HANG,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("run folder:") == 1  # process 0 speaks for all
    assert {"config.json", "policy.json", "policy.safetensors", "checkpoint.safetensors"} <= {
        path.name for path in folder.iterdir()
    }
    assert len(weights(folder)["games"]) == 32
    with pytest.raises(RunError, match="2 processes"):
        train(short(folder, resume=True, total_timesteps=12_000))
