"""The page in a real browser: Debian's Chromium, driven by Playwright (the group `dev`).

The browser's path may be given as MILLEBORNES_BROWSER. Screenshots are left in the folder that is named by
MILLEBORNES_SCREENSHOTS, if any.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from docs.site import space
from millebornes_env.play.web.server import HOST, TableServer
from millebornes_env.play.web.table import CardTable
from tests.patience import SECONDS_OF_A_PAGE

SETUP = {
    "edition": "parker",
    "players": 2,
    "teams": 2,
    "episode": "round",
    "seats": ["you", "greedy"],
    "seed": 1,
}
"""The game that a page deals when it is opened."""

KEEP_SETUP = f"""
try {{ localStorage["millebornes.setup"] ??= {json.dumps(json.dumps(SETUP))}; }}
catch {{ /* keeps nothing */ }}
"""


@pytest.fixture(scope="session", autouse=True)
def _any_port() -> Iterator[None]:
    """Let every server take a free port instead of the usual one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("millebornes_env.play.web.server.USUAL_PORT", 0)
        yield


@pytest.fixture
def table() -> CardTable:
    return CardTable()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Serve the page and yield its address."""
    with running(TableServer(CardTable)) as server:
        yield server.url


@contextlib.contextmanager
def running(server: TableServer) -> Iterator[TableServer]:
    """Run a server in a thread for as long as the block lasts."""
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server
    server.stop()
    thread.join()


class _Folder(http.server.SimpleHTTPRequestHandler):
    """The page as any server of files hands it out."""

    extensions_map: ClassVar[dict[str, str]] = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".wasm": "application/wasm",
    }

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    """Serve the page as a static folder, as a Space has it, without our server, and yield its address."""
    space.write(tmp_path / "table")
    files = partial(_Folder, directory=str(tmp_path / "table"))
    with http.server.ThreadingHTTPServer((HOST, 0), files) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        yield f"http://{HOST}:{server.server_port}/"
        server.shutdown()
        serving.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install --group dev")
    path = os.environ.get("MILLEBORNES_BROWSER", "/usr/bin/chromium")
    if not Path(path).is_file():
        pytest.skip(f"no browser at {path}: apt-get install chromium, or set MILLEBORNES_BROWSER")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Opens the page, after a script of `first`; at the end no script of the page may have failed."""
    contexts, failures = [], []

    def open_page(
        width: int = 1280,
        height: int = 900,
        hash_: str = "",
        address: str = address,
        may_fail: bool = False,
        first: str = KEEP_SETUP,
        **settings: Any,
    ) -> Any:
        size = {"width": width, "height": height}
        context = browser.new_context(**{"viewport": size, "reduced_motion": "reduce"} | settings)
        contexts.append(context)
        context.set_default_timeout(1000 * SECONDS_OF_A_PAGE)
        context.add_init_script(first)
        page = context.new_page()
        if not may_fail:
            page.on("pageerror", lambda error: failures.append(str(error)))
            page.on("console", lambda said: failures.append(said.text) if is_failure(said) else None)
        page.goto(f"{address}?pace=0{hash_}")
        page.wait_for_selector("dialog[open], #hand button, #looking:not([hidden]), #status .error")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not failures


@pytest.fixture
def pictured(request: pytest.FixtureRequest) -> Callable[[Any, str], None]:
    """Leaves a screenshot for people to look at."""

    def keep(page: Any, name: str) -> None:
        folder = os.environ.get("MILLEBORNES_SCREENSHOTS")
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return keep


def is_failure(said: Any) -> bool:
    """Return True if the page logs an error, other than a lost connection to a study: it retries those."""
    return bool(said.type == "error" and not said.text.startswith("WebSocket connection to"))
