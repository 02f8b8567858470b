"""Layouts of records and observations, the same for every game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_type_hints

import numpy as np

Owner = Literal["table", "team", "seat"]


def record_dtype(record: type) -> np.dtype[np.void]:
    """Return the structured dtype of a class whose fields are annotated with a scalar type and a shape."""
    hints = get_type_hints(record, include_extras=True)
    metadata = {name: hint.__metadata__ for name, hint in hints.items()}
    return np.dtype([(name, one[0], one[1:]) for name, one in metadata.items()], align=True)


class Content(NamedTuple):
    """The contents of a section, before it is known where it starts.

    Attributes:
        size: number of numbers for each of its owners.
        high: the largest value that a number can have, or the name of a bound that depends on the table.
        meaning: the meaning of the numbers.
        owner: whether the section has these numbers once, for each team or for each seat.
        shown_by: the option of an observation that adds the section; empty: it is always present.
    """

    size: int
    high: int | str
    meaning: str
    owner: Owner = "table"
    shown_by: str = ""


class Section(NamedTuple):
    """A stretch of the observation.

    Attributes:
        name: name in code.
        start: index of its first number.
        size: number of numbers.
        high: the largest value that a number can have (the smallest is always 0).
        meaning: the meaning of the numbers.
        owner: "table", or "team" or "seat" if it is divided equally among the teams or the seats.
    """

    name: str
    start: int
    size: int
    high: int
    meaning: str
    owner: Owner = "table"

    @property
    def stop(self) -> int:
        """One past the index of its last number."""
        return self.start + self.size


def columns_of(sections: Sequence[Section]) -> tuple[str, ...]:
    """Return a name for each number of an observation: the section's, with an index where it has several."""
    return tuple(
        one.name if one.size == 1 else f"{one.name}[{index}]" for one in sections for index in range(one.size)
    )
