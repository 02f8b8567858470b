"""`simd`: what is written sixteen numbers at a time is what NumPy's slices would write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from millebornes_env.engine.numba import simd
from millebornes_env.engine.numba.compiling import kernel
from millebornes_env.engine.numba.simd import (
    copy_numbers,
    lowest_in,
    prefetch,
    set_of_numbers,
    size_of,
    subtract_numbers,
    write_set,
)

ROOM = 80


def kernels_of(count: int) -> list[tuple[Callable[..., Any], Callable[..., Any]]]:
    """Return each writing function, compiled for one count, with the plain function."""

    @kernel
    def copy(row: Any, at: int, numbers: Any, first: int, less: Any) -> None:
        copy_numbers(row, at, numbers, first, count)

    @kernel
    def subtract(row: Any, at: int, numbers: Any, first: int, less: Any) -> None:
        subtract_numbers(row, at, numbers, first, less, 1, count)

    @kernel
    def write(row: Any, at: int, numbers: Any, first: int, less: Any) -> None:
        write_set(row, at, set_of_numbers(numbers, first, count), count)

    def plain_copy(row: Any, at: int, numbers: Any, first: int, less: Any) -> None:
        simd._plain_copy(row, at, numbers, first, count)

    def plain_subtract(row: Any, at: int, numbers: Any, first: int, less: Any) -> None:
        simd._plain_subtract(row, at, numbers, first, less, 1, count)

    def plain_write(row: Any, at: int, numbers: Any, first: int, less: Any) -> None:
        simd._plain_write_set(row, at, simd._plain_set_of(numbers, first, count), count)

    return [(copy, plain_copy), (subtract, plain_subtract), (write, plain_write)]


@pytest.mark.parametrize("count", [1, 3, 5, 15, 16, 17, 42, 63])
def test_rows_are_written_as_numpy_writes_them(count: int) -> None:
    rng = np.random.default_rng(count)
    for compiled, plain in kernels_of(count):
        numbers, less = rng.integers(-3, 4, (2, ROOM), np.int8)
        for at, first in ((0, 0), (3, 7), (ROOM - count, ROOM - count)):
            result, wanted = np.full((2, ROOM), 9, np.int8)
            compiled(result, at, numbers, first, less)
            plain(wanted, at, numbers, first, less)
            assert result.tolist() == wanted.tolist()


def test_a_row_may_be_copied_onto_itself() -> None:
    """All is read before anything is written."""

    @kernel
    def shift(row: Any) -> None:
        copy_numbers(row, 2, row, 0, 40)

    row = np.arange(ROOM, dtype=np.int8)
    shift(row)
    assert row[:44].tolist() == [0, 1, *range(40), 42, 43]


@pytest.mark.parametrize("members", [1, 2, 0b1010_0000, 1 << 62, (1 << 63) - 1])
def test_the_lowest_bit_and_the_number_of_bits(members: int) -> None:
    @kernel
    def asked(members: int) -> int:
        return 100 * lowest_in(members) + size_of(members)

    in_binary = f"{members:b}"
    lowest = len(in_binary) - 1 - in_binary.rindex("1")
    assert asked(members) == 100 * lowest + in_binary.count("1")
    assert (simd._plain_lowest(members), simd._plain_size(members)) == (lowest, in_binary.count("1"))


def test_rows_that_are_fetched_may_lie_outside_their_array() -> None:
    @kernel
    def fetch(records: Any, rows: Any, index: int) -> None:
        prefetch(records, index)
        prefetch(rows, index)

    records, rows = np.ones(3, [("a", np.int64), ("b", np.int8, 130)]), np.ones((3, 5), np.int8)
    for index in (-1, 0, 2, 3, 1 << 40):
        fetch(records, rows, index)
    assert records["a"].all()
    assert records["b"].all()
    assert rows.all()
