"""A small value network for sparse binary inputs: a sum of rows, a second layer, one output.

The first layer is the sum of the active inputs' rows, and a position with two moved inputs needs only four
rows more (the "efficiently updatable" networks of Nasu 2018, for shogi).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import float_rule, stack_array

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]

MAX_UNITS: Final = 512
"""Most units of the first layer."""
_ZERO: Final = np.float32(0.0)


class ValueNetwork(NamedTuple):
    """The weights; I inputs, H and K units."""

    rows: Float32Array  # [I, H] one row for each input; that of input 0 is 0
    bias: Float32Array  # [H]
    second: Float32Array  # [K, H]
    second_bias: Float32Array  # [K]
    last: Float32Array  # [K]
    last_bias: Float32Array  # [1]


def no_network() -> ValueNetwork:
    """Return a network without units."""
    rows = np.zeros((0, 0), np.float32)
    return ValueNetwork(rows, rows[0:0].ravel(), rows, rows.ravel(), rows.ravel(), rows.ravel())


@float_rule
def first_layer(network: ValueNetwork, ones: Int32Array, count: int, sums: Float32Array) -> None:
    """Sum up the rows of the active inputs.

    Args:
        network: the weights.
        ones: int32[count or more], active inputs.
        count: number of active inputs.
        sums: float32[MAX_UNITS], overwritten with the first layer before its activation.
    """
    width = len(network.bias)
    for unit in range(width):
        sums[unit] = network.bias[unit]
    for number in range(count):
        row = network.rows[ones[number]]
        for unit in range(width):
            sums[unit] += row[unit]


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
    width = len(network.bias)
    active = stack_array(np.float32, MAX_UNITS)
    minus, plus = network.rows[out], network.rows[into]
    also_minus, also_plus = network.rows[also_out], network.rows[also_into]
    for unit in range(width):
        total = sums[unit] - minus[unit] + plus[unit] - also_minus[unit] + also_plus[unit]
        active[unit] = total if total > _ZERO else _ZERO
    value = network.last_bias[0]
    for number in range(len(network.last)):
        total = second_unit(network, active, number, width)
        if total > _ZERO:
            value += total * network.last[number]
    return float(value)


@float_rule
def second_unit(network: ValueNetwork, active: Float32Array, number: int, width: int) -> np.float32:
    """Return one unit of the second layer before its activation."""
    total: np.float32 = network.second_bias[number]
    weights = network.second[number]
    for unit in range(width):
        total += active[unit] * weights[unit]
    return total
