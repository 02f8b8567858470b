"""The other ways to run the same source, in processes of their own: plain Python, and every index checked.

Both play the golden games and those of `laws/test_same_games`, one process for each way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from millebornes_env.compile import IS_COMPILED
from tests.patience import SECONDS_OF_A_HANG

ROOT = Path(__file__).parents[1]
WAYS = {
    "plain Python": ({"NUMBA_DISABLE_JIT": "1"}, {"compiled": False, "checked": False}),
    "bounds checked": ({"NUMBA_BOUNDSCHECK": "1"}, {"compiled": True, "checked": True}),
}
"""The setting that each takes, and what `modes` says there."""

PROGRAM = "from tests.other_ways import print_results; print_results()"


def modes() -> dict[str, bool]:
    """How this process runs the source."""
    import numba  # noqa: PLC0415

    return {"compiled": IS_COMPILED, "checked": bool(numba.config.BOUNDSCHECK)}


def print_results() -> None:
    """What each process runs: one line of JSON."""
    from tests.golden.test_golden import all_differences  # noqa: PLC0415 - those files import this one
    from tests.laws.test_same_games import digests_and_counts  # noqa: PLC0415
    from tests.wielerspel.golden.test_golden import all_differences as differences_of_races  # noqa: PLC0415

    results = {"modes": modes(), "golden": all_differences(), "races": differences_of_races()}
    print(json.dumps({**results, "games": digests_and_counts()}))


def cache_folder(way: str) -> str:
    """Where a way keeps its machine code from one run of the tests to the next.

    Numba's cache does not know whether indices were checked, so each way has a folder of its own. In it,
    `millebornes_env.compile` makes one for each state of the sources and forgets those that are old.
    """
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(user / "millebornes_env_tests" / way.replace(" ", "_"))


class Run:
    """A process that runs the source in another way.

    Attributes:
        way: its name in `WAYS`.
    """

    def __init__(self, way: str) -> None:
        self.way = way
        self._results: dict[str, Any] | None = None
        surroundings = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
        surroundings |= WAYS[way][0]
        surroundings |= {"XDG_CACHE_HOME": cache_folder(way), "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT,
            env=surroundings,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def results(self) -> dict[str, Any]:
        """What it printed; waits for its end."""
        if self._results is None:
            output, complaints = self._process.communicate(timeout=SECONDS_OF_A_HANG)
            assert self._process.returncode == 0, complaints
            self._results = json.loads(output)
        return self._results

    def stop(self) -> None:
        """Stop what is left of it."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def running() -> Iterator[dict[str, Run]]:
    """Run the source in each of the ways, by their names; what is left at the end is stopped."""
    runs: dict[str, Run] = {}
    try:
        for way in WAYS:
            runs[way] = Run(way)
        yield runs
    finally:
        for run in runs.values():
            run.stop()
