"""Measure the page in a browser: `python -m research.measurements.first_card`, after `make web`.

This needs the extra `browser` and Chromium. Measured are the time from opening the page to the first visible
card, the loaded files, and the speed of the engine and its agents in the tab. The page is opened by a link to
a position, so no button is pressed; the browser caches no file between openings; the disk is warm. Times are
elapsed times: measure on an idle machine. MILLEBORNES_BROWSER can be the path of another browser.
"""

from __future__ import annotations

import base64
import functools
import gzip
import http.server
import os
import statistics
import sys
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import tyro

from benchmarks.results import environment_info
from millebornes_env._util.command_line import run_command
from millebornes_env._util.files import write_json_atomically
from millebornes_env.errors import MilleBornesError
from research.pages import write_blocks
from research.tables import Table

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = "millebornes_env/play/web/"
BUILT: Final = ROOT / PAGE / "engine"
BROWSER: Final = "/usr/bin/chromium"

POSITION: Final = (
    "edition: parker\ntable: 2 players\ndealer: 1\nkey: 1 1\nhand 0: roll stop 25 50 75 100 ...\n"
)
"""The position in the link."""

FIRST_CARD: Final = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("#hand .card svg")) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => (window.firstCard = performance.now())));
}).observe(document, { childList: true, subtree: true });
"""
"""Script that records the time of the frame with the first card of the hand, in milliseconds from opening."""

MEASURED: Final = """
async (asked) => {
  const { WasmEngine } = await import("/millebornes_env/play/web/wasm_engine.js");
  const { measured } = await import("/benchmarks/page_tasks.mjs");
  return measured(await WasmEngine.load(), asked, () => performance.now());
}
"""

ASKED: Final[dict[str, Any]] = {
    "random": {"games": 256, "steps": 4_000},
    "agents": [{"agent": "champion", "games": 20}, {"agent": "champion+search", "games": 2}],
}
"""Workload in the tab: batch size and total steps of random play, and two-player rounds per agent."""


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    repeats: int = 5
    """openings of the page; the median is reported"""
    out: Path = Path("benchmarks/results/first_card.json")
    """file of the figures"""
    docs: bool = False
    """write docs/benchmarks/first_card.json and the table of research/notes/speed.md, too"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: Any) -> None:
        """Do not log."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder in a `with` block; yield its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def link_of(text: str) -> str:
    """Return the part of a link that holds a position (`table/keeping.js`)."""
    packed = zlib.compress(text.encode(), wbits=-15)
    return "#z=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def opened(browser: Any, address: str) -> tuple[float, dict[str, tuple[int, int]]]:
    """Return the milliseconds until the first card in a browser with an empty cache, and the loaded files."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    files: set[str] = set()
    context.on("request", lambda request: files.add(request.url.partition("#")[0].removeprefix(address)))
    try:
        context.add_init_script(FIRST_CARD)
        page = context.new_page()
        page.goto(f"{address}{PAGE}index.html{link_of(POSITION)}")
        page.wait_for_function("window.firstCard")
        page.keyboard.press("h")  # asks the champion, whose network is loaded then
        page.wait_for_selector("#thoughts .bars li")
        return float(page.evaluate("window.firstCard")), sizes_of(files)
    finally:
        context.close()


def sizes_of(files: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return the bytes of files, raw and compressed by gzip."""
    contents = {name.removeprefix(PAGE): (ROOT / name).read_bytes() for name in sorted(files)}
    return {name: (len(content), len(gzip.compress(content, 9))) for name, content in contents.items()}


def measure(repeats: int) -> dict[str, Any]:
    """Open the page repeatedly, then play in a tab.

    Returns:
        `browser`, its name and version; `openings`, milliseconds from opening the page to the first card
        drawn, for each repeat; `files`, bytes of each file that is loaded before the champion's first
        evaluation, raw and gzipped; `load`, load average of the minute before, and the number of cores;
        `random_a_second`, decisions per second of random play on one thread; and `agents`, milliseconds per
        decision of each agent and the number of decisions.

    Raises:
        ModuleNotFoundError: Playwright is not installed.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    path = os.environ.get("MILLEBORNES_BROWSER", BROWSER)
    with served(ROOT) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        opened(browser, address)  # warms the disk
        result = [opened(browser, address) for _ in range(repeats)]
        tab = browser.new_page()
        tab.goto(f"{address}{PAGE}drawing/icon.svg")
        played = tab.evaluate(MEASURED, ASKED)
        version = f"Chromium {browser.version}"
        browser.close()
    return {
        "browser": version,
        "openings": [round(ms, 1) for ms, _ in result],
        "files": result[-1][1],
        "load": (round(os.getloadavg()[0], 1), os.cpu_count() or 1),
        "random_a_second": float(played["random"]["decisions_a_second"]),
        "agents": played["agents"],
    }


def lines_of(figures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return name, figure and target of each measurement."""
    ms = {name: f"{one['ms']:.3g} ms" for name, one in figures["agents"].items()}
    size = f"{sum(compressed for _, compressed in figures['files'].values()) / 1000:.0f} kB"
    seconds = f"{statistics.median(figures['openings']) / 1000:.2f} s"
    speed = f"{figures['random_a_second'] / 1e6:.1f} M decisions/s"
    return [
        ("what the page loads for a table of two, compressed by gzip", size, "1 MB"),
        (f"from opening to the first card drawn, median of {len(figures['openings'])}", seconds, "1 s"),
        ("random play in the tab, one thread", speed, "1 M/s"),
        ("a decision of `champion` in the tab, mean", ms["champion"], "1 ms"),
        ("a decision of `champion+search` in the tab, mean", ms["champion+search"], "100 ms"),
    ]


def write_docs(figures: Mapping[str, Any], page: Path) -> None:
    """Write the table between its marks."""
    rows = "".join(f"| {what} | {figure} | {reach} |\n" for what, figure, reach in lines_of(figures))
    busy = "load {} on {} cores".format(*figures["load"])
    block = f"\n| {figures['browser']}, {busy} | | to reach |\n|---|--:|--:|\n{rows}\n"
    write_blocks(page, "measurements.first_card", {"first card": block})


def check_built() -> None:
    """Check that `make web` has built the engine.

    Raises:
        MilleBornesError: it has not.
    """
    if not (BUILT / "engine.json").is_file():
        raise MilleBornesError("the engine of the page is not built: run make web")


def main() -> None:
    """Run the command line."""
    args = tyro.cli(Args, description=__doc__)
    check_built()
    try:
        figures = measure(max(1, args.repeats))
    except ModuleNotFoundError as error:
        raise MilleBornesError(f"{error.name} is missing: pip install --group dev") from None
    Table(("what", "figure", "to reach"), lines_of(figures), figures["browser"]).print()
    content = {**environment_info(), **figures}
    write_json_atomically(args.out, content)
    if args.docs:
        write_json_atomically(ROOT / "docs" / "benchmarks" / "first_card.json", content)
        write_docs(figures, ROOT / "research" / "notes" / "speed.md")


if __name__ == "__main__":
    sys.exit(run_command(main))
