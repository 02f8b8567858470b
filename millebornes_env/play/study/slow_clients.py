"""Closes connections that send nothing, send too much, or do not read.

uvicorn waits without limit for the first request of a connection, and for the end of a request; here both
have a time limit, and if too many connections wait, the oldest is closed. uvicorn answers pings and closing
frames before any message reaches the study, and keeps these answers until the peer reads them: here frames of
all kinds are counted, and a peer that does not read is disconnected.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from millebornes_env.play.study.messages import Allowance

_LONGEST: Final = 60
"""Time limit in seconds for an answer, in case the peer does not read."""

_PIECE: Final = 4096
"""Bytes parsed at once: the frames of a large read would take far more memory than its bytes."""


class _Impatient(H11Protocol):
    """A connection with a time limit.

    Attributes:
        seconds: time limit for receiving a whole request.
        most: connections that may wait for a request or its rest.
        waiting: the waiting connections of the server, the oldest first.
    """

    seconds: float
    most: int
    waiting: OrderedDict[int, H11Protocol]

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
            self._timer = self.loop.call_later(_LONGEST, self._give_up)

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._rest()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        self._rest()
        self._timer = self.loop.call_later(self.seconds, self._give_up)
        self.waiting[id(self)] = self
        while len(self.waiting) > self.most:
            _, oldest = self.waiting.popitem(last=False)
            oldest.transport.abort()

    def _rest(self) -> None:
        self.waiting.pop(id(self), None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._rest()
        self.transport.abort()


def impatient(seconds: float, most: int) -> type[H11Protocol]:
    """Return the class of a server's connections.

    Args:
        seconds: time limit for receiving a whole request.
        most: connections without a request; beyond that, the oldest is closed.
    """
    return type("Impatient", (_Impatient,), {"seconds": seconds, "most": most, "waiting": OrderedDict()})


@dataclass(frozen=True)
class FrameLimits:
    """Limits of one WebSocket; a connection beyond them is aborted.

    Attributes:
        burst: frames in a row without a pause, including control frames and parts of messages.
        per_second: frames per second after that.
        most_unread: bytes of answers that the peer has not read.
        to_read: time limit in seconds for reading an answer.
    """

    burst: int = 256
    per_second: float = 20
    most_unread: int = 2**20
    to_read: float = 20


class _Bounded(WebSocketsSansIOProtocol):
    """A WebSocket with limited memory."""

    limits: FrameLimits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._allowance = Allowance(self.limits.burst, self.limits.per_second)
        self._unread: asyncio.TimerHandle | None = None
        transport.set_write_buffer_limits(high=0)  # writing is paused while anything is unread

    def connection_lost(self, exc: Exception | None) -> None:
        self._has_read()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._has_read()
        self._unread = self.loop.call_later(self.limits.to_read, self.transport.abort)

    def resume_writing(self) -> None:
        self._has_read()
        super().resume_writing()

    def _has_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _PIECE):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + _PIECE])
            if self.transport.get_write_buffer_size() > self.limits.most_unread:
                self.transport.abort()

    def handle_events(self) -> None:
        if all(self._allowance.takes() for _ in self.conn.events):
            super().handle_events()
        else:
            self.transport.abort()


def bounded(limits: FrameLimits) -> type[WebSocketsSansIOProtocol]:
    """Return the class of a server's WebSockets."""
    return type("Bounded", (_Bounded,), {"limits": limits})


def without_tracebacks(record: logging.LogRecord) -> bool:
    """Reduce a client's invalid UTF-8 to one line of the log, since it is not an error of the server."""
    if record.exc_info and isinstance(record.exc_info[1], UnicodeDecodeError):
        record.exc_info = None
    return True
