"""The memory available to a solver, as reported by the system."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

from millebornes_env.errors import SolvingError

_PROC: Final = Path("/proc/meminfo")
_GROUP: Final = Path("/sys/fs/cgroup")


def check_memory(name: str, needed: float) -> None:
    """Check that a game which needs about this many bytes fits in memory, before allocating it.

    Raises:
        SolvingError: the message reports the required and the available memory.
    """
    free = free_memory()
    if free is not None and needed > free:
        raise SolvingError(
            f"{name}: solving it would take about {needed / 2**30:,.1f} GiB of memory, and "
            f"{free / 2**30:,.1f} GiB are free; solve a smaller deck, or judge agents on this one, which "
            "needs little memory"
        )


def free_memory() -> int | None:
    """Return the number of bytes that a process can still allocate, or None if unknown."""
    result = [size for size in (_free_of_machine(), _free_of_group()) if size is not None]
    return min(result) if result else None


def _free_of_machine() -> int | None:
    with contextlib.suppress(OSError):
        available = re.search(r"^MemAvailable:\s+(\d+) kB", _PROC.read_text(encoding="ascii"), re.MULTILINE)
        if available is not None:
            return int(available[1]) * 1024
    with contextlib.suppress(AttributeError, ValueError, OSError):  # Windows has no sysconf
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return size if size > 0 else None
    return None


def _free_of_group() -> int | None:
    """Return the free memory of the container (cgroup v2), not counting file caches."""
    with contextlib.suppress(OSError, ValueError):
        limit = int((_GROUP / "memory.max").read_text(encoding="ascii"))  # "max" without a limit
        taken = re.search(r"^anon (\d+)", (_GROUP / "memory.stat").read_text(encoding="ascii"), re.MULTILINE)
        return max(0, limit - (int(taken[1]) if taken else 0))
    return None
