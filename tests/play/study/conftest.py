"""Fixtures of the tests of studies."""

from __future__ import annotations

import socket
from typing import Any

import pytest


@pytest.fixture
def extra() -> None:
    """Skip where the extra `study` is not installed."""
    for library in ("starlette", "uvicorn", "websockets"):
        pytest.importorskip(library, reason=f"no {library}: pip install -e '.[study]'")


@pytest.fixture
def free_ports(extra: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command take any free port, and know no other computer."""
    from millebornes_env.play.web import server  # noqa: PLC0415 - of the extra

    def bound(host: str, port: int) -> Any:
        if host.endswith(".example"):
            raise socket.gaierror(-2, "Name or service not known")
        return socket.create_server(("127.0.0.1", 0))

    monkeypatch.setattr(server, "_bound", bound)
