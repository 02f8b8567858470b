"""Loops on threads: where they lose time, and where Numba has none, one thread does the work."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from millebornes_env.engine.numba import threads
from millebornes_env.engine.numba.compiling import IS_COMPILED
from millebornes_env.engine.numba.threads import Pace, has_threads, on_threads

ALONE = 0.001  # seconds of a call on one thread
SHARES = Pace.shares


@pytest.fixture(autouse=True)
def _paces_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests use threads however long they take."""
    monkeypatch.setattr(Pace, "shares", SHARES)


def play(pace: Pace, calls: int, on_two: Callable[[], float], on_one: Callable[[], float]) -> float:
    """Seconds of all calls, divided by those of one thread."""
    began = now = pace._noted
    for _ in range(calls):
        shared = pace.shares()
        seconds = on_two() if shared else on_one()
        pace.note(shared, now, now + seconds)
        now += seconds
    return (now - began) / (calls * ALONE)


def one() -> float:
    return ALONE


def half() -> float:
    return ALONE / 2


def test_threads_that_gain_are_used() -> None:
    assert play(Pace(), 10_000, half, one) < 0.52


@pytest.mark.parametrize("factor", [1.2, 3, 40, 1_000])
def test_threads_that_lose_cost_a_small_share(factor: float) -> None:
    """A try can be long, but few are made."""
    assert play(Pace(), 10_000, lambda: factor * ALONE, one) < 1.06 + 2 * factor / 10_000


def test_threads_are_tried_again_when_the_cores_are_free() -> None:
    pace = Pace()
    assert play(pace, 10_000, half, one) < 0.52
    assert play(pace, 10_000, lambda: 40 * ALONE, one) < 1.1
    play(pace, 6_000, half, one)  # until the debt is paid
    assert play(pace, 10_000, half, one) < 0.52


def test_a_debt_is_paid_by_all_the_time_that_passes() -> None:
    """Also between two calls: what else a program does between two steps."""
    pace = Pace()
    play(pace, 100, lambda: 100 * ALONE, one)
    assert pace.rests
    later = pace._noted + 100.0
    pace.note(pace.shares(), later, later + ALONE)
    assert not pace.rests


def test_a_first_measurement_that_was_too_high_is_corrected() -> None:
    """Else threads that lose would seem to gain."""
    pace = Pace()
    play(pace, 4, half, lambda: 100 * ALONE)
    assert play(pace, 10_000, lambda: 20 * ALONE, one) < 2
    assert play(pace, 10_000, lambda: 20 * ALONE, one) < 1.06


class Clock:
    """A clock that loops wind themselves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(threads, "perf_counter", made)
    return made


@pytest.mark.skipif(threads._numba.get_num_threads() < 2, reason="is about several threads")
def test_a_loop_whose_threads_wait_runs_on_one(clock: Clock) -> None:
    """And one of another size, whose threads do not wait, on all that it asks for."""
    woken: dict[int, list[int]] = {10: [], 20: []}

    def loop(rows: Any, threads: int) -> int:
        number = int(np.size(rows))
        count = int(globals()["threads"]._numba.get_num_threads())
        woken[number].append(count)
        clock.now += {1: ALONE, 2: ALONE * (30 if number == 10 else 0.5)}[count]
        return number

    called = on_threads(loop, lambda: loop)
    for _ in range(2_000):
        for number in woken:
            assert called(np.zeros(number), 2) == number
    assert 0 < woken[10].count(2) < 10
    assert woken[20].count(2) > 1_900


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_process", threads._Process())


@pytest.mark.skipif(not IS_COMPILED, reason="plain Python uses no threads")
def test_without_numbas_threads_one_does_the_work(process: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with NUMBA_THREADING_LAYER=tbb and no TBB: a sentence, and the same results."""

    def none() -> int:
        raise ValueError("No threading layer could be loaded.\nHINT:\nIntel TBB is required")

    monkeypatch.setattr(threads._numba, "get_num_threads", none)

    def loop(rows: Any, threads: int) -> str:
        raise AssertionError("it ran on threads")

    called = on_threads(loop, lambda: lambda *_: "alone")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [called(np.zeros(3), 2), called(np.zeros(3), 2)] == ["alone", "alone"]
        assert not has_threads()
    (warning,) = caught
    assert "No threading layer could be loaded. HINT: Intel TBB is required" in str(warning.message)
    assert "num_threads is taken as 1" in str(warning.message)
