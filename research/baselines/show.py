"""The table, the matrix and the picture of `research.exploitability`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from research.baselines.judging import head_to_head, policy_path, read_table, small_tree
from research.intervals import Interval, interquartile_mean, over_seeds, over_tasks
from research.parts import Record
from research.pictures import COLOURS, plot_band, styled
from research.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Float64Array = npt.NDArray[np.float64]
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
    """Build the tables of the results of each method; for small decks, the head-to-head matrices too."""
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
    return [Table(headings, tuple(rows), text_columns=2), *_over_decks(records), *_matrices(records)]


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


# Who wins how much from whom --------------------------------------------------------------------------------


def matrix(records: Sequence[Record], deck: str) -> tuple[list[str], Float64Array]:
    """Return the exact head-to-head points of the final policies, averaged over seeds.

    Returns:
        The methods whose policies were kept, and float64[M, M]: points a round of the row from the column.
    """
    policies: dict[str, list[Any]] = {}
    name = ""
    for (its_deck, method), result in by_cell(records).items():
        paths = [policy_path(record.part.folder, record.part.name) for record in result]
        if its_deck == deck and all(path.is_file() for path in paths):
            policies[method] = [read_table(path) for path in paths]
            name = result[0].result["deck"]
    if len(policies) < 2:
        return [], np.zeros((0, 0))
    tree = small_tree(name)
    won = np.zeros((len(policies), len(policies)))
    for row, mine in enumerate(policies.values()):
        for column, theirs in enumerate(policies.values()):
            if row < column:
                pairs = max(len(mine), len(theirs))
                gains = [
                    head_to_head(tree, mine[pair % len(mine)], theirs[pair % len(theirs)])
                    for pair in range(pairs)
                ]
                won[row, column] = np.mean(gains)
                won[column, row] = -won[row, column]
    return list(policies), won


def _matrices(records: Sequence[Record]) -> list[Table]:
    result = []
    for deck in decks_of(records):
        methods, won = matrix(records, deck)
        if methods:
            rows = tuple(
                (method, *(f"{value:+.1f}" if row != column else "" for column, value in enumerate(won[row])))
                for row, method in enumerate(methods)
            )
            title = f"Points a round that the row wins from the column, {deck}"
            result.append(Table(("", *methods), rows, title))
    return result


# The picture ------------------------------------------------------------------------------------------------


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Exploitability against decisions and seconds, and the matrices of the small decks."""
    decks = decks_of(records)
    methods = list(dict.fromkeys(record.part.config["method"] for record in records))
    colours = {method: COLOURS[number % len(COLOURS)] for number, method in enumerate(methods)}
    result = {deck: matrix(records, deck) for deck in decks}
    matrices = [deck for deck in decks if result[deck][0]]
    rows = 2 + bool(matrices)
    heights = [1.0, 1.0, 1.25][:rows]
    grid = figure.add_gridspec(rows, 6, height_ratios=heights)
    drawn = [deck for deck in decks if any(len(one.result["curve"]) > 1 for one in _of(records, deck))][:3]
    for column, deck in enumerate(drawn or decks[:1]):
        for row, across in enumerate(("samples", "seconds")):
            axes = figure.add_subplot(grid[row, _third(column, len(drawn or decks[:1]))])
            _plot_curves(axes, _of(records, deck), across, colours)
            styled(
                axes,
                f"{deck}" if row == 0 else "",
                xlabel="decisions" if across == "samples" else "seconds of processor time",
                ylabel="exploitability, % of the payoff range" if column == 0 else "",
            )
            _show_decades(axes)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    known = dict(zip(labels, handles, strict=True))
    for axes in figure.axes:
        known |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(known.values(), known.keys(), loc="outside upper center", ncols=6, frameon=False)
    for column, deck in enumerate(matrices[:2]):
        _plot_matrix(figure.add_subplot(grid[2, 3 * column : 3 * column + 3]), deck, *result[deck])


def _show_decades(axes: Axes) -> None:
    """Let short axes reach from one power of ten to another: only those have numbers."""
    for limits, set_limits in ((axes.get_xlim(), axes.set_xlim), (axes.get_ylim(), axes.set_ylim)):
        low, high = np.log10(limits)
        if high - low < 2.5:
            set_limits(10 ** np.floor(low), 10 ** np.ceil(high))


def _third(column: int, columns: int) -> slice:
    width = 6 // columns
    return slice(column * width, (column + 1) * width)


def _of(records: Sequence[Record], deck: str) -> list[Record]:
    return [record for record in records if record.part.config["deck"] == deck]


def _plot_curves(axes: Axes, records: Sequence[Record], across: str, colours: dict[str, str]) -> None:
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


def _plot_matrix(axes: Axes, deck: str, methods: list[str], won: Float64Array) -> None:
    most = float(np.abs(won).max()) or 1.0
    axes.imshow(won, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
    axes.set_xticks(range(len(methods)), methods, rotation=45, ha="right", fontsize=8)
    axes.set_yticks(range(len(methods)), methods, fontsize=8)
    for row in range(len(methods)):
        for column in range(len(methods)):
            if row != column:
                dark = abs(won[row, column]) > 0.6 * most
                axes.text(
                    column, row, f"{won[row, column]:+.0f}",
                    ha="center", va="center", fontsize=7, color="white" if dark else "black",
                )  # fmt: skip
    axes.set_title(f"{deck}: points a round, row from column", fontweight="bold", loc="left", fontsize=10)
