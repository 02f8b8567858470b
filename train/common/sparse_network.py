"""A perceptron over rows that are mostly 0, evaluated where they are not: inference of the sparse learner.

Of the 266 numbers that a network is shown at Mille Bornes some 47 are not 0, of 42 actions some 7 are legal,
and a fifth to a half of the hidden units is active. Dense products pay for all of them. Here every layer but
the last goes through a list of its inputs that are not 0, and the last layer is worked out for the value and
for legal actions only.

All weights are one block of numbers, layer by layer: in a hidden layer a line of weights for each input, in
the last layer one for each output. Lines are padded with zeros to a multiple of `TILE`, so that the machine
code does not depend on the widths: a tile of a line's units stays in registers while its inputs are gone
through.
The weights of the first layer are multiplied with the scale of the inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.policy.layers import apply_relu
from millebornes_env.agents.policy.network import MAX_OBS_SIZE, MAX_UNITS
from millebornes_env.engine.numba.compiling import (
    float_kernel,
    float_rule,
    parallel_float_kernel,
    prange,
    rule,
    stack_array,
)
from train.common.ppo import Float32Array, Int8Array, Int32Array, Int64Array, Sampling, sample_range

TILE: Final = 128
"""Units that are worked out at once."""
ROOM: Final = max(MAX_OBS_SIZE, MAX_UNITS)
"""For a list of inputs of a layer."""
LINES, WIDTH, WEIGHTS, BIASES = range(4)
"""Columns of `SparseNetwork.layout`."""

_ZERO: Final = np.float32(0.0)
_ALIGNMENT: Final = 16  # numbers in the widest registers, and in a line of the cache


Places = npt.NDArray[np.uint16] | Int32Array
"""Indices of a layer's inputs or outputs."""


class SparseNetwork(NamedTuple):
    """A network of L layers, the last one included."""

    block: Float32Array  # [numbers] all weights and biases
    layout: Int64Array  # [L, 4] of each layer: its lines, their width, where weights and biases begin


class Lists(NamedTuple):
    """A thread's scratch for a row: each layer's nonzero inputs, and the last hidden units."""

    places: npt.NDArray[np.uint16]  # [threads, L, ROOM] which inputs they are
    amounts: Float32Array  # [threads, L, ROOM] how much they are
    counts: Int64Array  # [threads, L] how many they are
    units: Float32Array  # [threads, ROOM] the last hidden layer


def sparse_layout(widths: Sequence[int]) -> Int64Array:
    """Return the offsets of a network's layers in its block.

    Args:
        widths: of the rows, of each hidden layer, and of the outputs.

    Returns:
        int64[L, 4], as `SparseNetwork.layout`.
    """
    layout = np.zeros((len(widths) - 1, 4), np.int64)
    start = 0
    for number, (before, after) in enumerate(pairwise(widths)):
        is_last = number == len(layout) - 1
        lines, width = (after, _padded(before, TILE)) if is_last else (before, _padded(after, TILE))
        biases = start + lines * width
        layout[number] = lines, width, start, biases
        start = biases + _padded(lines if is_last else width, _ALIGNMENT)
    return layout


def block_size(layout: Int64Array) -> int:
    """Return the size of a network's block, padding included."""
    lines, _, _, biases = layout[-1]
    return int(biases) + _padded(int(lines), _ALIGNMENT)


def _padded(width: int, multiple: int) -> int:
    return -(-width // multiple) * multiple


def layers_in(block: Float32Array, widths: Sequence[int]) -> list[tuple[Float32Array, Float32Array]]:
    """Weight [outputs, inputs] and bias [outputs] of each layer, as views of a block.

    Args:
        block: float32[block_size].
        widths: as for `sparse_layout`.
    """
    layout = sparse_layout(widths)
    found = []
    for number, (before, after) in enumerate(pairwise(widths)):
        lines, width, start, biases = (int(place) for place in layout[number])
        weights = block[start:biases].reshape(lines, width)
        is_last = number == len(layout) - 1
        found.append(
            (weights[:, :before] if is_last else weights[:, :after].T, block[biases : biases + after])
        )
    return found


def aligned_zeros(*shape: int) -> Float32Array:
    """float32[shape] of zeros that begins with a line of the cache.

    A register as wide as a line would else be read from two lines each time, at half the speed.
    """
    count = int(np.prod(shape))
    room = np.zeros(count + _ALIGNMENT, np.float32)
    start = -room.ctypes.data % (_ALIGNMENT * room.itemsize) // room.itemsize
    return room[start : start + count].reshape(shape)


def new_lists(layers: int, threads: int) -> Lists:
    """Allocate what the threads need for a row each.

    Args:
        layers: of the network, L.
        threads: that share the rows.
    """
    shape = threads, layers, ROOM
    return Lists(
        np.zeros(shape, np.uint16),
        aligned_zeros(*shape),
        np.zeros((threads, layers), np.int64),
        aligned_zeros(threads, ROOM),
    )


@rule
def list_inputs(row: Int8Array, places: npt.NDArray[np.uint16], amounts: Float32Array) -> int:
    """List the numbers of a row that are not 0; returns how many they are.

    Two loops: the first has no branch, which could not be predicted, and is faster without the amounts.
    """
    count = np.uint64(0)
    for place in range(len(row)):
        places[count] = place
        count += np.uint64(row[place] != 0)
    for number in range(int(count)):
        amounts[number] = np.float32(row[places[number]])
    return int(count)


@rule
def list_active(
    units: Float32Array, width: int, places: npt.NDArray[np.uint16], amounts: Float32Array
) -> int:
    """List the units above 0, which a ReLU leaves; returns how many they are."""
    count = np.uint64(0)
    for unit in range(width):
        places[count] = unit
        count += np.uint64(units[unit] > _ZERO)
    for number in range(int(count)):
        amounts[number] = units[places[number]]
    return int(count)


@float_rule
def add_lines(
    network: SparseNetwork,
    layer: int,
    places: npt.NDArray[np.uint16],
    amounts: Float32Array,
    count: int,
    units: Float32Array,
) -> None:
    """The units of a hidden layer before its activation: biases, and a line of weights for each input."""
    width, weights = network.layout[layer, WIDTH], network.layout[layer, WEIGHTS]
    biases = network.layout[layer, BIASES]
    sums = stack_array(np.float32, TILE)
    for tile in range(0, width, TILE):
        bias, found = network.block[biases + tile : biases + tile + TILE], units[tile : tile + TILE]
        for unit in range(TILE):
            sums[unit] = bias[unit]
        for number in range(count):
            start = weights + np.int64(places[number]) * width + tile
            line = network.block[start : start + TILE]
            for unit in range(TILE):
                sums[unit] += amounts[number] * line[unit]
        for unit in range(TILE):
            found[unit] = sums[unit]


@float_rule
def add_dots(
    network: SparseNetwork, layer: int, places: Places, count: int, units: Float32Array, sums: Float32Array
) -> None:
    """Add to some sums the products of their lines of weights with units.

    Args:
        network: the network.
        layer: whose lines they are.
        places: which lines, and which sums.
        count: how many.
        units: float32[the width of a line or more].
        sums: added to.
    """
    width, weights = network.layout[layer, WIDTH], network.layout[layer, WEIGHTS]
    own = stack_array(np.float32, TILE)
    for tile in range(0, width, TILE):
        given = units[tile : tile + TILE]
        for unit in range(TILE):
            own[unit] = given[unit]
        for number in range(count):
            start = weights + np.int64(places[number]) * width + tile
            line = network.block[start : start + TILE]
            total = _ZERO
            for unit in range(TILE):
                total += own[unit] * line[unit]
            sums[places[number]] += total


@float_kernel
def evaluate_hidden(network: SparseNetwork, row: Int8Array, lists: Lists, thread: int) -> None:
    """Write the lists of a row and its last hidden units."""
    units = lists.units[thread]
    count = list_inputs(row, lists.places[thread, 0], lists.amounts[thread, 0])
    lists.counts[thread, 0] = count
    last = len(network.layout) - 2
    for layer in range(last + 1):
        places, amounts = lists.places[thread, layer], lists.amounts[thread, layer]
        add_lines(network, layer, places, amounts, count, units)
        width = network.layout[layer, WIDTH]
        if layer < last:
            count = list_active(
                units, width, lists.places[thread, layer + 1], lists.amounts[thread, layer + 1]
            )
            lists.counts[thread, layer + 1] = count
        else:
            apply_relu(units, width)


@rule
def list_outputs(mask: Int8Array, outputs: Int32Array) -> int:
    """List the legal actions, the lowest first, and the number of the value; returns how many they are.

    Args:
        mask: int8[A], 1 where an action is legal.
        outputs: int32[A + 1], overwritten.
    """
    count = np.uint64(0)
    for action in range(len(mask)):
        outputs[count] = action
        count += np.uint64(mask[action] != 0)
    outputs[count] = len(mask)
    return int(count) + 1


@float_rule
def write_logits(
    network: SparseNetwork, outputs: Int32Array, count: int, units: Float32Array, logits: Float32Array
) -> None:
    """Write some outputs; the others stay what they were."""
    last = len(network.layout) - 1
    biases = network.layout[last, BIASES]
    for number in range(count):
        logits[outputs[number]] = network.block[biases + np.int64(outputs[number])]
    add_dots(network, last, outputs, count, units, logits)


@float_kernel
def write_logits_of_range(
    network: SparseNetwork,
    rows: Int8Array,
    sampling: Sampling,
    lists: Lists,
    thread: int,
    first: int,
    last: int,
) -> None:
    """Evaluate the rows from `first` to `last` - 1."""
    outputs = sampling.legal[thread]
    for row in range(first, last):
        evaluate_hidden(network, rows[row], lists, thread)
        count = list_outputs(sampling.mask[row], outputs)
        write_logits(network, outputs, count, lists.units[thread], sampling.logits[row])


@parallel_float_kernel
def evaluate_and_sample(
    network: SparseNetwork,
    rows: Int8Array,
    sampling: Sampling,
    lists: Lists,
    key_0: int,
    key_1: int,
    threads: int,
) -> None:
    """Evaluate rows and sample an action of each, as `train.common.ppo.sample_actions` does.

    Args:
        network: that chooses.
        rows: int8[N, D].
        sampling: of those rows; their logits are overwritten.
        lists: of the threads.
        key_0: of the random numbers.
        key_1: likewise.
        threads: that share the rows.
    """
    count = len(rows)
    for thread in prange(threads):
        first, last = thread * count // threads, (thread + 1) * count // threads
        write_logits_of_range(network, rows, sampling, lists, thread, first, last)
        sample_range(sampling, thread, key_0, key_1, first, last)
