"""Results of a throughput benchmark: the rows, and functions that store, print and plot them.

`rich` formats the table and `matplotlib` plots the chart; both are optional.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from millebornes_env._util.files import new_figure, replacing, save_picture

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
    """Describes the machine and the software that a measurement depends on.

    Returns:
        The versions of Python, NumPy, Numba, Gymnasium and PettingZoo (None where one is not installed), the
        model of the processor, its number of cores, how many of them this process may use, and the platform.
    """
    info: dict[str, str | int | None] = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }
    for package in ("numpy", "numba", "gymnasium", "pettingzoo"):
        try:
            info[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            info[package] = None
    return info


def save_results(path: Path | str, rows: Sequence[Row], info: Mapping[str, object]) -> None:
    """Stores the rows as JSON, atomically.

    Args:
        path: The file to write; its folder is made if it is missing.
        rows: The measurements and skipped environments.
        info: The result of `environment_info`, and further JSON values.
    """
    content = {
        "environment": dict(info),
        "measurements": [asdict(row) for row in rows if isinstance(row, Measurement)],
        "skipped": [asdict(row) for row in rows if isinstance(row, Skipped)],
    }
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with replacing(Path(path)) as draft:
        draft.write_text(text, encoding="utf-8")


def load_results(path: Path | str) -> tuple[list[Row], dict[str, Any]]:
    """Reads the output of `save_results`.

    Args:
        path: The file to read.

    Returns:
        The rows, all measurements before all skipped ones, and the information on the environment.
    """
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    rows: list[Row] = [Measurement(**row) for row in content["measurements"]]
    rows += [Skipped(**row) for row in content["skipped"]]
    return rows, content["environment"]


def format_rate(rate: float) -> str:
    """Formats a rate.

    Args:
        rate: Steps per second.

    Returns:
        For example `8.2 M/s`, `113 k/s` or `640 /s`.
    """
    for scale, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= 0.9995 * scale:
            value = rate / scale
            return f"{value:.{1 if value < 99.95 else 0}f} {unit}/s"
    return f"{rate:.0f} /s"


def print_table(rows: Sequence[Row]) -> None:
    """Prints the rows, the fastest first and the skipped ones last, with `rich` where it is installed.

    Args:
        rows: What was measured and what was skipped.
    """
    lines = [_cells(row) for row in _fastest_first(rows)]
    lines += [_cells(row) for row in rows if isinstance(row, Skipped)]
    try:
        _print_rich(lines)
    except ImportError:
        _print_plain(lines)


def save_bar_chart(
    path: Path | str, rows: Sequence[Row], *, title: str = "Random legal play: agent steps per second"
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
    return save_picture(Path(path), lambda: _bar_chart(measurements, title))


def _bar_chart(measurements: Sequence[Measurement], title: str) -> Figure:
    figure = new_figure(10.5, 1.4 + BAR_HEIGHT * len(measurements), layout="constrained")
    _draw_bars(figure.add_subplot(), measurements, title)
    return figure


def _cpu_model() -> str:
    """Names the processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown"


def _fastest_first(rows: Sequence[Row]) -> list[Measurement]:
    """Returns the measurements among the rows, fastest first."""
    measurements = [row for row in rows if isinstance(row, Measurement)]
    return sorted(measurements, key=lambda row: row.agent_steps_per_second, reverse=True)


def _cells(row: Row) -> tuple[str, ...]:
    """One line of the table, in the order of `HEADER`."""
    if isinstance(row, Skipped):
        return (row.name, row.library, "", "", "skipped", row.reason)
    rate = format_rate(row.agent_steps_per_second)
    return (row.name, row.library, row.version, str(row.batch), rate, row.note)


def _print_rich(lines: Sequence[tuple[str, ...]]) -> None:
    """Prints the table with `rich`; raises ImportError where that is missing."""
    console_module = importlib.import_module("rich.console")
    table = importlib.import_module("rich.table").Table(header_style="bold")
    text = importlib.import_module("rich.text").Text
    for heading in HEADER:
        short = heading != "note"
        justify = "right" if heading in {"batch", "steps/s"} else "left"
        table.add_column(heading, justify=justify, no_wrap=short)
    for line in lines:
        style = "bold" if line[1] == OUR_LIBRARY else "dim" if line[4] == "skipped" else ""
        table.add_row(*(text(cell) for cell in line), style=style)  # Text: a note may hold [brackets]
    console_module.Console(width=None if sys.stdout.isatty() else PIPED_WIDTH).print(table)


def _print_plain(lines: Sequence[tuple[str, ...]]) -> None:
    """Prints the table as plain text."""
    widths = [max(map(len, column)) for column in zip(HEADER, *lines, strict=True)]
    for line in (HEADER, tuple("-" * width for width in widths), *lines):
        cells = (
            cell.rjust(width) if heading in {"batch", "steps/s"} else cell.ljust(width)
            for heading, cell, width in zip(HEADER, line, widths, strict=True)
        )
        print("  ".join(cells).rstrip())


def _draw_bars(axes: Any, measurements: Sequence[Measurement], title: str) -> None:
    """Fills a matplotlib axes with one labelled bar for each measurement, the first on top."""
    rates = [row.agent_steps_per_second for row in measurements]
    ours = [row.library == OUR_LIBRARY for row in measurements]
    colours = [OUR_COLOUR if own else OTHER_COLOUR for own in ours]
    bars = axes.barh(range(len(rates)), rates, color=colours, height=0.72)
    for label, own in zip(
        axes.bar_label(bars, labels=[format_rate(rate) for rate in rates], padding=5), ours, strict=True
    ):
        label.set_fontweight("bold" if own else "normal")
    alone = len({row.library for row in measurements}) == 1
    axes.set_yticks(range(len(rates)), [row.name if alone else _bar_name(row) for row in measurements])
    for label, own in zip(axes.get_yticklabels(), ours, strict=True):
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


def _bar_name(row: Measurement) -> str:
    """Return the label of a bar, for example `uno (RLCard)` or `leduc_holdem (Pgx, batch 1024)`."""
    return f"{row.name} ({row.library}{f', batch {row.batch}' if row.batch > 1 else ''})"
