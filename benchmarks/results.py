"""Results of a throughput benchmark: the rows, and functions that store, print and plot them."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from millebornes_env._util.files import new_figure, save_picture, write_json_atomically
from millebornes_env.cli.console import table_console

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUR_LIBRARY = "millebornes_env"
"""The `library` of the rows that the table and the chart highlight."""

PIPED_WIDTH = 180  # columns of the table when it goes into a file or a pipe
BAR_HEIGHT = 0.42  # inches of the chart for each bar
OUR_COLOUR, OTHER_COLOUR = "#c8443c", "#93a1b5"
HEADER = ("environment", "library", "version", "batch", "steps/s", "note")


@dataclass(frozen=True)
class Measurement:
    """The throughput of one environment in one setting.

    Attributes:
        name: The game or setting, unique within its library and batch size.
        library: The library that the environment comes from, `OUR_LIBRARY` for this project's own.
        version: The version of that library.
        batch: How many games one call steps at the same time; 1 for a plain environment.
        agent_steps_per_second: Decisions of agents divided by `seconds`. A decision of one agent in one game
            is one step, so one call on a batch of 1024 games counts 1024.
        seconds: The wall-clock time that was measured.
        note: Context for the interpretation of the figure.
    """

    name: str
    library: str
    version: str
    batch: int
    agent_steps_per_second: float
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class Skipped:
    """An environment that could not be measured.

    Attributes:
        reason: The reason, such as a missing package.
        name: The game or setting.
        library: The library that the environment comes from.
    """

    reason: str
    name: str = ""
    library: str = ""


Row = Measurement | Skipped


def environment_info() -> dict[str, str | int | None]:
    """Describe what a measurement depends on: processor, usable cores, platform and versions of libraries."""
    info: dict[str, str | int | None] = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }
    packages = ("numpy", "numba", "gymnasium", "pettingzoo")
    return info | {package: importlib.metadata.version(package) for package in packages}


def save_results(path: Path, rows: Sequence[Row], info: Mapping[str, object]) -> None:
    """Store the rows, and `info`: the result of `environment_info` and further JSON values."""
    content = {
        "environment": dict(info),
        "measurements": [asdict(row) for row in rows if isinstance(row, Measurement)],
        "skipped": [asdict(row) for row in rows if isinstance(row, Skipped)],
    }
    write_json_atomically(path, content)


def format_rate(rate: float) -> str:
    """Return a number of steps per second as text, for example `8.2 M/s`, `113 k/s` or `640 /s`."""
    for scale, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= 0.9995 * scale:
            value = rate / scale
            return f"{value:.{1 if value < 99.95 else 0}f} {unit}/s"
    return f"{rate:.0f} /s"


def print_table(rows: Sequence[Row]) -> None:
    """Print the rows, the fastest first and the skipped ones last."""
    table = Table(header_style="bold")
    for heading in HEADER:
        justify: JustifyMethod = "right" if heading in {"batch", "steps/s"} else "left"
        table.add_column(heading, justify=justify, no_wrap=heading != "note")
    lines: list[Row] = [*_fastest_first(rows), *(row for row in rows if isinstance(row, Skipped))]
    for row in lines:
        style = "bold" if row.library == OUR_LIBRARY else "dim" if isinstance(row, Skipped) else ""
        table.add_row(*(Text(cell) for cell in _cells(row)), style=style)  # a note may hold [brackets]
    table_console(PIPED_WIDTH).print(table)


def save_bar_chart(
    path: Path, rows: Sequence[Row], *, title: str = "Random legal play: agent steps per second"
) -> str:
    """Draw the measurements as horizontal bars, the fastest on top and ours highlighted.

    The scale is logarithmic, unless all measurements are of one library.

    Args:
        path: The file to write, in the format that its suffix names; its folder is made if it is missing.
        rows: What was measured; skipped rows are left out.
        title: The heading of the chart.

    Returns:
        "" if the chart was written, else a warning.

    Raises:
        ValueError: No row is a measurement.
    """
    measurements = _fastest_first(rows)
    if not measurements:
        raise ValueError("there is no measurement to draw")
    return save_picture(path, lambda: _bar_chart(measurements, title))


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown"


def _fastest_first(rows: Sequence[Row]) -> list[Measurement]:
    """Return the measurements among the rows, the fastest first."""
    measurements = [row for row in rows if isinstance(row, Measurement)]
    return sorted(measurements, key=lambda row: row.agent_steps_per_second, reverse=True)


def _cells(row: Row) -> tuple[str, ...]:
    """Return one line of the table, in the order of `HEADER`."""
    if isinstance(row, Skipped):
        return (row.name, row.library, "", "", "skipped", row.reason)
    rate = format_rate(row.agent_steps_per_second)
    return (row.name, row.library, row.version, str(row.batch), rate, row.note)


def _bar_chart(measurements: Sequence[Measurement], title: str) -> Figure:
    """Draw one labelled bar for each measurement, the first on top."""
    figure = new_figure(10.5, 1.4 + BAR_HEIGHT * len(measurements), layout="constrained")
    axes = figure.add_subplot()
    rates = [row.agent_steps_per_second for row in measurements]
    ours = [row.library == OUR_LIBRARY for row in measurements]
    colours = [OUR_COLOUR if own else OTHER_COLOUR for own in ours]
    bars = axes.barh(range(len(rates)), rates, color=colours, height=0.72)
    alone = len({row.library for row in measurements}) == 1
    axes.set_yticks(range(len(rates)), [row.name if alone else _bar_name(row) for row in measurements])
    figures = axes.bar_label(bars, labels=[format_rate(rate) for rate in rates], padding=5)
    for labels in (figures, axes.get_yticklabels()):
        for label, own in zip(labels, ours, strict=True):
            label.set_fontweight("bold" if own else "normal")
    axes.set_ylim(len(rates) - 0.4, -0.6)
    if alone:
        axes.set_xlim(0, max(rates) * 1.15)
        axes.set_xlabel("agent steps per second")
    else:
        axes.set_xscale("log")
        axes.set_xlim(min(rates) / 3, max(rates) * 5)  # so that the shortest bar shows and the figures fit
        axes.set_xlabel("agent steps per second (logarithmic scale)")
    axes.set_title(title, fontweight="bold", loc="left")
    axes.grid(axis="x", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def _bar_name(row: Measurement) -> str:
    """Return the label of a bar, for example `uno (RLCard)` or `leduc_holdem (Pgx, batch 1024)`."""
    return f"{row.name} ({row.library}{f', batch {row.batch}' if row.batch > 1 else ''})"
