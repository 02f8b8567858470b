"""The data of a walk: hands as codes, the nodes on the path, result buffers, keys of information sets."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.cards import DRIVING_ACE, NUM_SAFETIES, SPEED_LIMIT
from millebornes_env.games.millebornes.observation import battle_top_code
from millebornes_env.games.millebornes.state import NO_TEAM, Int8Array, State, StateArray
from millebornes_env.solving.deck import BITS, Deck

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

PLAYERS: Final = 2
MASK_SIZE: Final = num_actions(PLAYERS)
"""Size of a mask: `write_mask` fills the hazards of all opponents."""
FIRST_CHAIN: Final = 1
"""Initial hash of seat 0's public history; seat 1 starts with the next number."""
_NIBBLE: Final = (1 << BITS) - 1
_LANE: Final = 31
_PRIMES: Final = (2_147_483_629, 2_147_483_587)
_FACTORS: Final = (1_103_515_245, 1_664_525_003)
_HIGH_BITS: Final = sum(1 << (BITS * kind + BITS - 1) for kind in range(15))

# Indices into `TreeBuffers.sizes`; a count kept per seat has two consecutive entries.
SEQUENCES: Final = 0
OPERATIONS: Final = 2
SOURCES: Final = 4
ENDS: Final = 6
FRONTIER: Final = 7
# Counts of the game tree, apart from the lengths of arrays.
PLAY_NODES: Final = 8
CHANCE_NODES: Final = 9
END_NODES: Final = 10
PUBLIC_NODES: Final = 11
INFOSETS: Final = 12
MOST_ACTIONS: Final = 14
LOWEST: Final = 15
HIGHEST: Final = 16
NUM_SIZES: Final = 17

# Return codes of `grow`.
DONE: Final = 0
FULL: Final = 1


class Frames(NamedTuple):
    """The nodes from the root to the current one; D deep, H hands."""

    states: StateArray  # [D] public states
    codes: Int64Array  # [D, 2, H] hands
    sequences: Int64Array  # [D, 2, H] sequences that lead to the hands
    counts: Int64Array  # [D, 2] number of hands
    choices: Int64Array  # [D, H] choices of the deciding seat with each hand: a set of bits
    firsts: Int64Array  # [D, H] sequence of the first choice; the other choices follow
    next_choice: Int64Array  # [D] next choice to walk
    mask: Int8Array  # [MASK_SIZE]
    chains: Int64Array  # [D, 2] hash of each seat's public history
    drawn: Int64Array  # [3, H] scratch: hands after a draw, their sequences, number of hands they come from
    limit: int  # depth at which the walk stops, or -1


class TreeBuffers(NamedTuple):
    """The results of the walk; flat arrays, filled up to `sizes`."""

    heads: Int32Array  # [2, ...] decision: its sequence; merge: the resulting sequence
    firsts: Int32Array  # [2, ...] decision: sequence of its first choice; merge: index of its first source
    kinds: Int32Array  # [2, ...] decision: its choices, a set of bits; merge: minus the number of sources
    keys: Int64Array  # [2, ...] decision: hash of public history and hand; or empty
    sources: Int32Array  # [2, ...] merged sequences
    end_sequences: Int32Array  # [2, ...]
    end_values: Float64Array  # [...] payoff of seat 0, times the probability of the cards
    end_chances: Float64Array  # [...] that probability
    frontier: StateArray  # [...] records of the nodes at which the walk stopped
    frontier_codes: Int64Array  # [..., 2, H]
    frontier_sequences: Int64Array  # [..., 2, H]
    frontier_counts: Int64Array  # [..., 2]
    decision_states: StateArray  # [...] the game as the deciding seat knows it, for each decision; or empty
    decision_seats: Int32Array  # [...]
    decision_operations: Int32Array  # [...] index among the seat's operations
    sizes: Int64Array  # [NUM_SIZES + 1], the last one of `decision_states`


DECISIONS: Final = NUM_SIZES


# Hands ------------------------------------------------------------------------------------------------------


@rule
def copies_in(code: int, kind: int) -> int:
    """Count the cards of a type in a hand."""
    return (code >> (BITS * kind)) & _NIBBLE


@rule
def fits(code: int, hidden: int) -> bool:
    """Return True if a hand can be made of the hidden cards."""
    return (((hidden | _HIGH_BITS) - code) & _HIGH_BITS) == _HIGH_BITS


@rule
def num_choices(choices: int) -> int:
    """Count the choices in the set."""
    count = 0
    while choices != 0:
        choices &= choices - 1
        count += 1
    return count


@rule
def code_of(cards: Int8Array, deck: Deck) -> int:
    """Return the code of a hand, given as counts by card id."""
    code = 0
    for kind in range(len(deck.cards)):
        code |= int(cards[deck.cards[kind]]) << (BITS * kind)
    return code


@rule
def write_hand(state: State, deck: Deck, seat: int, code: int) -> None:
    """Write a hand into the record; counts of cards outside the deck stay unchanged."""
    for kind in range(len(deck.cards)):
        state.hand[seat, deck.cards[kind]] = copies_in(code, kind)


@rule
def chance_of(deck: Deck, left: int) -> float:
    """Return the probability of one order of drawn card types that leaves the cards `left`."""
    count, ways = 0, 1.0
    for kind in range(len(deck.cards)):
        copies = copies_in(left, kind)
        count += copies
        ways *= deck.ways[kind, copies]
    return float(ways * deck.pile[count])


@rule
def count_pairs(frames: Frames, depth: int, hidden: int) -> int:
    """Count the possible pairs of hands at a node."""
    count = 0
    for one in range(frames.counts[depth, 0]):
        left = hidden - frames.codes[depth, 0, one]
        for other in range(frames.counts[depth, 1]):
            if fits(frames.codes[depth, 1, other], left):
                count += 1
    return count


# Keys of information sets -----------------------------------------------------------------------------------


@rule
def mix(key: int, number: int) -> int:
    """Mix a nonnegative number into a 62-bit hash."""
    high = ((key >> _LANE) * _FACTORS[0] + number % _PRIMES[0]) % _PRIMES[0]
    low = ((key & ((1 << _LANE) - 1)) * _FACTORS[1] + number % _PRIMES[1]) % _PRIMES[1]
    return (high << _LANE) | low


@rule
def pack_team(state: State, team: int) -> int:
    """Return the public state of a team, packed into an integer."""
    result = int(state.km[team]) // 25
    result = (result << 5) | battle_top_code(int(state.battle[team]))
    result = (result << 1) | (1 if int(state.speed[team]) == SPEED_LIMIT else 0)
    result = (result << 4) | int(state.hand_count[team])
    for safety in range(NUM_SAFETIES):
        result = (result << 1) | (1 if int(state.tableau[team, DRIVING_ACE + safety]) > 0 else 0)
        result = (result << 1) | int(state.coup_fourre[team, safety])
    return result


@rule
def hash_history(chain: int, state: State, deck: Deck, seat: int) -> int:
    """Extend the hash of a seat's public history by the public state; hidden data is not read."""
    team = seat
    caller = int(state.extension_team)
    table = (0 if caller == NO_TEAM else 1 if caller == team else 2) << 2 | int(state.phase)
    table = (table << 5 | (int(state.pending_hazard) + 1)) << 7 | int(state.draw_pile)
    chain = mix(chain, code_of(state.hidden, deck))
    chain = mix(chain, code_of(state.discard_pile, deck))
    chain = mix(chain, pack_team(state, team))
    chain = mix(chain, pack_team(state, 1 - team))
    return mix(chain, table)


@rule
def index_of_key(keys: Int64Array, key: int) -> int:
    """Return the index of a key in sorted keys, or -1."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1
