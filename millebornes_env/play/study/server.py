"""The server of a study: the page's files, and a WebSocket for each participant (Starlette and uvicorn).

Messages are read by `messages.read_message`; an invalid one is answered by an error, and too many of them
close the connection. A page only receives its seat's view (`session.Session`). All games are played in one
thread beside the event loop, one call at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from starlette.exceptions import WebSocketException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from millebornes_env.errors import JournalError, MilleBornesError, PlayError
from millebornes_env.play.study.design import Participant, Study
from millebornes_env.play.study.messages import Allowance, read_message
from millebornes_env.play.study.session import Session
from millebornes_env.play.web.server import page_app

REFUSED: Final = 1008  # closing code of RFC 6455 for a violation of the server's policy
REPLACED: Final = 4000
"""Closing code if the same participant has opened another page."""

_NOT_OURS: Final = ("/engine/",)  # no engine with hidden cards goes to participants
_UNWRITTEN: Final = (
    "The study cannot save the decisions: tell the experimenter, then reload this page. Nothing is lost."
)
_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Limits:
    """Limits for clients.

    Attributes:
        burst: messages in a row without a pause.
        per_second: messages per second after that.
        most_invalid: invalid messages before the connection is closed.
        to_join: seconds from opening a connection to the message `join`.
        to_read: seconds that a page may take to read an answer.
        most_unjoined: connections that have not joined; beyond that, the oldest is closed.
        sessions: sessions in memory; beyond that, those without a page are dropped and later read from files.
    """

    burst: int = 40
    per_second: float = 10
    most_invalid: int = 10
    to_join: float = 10
    to_read: float = 10
    most_unjoined: int = 128
    sessions: int = 256


class StudyServer:
    """The ASGI app that answers the pages of a study.

    Attributes:
        app: the ASGI app, to be served by uvicorn.
    """

    def __init__(self, study: Study, addresses: Iterable[str], limits: Limits | None = None) -> None:
        """Create the app.

        Args:
            study: the study.
            addresses: addresses of the page, such as "http://127.0.0.1:8653", in addition to this computer's
                own; error messages name the first.
            limits: limits for clients.
        """
        self._study, self._limits = study, limits or Limits()
        self._sessions: OrderedDict[int, Session] = OrderedDict()
        self._pages: dict[str, WebSocket] = {}  # by the participant's token
        self._joining: dict[int, int] = {}  # sessions by id of the sockets that are being welcomed
        self._allowances: dict[str, Allowance] = {}
        self._unjoined: OrderedDict[int, WebSocket] = OrderedDict()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="games")
        self._by_session: dict[int, list[Participant]] = {}
        for one in study.participants.values():
            self._by_session.setdefault(one.session, []).append(one)
        routes = [WebSocketRoute("/study", self._meet), Route("/engine.json", _engine)]
        self.app = page_app(routes, addresses, without=_NOT_OURS)

    def close(self) -> None:
        """End the thread of the games after its current decision."""
        self._worker.shutdown(cancel_futures=True)

    # A connection ------------------------------------------------------------------------------------------

    async def _meet(self, socket: WebSocket) -> None:
        """Serve one page until it disconnects or is rejected."""
        await socket.accept()
        who: Participant | None = None
        try:
            who = await self._joined(socket)
            await self._let_in(socket, who)
            await self._serve(socket, who)
        except WebSocketDisconnect:
            pass  # the page was closed, or does not read
        except WebSocketException as error:
            await _refuse(socket, error.reason)
        except Exception:
            _log.exception("a page of the study failed")
            await _refuse(
                socket,
                "The server of the study failed; its terminal shows the error. Please reload this page.",
            )
        finally:
            self._unjoined.pop(id(socket), None)
            if who is not None and self._pages.get(who.token) is socket:
                del self._pages[who.token]
                with contextlib.suppress(MilleBornesError):
                    await self._in_session(who, lambda session: session.joined(who.seat, has_left=True))

    async def _joined(self, socket: WebSocket) -> Participant:
        """Return the participant who has opened the connection.

        Raises:
            WebSocketException: the token or message is invalid, or the message came too late.
        """
        self._unjoined[id(socket)] = socket
        while len(self._unjoined) > self._limits.most_unjoined:
            _, oldest = self._unjoined.popitem(last=False)
            await _refuse(oldest, "too many connections are waiting: open the link again")
        try:
            async with asyncio.timeout(self._limits.to_join):
                message = read_message(await _text(socket))
        except TimeoutError:
            raise _rejection("no message was received: open the link again") from None
        except PlayError as error:
            raise _rejection(str(error)) from None
        if message["type"] != "join":
            raise _rejection("the first message must be join")
        who = self._study.participants.get(message["token"])
        if who is None:
            raise _rejection("This link belongs to no participant of this study: ask for another one.")
        self._unjoined.pop(id(socket), None)
        return who

    async def _let_in(self, socket: WebSocket, who: Participant) -> None:
        """Send a participant the current game; a page that was opened before is closed.

        Raises:
            WebSocketException: too many pages were opened, or the session's file cannot be read or written.
        """
        self._count(who)
        self._joining[id(socket)] = who.session
        try:
            await self._in_session(who, lambda session: session.joined(who.seat))
            while True:
                before = self._pages.pop(who.token, None)
                if before is not None:
                    await _refuse(before, "This game was opened in another window: continue there.", REPLACED)
                welcome = await self._in_session(who, lambda session: session.welcome(who.seat))
                await self._send(socket, welcome)
                if who.token not in self._pages:
                    break
            self._pages[who.token] = socket
        except JournalError as error:
            _log.error("%s", error)
            raise _rejection(_UNWRITTEN) from None
        finally:
            del self._joining[id(socket)]
        await self._send_news(who.session)

    async def _serve(self, socket: WebSocket, who: Participant) -> None:
        """Answer a participant's messages.

        Raises:
            WebSocketException: there are too many, or too many invalid ones.
            WebSocketDisconnect: the page was closed.
        """
        left = self._limits.most_invalid
        while True:
            text = await _text(socket)
            self._count(who)
            try:
                message = read_message(text)
                if message["type"] == "join":
                    raise PlayError("this page has already joined")
            except PlayError as error:
                left -= 1
                if left <= 0:
                    raise _rejection(f"too many invalid messages; the last one: {error}") from None
                await self._send(socket, {"type": "refused", "id": None, "error": str(error)})
            else:
                await self._answer(socket, who, message)

    async def _answer(self, socket: WebSocket, who: Participant, message: dict[str, Any]) -> None:
        """Answer a message; errors of the table are also answers."""
        answer: dict[str, Any] = {"type": "answer", "id": message["id"]}
        try:
            answer["result"] = await self._in_session(who, _call_of(who.seat, message))
        except JournalError as error:
            _log.error("%s", error)
            answer["error"] = _UNWRITTEN
        except MilleBornesError as error:
            answer["error"] = str(error)
        await self._send_news(who.session)
        await self._send(socket, answer)

    def _count(self, who: Participant) -> None:
        """Count a message.

        Raises:
            WebSocketException: there are too many.
        """
        if who.token not in self._allowances:
            self._allowances[who.token] = Allowance(self._limits.burst, self._limits.per_second)
        if not self._allowances[who.token].takes():
            raise _rejection("too many messages: wait a minute, then reload this page")

    # Sessions ----------------------------------------------------------------------------------------------

    async def _in_session(self, who: Participant, call: Callable[[Session], _Result]) -> _Result:
        """Call a function with the participant's session in the thread of the games."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, lambda: call(self._session(who.session)))

    def _session(self, number: int) -> Session:
        """Return a session, from memory or from its file."""
        if number not in self._sessions:
            self._sessions[number] = Session(self._study, number)
        self._sessions.move_to_end(number)
        if len(self._sessions) > self._limits.sessions:
            busy = {self._study.participants[token].session for token in list(self._pages)}
            busy.update(list(self._joining.values()))
            idle = next((one for one in self._sessions if one not in busy and one != number), None)
            if idle is not None:
                del self._sessions[idle]
        return self._sessions[number]

    async def _send_news(self, session: int) -> None:
        """Send each page of a session what it has not been sent yet."""
        for who in self._by_session[session]:
            socket = self._pages.get(who.token)
            if socket is None:
                continue
            seat = who.seat
            news = await self._in_session(who, lambda one, seat=seat: one.news(seat))  # type: ignore[misc]
            if news is not None:
                with contextlib.suppress(WebSocketDisconnect):
                    await self._send(socket, news)

    async def _send(self, socket: WebSocket, content: dict[str, Any]) -> None:
        """Send a message.

        Raises:
            WebSocketDisconnect: the page was closed, or does not read.
        """
        try:
            async with asyncio.timeout(self._limits.to_read):
                await socket.send_text(json.dumps(content, ensure_ascii=False))
        except TimeoutError:
            await _close(socket, REFUSED)
            raise WebSocketDisconnect(REFUSED) from None
        except RuntimeError:  # Starlette's error if we have closed the connection
            raise WebSocketDisconnect(REFUSED) from None


def _rejection(reason: str) -> WebSocketException:
    """Return the error that closes a connection with this message."""
    return WebSocketException(REFUSED, reason)


def _call_of(seat: int, message: dict[str, Any]) -> Callable[[Session], Any]:
    """Return the call of a session that a message requests."""
    kind = message["type"]
    if kind == "begin":
        return lambda session: session.begin(seat, message["game"])
    if kind == "play":
        return lambda session: session.play(seat, message["decision"], message["action"], message["ms"])
    if kind == "next_round":
        return lambda session: session.next_round(seat)
    return lambda session: session.why_not(seat, message["card"], message["target_team"])


async def _text(socket: WebSocket) -> str | None:
    """Return the next message; None if it was bytes.

    Raises:
        WebSocketDisconnect: the page was closed.
    """
    try:
        message = await socket.receive()
    except RuntimeError:  # Starlette's error if the connection was closed
        raise WebSocketDisconnect(REFUSED) from None
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    text: str | None = message.get("text")
    return text


async def _refuse(socket: WebSocket, error: str, code: int = REFUSED) -> None:
    """Send the error, and close the connection."""
    if socket.application_state is WebSocketState.CONNECTED:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
            async with asyncio.timeout(1):
                await socket.send_text(json.dumps({"type": "refused", "id": None, "error": error}))
    await _close(socket, code)


async def _close(socket: WebSocket, code: int) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
        async with asyncio.timeout(1):
            await socket.close(code)


async def _engine(request: Request) -> Response:
    """Return the name of the engine that the page should use; this is its first request."""
    return JSONResponse({"engine": "study"})
