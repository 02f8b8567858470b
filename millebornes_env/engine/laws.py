"""Code shared by the audits of all games: violation codes, and compiled checks.

Compiled code returns the code of the first violation; the game's audit has a message for each code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from millebornes_env.engine.numba.compiling import rule, rule_of_rules

NO_VIOLATION: Final = 0


class Register:
    """Assigns a code to each violation, in order, and keeps the messages."""

    def __init__(self, messages: Sequence[str] = ("nothing",)) -> None:
        """Continue after the given messages; code 0 means no violation."""
        self._messages = list(messages)

    def name(self, message: str) -> int:
        """Add a violation and return its code."""
        self._messages.append(message)
        return len(self._messages) - 1

    @property
    def messages(self) -> tuple[str, ...]:
        """The messages of all violations so far, by code."""
        return tuple(self._messages)


@rule
def require(earlier: int, violation: int, holds: bool) -> int:
    """Return `earlier` if it is a violation, else `violation` if the law does not hold, else NO_VIOLATION."""
    if earlier != NO_VIOLATION or holds:
        return earlier
    return violation


@rule
def is_between(value: int, lowest: int, highest: int) -> bool:
    """Return True if the value is in the closed interval."""
    return lowest <= value <= highest


@rule
def all_are_between(values: Any, lowest: int, highest: int) -> bool:
    """Return True if all values are in the closed interval."""
    outside = 0
    for index in range(len(values)):  # without a branch, so that the compiler can vectorize
        outside |= (int(values[index]) < lowest) | (int(values[index]) > highest)
    return outside == 0


@rule
def are_equal(one: Any, other: Any) -> bool:
    """Return True if two rows hold the same numbers."""
    different = 0
    for index in range(len(one)):
        different |= int(one[index]) ^ int(other[index])
    return different == 0


@rule
def is_within_bounds(row: Any, high: Any) -> bool:
    """Return True if all numbers of an observation are from 0 to the `high` of their section."""
    outside = 0
    for index in range(len(row)):
        outside |= (row[index] < 0) | (row[index] > high[index])
    return outside == 0


@rule_of_rules
def mask_is_what_is_legal(rulebook: Any, state: Any, rules: Any, mask: Any) -> bool:
    """Return True if the mask is 1 for exactly the actions that `rulebook.is_legal` allows."""
    different = 0
    for action in range(len(mask)):
        different |= int(mask[action]) ^ (1 if rulebook.is_legal(state, rules, action) else 0)
    return different == 0
