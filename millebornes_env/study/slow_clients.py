"""Connections that send nothing, or do not read, are closed, so that they take nobody else's place.

uvicorn waits without limit for the first request of a connection, and for one that was begun; here each has
its time, and of many that wait the oldest is given up.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class _Limits:
    """What the connections of one server share.

    Attributes:
        seconds: until a request must be whole.
        longest: seconds that an answer may take.
        most: connections that wait for a request, or for the rest of one.
        waiting: those that do, the oldest first.
    """

    def __init__(self, seconds: float, longest: float, most: int) -> None:
        self.seconds, self.longest, self.most = seconds, longest, most
        self.waiting: OrderedDict[int, H11Protocol] = OrderedDict()


class _Impatient(H11Protocol):
    """A connection that has its time."""

    limits: _Limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before and not self.cycle.response_complete:
            self._rest()
            self._timer = self.loop.call_later(self.limits.longest, self._give_up)

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._rest()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        self._rest()
        self._timer = self.loop.call_later(self.limits.seconds, self._give_up)
        waiting = self.limits.waiting
        waiting[id(self)] = self
        while len(waiting) > self.limits.most:
            _, oldest = waiting.popitem(last=False)
            oldest.transport.abort()

    def _rest(self) -> None:
        self.limits.waiting.pop(id(self), None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._rest()
        self.transport.abort()


def impatient(seconds: float = 10, longest: float = 60, most: int = 256) -> type[H11Protocol]:
    """The class of a server's connections.

    Args:
        seconds: until a request must have come, whole.
        longest: seconds that an answer may take, if the other side does not read.
        most: connections without a request; with more of them, the oldest is closed.
    """

    class Impatient(_Impatient):
        limits = _Limits(seconds, longest, most)

    return Impatient


__all__ = ["impatient"]
