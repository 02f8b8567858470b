"""The engine in a Web Worker of a real browser, Debian's Chromium; Node runs the rest."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from export.build import ROOT
from millebornes_env.notation import read_record, replay

CHROMIUM = shutil.which("chromium")

pytestmark = [
    pytest.mark.web,
    pytest.mark.usefixtures("host"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no browser: install Debian's chromium"),
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no Playwright: pip install -e '.[browser]'"
    )
    handler = functools.partial(Quiet, directory=str(ROOT))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with playwright.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            opened = browser.new_page()
            opened.goto(f"http://127.0.0.1:{server.server_port}/millebornes_env/play/web/wasm_kernels.js")
            yield opened
            browser.close()
        server.shutdown()


def test_a_game_in_a_worker(page: Any) -> None:
    text = page.evaluate("""
        async () => {
          const { workerEngine } = await import("/millebornes_env/play/web/worker_engine.js");
          const engine = workerEngine();
          let position = await engine.start({ edition: "parker", seed: 8 });
          while (!position.over) {
            const { action } = await engine.choose({ agent: "champion" });
            position = await engine.play(action);
          }
          const refused = await engine.play(0).catch((error) => error.message);
          return [(await engine.record()).text, refused];
        }
    """)
    record = read_record(text[0])
    assert len(list(replay(record))) == len(record.plays) + 1
    assert text[1] == "This cannot be played now: the round is over."
