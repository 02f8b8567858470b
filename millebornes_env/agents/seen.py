"""Observation readers of compiled agents: the interface that a game implements, and a stub for others.

A compiled agent is a function of a game's record. If it is given observations instead, each is first decoded
into a record, by a module that the game names as its hook `agents.decoder`. Without such a module,
only kernels that hold the games (the arena) can call the game's compiled agents.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.protocol import Observations, Table
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.engine.rulebook import Rulebook, StateArray
from millebornes_env.games.registry import game_of

Int8Array = npt.NDArray[np.int8]

NO_ODDITY: Final = 0
"""The row is possible at the table."""
OUT_OF_RANGE: Final = 1
"""A number of the row is out of its range; each game defines its other faults itself."""
CHOSE_NOTHING: Final = -1
"""Nothing is wrong with the row: the agent chose none of its actions."""

MAX_INT8: Final = 127


# What the modules share that read observations --------------------------------------------------------------


@rule
def sum_of(row: Int8Array, start: int, size: int) -> int:
    """Return the sum of some numbers of a row."""
    total = 0
    for place in range(start, start + size):
        total += int(row[place])
    return total


@rule
def is_in_range(row: Int8Array, bounds: Int8Array) -> bool:
    """Return True if each number of a row, int8[D], lies within its bounds, int8[2, D]."""
    outside = 0
    for place in range(len(row)):  # without a branch: the compiler takes many numbers at once
        outside |= (row[place] < bounds[0, place]) | (row[place] > bounds[1, place])
    return outside == 0


# What a game has --------------------------------------------------------------------------------------------


class ObservationDecoder(Protocol):
    """The interface of a module that reads observations of a game."""

    @property
    def ODDITIES(self) -> Sequence[str]:  # noqa: N802 - a constant of a module
        """Descriptions of the faults of `first_odd_row`, by number; 0 is `NO_ODDITY`, 1 `OUT_OF_RANGE`."""

    def starts_of(self, table: Table, /, *, counts_unseen: bool = True) -> Any:
        """Return the start index of each section of an observation, as a named tuple of ints.

        Raises:
            AgentError: the observations lack sections that an agent needs to count unseen cards.
        """

    def bounds_of(self, table: Table, /) -> Int8Array:
        """The least and the largest value of each number of an observation, int8[2, D]."""

    def first_odd_row(
        self, rows: Observations, starts: Any, bounds: Int8Array, rules: StateArray, /
    ) -> tuple[int, int]:
        """Return the first row that is impossible for a deciding seat, and its fault; else -1, 0.

        Compiled.

        Args:
            rows: int8[N, D].
            starts: of the sections of the table's observations.
            bounds: int8[2, D].
            rules: RULES[1], the table's.
        """

    def read_observation(self, row: Int8Array, starts: Any, rules: Any, state: Any, /) -> None:
        """Write the game as the observer sees it to a record; the observer becomes seat 0. Compiled."""

    def clock(self, state: Any, /) -> int:
        """Return a number from 0 to 32,766 that never grows in a round, and grows when the next one begins.

        Compiled; used to detect a new round in a seat's memory.
        """


@rule
def clock(state: Any) -> int:
    """Return 0, the clock of a game without a decoder; callers clear the memories before each round."""
    return 0


def decoder_of(rulebook: Rulebook) -> Any:
    """Return a game's `ObservationDecoder`; by default this module, which only has a clock.

    Raises:
        ModuleNotFoundError: the entry of the game names a missing module.
    """
    return _seen_of(game_of(rulebook)) or sys.modules[__name__]


def reads_rows(table: Table) -> bool:
    """Return True if the table's game can decode observations."""
    return _seen_of(game_of(table.rulebook)) is not None


def _seen_of(entry: Any) -> ModuleType | None:
    decoder: ModuleType | None = None if entry is None else entry.find_hook("agents.decoder")
    return decoder


def bounds_of(table: Table) -> Int8Array:
    """The least and the largest value of each number of an observation, int8[2, D]."""
    if reads_rows(table):
        bounds: Int8Array = decoder_of(table.rulebook).bounds_of(table)
        return bounds
    return bounds_of_sections(table)


def bounds_of_sections(table: Table) -> Int8Array:
    """Return the bounds in the sections of an observation, int8[2, D]."""
    bounds = np.zeros((2, table.sections[-1].stop), np.int8)
    for section in table.sections:
        bounds[1, section.start : section.stop] = min(section.high, MAX_INT8)
    return bounds
