"""Compiled loops that run on several threads: what they must not do, and what is done instead.

* Threads do not survive `fork`. GNU's OpenMP, on which Numba runs its threads on Linux, ends the child that
  asks for them. So a process that was forked after its parent had started threads runs every loop on one.
* Numba's simplest threading layer, `workqueue`, ends a process in which two Python threads start parallel
  loops at once. There one loop waits for the other.
* Numba wakes a thread for each core, however few a loop needs. With OpenMP those that get nothing keep their
  cores busy while they wait. So a loop says how many threads it needs, and no more are woken.

Results are the same with any number of threads.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_FORK_SAFE_LAYERS = ("tbb",)
_THREAD_SAFE_LAYERS = ("tbb", "omp")


class _Process:
    """What is known of this process.

    Attributes:
        lost_its_threads: it was forked from one that had started threads.
        has_warned: and the user was told.
        launches_at_once: the threading layer is known, and lets two Python threads launch loops at once.
        launching: held while one loop runs, until that is known.
    """

    def __init__(self) -> None:
        self.lost_its_threads = False
        self.has_warned = False
        self.launches_at_once = False
        self.launching = threading.Lock()


_process = _Process()


def _layer() -> str | None:
    """The name of Numba's threading layer; None as long as no threads were started, by us or by others."""
    numba = sys.modules.get("numba")
    if numba is None:
        return None
    try:
        return str(numba.threading_layer())
    except ValueError:
        return None


def _note_fork() -> None:
    """Runs in a child that was just forked."""
    layer = _layer()
    if layer is not None and layer not in _FORK_SAFE_LAYERS:
        _process.lost_its_threads = True
    _process.launching = threading.Lock()  # another thread of the parent may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def has_threads() -> bool:
    """Whether compiled loops can run on several threads here; warns once in a process where they cannot."""
    if not _process.lost_its_threads:
        return True
    if not _process.has_warned:
        _process.has_warned = True
        warnings.warn(
            "this process was forked after its parent had started threads, which do not survive a fork: "
            "num_threads is taken as 1 here (results are the same). To have threads in every process, start "
            'processes with multiprocessing.get_context("spawn")',
            RuntimeWarning,
            stacklevel=3,
        )
    return False


def on_threads(parallel: Callable[P, R], make_sequential: Callable[[], Callable[P, R]]) -> Callable[P, R]:
    """A parallel loop that is safe to call after a fork and from several Python threads.

    Args:
        parallel: the loop, compiled for threads; its parameter `threads` says how many share it.
        make_sequential: compiles the same loop for one thread; called when it is needed.

    Returns:
        What calls the one that can run here.
    """
    sequential = functools.cache(make_sequential)
    place = list(inspect.signature(parallel).parameters).index("threads")

    @functools.wraps(parallel, updated=())
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not has_threads():
            return sequential()(*args, **kwargs)
        threads: Any = args[place] if place < len(args) else kwargs["threads"]
        if _process.launches_at_once:
            with _at_most(threads):
                return parallel(*args, **kwargs)
        with _process.launching, _at_most(threads):
            result = parallel(*args, **kwargs)
            _process.launches_at_once = _layer() in _THREAD_SAFE_LAYERS
            return result

    return call


@contextmanager
def _at_most(threads: int) -> Iterator[None]:
    """Loops that this Python thread launches wake so many threads at most."""
    import numba  # noqa: PLC0415 - takes a quarter of a second, and is needed here only

    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, before))
    try:
        yield
    finally:
        numba.set_num_threads(before)
