"""The engine in a real browser, Debian's Chromium: in the page and in a Web Worker."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from export.build import ROOT
from millebornes_env.millebornes.editions import edition
from millebornes_env.notation import Position, read_record, record_of, replay, write_position
from tests.golden import trace
from tests.web.test_page_engine import TABLES, golden_record

playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright, which drives the browser, is missing"
)
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
    handler = functools.partial(Quiet, directory=str(ROOT))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with playwright.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            opened = browser.new_page()
            opened.goto(f"http://127.0.0.1:{server.server_port}/millebornes_env/web/wasm_kernels.js")
            yield opened
            browser.close()
        server.shutdown()


ASK = """
async (asked) => {
  const { WasmEngine } = await import("/millebornes_env/web/wasm_engine.js");
  const { answer } = await import("/tests/web/asking.mjs");
  window.engine ??= await WasmEngine.load();
  return answer(window.engine, asked);
}
"""


ROUNDS = 100


def played(number: int) -> str:
    """The record of a round at one of the tables."""
    name, players, teams = TABLES[number % len(TABLES)]
    games, choose = trace.dealt(edition(name), players, teams, number), trace.player(number)
    begun, actions = Position(edition(name), games.rules, games.states.copy()), []
    while not trace.is_over(games):
        actions.append(choose(games))
        games.step(np.array(actions[-1:]))
    return str(record_of(begun, actions))


def test_a_hundred_rounds_come_out_the_same(page: Any) -> None:
    """Those of the golden games, and others that are played here."""
    texts = []
    for name, players, teams in TABLES:
        file = trace.file_of(edition(name), players, teams)
        texts += [golden_record(lines) for _, lines in trace.rounds_in(file.read_text(encoding="utf-8"))]
    texts += [played(number) for number in range(ROUNDS - len(texts))]
    assert len(texts) == ROUNDS
    found = page.evaluate(ASK, [["positions", {"text": text}] for text in texts])
    for text, positions in zip(texts, found, strict=True):
        record = read_record(text)
        sheet, rules = record.position.edition, record.position.rules
        assert positions == [write_position(one[0], sheet, rules, checked=False) for one in replay(record)]


def test_a_game_in_a_worker(page: Any) -> None:
    text = page.evaluate("""
        async () => {
          const { workerEngine } = await import("/millebornes_env/web/worker_engine.js");
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
