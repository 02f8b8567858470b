"""Serves the page and its engine from Python's standard library, to this computer only.

The page's files come as they are; a message to the engine is a POST to `/engine`, JSON both ways:

    {"table": "k3x...", "message": "play", "arguments": {"action": 13}}
    {"result": ...} or {"error": "..."}

What the table has to say against a message is such an answer, too; 4xx is for who is no page of ours.

Every page that is opened has a table of its own. A message needs the token that the page was given. Requests
must name this computer as their host and origin, so that no other page that is open in the browser can play
along. The port may be any: `ssh -L` and editors forward the page to another one.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import logging
import os
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from millebornes_env.errors import MilleBornesError, PlayError, shown

PAGE: Final = Path(__file__).parent
"""The folder with the page's files."""

HOST: Final = "127.0.0.1"
USUAL_PORT: Final = 8653
TOKEN_HEADER: Final = "X-Table-Token"
MOST_BYTES: Final = 4 * 2**20
"""Of a message: a record of a very long match has some 100 kB."""

_MOST_TABLES: Final = 64
_HIGHEST_PORT: Final = 65_535
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".bin": "application/octet-stream",
}
"""Suffixes and media types of the page's files; no other files are served, such as this one."""
POLICY: Final = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; frame-ancestors 'none'"
)

_LOOPBACK: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
_log = logging.getLogger(__name__)


def is_loopback(host: str) -> bool:
    """Return True if a `Host` header names this computer, with any port.

    The name is what stops DNS rebinding: a page of another site keeps its own name, whatever address the name
    leads to.
    """
    return _LOOPBACK.fullmatch(host) is not None


def is_loopback_origin(origin: str) -> bool:
    """Return True if an `Origin` header names a page of this computer, with any port."""
    scheme, _, host = origin.partition("://")
    return scheme in ("http", "https") and is_loopback(host)


def refusal(header: str, value: str | None, address: str) -> str:
    """Describe a refused `Host` or `Origin` header, and the address to open instead."""
    given = "is missing" if value is None else f"is {shown(value)}"
    return (
        f"Refused: the header {header} {given}, which does not name this server. Open {address}; a forwarded "
        "port is opened as http://localhost:PORT/.\n"
    )


class TableServer(http.server.ThreadingHTTPServer):
    """The page's server.

    Attributes:
        token: what messages to the engine must carry.
        url: where the page is.
    """

    daemon_threads = True
    allow_reuse_address = (
        os.name != "nt"
    )  # elsewhere a port of which only old connections are left may be taken

    def __init__(self, new_table: Callable[[], Any], port: int = 0, page: Path = PAGE) -> None:
        """Take a port; `serve_forever` begins to answer.

        Args:
            new_table: makes the engine of a page; its method `answer` is called, one call at a time.
            port: 0: the usual one, so that the browser finds the game again that it keeps for this address;
                or, if somebody else has it, one that is free.
            page: the folder with the page's files.

        Raises:
            PlayError: there is no such port, or somebody else has it.
        """
        if not 0 <= port <= _HIGHEST_PORT:
            raise PlayError(f"a port is a number from 1 to {_HIGHEST_PORT}, or 0 for a free one; got {port}")
        self.new_table = new_table
        self.page = page
        self.token = secrets.token_urlsafe(24)
        self._tables: OrderedDict[str, Any] = OrderedDict()
        self._one_at_a_time = threading.Lock()
        try:
            self._take(port)
        except OSError as error:
            raise PlayError(
                f"port {port} cannot be used ({error.strerror}): choose another, or leave --port away for a "
                "free one"
            ) from None

    def _take(self, port: int) -> None:
        if port == 0:
            with contextlib.suppress(OSError):
                super().__init__((HOST, USUAL_PORT), _Handler)
                return
        super().__init__((HOST, port), _Handler)

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_port}/"

    def answer(self, request: Any) -> Any:
        """Return the engine's answer to a message of the page.

        Raises:
            PlayError: it is no message.
            MilleBornesError: what the table has to say against it.
        """
        wanted = {"table": str, "message": str, "arguments": dict}
        if not isinstance(request, dict) or set(request) != set(wanted):
            raise PlayError("a message has the entries table, message and arguments")
        for name, kind in wanted.items():
            if not isinstance(request[name], kind):
                raise PlayError(f"the entry {name!r} of a message is {shown(request[name])}")
        with self._one_at_a_time:
            return self._table(request["table"]).answer(request["message"], request["arguments"])

    def _table(self, name: str) -> Any:
        """The table of that name, made when first asked for; the one not used for longest is given up."""
        if name not in self._tables:
            self._tables[name] = self.new_table()
            while len(self._tables) > _MOST_TABLES:
                self._tables.popitem(last=False)
        self._tables.move_to_end(name)
        return self._tables[name]


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers one request."""

    server: TableServer
    server_version = "millebornes"
    protocol_version = "HTTP/1.1"
    timeout = 60
    wbufsize = -1  # an answer is sent in one piece, or the other side waits 40 ms for its second half
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Hand a file of the page out."""
        if not self._is_for_us():
            return
        path = self.path.partition("?")[0]
        if path == "/engine.json":
            self._send_json({"engine": "server", "token": self.server.token})
            return
        file = self._file(path)
        if file is None:
            self._send(HTTPStatus.NOT_FOUND, b"there is no such file here\n", "text/plain; charset=utf-8")
        else:
            self._send(HTTPStatus.OK, file.read_bytes(), TYPES[file.suffix])

    def do_POST(self) -> None:
        """Hand a message to the engine."""
        if not self._is_for_us():
            return
        problem = self._problem_of_message()
        if problem is not None:
            self.close_connection = True
            self._send_json({"error": problem[1]}, problem[0])
            return
        try:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._send_json({"result": self.server.answer(request)})
        except (MilleBornesError, ImportError) as error:
            self._send_json({"error": str(error)})
        except (ValueError, RecursionError):
            self._send_json({"error": "the message is no JSON"}, HTTPStatus.BAD_REQUEST)
        except OSError:
            raise
        except Exception:
            _log.exception("a message to the table failed")
            self._send_json(
                {"error": "the engine failed; the terminal says why"}, HTTPStatus.INTERNAL_SERVER_ERROR
            )

    def _is_for_us(self) -> bool:
        """Return True if host and origin are this computer; refuse the request otherwise."""
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        if len(hosts) != 1 or not is_loopback(hosts[0]):
            problem = refusal("Host", ", ".join(hosts) or None, self.server.url)
        elif not all(map(is_loopback_origin, origins)):
            problem = refusal("Origin", ", ".join(origins), self.server.url)
        else:
            return True
        self.close_connection = True
        self._send(HTTPStatus.FORBIDDEN, problem.encode(), "text/plain; charset=utf-8")
        return False

    def _problem_of_message(self) -> tuple[HTTPStatus, str] | None:
        if self.path != "/engine":
            return HTTPStatus.NOT_FOUND, "messages go to /engine"
        given = self.headers.get(TOKEN_HEADER, "")
        if not secrets.compare_digest(given.encode(), self.server.token.encode()):
            return HTTPStatus.FORBIDDEN, "this page is of an earlier start: load it anew"
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return HTTPStatus.LENGTH_REQUIRED, "a message says how long it is"
        if int(length) > MOST_BYTES:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a message has at most {MOST_BYTES:,} bytes"
        return None

    def _file(self, path: str) -> Path | None:
        """A file of the page, and of nothing else on this computer."""
        folder = self.server.page.resolve()
        try:
            file = (folder / path.lstrip("/")).resolve()
            if path.endswith("/"):
                file /= "index.html"
            is_ours = file.is_relative_to(folder) and file.suffix in TYPES and file.is_file()
        except (OSError, ValueError):  # a name that no file can have
            return None
        return file if is_ours else None

    def _send_json(self, content: Any, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(status, json.dumps(content).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal belongs to the person."""


__all__ = ["HOST", "PAGE", "TOKEN_HEADER", "TableServer", "is_loopback", "is_loopback_origin", "refusal"]
