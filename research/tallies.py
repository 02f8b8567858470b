"""Records by group, and sums by group that can be added over the parts of a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from research.intervals import Interval, of_error
from research.parts import Record

Key = TypeVar("Key")
Tally = tuple[float, float, float]
"""Number of values, their sum, and the sum of their squares."""
Labels = tuple[str, ...]
"""Labels of a group, one for each grouping."""
NONE: Final[Tally] = (0.0, 0.0, 0.0)
_BETWEEN: Final = "; "


def grouped(records: Iterable[Record], key: Callable[[Record], Key]) -> dict[Key, list[Record]]:
    """Return the records by a key of each, in the order of the parts."""
    result: dict[Key, list[Record]] = {}
    for record in records:
        result.setdefault(key(record), []).append(record)
    return result


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
    return _summed(
        (tuple(words.split(_BETWEEN)), map(float, tally.split()))
        for part in parts
        for words, tally in part.items()
    )


def over(tallies: Mapping[Labels, Tally], *indices: int) -> dict[Labels, Tally]:
    """Add tallies over all labels but some.

    Args:
        tallies: result of `merged`.
        *indices: indices of the labels to keep.
    """
    return _summed((tuple(labels[index] for index in indices), tally) for labels, tally in tallies.items())


def _summed(tallies: Iterable[tuple[Labels, Iterable[float]]]) -> dict[Labels, Tally]:
    result: dict[Labels, Tally] = {}
    for labels, tally in tallies:
        count, total, squares = (a + b for a, b in zip(result.get(labels, NONE), tally, strict=True))
        result[labels] = count, total, squares
    return result


def by_number(item: tuple[Labels, Any]) -> tuple[tuple[int, str], ...]:
    """Return a sort key of a group: bands by their first number, then words."""
    first = [label.split()[0] for label in item[0]]
    return tuple(
        (int(word) if word.isdigit() else 0, label) for word, label in zip(first, item[0], strict=True)
    )


def interval(tally: Tally) -> Interval:
    """Return the mean and its 95 % interval for independent values."""
    count, total, squares = tally
    mean = total / count
    if count < 2:
        return Interval(mean, None, None)
    variance = max(squares - count * mean * mean, 0.0) / (count - 1)
    return of_error(mean, (variance / count) ** 0.5)


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
