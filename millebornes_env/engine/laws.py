"""Code shared by the audits of all games: numbers for violations, and checking laws one by one.

Compiled code reports the first violation that it finds as a number; the audit of the game says it in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from millebornes_env.engine.numba.compiling import rule, rule_of_rules

NO_VIOLATION: Final = 0


class Register:
    """Numbers violations in the order in which they are named, and keeps their messages."""

    def __init__(self, messages: Sequence[str] = ("nothing",)) -> None:
        """Go on after other violations, or begin: number 0 says that nothing is wrong."""
        self._messages = list(messages)

    def name(self, message: str) -> int:
        """The number of the next violation."""
        self._messages.append(message)
        return len(self._messages) - 1

    @property
    def messages(self) -> tuple[str, ...]:
        """The messages of all violations so far, by number."""
        return tuple(self._messages)


@rule
def require(found: int, violation: int, holds: bool) -> int:
    """The first violation: the one `found` before if there is one, else this one if the law does not hold."""
    if found != NO_VIOLATION or holds:
        return found
    return violation


@rule
def is_between(value: int, lowest: int, highest: int) -> bool:
    """Return True if the value is in the closed interval."""
    return lowest <= value <= highest


@rule
def all_are_between(values: Any, lowest: int, highest: int) -> bool:
    """Return True if all values are in the closed interval."""
    outside = 0
    for place in range(len(values)):  # without a branch: the compiler takes many values at once
        outside |= (int(values[place]) < lowest) | (int(values[place]) > highest)
    return outside == 0


@rule
def are_equal(one: Any, other: Any) -> bool:
    """Return True if two rows hold the same numbers."""
    different = 0
    for place in range(len(one)):
        different |= int(one[place]) ^ int(other[place])
    return different == 0


@rule
def is_within_bounds(row: Any, high: Any) -> bool:
    """No number of an observation is below 0 or above what its section says."""
    outside = 0
    for place in range(len(row)):
        outside |= (row[place] < 0) | (row[place] > high[place])
    return outside == 0


@rule_of_rules
def mask_is_what_is_legal(rulebook: Any, state: Any, rules: Any, mask: Any) -> bool:
    """The mask has a 1 at exactly the actions that `rulebook.is_legal` allows when asked about one by one."""
    different = 0
    for action in range(len(mask)):
        different |= int(mask[action]) ^ (1 if rulebook.is_legal(state, rules, action) else 0)
    return different == 0
