"""The layers of a perceptron as compiled rules, computed from the nonzero inputs only."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import float32_at, float_rule, rule, stack_array
from millebornes_env.engine.numba.simd import lowest_in, set_of_numbers

Int8Array = npt.NDArray[np.int8]
Int32Array = npt.NDArray[np.int32]
Float32Array = npt.NDArray[np.float32]

BYTES: Final = 4
"""Size of a weight."""
UNIT_BLOCK: Final = 64
"""Units computed together: as many as fit into registers, or into the bits of an int.

Rows of weights are padded to multiples of it.
"""
INPUT_BLOCK: Final = 4
"""Inputs added in each pass over the sums."""
_ZERO: Final = np.float32(0.0)


@rule
def padded_width(width: int) -> int:
    """Return the length of a row of weights with its padding."""
    return (width + UNIT_BLOCK - 1) & -UNIT_BLOCK


@rule
def gather_active(
    numbers: Int8Array | Float32Array, size: int, indices: Int32Array, values: Float32Array
) -> int:
    """List the numbers that are not 0.

    Args:
        numbers: [size or more], padded with zeros to the `padded_width`.
        size: number of numbers.
        indices: int32[units + INPUT_BLOCK], overwritten: indices of the nonzero numbers.
        values: float32[units + INPUT_BLOCK], overwritten: the nonzero numbers.

    Returns:
        The length of the list, padded with zeros to a multiple of INPUT_BLOCK.
    """
    count = 0
    for first in range(0, size, UNIT_BLOCK):
        result = set_of_numbers(numbers, first, UNIT_BLOCK)
        while result != 0:
            index = first + lowest_in(result)
            indices[count] = index
            values[count] = numbers[index]
            count += 1
            result &= result - 1
    for more in range(INPUT_BLOCK):
        indices[count + more] = 0
        values[count + more] = _ZERO
    return (count + INPUT_BLOCK - 1) & -INPUT_BLOCK


@float_rule
def sparse_affine(
    address: int, width: int, indices: Int32Array, values: Float32Array, count: int, units: Float32Array
) -> None:
    """Compute an affine layer of sparse inputs, without its activation.

    Units are computed in blocks, so that their sums stay in registers until all inputs have been added.

    Args:
        address: address of the layer.
        width: padded width of its rows, a multiple of UNIT_BLOCK.
        indices: indices of the nonzero inputs.
        values: the nonzero inputs.
        count: number of nonzero inputs, padded to a multiple of INPUT_BLOCK.
        units: float32[units + INPUT_BLOCK], overwritten.
    """
    sums = stack_array(np.float32, UNIT_BLOCK)
    for start in range(0, width, UNIT_BLOCK):
        bias = float32_at(address + BYTES * start, UNIT_BLOCK)
        rows = address + BYTES * start
        for unit in range(UNIT_BLOCK):
            sums[unit] = bias[unit]
        for at in range(0, count, INPUT_BLOCK):
            first = float32_at(row_at(rows, width, int(indices[at])), UNIT_BLOCK)
            second = float32_at(row_at(rows, width, int(indices[at + 1])), UNIT_BLOCK)
            third = float32_at(row_at(rows, width, int(indices[at + 2])), UNIT_BLOCK)
            fourth = float32_at(row_at(rows, width, int(indices[at + 3])), UNIT_BLOCK)
            one, two = values[at], values[at + 1]
            three, four = values[at + 2], values[at + 3]
            for unit in range(UNIT_BLOCK):
                sums[unit] += (
                    one * first[unit] + two * second[unit] + three * third[unit] + four * fourth[unit]
                )
        for unit in range(UNIT_BLOCK):
            units[start + unit] = sums[unit]


@float_rule
def output_of_layer(address: int, inputs: int, outputs: int, units: Float32Array, number: int) -> float:
    """Return one output of the last layer.

    Args:
        address: address of the layer.
        inputs: number of its inputs.
        outputs: number of its outputs.
        units: its inputs, padded with zeros to the `padded_width`.
        number: index of the output.
    """
    width, biases = padded_width(inputs), padded_width(outputs)
    bias = float32_at(address, biases)
    weights = float32_at(address + BYTES * (biases + number * width), width)
    total: float = bias[number]
    for unit in range(width):
        total += units[unit] * weights[unit]
    return total


@rule
def row_at(address: int, width: int, number: int) -> int:
    """Return the address of the weights of an input; they follow the biases."""
    return address + BYTES * width * (1 + number)


@rule
def end_of_layer(address: int, inputs: int, outputs: int) -> int:
    """Return the address after a hidden layer."""
    return address + BYTES * (inputs + 1) * padded_width(outputs)


@rule
def apply_relu(units: Float32Array, size: int) -> None:
    """Set negative values to 0, in place."""
    for unit in range(size):
        units[unit] = units[unit] if units[unit] > _ZERO else _ZERO


@rule
def apply_tanh(units: Float32Array, size: int) -> None:
    """Apply the hyperbolic tangent, in place."""
    for unit in range(size):
        units[unit] = math.tanh(units[unit])
