"""Machine code of the kernels that is shipped in the wheel, so that nothing has to be compiled.

`of(kernel)` returns the wheel's machine code for a kernel, or the kernel itself, which Numba compiles at its
first call. The machine code is used if it was made from these sources for this platform; a checkout has none.
`status()` reports whether it is used and why, and `MILLEBORNES_MACHINE_CODE=0` disables it. Results are
bitwise the same.

`export/` makes it when a wheel is built: `kernels.json` beside this file names the shared object and
describes the words that each function takes (`export/module.py` has the layout).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import platform
import sys
import threading
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np

from millebornes_env.engine.numba.cache import source_digest
from millebornes_env.engine.numba.compiling import IS_BOUNDS_CHECKED, IS_COMPILED

P = ParamSpec("P")
R = TypeVar("R")

FORMAT: Final = 2
"""Version of `kernels.json` and of the words; increased when this file cannot call older machine code."""

PREFIX: Final = "mb_"
"""Prefix of function names in a shared object."""

NUMBA_PREFIX: Final = "numba_"
"""Prefix of the functions there that compiled code can call."""

_FOLDER = Path(__file__).parent
_SWITCH = "MILLEBORNES_MACHINE_CODE"


class MachineCodeError(RuntimeError):
    """A function of the wheel's machine code failed; its output is incomplete."""


class _OtherTypeError(TypeError):
    """An argument has another type than the machine code was made for."""


class _Library(NamedTuple):
    functions: Any  # the shared object
    kernels: dict[str, Any]  # as in kernels.json


def this_platform() -> str:
    """Return the platform name of this machine's shared objects, for example "linux-x86_64"."""
    return f"{sys.platform}-{platform.machine().lower()}"


def checksum(code: bytes, kernels: dict[str, Any]) -> str:
    """Return the checksum of the shared object and the description of its functions (both must be intact)."""
    digest = hashlib.sha256(code)
    digest.update(json.dumps(kernels, sort_keys=True).encode())
    return digest.hexdigest()


def status() -> str:
    """Describe whether the wheel's machine code is used, and if not, why."""
    reason, _ = _loaded(_FOLDER, os.environ.get(_SWITCH, ""))
    return f"not used: {reason}" if reason else f"used: {this_platform()}, made from these sources"


def of(kernel: Callable[P, R]) -> Callable[P, R]:
    """Return the wheel's machine code for a kernel, or the kernel itself.

    Args:
        kernel: made by `engine.numba.compiling.kernel`.

    Returns:
        A callable with the same arguments and results. It keeps its last arguments, so that further calls
        with the same records and tuples are fast: reuse it for repeated calls.
    """
    library = _library_with(kernel)
    if library is None:
        return kernel
    return cast("Callable[P, R]", _MachineKernel(library, kernel))


def address_of(kernel: Callable[..., int]) -> int | None:
    """Return the address of a kernel in the wheel's machine code, for `call_at`; None if there is none."""
    library = _library_with(kernel)
    if library is None:
        return None
    function = getattr(library.functions, NUMBA_PREFIX + kernel.__name__)
    return ctypes.cast(function, ctypes.c_void_p).value


def _library_with(kernel: Callable[..., Any]) -> _Library | None:
    """Return the machine code if it contains the kernel, which must be of this package; else None."""
    _, library = _loaded(_FOLDER, os.environ.get(_SWITCH, ""))
    is_ours = kernel.__module__.partition(".")[0] == __name__.partition(".")[0]
    return library if library is not None and is_ours and kernel.__name__ in library.kernels else None


@functools.cache
def _loaded(folder: Path, switch: str) -> tuple[str, _Library | None]:
    """Return the reason why the machine code of a folder is not used ("" if it is), and the machine code."""
    if switch == "0":
        return f"{_SWITCH}=0", None
    if not IS_COMPILED:
        return "NUMBA_DISABLE_JIT is set: the kernels run as plain Python", None
    if IS_BOUNDS_CHECKED:
        return "NUMBA_BOUNDSCHECK is set: Numba compiles kernels that check every index", None
    try:
        made = json.loads((folder / "kernels.json").read_text(encoding="utf-8"))
        path = folder / made["object"]
        if made["format"] != FORMAT:
            return f"its format is {made['format']}; this version reads {FORMAT}", None
        if made["platform"] != this_platform() or sys.maxsize < 2**32:
            return f"it is for {made['platform']}, and this is {this_platform()}", None
        if made["source_digest"] != source_digest():
            return "it was made from other sources", None
        if made["sha256"] != checksum(path.read_bytes(), made["kernels"]):
            return f"{path.name} or kernels.json is not what was built: install the wheel again", None
        return "", _Library(ctypes.CDLL(str(path)), made["kernels"])
    except FileNotFoundError:
        return "this installation has none (a checkout, or a wheel without)", None
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:  # damaged, or not readable
        return f"it cannot be loaded: {error}", None


class _MachineKernel:
    """One function of a shared object, called with the arguments of its kernel.

    Records, tuples and arrays of records are the same objects in nearly all calls of a batch of games. Their
    words are kept with the objects, and rewritten only for another object. Other arrays may belong to the
    caller and change, so they are read in every call.
    """

    def __init__(self, library: _Library, kernel: Callable[..., Any]) -> None:
        layout = library.kernels[kernel.__name__]
        self._library = library
        self._kernel = kernel
        self._function = getattr(library.functions, PREFIX + kernel.__name__)
        self._function.argtypes = (ctypes.c_void_p,)
        self._parameters = [
            _parameter(offset, *parameter)
            for offset, parameter in zip(layout["places"], layout["parameters"], strict=True)
        ]
        self._result_words = layout["result_words"]
        self._words = array("q", bytes(8 * layout["words"]))
        self._address = self._words.buffer_info()[0]
        self._kept: list[object] = [self] * len(self._parameters)  # `self` is never an argument
        self._in_use = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        """Return the result of the kernel; arguments of other types are passed to Numba's kernel."""
        if not self._in_use.acquire(blocking=False):  # another thread uses the words
            return _MachineKernel(self._library, self._kernel)(*arguments)
        try:
            self._write(arguments)
            status = self._function(self._address)
            if status != 0:
                raise MachineCodeError(
                    f"{self._kernel.__name__} failed with status {status} in the machine code of the wheel; "
                    f"{_SWITCH}=0 lets Numba compile it instead, which says more"
                )
            if self._result_words == 1:
                return self._words[0]
            return tuple(self._words[: self._result_words])
        except _OtherTypeError:
            return self._kernel(*arguments)
        finally:
            self._in_use.release()

    def _write(self, arguments: tuple[Any, ...]) -> None:
        """Write the words of all arguments that are not kept.

        Raises:
            _OtherTypeError: an argument has another type.
        """
        if len(arguments) != len(self._parameters):
            raise _OtherTypeError
        kept = self._kept
        for number, argument in enumerate(arguments):
            if argument is not kept[number]:
                kept[number] = self  # until all its words are written
                parameter = self._parameters[number]
                parameter.write(argument, self._words)
                if parameter.is_kept:
                    kept[number] = argument


class _Int:
    """A parameter that is an int."""

    is_kept = False

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def write(self, argument: Any, words: array[int]) -> None:
        words[self.offset] = argument


class _Record:
    """A parameter that is one record."""

    is_kept = True

    def __init__(self, offset: int, num_bytes: int) -> None:
        self.offset = offset
        self.num_bytes = num_bytes

    def write(self, argument: Any, words: array[int]) -> None:
        if not isinstance(argument, np.void) or argument.itemsize != self.num_bytes:
            raise _OtherTypeError
        if argument.flags.owndata:  # not a view of an array: the address would be that of a copy
            raise _OtherTypeError
        words[self.offset] = argument.__array_interface__["data"][0]


class _Array:
    """A parameter that is an array, C-contiguous and aligned."""

    def __init__(self, offset: int, dtype: str, dimensions: int, is_written: bool) -> None:
        self.offset = offset
        self.dtype = np.dtype(dtype)
        self.dimensions = dimensions
        self.is_written = is_written
        self.is_kept = self.dtype.kind == "V"
        self._shape: tuple[int, ...] | None = None  # as written in the words

    def write(self, argument: Any, words: array[int]) -> None:
        if not isinstance(argument, np.ndarray):
            raise _OtherTypeError
        if argument.dtype != self.dtype and (not self.is_kept or argument.dtype.str != self.dtype.str):
            raise _OtherTypeError
        flags = argument.flags
        if flags.carray and argument.size:
            # Five times as fast as reading __array_interface__.
            words[self.offset + 4] = ctypes.addressof(ctypes.c_char.from_buffer(argument.data))
        elif flags.c_contiguous and flags.aligned and (flags.writeable or not self.is_written):
            words[self.offset + 4] = argument.__array_interface__["data"][0]
        else:
            raise _OtherTypeError
        if argument.shape != self._shape:
            if argument.ndim != self.dimensions:
                raise _OtherTypeError
            self._shape = argument.shape
            words[self.offset + 2] = argument.size
            words[self.offset + 3] = argument.itemsize
            for number, word in enumerate((*argument.shape, *argument.strides), self.offset + 5):
                words[number] = word


class _Tuple:
    """A parameter that is a tuple of others."""

    is_kept = True

    def __init__(self, offset: int, members: list[list[Any]]) -> None:
        self.members: list[_Parameter] = []
        for member in members:
            self.members.append(_parameter(offset, *member))
            offset += _words_in(member)

    def write(self, argument: Any, words: array[int]) -> None:
        if not isinstance(argument, tuple) or len(argument) != len(self.members):
            raise _OtherTypeError
        for member, value in zip(self.members, argument, strict=True):
            member.write(value, words)


_Parameter = _Int | _Record | _Array | _Tuple
_KINDS: Final[dict[str, Callable[..., _Parameter]]] = {
    "int": _Int,
    "record": _Record,
    "array": _Array,
    "tuple": _Tuple,
}


def _parameter(offset: int, kind: str, *details: Any) -> _Parameter:
    """Return the writer of an argument whose words begin at an offset."""
    return _KINDS[kind](offset, *details)


def _words_in(parameter: list[Any]) -> int:
    """Return the number of words of an argument."""
    kind, *details = parameter
    if kind == "array":
        return 5 + 2 * int(details[1])
    return sum(map(_words_in, details[0])) if kind == "tuple" else 1
