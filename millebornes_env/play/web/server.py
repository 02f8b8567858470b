"""The server of the page and its engine (Starlette and uvicorn), for this computer only.

The page's files are sent as they are. A message to the engine is a POST to `/engine`, in JSON:

    {"table": "k3x...", "message": "play", "arguments": {"action": 13}}
    {"result": ...} or {"error": "..."}

Errors of the table are also such answers; a status of 4xx means that the request did not come from our page.

Each open page has its own table. A message needs the page's token. Requests must name this computer as their
host and origin, so that no other page in the browser can use the engine. Any port is allowed: `ssh -L` and
editors forward the page to other ports. `page_app` and `listening` also serve studies.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from millebornes_env.errors import MilleBornesError, PlayError, shown
from millebornes_env.render.millebornes.filling import DRAWING

PAGE: Final = Path(__file__).parent
"""The folder with the page's files."""

HOST: Final = "127.0.0.1"
USUAL_PORT: Final = 8653
USUAL_PORTS: Final = {"http": 80, "https": 443}
"""Default ports of addresses that name none."""
TOKEN_HEADER: Final = "X-Table-Token"
MOST_BYTES: Final = 4 * 2**20
"""Size limit of a message: the record of a very long match has about 100 kB."""

_MOST_TABLES: Final = 64
_HIGHEST_PORT: Final = 65_535
_TYPES: Final = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".bin": "application/octet-stream",
}
"""Suffixes and media types of the page's files; no other files are served, such as this one."""
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_POLICY: Final = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; frame-ancestors 'none'"
)

_LOOPBACK: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
_log = logging.getLogger(__name__)


# Serving a page ---------------------------------------------------------------------------------------------


def listening(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    Args:
        host: address or host name of this computer.
        port: number of the port; 0: the default port, so that links stay the same.

    Raises:
        PlayError: the port or host is invalid, or another program uses the port.
    """
    if not 0 <= port <= _HIGHEST_PORT:
        raise PlayError(
            f"a port is a number from 1 to {_HIGHEST_PORT}, or 0 for the default port; got {port}"
        )
    wanted = port or USUAL_PORT
    try:
        return _bound(host, wanted)
    except UnicodeError:  # of a name that no computer can have
        raise PlayError(f"--host is the name or the address of a computer; got {host!r}") from None
    except OSError as error:
        raise PlayError(
            f"port {wanted} of {host} cannot be used ({error.strerror}): choose another with --port"
        ) from None


def _bound(host: str, port: int) -> socket.socket:
    family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    opened = socket.socket(family, kind, number)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen()
    except OSError:
        opened.close()
        raise
    return opened


def server_of(app: ASGIApp, **options: Any) -> uvicorn.Server:
    """Return a quiet server, which runs when its method `run` is called with a socket.

    Args:
        app: app that answers the requests.
        options: further options of `uvicorn.Config`.
    """
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # errors of clients are not reported
    usual: dict[str, Any] = {
        "http": "h11",
        "ws": "none",
        "lifespan": "off",
        "access_log": False,
        "log_config": None,
        "proxy_headers": False,
        "server_header": False,
        "timeout_graceful_shutdown": 2,
    }
    return uvicorn.Server(uvicorn.Config(app, **(usual | options)))


def page_app(routes: Sequence[BaseRoute], addresses: Iterable[str], without: tuple[str, ...] = ()) -> ASGIApp:
    """Return an app that serves the page's files and some routes, and rejects foreign requests.

    Args:
        routes: routes that take precedence over files.
        addresses: addresses of the page, such as "http://127.0.0.1:8653", in addition to this computer's
            own; error messages name the first.
        without: path prefixes of files that are not served.
    """
    files = {
        f"/{file.relative_to(PAGE).as_posix()}": file for file in PAGE.rglob("*") if file.suffix in _TYPES
    }
    files |= {f"/drawing/{file.name}": file for file in DRAWING.iterdir()}
    files["/"] = PAGE / "index.html"

    async def send_file(request: Request) -> Response:
        path = request.url.path
        if path not in files or path.startswith(without):
            return PlainTextResponse("file not found\n", 404)
        return FileResponse(files[path], media_type=_TYPES[files[path].suffix])

    return _OnlyFrom(Starlette(routes=[*routes, Route("/{path:path}", send_file)]), tuple(addresses))


class _OnlyFrom:
    """Refuses requests that name another host or that come from a page of another origin."""

    def __init__(self, app: ASGIApp, addresses: tuple[str, ...]) -> None:
        self._app, self._address = app, addresses[0]
        self._origins = {address.rstrip("/") for address in addresses}
        self._hosts = {name for address in self._origins for name in _hosts_of(address)}
        self._sockets = {"ws" + one.removeprefix("http") for one in self._origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or reject a request."""
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        problem = None
        if host not in self._hosts and not _is_loopback(host):
            problem = self._refusal("Host", headers.get("host"))
        elif not self._is_our_origin(origin, is_needed=scope["type"] == "websocket"):
            problem = self._refusal("Origin", origin)
        if problem is not None:
            return await PlainTextResponse(problem, 403)(scope, receive, send)
        await self._app(scope, receive, self._with_headers(send, host) if scope["type"] == "http" else send)

    def _is_our_origin(self, origin: str | None, *, is_needed: bool) -> bool:
        if origin is None:
            return not is_needed
        scheme, _, host = origin.partition("://")
        return origin in self._origins or (scheme in USUAL_PORTS and _is_loopback(host))

    def _refusal(self, header: str, value: str | None) -> str:
        given = "is missing" if value is None else f"is {shown(value)}"
        return (
            f"Refused: the header {header} {given}, which does not name this server. Open {self._address}/; "
            "a forwarded port is opened as http://localhost:PORT/.\n"
        )

    def _with_headers(self, send: Send, host: str) -> Send:
        """Add our headers to an answer; a page may open a WebSocket to the host that it came from."""
        own = {f"ws://{host}"} if _is_loopback(host) else set()
        sockets = " ".join(sorted(self._sockets | own))
        policy = {"Content-Security-Policy": f"{_POLICY}; connect-src 'self' {sockets}"}
        ours = [(name.lower().encode(), value.encode()) for name, value in (_HEADERS | policy).items()]

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *ours]}
            await send(message)

        return send_with_headers


def _hosts_of(address: str) -> tuple[str, ...]:
    """Return the allowed Host headers for an address: some proxies add the default port."""
    scheme, _, host = address.partition("://")
    return (host,) if urlsplit(address).port else (host, f"{host}:{USUAL_PORTS[scheme]}")


def _is_loopback(host: str) -> bool:
    """Return True if a `Host` header names this computer, with any port.

    Checking the name prevents DNS rebinding: a page of another site keeps its own name, whatever address the
    name resolves to.
    """
    return _LOOPBACK.fullmatch(host) is not None


# The table --------------------------------------------------------------------------------------------------


class TableServer:
    """The server of the table's page.

    Attributes:
        token: token that messages to the engine must have.
        port: port of the page.
        url: address of the page.
    """

    def __init__(self, new_table: Callable[[], Any], port: int = 0) -> None:
        """Open the port; `run` starts to answer.

        Args:
            new_table: function that creates the engine of a page; its method `answer` is called by one thread
                at a time.
            port: number of the port; 0: the default port, for which the browser has saved the last game, or
                a free one if another program uses it.

        Raises:
            PlayError: the port is invalid, or another program uses it.
        """
        try:
            self._socket = listening(HOST, port)
        except PlayError:
            if port != 0:
                raise
            self._socket = _bound(HOST, 0)
        self.token = secrets.token_urlsafe(24)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{HOST}:{self.port}/"
        self._new_table = new_table
        self._tables: OrderedDict[str, Any] = OrderedDict()
        self._one_at_a_time = threading.Lock()
        routes = [Route("/engine.json", self._engine), Route("/engine", self._message, methods=["POST"])]
        self._server = server_of(page_app(routes, [self.url.rstrip("/")]))

    def run(self) -> None:
        """Answer requests until `stop` is called or Ctrl-C is pressed."""
        with self._socket:
            self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End `run`, from another thread."""
        self._server.should_exit = True

    async def _engine(self, request: Request) -> Response:
        return JSONResponse({"engine": "server", "token": self.token})

    async def _message(self, request: Request) -> Response:
        """Pass a message to the engine."""
        given, length = request.headers.get(TOKEN_HEADER, ""), request.headers.get("Content-Length")
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return JSONResponse({"error": "the server was restarted: reload this page"}, 403)
        if length is None:
            return JSONResponse({"error": "a message needs the header Content-Length"}, 411)
        if int(length) > MOST_BYTES:
            return JSONResponse({"error": f"a message has at most {MOST_BYTES:,} bytes"}, 413)
        try:
            message = json.loads(await request.body())
        except (ValueError, RecursionError):
            return JSONResponse({"error": "the message is not JSON"}, 400)
        try:
            return JSONResponse({"result": await run_in_threadpool(self.answer, message)})
        except (MilleBornesError, ImportError) as error:
            return JSONResponse({"error": str(error)})
        except Exception:
            _log.exception("a message to the table failed")
            return JSONResponse({"error": "the engine failed; the terminal shows the error"}, 500)

    def answer(self, message: Any) -> Any:
        """Return the engine's answer to a message of the page.

        Raises:
            PlayError: the message is malformed.
            MilleBornesError: the message is invalid for the table.
        """
        wanted = {"table": str, "message": str, "arguments": dict}
        if not isinstance(message, dict) or set(message) != set(wanted):
            raise PlayError("a message has the entries table, message and arguments")
        for name, kind in wanted.items():
            if not isinstance(message[name], kind):
                raise PlayError(f"the entry {name!r} of a message is {shown(message[name])}")
        with self._one_at_a_time:
            return self._table(message["table"]).answer(message["message"], message["arguments"])

    def _table(self, name: str) -> Any:
        """Return the table of that name, a new one if necessary; the least recently used one is dropped."""
        if name not in self._tables:
            self._tables[name] = self._new_table()
            while len(self._tables) > _MOST_TABLES:
                self._tables.popitem(last=False)
        self._tables.move_to_end(name)
        return self._tables[name]
