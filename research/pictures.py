"""Style of all plots of research questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from research.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

COLOURS: Final = (
    *("#c8443c", "#2f6db5", "#3d8f5f", "#8a5ca8", "#d98a2b", "#4f9aa8"),
    *("#7a6a58", "#b5477e", "#6b7b2e", "#93a1b5", "#8fbf3f", "#111111", "#c9b458"),
)
"""Colours of lines or groups, in order."""


def styled(axes: Axes, title: str = "", **labels: Any) -> Axes:
    """Style axes with a light grid and without top and right spines; `labels` are passed to `Axes.set`."""
    if title:
        axes.set_title(title, fontweight="bold", loc="left")
    axes.set(**labels)
    axes.grid(color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def plot_groups(
    axes: Axes,
    names: Sequence[str],
    bars: Mapping[str, Sequence[Interval | None]],
    width: float = 1.0,
    **ticks: Any,
) -> list[BarContainer]:
    """Plot groups of bars with their intervals.

    Args:
        axes: axes of the plot.
        names: name of each group.
        bars: by label, a bar in each group; None: no bar there.
        width: width of a bar, as a share of its place.
        **ticks: style of the names.

    Returns:
        The bars of each label.
    """
    result, place = [], 0.8 / max(1, len(bars))
    for number, (label, intervals) in enumerate(bars.items()):
        shown = [(index, one) for index, one in enumerate(intervals) if one is not None]
        drawn = axes.bar(
            [index + (number - (len(bars) - 1) / 2) * place for index, _ in shown],
            [one.mean for _, one in shown],
            yerr=[half(one) for _, one in shown],
            width=width * place, color=COLOURS[number], label=label, capsize=2,
        )  # fmt: skip
        result.append(drawn)
    axes.set_xticks(range(len(names)), names, **ticks)
    return result


def half(interval: Interval) -> float:
    """Return the half-width of an interval; 0 without ends."""
    return 0.0 if interval.low is None else interval.half_width


def plot_band(
    axes: Axes,
    across: Sequence[float],
    middle: Sequence[float],
    ends: tuple[Sequence[float], Sequence[float]],
    label: str,
    colour: str,
) -> None:
    """Plot a line with the band of its interval.

    Args:
        axes: axes of the plot.
        across: n x values.
        middle: n estimates.
        ends: n lower and n upper ends of the intervals.
        label: label in the legend.
        colour: colour of the line; the band is paler.
    """
    axes.plot(across, middle, marker="o", markersize=3, linewidth=1.4, color=colour, label=label)
    axes.fill_between(across, *ends, color=colour, alpha=0.18, linewidth=0)
