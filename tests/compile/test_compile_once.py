"""Processes that run the tests side by side: one compiles a function, the others wait and load it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from millebornes_env.compile import IS_COMPILED
from tests.compile_once import lock_of
from tests.conftest import LONGEST_FIRST
from tests.patience import SECONDS_OF_A_HANG

ROOT = Path(__file__).parents[2]
MODULE = """
import numba

@numba.njit(cache=True)
def doubled(number):
    return 2 * number
"""
PROGRAM = """
from tests.compile_once import lock_while_compiling

lock_while_compiling()
from compiled_by_another_process import doubled

print("begins", flush=True)
print(doubled(4), sum(doubled.stats.cache_misses.values()), sum(doubled.stats.cache_hits.values()))
"""


@pytest.mark.skipif(not IS_COMPILED, reason="is about the compiler")
def test_a_function_that_is_being_compiled_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "compiled_by_another_process.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    doubled = importlib.import_module("compiled_by_another_process").doubled
    monkeypatch.delitem(sys.modules, "compiled_by_another_process")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with lock_of(doubled._cache._cache_file._index_path):
        assert process.stdout.readline() == "begins\n"
        assert doubled(4) == 8  # compiled here, while the other process waits
    output, _ = process.communicate(timeout=SECONDS_OF_A_HANG)
    result, misses, hits = map(int, output.split())
    assert (result, misses, hits) == (8, 0, 1)


def test_the_files_that_begin_first_are_there() -> None:
    assert [name for name in LONGEST_FIRST if not (ROOT / name).is_file()] == []
