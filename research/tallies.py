"""Numbers counted by group, so that parts of a question add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.intervals import NORMAL_QUANTILE, Interval

Tally = tuple[float, float, float]
"""Number of values, their sum, and the sum of their squares."""
Labels = tuple[str, ...]
"""Of a group: one for each thing that it is grouped by."""
NONE: Final[Tally] = (0.0, 0.0, 0.0)
_BETWEEN: Final = "; "


def tallied(labels: Sequence[Sequence[str]], values: npt.NDArray[np.float64]) -> dict[str, str]:
    """Count numbers by their labels, as JSON values.

    Args:
        labels: N labels for each thing that is grouped by.
        values: float64[N].

    Returns:
        By the labels of a group, joined: how many, sum, sum of squares, in one text to keep files small.
    """
    result: dict[str, list[float]] = {}
    for *words, value in zip(*labels, values.tolist(), strict=True):
        group = result.setdefault(_BETWEEN.join(words), [0.0, 0.0, 0.0])
        for place, power in enumerate((1.0, value, value * value)):
            group[place] += power
    return {words: " ".join(map(_shortly, group)) for words, group in result.items()}


def _shortly(number: float) -> str:
    """The shortest text that reads back as the same number: a rounded sum would spoil a small variance."""
    return repr(number).removesuffix(".0")


def merged(parts: Iterable[Mapping[str, str]]) -> dict[Labels, Tally]:
    """Add up what parts have counted."""
    result: dict[Labels, Tally] = {}
    for part in parts:
        for words, tally in part.items():
            labels = tuple(words.split(_BETWEEN))
            result[labels] = added(result.get(labels, NONE), [float(number) for number in tally.split()])
    return result


def added(one: Sequence[float], other: Sequence[float]) -> Tally:
    """Two tallies together."""
    count, total, squares = (a + b for a, b in zip(one, other, strict=True))
    return count, total, squares


def over(tallies: Mapping[Labels, Tally], *places: int) -> dict[Labels, Tally]:
    """By some of the labels only.

    Args:
        tallies: from `merged`.
        *places: of the labels that stay.
    """
    result: dict[Labels, Tally] = {}
    for labels, tally in tallies.items():
        kept = tuple(labels[place] for place in places)
        result[kept] = added(result.get(kept, NONE), tally)
    return result


def interval(tally: Tally) -> Interval:
    """The mean and its 95 % interval, the numbers being independent."""
    count, total, squares = tally
    mean = total / count
    if count < 2:
        return Interval(mean, None, None)
    variance = max(squares - count * mean * mean, 0.0) / (count - 1)
    half = NORMAL_QUANTILE * (variance / count) ** 0.5
    return Interval(mean, mean - half, mean + half)


def banded(values: npt.NDArray[Any], bounds: Sequence[int]) -> list[str]:
    """The band that each number lies in, in words.

    Args:
        values: integers [N].
        bounds: rising; the last band has no end.

    Returns:
        Such as "0", "1 to 20" and "21 and more" for the bounds 0, 1, 21.
    """
    names = [f"{low}" if high == low + 1 else f"{low} to {high - 1}" for low, high in pairwise(bounds)]
    names.append(f"{bounds[-1]} and more")
    places = np.searchsorted(np.asarray(bounds), values, side="right") - 1
    return [names[max(place, 0)] for place in places.tolist()]
