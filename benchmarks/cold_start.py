"""Measure the start-up time of a new installation: `python -m benchmarks.cold_start --against 22a5b60`.

Measured are CPU seconds of a process with an empty cache, which compiles everything, and of a second process.
Each task starts with its own empty cache. With `--against`, the version of another commit is measured in turn
with this one in the same run; figures of another day or machine are not comparable.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from benchmarks.results import environment_info
from millebornes_env._util.command_line import warn
from millebornes_env._util.files import new_figure, save_picture, write_json_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]

FIRST_STEP = """
import millebornes_env
env = millebornes_env.vector_env(4, seed=1)
env.reset()
env.step(env.sample_actions())
"""

CHAMPION = """
from millebornes_env import agents, millebornes_env
env = millebornes_env.vector_env(4, seed=1)
rows, _ = env.reset()
agents.load("champion", env).act(rows["observation"], rows["action_mask"])
"""

TASKS = {
    "first step": ["-c", FIRST_STEP],
    "champion asked": ["-c", CHAMPION],
    "first update of train.selfplay": ["-m", "train.selfplay", "--run-dir", "{out}", "--minutes", "0.001"],
    "arena of two": ["-m", "millebornes_env", "arena", "greedy", "holder", "--deals=20", "--out={out}"],
}


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    against: str = ""
    """another commit to measure in the same run"""
    repeats: int = 3
    """rounds; the median is reported"""
    out: Path = Path("benchmarks/results/cold_start")
    """path of the .json and the .png file, without suffix"""
    docs: bool = False
    """write docs/benchmarks/cold_start.json and docs/images/cold_start.png, too"""


@contextmanager
def checkout_of(commit: str) -> Iterator[Path]:
    """Check out a commit in a `with` block; yield the folder."""
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", folder, commit], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run([*git, "remove", "--force", folder], check=True)


def cpu_seconds(checkout: Path, task: list[str], cache: Path) -> float:
    """Run a task of a checkout in a process; return its CPU seconds."""
    with tempfile.TemporaryDirectory() as out:
        surroundings = {**os.environ, "PYTHONPATH": str(checkout), "XDG_CACHE_HOME": str(cache)}
        surroundings.pop("NUMBA_CACHE_DIR", None)
        command = [sys.executable, *(part.format(out=f"{out}/run") for part in task)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, cwd=checkout, env=surroundings)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(checkouts: dict[str, Path], repeats: int) -> list[dict[str, Any]]:
    """Measure all tasks of all checkouts in turn."""
    rows: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    for _, (task, command), (name, checkout) in tqdm(
        [(r, t, c) for r in range(repeats) for t in TASKS.items() for c in checkouts.items()]
    ):
        cold, warm = rows.setdefault((task, name), ([], []))
        with tempfile.TemporaryDirectory() as cache:
            cold.append(cpu_seconds(checkout, command, Path(cache)))
            warm.append(cpu_seconds(checkout, command, Path(cache)))
    return [
        {"task": task, "version": name, "cold": statistics.median(cold), "warm": statistics.median(warm)}
        for (task, name), (cold, warm) in rows.items()
    ]


def plot(rows: list[dict[str, Any]]) -> Figure:
    """Plot the CPU seconds of compiling as bars, by task and version."""
    versions = list(dict.fromkeys(row["version"] for row in rows))
    figure = new_figure(8, 1 + 0.4 * len(rows), layout="constrained")
    axes = figure.add_subplot()
    for number, version in enumerate(versions):
        own = [row for row in rows if row["version"] == version]
        places = [place + 0.4 * number for place in range(len(own))]
        bars = axes.barh(places, [row["cold"] - row["warm"] for row in own], 0.38, label=version)
        axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.set_yticks([place + 0.2 * (len(versions) - 1) for place in range(len(TASKS))], list(TASKS))
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.set_xlabel("CPU seconds of compiling, empty cache")
    axes.legend()
    return figure


def save(rows: list[dict[str, Any]], repeats: int, json_path: Path, picture: Path) -> None:
    """Write the figures and their plot."""
    write_json_atomically(json_path, {**environment_info(), "repeats": repeats, "rows": rows})
    warn(save_picture(picture, lambda: plot(rows)))


def main() -> None:
    """Run the command line."""
    args = tyro.cli(Args, description=__doc__)
    if args.against:
        with checkout_of(args.against) as other:
            rows = measure({"this version": ROOT, args.against: other}, args.repeats)
    else:
        rows = measure({"this version": ROOT}, args.repeats)
    table = Table("task", "version", title="CPU seconds of a process")
    for title in ("empty cache", "once more", "compiling"):
        table.add_column(title, justify="right")
    for row in rows:
        cold, warm = row["cold"], row["warm"]
        table.add_row(row["task"], row["version"], f"{cold:.1f}", f"{warm:.1f}", f"{cold - warm:.1f}")
    Console().print(table)
    save(rows, args.repeats, args.out.with_suffix(".json"), args.out.with_suffix(".png"))
    if args.docs:
        docs = ROOT / "docs"
        save(rows, args.repeats, docs / "benchmarks" / "cold_start.json", docs / "images" / "cold_start.png")


if __name__ == "__main__":
    main()
