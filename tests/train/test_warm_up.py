"""What trainers compile, they compile before their clock starts: warming up needs all kernels of a run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from millebornes_env.compile import IS_COMPILED

ROOT = Path(__file__).parents[2]

COUNT = """
import collections, gc, json, tempfile
from pathlib import Path
from numba.core.registry import CPUDispatcher
{imports}

def kernels():
    '''How many kinds of arguments the kernels of a name have been called with.'''
    found = collections.Counter()
    for value in gc.get_objects():
        if type(value) is CPUDispatcher and getattr(value, "is_kernel", False):
            found[f"{{value.py_func.__module__}}.{{value.py_func.__qualname__}}"] += len(value.overloads)
    return found

{begins}
folder = Path(tempfile.mkdtemp())
{train}
after = kernels()
print(json.dumps([len(before), sorted(name for name in after if after[name] != before[name])]))
"""

SELFPLAY = {
    "imports": "from train.selfplay import Args, train\nfrom train.common.runs import Run",
    "begins": "begin = Run.begin\n"
    "def begins(run, learner):\n"
    "    global before\n"
    "    begin(run, learner)\n"
    "    before = kernels()\n"
    "Run.begin = begins",
    "train": "train(Args(folder / 'run', total_timesteps={decisions}, num_envs={games}, num_steps=16, "
    "hidden=(8,), batch_size=512, pool_updates=1, eval_seconds=1e9, eval_deals=40, {more}))",
}
MASKABLE_PPO = {
    "imports": "from train.maskable_ppo import Args, RunCallback, train",
    "begins": "start = RunCallback._on_training_start\n"
    "def starts(callback):\n"
    "    global before\n"
    "    start(callback)\n"
    "    before = kernels()\n"
    "RunCallback._on_training_start = starts\n"
    "RunCallback._on_step = lambda callback: callback.n_calls < 40",
    "train": "train(Args(folder / 'run', num_envs=16, num_steps=16, batch_size=64, hidden=(8,), "
    "eval_deals=40, eval_seconds=1e9))",
}


def kernels_that_came_late(script: dict[str, str]) -> list[str]:
    """Kernels that a run, in a process of its own, has needed after its clock had started."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT.format(**script)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    known, late = json.loads(done.stdout.splitlines()[-1])
    assert known > 20, "this finds no kernels"
    found: list[str] = late
    return found


needs_compiler = pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")


@needs_compiler
@pytest.mark.parametrize(
    ("games", "decisions", "more"),
    [(600, 10_000, "magnet=0.1, oracle=True"), (64, 1_500, "opponent='arnold'")],
    ids=["on two threads", "against an agent"],
)
def test_self_play_is_compiled_when_its_clock_starts(games: int, decisions: int, more: str) -> None:
    train = SELFPLAY["train"].format(games=games, decisions=decisions, more=more)
    assert kernels_that_came_late({**SELFPLAY, "train": train}) == []


@needs_compiler
def test_maskable_ppo_is_compiled_when_its_clock_starts() -> None:
    assert kernels_that_came_late(MASKABLE_PPO) == []
