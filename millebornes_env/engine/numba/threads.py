"""Workarounds for compiled loops on several threads.

* Threads do not survive `fork`. GNU's OpenMP, which runs Numba's threads on Linux, ends a child process that
  uses them. So a process that was forked after its parent had started threads runs every loop on one thread.
* Numba's simplest threading layer, `workqueue`, ends a process in which two Python threads start parallel
  loops concurrently. There one loop waits for the other.
* Numba wakes a thread for each core, however few a loop needs. With OpenMP the idle ones keep their cores
  busy. So each loop states the number of threads that it needs, and no more are woken.
* Threads that share a loop wait for the slowest one. If other processes use the cores too, a short loop can
  be many times slower than on one thread. `Pace` detects this and runs the loop on one thread.

Results are the same with any number of threads.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import threading
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter
from typing import Any, Final, Generic, ParamSpec, TypeVar

import numba
import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

_FORK_SAFE_LAYERS = ("tbb",)
_THREAD_SAFE_LAYERS = ("tbb", "omp")

_numba: Any = numba  # it has no type hints worth the name


class _Process:
    """State of this process.

    Attributes:
        has_started: True after the first attempt to start Numba's threads.
        why_alone: the reason that loops run on one thread here; empty if they have threads.
        has_warned: True after the warning with that reason.
        launches_concurrently: True if the threading layer is known to allow loops from two Python threads.
        launching: lock held while a loop runs, unless `launches_concurrently`.
        compilations: number of functions compiled or loaded so far.
    """

    def __init__(self) -> None:
        self.compilations = 0
        self.has_started = False
        self.why_alone = ""
        self.has_warned = False
        self.launches_concurrently = False
        self.launching = threading.Lock()


_process = _Process()


def _layer() -> str | None:
    """Return the name of Numba's threading layer; None if no threads have been started."""
    try:
        return str(_numba.threading_layer())
    except ValueError:
        return None


def _note_fork() -> None:
    """Record a fork, in the child."""
    layer = _layer()
    if layer is not None and layer not in _FORK_SAFE_LAYERS:
        _process.why_alone = (
            "this process was forked after its parent had started threads, which do not survive a fork: "
            "num_threads is taken as 1 here (results are the same). To have threads in every process, start "
            'processes with multiprocessing.get_context("spawn")'
        )
    _process.launching = threading.Lock()  # another thread of the parent may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def _start() -> None:
    """Start Numba's threads, or record the reason that there are none."""
    _process.has_started = True
    try:
        _numba.get_num_threads()
    except ValueError as error:
        reason = " ".join(str(error).split())
        _process.why_alone = (
            f"Numba has no threading layer {_numba.config.THREADING_LAYER!r} here ({reason}): num_threads is "
            "taken as 1 (results are the same). Unset NUMBA_THREADING_LAYER, or install that layer"
        )


def count_compilation() -> None:
    """Count a compilation or load, so that `Pace` ignores a call that waits for it."""
    _process.compilations += 1


def has_threads() -> bool:
    """Return True if compiled loops can run on several threads; if not, warn once per process."""
    if not _process.has_started and not _process.why_alone:
        _start()
    if not _process.why_alone:
        return True
    if not _process.has_warned:
        _process.has_warned = True
        warnings.warn(_process.why_alone, RuntimeWarning, stacklevel=3)
    return False


class Pace:
    """Chooses between one thread and several for the calls of a loop, from measured times.

    Time gained by a call on several threads, compared with one thread, is credit; time lost is debt. When the
    debt reaches the time of `TOLERANCE` calls, calls run on one thread, and a small share of the elapsed time
    pays off the debt, after which several threads are tried again. So threads that wait for a busy core cost
    at most that share, and threads that gain time are always used. Some calls run on one thread to update its
    measured time.

    Attributes:
        alone: seconds of a call on one thread, a running mean.
        credit: seconds; debt is below 0.
        rests: True if calls run on one thread until the debt is paid.
    """

    SHARE: Final = 1 / 128
    """Fraction of the time that may be lost in trying several threads."""
    FIRST_CALLS: Final = 4
    """Calls on one thread before the first try."""
    TOLERANCE: Final = 8
    """Maximum debt before the threads rest, in calls; the first calls wake the threads."""
    MEASURES: Final = 127
    """Calls between two measurements of one thread; odd, in case every second call is long."""
    MOST_CREDIT: Final = 32
    """Maximum credit, in calls, so that old gains do not pay for a long loss."""
    MOST_DEBT: Final = 1.0
    """Maximum loss of a single call in seconds, on top of 4 calls' time, in case it was suspended."""

    def __init__(self) -> None:
        """Start without measurements."""
        self.alone = math.inf
        self.credit = 0.0
        self.rests = False
        self._calls = 0
        self._compilations = 0
        self._noted = 0.0

    def shares(self) -> bool:
        """Return True if the next call is to run on several threads."""
        self._compilations = _process.compilations
        self._calls += 1
        calls = self._calls
        is_measured = calls % self.MEASURES == 0 or calls & (calls - 1) == 0  # often at first
        return not self.rests and calls > self.FIRST_CALLS and not is_measured

    def note(self, shared: bool, began: float, ended: float) -> None:
        """Record the duration of a call; ignored if the call compiled something.

        Args:
            shared: the result of `shares`: True if the call ran on several threads.
            began: clock time at the start, in seconds.
            ended: clock time at the end, in seconds.
        """
        seconds, passed, self._noted = ended - began, ended - self._noted, ended
        if self._compilations != _process.compilations:
            return
        if shared:
            gain = max(self.alone - seconds, -self.MOST_DEBT - 4 * self.alone)
            self.credit = min(self.credit + gain, self.MOST_CREDIT * self.alone)
            self.rests = self.credit < -self.TOLERANCE * self.alone
            return
        if self.rests:
            self.credit += self.SHARE * passed
            self.rests = self.credit < 0.0
        if self._calls <= self.FIRST_CALLS:
            self.alone = min(self.alone, seconds)
        else:
            self.alone += (min(seconds, 4 * self.alone) - self.alone) / 4  # it may have been delayed


class _Paces:
    """A `Pace` for each combination of argument lengths of a loop."""

    MOST: Final = 64
    """Maximum number of combinations that are kept."""

    def __init__(self) -> None:
        self._paces: dict[tuple[int, ...], Pace] = {}

    def of(self, threads: int, arguments: tuple[Any, ...]) -> Pace:
        """Return the `Pace` for a number of threads and the lengths of array arguments (first of a tuple)."""
        size = [threads]
        for argument in arguments:
            first = argument[0] if isinstance(argument, tuple) and argument else argument
            if isinstance(first, np.ndarray):
                size.append(len(first))
        key = tuple(size)
        pace = self._paces.get(key)
        if pace is None:
            if len(self._paces) >= self.MOST:
                self._paces.clear()
            pace = self._paces[key] = Pace()
        return pace


class _OnThreads(Generic[P, R]):
    """A parallel loop that is safe to call after a fork and from several Python threads."""

    def __init__(self, parallel: Callable[P, R], make_sequential: Callable[[], Callable[P, R]]) -> None:
        functools.update_wrapper(self, parallel, updated=())
        self.parallel = parallel
        self._sequential = functools.cache(make_sequential)
        self._index = list(inspect.signature(parallel).parameters).index("threads")
        self._paces = _Paces()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the loop on `threads` threads if that saves time, else on one."""
        if not has_threads():
            return self._sequential()(*args, **kwargs)
        given: Any = args[self._index] if self._index < len(args) else kwargs["threads"]
        threads = int(given)
        if threads == 1:
            return launch(1, self.parallel, *args, **kwargs)
        pace = self._paces.of(threads, args)
        shared = pace.shares()
        began = perf_counter()
        result = launch(threads if shared else 1, self.parallel, *args, **kwargs)
        pace.note(shared, began, perf_counter())
        return result


def launch(threads: int, loop: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a parallel loop on a number of threads, which does not change its rounds or results.

    The process must have threads (`has_threads`).
    """
    with nullcontext() if _process.launches_concurrently else _process.launching:
        before = _numba.get_num_threads()
        is_too_many = threads < before
        if is_too_many:
            _numba.set_num_threads(threads)
        try:
            result = loop(*args, **kwargs)
        finally:
            if is_too_many:
                _numba.set_num_threads(before)
        if not _process.launches_concurrently:
            _process.launches_concurrently = _layer() in _THREAD_SAFE_LAYERS
        return result


def on_threads(parallel: Callable[P, R], make_sequential: Callable[[], Callable[P, R]]) -> Callable[P, R]:
    """Make a parallel loop safe to call after a fork and from several Python threads.

    Args:
        parallel: the loop, compiled for threads; its parameter `threads` is their number.
        make_sequential: compiles the same loop for one thread; called when needed.

    Returns:
        A callable that runs the loop on several threads where that is possible and saves time (`Pace`).
    """
    return _OnThreads(parallel, make_sequential)


def unpaced(loop: Callable[P, R]) -> Callable[P, R]:
    """Return the parallel loop of `on_threads` itself, to `launch` it by a `Pace` of the caller's own."""
    return loop.parallel if isinstance(loop, _OnThreads) else loop
