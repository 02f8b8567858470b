"""Self-play when something happens: signals, a folder that goes, a full disk; and what its clock counts."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock
from safetensors.torch import save_file

from millebornes_env._util.signals import Stopped
from millebornes_env.arena.learning_curve import EvalOpponents
from tests.each import each
from tests.train.short_runs import Clock, command, read, same, short, weights
from train import selfplay
from train.common import options, run_folder, runs
from train.common.run_folder import CHECKPOINT_FILE, RunError, read_progress
from train.selfplay import CHECKPOINT_KIND, Trainer, train

LONG = {"total_timesteps": 3500, "final_learning_rate": 1e-3, "ent_coef": 0.005, "final_ent_coef": 0.005}


def at_update(number: int, happens: Callable[[], object]) -> Callable[..., dict[str, float]]:
    """`Trainer.learn`, with something that happens in the middle of an update."""
    learn = Trainer.learn

    def learned(trainer: Trainer, share: float) -> dict[str, float]:
        if trainer.updates == number:
            happens()
        return learn(trainer, share)

    return learned


def progress(folder: Path) -> dict[str, Any]:
    return read_progress(folder, CHECKPOINT_KIND)


# Signals ----------------------------------------------------------------------------------------------------


def test_a_signal_finishes_the_update_and_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "learn", at_update(3, lambda: signal.raise_signal(signal.SIGTERM)))
        with pytest.raises(Stopped, match="SIGTERM"):
            train(short(tmp_path / "parts", **LONG))
    assert progress(tmp_path / "parts")["updates"] == 4
    assert (tmp_path / "parts" / "policy.json").exists()
    train(short(tmp_path / "parts", resume=True, **LONG))
    train(short(tmp_path / "whole", **LONG))
    assert same(weights(tmp_path / "parts"), weights(tmp_path / "whole"))


def test_a_signal_stops_an_evaluation_and_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*_: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(runs, "warm_up", lambda *_: None)
    monkeypatch.setattr(EvalOpponents, "measure", measure)
    with pytest.raises(Stopped):
        train(short(tmp_path, eval_seconds=1e-9, eval_deals=2, total_timesteps=10**9))
    assert progress(tmp_path)["updates"] == 1


def test_a_second_signal_keeps_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Trainer, "learn", at_update(3, twice))
    with pytest.raises(Stopped):
        train(short(tmp_path, checkpoint_seconds=1e-9))
    assert progress(tmp_path)["updates"] == 3


def test_a_resume_is_not_offered_without_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The disk takes small files only, from the start; then the run is stopped."""
    folder = tmp_path / "run"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Trainer, "learn", at_update(0, lambda: signal.raise_signal(signal.SIGINT)))
    monkeypatch.setattr(Trainer, "warm_up", lambda _: None)
    monkeypatch.setattr(run_folder, "write_bytes_atomically", full)
    options = ["--num-envs", "32", "--num-steps", "16", "--hidden", "16", "--eval-seconds", "0"]
    assert command(monkeypatch, "--run-dir", folder, *options) == 130
    error = " ".join(capsys.readouterr().err.split())
    assert "No space left on device" in error
    assert "try again" not in error
    assert error.endswith(
        f"error: stopped; there is no checkpoint in {str(folder)!r}, so --resume would start again"
    )
    with pytest.raises(RunError, match="it has no checkpoint; start it again with --resume"):
        train(short(folder))


# The folder -------------------------------------------------------------------------------------------------


def test_a_folder_that_is_removed_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    monkeypatch.setattr(runs, "_LOG_SECONDS", 0.0)
    monkeypatch.setattr(Trainer, "learn", at_update(3, lambda: shutil.rmtree(folder)))
    finished = train(short(folder, checkpoint_seconds=0.0))
    assert finished.problem is None
    assert "was removed: it is created again" in capsys.readouterr().err.replace("\n", " ")
    assert {"config.json", "policy.json", "policy.safetensors", CHECKPOINT_FILE} <= set(os.listdir(folder))
    assert progress(folder)["decisions"] >= 6000
    steps = [step for step, _ in read(folder / "tensorboard")["train/entropy"]]
    assert len(steps) == len(set(steps)) == progress(folder)["updates"] - 3


def test_a_folder_that_another_run_has_taken_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    taken = []

    def take() -> None:
        shutil.rmtree(folder)
        folder.mkdir()
        taken.append(FileLock(folder / "run.lock"))
        taken[0].acquire(timeout=0)

    monkeypatch.setattr(Trainer, "learn", at_update(3, take))
    with pytest.raises(RunError, match="another process is training in"):
        train(short(folder, checkpoint_seconds=1e-9))
    assert os.listdir(folder) == ["run.lock"]
    taken[0].release()


def test_a_disk_that_takes_no_large_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A limit of the operating system, as a quota sets it: writing fails in the middle of a file."""
    folder = tmp_path / "run"
    train(short(folder))
    before = weights(folder)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, usual[1]))

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "learn", at_update(progress(folder)["updates"], limit))
        try:
            finished = train(short(folder, total_timesteps=8000, resume=True, checkpoint_seconds=1e-9))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert finished.problem == f"could not write to {str(folder)!r}: File too large"
    assert "training continues, the next checkpoint will try again" in " ".join(
        capsys.readouterr().err.split()
    )
    assert same(weights(folder), before)
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]
    assert train(short(folder, total_timesteps=8000, resume=True)).problem is None


# The clock --------------------------------------------------------------------------------------------------


def test_minutes_are_minutes_of_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()

    def compiles(trainer: Trainer) -> None:
        clock.now += 3600.0

    learn = Trainer.learn

    def learned(trainer: Trainer, share: float) -> dict[str, float]:
        clock.now += 1.0
        return learn(trainer, share)

    monkeypatch.setattr(Trainer, "warm_up", compiles)
    monkeypatch.setattr(runs.time, "perf_counter", clock.perf_counter)
    before = clock.now
    monkeypatch.setattr(Trainer, "learn", learned)
    finished = train(short(tmp_path, minutes=0.1))
    assert clock.now - before >= 3606.0
    assert progress(tmp_path)["updates"] == 6
    assert finished.seconds == 6.0
    out = capsys.readouterr().out
    assert "in 6 s (" in out
    assert "budget" not in out


def test_warming_up_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"oracle": True, "magnet": 0.1, "reward": "win_prob", "num_envs": 600, "num_steps": 8}
    train(short(tmp_path / "warm", **options))
    monkeypatch.setattr(Trainer, "warm_up", lambda _: None)
    train(short(tmp_path / "cold", **options))
    assert same(weights(tmp_path / "warm"), weights(tmp_path / "cold"))


# Precision --------------------------------------------------------------------------------------------------


def test_a_precision_that_does_not_pay_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for units, notes in (("avx512_bf16", 0), ("", 1)):
        monkeypatch.setattr(selfplay, "bfloat16_units", lambda units=units: units)
        train(short(tmp_path / f"{notes} notes", total_timesteps=700, precision="bfloat16"))
        assert capsys.readouterr().err.count("note: this processor has no bfloat16") == notes


@each(
    ("capabilities", "units"),
    [
        ({"avx512_bf16": True, "amx_bf16": False}, "avx512_bf16"),
        ({"avx512_bf16": True, "amx_bf16": True, "avx2": True}, "amx_bf16"),
        ({"avx512_bf16": False, "avx2": True}, ""),
    ],
)
def test_the_processor_is_asked(
    capabilities: dict[str, bool], units: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    assert options.bfloat16_units() == units
    monkeypatch.delattr(torch.cpu, "get_capabilities")  # as in older versions
    older = {"_is_avx512_bf16_supported": "avx512_bf16", "_is_amx_tile_supported": "amx_bf16"}
    for question, name in older.items():
        has = capabilities.get(name, False)
        monkeypatch.setattr(torch.cpu, question, lambda has=has: has, raising=False)
    assert options.bfloat16_units() == units
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)  # as on macOS
    assert not options.bfloat16_units()


# Checkpoints made to harm -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    train(short(folder, total_timesteps=700))
    return folder


@each(
    "changes",
    [
        *({"config": []}, {"seconds": "long"}, {"best": []}, {"curve": [{"scores": 1}]}),
        *({"parts": None}, {"updates": None}),
    ],
)
def test_a_checkpoint_that_says_something_else_is_told(
    changes: dict[str, object], finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder, dirs_exist_ok=True)
    head = {"progress": json.dumps({"kind": CHECKPOINT_KIND, **progress(folder), **changes})}
    save_file(weights(folder), folder / CHECKPOINT_FILE, head)
    with pytest.raises(RunError, match="is damaged or of another network"):
        train(short(folder, resume=True))


@pytest.mark.parametrize("kind", ["nested", "folder", "pipe"])
def test_a_checkpoint_that_is_none(kind: str, finished: Path, tmp_path: Path) -> None:
    path = tmp_path / "run" / CHECKPOINT_FILE
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        save_file(weights(finished), path, {"progress": "[" * 200_000})
    with pytest.raises(RunError, match="is damaged"):
        train(short(path.parent, resume=True))
