"""`Section`: a named stretch of an observation, the same for every game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

Owner = Literal["table", "team", "seat"]


class Section(NamedTuple):
    """A stretch of the observation.

    Attributes:
        name: what code calls it.
        start: index of its first number.
        size: how many numbers.
        high: the largest value that a number can have (the smallest is always 0).
        meaning: what the numbers say.
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
