"""The tables and the picture of `research.exploitability`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from research.intervals import Interval, interquartile_mean, over_seeds, over_tasks
from research.parts import Record
from research.pictures import COLOURS, plot_band, styled
from research.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Cells = dict[tuple[str, str], list[Record]]

_LEAST: Final = 1e-4
"""Per cent of the payoff range below which curves are not drawn."""


def by_cell(records: Sequence[Record]) -> Cells:
    """The records of each deck and method, in the order of the parts."""
    result: Cells = {}
    for record in records:
        config = record.part.config
        result.setdefault((config["deck"], config["method"]), []).append(record)
    return result


def decks_of(records: Sequence[Record]) -> list[str]:
    """The decks, the smallest first."""
    names = {record.part.config["deck"]: record.result["deck"] for record in records}
    return sorted(names, key=lambda deck: (len(names[deck]), names[deck]))


def last(records: Sequence[Record], what: str) -> list[float]:
    """Return the final value of each seed."""
    return [record.result["curve"][-1][what] for record in records]


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the tables of the results of each method, by deck and over several decks."""
    cells, rows = by_cell(records), []
    for deck in decks_of(records):
        for (its_deck, method), result in cells.items():
            if its_deck == deck:
                rows.append((f"`{deck}`", method, *_row(result)))
    headings = (
        "deck",
        "method",
        "seeds",
        "decisions",
        "seconds",
        "exploitability, points",
        "% of the payoff range",
    )
    return [Table(headings, tuple(rows), text_columns=2), *_over_decks(records)]


def _over_decks(records: Sequence[Record]) -> list[Table]:
    """Build the tables of the results on the first two decks together, on the first three, and so on."""
    cells, decks = by_cell(records), decks_of(records)
    methods = list(dict.fromkeys(method for _, method in cells))
    rows = {
        method: [_over(cells, decks[:many], method) for many in range(2, len(decks) + 1)]
        for method in methods
    }
    columns = [at for at in range(len(decks) - 1) if sum(bool(row[at]) for row in rows.values()) > 1]
    if not columns:
        return []
    headings = tuple(", ".join(f"`{deck}`" for deck in decks[: at + 2]) for at in columns)
    body = tuple(
        (method, *(row[at] or "-" for at in columns))
        for method, row in rows.items()
        if any(row[at] for at in columns)
    )
    title = "% of the payoff range over several decks, interquartile mean over decks and seeds"
    return [Table(("method", *headings), body, title)]


def _over(cells: Cells, decks: Sequence[str], method: str) -> str:
    """Return the mean result of a method over these decks, with equal weights; "" if one is missing."""
    result = [cells.get((deck, method), []) for deck in decks]
    if not all(result) or len({len(records) for records in result}) > 1:
        return ""
    return _text(over_tasks([last(records, "percent") for records in result]))


def _row(found: Sequence[Record]) -> tuple[str, ...]:
    samples = np.median(last(found, "samples"))
    points = over_seeds(last(found, "exploitability"), interquartile_mean)
    percent = over_seeds(last(found, "percent"), interquartile_mean)
    seconds = np.median(last(found, "seconds"))
    return (
        str(len(found)),
        f"{samples:,.0f}" if samples else "-",
        f"{seconds:.1f}" if seconds >= 0.05 else "-" if not samples else f"{seconds:.2f}",
        _text(points),
        _text(percent),
    )


def _text(interval: Interval) -> str:
    """Three digits that count, and the ends."""
    mean, low, high = (None if value is None else _digits(value) for value in interval)
    return f"{mean}" if low is None or low == high else f"{mean} [{low}, {high}]"


def _digits(value: float) -> str:
    if value <= 0:
        return "0"
    return f"{value:.{max(0, 2 - int(np.floor(np.log10(value))))}f}" if value > 1e-4 else f"{value:.0e}"


# The picture ------------------------------------------------------------------------------------------------


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot exploitability against decisions and against seconds."""
    from matplotlib import colormaps  # noqa: PLC0415 - slow to import

    learners = {record.part.config["method"]: len(record.result["curve"]) > 1 for record in records}
    lines, points = (
        [name for name, learns in learners.items() if learns is which] for which in (True, False)
    )
    colours: dict[str, Any] = {name: colormaps["tab20"](number % 20) for number, name in enumerate(lines)}
    colours |= {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(points)}
    decks = decks_of(records)
    drawn = [deck for deck in decks if any(len(one.result["curve"]) > 1 for one in _of(records, deck))][:3]
    all_axes = figure.subplots(2, len(drawn or decks[:1]), squeeze=False)
    for column, deck in enumerate(drawn or decks[:1]):
        for axes, across in zip(all_axes[:, column], ("samples", "seconds"), strict=True):
            _plot_curves(axes, _of(records, deck), across, colours)
            styled(
                axes,
                f"{deck}" if across == "samples" else "",
                xlabel="decisions" if across == "samples" else "seconds of processor time",
                ylabel="exploitability, % of the payoff range" if column == 0 else "",
            )
            _show_decades(axes)
    known: dict[str, Any] = {}
    for axes in figure.axes:
        known |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(known.values(), known.keys(), loc="outside upper center", ncols=6, frameon=False)


def _show_decades(axes: Axes) -> None:
    """Let short axes reach from one power of ten to another: only those have numbers."""
    for limits, set_limits in ((axes.get_xlim(), axes.set_xlim), (axes.get_ylim(), axes.set_ylim)):
        low, high = np.log10(limits)
        if high - low < 2.5:
            set_limits(10 ** np.floor(low), 10 ** np.ceil(high))


def _of(records: Sequence[Record], deck: str) -> list[Record]:
    return [record for record in records if record.part.config["deck"] == deck]


def _plot_curves(axes: Axes, records: Sequence[Record], across: str, colours: dict[str, Any]) -> None:
    from matplotlib.ticker import NullFormatter  # noqa: PLC0415 - slow to import

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_minor_formatter(NullFormatter())
    for (_, method), result in by_cell(records).items():
        if len(result[0].result["curve"]) == 1:
            percent = max(interval_of(result, -1).mean, _LEAST)
            axes.axhline(percent, color=colours[method], linewidth=1, linestyle="--", label=method)
            continue
        points = range(
            -min(len(record.result["curve"]) for record in result), 0
        )  # only first marks are skipped
        x_values = [float(np.median([one.result["curve"][at][across] for one in result])) for at in points]
        intervals = [interval_of(result, at) for at in points]
        middle = [max(one.mean, _LEAST) for one in intervals]
        low = [max(one.mean if one.low is None else one.low, _LEAST) for one in intervals]
        high = [max(one.mean if one.high is None else one.high, _LEAST) for one in intervals]
        keep = [at for at in range(len(x_values)) if x_values[at] > 0]
        kept = [[values[at] for at in keep] for values in (x_values, middle, low, high)]
        plot_band(axes, kept[0], kept[1], (kept[2], kept[3]), method, colours[method])
    axes.axhline(1.0, color="#bbbbbb", linewidth=0.8, linestyle=":")


def interval_of(records: Sequence[Record], at: int) -> Interval:
    """The interquartile mean over seeds at a point of the curves, in per cent."""
    return over_seeds([record.result["curve"][at]["percent"] for record in records], interquartile_mean)
