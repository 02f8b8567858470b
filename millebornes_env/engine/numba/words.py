"""Calls of compiled kernels through an array of 64-bit words, which holds their arguments.

Numba's own way from Python to a kernel looks at every argument in every call: 6 us for the nine arrays of a
step. A kernel that is called with the same arrays again and again is `prepared` instead: its arguments are
written into words once, and a call hands over one address.

A function of words, `int32 NAME(int64 *words)`, reads the arguments of its kernel from the words and writes
the result into the first of them. It returns 0, or another number if the kernel raised.

| argument | words |
|---|---|
| a whole number | itself |
| a record | its address |
| an array | 0, 0, number of elements, size of one, address, its shape, its strides in bytes |
| a tuple | its members, one after the other |

The functions of a wheel's kernels come with it (`machine_code`, made by `export/`); those of other kernels
are made here when they are first needed, which takes LLVM a few milliseconds.
"""

from __future__ import annotations

import ctypes
import functools
from array import array
from collections.abc import Callable
from struct import Struct
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from numba.core import types as numba_types
from numba.np.numpy_support import as_dtype

types: Any = numba_types  # it has no type hints worth the name

_FUNCTION = """
define i32 @{name}(ptr %words) {{
  %exception = alloca ptr
{loads}
  %status = call i32 {kernel}(ptr %words, ptr %exception{arguments}) noinline
  ret i32 %status
}}
"""


class Convention(NamedTuple):
    """The calling convention of a function of words.

    Attributes:
        parameters: the type of each argument: `["int"]`, `["record", bytes]`, `["tuple", members]` or
            `["array", dtype, dimensions, is written]` with NumPy's `dtype.str`.
        places: index of the first word of each argument.
        result_words: number of words of the result, which come first.
        words: number of all words.
    """

    parameters: list[list[Any]]
    places: list[int]
    result_words: int
    words: int


class Function(NamedTuple):
    """A function of words: machine code that ctypes can call, and its calling convention."""

    call: Callable[[int], int]
    convention: Convention


# From Numba's types ----------------------------------------------------------------------------------------


def convention_of(kinds: tuple[Any, ...], result: Any) -> Convention:
    """Return the calling convention for a kernel of these Numba types.

    Raises:
        NotImplementedError: one of them does not fit into words.
    """
    result_words = _words_of_result(result)
    count = result_words
    places = []
    for kind in kinds:
        places.append(count)
        count += len(_llvm_types((kind,)))
    return Convention([_parameter_of(kind) for kind in kinds], places, result_words, count)


def function_text(name: str, kernel: str, kinds: tuple[Any, ...], result: Any) -> str:
    """Return the LLVM text of the function of words `name`, which calls `kernel`."""
    first = _words_of_result(result)
    loads = []
    llvm_types = _llvm_types(kinds)
    for place, kind in enumerate(llvm_types):
        loads.append(f"  %at{place} = getelementptr i64, ptr %words, i64 {first + place}")
        loaded = f"%a{place}" if kind == "i64" else f"%w{place}"
        loads.append(f"  {loaded} = load i64, ptr %at{place}")
        if kind == "ptr":
            loads.append(f"  %a{place} = inttoptr i64 %w{place} to ptr")
    arguments = "".join(f", {kind} %a{place}" for place, kind in enumerate(llvm_types))
    return _FUNCTION.format(name=name, kernel=kernel, loads="\n".join(loads), arguments=arguments)


def declaration(kernel: str, kinds: tuple[Any, ...]) -> str:
    """Return the LLVM text that declares a kernel of another module."""
    return f"declare i32 {kernel}({', '.join(['ptr', 'ptr', *_llvm_types(kinds)])})\n"


def _llvm_types(kinds: tuple[Any, ...]) -> list[str]:
    """Return the LLVM type of each word of the arguments."""
    words = []
    for kind in kinds:
        if isinstance(kind, types.Array):
            words += ["ptr", "ptr", "i64", "i64", "ptr", *["i64"] * (2 * kind.ndim)]
        elif isinstance(kind, types.Record):
            words.append("ptr")
        elif isinstance(kind, types.BaseTuple):
            words += _llvm_types(tuple(kind.types))
        else:
            words.append("i64")
    return words


def _parameter_of(kind: Any) -> list[Any]:
    if isinstance(kind, types.Array):
        if kind.layout != "C" or not (kind.aligned or isinstance(kind.dtype, types.Record)):
            raise NotImplementedError(f"an array must be C-contiguous and aligned, not {kind}")
        return ["array", as_dtype(kind.dtype).str, kind.ndim, kind.mutable]
    if isinstance(kind, types.Record):
        return ["record", kind.size]
    if isinstance(kind, types.BaseTuple):
        return ["tuple", [_parameter_of(member) for member in kind.types]]
    if kind != types.int64:
        raise NotImplementedError(
            f"an argument is {kind}; known are int64, records, arrays and tuples of those"
        )
    return ["int"]


def _words_of_result(kind: Any) -> int:
    kind = types.unliteral(kind)
    if kind in (types.none, types.int64):
        return 1
    if isinstance(kind, types.UniTuple) and kind.dtype == types.int64:
        return int(kind.count)
    raise NotImplementedError(f"the result is {kind}; known are None, int64 and tuples of int64")


@functools.cache
def function_of(kernel: Any, kinds: tuple[Any, ...]) -> Function:
    """Compile a kernel, or load it from the cache, and make its function of words.

    Args:
        kernel: Numba's dispatcher.
        kinds: Numba's types of the arguments.

    Raises:
        NotImplementedError: a type does not fit into words.
    """
    kernel.compile(kinds)
    compiled = kernel.overloads[kinds]
    result = compiled.fndesc.restype
    convention = convention_of(kinds, result)
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    text = function_text("words", f"inttoptr (i64 {address} to ptr)", kinds, result)
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(text), llvm.Target.from_default_triple().create_target_machine()
    )
    engine.finalize_object()
    call: Any = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(engine.get_function_address("words"))
    call.engine = engine  # owns the code
    return Function(call, convention)


# Arguments into words --------------------------------------------------------------------------------------


def prepared(name: str, function: Function, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """Bind the first arguments of a kernel, for quick calls with the others.

    Args:
        name: of the kernel, for messages.
        function: of the kernel.
        arguments: its first arguments; the function that is returned keeps their arrays alive.

    Returns:
        A function of the other arguments, which are whole numbers. One thread at a time may call it.

    Raises:
        NotImplementedError: an argument is of another type than the function takes.
    """
    (call, (parameters, places, result_words, size)), given = function, len(arguments)
    if given > len(parameters):
        raise NotImplementedError(f"{name} takes {len(parameters)} arguments, not {given}")
    words = array("q", bytes(8 * size))
    address, missing, offset = words.buffer_info()[0], len(parameters) - given, 8 * [*places, size][given]
    write_numbers, read_result = Struct(f"{missing}q").pack_into, Struct(f"{result_words}q").unpack_from
    for argument, place, parameter in zip(arguments, places, parameters, strict=False):
        write(argument, words, place, parameter)

    def run() -> Any:
        if call(address) != 0:
            raise RuntimeError(f"the kernel {name} failed; what it writes is unfinished")
        return words[0] if result_words == 1 else read_result(words)

    def run_with(*numbers: int) -> Any:
        if len(numbers) != missing:
            raise TypeError(f"the kernel {name} takes {missing} more arguments, not {len(numbers)}")
        if numbers:
            write_numbers(words, offset, *numbers)
        return run()

    def run_with_one(number: int) -> Any:  # twice as quick, and a step takes one
        words[offset // 8] = number
        return run()

    prepared_call = run_with_one if missing == 1 else run_with
    vars(prepared_call)["arguments"] = arguments
    return prepared_call


def write(argument: Any, words: array[int], place: int, parameter: list[Any]) -> int:
    """Write the words of an argument from an index on, and return the index after them.

    Args:
        argument: of the kernel.
        words: overwritten.
        place: index of its first word.
        parameter: its type, as in `Convention.parameters`.

    Raises:
        NotImplementedError: it is of another type.
    """
    kind, *details = parameter
    if kind == "int":
        words[place] = argument
        return place + 1
    if kind == "record":
        words[place] = _address_of_record(argument, *details)
        return place + 1
    if kind == "array":
        numbers = _words_of_array(argument, *details)
        words[place : place + len(numbers)] = numbers
        return place + len(numbers)
    (members,) = details
    if not isinstance(argument, tuple) or len(argument) != len(members):
        raise NotImplementedError(f"expected a tuple of {len(members)}, got {type(argument).__name__}")
    for value, member in zip(argument, members, strict=True):
        place = write(value, words, place, member)
    return place


def _address_of_record(record: Any, num_bytes: int) -> int:
    is_known = isinstance(record, np.void) and record.itemsize == num_bytes
    if not is_known or record.flags.owndata:  # the address of its own data would be that of a copy
        raise NotImplementedError(
            f"expected a record of {num_bytes} bytes in an array, got {type(record).__name__}"
        )
    return int(record.__array_interface__["data"][0])


def _words_of_array(given: Any, dtype: str, dimensions: int, is_written: bool) -> array[int]:
    is_known = isinstance(given, np.ndarray) and given.ndim == dimensions
    if not is_known or given.dtype.str != dtype:
        raise NotImplementedError(f"expected an array of {dtype} with {dimensions} dimensions")
    flags = given.flags
    if not (flags.c_contiguous and flags.aligned and (flags.writeable or not is_written)):
        raise NotImplementedError(
            "an array is not C-contiguous, aligned and, if the kernel writes to it, writeable"
        )
    address = given.__array_interface__["data"][0]
    return array("q", [0, 0, given.size, given.itemsize, address, *given.shape, *given.strides])
