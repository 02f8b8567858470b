"""Listing the legal actions of any game."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import rule

Int16Array = npt.NDArray[np.int16]


@rule
def list_legal(mask: npt.NDArray[np.int8], actions: Int16Array) -> int:
    """List the actions that a mask, int8[A], allows, the lowest first, and return their number.

    `actions` is int16[A + 1 or more], overwritten.
    """
    count = 0
    for action in range(len(mask)):  # branch-free: a branch would be unpredictable
        actions[count] = action
        count += int(mask[action])
    return count
