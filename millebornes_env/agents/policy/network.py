"""A trained perceptron as rules: from what a seat sees to a choice, inside of the compiled games.

The network looks at the whole numbers of the observation, as they are. Most of them are 0, and so are the
units behind them after a ReLU: every layer but the last goes through its inputs, leaves out those that are 0
and adds up the weights of the others, so its weights lie input by input. The last layer is worked out for
legal actions only, so its weights lie action by action.

All weights are one block of memory, whose address is one of the agent's options: whoever holds the options
keeps the block (`agents.policy` does). Sums are rounded as the processor likes it, so where two actions are
as good as equal, another processor may choose the other one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.compiled.agent import MAX_OPTIONS, NO_ACTION, Int16Array, Int64Array
from millebornes_env.agents.compiled.preferences import first_in, legal_actions
from millebornes_env.agents.observation_reader import Starts, read_observation
from millebornes_env.agents.policy.features import num_features, write_features
from millebornes_env.agents.protocol import Observations
from millebornes_env.compile import float32_at, float_rule, kernel, rule, stack_array
from millebornes_env.millebornes.observation import write_observation
from millebornes_env.millebornes.rules import RulesRecord
from millebornes_env.millebornes.sections import ObservationSpec, observation_size
from millebornes_env.millebornes.state import State, StateArray

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
Layers = Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]]
"""Weight [outputs, inputs] and bias [outputs] of each layer."""

MAX_LAYERS: Final = 5
MAX_UNITS: Final = 512
"""Of a hidden layer."""
MAX_OBS_SIZE: Final = 512
"""Of an observation with features; no table has so many."""
MAX_ACTIONS: Final = 64
"""No table has so many."""

# Where things are in the options.
ADDRESS: Final = 0
"""Of the block of weights."""
NUM_LAYERS: Final = 1
MODE: Final = 2
ACTIVATION: Final = 3
INPUTS: Final = 4
"""What it is shown: one bit for each field of `ObservationSpec`, and one for features."""
HAS_VALUE: Final = 5
"""1: behind the actions the last layer has a row for the value of the position."""
WIDTHS: Final = 6
"""From here on: the size of the observation, then the outputs of each layer."""


class InputSpec(NamedTuple):
    """What the inputs of a network show of a game."""

    observation: ObservationSpec
    features: bool  # whether those of `agents.policy.features` stand behind the observation


# Values of MODE and ACTIVATION, by their places.
MODES: Final = ("best", "sample")
ACTIVATIONS: Final = ("relu", "tanh")
BEST: Final = MODES.index("best")
TANH: Final = ACTIVATIONS.index("tanh")

_BYTES: Final = 4  # of a weight
_UNITS_AT_ONCE: Final = 16  # rows of weights are as long as the widest registers like them
_ROWS_AT_ONCE: Final = 4  # that many are added to the units each time these are read and written
_ROOM: Final = MAX_UNITS + _ROWS_AT_ONCE
_ZERO: Final = np.float32(0.0)


# Laying out the weights ------------------------------------------------------------------------------------


def weights_block(layers: Layers) -> Float32Array:
    """All weights in the order in which they are needed.

    For each layer its biases, then its weights: a row for each input, in the last layer for each output.
    Rows have zeros at their ends, up to a multiple of what is worked out at once.
    """
    parts: list[npt.NDArray[Any]] = []
    for number, (weight, bias) in enumerate(layers):
        rows = weight if number == len(layers) - 1 else weight.T
        parts += [_with_zeros(bias[np.newaxis]), _with_zeros(rows)]
    numbers = np.concatenate([part.ravel() for part in parts])
    room = np.zeros(len(numbers) + _UNITS_AT_ONCE, np.float32)
    start = -room.ctypes.data % (_UNITS_AT_ONCE * _BYTES) // _BYTES
    block = room[start : start + len(numbers)]
    block[:] = numbers
    return block


def _with_zeros(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.pad(rows, ((0, 0), (0, padded_width(rows.shape[1]) - rows.shape[1])))


def network_options(
    block: Float32Array, layers: Layers, activation: str, mode: str, input_spec: InputSpec, has_value: bool
) -> Int64Array:
    """What `choose_by_network` is told of a network.

    Args:
        block: its weights, by `weights_block`; to be kept for as long as the options are used.
        layers: of the network; at most MAX_LAYERS, hidden ones of at most MAX_UNITS.
        activation: one of ACTIVATIONS.
        mode: one of MODES.
        input_spec: what it sees.
        has_value: whether the last row of the last layer is the value of the position.

    Returns:
        int64[MAX_OPTIONS].
    """
    options = np.zeros(MAX_OPTIONS, np.int64)
    options[ADDRESS] = block.ctypes.data
    options[NUM_LAYERS] = len(layers)
    options[MODE] = MODES.index(mode)
    options[ACTIVATION] = ACTIVATIONS.index(activation)
    shown, features = input_spec
    options[INPUTS] = shown.unseen | shown.rules << 1 | shown.padded << 2 | int(features) << 3
    options[HAS_VALUE] = int(has_value)
    widths = [layers[0][0].shape[1], *(len(bias) for _, bias in layers)]
    options[WIDTHS : WIDTHS + len(widths)] = widths
    return options


@rule
def padded_width(width: int) -> int:
    """How long a row of so many weights is with the zeros at its end."""
    return (width + _UNITS_AT_ONCE - 1) & -_UNITS_AT_ONCE


# Choosing --------------------------------------------------------------------------------------------------


def choose_by_network(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """The most probable legal action, or one sampled from the policy (see `agents.compiled.agent.Choose`)."""
    legal = legal_actions(state, rules, seat)
    if legal == 0:
        return NO_ACTION
    units = stack_array(np.float32, _ROOM)
    last_layer = forward_hidden(state, rules, seat, options, units)
    if int(options[MODE]) == BEST:
        return greedy_action(legal, options, last_layer, units)
    return sample_action(legal, options, last_layer, units, draw)


@rule
def greedy_action(legal: int, options: Int64Array, last_layer: int, units: Float32Array) -> int:
    """The legal action with the highest logit; the lowest of those that are equal."""
    best = first_in(legal, 0)
    highest = output(options, last_layer, units, best)
    action = first_in(legal, best + 1)
    while action != NO_ACTION:
        logit = output(options, last_layer, units, action)
        if logit > highest:
            best, highest = action, logit
        action = first_in(legal, action + 1)
    return best


@rule
def sample_action(legal: int, options: Int64Array, last_layer: int, units: Float32Array, draw: int) -> int:
    """A legal action, each with the probability that the softmax of the legal logits gives it.

    The draw says how far to go along the legal actions, each as long as it is probable, laid end to end.
    """
    logits = stack_array(np.float32, MAX_ACTIONS)
    best = NO_ACTION
    action = first_in(legal, 0)
    while action != NO_ACTION:
        logits[action] = output(options, last_layer, units, action)
        if best == NO_ACTION or logits[action] > logits[best]:
            best = action
        action = first_in(legal, action + 1)
    whole = 0.0
    action = first_in(legal, 0)
    while action != NO_ACTION:
        whole += math.exp(float(logits[action]) - float(logits[best]))
        action = first_in(legal, action + 1)
    goal = whole * draw / 2.0**32
    reached = 0.0
    action = first_in(legal, 0)
    while action != NO_ACTION:
        reached += math.exp(float(logits[action]) - float(logits[best]))
        if reached > goal:
            return action
        action = first_in(legal, action + 1)
    return best  # only if a logit is infinite


@rule
def network_value(state: State, rules: RulesRecord, seat: int, options: Int64Array) -> float:
    """What the position is worth to a seat by the network, in the unit of its `policy.json`.

    It has learned this of seats that are to decide; of others it guesses.

    Args:
        state: the game.
        rules: the table's.
        seat: who sees the game, and whose value it is.
        options: of the network.

    Returns:
        The value; not a number if the network has none to give.
    """
    if int(options[HAS_VALUE]) == 0:
        return math.nan
    units = stack_array(np.float32, _ROOM)
    last_layer = forward_hidden(state, rules, seat, options, units)
    outputs = int(options[WIDTHS + int(options[NUM_LAYERS])])
    return float(output(options, last_layer, units, outputs - 1))


# The network -----------------------------------------------------------------------------------------------


@rule
def forward_hidden(
    state: State, rules: RulesRecord, seat: int, options: Int64Array, units: Float32Array
) -> int:
    """Encode what a seat sees, and compute all layers but the last.

    Args:
        state: the game.
        rules: the table's.
        seat: who looks.
        options: of the network.
        units: float32[_ROOM], overwritten with the inputs of the last layer, zeros behind them.

    Returns:
        The address of the last layer.
    """
    encode(state, rules, seat, options, units)
    indices = stack_array(np.int32, _ROOM)
    values = stack_array(np.float32, _ROOM)
    address = int(options[ADDRESS])
    inputs = int(options[WIDTHS])
    for layer in range(1, int(options[NUM_LAYERS])):
        outputs = int(options[WIDTHS + layer])
        count = gather_active(units, inputs, indices, values)
        sparse_affine(address, padded_width(outputs), indices, values, count, units)
        if int(options[ACTIVATION]) == TANH:
            apply_tanh(units, outputs)
        else:
            apply_relu(units, outputs)
        address += _BYTES * (inputs + 1) * padded_width(outputs)
        inputs = outputs
    return address


@rule
def encode(state: State, rules: RulesRecord, seat: int, options: Int64Array, units: Float32Array) -> None:
    """Encode what the seat sees as inputs of the network, with zeros behind them."""
    shown = int(options[INPUTS])
    spec = ObservationSpec(shown & 1, shown >> 1 & 1, shown >> 2 & 1)
    size = observation_size(rules, spec)
    row = stack_array(np.int8, MAX_OBS_SIZE)
    write_observation(state, rules, seat, spec, row[:size])
    if shown >> 3 & 1 == 1:
        write_features(rules, spec, row, size)
        size += num_features(rules, spec)
    for place in range(size):
        units[place] = row[place]
    for place in range(size, padded_width(size)):
        units[place] = _ZERO


@kernel
def encode_rows(
    starts: Starts,
    rules: RulesRecord,
    observations: Observations,
    scratch: StateArray,
    options: Int64Array,
    inputs: Float32Array,
) -> None:
    """Write what a network sees of games that are shown as observations.

    Args:
        starts: of the sections of the observations.
        rules: the table's.
        observations: int8[N, D].
        scratch: STATE[1], where a game is read to.
        options: of the network.
        inputs: float32[N, its inputs], overwritten.
    """
    units = stack_array(np.float32, _ROOM)
    for number in range(len(observations)):
        read_observation(observations[number], starts, rules, scratch[0])
        encode(scratch[0], rules, 0, options, units)
        for place in range(inputs.shape[1]):
            inputs[number, place] = units[place]


@rule
def gather_active(units: Float32Array, size: int, indices: Int32Array, values: Float32Array) -> int:
    """List the units that are not 0.

    Args:
        units: float32[size or more].
        size: how many there are.
        indices: int32[_ROOM], overwritten: which units they are.
        values: float32[_ROOM], overwritten: their values.

    Returns:
        How many are listed; some zeros stand at the end, so that it is a multiple of _ROWS_AT_ONCE.
    """
    count = 0
    for unit in range(size):  # without a branch, which nobody could predict
        indices[count] = unit
        values[count] = units[unit]
        count += int(units[unit] != _ZERO)
    for more in range(_ROWS_AT_ONCE):
        indices[count + more] = 0
        values[count + more] = _ZERO
    return (count + _ROWS_AT_ONCE - 1) & -_ROWS_AT_ONCE


@float_rule
def sparse_affine(
    address: int, width: int, indices: Int32Array, values: Float32Array, count: int, units: Float32Array
) -> None:
    """An affine layer of sparse inputs, before its activation.

    Args:
        address: of the layer.
        width: of its rows.
        indices: of the inputs that are not 0.
        values: of those inputs.
        count: how many there are, a multiple of _ROWS_AT_ONCE.
        units: float32[_ROOM], overwritten.
    """
    bias = float32_at(address, width)
    for unit in range(width):
        units[unit] = bias[unit]
    rows = address + _BYTES * width
    for at in range(0, count, _ROWS_AT_ONCE):
        first = float32_at(rows + _BYTES * width * int(indices[at]), width)
        second = float32_at(rows + _BYTES * width * int(indices[at + 1]), width)
        third = float32_at(rows + _BYTES * width * int(indices[at + 2]), width)
        fourth = float32_at(rows + _BYTES * width * int(indices[at + 3]), width)
        one, two, three, four = values[at], values[at + 1], values[at + 2], values[at + 3]
        for unit in range(width):
            units[unit] += one * first[unit] + two * second[unit] + three * third[unit] + four * fourth[unit]


@rule
def apply_relu(units: Float32Array, size: int) -> None:
    """What is negative becomes 0."""
    for unit in range(size):
        units[unit] = units[unit] if units[unit] > _ZERO else _ZERO


@rule
def apply_tanh(units: Float32Array, size: int) -> None:
    """Every unit between -1 and 1."""
    for unit in range(size):
        units[unit] = math.tanh(units[unit])


@float_rule
def output(options: Int64Array, last_layer: int, units: Float32Array, number: int) -> float:
    """One output of the network.

    Args:
        options: of the network.
        last_layer: its address.
        units: its inputs, zeros behind them.
        number: of the output: an action, or behind them the value.
    """
    layer = int(options[NUM_LAYERS])
    width = padded_width(int(options[WIDTHS + layer - 1]))
    outputs = padded_width(int(options[WIDTHS + layer]))
    bias = float32_at(last_layer, outputs)
    weights = float32_at(last_layer + _BYTES * (outputs + number * width), width)
    total: float = bias[number]
    for unit in range(width):
        total += units[unit] * weights[unit]
    return total
