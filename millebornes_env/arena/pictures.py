"""The payoff matrix as a heat map, and the ratings as dots with their intervals."""

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
"""Characters of a name that are shown; of a longer one the middle is left out."""

_CELL: Final = (0.66, 0.52)  # inches, wide and high: room for "-1,234" over "± 123"
_LABEL_SIZE: Final = 10.0  # points
_WORTH_CLIPPING: Final = 2 / 3  # colours end at less than so much of the greatest lead, or there
FEWEST_BOUNDED: Final = 2
_HEADING_HEIGHT: Final = 0.75  # inches
_NUMBERS_HEIGHT: Final = 0.25  # inches, of the columns' names
_NARROWEST: Final = 6.2  # inches, for the heading
_COLOURS: Final = (
    "RdBu"  # red where the row's agent loses, blue where it wins; also apart for the colour-blind
)
_EMPTY: Final = "#eceef1"
_DARK, _GREY, _LINE = "#222222", "#555555", "#2c5f8a"


def payoff_title(measure: Measure, episodes: str = "episodes") -> str:
    """What stands above a payoff matrix.

    Args:
        measure: that agents are told apart by.
        episodes: what these are called.
    """
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
    """Draw the points (or wins, where none are counted) of everybody against everybody, a cell for each pair.

    Columns are named by place: names of 40 characters would need more room than the cells.

    Args:
        names: of all agents, by number.
        payoff: of all pairs.
        order: of the agents from the best to the worst, by number.
        table: what was played, for the heading.
        episodes: what these are called.

    Returns:
        A Matplotlib figure with a cell of fixed size for each pair, so that it is legible for any number.
    """
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - as in `_new_figure`

    shown = [shown_name(names[agent]) for agent in order]
    cells = len(shown) * _CELL[0], len(shown) * _CELL[1]
    left = 0.65 + _widest(shown)
    bottom, right = 0.2, 1.15
    width = max(left + cells[0] + right, _NARROWEST)
    height = _HEADING_HEIGHT + _NUMBERS_HEIGHT + cells[1] + bottom
    figure = new_figure(width, height)
    scale = 1.0 if payoff.measure == "points" else 100.0
    values = scale * payoff.lead[np.ix_(order, order)]
    limit, is_clipped = _colour_limit(values)
    deepest = 1.15 * limit  # the deepest colours are hard to write on
    subtitle = _payoff_subtitle(table, payoff.measure, deepest if is_clipped else None)
    _draw_heading(figure, payoff_title(payoff.measure, episodes), subtitle)
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
    """What was played, what the small figures are, and where the colours end if values go beyond."""
    parts = [table] if table else []
    parts.append("small: half of the 95 % interval")
    if clipped_at is not None:
        low, high = (_cell_text(measure, end) for end in (-clipped_at, clipped_at))
        parts.append(f"colours end at {low} and {high}")
    return " · ".join(parts)


def draw_ratings(names: Sequence[str], ratings: Ratings, table: str = "") -> Figure:
    """Draw the ratings as dots with their intervals, the best at the top.

    Args:
        names: of all agents, by number.
        ratings: of all.
        table: what was played, for the heading.

    Returns:
        A Matplotlib figure, wider for long names.
    """
    order = ratings.order()
    shown = [shown_name(names[agent]) for agent in order]
    left = 0.45 + _widest(shown)
    width, height = left + 6.5, _HEADING_HEIGHT + 0.75 + 0.36 * len(shown)
    figure = new_figure(width, height)
    zero = "the mean" if ratings.anchor is None else shortened(names[ratings.anchor])
    _draw_heading(figure, "Ratings", " · ".join(part for part in (table, f"0 is {zero}") if part))
    axes = figure.add_axes((left / width, 0.6 / height, 4.5 / width, (0.15 + 0.36 * len(shown)) / height))
    ends = _rating_limits(ratings)
    has_arrows = [_draw_rating(axes, place, ratings, agent, ends) for place, agent in enumerate(order)]
    axes.axvline(0, color=_DARK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    axes.set_xlim(*ends)
    axes.set_ylim(len(order) - 0.45, -0.55)
    axes.set_yticks(range(len(order)), shown, fontsize=_LABEL_SIZE)
    arrow = ", arrow: beyond, or no end" if any(has_arrows) else ""
    axes.set_xlabel(f"Elo points   (dot: rating, line: 95 % interval{arrow})")
    axes.grid(axis="x", color="#e3e6ea", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0, pad=10)
    return figure


def draw_overview(names: Sequence[str], tables: Sequence[str], elo: Float64Array, anchor: str) -> Figure:
    """Draw the ratings at several tables beside each other: a row for each agent, a dot for each table.

    Args:
        names: of the agents, from the top down.
        tables: what to call them.
        elo: float64[agents, tables]; NaN: the agent does not play there.
        anchor: the agent that is 0 at every table.

    Returns:
        A Matplotlib figure.
    """
    shown = [shown_name(name) for name in names]
    left, right, rows = 0.45 + _widest(shown), 2.1, 0.42 * len(shown)
    width, height = left + 5.2 + right, _HEADING_HEIGHT + 0.75 + rows
    figure = new_figure(width, height)
    first, last = _overview_limits(elo)
    arrows = " · arrows: beyond the axis" if (elo < first).any() or (elo > last).any() else ""
    _draw_heading(figure, "Ratings at all tables", f"0 is {anchor}{arrows}")
    axes = figure.add_axes((left / width, 0.6 / height, 5.2 / width, (0.15 + rows) / height))
    for table, name in enumerate(tables):
        shift = 0.7 * ((table + 0.5) / len(tables) - 0.5)
        _draw_table(axes, f"C{table % 10}", elo[:, table], shift, (first, last))
        axes.plot([], [], "o", markersize=4.5, color=f"C{table % 10}", label=name)
    axes.axvline(0, color=_DARK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    axes.set_xlim(first - 0.02 * (last - first), last + 0.02 * (last - first))
    axes.set_ylim(len(shown) - 0.45, -0.55)
    axes.set_yticks(range(len(shown)), shown, fontsize=_LABEL_SIZE)
    for place in range(1, len(shown)):
        axes.axhline(place - 0.5, color="#e3e6ea", linewidth=0.8, zorder=0)
    axes.set_xlabel("Elo points")
    axes.grid(axis="x", color="#e3e6ea", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0, pad=10)
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, fontsize="small")
    return figure


def _draw_table(
    axes: Axes, colour: str, ratings: Float64Array, shift: float, ends: tuple[float, float]
) -> None:
    """The dots of one table, each a little below the middle of its agent's row; arrows at the ends."""
    inside = np.clip(ratings, *ends)
    for marker, chosen in (("o", ratings == inside), ("<", ratings < inside), (">", ratings > inside)):
        places = np.flatnonzero(chosen)
        axes.plot(
            inside[places], places + shift, marker, markersize=4.5, color=colour, clip_on=False, zorder=3
        )


def _overview_limits(elo: Float64Array) -> tuple[float, float]:
    """The ends of the axis: all ratings that are no outliers (Tukey's fences), and 0."""
    known = elo[~np.isnan(elo)]
    low, high = np.percentile(known, (25, 75))
    near = known[(known >= low - 1.5 * (high - low)) & (known <= high + 1.5 * (high - low))]
    return min(float(near.min()), 0.0), max(float(near.max()), 0.0)


def shortened(name: str) -> str:
    """A name without its middle if it is longer than `LONGEST_NAME`."""
    if len(name) <= LONGEST_NAME:
        return name
    half = (LONGEST_NAME - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def shown_name(name: str) -> str:
    """A name as Matplotlib may show it: not too long, and no dollar sign that would begin a formula."""
    return _plain(shortened(name))


def _plain(text: str) -> str:
    return text.replace("$", r"\$")


def _widest(labels: Sequence[str]) -> float:
    """Inches that the longest label takes."""
    load_matplotlib()
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - slow to import
    from matplotlib.textpath import TextPath  # noqa: PLC0415

    font = FontProperties(size=_LABEL_SIZE)
    points = [TextPath((0, 0), label, prop=font).get_extents().x1 for label in labels if label.strip()]
    return max(points, default=0.0) / 72


def _draw_heading(figure: Figure, heading: str, below: str) -> None:
    """Two lines above all else, from the left edge of the picture."""
    width, height = figure.get_size_inches()
    lines: list[tuple[float, str, dict[str, Any]]] = [
        (0.1, heading, {"fontsize": "large", "fontweight": "bold", "color": _DARK}),
        (0.37, _plain(below), {"fontsize": "small", "color": _GREY}),
    ]
    for below_top, text, style in lines:
        figure.text(0.12 / width, 1 - below_top / height, text, va="top", **style)


def _colour_limit(leads: Float64Array) -> tuple[float, bool]:
    """The lead with the deepest colour, the same for both signs, and whether some leads are greater.

    One agent that loses everything by far would leave all others with the same pale colour. So the agent
    whose leads are the greatest does not count, unless the rest differ by less than a quarter of that.

    Args:
        leads: float64[k, k]; NaN: not known.
    """
    known = np.nan_to_num(np.abs(leads))
    greatest = max(float(known.max(initial=0.0)), 1.0)
    without = [np.delete(np.delete(known, agent, 0), agent, 1) for agent in range(len(known))]
    among_others = min((float(rest.max(initial=0.0)) for rest in without), default=greatest)
    limit = max(among_others, greatest / 4)
    return (limit, True) if len(known) > 2 and limit < _WORTH_CLIPPING * greatest else (greatest, False)


def _write_cells(
    axes: Axes,
    measure: str,
    values: np.ndarray[Any, np.dtype[np.float64]],
    halves: np.ndarray[Any, np.dtype[np.float64]],
    limit: float,
) -> None:
    """The value of each pair, and below it half the width of its interval."""
    for row, column in np.ndindex(*values.shape):
        value, half = float(values[row, column]), float(halves[row, column])
        if np.isnan(value):
            if row != column:
                axes.text(column, row, "?", ha="center", va="center", color=_GREY)
            continue
        colour = "white" if abs(value) > 0.62 * limit else _DARK  # on the deep ends of the colours
        alone = bool(np.isnan(half))
        axes.text(
            *(column, row if alone else row - 0.13, _cell_text(measure, value)),
            ha="center",
            va="center",
            fontsize=9.5,
            color=colour,
        )
        if not alone:
            axes.text(
                column, row + 0.26, f"± {_half(half)}", ha="center", va="center", fontsize=6.5, color=colour
            )


def signed(value: float) -> str:
    """A whole number with its sign, the minus as wide as the plus; 0 has none."""
    return "0" if abs(value) <= 0.5 else f"{value:+,.0f}".replace("-", "\u2212")


def _cell_text(measure: str, lead: float) -> str:
    """A lead in points, or the episodes won in percent: how many more than one half they are is known."""
    return signed(lead) if measure == "points" else f"{50 + lead:.1f}"


def _tick_text(measure: str) -> Callable[[float, object], str]:
    """How numbers beside the colours are written."""
    return lambda lead, _place: signed(lead) if measure == "points" else f"{50 + lead:.0f}"


def _half(half: float) -> str:
    """Half a width with two digits at least, so that none is shown as 0."""
    return f"{half:,.0f}" if half >= 9.5 else f"{half:.1f}"


def _label_cells(axes: Axes, shown: Sequence[str]) -> None:
    places = range(len(shown))
    axes.set_yticks(
        places, [f"{name}   {place + 1}" for place, name in enumerate(shown)], fontsize=_LABEL_SIZE
    )
    axes.set_xticks(places, [str(place + 1) for place in places])
    axes.tick_params(length=0, labelbottom=False, labeltop=True)
    axes.spines[:].set_visible(False)
    for place in range(len(shown) + 1):  # white lines between the cells
        axes.axhline(place - 0.5, color="white", linewidth=1.2)
        axes.axvline(place - 0.5, color="white", linewidth=1.2)


def _rating_limits(ratings: Ratings) -> tuple[float, float]:
    """The ends of the axis: room for the ratings that games bound on both sides, if two or more are.

    One agent that lost everything lies so far off that all others would be a single dot; it gets an arrow.
    """
    bounded = ~(np.isnan(ratings.low) | np.isnan(ratings.high))
    if bounded.sum() < FEWEST_BOUNDED:
        bounded[:] = True
    known = np.concatenate([ratings.elo[bounded], ratings.low[bounded], ratings.high[bounded], [0.0]])
    known = known[~np.isnan(known)]
    margin = max(10.0, 0.08 * float(known.max() - known.min()))
    return float(known.min()) - margin, float(known.max()) + margin


def _draw_rating(axes: Axes, place: int, ratings: Ratings, agent: int, ends: tuple[float, float]) -> bool:
    """Draw an agent's rating and interval; return True if it has an arrow."""
    elo, low, high = (float(values[agent]) for values in (ratings.elo, ratings.low, ratings.high))
    inside = 0.012 * (ends[1] - ends[0])  # arrows stay off the names
    first, last = ends[0] + inside, ends[1] - inside
    from_end = first if np.isnan(low) else min(max(low, first), last)
    to_end = last if np.isnan(high) else min(max(high, first), last)
    axes.plot([from_end, to_end], [place, place], "-", color=_LINE, linewidth=2, solid_capstyle="butt")
    goes_below, goes_above = bool(np.isnan(low) or low < first), bool(np.isnan(high) or high > last)
    for end, goes_on, marker in ((from_end, goes_below, "<"), (to_end, goes_above, ">")):
        if goes_on or first < end < last:
            drawn = marker if goes_on else "|"
            axes.plot([end], [place], drawn, color=_LINE, markersize=9, markeredgewidth=1.6, clip_on=False)
    if first <= elo <= last:
        axes.plot([elo], [place], "o", color=_LINE, markersize=6)
    axes.annotate(
        f"{signed(elo)}  [{_end(low)}, {_end(high)}]",
        xy=(1, place),
        xycoords=("axes fraction", "data"),
        xytext=(12, 0),
        textcoords="offset points",
        va="center",
        color=_DARK,
    )
    return goes_below or goes_above


def _end(end: float) -> str:
    return "none" if np.isnan(end) else signed(end)
