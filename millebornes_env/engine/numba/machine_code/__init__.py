"""Machine code of the kernels that is shipped in the wheel, so that nothing has to be compiled.

`of(kernel)` returns the wheel's machine code for a kernel, or the kernel itself, which Numba compiles at its
first call. The machine code is used if it was made from these sources for this platform; a checkout has none.
`status()` reports whether it is used and why, and `MILLEBORNES_MACHINE_CODE=0` disables it. Results are
bitwise the same.

`export/` makes it when a wheel is built: `kernels.json` beside this file names the shared object, and gives
the calling convention of each function (`engine.numba.words`).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar, cast

import numba
from numba.core import types

from millebornes_env.engine.numba.cache import source_digest
from millebornes_env.engine.numba.compiling import IS_BOUNDS_CHECKED, IS_COMPILED
from millebornes_env.engine.numba.words import Convention, Function, function_of, prepared

P = ParamSpec("P")
R = TypeVar("R")

_numba: Any = numba  # it has no type hints worth the name

FORMAT: Final = 2
"""Version of `kernels.json` and of the words; increased when this file cannot call older machine code."""

PREFIX: Final = "mb_"
"""Prefix of function names in a shared object."""

NUMBA_PREFIX: Final = "numba_"
"""Prefix of the functions there that compiled code can call."""

_FOLDER = Path(__file__).parent
_SWITCH = "MILLEBORNES_MACHINE_CODE"


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
        A function that is called in the same way and does the same.
    """
    function = _function_of(kernel)
    return kernel if function is None else cast("Callable[P, R]", partial(_call, kernel, function))


def prepare(kernel: Callable[..., R], *arguments: Any) -> Callable[..., R]:
    """Bind the first arguments of a kernel, for quick calls with whole numbers as the others.

    Args:
        kernel: made by `engine.numba.compiling.kernel`.
        *arguments: its first arguments; the arrays stay where they are in memory.

    Returns:
        A function of the other arguments. One thread at a time may call it.
    """
    function = _function_of(kernel)
    numbas: Any = kernel
    try:
        if function is None and IS_COMPILED and not IS_BOUNDS_CHECKED:  # which says what index is wrong
            count = numbas.py_func.__code__.co_argcount - len(arguments)
            function = function_of(kernel, (*map(_numba.typeof, arguments), *[types.int64] * count))
        if function is not None:
            return prepared(kernel.__name__, function, arguments)
    except NotImplementedError:
        pass
    return partial(kernel, *arguments)


def _call(kernel: Callable[..., R], function: Function, *arguments: Any) -> R:
    """Call the machine code with the arguments, or the kernel if it takes others."""
    try:
        call = prepared(kernel.__name__, function, arguments)
    except NotImplementedError:
        return kernel(*arguments)
    return cast("R", call())


def _function_of(kernel: Callable[..., Any]) -> Function | None:
    """Return the function of words in the wheel's machine code; None if there is none."""
    library = _library_with(kernel)
    if library is None:
        return None
    call = getattr(library.functions, PREFIX + kernel.__name__)
    call.argtypes = (ctypes.c_void_p,)
    return Function(call, Convention(**library.kernels[kernel.__name__]))


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
