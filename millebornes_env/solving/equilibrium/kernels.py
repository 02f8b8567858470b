"""The compiled part of `equilibrium`: find a seat's information set in the solved game, and choose."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.millebornes.observation_reader import Starts, read_observation
from millebornes_env.agents.protocol import Observations
from millebornes_env.engine.numba.compiling import kernel, rule
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.state import CLAIM, ROUND_OVER, State, StateArray
from millebornes_env.solving.deck import Deck
from millebornes_env.solving.nodes import FIRST_CHAIN, code_of, copies_in, hash_history, index_of_key, mix
from millebornes_env.solving.walk import action_of, choice_of

Int8Array = npt.NDArray[np.int8]
Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

WORD_BITS: Final = 32

# What is kept for each slot.
CHAIN: Final = 0  # a hash of what was public whenever the seat was asked
SHOWN: Final = 1  # cards that had been shown when it was asked last
PILE: Final = 2  # cards of the draw pile then
ROLE: Final = 3  # the seat in the solved game, and one more; 0: nothing yet
MEMORY: Final = 4


class SeatPolicy(NamedTuple):
    """A seat's policy, found by the keys of its information sets; sorted by them."""

    keys: Int64Array  # [I]
    choices: Int64Array  # [I] sets of bits
    firsts: Int64Array  # [I] where in `weights` those of the choices begin
    weights: Float64Array  # [size]


class Context(NamedTuple):
    """The arguments of the kernel other than the rows: deck, policies and scratch arrays."""

    deck: Deck
    first: SeatPolicy  # of the seat that begins
    second: SeatPolicy
    scratch: StateArray  # [1]
    mask: Int8Array  # [MASK_SIZE]


@rule
def update_memory(state: State, deck: Deck, memory: Int64Array) -> int:
    """Update the memory with the public state; return the key of the seat's information set."""
    hidden = code_of(state.hidden, deck)
    shown = 0
    for kind in range(len(deck.cards)):
        shown += deck.copies[kind] - copies_in(hidden, kind)
    pile = int(state.draw_pile)
    if memory[ROLE] == 0 or shown <= memory[SHOWN] or pile > memory[PILE]:  # a new round
        role = 0 if shown == 0 else 1
        memory[CHAIN] = FIRST_CHAIN + role
        memory[ROLE] = role + 1
        memory[SHOWN] = -1
    memory[PILE] = pile
    chain = hash_history(memory[CHAIN], state, deck, 0)
    if int(state.phase) != CLAIM:
        memory[CHAIN] = chain
        memory[SHOWN] = shown
    return mix(chain, code_of(state.hand[0], deck))


@rule
def sample_choice(policy: SeatPolicy, index: int, draw: int) -> int:
    """Sample one of the choices by its probability; `draw` is a random word."""
    left = draw / float(1 << WORD_BITS)
    result, sequence = -1, policy.firsts[index]
    for choice in range(WORD_BITS):
        if (policy.choices[index] >> choice) & 1:
            weight = policy.weights[sequence]
            sequence += 1
            if weight > 0.0:
                result = choice
                if left < weight:
                    return result
                left -= weight
    return result


@rule
def has_choice(mask: Int8Array) -> bool:
    """Return True if several actions are legal."""
    count = 0
    for action in range(len(mask)):
        count += mask[action]
    return count > 1


@rule
def legal_action(mask: Int8Array, draw: int) -> int:
    """Return a random legal action; `draw` is a random word."""
    count = 0
    for action in range(len(mask)):
        count += mask[action]
    number = (draw * count) >> WORD_BITS
    for action in range(len(mask)):
        number -= mask[action]
        if number < 0:
            return action
    return -1


@kernel
def choose_from_rows(
    rows: Observations,
    starts: Starts,
    rules: StateArray,
    context: Context,
    slots: Int64Array,
    draws: Int64Array,
    memories: Int64Array,
    actions: Int64Array,
) -> int:
    """Choose an action in each row; return the number of rows that the policy does not cover."""
    num_unknown = 0
    for at in range(len(rows)):
        state, memory, mask, deck = context.scratch[0], memories[slots[at]], context.mask, context.deck
        read_observation(rows[at], starts, rules[0], state)
        if int(state.phase) == ROUND_OVER or int(state.seat) != 0:
            continue
        key = update_memory(state, deck, memory)
        policy = context.first if memory[ROLE] == 1 else context.second
        index = index_of_key(policy.keys, key)
        if index >= 0:
            choice = sample_choice(policy, index, draws[at])
            actions[at] = action_of(deck, int(state.phase), choice)
        else:
            write_mask(state, rules[0], mask)
            actions[at] = legal_action(mask, draws[at])
            num_unknown += 1 if has_choice(mask) else 0
        if int(state.phase) != CLAIM:
            memory[CHAIN] = mix(memory[CHAIN], choice_of(deck, actions[at]))
    return num_unknown
