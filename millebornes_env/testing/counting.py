"""Perft: the number of action sequences from a position, to compare two rulebooks.

Chess programs are compared in the same way: a wrong legal action or a wrong result changes the number a few
actions later.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import for_kernels, kernel
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.rules import Rules, RulesRecord, compiled_rules
from millebornes_env.games.millebornes.state import STATE, StateArray, new_states
from millebornes_env.games.millebornes.turn import step

CHUNK: Final = 1024
"""Number of positions expanded at once: memory grows with it and with the depth, not with the count."""


def count_sequences(states: StateArray, rules: Rules, depth: int) -> int:
    """Count the sequences of exactly `depth` legal actions.

    The draw pile of each state is fixed, so nothing is random. A claim, a pass and an extension are actions
    like any other. A finished round has no continuation, so a sequence that ends it early does not count.

    Args:
        states: `STATE[N]`, the positions to start from; they are not changed.
        rules: rules of their table.
        depth: the length of the sequences; there is one of length 0 from each state.

    Returns:
        The number of sequences from all states together.
    """
    mask = np.zeros(num_actions(rules.teams), np.int8)
    return _count(for_kernels(states.view(STATE)), compiled_rules(rules), depth, mask)


def _count(states: StateArray, rules: RulesRecord, depth: int, mask: npt.NDArray[np.int8]) -> int:
    if depth == 0:
        return len(states)
    if depth == 1:
        return count_actions(states, rules, mask)
    total = 0
    for first in range(0, len(states), CHUNK):
        chunk = states[first : first + CHUNK]
        children = for_kernels(new_states(count_actions(chunk, rules, mask)))
        expand(chunk, rules, mask, children)
        total += _count(children, rules, depth - 1, mask)
    return total


@kernel
def count_actions(states: StateArray, rules: RulesRecord, mask: npt.NDArray[np.int8]) -> int:
    """Count the legal actions of all states together; `mask` is int8[num_actions], overwritten."""
    count = 0
    for game in range(len(states)):
        write_mask(states[game], rules, mask)
        for action in range(len(mask)):
            count += int(mask[action])
    return count


@kernel
def expand(states: StateArray, rules: RulesRecord, mask: npt.NDArray[np.int8], children: StateArray) -> None:
    """Write the successor of each state for each legal action to `children`, one after the other."""
    index = 0
    for game in range(len(states)):
        write_mask(states[game], rules, mask)
        for action in range(len(mask)):
            if mask[action] == 1:
                children[index] = states[game]
                step(children[index], rules, action)
                index += 1
