"""Runs in small, and what they leave: shared by the tests of the trainers."""

from __future__ import annotations

import functools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from train.common.run_folder import CHECKPOINT_FILE
from train.selfplay import Args, main

ROOT = Path(__file__).parent.parent.parent
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
WORDS = [f"--{name.replace('_', '-')}={value}" for name, value in SHORT.items() if name != "hidden"]
WORDS += ["--hidden=16"]
"""The same options on a command line."""


def short(folder: Path, **changes: object) -> Args:
    """Options of a run in small; what learns is given, so that it does not depend on the machine's speed."""
    learner = {"learner": "torch" if changes.get("precision") == "bfloat16" else "sparse"}
    return Args(run_dir=folder, **{**SHORT, **learner, **changes})  # type: ignore[arg-type]


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / CHECKPOINT_FILE)


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def run_main(main: Callable[[], int], monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    """The exit code of a script with these words, run in this process."""
    monkeypatch.setattr(sys, "argv", [f"{main.__module__.rpartition('.')[2]}.py", *map(str, words)])
    try:
        return main()
    except SystemExit as stopped:  # by who reads the options
        return int(stopped.code or 0)


command = functools.partial(run_main, main)
"""`python -m train.selfplay`."""


class Clock:
    """In the place of the run's `time`: it goes on by a step at each look, and when told."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self._step = 1000.0, step

    def perf_counter(self) -> float:
        self.now += self._step
        return self.now

    def __getattr__(self, name: str) -> Any:
        """Everything else of `time`, for the event files."""
        return getattr(time, name)


def read(folder: Path) -> dict[str, list[tuple[int, float]]]:
    events = EventAccumulator(str(folder)).Reload()
    return {
        name: [(event.step, event.value) for event in events.Scalars(name)]
        for name in events.Tags()["scalars"]
    }


# Kills its process halfway through writing the fourth checkpoint of a run. Into a file it writes how many
# kernels were there when the run's clock started, and which of them were needed for other types afterwards.
_KILLED = """
import collections, gc, importlib, json, os, signal, sys
from pathlib import Path
from numba.core.registry import CPUDispatcher
from millebornes_env._util.files import replacing
from train.common import run_folder, runs

trainer, late = importlib.import_module(sys.argv[1]), Path(sys.argv[2])
sys.argv[:3] = sys.argv[1:2]
begin, write_whole, checkpoints_left = runs.Run.begin, run_folder.write_bytes_atomically, 3

def kernels():
    found = collections.Counter()
    for value in gc.get_objects():
        if type(value) is CPUDispatcher and getattr(value, "is_kernel", False):
            found[f"{value.py_func.__module__}.{value.py_func.__qualname__}"] += len(value.overloads)
    return found

def begins(run, learner):
    global before
    begin(run, learner)
    before = kernels()

def write(path, content):
    global checkpoints_left
    if path.name == run_folder.CHECKPOINT_FILE:
        checkpoints_left -= 1
        if checkpoints_left < 0:
            names = sorted(name for name, count in kernels().items() if count != before[name])
            late.write_text(json.dumps([len(before), names]))
            with replacing(path) as draft:
                draft.write_bytes(content[: len(content) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
    write_whole(path, content)

runs.Run.begin, run_folder.write_bytes_atomically = begins, write
sys.exit(trainer.main())
"""


def killed(trainer: str, folder: Path, *options: str) -> tuple[int, list[str]]:
    """Run a trainer in a process of its own, which is killed while it writes its fourth checkpoint.

    It evaluates its policy and writes a checkpoint after every update.

    Returns:
        The number of kernels when the run's clock started, and the names of those that were compiled later.
    """
    late = folder.with_name(f"{folder.name}-late.json")
    often = ("--eval-seconds", "1e-9", "--eval-deals", "2", "--checkpoint-seconds", "1e-9")
    words = [trainer, str(late), "--run-dir", str(folder), *options, *often]
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    known, names = json.loads(late.read_text())
    return known, names
