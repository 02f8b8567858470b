"""Programs that `test_processes` runs: `python -m tests.envs.processes NAME` prints JSON.

A process that forks, or that a fault ends, must not be the one that runs the tests.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from millebornes_env import VectorEnv, vector_env
from millebornes_env.engine.batch import GAMES_WORTH_A_THREAD
from millebornes_env.engine.numba.compiling import parallel_float_kernel, prange
from millebornes_env.errors import CallError, IllegalActionError
from millebornes_env.games.millebornes.audit import first_violation

GAMES = 2 * GAMES_WORTH_A_THREAD
STEPS = 12

inherited: dict[int, VectorEnv] = {}
"""By number of threads; a forked child finds them as they stood."""

Answer = list[Any]


def begun(num_threads: int) -> VectorEnv:
    env = vector_env(GAMES, seed=3, num_threads=num_threads)
    env.reset()
    assert env.games.num_threads == num_threads
    for pace in (env.games._pace_of_steps, env.games._pace_of_samples):
        pace.shares = lambda: True  # type: ignore[method-assign] # however busy the machine is
    return env


def total(env: VectorEnv) -> int:
    """The sum of everything seen on the way."""
    seen = 0
    for _ in range(STEPS):
        actions = env.sample_actions()
        step = env.step(actions)
        seen += int(actions.sum()) + int(step.observations["observation"].sum(dtype=np.int64))
    return seen


def _watched(run: Callable[[], Any]) -> Answer:
    """Return the function's result, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run()
    return [result, [str(warning.message) for warning in caught if warning.category is RuntimeWarning]]


def with_a_new_one(num_threads: int) -> Answer:
    return _watched(lambda: total(begun(num_threads)))


def with_the_inherited_one(num_threads: int) -> Answer:
    return _watched(lambda: total(inherited[num_threads]))


@parallel_float_kernel
def doubled(rows: Any, results: Any, threads: int) -> None:
    """A parallel loop of somebody else's."""
    for thread in prange(threads):
        for row in range(thread, len(rows), threads):
            results[row] = 2.0 * rows[row]


def with_another_loop(_: int) -> Answer:
    rows = np.arange(100.0)
    results = np.zeros(100)

    def run() -> float:
        doubled(rows, results, 2)
        return float(results.sum())

    return _watched(run)


def all_in_one(_: int) -> dict[str, Answer]:
    """Return the answers of a child process that needs no input."""
    new = {f"new {threads}": with_a_new_one(threads) for threads in (1, 2)}
    return {**new, "another loop": with_another_loop(1)}


def in_a_child(method: str, run: Callable[[int], Any], num_threads: int) -> Any:
    """A child that is killed raises `BrokenProcessPool` here, it does not keep anybody waiting."""
    with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:
        return pool.submit(run, num_threads).result()


def children() -> dict[str, Any]:
    """A forked child plays before this process uses threads, others afterwards."""
    result: dict[str, Any] = {"before threads": in_a_child("fork", with_a_new_one, 2)}
    for num_threads in (1, 2):
        inherited[num_threads] = begun(num_threads)
    result["here"] = [with_a_new_one(1)[0], with_a_new_one(2)[0], with_another_loop(1)[0]]
    for num_threads in (1, 2):
        result[f"new {num_threads}"] = in_a_child("fork", with_a_new_one, num_threads)
        result[f"inherited {num_threads}"] = in_a_child("fork", with_the_inherited_one, num_threads)
    result["another loop"] = in_a_child("fork", with_another_loop, 1)
    result["spawned"] = in_a_child("spawn", all_in_one, 0)
    result["here again"] = with_the_inherited_one(2)
    return result


def _run_all(works: list[Callable[[], None]]) -> list[str]:
    """Run them at once, a thread each; the errors that ended one."""
    errors: list[str] = []

    def watched(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(repr(error))

    threads = [threading.Thread(target=watched, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def two_envs() -> dict[str, Any]:
    """Two environments with two threads each, stepped by two Python threads."""
    totals: list[int] = []
    envs = [begun(2) for _ in range(2)]

    def play(env: VectorEnv) -> None:
        totals.append(sum(total(env) for _ in range(10)))

    errors = _run_all([lambda: play(envs[0]), lambda: play(envs[1])])
    alone = begun(1)
    return {"totals": totals, "alone": sum(total(alone) for _ in range(10)), "errors": errors}


def one_env() -> dict[str, Any]:
    """One environment that two Python threads step as fast as they can."""
    env = begun(1)
    steps = [0, 0]

    def play(number: int) -> None:
        while steps[number] < 50:
            try:
                env.step(env.sample_actions())
                steps[number] += 1
            except (CallError, IllegalActionError):
                pass  # the other thread was inside, or it stepped between these two calls

    errors = _run_all([lambda: play(0), lambda: play(1)])
    problem = first_violation(env.games.states, env.rules)
    env.step(env.sample_actions())
    env.reset(seed=3)
    assert errors == []
    return {"steps": steps, "problem": problem, "again": total(env)}


WORKS: dict[str, Callable[[], dict[str, Any]]] = {
    "children": children,
    "two_python_threads": lambda: one_env() | two_envs(),
}

if __name__ == "__main__":
    print(json.dumps(WORKS[sys.argv[1]]()))
