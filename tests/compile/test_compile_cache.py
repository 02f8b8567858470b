"""Machine code is kept once for the same sources, wherever they lie, and people are told that it is made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.caching import NullCache

import millebornes_env
from millebornes_env.compile import IS_COMPILED, address_of, call_at, kernel, parallel_kernel, prange, rule

PACKAGE = Path(millebornes_env.__file__).parent
FIRST_STEP = (
    "import millebornes_env as m\n"
    "env = m.vector_env(4, seed=1)\n"
    "env.reset()\n"
    "env.step(env.sample_actions())\n"
    "print(m.__file__)\n"
)

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="is about the compiler")


def run(script: str, folder: Path, **surroundings: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPATH": str(folder), **surroundings}
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder, env=settings
    )


def test_the_same_sources_at_another_place_are_not_compiled_again(tmp_path: Path) -> None:
    run(FIRST_STEP, PACKAGE.parent)
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    done = run(FIRST_STEP, tmp_path, MILLEBORNES_COMPILE_MESSAGES="1")
    assert done.stdout.startswith(str(tmp_path)), "it ran the sources of another place"
    assert done.stderr == ""


def test_a_class_that_is_not_there_any_more_is_no_error(tmp_path: Path) -> None:
    """Somebody ran a game of their own, and now runs ours from another folder."""
    kernels, game = tmp_path / "kernels", tmp_path / "game"
    for folder in (kernels, game):
        folder.mkdir()
    (kernels / "sums.py").write_text(SUMS, encoding="utf-8")
    (game / "scores.py").write_text(SCORES, encoding="utf-8")
    both = os.pathsep.join(map(str, (kernels, game, PACKAGE.parent)))
    ours = os.pathsep.join(map(str, (kernels, PACKAGE.parent)))
    scripts = {both: "import scores, sums; print(sums.total(scores.Scores(1, 2)))"}
    scripts[ours] = "import sums; print(sums.total((3, 4)))"
    printed = [
        run(scripts[path], kernels, PYTHONPATH=path, NUMBA_CACHE_DIR=str(tmp_path / "cache")).stdout
        for path in (both, ours, both, ours)
    ]
    assert printed == ["3\n", "7\n", "3\n", "7\n"]


SUMS = """
from millebornes_env.compile import kernel

@kernel
def total(pair):
    return pair[0] + pair[1]
"""
SCORES = """
from typing import NamedTuple

class Scores(NamedTuple):
    mine: int
    yours: int
"""

TWO_KERNELS = """
from millebornes_env.compile import kernel

@kernel
def doubled(number: int) -> int:
    return 2 * number

@kernel
def tripled(number: int) -> int:
    return 3 * number

print(doubled(2), tripled(2))
"""


@pytest.mark.parametrize(("messages", "lines"), [("1", 1), ("0", 0)])
def test_what_is_compiled_is_said_once_before_it_begins(tmp_path: Path, messages: str, lines: int) -> None:
    (tmp_path / "mine.py").write_text(TWO_KERNELS)
    settings = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "MILLEBORNES_COMPILE_MESSAGES": messages}
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(PACKAGE.parent)])}
    done = run("import mine", tmp_path, **settings, **path)
    assert done.stdout == "4 6\n"
    assert done.stderr.count("millebornes_env: compiling mine, up to 5 s") == lines
    assert done.stderr.count("\n") == lines
    assert run("import mine", tmp_path, **settings, **path).stderr == "", "the second time it is on disk"


@rule
def halved(number: int) -> int:
    return number >> 1


@kernel
def halves_of_all_kinds(small: np.ndarray, large: np.ndarray) -> int:
    return halved(small[0]) + halved(large[0]) + halved(7) + halved(len(small))


def test_a_rule_is_compiled_once_for_all_kinds_of_ints() -> None:
    compiled: Any = halves_of_all_kinds
    compiled._cache = NullCache()  # else a kernel that lies on disk asks for no rule
    assert halves_of_all_kinds(np.array([4], np.int8), np.array([6], np.int32)) == 2 + 3 + 3 + 0
    linked: Any = halved
    assert len(linked._linked.signatures) == 1


def test_python_follows_a_rule_about_ints_as_it_is_written() -> None:
    assert halved(2**80) == 2**79, "compiled code has no such ints"


@kernel
def count_up(numbers: np.ndarray, first: int, last: int) -> int:
    for place in range(first, last):
        numbers[place] += 1
    return last - first


@parallel_kernel
def count_up_on_threads(numbers: np.ndarray, threads: int, address: int) -> int:
    total = 0
    for thread in prange(threads):
        first, last = thread * len(numbers) // threads, (thread + 1) * len(numbers) // threads
        total += call_at(address, (numbers, first, last))
    return total


def test_threads_call_a_kernel_by_its_address() -> None:
    numbers = np.zeros(1_001, np.int64)
    address = address_of(count_up, numbers, 0, 0)
    assert count_up_on_threads(numbers, 2, address) == 1_001
    assert (numbers == 1).all()
