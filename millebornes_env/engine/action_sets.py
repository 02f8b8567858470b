"""Sets of actions as ints: bit a is 1 if action a is in the set.

The engine keeps the legal actions of each game like this, beside the mask, which a caller may overwrite:
checking and sampling actions then read one int for each game instead of a row of numbers.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.engine.numba.simd import set_of_numbers, size_of

Sets = npt.NDArray[np.int64]
"""int64[N, W], a set for each game; a row int64[W] is one set."""

_PIECE: Final = 16  # numbers of a mask that are read at once

SET_SIZE: Final = 3 * _PIECE
"""Number of actions in one int; a set of more actions has several ints."""


def ints_for(actions: int) -> int:
    """Return W, the number of ints that a set of this many actions needs."""
    return -(-actions // SET_SIZE)


@rule
def write_set_of_mask(mask: npt.NDArray[np.int8], members: Sets) -> None:
    """Write the set of the actions that are not 0 in a mask."""
    for number in range(len(members)):
        first = number * SET_SIZE
        size = min(SET_SIZE, len(mask) - first)
        last, found = size - _PIECE, 0
        if last >= 0:
            for start in (0, _PIECE, 2 * _PIECE):  # the last two may overlap
                at = min(start, last)
                found |= set_of_numbers(mask, first + at, _PIECE) << at
        else:
            for at in range(size):
                found |= int(mask[first + at] != 0) << at
        members[number] = found


@rule
def is_in_set(members: Sets, action: int) -> bool:
    """Return True if the action (any int) is in the set."""
    if action < 0 or action >= len(members) * SET_SIZE:
        return False
    return int(members[action // SET_SIZE]) >> (action % SET_SIZE) & 1 == 1


@rule
def are_in_sets(sets: Sets, actions: npt.NDArray[np.int64], first: int, last: int) -> bool:
    """Return True if the actions (any ints) from `first` to `last` - 1 are in their sets, of one int each.

    Without a branch, so the loop is vectorized.
    """
    wrong = 0
    for game in range(first, last):
        action = int(actions[game])
        is_in = int(sets[game, 0]) >> (action & 63) & 1
        wrong |= (action >> 6) | (is_in ^ 1)  # the first part is 0 from 0 to 63
    return wrong == 0


@rule
def size_of_set(members: Sets) -> int:
    """Return the number of actions in the set."""
    size = 0
    for number in range(len(members)):
        size += size_of(int(members[number]))
    return size


@rule
def member_of_set(members: Sets, index: int) -> int:
    """Return the member with `index` smaller ones; the set must have more than `index` members."""
    number = 0
    while index >= size_of(int(members[number])):
        index -= size_of(int(members[number]))
        number += 1
    return number * SET_SIZE + member_of(int(members[number]), index)


@rule
def member_of(left: int, index: int) -> int:
    """Return the member with `index` smaller ones of the set in one int, as `member_of_set`.

    Without a branch, so a loop over it is vectorized.
    """
    action = 0
    for width in (32, 16, 8, 4, 2, 1):
        below = size_of(left & ((1 << width) - 1))
        is_above = int(index >= below)
        index -= below * is_above
        action += width * is_above
        left >>= width * is_above
    return action
