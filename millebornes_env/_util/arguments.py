"""Argument checks; error messages say how to correct the value."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Final

import numpy as np

from millebornes_env._util.texts import closest
from millebornes_env.errors import MilleBornesError, OptionError, shown

LARGEST_SEED: Final = 2**64 - 1
MOST_STEPS: Final = 2**62
"""Limit of steps and decisions that a check plays: more than anybody waits for."""


def one_of(option: str, value: object, known: Iterable[str]) -> str:
    """Return the value if it is one of the known ones; an OptionError lists them and names the closest."""
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    hint = closest(value, names) if isinstance(value, str) else ""
    raise OptionError(f"{option} is {shown(value)}; it may be {', '.join(map(repr, names))}.{hint}")


def flag(option: str, value: object) -> bool:
    """Return the value as a bool; raise OptionError for anything but True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{option} is {shown(value)}; it must be True or False")
    return bool(value)


def whole_number(value: object) -> int | None:
    """Return a whole number of any type except bool as an int; None for anything else."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def action_number(action: object) -> int | None:
    """Return an action as an int, also one in an array of one element, as policies return it; else None."""
    if type(action) is int or type(action) is np.int64:  # nearly always: no more checks
        return int(action)
    if isinstance(action, np.ndarray) and action.size == 1:
        action = action.reshape(())[()]
    return whole_number(action)


def at_least_one(name: str, value: object, most: int, error: type[MilleBornesError]) -> int:
    """Return the value as an int from 1 to `most`; raise an error of the class `error` for others."""
    number = whole_number(value)
    if number is None:
        raise error(f"{name} is {shown(value)}; it must be a whole number, 1 or more")
    if number < 1:
        raise error(f"{name} is {shown(number)}; it must be 1 or more")
    if number > most:
        raise error(f"{name} is {shown(number)}; it must be {most:,} or less")
    return number


def checked_seed(seed: object, *, or_none: bool = True) -> int:
    """Return a seed as an int from 0 to 2**64 - 1; `or_none`: the OptionError mentions None, too."""
    number = whole_number(seed)
    if number is None:
        hint = " (or None to draw one)" if or_none else ", from 0 to 2**64 - 1"
        raise OptionError(f"seed is {shown(seed)}; it must be a whole number{hint}")
    if not 0 <= number <= LARGEST_SEED:
        raise OptionError(f"seed is {shown(number)}; it must be from 0 to 2**64 - 1")
    return number


def checked_index(what: str, value: object, count: int) -> int:
    """Return an index from 0 to `count` - 1 as an int, else raise OptionError; `what` names the thing."""
    number = whole_number(value)
    if number is None or not 0 <= number < count:
        raise OptionError(f"there is no {what} {shown(value)}; the {what}s are 0 to {count - 1}")
    return number
