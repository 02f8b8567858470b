"""Sums by group that can be added over the parts of a question."""

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
"""Labels of a group, one for each grouping."""
NONE: Final[Tally] = (0.0, 0.0, 0.0)
_BETWEEN: Final = "; "


def tallied(labels: Sequence[Sequence[str]], values: npt.NDArray[np.float64]) -> dict[str, str]:
    """Sum values by their labels, as JSON values.

    Args:
        labels: N labels for each grouping.
        values: float64[N].

    Returns:
        By the joined labels of a group: count, sum and sum of squares, in one text to keep files small.
    """
    result: dict[str, list[float]] = {}
    for *words, value in zip(*labels, values.tolist(), strict=True):
        group = result.setdefault(_BETWEEN.join(words), [0.0, 0.0, 0.0])
        for index, power in enumerate((1.0, value, value * value)):
            group[index] += power
    return {words: " ".join(map(_exact_text, group)) for words, group in result.items()}


def _exact_text(number: float) -> str:
    """Return the shortest text that reads back as the same number: rounding would spoil a small variance."""
    return repr(number).removesuffix(".0")


def merged(parts: Iterable[Mapping[str, str]]) -> dict[Labels, Tally]:
    """Add the tallies of all parts."""
    result: dict[Labels, Tally] = {}
    for part in parts:
        for words, tally in part.items():
            labels = tuple(words.split(_BETWEEN))
            result[labels] = added(result.get(labels, NONE), [float(number) for number in tally.split()])
    return result


def added(one: Sequence[float], other: Sequence[float]) -> Tally:
    """Return the sum of two tallies."""
    count, total, squares = (a + b for a, b in zip(one, other, strict=True))
    return count, total, squares


def over(tallies: Mapping[Labels, Tally], *indices: int) -> dict[Labels, Tally]:
    """Add tallies over all labels but some.

    Args:
        tallies: result of `merged`.
        *indices: indices of the labels to keep.
    """
    result: dict[Labels, Tally] = {}
    for labels, tally in tallies.items():
        kept = tuple(labels[index] for index in indices)
        result[kept] = added(result.get(kept, NONE), tally)
    return result


def interval(tally: Tally) -> Interval:
    """Return the mean and its 95 % interval for independent values."""
    count, total, squares = tally
    mean = total / count
    if count < 2:
        return Interval(mean, None, None)
    variance = max(squares - count * mean * mean, 0.0) / (count - 1)
    half = NORMAL_QUANTILE * (variance / count) ** 0.5
    return Interval(mean, mean - half, mean + half)


def banded(values: npt.NDArray[Any], bounds: Sequence[int]) -> list[str]:
    """Return the name of the band of each number.

    Args:
        values: integers [N].
        bounds: ascending lower bounds; the last band has no end.

    Returns:
        Names such as "0", "1 to 20" and "21 and more" for the bounds 0, 1, 21.
    """
    names = [f"{low}" if high == low + 1 else f"{low} to {high - 1}" for low, high in pairwise(bounds)]
    names.append(f"{bounds[-1]} and more")
    indices = np.searchsorted(np.asarray(bounds), values, side="right") - 1
    return [names[max(index, 0)] for index in indices.tolist()]
