"""The style of all pictures of research questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OUR_COLOUR: Final = "#c8443c"
OTHER_COLOUR: Final = "#93a1b5"
COLOURS: Final = (
    *("#c8443c", "#2f6db5", "#3d8f5f", "#8a5ca8", "#d98a2b", "#4f9aa8"),
    *("#7a6a58", "#b5477e", "#6b7b2e", "#93a1b5", "#8fbf3f", "#111111", "#c9b458"),
)
"""One for each line or group, in this order."""


def styled(axes: Axes, title: str = "", **labels: Any) -> Axes:
    """Axes with a light grid, no frame at the top and at the right, and what `Axes.set` takes."""
    if title:
        axes.set_title(title, fontweight="bold", loc="left")
    axes.set(**labels)
    axes.grid(color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def draw_band(
    axes: Axes,
    across: Sequence[float],
    middle: Sequence[float],
    ends: tuple[Sequence[float], Sequence[float]],
    label: str,
    colour: str,
) -> None:
    """Draw a line with the band of its interval.

    Args:
        axes: to draw in.
        across: n places.
        middle: n estimates.
        ends: n lower ends, and n upper ones.
        label: for the legend.
        colour: of the line; the band is paler.
    """
    axes.plot(across, middle, marker="o", markersize=3, linewidth=1.4, color=colour, label=label)
    axes.fill_between(across, *ends, color=colour, alpha=0.18, linewidth=0)
