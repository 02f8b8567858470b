"""Compiled loops that run on several threads: what they must not do, and what is done instead.

* Threads do not survive `fork`. GNU's OpenMP, on which Numba runs its threads on Linux, ends the child that
  asks for them. So a process that was forked after its parent had started threads runs every loop on one.
* Numba's simplest threading layer, `workqueue`, ends a process in which two Python threads start parallel
  loops at once. There one loop waits for the other.
* Numba wakes a thread for each core, however few a loop needs. With OpenMP those that get nothing keep their
  cores busy while they wait. So a loop says how many threads it needs, and no more are woken.
* Threads that share a loop wait for the slowest of them. Where other processes use the cores too, that makes
  a short loop many times slower than one thread is. `Pace` notices it, and runs the loop on one thread.

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
        has_started: Numba's threads were started, or tried.
        why_alone: the reason that loops run on one thread here; empty where they have threads.
        has_warned: the user was told that reason.
        launches_at_once: the threading layer is known, and lets two Python threads launch loops at once.
        launching: held while one loop runs, until that is known.
        compilations: the number of functions that were compiled or loaded so far.
    """

    def __init__(self) -> None:
        self.compilations = 0
        self.has_started = False
        self.why_alone = ""
        self.has_warned = False
        self.launches_at_once = False
        self.launching = threading.Lock()


_process = _Process()


def _layer() -> str | None:
    """The name of Numba's threading layer; None as long as no threads were started, by us or by others."""
    try:
        return str(_numba.threading_layer())
    except ValueError:
        return None


def _note_fork() -> None:
    """Runs in a child that was just forked."""
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
    """Start Numba's threads, or note why it has none."""
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
    """Note that a function is compiled or loaded now: a loop that waits for it is not slow."""
    _process.compilations += 1


def has_threads() -> bool:
    """Return True if compiled loops can run on several threads here; warn once in a process if not."""
    if not _process.has_started and not _process.why_alone:
        _start()
    if not _process.why_alone:
        return True
    if not _process.has_warned:
        _process.has_warned = True
        warnings.warn(_process.why_alone, RuntimeWarning, stacklevel=3)
    return False


class Pace:
    """Chooses between several threads and one for the calls of a loop, by the time that they take.

    The time that a call on several threads gains over one thread is a credit, the time that it loses a debt.
    When the debt is that of some calls, calls run on one thread, and a small share of the time that passes
    pays for the debt, until it is gone and the threads are tried again. So threads that wait for a busy core
    cost that share at most, and threads that gain are always used. Now and then a call runs on one thread to
    measure again what that takes.

    Attributes:
        alone: seconds of a call on one thread, a running mean.
        credit: seconds; below 0 it is a debt.
        rests: calls run on one thread until the debt is paid.
    """

    SHARE: Final = 1 / 128
    """Part of the time that may be lost in trying several threads."""
    FIRST_CALLS: Final = 4
    """Calls on one thread before the first try."""
    A_TRY: Final = 8
    """Calls whose time may be lost before the threads rest: the first calls wake them."""
    MEASURES: Final = 127
    """Calls between two measurements of one thread; odd, for calls that take turns to be long."""
    MOST_CREDIT: Final = 32
    """Calls whose time can be in credit, so that old gains do not pay for a long loss."""
    MOST_DEBT: Final = 1.0
    """Seconds that a single call can lose, besides some times its own, if it was stopped on the way."""

    def __init__(self) -> None:
        """Nothing is measured yet."""
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
        """Take down how long a call took, which ran as `shares` said.

        A call that had to compile something is not counted.

        Args:
            shared: it ran on several threads.
            began: by the clock, in seconds.
            ended: likewise.
        """
        seconds, passed, self._noted = ended - began, ended - self._noted, ended
        if self._compilations != _process.compilations:
            return
        if shared:
            gain = max(self.alone - seconds, -self.MOST_DEBT - 4 * self.alone)
            self.credit = min(self.credit + gain, self.MOST_CREDIT * self.alone)
            self.rests = self.credit < -self.A_TRY * self.alone
            return
        if self.rests:
            self.credit += self.SHARE * passed
            self.rests = self.credit < 0.0
        if self._calls <= self.FIRST_CALLS:
            self.alone = min(self.alone, seconds)
        else:
            self.alone += (min(seconds, 4 * self.alone) - self.alone) / 4  # it may have been held up


class _Paces:
    """A `Pace` for each size of the work that a loop is called for."""

    MOST: Final = 64
    """Sizes that are remembered at once."""

    def __init__(self) -> None:
        self._paces: dict[tuple[int, ...], Pace] = {}

    def of(self, threads: int, arguments: tuple[Any, ...]) -> Pace:
        """The pace of calls on so many threads with arrays of these lengths; of a tuple, its first."""
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
        self._parallel = parallel
        self._sequential = functools.cache(make_sequential)
        self._place = list(inspect.signature(parallel).parameters).index("threads")
        self._paces = _Paces()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the loop on as many threads as it asks for and as pay, or on one."""
        if not has_threads():
            return self._sequential()(*args, **kwargs)
        asked: Any = args[self._place] if self._place < len(args) else kwargs["threads"]
        if asked == 1:
            return self._launch(1, args, kwargs)
        pace = self._paces.of(asked, args)
        shared = pace.shares()
        began = perf_counter()
        result = self._launch(asked if shared else 1, args, kwargs)
        pace.note(shared, began, perf_counter())
        return result

    def on_all(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the loop on as many threads as it asks for, whatever it costs."""
        if not has_threads():
            return self._sequential()(*args, **kwargs)
        asked: Any = args[self._place] if self._place < len(args) else kwargs["threads"]
        return self._launch(asked, args, kwargs)

    def _launch(self, threads: int, args: Any, kwargs: Any) -> R:
        """Run the loop on so many threads; its rounds, and so its results, are those that it asks for."""
        with nullcontext() if _process.launches_at_once else _process.launching:
            before = _numba.get_num_threads()
            _numba.set_num_threads(min(threads, before))
            try:
                result = self._parallel(*args, **kwargs)
            finally:
                _numba.set_num_threads(before)
            if not _process.launches_at_once:
                _process.launches_at_once = _layer() in _THREAD_SAFE_LAYERS
            return result


def on_threads(parallel: Callable[P, R], make_sequential: Callable[[], Callable[P, R]]) -> Callable[P, R]:
    """A parallel loop that is safe to call after a fork and from several Python threads.

    Args:
        parallel: the loop, compiled for threads; its parameter `threads` says how many share it.
        make_sequential: compiles the same loop for one thread; called when it is needed.

    Returns:
        What calls the one that can run here, on as many threads as pay.
    """
    return _OnThreads(parallel, make_sequential)


def unpaced(loop: Callable[P, R]) -> Callable[P, R]:
    """A loop made by `on_threads` that runs on all its threads, for callers that have a `Pace` of their own.

    In plain Python it is the loop itself.
    """
    return loop.on_all if isinstance(loop, _OnThreads) else loop
