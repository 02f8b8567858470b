"""The other ways to run the same source, in processes of their own: plain Python, and every index checked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from millebornes_env.compile import IS_COMPILED

ROOT = Path(__file__).parents[1]
WAYS = {
    "plain Python": ({"NUMBA_DISABLE_JIT": "1"}, {"compiled": False, "checked": False}),
    "bounds checked": ({"NUMBA_BOUNDSCHECK": "1"}, {"compiled": True, "checked": True}),
}
"""The setting that each takes, and what `modes` says there."""

Running = dict[str, subprocess.Popen[str]]
"""The processes, by the names of `WAYS`."""


def modes() -> dict[str, bool]:
    """How this process runs the source."""
    import numba  # noqa: PLC0415

    return {"compiled": IS_COMPILED, "checked": bool(numba.config.BOUNDSCHECK)}


@contextmanager
def running(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run the program in each of the ways, with an empty cache; what is left of it at the end is stopped."""
    processes = {}
    for name, (switch, _) in WAYS.items():
        surroundings = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
        surroundings |= switch
        surroundings["NUMBA_CACHE_DIR"] = str(tmp_path_factory.mktemp("numba_cache"))
        surroundings["PYTHONPATH"] = str(ROOT)
        processes[name] = subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=surroundings,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    try:
        yield processes
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()
