"""Hostile values: what a caller might hand over by mistake or in anger, by names that tests can be called.

Each is made anew for each case: some change, and some can be used once only.
"""

from __future__ import annotations

import decimal
import fractions
import functools
import itertools
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Make = Callable[[], Any]
Array = npt.NDArray[Any]
Spoil = Callable[[Array], Any]

MOST_ITEMS = 10**6


class FoolError(Exception):
    """What the values below raise: no library should let it through, or have asked at all."""


def _fails(*_: object, **__: object) -> Any:
    raise FoolError("I am of no use")


class Unshowable:
    __repr__ = __str__ = __format__ = _fails  # type: ignore[assignment]


class Unequal:
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _fails  # type: ignore[assignment]
    __hash__ = object.__hash__


class Undecided:
    __bool__ = __len__ = _fails  # type: ignore[assignment]


class Unhashable:
    __hash__ = _fails  # type: ignore[assignment]


class Unnumbered:
    __index__ = __int__ = __float__ = __complex__ = _fails  # type: ignore[assignment]


class NoArray:
    __array__ = _fails


class Endless:
    """Goes on far beyond what anybody needs; it ends all the same, so that memory lasts."""

    def __iter__(self) -> Iterator[int]:
        yield from range(MOST_ITEMS)
        _fails()


class Hollow:
    """Says yes to every attribute, and has none."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class Closed:
    __getattr__ = _fails


class LongerThanItIs(list[int]):
    def __len__(self) -> int:
        return 4


class WrongText(str):
    """A text that fails when it is used as one."""

    __slots__ = ()
    __eq__ = __ne__ = __len__ = __iter__ = __contains__ = _fails  # type: ignore[assignment]
    __hash__ = str.__hash__


class WrongList(list[int]):
    __iter__ = __len__ = __getitem__ = _fails  # type: ignore[assignment]


class WrongMapping(dict[str, int]):
    __iter__ = __len__ = __getitem__ = keys = items = get = __contains__ = _fails  # type: ignore[assignment]


class WrongInt(int):
    """A number that fails when one calculates with it; `operator.index` takes it as it is."""

    __add__ = __sub__ = __lt__ = __le__ = __gt__ = __ge__ = _fails  # type: ignore[assignment]


def in_itself() -> list[Any]:
    """A list that is its own only element."""
    found: list[Any] = []
    found.append(found)
    return found


def deep(levels: int = 100_000) -> list[Any]:
    """A list in a list in a list ..."""
    return functools.reduce(lambda inner, _: [inner], range(levels), [])


NUMBERS: dict[str, Make] = {
    "0": lambda: 0,
    "1": lambda: 1,
    "-1": lambda: -1,
    "2**31": lambda: 2**31,
    "-2**31-1": lambda: -(2**31) - 1,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "10**20": lambda: 10**20,
    "10**5000": lambda: 10**5000,
    "1.5": lambda: 1.5,
    "1.0": lambda: 1.0,
    "nan": lambda: float("nan"),
    "-inf": lambda: float("-inf"),
    "complex": lambda: 1j,
    "Decimal": lambda: decimal.Decimal("sNaN"),
    "Fraction": lambda: fractions.Fraction(1, 2),
    "int8(1)": lambda: np.int8(1),
    "int8(-1)": lambda: np.int8(-1),
    "float64(1)": lambda: np.float64(1),
    "datetime64": lambda: np.datetime64("NaT"),
    "WrongInt": lambda: WrongInt(1),
}

TEXTS: dict[str, Make] = {
    "no text": lambda: "",
    "blank": lambda: " ",
    "x": lambda: "x",
    "text 0": lambda: "0",
    "NUL": lambda: "a\0b",
    "lines": lambda: "a\nb\r\nc\u2028d",
    "surrogate": lambda: "\ud800",
    "marks": lambda: "\ufeff\u202e\u0663",
    "braces": lambda: "{0.__class__} %s %n",
    "long text": lambda: "x" * 100_000,
    "bytes": lambda: b"round",
    "bytearray": lambda: bytearray(b"\xff\xfe"),
    "str_": lambda: np.str_("x"),
    "WrongText": lambda: WrongText("x"),
}

CONTAINERS: dict[str, Make] = {
    "[]": list,
    "[0]": lambda: [0],
    "[0, 0, 0]": lambda: [0, 0, 0],
    "()": tuple,
    "{}": dict,
    "set": lambda: {1},
    "ragged": lambda: [[1], [1, 2]],
    "in itself": in_itself,
    "deep": deep,
    "range(3)": lambda: range(3),
    "generator": lambda: (number for number in range(3)),
    "count": itertools.count,
    "Endless": Endless,
    "LongerThanItIs": LongerThanItIs,
    "WrongList": lambda: WrongList([1]),
    "WrongMapping": lambda: WrongMapping(a=1),
    "no numbers": lambda: np.zeros(0, np.int64),
    "scalar array": lambda: np.zeros((), np.int64),
    "objects": lambda: np.array([None, {}], object),
    "objects in itself": lambda: np.array([*in_itself(), 1], object),
    "voids": lambda: np.zeros(4, [("a", "i4")]),
    "void": lambda: np.void(b"abc"),
    "memoryview": lambda: memoryview(b"abcd"),
    "large array": lambda: np.zeros(2_000_000, np.int64),
}

THINGS: dict[str, Make] = {
    "None": lambda: None,
    "True": lambda: True,
    "bool_": lambda: np.False_,
    "...": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "object": object,
    "a class": lambda: dict,
    "a function": lambda: _fails,
    "a module": lambda: np,
    "Path": lambda: pathlib.Path("no") / "where",
    "an error": lambda: FoolError("x"),
    "Unshowable": Unshowable,
    "Unequal": Unequal,
    "Undecided": Undecided,
    "Unhashable": Unhashable,
    "Unnumbered": Unnumbered,
    "NoArray": NoArray,
    "Hollow": Hollow,
    "Closed": Closed,
}

EVERYTHING: dict[str, Make] = NUMBERS | TEXTS | CONTAINERS | THINGS
"""For arguments of every kind: numbers, texts, containers and what is none of these."""


# What can be wrong with an array ----------------------------------------------------------------------------


def read_only(array: Array) -> Array:
    frozen = array.copy()
    frozen.setflags(write=False)
    return frozen


def not_aligned(array: Array) -> Array:
    """The same values, one byte beside where the processor likes them."""
    memory = np.zeros(array.nbytes + 1, np.uint8)
    moved = memory[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def far_apart(array: Array) -> Array:
    """Every other row of an array."""
    return np.repeat(array, 2, axis=0)[::2]


def backwards(array: Array) -> Array:
    return array[::-1].copy()[::-1]


LAYOUTS: dict[str, Spoil] = {
    "list": lambda array: array.tolist(),
    "tuple": lambda array: tuple(array.tolist()),
    "read-only": read_only,
    "not aligned": not_aligned,
    "far apart": far_apart,
    "backwards": backwards,
    "Fortran": np.asfortranarray,
    "masked": lambda array: np.ma.masked_array(array, mask=np.zeros(array.shape, bool)),
    "recarray": lambda array: array.view(np.recarray),
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "objects": lambda array: array.astype(object),
}
"""The same values in another place."""

DTYPES: dict[str, Spoil] = {
    name: functools.partial(lambda array, name: array.astype(name), name=name)
    for name in ("int8", "uint8", "int16", "int32", "int64", "uint64", "float32", "float64", "complex128")
} | {
    "bool": lambda array: array.astype(bool),
    "str": lambda array: array.astype(str),
    "bytes": lambda array: array.astype("S3"),
    "dates": lambda array: array.astype(np.int64).view("M8[s]"),
}

SHAPES: dict[str, Spoil] = {
    "none": lambda array: array[:0],
    "one short": lambda array: array[:-1],
    "one more": lambda array: np.concatenate([array, array[:1]]),
    "one row": lambda array: array[0],
    "a dimension more": lambda array: array[np.newaxis],
    "a dimension behind": lambda array: array[..., np.newaxis],
    "40,000 rows": lambda array: np.resize(array, (40_000, *array.shape[1:])),
    "64 dimensions": lambda array: array.reshape(array.shape + (1,) * (64 - array.ndim)),
    "no rows, many columns": lambda array: np.zeros((0, 1_000_000), array.dtype),
    "broadcast": lambda array: np.broadcast_to(array[:1], array.shape),
}

CONTENTS: dict[str, Spoil] = {
    "all 127": lambda array: np.full_like(array, 127),
    "all -128": lambda array: np.full_like(array, -128),
    "all -2": lambda array: np.full_like(array, -2),
    "largest": lambda array: np.full(array.shape, 2**63 - 1),
    "smallest": lambda array: np.full(array.shape, -(2**63)),
    "largest uint64": lambda array: np.full(array.shape, 2**64 - 1, np.uint64),
    "all nan": lambda array: np.full(array.shape, np.nan),
    "all inf": lambda array: np.full(array.shape, np.inf),
    "chance": lambda array: np.random.default_rng(5).integers(-128, 128, array.shape, np.int8),
}

ARRAYS: dict[str, Spoil] = LAYOUTS | DTYPES | SHAPES | CONTENTS

SAME_LAYOUTS = frozenset(LAYOUTS) - {"objects"}
WHOLE_NUMBERS = frozenset({"int8", "uint8", "int16", "int32", "int64", "uint64"})
SAME_NUMBERS = SAME_LAYOUTS | WHOLE_NUMBERS
"""Other arrays of the same whole numbers."""


def spoiled(spoil: Spoil, good: Array) -> Any:
    """What a spoiler makes of a good array; of records, of which some cannot be made, the raw bytes."""
    try:
        return spoil(good)
    except (TypeError, ValueError, OverflowError):
        return spoil(np.frombuffer(good.tobytes(), np.int8))
