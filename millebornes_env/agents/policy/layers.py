"""The layers of a perceptron as rules: which inputs are not 0, and the sums of their weights."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import float32_at, float_rule, rule, stack_array
from millebornes_env.engine.numba.simd import from_front, lowest_in, set_of_numbers

Int8Array = npt.NDArray[np.int8]
Int32Array = npt.NDArray[np.int32]
Float32Array = npt.NDArray[np.float32]

BYTES: Final = 4
"""Of a weight."""
UNITS_AT_ONCE: Final = 64
"""So many sums fit into the registers, and so many bits into an int; rows of weights are multiples of it."""
ROWS_AT_ONCE: Final = 4
"""That many inputs are added each time that the sums are gone through."""
_ZERO: Final = np.float32(0.0)


@rule
def padded_width(width: int) -> int:
    """Return the length of a row of weights, with the zeros at its end."""
    return (width + UNITS_AT_ONCE - 1) & -UNITS_AT_ONCE


@rule
def gather_active(
    numbers: Int8Array | Float32Array, size: int, indices: Int32Array, values: Float32Array
) -> int:
    """List the numbers that are not 0.

    Args:
        numbers: [size or more], with zeros behind up to the `padded_width`.
        size: how many there are.
        indices: int32[units + ROWS_AT_ONCE], overwritten: which numbers they are.
        values: float32[units + ROWS_AT_ONCE], overwritten: the numbers.

    Returns:
        How many are listed; some zeros stand at the end, so that it is a multiple of ROWS_AT_ONCE.
    """
    count = 0
    for first in range(0, size, UNITS_AT_ONCE):
        result = set_of_numbers(numbers, first, UNITS_AT_ONCE)
        while result != 0:
            place = first + lowest_in(result)
            indices[from_front(count)] = place
            values[from_front(count)] = numbers[from_front(place)]
            count += 1
            result &= result - 1
    for more in range(ROWS_AT_ONCE):
        indices[from_front(count + more)] = 0
        values[from_front(count + more)] = _ZERO
    return (count + ROWS_AT_ONCE - 1) & -ROWS_AT_ONCE


@float_rule
def sparse_affine(
    address: int, width: int, indices: Int32Array, values: Float32Array, count: int, units: Float32Array
) -> None:
    """An affine layer of sparse inputs, before its activation.

    A few units at a time, so that their sums stay in registers until all inputs have been added.

    Args:
        address: of the layer.
        width: of its rows, a multiple of UNITS_AT_ONCE.
        indices: of the inputs that are not 0.
        values: of those inputs.
        count: how many there are, a multiple of ROWS_AT_ONCE.
        units: float32[units + ROWS_AT_ONCE], overwritten.
    """
    sums = stack_array(np.float32, UNITS_AT_ONCE)
    for start in range(0, width, UNITS_AT_ONCE):
        bias = float32_at(address + BYTES * start, UNITS_AT_ONCE)
        rows = address + BYTES * start
        for unit in range(UNITS_AT_ONCE):
            sums[unit] = bias[unit]
        for at in range(0, count, ROWS_AT_ONCE):
            first = float32_at(row_at(rows, width, int(indices[from_front(at)])), UNITS_AT_ONCE)
            second = float32_at(row_at(rows, width, int(indices[from_front(at + 1)])), UNITS_AT_ONCE)
            third = float32_at(row_at(rows, width, int(indices[from_front(at + 2)])), UNITS_AT_ONCE)
            fourth = float32_at(row_at(rows, width, int(indices[from_front(at + 3)])), UNITS_AT_ONCE)
            one, two = values[from_front(at)], values[from_front(at + 1)]
            three, four = values[from_front(at + 2)], values[from_front(at + 3)]
            for unit in range(UNITS_AT_ONCE):
                sums[unit] += (
                    one * first[unit] + two * second[unit] + three * third[unit] + four * fourth[unit]
                )
        for unit in range(UNITS_AT_ONCE):
            units[from_front(start + unit)] = sums[unit]


@float_rule
def output_of_layer(address: int, inputs: int, outputs: int, units: Float32Array, number: int) -> float:
    """Return one output of the last layer.

    Args:
        address: of the layer.
        inputs: number of its inputs.
        outputs: number of its outputs.
        units: its inputs, zeros behind them up to the `padded_width`.
        number: of the output.
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
    """Return the address of the weights of an input; those of all inputs stand behind the biases."""
    return address + BYTES * width * (1 + number)


@rule
def end_of_layer(address: int, inputs: int, outputs: int) -> int:
    """Return the address behind a hidden layer."""
    return address + BYTES * (inputs + 1) * padded_width(outputs)


@rule
def apply_relu(units: Float32Array, size: int) -> None:
    """Set negative values to 0, in place."""
    for unit in range(size):
        units[unit] = units[unit] if units[unit] > _ZERO else _ZERO


@rule
def apply_tanh(units: Float32Array, size: int) -> None:
    """Every unit between -1 and 1."""
    for unit in range(size):
        units[unit] = math.tanh(units[unit])
