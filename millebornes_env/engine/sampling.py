"""Uniform sampling of legal actions for many games."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.action_sets import member_of, member_of_set, size_of_set
from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.kernels import SKIP
from millebornes_env.engine.numba.compiling import kernel, parallel_kernel, prange
from millebornes_env.engine.numba.simd import size_of


@kernel
def sample_range(
    legal: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
    first: int,
    last: int,
    key_0: int,
    key_1: int,
    call: int,
) -> None:
    """Sample a legal action of each game from `first` to `last` - 1, uniformly.

    A game without a legal action has ended and gets SKIP.

    Args:
        legal: int64[N, W], the legal actions (`engine.action_sets`).
        actions: int64[N], overwritten.
        first: first game.
        last: one past the last game.
        key_0: first 32-bit word of the key of the random numbers.
        key_1: second word.
        call: number of this call; other numbers give other actions.
    """
    key_of_call = random_word(key_1, key_0, call)
    if legal.shape[1] == 1:  # several games at once: the compiler vectorizes this loop
        for game in range(first, last):
            only = int(legal[game, 0])
            count = size_of(only)
            action = member_of(only, random_below(key_0, key_of_call, game, count))
            actions[game] = action if count > 0 else SKIP
        return
    for game in range(first, last):
        count, action = size_of_set(legal[game]), SKIP
        if count > 0:
            action = member_of_set(legal[game], random_below(key_0, key_of_call, game, count))
        actions[game] = action


@parallel_kernel
def sample_on_threads(
    legal: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
    key_0: int,
    key_1: int,
    call: int,
    threads: int,
) -> None:
    """Run `sample_range` with the batch split among threads."""
    games = len(actions)
    for thread in prange(threads):
        first = thread * games // threads
        last = (thread + 1) * games // threads
        sample_range(legal, actions, first, last, key_0, key_1, call)
