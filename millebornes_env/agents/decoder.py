"""Observation decoders of compiled agents: the interface that a game implements, and a stub for others.

A compiled agent is a function of a game's state record. Observations are decoded into such a record first, by
the module that the game names as its hook `agents.decoder`. Without one, only kernels that hold the games
(the arena) can call the game's compiled agents.
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

NO_FAULT: Final = 0
"""The row is possible at the table."""
OUT_OF_RANGE: Final = 1
"""A number of the row is out of its range; the other faults are defined by each game."""
CHOSE_NOTHING: Final = -1
"""The row is valid, but the agent did not choose an action."""

MAX_INT8: Final = 127


# Shared by the decoders of the games ------------------------------------------------------------------------


@rule
def sum_of(row: Int8Array, start: int, size: int) -> int:
    """Return the sum of `size` numbers of a row, from `start` on."""
    total = 0
    for index in range(start, start + size):
        total += int(row[index])
    return total


@rule
def is_in_range(row: Int8Array, bounds: Int8Array) -> bool:
    """Return True if each number of a row, int8[D], is within its bounds, int8[2, D]."""
    outside = 0
    for index in range(len(row)):  # branch-free, so that the compiler vectorizes it
        outside |= (row[index] < bounds[0, index]) | (row[index] > bounds[1, index])
    return outside == 0


# The decoder of a game --------------------------------------------------------------------------------------


class ObservationDecoder(Protocol):
    """The interface of a module that decodes observations of a game."""

    @property
    def FAULTS(self) -> Sequence[str]:  # noqa: N802 - a constant of a module
        """The faults that `first_invalid_row` finds, by number; 0 is `NO_FAULT`, 1 `OUT_OF_RANGE`."""

    def starts_of(self, table: Table, /, *, counts_unseen: bool = True) -> Any:
        """Return the start index of each section of an observation, as a named tuple of ints.

        Raises:
            AgentError: the observations lack sections that an agent needs to count unseen cards.
        """

    def bounds_of(self, table: Table, /) -> Int8Array:
        """Return the lower and upper bound of each number of an observation, int8[2, D]."""

    def first_invalid_row(
        self, rows: Observations, starts: Any, bounds: Int8Array, rules: StateArray, /
    ) -> tuple[int, int]:
        """Return the index of the first row that is impossible for an acting seat, and its fault; else -1, 0.

        Compiled; rows are int8[N, D], bounds int8[2, D], rules RULES[1].
        """

    def read_observation(self, row: Int8Array, starts: Any, rules: Any, state: Any, /) -> None:
        """Decode an observation into a state record, in which the observer is seat 0. Compiled."""

    def sheet_code(self, row: Int8Array, starts: Any, /) -> int:
        """Return a code of the rules in a row, 0 to 32,767, where games draw sheets; else 0. Compiled."""

    def clock(self, state: Any, /) -> int:
        """Return a number from 0 to 32,766 that never increases in a round, and does when the next starts.

        Compiled; used to detect a new round in a seat's memory.
        """


@rule
def clock(state: Any) -> int:
    """Return 0, the clock of a game without a decoder, whose callers clear memories before each round."""
    return 0


def decoder_of(rulebook: Rulebook) -> Any:
    """Return a game's `ObservationDecoder`; by default this module, which only has a clock.

    Raises:
        ModuleNotFoundError: the hook of the game names a missing module.
    """
    return _hook_of(game_of(rulebook)) or sys.modules[__name__]


def reads_rows(table: Table) -> bool:
    """Return True if the table's game can decode observations."""
    return _hook_of(game_of(table.rulebook)) is not None


def _hook_of(entry: Any) -> ModuleType | None:
    decoder: ModuleType | None = None if entry is None else entry.find_hook("agents.decoder")
    return decoder


def bounds_of(table: Table) -> Int8Array:
    """Return the lower and upper bound of each number of an observation, int8[2, D]."""
    if reads_rows(table):
        bounds: Int8Array = decoder_of(table.rulebook).bounds_of(table)
        return bounds
    return bounds_of_sections(table)


def bounds_of_sections(table: Table) -> Int8Array:
    """Return the bounds that the sections of an observation declare, int8[2, D]."""
    bounds = np.zeros((2, table.sections[-1].stop), np.int8)
    for section in table.sections:
        bounds[1, section.start : section.stop] = min(section.high, MAX_INT8)
    return bounds
