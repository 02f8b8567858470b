"""SIMD functions that write rows of int8 sixteen numbers at a time, and prefetching.

The compiler writes a row one number at a time, since it cannot exclude that the row overlaps the record that
is read. The SIMD functions read everything before they write. In plain Python they are NumPy slices.

A `count` must be a constant (a global `Final` is), and rows must be contiguous. Bounds are not checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types

from millebornes_env.engine.numba.compiling import IS_COMPILED

Int8Array = npt.NDArray[np.int8]

_numba: Any = numba  # it has hardly any type hints
_ir: Any = ir
_LANES: Final = 16  # registers of every x86-64 and ARM processor hold 16 bytes
_CACHE_LINE: Final = 64  # bytes
_BYTE = _ir.IntType(8)


def _pieces(count: int) -> tuple[int, list[int]]:
    """Return the vector width and the start of each piece; the last piece may overlap the one before it."""
    width = min(_LANES, 1 << (count.bit_length() - 1))
    return width, [*range(0, count - width, width), count - width]


def _first_of(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return the address of an entry of an array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index])


def _compile_write(typing: Any, kinds: tuple[Any, ...], work: Callable[[Any, list[Any]], Any]) -> Any:
    """Return types and code of a function that writes the result of `work` on some arrays.

    Args:
        typing: Numba's typing context.
        kinds: types of the row and its index, of each array and its index, and of the count.
        work: takes the builder of the code and a vector from each array, and returns a vector.
    """
    arrays, count = kinds[0:-1:2], kinds[-1]
    if not isinstance(count, types.IntegerLiteral) or not all(map(_is_row, arrays)):
        return None  # which Numba reports as no matching definition
    width, starts = _pieces(count.literal_value)
    vector = _ir.VectorType(_BYTE, width)

    def address(context: Any, builder: Any, arguments: Any, number: int, start: int) -> Any:
        kind, index = arrays[number], arguments[2 * number + 1]
        index = builder.add(index, context.get_constant(types.int64, start))
        first = _first_of(context, builder, kind, arguments[2 * number], index)
        return builder.bitcast(first, vector.as_pointer())

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        results = []
        for start in starts:
            numbers = range(1, len(arrays))
            sources = (address(context, builder, arguments, number, start) for number in numbers)
            results.append(work(builder, [builder.load(source, align=1) for source in sources]))
        for start, result in zip(starts, results, strict=True):
            builder.store(result, address(context, builder, arguments, 0, start), align=1)
        return context.get_dummy_value()

    ints = (types.int64 for _ in arrays)
    pairs = [kind for pair in zip(arrays, ints, strict=True) for kind in pair]
    return types.void(*pairs, count), generate


def _is_row(kind: Any, dtype: Any = types.int8) -> bool:
    return isinstance(kind, types.Array) and (kind.dtype, kind.ndim, kind.layout) == (dtype, 1, "C")


def _compile_copy(typing: Any, row: Any, at: Any, numbers: Any, first: Any, count: Any) -> Any:
    return _compile_write(typing, (row, at, numbers, first, count), lambda _, read: read[0])


def _compile_subtract(
    typing: Any, row: Any, at: Any, numbers: Any, first: Any, less: Any, first_less: Any, count: Any
) -> Any:
    def work(builder: Any, read: list[Any]) -> Any:
        return builder.sub(*read)

    return _compile_write(typing, (row, at, numbers, first, less, first_less, count), work)


def _compile_set_of(typing: Any, numbers: Any, first: Any, count: Any) -> Any:
    """Return types and code of `set_of_numbers`."""
    if not isinstance(count, types.IntegerLiteral) or not (
        _is_row(numbers) or _is_row(numbers, types.float32)
    ):
        return None
    width, starts = _pieces(count.literal_value)
    bits, word = _ir.IntType(width), _ir.IntType(64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        result = context.get_constant(types.int64, 0)
        for start in starts:
            shift = context.get_constant(types.int64, start)
            source = _first_of(context, builder, numbers, arguments[0], builder.add(arguments[1], shift))
            vector = _ir.VectorType(source.type.pointee, width)
            read = builder.load(builder.bitcast(source, vector.as_pointer()), align=1)
            compare = builder.icmp_signed if numbers.dtype == types.int8 else builder.fcmp_unordered
            is_in = compare("!=", read, _ir.Constant(vector, [0] * width))
            piece = builder.zext(builder.bitcast(is_in, bits), word)
            result = builder.or_(result, builder.shl(piece, shift))
        return result

    return types.int64(numbers, types.int64, count), generate


def _compile_write_set(typing: Any, row: Any, at: Any, members: Any, count: Any) -> Any:
    """Return types and code of `write_set`."""
    if not isinstance(count, types.IntegerLiteral) or not _is_row(row):
        return None
    width, starts = _pieces(count.literal_value)
    vector, bits = _ir.VectorType(_BYTE, width), _ir.IntType(width)
    choice = _ir.VectorType(_ir.IntType(1), width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for start in starts:
            shift = context.get_constant(types.int64, start)
            piece = builder.trunc(builder.lshr(arguments[2], shift), bits)
            numbers = builder.zext(builder.bitcast(piece, choice), vector)
            target = _first_of(context, builder, row, arguments[0], builder.add(arguments[1], shift))
            builder.store(numbers, builder.bitcast(target, vector.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(row, types.int64, types.int64, count), generate


def _compile_lowest(typing: Any, members: Any) -> Any:
    """Return types and code of `lowest_in`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _ir.Constant(_ir.IntType(1), 0))

    return types.int64(types.int64), generate


def _compile_size(typing: Any, members: Any) -> Any:
    """Return types and code of `size_of`."""
    return types.int64(types.int64), lambda context, builder, signature, arguments: builder.ctpop(
        arguments[0]
    )


def _compile_prefetch(typing: Any, rows: Any, index: Any) -> Any:
    """Return types and code of `prefetch`."""
    size = rows.dtype.size if isinstance(rows.dtype, types.Record) else 2 * _CACHE_LINE
    byte, word = _BYTE.as_pointer(), _ir.IntType(32)
    to_be_written, keep, as_data = word(1), word(3), word(1)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(rows)(context, builder, arguments[0])
        offset = builder.mul(arguments[1], builder.extract_value(array.strides, 0))
        kind = _ir.FunctionType(_ir.VoidType(), [byte, word, word, word])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        for start in range(0, size, _CACHE_LINE):
            place = builder.add(offset, context.get_constant(types.int64, start))
            address = builder.gep(builder.bitcast(array.data, byte), [place])
            builder.call(fetch, [address, to_be_written, keep, as_data])
        return context.get_dummy_value()

    return types.void(rows, types.int64), generate


def _plain_copy(row: Int8Array, at: int, numbers: Int8Array, first: int, count: int) -> None:
    row[at : at + count] = numbers[first : first + count]


def _plain_subtract(
    row: Int8Array, at: int, numbers: Int8Array, first: int, less: Int8Array, first_less: int, count: int
) -> None:
    row[at : at + count] = numbers[first : first + count] - less[first_less : first_less + count]


def _plain_set_of(numbers: npt.NDArray[Any], first: int, count: int) -> int:
    return sum(1 << bit for bit in range(count) if numbers[first + bit] != 0)


def _plain_write_set(row: Int8Array, at: int, members: int, count: int) -> None:
    row[at : at + count] = [members >> bit & 1 for bit in range(count)]


def _plain_lowest(members: int) -> int:
    return (members & -members).bit_length() - 1


def _plain_size(members: int) -> int:
    return members.bit_count()


def _simd(compile_it: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    if not IS_COMPILED:
        return plain
    intrinsic: Any = _numba.extending.intrinsic(prefer_literal=True)(compile_it)
    # Make it callable from Python too, for rules that run without the compiler.
    intrinsic.__class__ = type("Simd", (type(intrinsic),), {"__call__": lambda _, *values: plain(*values)})
    return intrinsic  # type: ignore[no-any-return]


copy_numbers: Callable[[Int8Array, int, Int8Array, int, int], None] = _simd(_compile_copy, _plain_copy)
"""`copy_numbers(row, at, numbers, first, count)`: `row[at:] = numbers[first:]`, for `count` numbers."""

subtract_numbers: Callable[[Int8Array, int, Int8Array, int, Int8Array, int, int], None] = _simd(
    _compile_subtract, _plain_subtract
)
"""`subtract_numbers(row, at, numbers, first, less, first_less, count)`: write `numbers` minus `less`."""

set_of_numbers: Callable[[npt.NDArray[Any], int, int], int] = _simd(_compile_set_of, _plain_set_of)
"""`set_of_numbers(numbers, first, count)`: bits of the nonzero numbers, at most 64 int8 or float32."""

write_set: Callable[[Int8Array, int, int, int], None] = _simd(_compile_write_set, _plain_write_set)
"""`write_set(row, at, members, count)`: write the bits of a set as zeros and ones, the lowest first."""

lowest_in: Callable[[int], int] = _simd(_compile_lowest, _plain_lowest)
"""`lowest_in(members)`: the index of the lowest bit of a nonempty set."""

size_of: Callable[[int], int] = _simd(_compile_size, _plain_size)
"""`size_of(members)`: the number of bits that are 1."""

prefetch: Callable[[npt.NDArray[Any], int], None] = _simd(_compile_prefetch, lambda rows, index: None)
"""`prefetch(rows, index)`: let the processor fetch a record, or the first 128 bytes of a row of numbers.

Call it some time before the row is written. The index may lie outside the array: nothing is read.
"""
