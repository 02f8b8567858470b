"""Uniform sampling of legal actions for many games, from their action masks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.chance import random_below
from millebornes_env.engine.kernels import SKIP
from millebornes_env.engine.numba.compiling import kernel, parallel_kernel, prange


@kernel
def sample_range(
    action_mask: npt.NDArray[np.int8],
    key_0: int,
    key_1: int,
    actions: npt.NDArray[np.int64],
    scratch: npt.NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Sample a legal action of each game from `first` to `last` - 1, uniformly.

    A game without a legal action has ended and gets SKIP.

    Args:
        action_mask: int8[N, A].
        key_0: first 32-bit word of the key of the random numbers.
        key_1: second word; take another for every call.
        actions: int64[N], overwritten.
        scratch: int64[A + 1], overwritten.
        first: first game.
        last: one past the last game.
    """
    num_actions = action_mask.shape[1]
    for game in range(first, last):
        count = 0
        for action in range(num_actions):  # no branch: it would be unpredictable
            scratch[count] = action
            count += int(action_mask[game, action] != 0)  # a caller may have written other values than 1
        actions[game] = scratch[random_below(key_0, key_1, game, count)] if count > 0 else SKIP


@parallel_kernel
def sample_on_threads(
    action_mask: npt.NDArray[np.int8],
    key_0: int,
    key_1: int,
    actions: npt.NDArray[np.int64],
    scratch: npt.NDArray[np.int64],
    threads: int,
) -> None:
    """Run `sample_range` with the batch split among threads; `scratch` is int64[threads, A + 1]."""
    games = len(actions)
    for thread in prange(threads):
        first = thread * games // threads
        last = (thread + 1) * games // threads
        sample_range(action_mask, key_0, key_1, actions, scratch[thread], first, last)
