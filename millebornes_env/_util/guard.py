"""One call at a time for environments and agents.

Compiled loops release Python's lock, so without this guard a second thread could change a game in the middle
of a step, and two threads that step one environment might never return.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar, cast

from millebornes_env.errors import CallError

P = ParamSpec("P")
R = TypeVar("R")


_MORE: Final = {
    "environment": "clone() makes one",
    "agent": "agents.load makes one; copy.deepcopy copies one with what it remembers",
}
"""Ways to get another object of the kind."""


class Guard:
    """A lock that is tried without waiting.

    A copy or a pickle of it is a new, free lock, so that its owner can be copied.
    """

    def __init__(self, reentrant: bool = True, kind: str = "environment") -> None:
        """Create a guard.

        Args:
            reentrant: a call may make another one on the same thread.
            kind: name of the guarded object, for messages.
        """
        self.reentrant, self.kind = reentrant, kind
        lock = threading.RLock() if reentrant else threading.Lock()
        self.acquire: Callable[[bool], bool] = lock.acquire
        self.release: Callable[[], None] = lock.release

    def __reduce__(self) -> tuple[type[Guard], tuple[bool, str]]:
        return Guard, (self.reentrant, self.kind)

    def error(self, name: str) -> CallError:
        """Build the error of a method that was called during another call."""
        article = "an" if self.kind[0] in "aeiou" else "a"
        more = f" ({_MORE[self.kind]})" if self.kind in _MORE else ""
        return CallError(
            f"{name}() was called while another call of this {self.kind} was under way, on another thread or "
            f"from a callback: give each thread {article} {self.kind} of its own{more}, or let one finish "
            "before the other begins"
        )


class Guarded(Protocol):
    """An object with methods that are `alone`."""

    @property
    def _guard(self) -> Guard: ...


Self = TypeVar("Self", bound=Guarded)


def alone(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """Decorate a method to raise an error while another thread is inside a guarded method of the object.

    Raises:
        CallError: (the decorated method) another call is under way; it is not affected.
    """
    name = method.__name__
    run: Callable[..., R] = method

    @functools.wraps(method)
    def call(self: Self, *args: P.args, **kwargs: P.kwargs) -> R:
        guard = self._guard
        if not guard.acquire(False):
            raise guard.error(name)
        try:
            if len(args) == 1 and not kwargs:  # quicker, and `step` is called like this
                return run(self, args[0])
            return run(self, *args, **kwargs)
        finally:
            guard.release()

    return cast("Callable[Concatenate[Self, P], R]", call)  # `wraps` hides that the first one is `self`
