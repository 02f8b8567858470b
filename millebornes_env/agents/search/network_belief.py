"""A belief that a network gives out: it has learned what all plays of a round say about the other hand."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from millebornes_env.agents.protocol import Table
from millebornes_env.agents.search.beliefs import Known, Weighed
from millebornes_env.agents.search.hand_files import hand_network_for
from millebornes_env.agents.search.hand_inputs import EVENT_SIZE, NOW_SIZE, show_events, show_now
from millebornes_env.agents.search.hand_network import (
    Float32Array,
    HandNetwork,
    Posterior,
    conclude,
    draw,
    new_posterior,
    read_events,
    weigh,
)
from millebornes_env.agents.search.history import Reading, Window
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import Int8Array, State, new_states

ALL_WINDOWS: Final = 1 << 10
"""Own decisions that a seat remembers: all of the round."""

_OWN: Final = 0  # who asks is seat 0 in `Known`
_OTHER: Final = 1


class Read(NamedTuple):
    """Windows that were read, the newest first, and what the network remembers of them, float32[H]."""

    windows: tuple[Window, ...]
    memory: Float32Array


class NetworkBelief:
    """A belief about the other hand from a network, for two players.

    Nothing is kept from round to round: the network infers the kind of opponent from the plays of the round.

    Attributes:
        window: number of own decisions back to which plays are read: all of the round.
        network: the weights.
    """

    window = ALL_WINDOWS

    def __init__(self, table: Table, folder: str = "") -> None:
        """Read the network.

        Args:
            table: the table.
            folder: where the network stands; "": the one that comes with the project.

        Raises:
            UnknownAgentError: there is none for the table.
            MissingExtraError: safetensors is not installed.
        """
        self.network = hand_network_for(table, folder)
        self._read: dict[int, Read] = {}

    def posterior(self, known: Known) -> Posterior:
        """Return the distribution over the other's hands."""
        return posterior_of(self.network, known.root, known.rules, _OWN, self._memory_of(known))

    def weigh(self, known: Known, hands: Int8Array, key: tuple[int, int], counted: int = 0) -> Weighed:
        """See `Belief.weigh`; the weights are exact, their mean over all redeals is 1."""
        weights = np.ones(len(hands), np.float64)
        weigh(self.posterior(known), hands, _OTHER, weights)
        return Weighed(weights, len(known.windows), np.zeros(0))

    def draw(self, known: Known, count: int, key: tuple[int, int]) -> tuple[Int8Array, Weighed]:
        """See `DrawingBelief.draw`; all hands count alike."""
        hands = np.zeros((count, 2, NUM_CARD_TYPES), np.int8)
        draw(self.posterior(known), *key, _OTHER, hands)
        return hands, Weighed(np.ones(count), len(known.windows), np.zeros(0))

    def learn(self, slot: int, weighed: Weighed) -> None:
        """There is nothing to learn."""

    def forget(self) -> None:
        """Other matches begin."""
        self._read = {}

    def _memory_of(self, known: Known) -> Float32Array:
        """Return the hidden state of the network after all windows.

        The state of the slot's last decision is cached: then only the newest window is read.
        """
        before = self._read.get(known.slot)
        if before is None or not _same(before.windows, known.windows[1:]):
            memory = np.zeros(self.network.kept.shape[1], np.float32)
            for window in reversed(known.windows[1:]):
                _read_window(self.network, window, known.rules, memory)
        else:
            memory = before.memory.copy()
        if known.windows:
            _read_window(self.network, known.windows[0], known.rules, memory)
        self._read[known.slot] = Read(known.windows, memory)
        return memory


def _same(one: tuple[Window, ...], other: tuple[Window, ...]) -> bool:
    """Return True if the windows are equal; most of a seat's memory is the same object."""
    return len(one) == len(other) and all(map(_is_same, one, other))


def _is_same(one: Window, other: Window) -> bool:
    return one is other or (len(one) == len(other) and all(map(_tells_same, one, other)))


def _tells_same(one: Reading, other: Reading) -> bool:
    return bool(np.array_equal(one.actions, other.actions)) and one.states.tobytes() == other.states.tobytes()


def _read_window(network: HandNetwork, window: Window, rules: RulesRecord, memory: Float32Array) -> None:
    """Let the network read a window; of several readings, which are rare with two players, the first one."""
    reading = window[0]
    if len(reading.actions) == 0:
        return
    events = np.zeros((len(reading.actions), EVENT_SIZE), np.int8)
    show_events(reading.states, reading.actions, rules, for_kernels(new_states(1)), events)
    read_events(network, events, memory)


def posterior_of(
    network: HandNetwork, root: State, rules: RulesRecord, viewer: int, memory: Float32Array
) -> Posterior:
    """Return the distribution over the other's hands, as a seat sees it.

    Args:
        network: the weights.
        root: the game, not modified; hidden hands and the draw pile are not read.
        rules: rules of the table.
        viewer: the seat.
        memory: float32[H], hidden state of the network after the other's plays.
    """
    now, unseen = np.zeros(NOW_SIZE, np.int8), np.zeros(NUM_CARD_TYPES, np.int64)
    size = show_now(root, rules, viewer, for_kernels(new_states(1)), now, unseen)
    outputs = np.zeros(len(network.out_bias), np.float32)
    conclude(network, memory, now, outputs)
    return new_posterior(outputs, unseen, int(size))
