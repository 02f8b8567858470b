"""Shapes of values as JSON has them: one declaration per entry, checked at every level.

    check(view, {"km": range(2501), "cards": Counts({"Roll": 5}), "place": Maybe(range(2))}, "view")

A shape is one of these:

    range(0, 8)            a whole number of the range
    str, bool, int, dict   a value of that type
    ("play", "claim")      one of these texts
    {"km": shape, ...}     an object with these keys and no others
    [shape, shape]         a list of these items
    Items(shape)           a list of any length
    Counts({"Roll": 5})    an object of whole numbers: known keys, each from 1 to the number named here
    Maybe(shape)           None, or the shape
    None                   None
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from millebornes_env._util.texts import closest
from millebornes_env.errors import PlayError, shown

Shape = Any
"""A declaration as the module describes it."""

_TYPES: Final = {str: "text", bool: "true or false", int: "a whole number", dict: "an object (dict)"}
_MOST_LISTED: Final = 6


class Maybe(NamedTuple):
    """None, or a value of the shape."""

    shape: Shape


class Items(NamedTuple):
    """A list of any length whose items have the shape."""

    shape: Shape


class Counts(NamedTuple):
    """An object of whole numbers, each from 1 to the number that stands here under its key."""

    most: Mapping[str, int]


def check(value: object, shape: Shape, path: str) -> None:
    """Raise if a value does not have a shape.

    Args:
        value: as read from JSON, or anything else.
        shape: the declaration.
        path: name of the value in messages, such as "view['table']".

    Raises:
        PlayError: it does not; the message names the path of the first wrong entry and what it must be.
    """
    if isinstance(shape, Maybe):
        if value is not None:
            check(value, shape.shape, path)
    elif isinstance(shape, range):
        if not (_is_whole(value) and value in shape):
            raise _wrong(path, value, f"a whole number from {shape.start} to {shape.stop - 1}")
    elif shape is None:
        if value is not None:
            raise _wrong(path, value, "null (None)")
    elif isinstance(shape, type):
        if not (_is_whole(value) if shape is int else isinstance(value, shape)):
            raise _wrong(path, value, _TYPES[shape])
    elif isinstance(shape, tuple) and not isinstance(shape, (Items, Counts)):
        if not (isinstance(value, str) and value in shape):
            more = " or another name" if len(shape) > _MOST_LISTED else ""
            raise _wrong(path, value, " or ".join(map(repr, shape[:_MOST_LISTED])) + more)
    elif isinstance(shape, (Items, list)):
        _check_list(value, shape, path)
    else:
        _check_object(value, shape, path)


def _check_list(value: object, shape: Items | list[Shape], path: str) -> None:
    if not isinstance(value, list):
        raise _wrong(path, value, "a list")
    if isinstance(shape, list) and len(value) != len(shape):
        raise PlayError(f"{path} has {len(value)} items; it must have {len(shape)}")
    for place, item in enumerate(value):
        check(item, shape.shape if isinstance(shape, Items) else shape[place], f"{path}[{place}]")


def _check_object(value: object, shape: Counts | dict[str, Shape], path: str) -> None:
    if not isinstance(value, dict):
        raise _wrong(path, value, "an object (dict)")
    known = shape.most if isinstance(shape, Counts) else shape
    for key in value:
        if not (isinstance(key, str) and key in known):
            hint = closest(key, known) if isinstance(key, str) else ""
            raise PlayError(f"{path} has an entry {shown(key)} that it must not have.{hint}")
    if isinstance(shape, Counts):
        for key, number in value.items():
            check(number, range(1, shape.most[key] + 1), f"{path}[{key!r}]")
        return
    for key, inner in shape.items():
        if key not in value:
            raise PlayError(f"{path} has no entry {key!r}: it was cut off, or changed")
        check(value[key], inner, f"{path}[{key!r}]")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _wrong(path: str, value: object, wanted: str) -> PlayError:
    return PlayError(f"{path} is {shown(value)}; it must be {wanted}")
