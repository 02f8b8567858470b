"""Beliefs about hidden hands: hands that the others may hold, drawn for search as often as they are probable.

Without a belief, search redeals uniformly. `NetworkBelief` is a network that has learned what all plays of a
round say about the other hand. Any other class with the attributes of `Belief` can be set as
`SearchAgent.belief`; it need not be compiled.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

import numpy as np

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.protocol import Table
from millebornes_env.agents.search.hand_files import hand_network_for, is_hand_network
from millebornes_env.agents.search.hand_inputs import EVENT_SIZE, NOW_SIZE, show_events, show_now
from millebornes_env.agents.search.hand_network import (
    Float32Array,
    HandNetwork,
    Posterior,
    compute_outputs,
    new_posterior,
    read_events,
    sample_hands,
    weigh,
)
from millebornes_env.agents.search.hidden_cards import Float64Array, no_hands
from millebornes_env.agents.search.history import Interpretation, PlayWindow
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.errors import AgentError, shown
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import Int8Array, State, new_states

UNIFORM: Final = "uniform"
NETWORK: Final = "network"
BELIEFS: Final = (UNIFORM, NETWORK)
"""Values of search's option `belief`, besides the folder of a network."""

WHOLE_ROUND: Final = 1 << 10
"""A window of so many own decisions is the whole round."""

_OTHER: Final = 1  # the acting seat is seat 0 in `KnownCards`


class KnownCards(NamedTuple):
    """The knowledge of an acting seat, which is seat 0 here. It contains nothing hidden.

    Attributes:
        rules: rules of the table.
        root: the game as the seat sees it; hidden cards lie in an arbitrary order.
        windows: plays of the others between own decisions, the newest window first.
        slot: slot id of the seat.
    """

    rules: RulesRecord
    root: State
    windows: tuple[PlayWindow, ...]
    slot: int


class Belief(Protocol):
    """Draws hands of the other seats. One belief serves all slots, from several threads at once.

    Attributes:
        window: number of own decisions of the round that the seat must remember for it.
    """

    window: int

    def sample(self, known: KnownCards, count: int, key: tuple[int, int]) -> Int8Array:
        """Draw hands that the others may hold, each as often as it is probable.

        Args:
            known: the knowledge of the seat.
            count: number of hands.
            key: key of the random numbers.

        Returns:
            int8[count, S, NUM_CARD_TYPES], seats counted from the own one; its own hand is ignored. An empty
            array makes redeals uniform.
        """
        ...

    def forget(self) -> None:
        """Start new matches in all slots."""
        ...


def checked_hands(belief: Belief, hands: object, known: KnownCards) -> Int8Array:
    """Return the hands that a belief has drawn, int8[C, S, NUM_CARD_TYPES], as compiled search reads them.

    Raises:
        AgentError: they have another shape or type, or a hand has other cards than are hidden, or too many.
    """
    players, name = int(known.rules.players), type(belief).__name__
    drawn = hands if isinstance(hands, np.ndarray) and hands.dtype.kind in "iu" else np.zeros(())
    if drawn.ndim == 3 and len(drawn) == 0:
        return no_hands()
    if drawn.shape[1:] != (players, NUM_CARD_TYPES):
        raise AgentError(
            f"the belief {name!r} drew {shown(hands)}; sample must return int8[C, {players}, "
            f"{NUM_CARD_TYPES}], or an empty array of three dimensions"
        )
    sizes = np.asarray(known.root.hand_count)[1:players]
    others = drawn[:, 1:]
    unseen = np.array(known.root.hidden, np.int64) - known.root.hand[0]
    wrong = (others < 0).any(axis=(1, 2)) | (others.sum(axis=2) != sizes).any(axis=1)
    wrong |= (others.sum(axis=1) > unseen).any(axis=1)
    if wrong.any():
        raise AgentError(
            f"the belief {name!r} drew hands that cannot be: hands[{wrong.argmax()}, 1:] must hold "
            f"{sizes.tolist()} of the cards that the seat does not see"
        )
    return np.ascontiguousarray(drawn, np.int8)


class NetworkBelief:
    """A belief about the other hand from a network, for two players.

    Nothing is kept from round to round: the network infers the kind of opponent from the plays of the round.

    Attributes:
        window: number of own decisions back to which plays are read: all of the round.
        network: the weights.
    """

    window = WHOLE_ROUND

    def __init__(self, table: Table, folder: str = "") -> None:
        """Load the network in a folder, or the one that ships with the package.

        Raises:
            AgentError: no network fits the table.
            MissingExtraError: safetensors is not installed.
        """
        self.network = hand_network_for(table, folder)
        self._read: dict[
            int, tuple[tuple[PlayWindow, ...], Float32Array]
        ] = {}  # by slot: windows, hidden state

    def posterior(self, known: KnownCards) -> Posterior:
        """Return the distribution over the other's hands."""
        now, unseen = np.zeros(NOW_SIZE, np.int8), np.zeros(NUM_CARD_TYPES, np.int64)
        size = show_now(known.root, known.rules, 0, for_kernels(new_states(1)), now, unseen)
        outputs = np.zeros(len(self.network.out_bias), np.float32)
        compute_outputs(self.network, self._memory_of(known), now, outputs)
        return new_posterior(outputs, unseen, int(size))

    def weigh(self, known: KnownCards, hands: Int8Array) -> Float64Array:
        """Return the probability of hands relative to uniform redeals.

        Args:
            known: the knowledge of the seat.
            hands: int8[C, S, NUM_CARD_TYPES], seats counted from the own one.

        Returns:
            float64[C]; the exact mean over all redeals is 1.
        """
        weights = np.ones(len(hands), np.float64)
        weigh(self.posterior(known), hands, _OTHER, weights)
        return weights

    def sample(self, known: KnownCards, count: int, key: tuple[int, int]) -> Int8Array:
        """Draw hands; see `Belief.sample`."""
        hands = np.zeros((count, 2, NUM_CARD_TYPES), np.int8)
        sample_hands(self.posterior(known), *key, _OTHER, hands)
        return hands

    def forget(self) -> None:
        """Start new matches in all slots."""
        self._read = {}

    def _memory_of(self, known: KnownCards) -> Float32Array:
        """Return the hidden state of the network after all windows.

        The state of the slot's last decision is cached: then only the newest window is read.
        """
        windows, memory = self._read.get(known.slot, ((), np.zeros(0, np.float32)))
        if known.slot in self._read and _same(windows, known.windows[1:]):
            memory = memory.copy()
        else:
            memory = np.zeros(self.network.kept.shape[1], np.float32)
            for window in reversed(known.windows[1:]):
                _read_window(self.network, window, known.rules, memory)
        if known.windows:
            _read_window(self.network, known.windows[0], known.rules, memory)
        self._read[known.slot] = known.windows, memory
        return memory


def _same(one: tuple[PlayWindow, ...], other: tuple[PlayWindow, ...]) -> bool:
    """Return True if the windows are equal; most of a seat's memory is the same object."""
    return len(one) == len(other) and all(map(_is_same, one, other))


def _is_same(one: PlayWindow, other: PlayWindow) -> bool:
    return one is other or (len(one) == len(other) and all(map(_is_same_interpretation, one, other)))


def _is_same_interpretation(one: Interpretation, other: Interpretation) -> bool:
    return bool(np.array_equal(one.actions, other.actions)) and one.states.tobytes() == other.states.tobytes()


def _read_window(network: HandNetwork, window: PlayWindow, rules: RulesRecord, memory: Float32Array) -> None:
    """Feed a window to the network: its first interpretation, as more than one is rare for two players."""
    interpretation = window[0]
    if len(interpretation.actions) == 0:
        return
    events = np.zeros((len(interpretation.actions), EVENT_SIZE), np.int8)
    show_events(interpretation.states, interpretation.actions, rules, for_kernels(new_states(1)), events)
    read_events(network, events, memory)


def uniform_chances(unseen: Int64Array, size: int) -> Float64Array:
    """Return the probability that a hand holds each card at least once, under uniform redeals.

    Args:
        unseen: int64[NUM_CARD_TYPES], unseen copies of each card.
        size: number of cards in the hand.

    Returns:
        float64[NUM_CARD_TYPES].
    """
    drawn = np.arange(size)
    without = (unseen.sum() - unseen[:, None] - drawn).clip(0) / (unseen.sum() - drawn)
    chances: Float64Array = 1.0 - without.prod(axis=1)
    return chances


def belief_named(name: str, table: Table) -> Belief | None:
    """Make the belief of search's option `belief`, one of BELIEFS or a folder; None for uniform redeals.

    Raises:
        AgentError: there is no such belief; no network fits the table, or it is damaged.
    """
    if name not in BELIEFS and not is_hand_network(name):
        raise AgentError(
            f"the option belief is {shown(name)}; it must be {', '.join(map(repr, BELIEFS))}, or the "
            "folder of a network written by `python -m train.tools.belief`"
        )
    if name == UNIFORM:
        return None
    return NetworkBelief(table, "" if name == NETWORK else name)
