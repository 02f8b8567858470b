"""What every trainer refuses in its options, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agents.network import MOST_LAYERS, MOST_UNITS


def check_counts(args: object, *names: str) -> None:
    """Refuse options that are less than 1.

    Raises:
        ValueError: the message names the option.
    """
    for name in names:
        if getattr(args, name) < 1:
            raise ValueError(f"{_option(name)} is {getattr(args, name)}; it must be 1 or more")


def check_shares(args: object, *names: str) -> None:
    """Refuse options that do not lie in 0 to 1, NaN among them.

    Raises:
        ValueError: the message names the option.
    """
    for name in names:
        if not 0.0 <= getattr(args, name) <= 1.0:
            raise ValueError(f"{_option(name)} is {getattr(args, name)}; it must lie in 0 to 1")


def check_amounts(args: object, *names: str) -> None:
    """Refuse options that are negative or not finite.

    Raises:
        ValueError: the message names the option.
    """
    for name in names:
        if not (math.isfinite(getattr(args, name)) and getattr(args, name) >= 0.0):
            raise ValueError(f"{_option(name)} is {getattr(args, name)}; it must be a number, 0 or more")


def check_hidden(widths: Sequence[int]) -> None:
    """Refuse hidden layers that no agent could play.

    Raises:
        ValueError: too many, too wide, or of no width.
    """
    if len(widths) >= MOST_LAYERS:
        raise ValueError(f"--hidden is given {len(widths)} times; agents play {MOST_LAYERS - 1} at most")
    for width in widths:
        if not 1 <= width <= MOST_UNITS:
            raise ValueError(f"--hidden is {width}; a layer has 1 to {MOST_UNITS} units")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
