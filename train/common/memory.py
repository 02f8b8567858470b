"""Memory that a learner gives back is kept for its next batch."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

# Of glibc's malloc.h.
_M_TRIM_THRESHOLD: Final = -1
_M_TOP_PAD: Final = -2
_M_MMAP_THRESHOLD: Final = -3

_LARGEST_BATCH: Final = 1 << 30
_KEPT: Final = (1 << 31) - 1
_AT_ONCE: Final = 1 << 28


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory instead of handing it back to the system.

    A batch's logits and gradients are a few megabytes, as large in the next batch; fetched from the system
    anew each time they cost a page fault for every 4 kB, a sixth of the time of a training run.

    Returns:
        Whether it could be done: with glibc on Linux; elsewhere nothing changes.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = ((_M_MMAP_THRESHOLD, _LARGEST_BATCH), (_M_TRIM_THRESHOLD, _KEPT), (_M_TOP_PAD, _AT_ONCE))
    return all(mallopt(name, value) == 1 for name, value in settings)
