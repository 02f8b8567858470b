"""The built engine of the page; where there is none, tests say so (`make test-web` builds it)."""

from __future__ import annotations

import pytest

from export.wasm import FOLDER, stale
from tests.play.web.host import Host


@pytest.fixture(scope="session")
def host() -> Host:
    reason = stale(FOLDER)
    if reason:
        pytest.skip(f"the engine of the page must be built by make web: {reason}")
    pytest.importorskip("wasmtime", reason="Wasmtime, which runs the engine here, is missing")
    return Host(FOLDER)
