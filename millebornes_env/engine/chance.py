"""The random numbers of one game: a counter-based 32-bit hash on plain ints.

A random number is a function of a key (two 32-bit words) and a counter only: there is no generator state that
an early end of a game, a thread or a batch size could shift. All intermediate values fit a signed 64-bit
integer, so plain Python, compiled code and a GPU agree.

The mixer is the two-multiply hash "lowbias32" that Chris Wellons found by search (its exact bias over all
2**32 inputs is 0.17; nullprogram.com, "Prospecting for Hash Functions", 2018). It is applied twice: to the
counter with the first word of the key, and to the result with the second, so that similar keys and counters
give unrelated numbers.

The deck is shuffled by a game's `deal.py`, and hidden cards are redealt by its `determinize.py`.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule

MASK_32: Final = 0xFFFFFFFF
_WEYL: Final = 0x9E3779B9
_FIRST_MULTIPLIER: Final = 0x7FEB352D
_SECOND_MULTIPLIER: Final = 0x846CA68B


@rule
def mixed(word: int) -> int:
    """Hash a 32-bit word (a bijection: no two words give the same result)."""
    word ^= word >> 16
    word = (word * _FIRST_MULTIPLIER) & MASK_32
    word ^= word >> 15
    word = (word * _SECOND_MULTIPLIER) & MASK_32
    return word ^ (word >> 16)


@rule
def random_word(key_0: int, key_1: int, counter: int) -> int:
    """Return the `counter`-th random number of the key, from 0 to 2**32 - 1."""
    return mixed(mixed((key_0 + counter * _WEYL) & MASK_32) ^ key_1)


@rule
def random_below(key_0: int, key_1: int, counter: int, limit: int) -> int:
    """Return the `counter`-th random number of the key below `limit` (bias below `limit` / 2**32)."""
    return (random_word(key_0, key_1, counter) * limit) >> 32
