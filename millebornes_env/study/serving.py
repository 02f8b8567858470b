"""Runs the server of a study until Ctrl-C."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import uvicorn
from filelock import FileLock, Timeout

from millebornes_env.study.design import Design, Study
from millebornes_env.study.errors import StudyError
from millebornes_env.study.messages import MOST_BYTES
from millebornes_env.study.server import Limits, StudyServer
from millebornes_env.study.session import new_table
from millebornes_env.study.slow_clients import impatient
from millebornes_env.web.errors import ServerError
from millebornes_env.web.server import USUAL_PORT

_HIGHEST_PORT: Final = 65_535
_LOCK: Final = ".lock"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep the folder to this process.

    Raises:
        StudyError: another process runs the study.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StudyError(f"{folder}: another process runs this study already: stop it first") from None
    try:
        yield
    finally:
        lock.release()


def listening(host: str, port: int) -> socket.socket:
    """Take a port.

    Args:
        host: an address of this computer, or a name for one.
        port: 0: the usual one, so that links stay the same.

    Raises:
        ServerError: there is no such port or host, or somebody else has it.
    """
    wanted = port or USUAL_PORT
    if not 0 < wanted <= _HIGHEST_PORT:
        raise ServerError(f"a port is a number from 1 to {_HIGHEST_PORT}; got {port}")
    try:
        family, kind, number, _, place = socket.getaddrinfo(host, wanted, type=socket.SOCK_STREAM)[0]
        taken = socket.socket(family, kind, number)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(place)
        taken.listen()
    except OSError as error:
        raise ServerError(
            f"port {wanted} of {host} cannot be used ({error.strerror}): choose another with --port"
        ) from None
    return taken


def addresses_of(host: str, port: int, address: str | None) -> list[str]:
    """Under which addresses pages may be opened; links have the first of them.

    Args:
        host: where the server listens.
        port: likewise.
        address: what participants open, if it is another, such as that of a proxy; None: it is not.

    Raises:
        StudyError: it is no address; or the server listens everywhere, and nobody says what people open.
    """
    local = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if address is None:
        if _is_everywhere(host):
            raise StudyError(f"--host {host} is no address that participants can open: name one by --address")
        found = [f"http://{local}"]
        return [*found, f"http://localhost:{port}"] if _is_local(host) else found
    parts = urlsplit(address)
    if (
        parts.scheme not in ("http", "https")
        or not parts.netloc
        or parts.path not in ("", "/")
        or parts.query
    ):
        raise StudyError(f"--address is like https://study.example, without a path; got {address}")
    return [f"{parts.scheme}://{parts.netloc}", *([] if _is_everywhere(host) else [f"http://{local}"])]


def _is_everywhere(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_unspecified
    return False


def _is_local(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


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
    study: Study,
    addresses: list[str],
    limits: Limits | None = None,
    *,
    to_ask: float = 10,
    most_asking: int = 256,
) -> uvicorn.Server:
    """The server, which runs when its method `run` is called with a socket.

    Args:
        study: what is played.
        addresses: under which pages may be opened.
        limits: of clients.
        to_ask: seconds from opening a connection to a whole request.
        most_asking: connections without one; with more of them, the oldest is closed.
    """
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # what clients do wrong is no news
    config = uvicorn.Config(
        StudyServer(study, addresses, limits).app,
        http=impatient(to_ask, most=most_asking),
        ws="websockets-sansio",
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
