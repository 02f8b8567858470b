"""A trained perceptron as compiled rules, from a seat's observation to its action.

The inputs are the unscaled whole numbers of the observation. Most of them are 0, as are many units after a
ReLU: every layer but the last skips zero inputs and adds the weights of the others, so its weights are stored
input by input. The last layer is computed for legal actions only, so its weights are stored action by action.

All weights are one block of memory, whose address is one of the agent's options; the owner of the options
must keep the block alive (`agents.policy` does). Rounding of sums depends on the processor, so another
processor may choose another of two almost equal actions.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env._util.network_files import Layers
from millebornes_env.agents.compiled.agent import (
    MAX_OPTIONS,
    NO_ACTION,
    Choose,
    Int16Array,
    Int64Array,
    list_legal,
)
from millebornes_env.agents.decoder import decoder_of
from millebornes_env.agents.policy import no_features
from millebornes_env.agents.policy.layers import (
    BYTES,
    INPUT_BLOCK,
    UNIT_BLOCK,
    apply_relu,
    apply_tanh,
    end_of_layer,
    gather_active,
    output_of_layer,
    padded_width,
    sparse_affine,
)
from millebornes_env.agents.protocol import Observations
from millebornes_env.engine.kernels import named_for
from millebornes_env.engine.numba.compiling import (
    flags_of,
    float_rule,
    kernel,
    rule,
    rule_of_rules,
    stack_array,
)
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules, checked_module
from millebornes_env.games.registry import Everything, game_of

Int8Array = npt.NDArray[np.int8]
Float32Array = npt.NDArray[np.float32]

MAX_LAYERS: Final = 5
MAX_UNITS: Final = 512
"""Limit of hidden layers."""
MAX_OBS_SIZE: Final = 768
"""Limit of observations with features; the tables of the package's games are smaller."""
MAX_ACTIONS: Final = 256
"""Limit of actions; the tables of the package's games have fewer."""

# Indices of the options.
ADDRESS: Final = 0
"""Address of the block of weights."""
NUM_LAYERS: Final = 1
MODE: Final = 2
ACTIVATION: Final = 3
INPUTS: Final = 4
"""Bits of the inputs: one for each field of the game's `ObservationSpec`, and the next for features."""
HAS_VALUE: Final = 5
"""1 if the last layer has a row for the value of the position, after the actions."""
WIDTHS: Final = 6
"""First of the widths: the number of inputs, then the outputs of each layer."""


class InputSpec(NamedTuple):
    """The inputs of a network."""

    observation: Any  # the rulebook's `ObservationSpec`, a named tuple
    features: bool  # True if the game's features (hook `agents.features`) follow the observation


class Features(Protocol):
    """The interface of a module with features appended to observations; both functions are compiled."""

    def num_features(self, rules: Any, spec: Any, /) -> int:
        """Return the number of features."""

    def write_features(self, rules: Any, spec: Any, row: Int8Array, size: int, /) -> None:
        """Append the features to a row that contains an observation of `size` numbers."""


def features_of(rulebook: Rulebook) -> Any:
    """Return the `Features` module of the game; `no_features` if it has none."""
    entry = game_of(rulebook)
    features = None if entry is None else entry.find_hook("agents.features")
    return no_features if features is None else features


# Names of MODE and ACTIVATION, by value.
MODES: Final = ("best", "sample")
ACTIVATIONS: Final = ("relu", "tanh")
BEST: Final = MODES.index("best")
TANH: Final = ACTIVATIONS.index("tanh")

SCRATCH_SIZE: Final = max(MAX_UNITS, MAX_OBS_SIZE) + INPUT_BLOCK
_MORE_THAN_ACTIONS: Final = MAX_ACTIONS + 1


# The layout of the weights ----------------------------------------------------------------------------------


def weights_block(layers: Layers) -> Float32Array:
    """Return all weights in one aligned block, in the order in which kernels read them.

    Each layer has its biases, then its weights: a row for each input, in the last layer for each output.
    Rows are padded with zeros to the `padded_width`.
    """
    parts: list[npt.NDArray[Any]] = []
    for number, (weight, bias) in enumerate(layers):
        rows = weight if number == len(layers) - 1 else weight.T
        parts += [padded(bias[np.newaxis]), padded(rows)]
    numbers = np.concatenate([part.ravel() for part in parts])
    buffer = np.zeros(len(numbers) + UNIT_BLOCK, np.float32)
    start = -buffer.ctypes.data % (UNIT_BLOCK * BYTES) // BYTES
    block = buffer[start : start + len(numbers)]
    block[:] = numbers
    return block


def padded(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Pad rows with zeros to the `padded_width`."""
    return np.pad(rows, ((0, 0), (0, padded_width(rows.shape[1]) - rows.shape[1])))


def network_options(
    block: Float32Array, layers: Layers, activation: str, mode: str, input_spec: InputSpec, has_value: bool
) -> Int64Array:
    """Return the options of `choose_by_network` for a network, int64[MAX_OPTIONS].

    Args:
        block: its weights, by `weights_block`; must be kept alive while the options are in use.
        layers: weight and bias of each layer; at most MAX_LAYERS, hidden ones of at most MAX_UNITS.
        activation: one of ACTIVATIONS.
        mode: one of MODES.
        input_spec: its inputs.
        has_value: True if the last row of the last layer is the value of the position.
    """
    options = np.zeros(MAX_OPTIONS, np.int64)
    options[ADDRESS] = block.ctypes.data
    options[NUM_LAYERS] = len(layers)
    options[MODE] = MODES.index(mode)
    options[ACTIVATION] = ACTIVATIONS.index(activation)
    flags = (*input_spec.observation, int(input_spec.features))
    options[INPUTS] = sum(flag << bit for bit, flag in enumerate(flags))
    options[HAS_VALUE] = int(has_value)
    widths = [layers[0][0].shape[1], *(len(bias) for _, bias in layers)]
    options[WIDTHS : WIDTHS + len(widths)] = widths
    return options


# Choosing --------------------------------------------------------------------------------------------------
#
# Rules that read a game take its rulebook, its features (`features_of`) and its `ObservationSpec` first.
# Kernels and functions for a rulebook capture these as variables (`engine.kernels.named_for`).


class NetworkKernels(NamedTuple):
    """The kernels that play networks in one game."""

    rulebook: Any
    choose: Choose
    encode_rows: Callable[..., None]

    def __reduce__(self) -> tuple[Callable[[str], NetworkKernels], tuple[str]]:
        """Pickle the name of the rulebook, because modules cannot be pickled."""
        return _kernels_named, (self.rulebook.__name__,)


def network_kernels_of(rulebook: Rulebook) -> NetworkKernels:
    """Return the cached kernels that play networks in the games of a rulebook."""
    entry = game_of(rulebook)
    kind = Everything if entry is None else entry.observation_kind()
    return _network_kernels_of(checked_module(rulebook), features_of(rulebook), decoder_of(rulebook), kind)


@functools.cache
def _network_kernels_of(rulebook: Any, features: Any, decoder: Any, kind: Any) -> NetworkKernels:
    return NetworkKernels(
        rulebook,
        _choose_by_network(rulebook, features, kind),
        _encode_rows(rulebook, features, kind, decoder),
    )


def _kernels_named(name: str) -> NetworkKernels:
    rulebook: Any = importlib.import_module(name)
    return network_kernels_of(rulebook)


def _choose_by_network(rulebook: Rulebook, features: Any, kind: Any) -> Choose:
    def choose_by_network(
        state: Any, rules: Any, seat: int, memory: Int16Array, options: Int64Array, draw: int
    ) -> int:
        """Return the most probable legal action, or a sampled one (see `agents.compiled.agent.Choose`)."""
        num_actions = int(options[WIDTHS + int(options[NUM_LAYERS])]) - int(options[HAS_VALUE])
        mask = stack_array(np.int8, MAX_ACTIONS)[:num_actions]
        rulebook.write_mask(state, rules, mask)
        actions = stack_array(np.int16, _MORE_THAN_ACTIONS)
        count = list_legal(mask, actions)
        if count == 0:
            return NO_ACTION
        units = stack_array(np.float32, SCRATCH_SIZE)
        last_layer = forward_hidden(rulebook, features, kind, state, rules, seat, options, units)
        if int(options[MODE]) == BEST:
            return greedy_action(actions, count, options, last_layer, units)
        return sample_action(actions, count, options, last_layer, units, draw)

    return named_for(rulebook, choose_by_network, features)


@rule
def greedy_action(
    actions: Int16Array, count: int, options: Int64Array, last_layer: int, units: Float32Array
) -> int:
    """Return the legal action with the highest logit; of equal ones the lowest.

    Args:
        actions: the legal actions, in ascending order.
        count: number of legal actions, at least 1.
        options: options of the network.
        last_layer: address of the last layer.
        units: inputs of the last layer.
    """
    best = int(actions[0])
    highest = output(options, last_layer, units, best)
    for index in range(1, count):
        logit = output(options, last_layer, units, int(actions[index]))
        if logit > highest:
            best, highest = int(actions[index]), logit
    return best


@rule
def sample_action(
    actions: Int16Array, count: int, options: Int64Array, last_layer: int, units: Float32Array, draw: int
) -> int:
    """Sample a legal action from the softmax of the legal logits by inversion of `draw`."""
    logits = stack_array(np.float32, MAX_ACTIONS)
    best = 0
    for index in range(count):
        logits[index] = output(options, last_layer, units, int(actions[index]))
        best = index if logits[index] > logits[best] else best
    total = 0.0
    for index in range(count):
        total += math.exp(float(logits[index]) - float(logits[best]))
    goal = total * draw / 2.0**32
    reached = 0.0
    for index in range(count):
        reached += math.exp(float(logits[index]) - float(logits[best]))
        if reached > goal:
            return int(actions[index])
    return int(actions[best])  # only if a logit is infinite


@rule_of_rules
def network_value(
    rulebook: Rulebook, features: Features, kind: Any, state: Any, rules: Any, seat: int, options: Int64Array
) -> float:
    """Return the network's value of the position for a seat, in the unit of its `policy.json`.

    The network was trained on acting seats; for others the value is an extrapolation.

    Args:
        rulebook: rulebook of the game.
        features: features of the game.
        kind: class `ObservationSpec` of the game.
        state: the game.
        rules: rules of the table.
        seat: the seat whose observation is evaluated.
        options: options of the network.

    Returns:
        The value; NaN for a network without a value output.
    """
    if int(options[HAS_VALUE]) == 0:
        return math.nan
    units = stack_array(np.float32, SCRATCH_SIZE)
    last_layer = forward_hidden(rulebook, features, kind, state, rules, seat, options, units)
    outputs = int(options[WIDTHS + int(options[NUM_LAYERS])])
    return float(output(options, last_layer, units, outputs - 1))


# The network -----------------------------------------------------------------------------------------------


@rule_of_rules
def forward_hidden(
    rulebook: Rulebook,
    features: Features,
    kind: Any,
    state: Any,
    rules: Any,
    seat: int,
    options: Int64Array,
    units: Float32Array,
) -> int:
    """Encode the observation of a seat, and compute all layers but the last; return the address of that.

    Its inputs, padded with zeros, are written to `units`, float32[SCRATCH_SIZE].
    """
    row = stack_array(np.int8, MAX_OBS_SIZE)
    write_inputs(rulebook, features, kind, state, rules, seat, options, row)
    indices = stack_array(np.int32, SCRATCH_SIZE)
    values = stack_array(np.float32, SCRATCH_SIZE)
    address = int(options[ADDRESS])
    inputs = int(options[WIDTHS])
    if int(options[NUM_LAYERS]) == 1:
        for index in range(padded_width(inputs)):
            units[index] = row[index]
    for layer in range(1, int(options[NUM_LAYERS])):
        outputs = int(options[WIDTHS + layer])
        if layer == 1:
            count = gather_active(row, inputs, indices, values)
        else:
            count = gather_active(units, inputs, indices, values)
        sparse_affine(address, padded_width(outputs), indices, values, count, units)
        if int(options[ACTIVATION]) == TANH:
            apply_tanh(units, outputs)
        else:
            apply_relu(units, outputs)
        address = end_of_layer(address, inputs, outputs)
        inputs = outputs
    return address


@rule_of_rules
def write_inputs(
    rulebook: Rulebook,
    features: Features,
    kind: Any,
    state: Any,
    rules: Any,
    seat: int,
    options: Int64Array,
    row: Int8Array,
) -> None:
    """Write the network's inputs for a seat, padded with zeros up to their `padded_width`.

    `row` is int8[MAX_OBS_SIZE].
    """
    inputs, bits, more = int(options[WIDTHS]), int(options[INPUTS]), 0
    spec = flags_of(kind, bits)
    has_features = bits >> len(spec) & 1 == 1
    if has_features:
        more = features.num_features(rules, spec)
    rulebook.write_observation(state, rules, seat, spec, row[: inputs - more])
    if has_features:
        features.write_features(rules, spec, row, inputs - more)
    for index in range(inputs, padded_width(inputs)):
        row[index] = 0


def _encode_rows(rulebook: Rulebook, features: Any, kind: Any, decoder: Any) -> Callable[..., None]:
    def encode_rows(
        starts: Any,
        rules: TableRules,
        observations: Observations,
        scratch: StateArray,
        options: Int64Array,
        inputs: Float32Array,
    ) -> None:
        """Convert observations, int8[N, D], to inputs of a network, float32[N, num_inputs]."""
        row = stack_array(np.int8, MAX_OBS_SIZE)
        for number in range(len(observations)):
            decoder.read_observation(observations[number], starts, rules, scratch[0])
            write_inputs(rulebook, features, kind, scratch[0], rules, 0, options, row)
            for index in range(inputs.shape[1]):
                inputs[number, index] = row[index]

    return kernel(named_for(rulebook, encode_rows, features, decoder))


@float_rule
def output(options: Int64Array, last_layer: int, units: Float32Array, number: int) -> float:
    """Return one output of the network: the logit of an action, or the value, whose number follows theirs."""
    layer = int(options[NUM_LAYERS])
    inputs, outputs = int(options[WIDTHS + layer - 1]), int(options[WIDTHS + layer])
    return output_of_layer(last_layer, inputs, outputs, units, number)
