"""Rows of int8 written sixteen numbers at a time.

The compiler writes a row number by number, as it cannot know that a row is no part of the record that is read
for it: each number could be one of the next that are read. These functions read first and write afterwards.
In plain Python they are NumPy's slices.

A `count` must be a constant (a global `Final` is), and rows contiguous. Nothing checks that the numbers lie
within the arrays.
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

_numba: Any = numba  # it has no type hints worth the name
_ir: Any = ir
_AT_ONCE: Final = 16  # what every x86-64 and every ARM has registers for
_BYTE = _ir.IntType(8)


def _pieces(count: int) -> tuple[int, list[int]]:
    """Return the vector width and the start of each piece; the last piece may overlap the one before it."""
    width = min(_AT_ONCE, 1 << (count.bit_length() - 1))
    return width, [*range(0, count - width, width), count - width]


def _first_of(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """The address of a number of an array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index])


def _compile_write(typing: Any, given: tuple[Any, ...], work: Callable[[Any, list[Any]], Any]) -> Any:
    """Types and code of a function that writes what `work` makes of some arrays of numbers.

    Args:
        typing: Numba's.
        given: the types of the row and where to write, of each array and where to read, and of the count.
        work: takes the builder of the code and a vector of each array.
    """
    arrays, count = given[0:-1:2], given[-1]
    if not isinstance(count, types.IntegerLiteral) or not all(map(_is_row, arrays)):
        return None  # which Numba reports as no matching definition
    width, places = _pieces(count.literal_value)
    vector = _ir.VectorType(_BYTE, width)

    def address(context: Any, builder: Any, arguments: Any, number: int, place: int) -> Any:
        kind, index = arrays[number], arguments[2 * number + 1]
        index = builder.add(index, context.get_constant(types.int64, place))
        first = _first_of(context, builder, kind, arguments[2 * number], index)
        return builder.bitcast(first, vector.as_pointer())

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = []
        for place in places:
            sources = range(1, len(arrays))
            where = (address(context, builder, arguments, number, place) for number in sources)
            made.append(work(builder, [builder.load(source, align=1) for source in where]))
        for place, numbers in zip(places, made, strict=True):
            builder.store(numbers, address(context, builder, arguments, 0, place), align=1)
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
    """Types and code of `set_of_numbers`, as Numba asks for them."""
    if not isinstance(count, types.IntegerLiteral) or not (
        _is_row(numbers) or _is_row(numbers, types.float32)
    ):
        return None
    width, places = _pieces(count.literal_value)
    bits, word = _ir.IntType(width), _ir.IntType(64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        result = context.get_constant(types.int64, 0)
        for place in places:
            shift = context.get_constant(types.int64, place)
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
    """Types and code of `write_set`, as Numba asks for them."""
    if not isinstance(count, types.IntegerLiteral) or not _is_row(row):
        return None
    width, places = _pieces(count.literal_value)
    vector, bits = _ir.VectorType(_BYTE, width), _ir.IntType(width)
    choice = _ir.VectorType(_ir.IntType(1), width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for place in places:
            shift = context.get_constant(types.int64, place)
            piece = builder.trunc(builder.lshr(arguments[2], shift), bits)
            numbers = builder.zext(builder.bitcast(piece, choice), vector)
            target = _first_of(context, builder, row, arguments[0], builder.add(arguments[1], shift))
            builder.store(numbers, builder.bitcast(target, vector.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(row, types.int64, types.int64, count), generate


def _compile_lowest(typing: Any, members: Any) -> Any:
    """Types and code of `lowest_in`, as Numba asks for them."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _ir.Constant(_ir.IntType(1), 0))

    return types.int64(types.int64), generate


def _compile_size(typing: Any, members: Any) -> Any:
    """Types and code of `size_of`, as Numba asks for them."""
    return types.int64(types.int64), lambda context, builder, signature, arguments: builder.ctpop(
        arguments[0]
    )


def _compile_from_front(typing: Any, place: Any) -> Any:
    """Types and code of `from_front`, as Numba asks for them."""
    return types.uint64(types.int64), lambda context, builder, signature, given: given[0]


def _plain_copy(row: Int8Array, at: int, numbers: Int8Array, first: int, count: int) -> None:
    row[at : at + count] = numbers[first : first + count]


def _plain_subtract(
    row: Int8Array, at: int, numbers: Int8Array, first: int, less: Int8Array, first_less: int, count: int
) -> None:
    row[at : at + count] = numbers[first : first + count] - less[first_less : first_less + count]


def _plain_set_of(numbers: npt.NDArray[Any], first: int, count: int) -> int:
    return sum(1 << place for place in range(count) if numbers[first + place] != 0)


def _plain_write_set(row: Int8Array, at: int, members: int, count: int) -> None:
    row[at : at + count] = [members >> place & 1 for place in range(count)]


def _plain_lowest(members: int) -> int:
    return (members & -members).bit_length() - 1


def _plain_size(members: int) -> int:
    return members.bit_count()


def _plain_from_front(place: int) -> int:
    return place


def _at_once(compile_it: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    if not IS_COMPILED:
        return plain
    made: Any = _numba.extending.intrinsic(prefer_literal=True)(compile_it)
    # Numba's cannot be called from plain Python, as rules are that somebody looks at without the compiler.
    made.__class__ = type("AtOnce", (type(made),), {"__call__": lambda _, *given: plain(*given)})
    return made  # type: ignore[no-any-return]


copy_numbers: Callable[[Int8Array, int, Int8Array, int, int], None] = _at_once(_compile_copy, _plain_copy)
"""`copy_numbers(row, at, numbers, first, count)`: some numbers, from `first` on, as they are."""

subtract_numbers: Callable[[Int8Array, int, Int8Array, int, Int8Array, int, int], None] = _at_once(
    _compile_subtract, _plain_subtract
)
"""`subtract_numbers(row, at, numbers, first, less, first_less, count)`: some numbers less some others."""

set_of_numbers: Callable[[npt.NDArray[Any], int, int], int] = _at_once(_compile_set_of, _plain_set_of)
"""`set_of_numbers(numbers, first, count)`: which of some numbers, at most 64, are not 0: a bit for each.

The numbers may be float32, too.
"""

write_set: Callable[[Int8Array, int, int, int], None] = _at_once(_compile_write_set, _plain_write_set)
"""`write_set(row, at, members, count)`: the bits of a set, the lowest first, as zeros and ones."""

lowest_in: Callable[[int], int] = _at_once(_compile_lowest, _plain_lowest)
"""`lowest_in(members)`: the lowest bit of a set that is not empty."""

size_of: Callable[[int], int] = _at_once(_compile_size, _plain_size)
"""`size_of(members)`: how many bits of a set are 1."""

from_front: Callable[[int], int] = _at_once(_compile_from_front, _plain_from_front)
"""`from_front(place)`: an index that is not negative: the compiler does not look whether it is.

What is made of it in turn is no int any more: use it as an index only.
"""


__all__ = [
    "copy_numbers",
    "from_front",
    "lowest_in",
    "set_of_numbers",
    "size_of",
    "subtract_numbers",
    "write_set",
]
