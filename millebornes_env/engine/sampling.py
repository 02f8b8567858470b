"""Uniform sampling of legal actions for many games, from their action masks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.kernels import SKIP
from millebornes_env.engine.numba.compiling import kernel, parallel_kernel, prange


@kernel
def sample_range(
    action_mask: npt.NDArray[np.int8],
    actions: npt.NDArray[np.int64],
    scratch: npt.NDArray[np.int64],
    first: int,
    last: int,
    key_0: int,
    key_1: int,
    call: int,
) -> None:
    """Sample a legal action of each game from `first` to `last` - 1, uniformly.

    A game without a legal action has ended and gets SKIP.

    Args:
        action_mask: int8[N, A].
        actions: int64[N], overwritten.
        scratch: int64[A + 1], overwritten.
        first: first game.
        last: one past the last game.
        key_0: first 32-bit word of the key of the random numbers.
        key_1: second word.
        call: number of this call; other numbers give other actions.
    """
    num_actions = action_mask.shape[1]
    key_of_call = random_word(key_1, key_0, call)
    for game in range(first, last):
        count = 0
        for action in range(num_actions):  # no branch: it would be unpredictable
            scratch[count] = action
            count += int(action_mask[game, action] != 0)  # whatever a caller has written there
        actions[game] = scratch[random_below(key_0, key_of_call, game, count)] if count > 0 else SKIP


@parallel_kernel
def sample_on_threads(
    action_mask: npt.NDArray[np.int8],
    actions: npt.NDArray[np.int64],
    scratch: npt.NDArray[np.int64],
    key_0: int,
    key_1: int,
    call: int,
    threads: int,
) -> None:
    """Run `sample_range` with the batch split among threads; `scratch` is int64[threads, A + 1]."""
    games = len(actions)
    for thread in prange(threads):
        first = thread * games // threads
        last = (thread + 1) * games // threads
        sample_range(action_mask, actions, scratch[thread], first, last, key_0, key_1, call)
