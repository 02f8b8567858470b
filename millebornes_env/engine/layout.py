"""Layouts of records and observations, for every game.

The observation of one game, section by section: `games/GAME/sections.py`.
"""

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
    """The contents of a section, without its position in the observation.

    Attributes:
        size: number of entries for each owner.
        high: upper bound of the entries, or the name of a bound that depends on the table.
        meaning: meaning of the entries.
        owner: "table" if the section has these entries once, "team" or "seat" if once for each.
        shown_by: the option of an observation that adds the section; empty if it is always present.
    """

    size: int
    high: int | str
    meaning: str
    owner: Owner = "table"
    shown_by: str = ""


class Section(NamedTuple):
    """A named slice of the observation.

    Attributes:
        name: name in code.
        start: index of the first entry.
        size: number of entries.
        high: upper bound of the entries (the lower bound is 0).
        meaning: meaning of the entries.
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
        """One past the index of the last entry."""
        return self.start + self.size


def columns_of(sections: Sequence[Section]) -> tuple[str, ...]:
    """Return a name for each entry of an observation: the section's, with an index if it has several."""
    return tuple(
        one.name if one.size == 1 else f"{one.name}[{index}]" for one in sections for index in range(one.size)
    )
