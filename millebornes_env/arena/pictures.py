"""Pictures of the arena: the payoff matrix as a heat map, and ratings as dots with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env._util.files import load_matplotlib, new_figure
from millebornes_env.arena.estimates import Measure, Payoff
from millebornes_env.arena.intervals import Float64Array
from millebornes_env.arena.ratings import Ratings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_NAME: Final = 40
"""Most characters shown of a name; longer names are shortened in the middle."""

_CELL: Final = (0.66, 0.52)  # inches, wide and high: room for "-1,234" over "± 123"
_LABEL_SIZE: Final = 10.0  # points
_SMALL: Final = 8.33  # points, of the line below a heading
_WORTH_CLIPPING: Final = 2 / 3  # colours are clipped only below this fraction of the greatest lead
FEWEST_BOUNDED: Final = 2
HEADING_HEIGHT: Final = 0.75  # inches
_NUMBERS_HEIGHT: Final = 0.25  # inches, of the columns' names
_NARROWEST: Final = 6.2  # inches, for the heading
_COLOURS: Final = "RdBu"  # red: the row's agent loses, blue: it wins; distinct for the colour-blind
_EMPTY: Final = "#eceef1"
_DARK, _GREY, _LINE = "#222222", "#555555", "#2c5f8a"


def payoff_title(measure: Measure, episodes: str = "episodes") -> str:
    """Return the title of a payoff matrix; `episodes` is the word for them."""
    if measure == "points":
        return "Points per round, row against column"
    return f"{episodes.capitalize()} won, %, row against column"


def draw_payoff(
    names: Sequence[str],
    payoff: Payoff,
    order: Sequence[int],
    table: str = "",
    episodes: str = "episodes",
) -> Figure:
    """Draw the points (or wins) of every agent against every other, with a cell of fixed size for each pair.

    Columns are named by rank, because names may be wider than the cells.

    Args:
        names: names of all agents, by number.
        payoff: payoffs of all pairs.
        order: numbers of the agents, from the best to the worst.
        table: description of the table, for the heading.
        episodes: word for the episodes.
    """
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - slow to import

    shown = [shown_name(names[agent]) for agent in order]
    cells = len(shown) * _CELL[0], len(shown) * _CELL[1]
    left = 0.65 + _widest(shown)
    bottom, right = 0.2, 1.15
    scale = 1.0 if payoff.measure == "points" else 100.0
    values = scale * payoff.lead[np.ix_(order, order)]
    limit, is_clipped = _colour_limit(values)
    deepest = 1.15 * limit  # the deepest colours are hard to write on
    subtitle = _payoff_subtitle(table, payoff.measure, deepest if is_clipped else None)
    width = max(left + cells[0] + right, _NARROWEST, 0.3 + _widest([without_formulas(subtitle)], _SMALL))
    height = HEADING_HEIGHT + _NUMBERS_HEIGHT + cells[1] + bottom
    figure = new_figure(width, height)
    draw_heading(figure, payoff_title(payoff.measure, episodes), subtitle)
    axes = figure.add_axes((left / width, bottom / height, cells[0] / width, cells[1] / height))
    axes.set_facecolor(_EMPTY)
    image = axes.imshow(np.ma.masked_invalid(values), _COLOURS, vmin=-deepest, vmax=deepest, aspect="auto")
    _write_cells(axes, payoff.measure, values, scale * payoff.lead_half[np.ix_(order, order)], deepest)
    _label_cells(axes, shown)
    bar = figure.add_axes(
        ((left + cells[0] + 0.25) / width, bottom / height, 0.14 / width, cells[1] / height)
    )
    figure.colorbar(
        image,
        cax=bar,
        extend="both" if is_clipped else "neither",
        ticks=MaxNLocator(integer=True),  # they are shown as whole numbers
        format=_tick_text(payoff.measure),
    )
    bar.tick_params(labelsize="small", length=2)
    bar.spines[:].set_visible(False)
    return figure


def _payoff_subtitle(table: str, measure: str, clipped_at: float | None) -> str:
    """Return the subtitle: the table, the small figures, and the end of the colours if they are clipped."""
    parts = [table] if table else []
    parts.append("small: half of the 95 % interval")
    if clipped_at is not None:
        low, high = (_cell_text(measure, end) for end in (-clipped_at, clipped_at))
        parts.append(f"colours end at {low} and {high}")
    return " · ".join(parts)


def draw_ratings(names: Sequence[str], ratings: Ratings, table: str = "") -> Figure:
    """Draw the ratings as dots with their intervals, the best at the top.

    Args:
        names: names of all agents, by number.
        ratings: their ratings.
        table: description of the table, for the heading.
    """
    order = ratings.order()
    shown = [shown_name(names[agent]) for agent in order]
    left = 0.45 + _widest(shown)
    width, height = left + 6.5, HEADING_HEIGHT + 0.75 + 0.36 * len(shown)
    figure = new_figure(width, height)
    zero = "the mean" if ratings.anchor is None else shortened(names[ratings.anchor])
    draw_heading(figure, "Ratings", " · ".join(part for part in (table, f"0 is {zero}") if part))
    axes = figure.add_axes((left / width, 0.6 / height, 4.5 / width, (0.15 + 0.36 * len(shown)) / height))
    ends = _rating_limits(ratings)
    has_arrows = [_draw_rating(axes, row, ratings, agent, ends) for row, agent in enumerate(order)]
    axes.axvline(0, color=_DARK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    axes.set_xlim(*ends)
    label_rows(axes, shown)
    arrow = ", arrow: beyond, or no end" if any(has_arrows) else ""
    axes.set_xlabel(f"Elo points   (dot: rating, line: 95 % interval{arrow})")
    return figure


def draw_overview(names: Sequence[str], tables: Sequence[str], elo: Float64Array, anchor: str) -> Figure:
    """Draw the ratings at several tables: a row for each agent, a dot for each table.

    Args:
        names: names of the agents, from the top down.
        tables: names of the tables.
        elo: float64[agents, tables]; NaN: the agent does not play there.
        anchor: name of the agent whose rating is 0 at every table.
    """
    shown = [shown_name(name) for name in names]
    left, right, rows = 0.45 + _widest(shown), 2.1, 0.42 * len(shown)
    width, height = left + 5.2 + right, HEADING_HEIGHT + 0.75 + rows
    figure = new_figure(width, height)
    first, last = _overview_limits(elo)
    arrows = " · arrows: beyond the axis" if (elo < first).any() or (elo > last).any() else ""
    draw_heading(figure, "Ratings at all tables", f"0 is {anchor}{arrows}")
    axes = figure.add_axes((left / width, 0.6 / height, 5.2 / width, (0.15 + rows) / height))
    for table, name in enumerate(tables):
        shift = 0.7 * ((table + 0.5) / len(tables) - 0.5)
        _draw_table(axes, f"C{table % 10}", elo[:, table], shift, (first, last))
        axes.plot([], [], "o", markersize=4.5, color=f"C{table % 10}", label=name)
    axes.axvline(0, color=_DARK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    axes.set_xlim(first - 0.02 * (last - first), last + 0.02 * (last - first))
    label_rows(axes, shown)
    for row in range(1, len(shown)):
        axes.axhline(row - 0.5, color="#e3e6ea", linewidth=0.8, zorder=0)
    axes.set_xlabel("Elo points")
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, fontsize="small")
    return figure


def _draw_table(
    axes: Axes, colour: str, ratings: Float64Array, shift: float, ends: tuple[float, float]
) -> None:
    """Draw the dots of one table, shifted within the agents' rows; arrows mark values beyond the ends."""
    inside = np.clip(ratings, *ends)
    for marker, chosen in (("o", ratings == inside), ("<", ratings < inside), (">", ratings > inside)):
        rows = np.flatnonzero(chosen)
        axes.plot(inside[rows], rows + shift, marker, markersize=4.5, color=colour, clip_on=False, zorder=3)


def _overview_limits(elo: Float64Array) -> tuple[float, float]:
    """Return the ends of the axis: all ratings but outliers (Tukey's fences), and 0."""
    known = elo[~np.isnan(elo)]
    low, high = np.percentile(known, (25, 75))
    near = known[(known >= low - 1.5 * (high - low)) & (known <= high + 1.5 * (high - low))]
    return min(float(near.min()), 0.0), max(float(near.max()), 0.0)


def shortened(name: str) -> str:
    """Shorten a name to `LONGEST_NAME` by leaving out its middle."""
    if len(name) <= LONGEST_NAME:
        return name
    half = (LONGEST_NAME - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def shown_name(name: str) -> str:
    """Return a name as shown in pictures: shortened, with dollar signs escaped."""
    return without_formulas(shortened(name))


def without_formulas(text: str) -> str:
    """Escape dollar signs, which would begin a formula."""
    return text.replace("$", r"\$")


def label_rows(axes: Axes, labels: Sequence[str]) -> None:
    """Label a picture of rows from the top down, with a vertical grid and without a frame."""
    axes.set_ylim(len(labels) - 0.45, -0.55)
    axes.set_yticks(range(len(labels)), labels, fontsize=_LABEL_SIZE)
    axes.grid(axis="x", color="#e3e6ea", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0, pad=10)


def annotate_row(axes: Axes, row: int, text: str, colour: str = _DARK) -> None:
    """Write a text at the right of a row."""
    axes.annotate(
        text,
        xy=(1, row),
        xycoords=("axes fraction", "data"),
        xytext=(12, 0),
        textcoords="offset points",
        va="center",
        color=colour,
    )


def _widest(labels: Sequence[str], size: float = _LABEL_SIZE) -> float:
    """Return the width of the longest label in inches."""
    load_matplotlib()
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - slow to import
    from matplotlib.textpath import TextPath  # noqa: PLC0415

    font = FontProperties(size=size)
    points = [TextPath((0, 0), label, prop=font).get_extents().x1 for label in labels if label.strip()]
    return max(points, default=0.0) / 72


def draw_heading(figure: Figure, heading: str, below: str) -> None:
    """Draw a heading of two lines at the top left of the picture."""
    width, height = figure.get_size_inches()
    lines: list[tuple[float, str, dict[str, Any]]] = [
        (0.1, heading, {"fontsize": "large", "fontweight": "bold", "color": _DARK}),
        (0.37, without_formulas(below), {"fontsize": _SMALL, "color": _GREY}),
    ]
    for below_top, text, style in lines:
        figure.text(0.12 / width, 1 - below_top / height, text, va="top", **style)


def _colour_limit(leads: Float64Array) -> tuple[float, bool]:
    """Return the lead with the deepest colour, and True if some leads are greater.

    One agent that loses by far would leave all others with the same pale colour. So the agent with the
    greatest leads is ignored, unless the rest differ by less than a quarter of that. Agents that have met
    nobody do not count.
    """
    met = (~np.isnan(leads) & ~np.eye(len(leads), dtype=bool)).any(axis=1)
    known = np.nan_to_num(np.abs(leads[np.ix_(met, met)]))
    greatest = max(float(known.max(initial=0.0)), 1.0)
    without = [np.delete(np.delete(known, agent, 0), agent, 1) for agent in range(len(known))]
    among_others = min((float(rest.max(initial=0.0)) for rest in without), default=greatest)
    limit = max(among_others, greatest / 4)
    return (limit, True) if len(known) > 2 and limit < _WORTH_CLIPPING * greatest else (greatest, False)


def _write_cells(axes: Axes, measure: str, values: Float64Array, halves: Float64Array, limit: float) -> None:
    """Write the value of each pair, and below it the half-width of its interval."""
    for row, column in np.ndindex(*values.shape):
        value, half = float(values[row, column]), float(halves[row, column])
        if np.isnan(value):
            if row != column:
                axes.text(column, row, "?", ha="center", va="center", color=_GREY)
            continue
        colour = "white" if abs(value) > 0.62 * limit else _DARK  # on the deep ends of the colours
        style: dict[str, Any] = {"ha": "center", "va": "center", "color": colour}
        if np.isnan(half):
            axes.text(column, row, _cell_text(measure, value), fontsize=9.5, **style)
        else:
            axes.text(column, row - 0.13, _cell_text(measure, value), fontsize=9.5, **style)
            axes.text(column, row + 0.26, f"± {_half(half)}", fontsize=6.5, **style)


def signed(value: float) -> str:
    """Format a whole number with its sign (a wide minus); 0 has none."""
    return "0" if abs(value) <= 0.5 else f"{value:+,.0f}".replace("-", "\u2212")


def _cell_text(measure: str, lead: float) -> str:
    """Format a lead in points, or the percentage of episodes won, from its excess over one half."""
    return signed(lead) if measure == "points" else f"{50 + lead:.1f}"


def _tick_text(measure: str) -> Callable[[float, object], str]:
    """Return the formatter of the colour bar's ticks."""
    return lambda lead, _position: signed(lead) if measure == "points" else f"{50 + lead:.0f}"


def _half(half: float) -> str:
    """Format a half-width with at least two digits, so that it is not shown as 0."""
    return f"{half:,.0f}" if half >= 9.5 else f"{half:.1f}"


def _label_cells(axes: Axes, shown: Sequence[str]) -> None:
    ranks = range(len(shown))
    axes.set_yticks(ranks, [f"{name}   {rank + 1}" for rank, name in enumerate(shown)], fontsize=_LABEL_SIZE)
    axes.set_xticks(ranks, [str(rank + 1) for rank in ranks])
    axes.tick_params(length=0, labelbottom=False, labeltop=True)
    axes.spines[:].set_visible(False)
    for line in range(len(shown) + 1):  # white lines between the cells
        axes.axhline(line - 0.5, color="white", linewidth=1.2)
        axes.axvline(line - 0.5, color="white", linewidth=1.2)


def _rating_limits(ratings: Ratings) -> tuple[float, float]:
    """Return the ends of the axis, with all ratings bounded on both sides if there are two or more.

    An agent that lost everything lies so far off that all others would be a single dot; it gets an arrow.
    """
    bounded = ~(np.isnan(ratings.low) | np.isnan(ratings.high))
    if bounded.sum() < FEWEST_BOUNDED:
        bounded[:] = True
    known = np.concatenate([ratings.elo[bounded], ratings.low[bounded], ratings.high[bounded], [0.0]])
    known = known[~np.isnan(known)]
    margin = max(10.0, 0.08 * float(known.max() - known.min()))
    return float(known.min()) - margin, float(known.max()) + margin


def _draw_rating(axes: Axes, row: int, ratings: Ratings, agent: int, ends: tuple[float, float]) -> bool:
    """Draw an agent's rating and interval; return True if it has an arrow."""
    elo, low, high = (float(values[agent]) for values in (ratings.elo, ratings.low, ratings.high))
    inside = 0.012 * (ends[1] - ends[0])  # arrows stay off the names
    first, last = ends[0] + inside, ends[1] - inside
    from_end = first if np.isnan(low) else min(max(low, first), last)
    to_end = last if np.isnan(high) else min(max(high, first), last)
    axes.plot([from_end, to_end], [row, row], "-", color=_LINE, linewidth=2, solid_capstyle="butt")
    goes_below, goes_above = bool(np.isnan(low) or low < first), bool(np.isnan(high) or high > last)
    for end, goes_on, marker in ((from_end, goes_below, "<"), (to_end, goes_above, ">")):
        if goes_on or first < end < last:
            drawn = marker if goes_on else "|"
            axes.plot([end], [row], drawn, color=_LINE, markersize=9, markeredgewidth=1.6, clip_on=False)
    if first <= elo <= last:
        axes.plot([elo], [row], "o", color=_LINE, markersize=6)
    annotate_row(axes, row, f"{signed(elo)}  [{_end(low)}, {_end(high)}]")
    return goes_below or goes_above


def _end(end: float) -> str:
    return "none" if np.isnan(end) else signed(end)
