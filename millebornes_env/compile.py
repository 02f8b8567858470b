"""The one place that knows Numba: `@rule` compiles a function of the rulebook, `@kernel` a loop over games.

Three ways to run the same source:

* compiled (the default), the machine code cached on disk;
* `NUMBA_BOUNDSCHECK=1`: compiled, every index checked;
* `NUMBA_DISABLE_JIT=1`: plain Python, so that a breakpoint in a rule works.

What rules need and Numba does not give them is here too: `stack_array`, room for what a rule works out on its
way, and `float32_at`, numbers that a rule is handed by their address.

Numba's cache notices a change of the cached function's own file only, not of a function which it calls in
another file. So the cache lives in a folder named after a digest of all sources that can be compiled: any
change of a rule is a new folder. For a function of other packages (agents, the arena, your own) the digest
has, on top, the files that its file imports, directly or not, and that use this package.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
import types as python_types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numba.extending
import numpy as np
import numpy.typing as npt
from numba.core import cgutils, types

from millebornes_env.threads import on_threads

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).parent
_OWN_NAME = __name__.partition(".")[0]
_COMPILED_SOURCES = ("compile.py", "chance.py", "millebornes", "engine")
_DAYS_TO_KEEP_OLD_CACHES = 30
_CACHE_LINE = 64
_FAST_SUMS = {"contract", "reassoc", "nsz", "arcp"}  # not nnan, ninf: -inf is the logit of an illegal action

_numba: Any = numba  # it has no type hints worth the name
_cgutils: Any = cgutils
_config: Any = numba.config  # Numba fills its module with settings as it starts

prange: type[range] = numba.prange
"""`range` whose rounds the threads of a `parallel_kernel` share."""

IS_COMPILED: bool = not _config.DISABLE_JIT
"""False under `NUMBA_DISABLE_JIT=1`."""


def for_kernels(records: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """An array of records as a kernel is handed it, not copied.

    Compiled code takes a plain array faster than a recarray; plain Python needs the recarray's attributes.
    """
    return records.view(np.ndarray if IS_COMPILED else np.recarray)


def source_digest(others: frozenset[Path] = frozenset()) -> str:
    """Sixteen hexadecimal digits that change with any source that can be compiled.

    Args:
        others: files besides the package's own.
    """
    digest = hashlib.sha256()
    for name in _COMPILED_SOURCES:
        path = _PACKAGE / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.relative_to(_PACKAGE).as_posix().encode())
            digest.update(file.read_bytes())
    for file in sorted(others):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def sources_outside(module_name: str, found: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """The files outside of this package that decide what a module compiles to, its own included.

    Those are the files that it imports, directly or not, and that use this package: for functions that it
    calls, and for constants that become a part of its machine code.

    Args:
        module_name: of a module that is being imported, its own imports done.
        found: files that are known already.
    """
    file = getattr(sys.modules.get(module_name), "__file__", None)
    if file is None or Path(file).is_relative_to(_PACKAGE) or Path(file) in found:
        return found
    source = Path(file).read_text(encoding="utf-8", errors="replace")
    if _OWN_NAME not in source:
        return found
    found |= {Path(file)}
    for node in ast.walk(ast.parse(source)):
        names = [node.module] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in filter(None, names):
            found = sources_outside(name, found)
    return found


@functools.cache
def _cache_folder(others: frozenset[Path]) -> str | None:
    """Where the machine code goes: the user's `NUMBA_CACHE_DIR`, else a place of ours; None: nowhere."""
    if _config.CACHE_DIR:
        return os.path.join(_config.CACHE_DIR, source_digest(others))
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "millebornes_env"
    uid = os.getuid() if hasattr(os, "getuid") else "user"
    for base in (user, Path(tempfile.gettempdir()) / f"millebornes_env-{uid}"):
        folder = base / source_digest(others)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            continue
        _forget_old_caches(base, folder)
        return str(folder)
    return None


@functools.cache
def _cache_folder_of(module_name: str) -> str | None:
    """Where the machine code of a module goes; its imports stand above its first compiled function."""
    return _cache_folder(sources_outside(module_name))


def _forget_old_caches(base: Path, current: Path) -> None:
    """Remove the caches of sources that have not been imported for a month."""
    oldest = time.time() - _DAYS_TO_KEEP_OLD_CACHES * 86_400
    for folder in base.iterdir():
        if folder != current and folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


def _compile(
    function: Callable[P, R], *signatures: Any, is_cached: bool = True, **options: Any
) -> Callable[P, R]:
    # Numba reads CACHE_DIR when the function is decorated: it is ours for that moment only, so that a
    # user's own compiled functions keep the cache folder that they had.
    users_folder = _config.CACHE_DIR
    folder = _cache_folder_of(function.__module__) if IS_COMPILED else None
    _config.CACHE_DIR = folder or ""
    try:
        cached = is_cached and folder is not None
        compiled = _numba.njit(*signatures, cache=cached, nogil=True, error_model="numpy", **options)(
            function
        )
    finally:
        _config.CACHE_DIR = users_folder
    return cast("Callable[P, R]", compiled)


def rule(function: Callable[P, R]) -> Callable[P, R]:
    """Compile one function of a rulebook; scalars, records and tuples of ints in, a scalar out."""
    return _compile(function, forceinline=True, _nrt=False)


def rule_of_rules(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a rule that takes a rule as an argument, and is copied to where it is called with one.

    It is not kept on disk by itself: its file would name the rules that it was called with, and not be read
    any more when one of them is gone. What calls it is kept.
    """
    return _compile(function, is_cached=False, forceinline=True, _nrt=False)


def seldom(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a rule that is needed once in a round: called where it is needed, not copied to there.

    What is copied to every place where a turn can end is compiled as often: minutes, for nothing.
    """
    return _compile(function, _nrt=False)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop over games that runs on one thread."""
    return _compile(function, _nrt=False)


def parallel_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop over games written with `prange`, to run on several threads."""
    return _on_threads(function)


def float_rule(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a rule that calculates with floats, and may do so in any order.

    A sum then takes as many terms at once as the processor can; how it is rounded depends on the processor.
    Infinities and what is not a number stay what they are.
    """
    return _compile(function, forceinline=True, _nrt=False, fastmath=_FAST_SUMS)


def float_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop that runs on one thread and calculates as a `float_rule` does."""
    return _compile(function, _nrt=False, fastmath=_FAST_SUMS)


def parallel_float_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop written with `prange` that calculates as a `float_rule` does."""
    return _on_threads(function, fastmath=_FAST_SUMS)


def _on_threads(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    parallel = _compile(function, parallel=True, **options)
    if not IS_COMPILED:
        return parallel
    # Numba's cache would take one for the other if they had the same name.
    alone = python_types.FunctionType(function.__code__, function.__globals__)
    alone.__qualname__ = f"{function.__qualname__}_on_one_thread"
    return on_threads(parallel, lambda: _compile(alone, **options))


def pointer(function: Callable[P, int], *examples: Any) -> Callable[P, int]:
    """Compile a function now, for one kind of arguments, so that it can be handed to a kernel as an argument.

    A kernel that takes such functions is compiled once for all that have the same arguments: who plays is
    then a value, not a part of the machine code.

    Args:
        function: takes what the examples are, returns an int.
        *examples: one argument each: a record, an array, an int.

    Returns:
        The function, to be passed on; in plain Python as it was.
    """
    if not IS_COMPILED:
        return function
    # "First-class functions" have been experimental in Numba for years; what is used of them is tested here.
    warnings.filterwarnings(
        "ignore", "First-class function type", category=_numba.NumbaExperimentalFeatureWarning
    )
    signature = _numba.int64(*(_numba.typeof(example) for example in examples))
    return _compile(function, signature, _nrt=False)


# Memory of rules -------------------------------------------------------------------------------------------


def _array_at(context: Any, builder: Any, array: Any, place: Any, size: Any) -> Any:
    """Code that makes a view of memory."""
    view = context.make_array(array)(context, builder)
    element = context.get_data_type(array.dtype)
    item = context.get_constant(types.intp, context.get_abi_sizeof(element))
    context.populate_array(
        view,
        data=builder.bitcast(place, element.as_pointer()),
        shape=_cgutils.pack_array(builder, [size]),
        strides=_cgutils.pack_array(builder, [item]),
        itemsize=item,
        meminfo=None,
    )
    return view._getvalue()


def _compile_stack_array(typing: Any, dtype: Any, size: Any) -> Any:
    """Types and code of `stack_array`, as Numba asks for them."""
    if not isinstance(size, types.IntegerLiteral):
        return None  # which Numba reports as no matching definition
    array = types.Array(dtype.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = context.get_constant(types.intp, size.literal_value)
        with builder.goto_entry_block():  # elsewhere each round of a loop would take more of the stack
            place = builder.alloca(context.get_data_type(array.dtype), count)
        place.align = _CACHE_LINE
        return _array_at(context, builder, array, place, count)

    return array(dtype, size), generate


def _compile_float32_at(typing: Any, address: Any, size: Any) -> Any:
    """Types and code of `float32_at`, as Numba asks for them."""
    array = types.Array(types.float32, 1, "C", readonly=True)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], context.get_data_type(types.float32).as_pointer())
        return _array_at(context, builder, array, place, arguments[1])

    return array(types.int64, types.intp), generate


def _plain_stack_array(dtype: Any, size: int) -> npt.NDArray[Any]:
    return np.empty(size, dtype)


def _plain_float32_at(address: int, size: int) -> npt.NDArray[np.float32]:
    view = np.ctypeslib.as_array((ctypes.c_float * int(size)).from_address(int(address)))
    view.setflags(write=False)
    return view


stack_array: Callable[[Any, int], npt.NDArray[Any]] = (
    _numba.extending.intrinsic(prefer_literal=True)(_compile_stack_array)
    if IS_COMPILED
    else _plain_stack_array
)
"""`stack_array(dtype, size)`: an array that lasts as long as the call it was made in; anything may be in it.

Rules cannot make arrays, and several threads run them: so this lies on the thread's own stack. The size must
be a constant (a global `Final` is), and small: all of a thread's stack may be a few 100 kB. Pass it to other
rules, but do not return it.
"""

float32_at: Callable[[int, int], npt.NDArray[np.float32]] = (
    _numba.extending.intrinsic(_compile_float32_at) if IS_COMPILED else _plain_float32_at
)
"""`float32_at(address, size)`: the float32 numbers that lie at an address, to be read; they are not copied.

This is how an agent's options, which are ints, name a table. Whoever gives the address away keeps the array
that it is of; nothing checks that.
"""
