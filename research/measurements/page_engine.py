"""Measure the engine of the page: `python -m research.measurements.page_engine`, after `make web`.

Measured are the sizes of its files, raw and compressed, decisions per second of random play on one thread,
and the time of agents per decision, in processor time of Node (V8, as in Chromium).
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from export.build import WEIGHTS
from millebornes_env import __file__ as package

WEB: Final = Path(package).with_name("web")
BUILT: Final = WEB / "engine"
SCRIPTS: Final = (
    "labels.js",
    "wasm_engine.js",
    "wasm_kernels.js",
    "wasm_rules.js",
    "wasm_table.js",
    "notation.js",
    "notation_lines.js",
    "position_reader.js",
)
"""Scripts of the engine that are not build outputs."""

MEASURED: Final[dict[str, Any]] = {
    "random": {"games": 256, "steps": 4_000},
    "agents": [
        {"agent": "strategist", "games": 100},
        {"agent": "champion", "games": 100},
        {"agent": "champion+search", "games": 2},
    ],
}
"""Workload in Node: batch size and total steps of random play, and two-player rounds per agent."""


def sizes() -> dict[str, tuple[int, int]]:
    """Return the bytes of each file of the engine, raw and compressed by gzip."""
    data = json.loads((BUILT / "engine.json").read_text(encoding="utf-8"))
    built = [BUILT / name for name in ("engine.json", *sorted(data["files"]))]
    files = [*built, *(WEB / name for name in SCRIPTS)]
    contents = {file.name: file.read_bytes() for file in files}
    return {name: (len(content), len(gzip.compress(content, 9))) for name, content in contents.items()}


def speeds() -> dict[str, Any]:
    """Return decisions per second of random play, and milliseconds per decision of each agent."""
    script = Path(__file__).with_suffix(".mjs")
    done = subprocess.run(
        ["node", script, WEB, BUILT], input=json.dumps(MEASURED), capture_output=True, text=True, check=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> int:
    """Measure and print."""
    if not (BUILT / "engine.json").exists():
        print("the engine of the page is not built: run make web", file=sys.stderr)
        return 2
    console = Console()
    table = Table("file", "bytes", "compressed")
    result = sizes()
    for name, (plain, compressed) in result.items():
        table.add_row(name, f"{plain:,}", f"{compressed:,}")
    table.add_row("together", *(f"{sum(size[index] for size in result.values()):,}" for index in (0, 1)))
    networks = [size for name, size in result.items() if name.endswith(WEIGHTS)]
    rest = [size for name, size in result.items() if not name.endswith(WEIGHTS)]
    most = (sum(size[index] for size in rest) + max(size[index] for size in networks) for index in (0, 1))
    table.add_row("a table loads, at most", *(f"{size:,}" for size in most))
    console.print(table)
    measured = speeds()
    console.print(
        f"random play: {measured['random']['decisions_a_second'] / 1e6:.2f} M decisions/s, one thread"
    )
    for name, one in measured["agents"].items():
        console.print(f"{name}: {one['ms']:.3f} ms a decision, mean of {one['decisions']:,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
