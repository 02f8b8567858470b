"""Memory of a trainer: keep freed memory for the next batch, and check the limit on the address space."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import sys
from typing import Final

with contextlib.suppress(ModuleNotFoundError):  # Windows has no such limits
    import resource

# from malloc.h of glibc
_M_TRIM_THRESHOLD: Final = -1
_M_TOP_PAD: Final = -2
_M_MMAP_THRESHOLD: Final = -3

_LARGEST_BATCH: Final = 1 << 30
_KEPT: Final = (1 << 31) - 1
_AT_ONCE: Final = 1 << 28

ADDRESS_SPACE: Final = 1 << 30
"""Bytes of address space that compiling and the threads of the libraries take, at least."""


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory instead of returning it to the system.

    A batch's logits and gradients take a few megabytes, as much as in the next batch; allocated by the system
    each time they cost a page fault for every 4 kB, a sixth of the time of a training run.

    Returns:
        True with glibc on Linux; elsewhere nothing changes.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = ((_M_MMAP_THRESHOLD, _LARGEST_BATCH), (_M_TRIM_THRESHOLD, _KEPT), (_M_TOP_PAD, _AT_ONCE))
    return all(mallopt(name, value) == 1 for name, value in settings)


def check_address_space() -> None:
    """Raise if a limit on the address space (`ulimit -v`) leaves too little to train.

    Numba, OpenMP and OpenBLAS do not report failures to start a thread or to allocate machine code: they
    abort, wait forever for missing threads, or send the process SIGINT.

    Raises:
        ValueError: less than `ADDRESS_SPACE` is left.
    """
    if "resource" not in globals():
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    try:
        mmap.mmap(-1, ADDRESS_SPACE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError:
        raise ValueError(
            f"the address space of this process is limited to {limit >> 20:,} MiB (ulimit -v), and less than "
            f"{ADDRESS_SPACE >> 20:,} MiB are left for training: raise the limit"
        ) from None
