"""Checks of arguments: every way to be wrong gets a message that says what to do."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable
from typing import Final

import numpy as np

from millebornes_env.errors import MilleBornesError, OptionError, shown

LARGEST_SEED: Final = 2**64 - 1


def one_of(option: str, value: object, known: Iterable[str]) -> str:
    """The value, if it is one of the known ones.

    Raises:
        OptionError: it is not; the message lists them and names the closest.
    """
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    close = difflib.get_close_matches(value[:100], names, n=1) if isinstance(value, str) else []
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise OptionError(f"{option} is {shown(value)}; it may be {', '.join(map(repr, names))}.{hint}")


def flag(option: str, value: object) -> bool:
    """True or False.

    Raises:
        OptionError: it is neither.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{option} is {shown(value)}; it must be True or False")
    return bool(value)


def whole_number(value: object) -> int | None:
    """The value as an int, if it is a whole number of any type (booleans are none), else None."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def action_number(action: object) -> int | None:
    """Return an action as an int, also one in an array of one element, as policies return it; else None."""
    if type(action) is int:
        return action
    if isinstance(action, np.ndarray) and action.size == 1:
        action = action.reshape(())[()]
    return whole_number(action)


def at_least_one(name: str, value: object, most: int, error: type[MilleBornesError]) -> int:
    """Return the value as an int from 1 to `most`.

    Raises:
        MilleBornesError: of the class `error`: it is not one.
    """
    number = whole_number(value)
    if number is None:
        raise error(f"{name} is {shown(value)}; it must be a whole number, 1 or more")
    if number < 1:
        raise error(f"{name} is {shown(number)}; it must be 1 or more")
    if number > most:
        raise error(f"{name} is {shown(number)}; it must be {most:,} or less")
    return number


def checked_seed(seed: object, *, or_none: bool = True) -> int:
    """A whole number from 0 to 2**64 - 1.

    Args:
        seed: what was given.
        or_none: whether the caller takes None too; the message then says so.

    Raises:
        OptionError: it is not.
    """
    number = whole_number(seed)
    if number is None:
        hint = " (or None to draw one)" if or_none else ", from 0 to 2**64 - 1"
        raise OptionError(f"seed is {shown(seed)}; it must be a whole number{hint}")
    if not 0 <= number <= LARGEST_SEED:
        raise OptionError(f"seed is {shown(number)}; it must be from 0 to 2**64 - 1")
    return number


def checked_index(what: str, value: object, count: int) -> int:
    """A whole number from 0 to `count` - 1, such as a game or a seat.

    Raises:
        OptionError: it is not.
    """
    number = whole_number(value)
    if number is None or not 0 <= number < count:
        raise OptionError(f"there is no {what} {shown(value)}; the {what}s are 0 to {count - 1}")
    return number
