"""A small value network for sparse binary inputs: a perceptron of three layers with one output.

The first layer is the sum of the active inputs' rows, and a position with two moved inputs needs only four
rows more (the "efficiently updatable" networks of Nasu 2018, for shogi). The second layer goes through the
units that are not 0, as policies do (`agents.policy.layers`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env._util.network_files import Layers
from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.policy.layers import (
    INPUT_BLOCK,
    apply_relu,
    end_of_layer,
    gather_active,
    output_of_layer,
    padded_width,
    row_at,
    sparse_affine,
)
from millebornes_env.agents.policy.network import MAX_UNITS, weights_block
from millebornes_env.engine.numba.compiling import float32_at, float_rule, stack_array

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]

NUM_LAYERS: Final = 3
MOST_ONES: Final = 320
"""Upper bound of the active inputs of any table: 8 seats with 12 cards, 4 teams, all types in the pile."""
_ROOM: Final = MAX_UNITS + INPUT_BLOCK
_ZERO: Final = np.float32(0.0)
_ONE: Final = np.float32(1.0)


class ValueNetwork(NamedTuple):
    """The weights; I inputs, H and K units."""

    block: Float32Array  # all weights, by `weights_block`; those of input 0 are 0
    widths: Int64Array  # [NUM_LAYERS + 1] I, H, K, 1


def value_network(layers: Layers) -> ValueNetwork:
    """Return a network in the form that kernels read."""
    return ValueNetwork(
        weights_block(layers), np.array([layers[0][0].shape[1], *(len(b) for _, b in layers)])
    )


def no_network() -> ValueNetwork:
    """Return a network without units."""
    return ValueNetwork(np.zeros(0, np.float32), np.zeros(NUM_LAYERS + 1, np.int64))


@float_rule
def first_layer(network: ValueNetwork, ones: Int32Array, count: int, sums: Float32Array) -> None:
    """Sum up the rows of the active inputs.

    Args:
        network: the weights.
        ones: int32[MOST_ONES], active inputs; zeros are added behind them.
        count: number of active inputs.
        sums: float32[MAX_UNITS], overwritten with the first layer before its activation.
    """
    values = stack_array(np.float32, MOST_ONES)
    for number in range(count):
        values[number] = _ONE
    while count % INPUT_BLOCK != 0:
        ones[count], values[count] = 0, _ZERO
        count += 1
    width = padded_width(int(network.widths[1]))
    sparse_affine(network.block.ctypes.data, width, ones, values, count, sums)


@float_rule
def value_of(
    network: ValueNetwork, sums: Float32Array, out: int, into: int, also_out: int, also_into: int
) -> float:
    """Return the output for a position in which two active inputs have moved.

    Args:
        network: the weights.
        sums: float32[MAX_UNITS], first layer of the original position.
        out: first input that is no longer active; 0: none.
        into: first input that has become active; 0: none.
        also_out: second input that is no longer active.
        also_into: second input that has become active.
    """
    units = stack_array(np.float32, _ROOM)
    indices, values = stack_array(np.int32, _ROOM), stack_array(np.float32, _ROOM)
    first, inputs = network.block.ctypes.data, int(network.widths[0])
    hidden, last = int(network.widths[1]), int(network.widths[2])
    width = padded_width(hidden)
    minus, plus = float32_at(row_at(first, width, out), width), float32_at(row_at(first, width, into), width)
    also_minus = float32_at(row_at(first, width, also_out), width)
    also_plus = float32_at(row_at(first, width, also_into), width)
    for unit in range(width):
        units[unit] = sums[unit] - minus[unit] + plus[unit] - also_minus[unit] + also_plus[unit]
    apply_relu(units, width)
    second = end_of_layer(first, inputs, hidden)
    sparse_affine(
        second, padded_width(last), indices, values, gather_active(units, hidden, indices, values), units
    )
    apply_relu(units, last)
    return output_of_layer(end_of_layer(second, hidden, last), last, 1, units, 0)
