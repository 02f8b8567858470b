"""Serves a study: the page's files, and a WebSocket for each participant (Starlette and uvicorn).

What a page sends is read by `messages.read_message`; what makes no sense is answered by a sentence, and who
goes on like that is put out. A page is told only what its seat sees (`session.Session`). All games are played
in one thread beside the loop that answers, one call at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from millebornes_env.errors import JournalError, MessageError, MilleBornesError
from millebornes_env.play.study.design import Participant, Study
from millebornes_env.play.study.messages import Allowance, read_message
from millebornes_env.play.study.session import Session
from millebornes_env.play.web.server import PAGE, POLICY, TYPES, is_loopback, is_loopback_origin, refusal

REFUSED: Final = 1008  # of RFC 6455: a message that the server does not want
REPLACED: Final = 4000
"""The same participant has opened another page."""

USUAL_PORTS: Final = {"http": 80, "https": 443}
"""Default ports of addresses that name none."""

_NOT_OURS: Final = ("/engine/", "/engine.json")  # no engine with hidden cards goes to participants
_UNWRITTEN: Final = (
    "The study cannot write down what is played: please tell the experimenter. Nothing is lost."
)
_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Limits:
    """Limits for clients.

    Attributes:
        at_once: messages, at once.
        each_second: messages, after that.
        nonsense: messages that make no sense, until the connection is closed.
        to_join: seconds from opening a connection to the message that joins.
        to_read: seconds that a client takes to read an answer.
        strangers: connections that have not joined; with more of them, the oldest is closed.
        sessions: kept in memory while nobody is there; others are read again when somebody comes.
    """

    at_once: int = 40
    each_second: float = 10
    nonsense: int = 10
    to_join: float = 10
    to_read: float = 10
    strangers: int = 128
    sessions: int = 256


class _PutOutError(Exception):
    """A connection is closed, and told why."""


class StudyServer:
    """Answers the pages of a study.

    Attributes:
        app: to be served by uvicorn.
    """

    def __init__(self, study: Study, addresses: Iterable[str], limits: Limits | None = None) -> None:
        """Prepare to answer.

        Args:
            study: what is played.
            addresses: under which pages may be opened, as "http://127.0.0.1:8653", besides those of this
                computer; all others are refused, and told the first of these.
            limits: of clients.
        """
        self._study, self._limits = study, limits or Limits()
        self._sessions: OrderedDict[int, Session] = OrderedDict()
        self._pages: dict[str, WebSocket] = {}  # by the participant's token
        self._joining: dict[
            int, int
        ] = {}  # sessions, by the sockets that are being told where the game stands
        self._allowances: dict[str, Allowance] = {}
        self._strangers: OrderedDict[int, WebSocket] = OrderedDict()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="games")
        self._files = _files_of(PAGE)
        self._people: dict[int, list[Participant]] = {}
        for one in study.participants.values():
            self._people.setdefault(one.session, []).append(one)
        routes = [
            WebSocketRoute("/study", self._meet),
            Route("/engine.json", _engine),
            Route("/{path:path}", self._file),
        ]
        self.app = _OnlyFrom(Starlette(routes=routes), tuple(addresses))

    def close(self) -> None:
        """End the thread of the games, once it has made the decision that it is at."""
        self._worker.shutdown(cancel_futures=True)

    async def _file(self, request: Request) -> Response:
        file = self._files.get(request.url.path)
        if file is None:
            return PlainTextResponse("there is no such file here\n", 404)
        return FileResponse(file, media_type=TYPES[file.suffix])

    # A connection ------------------------------------------------------------------------------------------

    async def _meet(self, socket: WebSocket) -> None:
        """Talk with one page, until it goes or is put out."""
        await socket.accept()
        who: Participant | None = None
        try:
            who = await self._joined(socket)
            await self._let_in(socket, who)
            await self._serve(socket, who)
        except WebSocketDisconnect:
            pass  # it has gone, or does not read
        except _PutOutError as error:
            await _refuse(socket, str(error))
        except Exception:
            _log.exception("a page of the study failed")
            await _refuse(
                socket, "The study's server failed; the terminal says why. Please load this page anew."
            )
        finally:
            self._strangers.pop(id(socket), None)
            if who is not None and self._pages.get(who.token) is socket:
                del self._pages[who.token]
                with contextlib.suppress(MilleBornesError):
                    await self._in_session(who, lambda session: session.joined(who.seat, has_left=True))

    async def _joined(self, socket: WebSocket) -> Participant:
        """Return the participant who has opened the connection.

        Raises:
            _PutOutError: nobody that we know.
        """
        self._strangers[id(socket)] = socket
        while len(self._strangers) > self._limits.strangers:
            _, oldest = self._strangers.popitem(last=False)
            await _refuse(oldest, "too many connections wait: open the link again")
        try:
            async with asyncio.timeout(self._limits.to_join):
                message = read_message(await _text(socket))
        except TimeoutError:
            raise _PutOutError("nothing came: open the link again") from None
        except MessageError as error:
            raise _PutOutError(str(error)) from None
        if message["type"] != "join":
            raise _PutOutError("the first message is join")
        who = self._participant(message["token"])
        if who is None:
            raise _PutOutError("This link is of no participant of this study: ask for another one.")
        self._strangers.pop(id(socket), None)
        return who

    def _participant(self, token: str) -> Participant | None:
        """Return the participant with this token, in a time that reveals nothing about the tokens."""
        found = self._study.participants.get(token)
        return found if found and secrets.compare_digest(found.token.encode(), token.encode()) else None

    async def _let_in(self, socket: WebSocket, who: Participant) -> None:
        """Tell a participant where the game stands; a page that was opened before is closed.

        Raises:
            _PutOutError: too many pages were opened, or the session's file cannot be read or written.
        """
        self._count(who)
        self._joining[id(socket)] = who.session
        try:
            await self._in_session(who, lambda session: session.joined(who.seat))
            while True:
                before = self._pages.pop(who.token, None)
                if before is not None:
                    await _refuse(before, "This game was opened in another window: go on there.", REPLACED)
                welcome = await self._in_session(who, lambda session: session.welcome(who.seat))
                await self._send(socket, welcome)
                if who.token not in self._pages:
                    break
            self._pages[who.token] = socket
        except JournalError as error:
            _log.error("%s", error)
            raise _PutOutError(_UNWRITTEN) from None
        finally:
            del self._joining[id(socket)]
        await self._tell(who.session)

    async def _serve(self, socket: WebSocket, who: Participant) -> None:
        """Answer a participant's messages.

        Raises:
            _PutOutError: they are too many, or make no sense.
            WebSocketDisconnect: the page has gone.
        """
        left = self._limits.nonsense
        while True:
            text = await _text(socket)
            self._count(who)
            try:
                message = read_message(text)
                await self._answer(socket, who, message)
            except MessageError as error:
                left -= 1
                if left <= 0:
                    raise _PutOutError(
                        f"too many messages that make no sense; the last one: {error}"
                    ) from None
                await self._send(socket, {"type": "refused", "id": None, "error": str(error)})

    async def _answer(self, socket: WebSocket, who: Participant, message: dict[str, Any]) -> None:
        """Carry a message out; what the table says against it is an answer, too."""
        if message["type"] == "join":
            raise MessageError("this page has joined already")
        answer: dict[str, Any] = {"type": "answer", "id": message["id"]}
        try:
            answer["result"] = await self._in_session(who, _asked(who.seat, message))
        except JournalError as error:
            _log.error("%s", error)
            answer["error"] = _UNWRITTEN
        except MilleBornesError as error:
            answer["error"] = str(error)
        await self._tell(who.session)
        await self._send(socket, answer)

    def _count(self, who: Participant) -> None:
        """Count a message.

        Raises:
            _PutOutError: there are too many.
        """
        if who.token not in self._allowances:
            self._allowances[who.token] = Allowance(self._limits.at_once, self._limits.each_second)
        if not self._allowances[who.token].takes():
            raise _PutOutError("too many messages: wait a minute, then load this page anew")

    # Sessions ----------------------------------------------------------------------------------------------

    async def _in_session(self, who: Participant, call: Callable[[Session], _Result]) -> _Result:
        """Call a function of the participant's session, in the thread of the games."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, lambda: call(self._session(who.session)))

    def _session(self, number: int) -> Session:
        """The session, from memory or from its file."""
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

    async def _tell(self, session: int) -> None:
        """Send the pages of a session what they have not been told."""
        for who in self._people[session]:
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
            WebSocketDisconnect: the page has gone, or does not read.
        """
        try:
            async with asyncio.timeout(self._limits.to_read):
                await socket.send_text(json.dumps(content, ensure_ascii=False))
        except TimeoutError:
            await _close(socket, REFUSED)
            raise WebSocketDisconnect(REFUSED) from None
        except RuntimeError:  # Starlette's, where the connection was closed by us
            raise WebSocketDisconnect(REFUSED) from None


def _asked(seat: int, message: dict[str, Any]) -> Callable[[Session], Any]:
    """Return the call to a session that a message asks for."""
    kind = message["type"]
    if kind == "begin":
        return lambda session: session.begin(seat, message["game"])
    if kind == "play":
        return lambda session: session.play(seat, message["decision"], message["action"], message["ms"])
    if kind == "next_round":
        return lambda session: session.next_round(seat)
    return lambda session: session.why_not(seat, message["card"], message["target_team"])


async def _text(socket: WebSocket) -> str | None:
    """The next message; None: it was of bytes.

    Raises:
        WebSocketDisconnect: the page has gone.
    """
    try:
        message = await socket.receive()
    except RuntimeError:  # Starlette's, where the connection was closed
        raise WebSocketDisconnect(REFUSED) from None
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    text: str | None = message.get("text")
    return text


async def _refuse(socket: WebSocket, error: str, code: int = REFUSED) -> None:
    """Say why, and close the connection."""
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
    """Tell the page which engine to use; this is its first request."""
    return JSONResponse({"engine": "study"})


def _files_of(page: Path) -> dict[str, Path]:
    """The page's files by their paths; nothing else is handed out."""
    found = {
        f"/{file.relative_to(page).as_posix()}": file for file in page.rglob("*") if file.suffix in TYPES
    }
    kept = {path: file for path, file in found.items() if not path.startswith(_NOT_OURS)}
    return kept | {"/": page / "index.html"}


def _hosts_of(address: str) -> tuple[str, ...]:
    """Return the allowed Host headers for an address: some proxies add the default port."""
    scheme, _, host = address.partition("://")
    return (host,) if urlsplit(address).port else (host, f"{host}:{USUAL_PORTS[scheme]}")


class _OnlyFrom:
    """Refuses requests that name another host, and pages of another origin that ask for the WebSocket."""

    def __init__(self, app: ASGIApp, addresses: tuple[str, ...]) -> None:
        self._app, self._address = app, addresses[0]
        self._origins = {address.rstrip("/") for address in addresses}
        self._hosts = {name for address in self._origins for name in _hosts_of(address)}
        self._sockets = {"ws" + one.removeprefix("http") for one in self._origins}
        self._headers = {
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        problem = None
        if host not in self._hosts and not is_loopback(host):
            problem = refusal("Host", headers.get("host"), f"{self._address}/")
        elif scope["type"] == "websocket" and not self._is_our_origin(origin):
            problem = refusal("Origin", origin, f"{self._address}/")
        if problem is not None:
            return await PlainTextResponse(problem, 403)(scope, receive, send)
        await self._app(scope, receive, self._dressed(send, host) if scope["type"] == "http" else send)

    def _is_our_origin(self, origin: str | None) -> bool:
        return origin is not None and (origin in self._origins or is_loopback_origin(origin))

    def _dressed(self, send: Send, host: str) -> Send:
        """Add our headers to an answer; a page may open a WebSocket to the host that it came from."""
        own = {f"ws://{host}"} if is_loopback(host) else set()
        sockets = " ".join(sorted(self._sockets | own))
        policy = {"Content-Security-Policy": f"{POLICY}; connect-src 'self' {sockets}"}
        ours = [(name.lower().encode(), value.encode()) for name, value in (self._headers | policy).items()]

        async def send_dressed(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *ours]}
            await send(message)

        return send_dressed


__all__ = ["REFUSED", "REPLACED", "USUAL_PORTS", "Limits", "StudyServer"]
