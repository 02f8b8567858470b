"""Wrong values: what a caller hands over by mistake, by names that failures can be told by."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Make = Callable[[], Any]
Array = npt.NDArray[Any]
Spoil = Callable[[Array], Any]


NUMBERS: dict[str, Make] = {
    "0": lambda: 0,
    "1": lambda: 1,
    "-1": lambda: -1,
    "2**31": lambda: 2**31,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "10**5000": lambda: 10**5000,
    "1.5": lambda: 1.5,
    "1.0": lambda: 1.0,
    "nan": lambda: float("nan"),
    "-inf": lambda: float("-inf"),
    "int8(1)": lambda: np.int8(1),
    "int8(-1)": lambda: np.int8(-1),
    "float64(1)": lambda: np.float64(1),
}

TEXTS: dict[str, Make] = {
    "no text": lambda: "",
    "blank": lambda: " ",
    "x": lambda: "x",
    "text 0": lambda: "0",
    "NUL": lambda: "a\0b",
    "lines": lambda: "a\nb\r\nc\u2028d",
    "surrogate": lambda: "\ud800",
    "long text": lambda: "x" * 100_000,
    "bytes": lambda: b"round",
    "str_": lambda: np.str_("x"),
}

CONTAINERS: dict[str, Make] = {
    "[]": list,
    "[0]": lambda: [0],
    "[0, 0, 0]": lambda: [0, 0, 0],
    "{}": dict,
    "set": lambda: {1},
    "ragged": lambda: [[1], [1, 2]],
    "no numbers": lambda: np.zeros(0, np.int64),
    "scalar array": lambda: np.zeros((), np.int64),
    "objects": lambda: np.array([None, {}], object),
    "voids": lambda: np.zeros(4, [("a", "i4")]),
    "memoryview": lambda: memoryview(b"abcd"),
    "large array": lambda: np.zeros(2_000_000, np.int64),
}

THINGS: dict[str, Make] = {
    "None": lambda: None,
    "True": lambda: True,
    "bool_": lambda: np.False_,
    "object": object,
    "a class": lambda: dict,
    "a function": lambda: len,
    "Path": lambda: pathlib.Path("no") / "where",
}

EVERYTHING: dict[str, Make] = NUMBERS | TEXTS | CONTAINERS | THINGS
"""For arguments of every kind: numbers, texts, containers and what is none of these."""


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


LAYOUTS: dict[str, Spoil] = {
    "list": lambda array: array.tolist(),
    "read-only": read_only,
    "not aligned": not_aligned,
    "far apart": far_apart,
    "backwards": lambda array: array[::-1].copy()[::-1],
    "Fortran": np.asfortranarray,
    "masked": lambda array: np.ma.masked_array(array, mask=np.zeros(array.shape, bool)),
    "recarray": lambda array: array.view(np.recarray),
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "objects": lambda array: array.astype(object),
}
"""The same values in another place."""

DTYPES: dict[str, Spoil] = {
    name: functools.partial(lambda array, name: array.astype(name), name=name)
    for name in ("int8", "uint8", "int32", "int64", "uint64", "float32", "complex128", "bool", "str")
}

SHAPES: dict[str, Spoil] = {
    "none": lambda array: array[:0],
    "one short": lambda array: array[:-1],
    "one more": lambda array: np.concatenate([array, array[:1]]),
    "one row": lambda array: array[0],
    "a dimension more": lambda array: array[np.newaxis],
    "a dimension behind": lambda array: array[..., np.newaxis],
    "40,000 rows": lambda array: np.resize(array, (40_000, *array.shape[1:])),
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
    "chance": lambda array: np.random.default_rng(5).integers(-128, 128, array.shape, np.int8),
}

ARRAYS: dict[str, Spoil] = LAYOUTS | DTYPES | SHAPES | CONTENTS

SAME_LAYOUTS = frozenset(LAYOUTS) - {"objects"}
SAME_NUMBERS = SAME_LAYOUTS | {"int8", "uint8", "int32", "int64", "uint64"}
"""Other arrays of the same whole numbers."""


def spoiled(spoil: Spoil, good: Array) -> Any:
    """Return a spoiled copy of a good array; for records that cannot be spoiled, of the raw bytes."""
    try:
        return spoil(good)
    except (TypeError, ValueError, OverflowError):
        return spoil(np.frombuffer(good.tobytes(), np.int8))
