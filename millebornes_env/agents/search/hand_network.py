"""A network that says how probable each hand of the other player is, and hands that are drawn as it says.

It reads the other's plays of the round one after the other (a gated recurrent unit), then the table of now,
and gives out a mixture of K components. In each, every number of cards of a type has a factor, and a hand is
as probable as the product of its factors times the number of ways to deal it. So all hands can be summed up
exactly, card type by card type, and hands be drawn exactly: the weight of one is known whatever others are
looked at, and no draw is in vain.
"""

from __future__ import annotations

from math import exp, tanh
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.search.hand_inputs import NOW_SCALE
from millebornes_env.agents.search.hidden_cards import Float64Array
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.numba.compiling import float_kernel, float_rule, kernel, rule, stack_array
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.millebornes.state import Int8Array

Float32Array = npt.NDArray[np.float32]

LEVELS: Final = 3
"""Numbers of cards of a type that have a factor of their own: 1, 2, 3 or more; none has the factor 1."""
OUTPUTS: Final = 1 + NUM_CARD_TYPES * LEVELS
"""Of a component: how probable it is, and its factors (logarithms)."""
MOST_LOG: Final = 8.0
"""A factor is between e to minus this and e to this."""
MAX_UNITS: Final = 256
"""Of each layer; more could not be played."""
MAX_COMPONENTS: Final = 8
MAX_HAND: Final = 12
"""Cards of a hand."""

_ZERO: Final = np.float32(0.0)
_ONE: Final = np.float32(1.0)
_CARD_TAG: Final = 0x63617264
_WORDS: Final = 4294967296.0  # how many random words there are


class HandNetwork(NamedTuple):
    """The weights; E units show a play, H remember, U compute_outputs, K components."""

    event: Float32Array  # [EVENT_SIZE, E]
    event_bias: Float32Array  # [E]
    into: Float32Array  # [3 * H, E], reset, update and new, as `torch.nn.GRU` has them
    into_bias: Float32Array  # [3 * H]
    kept: Float32Array  # [3 * H, H]
    kept_bias: Float32Array  # [3 * H]
    hidden: Float32Array  # [U, H], of what is remembered
    now: Float32Array  # [NOW_SIZE, U]
    hidden_bias: Float32Array  # [U]
    out: Float32Array  # [K * OUTPUTS, U]
    out_bias: Float32Array  # [K * OUTPUTS]


class Posterior(NamedTuple):
    """Distribution over hands of `size` cards out of the unseen ones: a mixture of K components."""

    unseen: Int64Array  # [NUM_CARD_TYPES]
    size: int
    shares: Float64Array  # [K], how probable each component is; their sum is 1
    logs: Float64Array  # [K, NUM_CARD_TYPES, LEVELS + 1], logarithms of the factors
    sums: Float64Array  # [K, NUM_CARD_TYPES + 1, size + 1], over ways to deal so many cards of a type and on
    ways: float  # to deal a hand


# The network ------------------------------------------------------------------------------------------------


@float_kernel
def read_events(network: HandNetwork, events: Int8Array, memory: Float32Array) -> None:
    """Read plays of the other one, int8[N, EVENT_SIZE], the oldest first.

    `memory`, float32[H], is what is remembered of those before, 0 at first; it is overwritten.
    """
    embedded = stack_array(np.float32, MAX_UNITS)
    updated = stack_array(np.float32, MAX_UNITS)
    for number in range(len(events)):
        read_event(network, events[number], embedded, updated, memory)


@float_kernel
def compute_outputs(
    network: HandNetwork, memory: Float32Array, now: Int8Array, outputs: Float32Array
) -> None:
    """Compute the outputs of the network, float32[K * OUTPUTS].

    `memory` is the hidden state after the other's plays, float32[H], `now` the current table, int8[NOW_SIZE].
    """
    units, width = network.hidden.shape
    hidden = stack_array(np.float32, MAX_UNITS)
    for unit in range(units):
        hidden[unit] = dot(network.hidden[unit], memory, width) + network.hidden_bias[unit]
    for place in range(len(now)):
        if now[place] != 0:
            row, number = network.now[place], np.float32(NOW_SCALE) * np.float32(now[place])
            for unit in range(units):
                hidden[unit] += number * row[unit]
    for unit in range(units):
        hidden[unit] = max(hidden[unit], _ZERO)
    for place in range(len(outputs)):
        outputs[place] = dot(network.out[place], hidden, units) + network.out_bias[place]


@float_rule
def read_event(
    network: HandNetwork,
    event: Int8Array,
    embedded: Float32Array,
    updated: Float32Array,
    memory: Float32Array,
) -> None:
    """Read one play; `embedded` and `updated` are scratch, float32[MAX_UNITS]."""
    units, width = network.event.shape[1], network.kept.shape[1]
    for unit in range(units):
        embedded[unit] = network.event_bias[unit]
    for place in range(len(event)):
        if event[place] != 0:
            row = network.event[place]
            for unit in range(units):
                embedded[unit] += row[unit]
    for unit in range(units):
        embedded[unit] = max(embedded[unit], _ZERO)
    for unit in range(width):
        reset = sigmoid(gate(network, embedded, memory, unit))
        update = sigmoid(gate(network, embedded, memory, width + unit))
        place = 2 * width + unit
        kept = dot(network.kept[place], memory, width) + network.kept_bias[place]
        new = dot(network.into[place], embedded, units) + network.into_bias[place] + reset * kept
        updated[unit] = (_ONE - update) * np.float32(tanh(new)) + update * memory[unit]
    for unit in range(width):
        memory[unit] = updated[unit]


@float_rule
def gate(network: HandNetwork, embedded: Float32Array, memory: Float32Array, place: int) -> np.float32:
    """A gate before its activation."""
    biases = network.into_bias[place] + network.kept_bias[place]
    into = dot(network.into[place], embedded, network.into.shape[1])
    total: np.float32 = into + dot(network.kept[place], memory, network.kept.shape[1]) + biases
    return total


@float_rule
def dot(weights: Float32Array, units: Float32Array, count: int) -> np.float32:
    """The sum of the products."""
    total: np.float32 = _ZERO
    for unit in range(count):
        total += weights[unit] * units[unit]
    return total


@float_rule
def sigmoid(value: np.float32) -> np.float32:
    """The logistic function."""
    return np.float32(0.5) + np.float32(0.5) * np.float32(tanh(np.float32(0.5) * value))


# How probable hands are -------------------------------------------------------------------------------------


def new_posterior(outputs: Float32Array, unseen: Int64Array, size: int) -> Posterior:
    """Return the distribution of hands of `size` cards from a network's outputs, float32[K * OUTPUTS]."""
    components = len(outputs) // OUTPUTS
    shares = np.zeros(components)
    logs = np.zeros((components, NUM_CARD_TYPES, LEVELS + 1))
    sums = np.zeros((components, NUM_CARD_TYPES + 1, size + 1))
    ways = normalize(outputs, unseen, shares, logs, sums)
    return Posterior(unseen, size, shares, logs, sums, ways)


@kernel
def normalize(
    outputs: Float32Array, unseen: Int64Array, shares: Float64Array, logs: Float64Array, sums: Float64Array
) -> float:
    """Read the outputs, and sum up all hands of each component; return the number of ways to deal a hand.

    `shares`, `logs` and `sums` are those of a `Posterior`, overwritten.
    """
    components, size = len(shares), sums.shape[2] - 1
    highest, whole = float(outputs[0]), 0.0
    for component in range(components):
        highest = max(highest, float(outputs[component * OUTPUTS]))
    for component in range(components):
        at = component * OUTPUTS
        shares[component] = exp(float(outputs[at]) - highest)
        whole += shares[component]
        for card in range(NUM_CARD_TYPES):
            logs[component, card, 0] = 0.0
            for level in range(LEVELS):
                raw = float(outputs[at + 1 + card * LEVELS + level])
                logs[component, card, level + 1] = MOST_LOG * tanh(raw / MOST_LOG)
        sum_component(unseen, logs[component], size, sums[component])
    cards = 0
    for component in range(components):
        shares[component] /= whole
    for card in range(NUM_CARD_TYPES):
        cards += int(unseen[card])
    return ways_to_take(cards, size)


@rule
def sum_component(unseen: Int64Array, logs: Float64Array, size: int, sums: Float64Array) -> None:
    """Sum up all hands of one component, from the last type of cards to the first."""
    for count in range(size + 1):
        sums[NUM_CARD_TYPES, count] = 1.0 if count == 0 else 0.0
    for card in range(NUM_CARD_TYPES - 1, -1, -1):
        for count in range(size + 1):
            sums[card, count] = 0.0
        ways = 1.0
        for held in range(min(int(unseen[card]), size) + 1):
            if held > 0:
                ways = ways * (int(unseen[card]) - held + 1) / held
            factor = ways * exp(logs[card, min(held, LEVELS)])
            for count in range(held, size + 1):
                sums[card, count] += factor * sums[card + 1, count - held]


@rule
def ways_to_take(cards: int, size: int) -> float:
    """Return the number of ways to choose `size` of the cards."""
    ways = 1.0
    for taken in range(1, size + 1):
        ways = ways * (cards - taken + 1) / taken
    return ways


@kernel
def weigh(posterior: Posterior, hands: Int8Array, seat: int, weights: Float64Array) -> None:
    """Weigh hands of a seat, int8[C, S, NUM_CARD_TYPES], by their probability relative to uniform redeals.

    The weights, float64[C], are overwritten; their mean over uniform redeals is 1.
    """
    for number in range(len(hands)):
        weights[number] = 0.0
        for component in range(len(posterior.shares)):
            total = 0.0
            for card in range(NUM_CARD_TYPES):
                held = int(hands[number, seat, card])
                total += posterior.logs[component, card, min(held, LEVELS)]
            whole = posterior.sums[component, 0, posterior.size]
            share = posterior.shares[component] * posterior.ways / whole
            weights[number] += share * exp(total)


@kernel
def sample_hands(posterior: Posterior, key_0: int, key_1: int, seat: int, hands: Int8Array) -> None:
    """Draw hands of a seat, each as often as it is probable, into int8[C, S, NUM_CARD_TYPES], which is 0."""
    for number in range(len(hands)):
        word = random_word(key_0 ^ _CARD_TAG, key_1, number)
        component, place = 0, random_share(key_1, word, 0)
        while component < len(posterior.shares) - 1 and place >= posterior.shares[component]:
            place -= posterior.shares[component]
            component += 1
        left = posterior.size
        for card in range(NUM_CARD_TYPES):
            share = random_share(key_1, word, 1 + card)
            held = sample_count(posterior, component, card, left, share)
            hands[number, seat, card] = held
            left -= held


@rule
def random_share(key_0: int, key_1: int, counter: int) -> float:
    """A random number from 0 to below 1."""
    return random_word(key_0, key_1, counter) / _WORDS


@rule
def sample_count(posterior: Posterior, component: int, card: int, left: int, share: float) -> int:
    """Sample the number of cards of one type in a hand, with a random share in [0, 1).

    `left` cards of this type and of later ones are still to choose.
    """
    later = posterior.sums[component, card + 1]
    unseen = int(posterior.unseen[card])
    place = share * posterior.sums[component, card, left]
    ways, result = 1.0, 0
    for held in range(min(unseen, left) + 1):
        if held > 0:
            ways = ways * (unseen - held + 1) / held
        if later[left - held] == 0.0:
            continue
        result = held
        place -= ways * exp(posterior.logs[component, card, min(held, LEVELS)]) * later[left - held]
        if place < 0.0:
            break
    return result
