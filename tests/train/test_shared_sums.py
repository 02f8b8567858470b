"""Sums through shared memory are what the processes would have got from each other otherwise."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from train.common import shared_sums
from train.common.shared_sums import Exchange, Float32Array, SharedSums, shared

LARGEST = 1000
pytestmark = pytest.mark.skipif(not shared_sums.MEMORY.is_dir(), reason="this system has no memory as files")


def exchanges(count: int) -> list[Exchange]:
    """What `shared` talks through, for threads that stand for processes."""
    barrier = threading.Barrier(count)
    told = [""] * count

    def exchange_for(rank: int) -> Exchange:
        def exchange(text: str) -> list[str]:
            told[rank] = text
            barrier.wait()
            found = list(told)
            barrier.wait()
            return found

        return exchange

    return [exchange_for(rank) for rank in range(count)]


def in_each(count: int, work: Callable[[int, SharedSums | None], object]) -> list[object]:
    """What the work returns in each of so many processes."""
    talk = exchanges(count)
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda rank: work(rank, shared(rank, talk[rank], LARGEST)), range(count)))


def numbers(rank: int, turn: int) -> Float32Array:
    random = np.random.default_rng([rank, turn])
    return random.standard_normal(LARGEST - turn, dtype=np.float32)


@pytest.mark.parametrize("count", [2, 3])
def test_all_get_the_same_sums(count: int) -> None:
    def work(rank: int, sums: SharedSums | None) -> list[Float32Array]:
        assert sums is not None
        found = []
        for turn in range(20):
            values = numbers(rank, turn)
            sums.add_up(values)
            found.append(values)
        return found

    for found in in_each(count, work):
        for turn, values in enumerate(found):  # type: ignore[arg-type]
            expected = numbers(0, turn)
            for rank in range(1, count):
                expected += numbers(rank, turn)
            assert (values == expected).all()


def test_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shared_sums, "MEMORY", tmp_path)  # in the machine's own others write, too
    assert all(sums is not None for sums in in_each(2, lambda _rank, sums: sums))
    assert not list(tmp_path.iterdir())


def test_a_process_that_has_ended_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    monkeypatch.setattr(shared_sums, "_SECONDS_BETWEEN_LOOKS", 0.0)
    content = mmap.mmap(-1, shared_sums.size_of(2, LARGEST))
    sums = SharedSums(0, [os.getpid(), ended.pid], content, LARGEST)
    with pytest.raises(RuntimeError, match="process 1 is gone"):
        sums.add_up(numbers(0, 0))


def test_without_common_memory_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = shared_sums._mapped
    monkeypatch.setattr(shared_sums, "_mapped", lambda path, size, _token: real(path, size, b"another"))
    assert in_each(2, lambda _rank, sums: sums) == [None, None]
    monkeypatch.setattr(shared_sums, "MEMORY", tmp_path / "none")
    assert in_each(2, lambda _rank, sums: sums) == [None, None]
