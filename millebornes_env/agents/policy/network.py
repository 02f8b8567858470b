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

import functools
import importlib
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env._util.network_files import Layers
from millebornes_env.agents.compiled.agent import MAX_OPTIONS, NO_ACTION, Choose, Int16Array, Int64Array
from millebornes_env.agents.compiled.legal import list_legal
from millebornes_env.agents.decoder import decoder_of
from millebornes_env.agents.policy import no_features
from millebornes_env.agents.policy.layers import (
    BYTES,
    ROWS_AT_ONCE,
    UNITS_AT_ONCE,
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
Int32Array = npt.NDArray[np.int32]

MAX_LAYERS: Final = 5
MAX_UNITS: Final = 512
"""Of a hidden layer."""
MAX_OBS_SIZE: Final = 768
"""Of an observation with features; no table of the package's games has so many."""
MAX_ACTIONS: Final = 256
"""No table of the package's games has so many."""

# Where things are in the options.
ADDRESS: Final = 0
"""Of the block of weights."""
NUM_LAYERS: Final = 1
MODE: Final = 2
ACTIVATION: Final = 3
INPUTS: Final = 4
"""The inputs: a bit for each field of the game's `ObservationSpec`, and one above them for features."""
HAS_VALUE: Final = 5
"""1: behind the actions the last layer has a row for the value of the position."""
WIDTHS: Final = 6
"""From here on: how many inputs it has, then the outputs of each layer."""


class InputSpec(NamedTuple):
    """The parts of a game that the inputs of a network show."""

    observation: Any  # the rulebook's `ObservationSpec`, a named tuple
    features: bool  # True if the game's features (hook `agents.features`) follow the observation


class Features(Protocol):
    """The interface of a module with features appended to observations; both functions are compiled."""

    def num_features(self, rules: Any, spec: Any, /) -> int:
        """Return the number of features."""

    def write_features(self, rules: Any, spec: Any, row: Int8Array, size: int, /) -> None:
        """Write them to a row, behind the `size` numbers of the observation that stand there."""


def features_of(rulebook: Rulebook) -> Any:
    """The module of the game's features, a `Features`; `no_features` for a game that has none."""
    entry = game_of(rulebook)
    features = None if entry is None else entry.find_hook("agents.features")
    return no_features if features is None else features


# Values of MODE and ACTIVATION, by their places.
MODES: Final = ("best", "sample")
ACTIVATIONS: Final = ("relu", "tanh")
BEST: Final = MODES.index("best")
TANH: Final = ACTIVATIONS.index("tanh")

SCRATCH_SIZE: Final = max(MAX_UNITS, MAX_OBS_SIZE) + ROWS_AT_ONCE
_MORE_THAN_ACTIONS: Final = MAX_ACTIONS + 1


# Laying out the weights ------------------------------------------------------------------------------------


def weights_block(layers: Layers) -> Float32Array:
    """All weights in the order in which they are needed.

    For each layer its biases, then its weights: a row for each input, in the last layer for each output.
    Rows have zeros at their ends, up to a multiple of what is worked out at once.
    """
    parts: list[npt.NDArray[Any]] = []
    for number, (weight, bias) in enumerate(layers):
        rows = weight if number == len(layers) - 1 else weight.T
        parts += [with_zeros(bias[np.newaxis]), with_zeros(rows)]
    numbers = np.concatenate([part.ravel() for part in parts])
    buffer = np.zeros(len(numbers) + UNITS_AT_ONCE, np.float32)
    start = -buffer.ctypes.data % (UNITS_AT_ONCE * BYTES) // BYTES
    block = buffer[start : start + len(numbers)]
    block[:] = numbers
    return block


def with_zeros(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows with zeros at their ends, as long as kernels read them."""
    return np.pad(rows, ((0, 0), (0, padded_width(rows.shape[1]) - rows.shape[1])))


def network_options(
    block: Float32Array, layers: Layers, activation: str, mode: str, input_spec: InputSpec, has_value: bool
) -> Int64Array:
    """Return the options of `choose_by_network` for a network.

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
    flags = (*input_spec.observation, int(input_spec.features))
    options[INPUTS] = sum(flag << place for place, flag in enumerate(flags))
    options[HAS_VALUE] = int(has_value)
    widths = [layers[0][0].shape[1], *(len(bias) for _, bias in layers)]
    options[WIDTHS : WIDTHS + len(widths)] = widths
    return options


# Choosing --------------------------------------------------------------------------------------------------
#
# What looks at a game takes first: its rulebook, its features (`features_of`) and the class that says what an
# observation shows. Kernels and functions of a rulebook name these as variables (`engine.kernels.named_for`).


class NetworkKernels(NamedTuple):
    """The kernels that play networks in one game; each is described below."""

    rulebook: Any
    choose: Choose
    encode_rows: Callable[..., None]

    def __reduce__(self) -> tuple[Callable[[str], NetworkKernels], tuple[str]]:
        """Agents are copied and pickled, modules cannot be: a copy finds them by their name."""
        return _kernels_named, (self.rulebook.__name__,)


def network_kernels_of(rulebook: Rulebook) -> NetworkKernels:
    """The kernels that play networks in the games of a rulebook, made once for each."""
    entry = game_of(rulebook)
    kind = Everything if entry is None else entry.observation_kind()
    return _network_kernels_of(checked_module(rulebook), features_of(rulebook), decoder_of(rulebook), kind)


@functools.cache
def _network_kernels_of(
    module: ModuleType, features: ModuleType, decoder: ModuleType, kind: type[Any]
) -> NetworkKernels:
    rulebook: Any = module
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
        """The most probable legal action, or one sampled (see `agents.compiled.agent.Choose`)."""
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
    """The legal action with the highest logit; the lowest of those that are equal.

    Args:
        actions: the legal actions, the lowest first.
        count: how many they are, 1 or more.
        options: of the network.
        last_layer: its address.
        units: its inputs.
    """
    best = int(actions[0])
    highest = output(options, last_layer, units, best)
    for place in range(1, count):
        logit = output(options, last_layer, units, int(actions[place]))
        if logit > highest:
            best, highest = int(actions[place]), logit
    return best


@rule
def sample_action(
    actions: Int16Array, count: int, options: Int64Array, last_layer: int, units: Float32Array, draw: int
) -> int:
    """A legal action, each with the probability that the softmax of the legal logits gives it.

    The draw says how far to go along the legal actions, each as long as it is probable, laid end to end.
    """
    logits = stack_array(np.float32, MAX_ACTIONS)
    best = 0
    for place in range(count):
        logits[place] = output(options, last_layer, units, int(actions[place]))
        best = place if logits[place] > logits[best] else best
    whole = 0.0
    for place in range(count):
        whole += math.exp(float(logits[place]) - float(logits[best]))
    goal = whole * draw / 2.0**32
    reached = 0.0
    for place in range(count):
        reached += math.exp(float(logits[place]) - float(logits[best]))
        if reached > goal:
            return int(actions[place])
    return int(actions[best])  # only if a logit is infinite


@rule_of_rules
def network_value(
    rulebook: Rulebook, features: Features, kind: Any, state: Any, rules: Any, seat: int, options: Int64Array
) -> float:
    """Return the network's value of the position for a seat, in the unit of its `policy.json`.

    It has learned this of seats that are to decide; of others it guesses.

    Args:
        rulebook: of the game.
        features: of the game.
        kind: the class that says what an observation shows.
        state: the game.
        rules: the table's.
        seat: who sees the game, and whose value it is.
        options: of the network.

    Returns:
        The value; not a number if the network has none to give.
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
    """Encode what a seat sees, and compute all layers but the last.

    Args:
        rulebook: of the game.
        features: of the game.
        kind: the class that says what an observation shows.
        state: the game.
        rules: the table's.
        seat: who looks.
        options: of the network.
        units: float32[SCRATCH_SIZE], overwritten with the inputs of the last layer, zeros behind them.

    Returns:
        The address of the last layer.
    """
    row = stack_array(np.int8, MAX_OBS_SIZE)
    write_inputs(rulebook, features, kind, state, rules, seat, options, row)
    indices = stack_array(np.int32, SCRATCH_SIZE)
    values = stack_array(np.float32, SCRATCH_SIZE)
    address = int(options[ADDRESS])
    inputs = int(options[WIDTHS])
    if int(options[NUM_LAYERS]) == 1:
        copy_inputs(row, inputs, units)
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
    """Write what the network is shown of the game as the seat sees it, with zeros behind.

    Args:
        rulebook: of the game.
        features: of the game.
        kind: the class that says what an observation shows.
        state: the game.
        rules: the table's.
        seat: who looks.
        options: of the network.
        row: int8[MAX_OBS_SIZE], overwritten up to the `padded_width` of the inputs.
    """
    inputs, bits, more = int(options[WIDTHS]), int(options[INPUTS]), 0
    spec = flags_of(kind, bits)
    has_features = bits >> len(spec) & 1 == 1
    if has_features:
        more = features.num_features(rules, spec)
    rulebook.write_observation(state, rules, seat, spec, row[: inputs - more])
    if has_features:
        features.write_features(rules, spec, row, inputs - more)
    for place in range(inputs, padded_width(inputs)):
        row[place] = 0


@rule
def copy_inputs(row: Int8Array, inputs: int, units: Float32Array) -> None:
    """The inputs as they are, with zeros behind them, for a network of one layer."""
    for place in range(padded_width(inputs)):
        units[place] = row[place]


def _encode_rows(rulebook: Rulebook, features: Any, kind: Any, decoder: Any) -> Callable[..., None]:
    def encode_rows(
        starts: Any,
        rules: TableRules,
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
        row = stack_array(np.int8, MAX_OBS_SIZE)
        for number in range(len(observations)):
            decoder.read_observation(observations[number], starts, rules, scratch[0])
            write_inputs(rulebook, features, kind, scratch[0], rules, 0, options, row)
            for place in range(inputs.shape[1]):
                inputs[number, place] = row[place]

    return kernel(named_for(rulebook, encode_rows, features, decoder))


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
    inputs, outputs = int(options[WIDTHS + layer - 1]), int(options[WIDTHS + layer])
    return output_of_layer(last_layer, inputs, outputs, units, number)
