"""Signals that stop a command: Ctrl-C, SIGTERM (a scheduler) and SIGHUP (a closed terminal).

All three mean the same: save the results so far and exit with 128 plus the signal's number. During a step
that must be completed, the signal waits:

    with Stops() as stops:
        while True:
            with stops.deferred():
                update()        # a signal during this ...
            save()              # ... is raised before this

A second signal does not wait.

`unbroken` does the same for code that crashes if an exception interrupts it, such as Numba's compiler.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, Final, Self

_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
SIGNALS: Final = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))

_AFTER_COMPILING: Final = b"stopping after this compilation; signal again to stop now\n"
_ONCE_MORE: Final = b"stopping after this step; signal again to stop now\n"
_STDERR: Final = 2


class Stopped(KeyboardInterrupt):
    """A signal has stopped the command.

    Attributes:
        number: number of the signal.
        half_done: it was a second signal, and has interrupted a step that should have been completed.
    """

    def __init__(self, number: int, *, half_done: bool = False) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.number = number
        self.half_done = half_done


def exit_code_of(stop: KeyboardInterrupt) -> int:
    """Return 128 plus the signal's number, as shells do."""
    return 128 + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)


class Stops:
    """In a `with` block, let the signals raise `Stopped`, at the end of the current step if it is deferred.

    Signals that the program ignores (by `nohup`, or SIGINT by a shell's `&`) stay ignored. Python
    handles signals in the main thread; in others the block changes nothing.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._is_deferring = False
        self._waiting: int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) not in {signal.SIG_IGN, None}:
                    self._handlers[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    @property
    def is_waiting(self) -> bool:
        """True if a signal waits until the current step is complete."""
        return self._waiting is not None

    @contextlib.contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer a signal to the end of the block, which then raises Stopped; a second one does not wait."""
        self._is_deferring = True
        try:
            yield
        finally:
            self._is_deferring = False
        if self._waiting is not None:
            number, self._waiting = self._waiting, None
            raise Stopped(number)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._is_deferring and self._waiting is None:
            self._waiting = number
            with contextlib.suppress(OSError):  # not print, which the signal may have interrupted
                os.write(_STDERR, _ONCE_MORE)
            return
        half_done, self._waiting = self._is_deferring, None
        raise Stopped(number, half_done=half_done)


class _Unbroken:
    """State of this process.

    Attributes:
        is_inside: the main thread is in an `unbroken` block.
    """

    is_inside = False


@contextlib.contextmanager
def unbroken() -> Iterator[None]:
    """Defer Python's signal handlers to the end of the block.

    In a command (`Stops`), a second signal ends the process immediately, with 128 plus its number, since the
    block cannot be left safely. Signals without a handler in Python are left as they are.
    """
    # Python handles signals in the main thread only.
    if _Unbroken.is_inside or threading.current_thread() is not threading.main_thread():
        yield
        return
    result = {int(number): signal.getsignal(number) for number in signal.valid_signals()}
    handlers = {number: handler for number, handler in result.items() if callable(handler)}
    waiting: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        if isinstance(getattr(handlers[number], "__self__", None), Stops):
            if set(waiting) & set(SIGNALS):
                os._exit(128 + number)
            with contextlib.suppress(OSError):  # not print, which the signal may have interrupted
                os.write(_STDERR, _AFTER_COMPILING)
        waiting.append(number)

    _Unbroken.is_inside = True
    for number in handlers:
        signal.signal(number, wait)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        _Unbroken.is_inside = False
        with contextlib.ExitStack() as last_first:  # all of them, whatever a handler raises
            for number in reversed(dict.fromkeys(waiting)):
                last_first.callback(signal.raise_signal, number)
