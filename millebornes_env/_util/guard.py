"""One call at a time, for environments and agents: two threads that step one environment would never return.

Compiled loops run without Python's lock, so nothing but this keeps a second thread from changing a game in
the middle of a step.
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
    """A lock that is tried, never waited for.

    A copy or a pickle of it is a new one that nobody holds, so that it does not keep its owner from being
    copied.
    """

    def __init__(self, reentrant: bool = True, kind: str = "environment") -> None:
        """Make a guard.

        Args:
            reentrant: whether a call may call another one on the same thread.
            kind: name of what it guards, for messages.
        """
        self.reentrant, self.kind = reentrant, kind
        lock = threading.RLock() if reentrant else threading.Lock()
        self.take: Callable[[bool], bool] = lock.acquire
        self.give_back: Callable[[], None] = lock.release

    def __reduce__(self) -> tuple[type[Guard], tuple[bool, str]]:
        return Guard, (self.reentrant, self.kind)

    def refusal(self, name: str) -> CallError:
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
    """Let the method run only while no other thread is inside a method of the same object.

    Raises:
        CallError: (the method, when it is called) another one is; neither is disturbed.
    """
    name = method.__name__

    @functools.wraps(method)
    def call(self: Self, *args: P.args, **kwargs: P.kwargs) -> R:
        guard = self._guard
        if not guard.take(False):
            raise guard.refusal(name)
        try:
            return method(self, *args, **kwargs)
        finally:
            guard.give_back()

    return cast("Callable[Concatenate[Self, P], R]", call)  # `wraps` hides that the first one is `self`
