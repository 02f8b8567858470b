"""Processes that run the tests side by side compile each function once: the others wait for it, then load it.

Without this, all of them begin with the same kernels, and each compiles its own copy of every one.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from filelock import FileLock
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher


@functools.cache
def lock_of(index: str) -> FileLock:
    """The lock of a function, beside the index of its machine code on disk."""
    Path(index).parent.mkdir(parents=True, exist_ok=True)  # old versions of filelock do not
    return FileLock(f"{index}.lock")


def lock_while_compiling() -> None:
    """From now on, this process holds a function's lock while it compiles the function or loads it.

    A function that Numba does not keep on disk has no lock. Who holds a lock waits only for functions that
    its own calls, so two processes never wait for each other.
    """
    compile_or_load = Dispatcher.compile

    @functools.wraps(compile_or_load)
    def compile_once(dispatcher: Dispatcher, signature: Any) -> Any:
        file = getattr(dispatcher._cache, "_cache_file", None)
        if file is None:
            return compile_or_load(dispatcher, signature)
        # Numba's own lock first, as it takes it next: two threads would wait for each other otherwise.
        with global_compiler_lock, lock_of(file._index_path):
            return compile_or_load(dispatcher, signature)

    Dispatcher.compile = compile_once
