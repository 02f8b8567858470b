"""One call at a time: an environment that two threads step at once would never return.

Compiled loops run without Python's lock, so nothing but this keeps a second thread from changing a game in
the middle of a step.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

from millebornes_env.errors import ConcurrentCallError

P = ParamSpec("P")
R = TypeVar("R")


class Guard:
    """A lock that is tried, never waited for.

    A copy or a pickle of it is a new one that nobody holds, so that it does not keep its owner from being
    copied.
    """

    def __init__(self, reentrant: bool = True) -> None:
        """Make a guard.

        Args:
            reentrant: whether a call may call another one on the same thread.
        """
        self.reentrant = reentrant
        lock = threading.RLock() if reentrant else threading.Lock()
        self.take: Callable[[bool], bool] = lock.acquire
        self.give_back: Callable[[], None] = lock.release

    def __reduce__(self) -> tuple[type[Guard], tuple[bool]]:
        return Guard, (self.reentrant,)


class Guarded(Protocol):
    """What has methods that are `alone`."""

    @property
    def _guard(self) -> Guard: ...


Self = TypeVar("Self", bound=Guarded)


def alone(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """Let the method run only while no other thread is inside a method of the same object.

    Raises:
        ConcurrentCallError: (the method, when it is called) another one is; neither is disturbed.
    """
    name = method.__name__

    @functools.wraps(method)
    def call(self: Self, *args: P.args, **kwargs: P.kwargs) -> R:
        guard = self._guard
        if not guard.take(False):
            raise ConcurrentCallError(
                f"{name}() was called while another call of this environment was under way, on another "
                "thread or from a callback: give each thread an environment of its own (clone() makes "
                "one), or let one finish before the other begins"
            )
        try:
            return method(self, *args, **kwargs)
        finally:
            guard.give_back()

    return cast("Callable[Concatenate[Self, P], R]", call)  # `wraps` hides that the first one is `self`
