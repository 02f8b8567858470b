"""Measure the engine of the page: `python -m research.measurements.page_engine`, after `make web`.

Measured are the sizes of its files, raw and compressed, decisions per second of random play on one thread,
and the time of agents per decision, in processor time of Node (V8, as in Chromium).
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Final

import numpy as np

from export.build import WEIGHTS
from millebornes_env._util.command_line import run_command
from research.measurements.first_card import BUILT, PAGE, ROOT, check_built, sizes_of
from research.tables import Table

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
    return sizes_of(
        f"{PAGE}{name}"
        for name in (*SCRIPTS, *(f"engine/{name}" for name in ("engine.json", *data["files"])))
    )


def speeds() -> dict[str, Any]:
    """Return decisions per second of random play, and milliseconds per decision of each agent."""
    command = ["node", *map(str, (ROOT / "benchmarks" / "page_engine.mjs", ROOT / PAGE, BUILT))]
    done = subprocess.run(command, input=json.dumps(MEASURED), capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Measure and print."""
    check_built()
    result = sizes()
    whole = np.sum(list(result.values()), axis=0)
    networks = np.array([size for name, size in result.items() if name.endswith(WEIGHTS)])
    most = whole - networks.sum(axis=0) + networks.max(axis=0)
    every = {**result, "together": whole, "a table loads, at most": most}
    rows = [(name, f"{plain:,}", f"{compressed:,}") for name, (plain, compressed) in every.items()]
    Table(("file", "bytes", "compressed"), rows).print()
    measured = speeds()
    print(f"random play: {measured['random']['decisions_a_second'] / 1e6:.2f} M decisions/s, one thread")
    for name, one in measured["agents"].items():
        print(f"{name}: {one['ms']:.3f} ms a decision, mean of {one['decisions']:,}")


if __name__ == "__main__":
    sys.exit(run_command(main))
