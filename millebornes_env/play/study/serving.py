"""Runs the server of a study until Ctrl-C."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import uvicorn

from millebornes_env._util import files
from millebornes_env.errors import PlayError
from millebornes_env.play.study.design import Design
from millebornes_env.play.study.messages import MOST_BYTES
from millebornes_env.play.study.server import USUAL_PORTS, StudyServer
from millebornes_env.play.study.session import new_table
from millebornes_env.play.study.slow_clients import FrameLimits, bounded, impatient, without_tracebacks
from millebornes_env.play.web.server import USUAL_PORT

_HIGHEST_PORT: Final = 65_535
_LOCK: Final = ".lock"


def locked(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Keep the folder to this process.

    Raises:
        PlayError: another process runs the study.
    """
    refusal = PlayError(f"{folder}: another process runs this study already: stop it first")
    return files.locked(folder / _LOCK, refusal)


def listening(host: str, port: int) -> socket.socket:
    """Take a port.

    Args:
        host: an address of this computer, or a name for one.
        port: 0: the usual one, so that links stay the same.

    Raises:
        PlayError: there is no such port or host, or somebody else has it.
    """
    wanted = port or USUAL_PORT
    if not 0 < wanted <= _HIGHEST_PORT:
        raise PlayError(f"a port is a number from 1 to {_HIGHEST_PORT}; got {port}")
    try:
        return _bound(host, wanted)
    except OSError as error:
        raise PlayError(
            f"port {wanted} of {host} cannot be used ({error.strerror}): choose another with --port"
        ) from None


def _bound(host: str, port: int) -> socket.socket:
    family, kind, number, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    taken = socket.socket(family, kind, number)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(place)
        taken.listen()
    except OSError:
        taken.close()
        raise
    return taken


def addresses_of(host: str, port: int, address: str | None) -> list[str]:
    """Under which addresses pages may be opened, as browsers write them; links have the first of them.

    Args:
        host: where the server listens.
        port: likewise.
        address: what participants open, if it is another, such as that of a proxy; None: it is not.

    Raises:
        PlayError: it is no address; or the server listens everywhere, and nobody says what people open.
    """
    local = _origin("http", host, port)
    if address is None:
        if _is_everywhere(host):
            raise PlayError(f"--host {host} is no address that participants can open: name one by --address")
        others = [_origin("http", "localhost", port)] if _is_local(host) else []
        return list(dict.fromkeys([local, *others]))
    return list(dict.fromkeys([_public(address), *([] if _is_everywhere(host) else [local])]))


def _public(address: str) -> str:
    """The address that participants open, as browsers write it.

    Raises:
        PlayError: it is none.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:  # of a port that is none, or brackets
        parts, host, port = urlsplit(""), None, None
    has_more = parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in USUAL_PORTS or not host or has_more:
        raise PlayError(f"--address is like https://study.example, without a path; got {address}")
    return _origin(parts.scheme, host, port)


def _origin(scheme: str, host: str, port: int | None) -> str:
    """An address as browsers write it: in lower case, and without the scheme's usual port."""
    host = host.lower()
    with contextlib.suppress(ValueError):
        host = ipaddress.ip_address(host).compressed
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" + ("" if port in (None, USUAL_PORTS[scheme]) else f":{port}")


def _is_everywhere(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_unspecified
    return False


def _is_local(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host.lower() == "localhost"


def warm_up(design: Design) -> None:
    """Play the first decision of a game, so that all is compiled, and whatever cannot be is refused now.

    Raises:
        MilleBornesError: the agent does not play at this table.
    """
    table = new_table(design)
    table.start(design.edition, design.players, design.teams, design.episode, 0)
    if len(design.seats) < design.players:
        table.play(table.choose(design.against)["action"])


def server_of(
    answers: StudyServer, *, to_ask: float = 10, most_asking: int = 256, frames: FrameLimits | None = None
) -> uvicorn.Server:
    """The server, which runs when its method `run` is called with a socket.

    Args:
        answers: what answers the pages; whoever made it closes it.
        to_ask: seconds from opening a connection to a whole request.
        most_asking: connections without one; with more of them, the oldest is closed.
        frames: limits of a WebSocket below its messages; None: the usual ones.
    """
    log = logging.getLogger("uvicorn.error")
    log.setLevel(logging.ERROR)  # what clients do wrong is no news
    log.addFilter(without_tracebacks)
    config = uvicorn.Config(
        answers.app,
        http=impatient(to_ask, most=most_asking),
        ws=bounded(frames or FrameLimits()),
        ws_max_size=MOST_BYTES,
        ws_per_message_deflate=False,  # a small message could be unpacked into a large one
        ws_ping_interval=20,
        ws_ping_timeout=20,
        lifespan="off",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


__all__ = ["addresses_of", "listening", "locked", "server_of", "warm_up"]
