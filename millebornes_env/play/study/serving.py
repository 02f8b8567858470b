"""Runs the server of a study until Ctrl-C."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import uvicorn

from millebornes_env._util import files
from millebornes_env.errors import PlayError
from millebornes_env.play.study.design import Design
from millebornes_env.play.study.messages import MOST_BYTES
from millebornes_env.play.study.server import StudyServer
from millebornes_env.play.study.session import new_table
from millebornes_env.play.study.slow_clients import FrameLimits, bounded, impatient, without_tracebacks
from millebornes_env.play.web import server
from millebornes_env.play.web.server import USUAL_PORTS

_LOCK: Final = ".lock"


def locked(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Lock the folder for this process.

    Raises:
        PlayError: another process runs the study.
    """
    refusal = PlayError(f"{folder}: another process runs this study already: stop it first")
    return files.locked(folder / _LOCK, refusal)


def addresses_of(host: str, port: int, address: str | None) -> list[str]:
    """Return the addresses of the page, as browsers write them; links use the first one.

    Args:
        host: host that the server listens at.
        port: its port.
        address: address that participants open if it differs, such as that of a proxy; else None.

    Raises:
        PlayError: the address is invalid, or is missing though the server listens at all addresses.
    """
    local, ip = _origin("http", host, port), _ip_of(host)
    is_everywhere = ip is not None and ip.is_unspecified
    if address is None:
        if is_everywhere:
            raise PlayError(
                f"participants cannot open --host {host}: name the address that they open with --address"
            )
        is_local = host.lower() == "localhost" if ip is None else ip.is_loopback
        others = [_origin("http", "localhost", port)] if is_local else []
        return list(dict.fromkeys([local, *others]))
    return list(dict.fromkeys([_public(address), *([] if is_everywhere else [local])]))


def _public(address: str) -> str:
    """Return the address that participants open, as browsers write it.

    Raises:
        PlayError: it is invalid.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:  # an invalid port, or brackets
        parts, host, port = urlsplit(""), None, None
    has_more = parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in USUAL_PORTS or not host or has_more:
        raise PlayError(f"--address must be like https://study.example, without a path; got {address}")
    return _origin(parts.scheme, host, port)


def _origin(scheme: str, host: str, port: int | None) -> str:
    """Return an address as browsers write it: in lower case, and without the scheme's default port."""
    ip = _ip_of(host)
    host = host.lower() if ip is None else ip.compressed
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" + ("" if port in (None, USUAL_PORTS[scheme]) else f":{port}")


def _ip_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the IP address that the host is; None if it is a name."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host)
    return None


def warm_up(design: Design) -> None:
    """Play the first decision of a game, to compile everything and to raise errors of the design early.

    Raises:
        MilleBornesError: the agent cannot play at this table.
    """
    table = new_table(design)
    table.start(design.edition, design.players, design.teams, design.episode, 0)
    if len(design.seats) < design.players:
        table.play(table.choose(design.against)["action"])


def server_of(
    answers: StudyServer, *, to_ask: float = 10, most_asking: int = 256, frames: FrameLimits | None = None
) -> uvicorn.Server:
    """Return the server, which runs when its method `run` is called with a socket.

    Args:
        answers: the study's app; the caller closes it.
        to_ask: seconds from opening a connection to a whole request.
        most_asking: connections without a request; beyond that, the oldest is closed.
        frames: limits for the frames of a WebSocket; None: the defaults.
    """
    logging.getLogger("uvicorn.error").addFilter(without_tracebacks)
    return server.server_of(
        answers.app,
        http=impatient(to_ask, most_asking),
        ws=bounded(frames or FrameLimits()),
        ws_max_size=MOST_BYTES,
        ws_per_message_deflate=False,  # a small message could be unpacked into a large one
        ws_ping_interval=20,
        ws_ping_timeout=20,
    )
