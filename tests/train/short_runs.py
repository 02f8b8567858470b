"""Runs in small, and what they leave: shared by the tests of the trainers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from train.common.run_folder import CHECKPOINT_FILE, FAILED_BATCH, RESPONSE_FILE, RUN_FILES
from train.selfplay import Args, main

ROOT = Path(__file__).parent.parent.parent
LISTED = {name.rstrip("/") for names in RUN_FILES for name in names} - {FAILED_BATCH, RESPONSE_FILE}
"""What lies in every run folder."""
SHORT = {
    "total_timesteps": 6000,
    "num_envs": 32,
    "num_steps": 16,
    "batch_size": 128,
    "hidden": (16,),
    "threads": 1,
    "eval_seconds": 0.0,
    "pool_updates": 2,
}


def short(folder: Path, **changes: object) -> Args:
    """Options of a run in small; what learns is given, so that it does not depend on the machine's speed."""
    is_dense = {"oracle", "magnet"} & changes.keys() or changes.get("precision") == "bfloat16"
    learner = {"learner": "torch" if is_dense else "sparse"}
    return Args(run_dir=folder, **{**SHORT, **learner, **changes})  # type: ignore[arg-type]


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / CHECKPOINT_FILE)


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def command(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    """The exit code of `python -m train.selfplay` with these options, run in this process."""
    monkeypatch.setattr(sys, "argv", ["train.selfplay", *options])
    try:
        return main()
    except SystemExit as stopped:  # by who reads the options
        return int(stopped.code or 0)


def read(folder: Path) -> dict[str, list[tuple[int, float]]]:
    events = EventAccumulator(str(folder)).Reload()
    return {
        name: [(event.step, event.value) for event in events.Scalars(name)]
        for name in events.Tags()["scalars"]
    }
