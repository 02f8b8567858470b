"""Threads and processes: a fork after threads were used, spawn, two Python threads at once."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from millebornes_env.engine.numba.compiling import IS_COMPILED
from millebornes_env.engine.numba.threads import launch, on_threads, unpaced
from tests.envs import processes
from tests.patience import SECONDS_OF_A_HANG

ROOT = Path(__file__).resolve().parents[2]

compiled_only = pytest.mark.skipif(not IS_COMPILED, reason="plain Python uses no threads")
can_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork"
)


def run(work: str, **environment: str) -> dict[str, Any]:
    """Run a program in a process of its own and return its answers."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.envs.processes", work],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS_OF_A_HANG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


LAYERS = pytest.mark.parametrize("layer", ["default", pytest.param("workqueue", marks=pytest.mark.slow)])


@compiled_only
@can_fork
@LAYERS
def test_forked_children_play_the_same_games_on_one_thread_and_spawned_ones_on_any(layer: str) -> None:
    found = run("children", NUMBA_THREADING_LAYER=layer)
    one, two, doubled = found["here"]
    assert one == two
    assert found["before threads"] == [one, []], "it has threads of its own"
    for kind in ("new", "inherited"):
        assert found[f"{kind} 1"] == [one, []]
        result, warnings = found[f"{kind} 2"]
        assert result == one
        assert len(warnings) == 1, "a process is told once"
        assert "forked" in warnings[0]
        assert "spawn" in warnings[0]
    assert found["another loop"][0] == doubled
    assert len(found["another loop"][1]) == 1
    spawned = found["spawned"]
    assert spawned["new 1"] == spawned["new 2"] == [one, []]
    assert spawned["another loop"] == [doubled, []]
    assert found["here again"] == [one, []], "the parent keeps its threads"


@compiled_only
@LAYERS
def test_two_python_threads_with_two_environments_or_one(layer: str) -> None:
    """The layer `workqueue` ends a process that asks for this; where it is all there is, one waits."""
    result = run("two_python_threads", NUMBA_THREADING_LAYER=layer)
    assert result["errors"] == []
    assert result["totals"] == [result["alone"]] * 2
    # One environment, which both step: the calls return, and its games stay whole.
    assert result["steps"] == [50, 50]
    assert result["problem"] is None
    assert result["again"] == processes.total(processes.begun(1))


@compiled_only
@pytest.mark.parametrize("threads", [1, 2, 1000])
def test_a_loop_wakes_no_more_threads_than_it_asks_for(threads: int) -> None:
    """With OpenMP, threads that are woken for nothing keep their cores busy."""
    numba = pytest.importorskip("numba")
    most = numba.get_num_threads()

    def woken(games: int, threads: int) -> int:
        return int(numba.get_num_threads())

    loop = unpaced(on_threads(woken, lambda: woken))
    assert launch(threads, loop, 5, threads) == min(threads, most)
    assert numba.get_num_threads() == most
