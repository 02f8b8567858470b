"""Compiled kernels that evaluate and update a perceptron and skip zeros, unlike PyTorch's dense products.

Of the 266 inputs of a network for Mille Bornes some 47 are not 0, of 42 actions some 7 are legal, and a fifth
to a half of the hidden units is active. Dense products compute all of them. Here every layer but the last
iterates over a list of its nonzero inputs. The outputs of a network are those of actions, of which only the
legal ones are computed, and a last one, the value. The backward pass uses the same lists.

All weights are one block of numbers, layer by layer: in a hidden layer a line of weights for each input, in
the last layer one for each output. Lines are padded with zeros to a multiple of `TILE`, so that the machine
code does not depend on the widths: a tile of a line's units stays in registers while the inputs are
processed. The weights of the first layer are multiplied by the scale of the inputs.

Each thread takes a fixed share of the rows in order, and the gradients of the threads are summed in order, so
that the same number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from millebornes_env.agents.policy.layers import apply_relu
from millebornes_env.engine.numba.compiling import (
    float_kernel,
    float_rule,
    parallel_float_kernel,
    prange,
    rule,
    stack_array,
)
from train.common.games import Float32Array, Int8Array, Int32Array, Int64Array

TILE: Final = 128
"""Units that are computed together."""
LINES, WIDTH, WEIGHTS, BIASES = range(4)
"""Columns of `Weights.layout`."""

_ZERO: Final = np.float32(0.0)
_ALIGNMENT: Final = 16  # numbers in the widest registers, and in a line of the cache
_BETA_1: Final = 0.9
_BETA_2: Final = 0.999
_NORM_MARGIN: Final = 1e-6  # that of torch.nn.utils.clip_grad_norm_

Indices = npt.NDArray[np.uint16] | Int32Array
"""Indices of inputs or outputs of a layer."""


class Weights(NamedTuple):
    """The weights of L layers, the last one included."""

    block: Float32Array  # [M] all weights and biases
    layout: Int64Array  # [L, 4] of each layer: its lines, their width, offsets of its weights and biases


class Lists(NamedTuple):
    """The active inputs of each layer, for S rows; K outputs, each array as wide as the widest layer."""

    inputs: npt.NDArray[np.uint16]  # [S, L, width] indices of the inputs that are not 0
    amounts: Float32Array  # [S, L, width] values of those inputs
    counts: Int64Array  # [S, L] number of those inputs
    units: Float32Array  # [S, width] the last hidden layer
    outputs: Int32Array  # [S, K] the legal actions, and behind them the value
    output_counts: Int64Array  # [S] number of those outputs


class Descent(NamedTuple):
    """Gradients, and the state of Adam (Kingma and Ba 2015), of a network whose block has M numbers."""

    gradients: Float32Array  # [threads, M] of each thread's rows
    deltas: Float32Array  # [threads, L, width] scratch: derivatives of the loss by the hidden units
    total: Float32Array  # [M] of all rows, by the weights as they are learned
    scale: Float32Array  # [M] of the inputs of the first layer; 1 elsewhere
    weights: Float32Array  # [M] as they are learned, without the scale
    mean: Float32Array  # [M] of the gradients
    square: Float32Array  # [M] mean of their squares


def layout_of(widths: Sequence[int]) -> Int64Array:
    """Compute `Weights.layout` from the widths of the rows, of each hidden layer, and of the outputs."""
    layout = np.zeros((len(widths) - 1, 4), np.int64)
    start = 0
    for number, (before, after) in enumerate(pairwise(widths)):
        is_last = number == len(layout) - 1
        lines, width = (after, _padded(before, TILE)) if is_last else (before, _padded(after, TILE))
        biases = start + lines * width
        layout[number] = lines, width, start, biases
        start = biases + _padded(lines if is_last else width, _ALIGNMENT)
    return layout


def _padded(width: int, multiple: int) -> int:
    return -(-width // multiple) * multiple


def layers_in(block: Float32Array, widths: Sequence[int]) -> list[tuple[Float32Array, Float32Array]]:
    """Return weight [outputs, inputs] and bias [outputs] of each layer, as views of a block float32[M]."""
    layout = layout_of(widths)
    result = []
    for number, (before, after) in enumerate(pairwise(widths)):
        lines, width, start, biases = (int(offset) for offset in layout[number])
        weights = block[start:biases].reshape(lines, width)
        is_last = number == len(layout) - 1
        result.append(
            (weights[:, :before] if is_last else weights[:, :after].T, block[biases : biases + after])
        )
    return result


def aligned_zeros(*shape: int) -> Float32Array:
    """Allocate float32[shape] of zeros, aligned to a cache line.

    Otherwise registers as wide as a line are read from two lines each time, at half the speed.
    """
    count = int(np.prod(shape))
    memory = np.zeros(count + _ALIGNMENT, np.float32)
    start = -memory.ctypes.data % (_ALIGNMENT * memory.itemsize) // memory.itemsize
    return memory[start : start + count].reshape(shape)


def new_lists(rows: int, widths: Sequence[int]) -> Lists:
    """Allocate the lists of some rows."""
    layers, width = len(widths) - 1, max(_padded(units, TILE) for units in widths[:-1])
    return Lists(
        np.zeros((rows, layers, width), np.uint16),
        aligned_zeros(rows, layers, width),
        np.zeros((rows, layers), np.int64),
        aligned_zeros(rows, width),
        np.zeros((rows, widths[-1]), np.int32),
        np.zeros(rows, np.int64),
    )


# Forwards --------------------------------------------------------------------------------------------------


@rule
def list_inputs(row: Int8Array, inputs: npt.NDArray[np.uint16], amounts: Float32Array) -> int:
    """List the numbers of a row that are not 0, and return their count.

    Two loops: the first has no branch, which could not be predicted, and is faster without the amounts.
    """
    count = np.uint64(0)
    for index in range(len(row)):
        inputs[count] = index
        count += np.uint64(row[index] != 0)
    for number in range(int(count)):
        amounts[number] = np.float32(row[inputs[number]])
    return int(count)


@rule
def list_active(
    units: Float32Array, width: int, inputs: npt.NDArray[np.uint16], amounts: Float32Array
) -> int:
    """List the units above 0, which a ReLU leaves, and return their count."""
    count = np.uint64(0)
    for unit in range(width):
        inputs[count] = unit
        count += np.uint64(units[unit] > _ZERO)
    for number in range(int(count)):
        amounts[number] = units[inputs[number]]
    return int(count)


@rule
def list_outputs(mask: Int8Array, last: int, outputs: Int32Array) -> int:
    """List the legal outputs by a mask int8[A], then the last, which is always legal; return their number."""
    count = np.uint64(0)
    for action in range(last):
        outputs[count] = action
        count += np.uint64(mask[action] != 0)
    outputs[count] = last
    return int(count) + 1


@float_rule
def add_lines(
    network: Weights,
    layer: int,
    inputs: npt.NDArray[np.uint16],
    amounts: Float32Array,
    count: int,
    units: Float32Array,
) -> None:
    """Write the pre-activations of a hidden layer: biases, plus a line of weights for each input."""
    width, weights = network.layout[layer, WIDTH], network.layout[layer, WEIGHTS]
    biases = network.layout[layer, BIASES]
    sums = stack_array(np.float32, TILE)
    for tile in range(0, width, TILE):
        bias, written = network.block[biases + tile : biases + tile + TILE], units[tile : tile + TILE]
        for unit in range(TILE):
            sums[unit] = bias[unit]
        for number in range(count):
            start = weights + np.int64(inputs[number]) * width + tile
            line = network.block[start : start + TILE]
            for unit in range(TILE):
                sums[unit] += amounts[number] * line[unit]
        for unit in range(TILE):
            written[unit] = sums[unit]


@float_rule
def add_dots(
    network: Weights, layer: int, lines: Indices, count: int, units: Float32Array, sums: Float32Array
) -> None:
    """Add to the sums of some lines of a layer the products of those lines with units."""
    width, weights = network.layout[layer, WIDTH], network.layout[layer, WEIGHTS]
    own = stack_array(np.float32, TILE)
    for tile in range(0, width, TILE):
        given = units[tile : tile + TILE]
        for unit in range(TILE):
            own[unit] = given[unit]
        for number in range(count):
            start = weights + np.int64(lines[number]) * width + tile
            line = network.block[start : start + TILE]
            total = _ZERO
            for unit in range(TILE):
                total += own[unit] * line[unit]
            sums[lines[number]] += total


@float_kernel
def evaluate_row(
    network: Weights, row: Int8Array, mask: Int8Array, lists: Lists, slot: int, logits: Float32Array
) -> None:
    """Write the outputs of the legal actions of a row, and the last one; the others stay as they were."""
    units, last = lists.units[slot], len(network.layout) - 1
    count = list_inputs(row, lists.inputs[slot, 0], lists.amounts[slot, 0])
    lists.counts[slot, 0] = count
    for layer in range(last):
        add_lines(network, layer, lists.inputs[slot, layer], lists.amounts[slot, layer], count, units)
        width = network.layout[layer, WIDTH]
        if layer < last - 1:
            count = list_active(units, width, lists.inputs[slot, layer + 1], lists.amounts[slot, layer + 1])
            lists.counts[slot, layer + 1] = count
        else:
            apply_relu(units, width)
    outputs = lists.outputs[slot]
    count = list_outputs(mask, network.layout[last, LINES] - 1, outputs)
    lists.output_counts[slot] = count
    biases = network.layout[last, BIASES]
    for number in range(count):
        logits[outputs[number]] = network.block[biases + np.int64(outputs[number])]
    add_dots(network, last, outputs, count, units, logits)


@parallel_float_kernel
def evaluate(
    network: Weights,
    observations: Int8Array,
    masks: Int8Array,
    rows: Int64Array,
    lists: Lists,
    logits: Float32Array,
    threads: int,
) -> None:
    """Evaluate rows of observations.

    Args:
        network: the weights.
        observations: int8[R, D].
        masks: int8[R, A]; the network may have from one output to A + 1.
        rows: int64[B], indices of the rows.
        lists: with a slot for each of the B rows, kept for `backward`, or else for each thread.
        logits: float32[B, K], overwritten for legal actions and in the last column.
        threads: threads that share the rows.
    """
    count, keeps = len(rows), len(lists.counts) >= len(rows)
    for thread in prange(threads):
        own = int(np.int64(thread))  # Numba counts threads in unsigned integers
        for index in range(thread * count // threads, (thread + 1) * count // threads):
            row, slot = rows[index], index if keeps else own
            evaluate_row(network, observations[row], masks[row], lists, slot, logits[index])


# Backwards -------------------------------------------------------------------------------------------------


@float_rule
def backward_last(
    network: Weights,
    gradient: Float32Array,
    by_logit: Float32Array,
    outputs: Int32Array,
    count: int,
    units: Float32Array,
    delta: Float32Array,
) -> None:
    """Add the gradient of the last layer, and write the derivative by the last hidden units."""
    last = len(network.layout) - 1
    width, weights = network.layout[last, WIDTH], network.layout[last, WEIGHTS]
    biases = network.layout[last, BIASES]
    sums, active = stack_array(np.float32, TILE), stack_array(np.float32, TILE)
    for tile in range(0, width, TILE):
        own, written = units[tile : tile + TILE], delta[tile : tile + TILE]
        for unit in range(TILE):
            sums[unit] = 0.0
            active[unit] = own[unit]
        for number in range(count):
            start = weights + np.int64(outputs[number]) * width + tile
            line, learned = network.block[start : start + TILE], gradient[start : start + TILE]
            share = by_logit[outputs[number]]
            for unit in range(TILE):
                sums[unit] += share * line[unit]
            for unit in range(TILE):
                learned[unit] += share * active[unit]
        for unit in range(TILE):
            written[unit] = sums[unit] if active[unit] > 0.0 else np.float32(0.0)
    for number in range(count):
        gradient[biases + np.int64(outputs[number])] += by_logit[outputs[number]]


@float_rule
def backward_hidden(
    network: Weights,
    layer: int,
    gradient: Float32Array,
    inputs: npt.NDArray[np.uint16],
    amounts: Float32Array,
    count: int,
    delta: Float32Array,
) -> None:
    """Add the gradient of a hidden layer: its biases, and the lines of the inputs that are not 0."""
    width, weights = network.layout[layer, WIDTH], network.layout[layer, WEIGHTS]
    biases = network.layout[layer, BIASES]
    own = stack_array(np.float32, TILE)
    for tile in range(0, width, TILE):
        learned, given = gradient[biases + tile : biases + tile + TILE], delta[tile : tile + TILE]
        for unit in range(TILE):
            own[unit] = given[unit]
        for unit in range(TILE):
            learned[unit] += own[unit]
        for number in range(count):
            start = weights + np.int64(inputs[number]) * width + tile
            line = gradient[start : start + TILE]
            amount = amounts[number]
            for unit in range(TILE):
                line[unit] += amount * own[unit]


@float_kernel
def backward_row(
    network: Weights, descent: Descent, lists: Lists, by_logit: Float32Array, thread: int, slot: int
) -> None:
    """Add the gradient of one row to that of a thread."""
    gradient, top = descent.gradients[thread], len(network.layout) - 2
    delta = descent.deltas[thread, top]
    outputs, count = lists.outputs[slot], lists.output_counts[slot]
    backward_last(network, gradient, by_logit, outputs, count, lists.units[slot], delta)
    for layer in range(top, -1, -1):
        inputs, amounts = lists.inputs[slot, layer], lists.amounts[slot, layer]
        count, delta = lists.counts[slot, layer], descent.deltas[thread, layer]
        backward_hidden(network, layer, gradient, inputs, amounts, count, delta)
        if layer > 0:  # the derivative by the units before; 0 for units that are not listed
            before = descent.deltas[thread, layer - 1]
            before[: network.layout[layer - 1, WIDTH]] = 0.0
            add_dots(network, layer, inputs, count, delta, before)


@float_kernel
def sum_gradients(descent: Descent, first: int, last: int) -> None:
    """Write the sum of the threads' gradients by the weights from `first` to `last` - 1."""
    total, scale = descent.total[first:last], descent.scale[first:last]
    total[:] = 0.0
    for thread in range(len(descent.gradients)):
        line = descent.gradients[thread, first:last]
        for number in range(last - first):
            total[number] += line[number]
    for number in range(last - first):
        total[number] *= scale[number]


@parallel_float_kernel
def backward(network: Weights, descent: Descent, lists: Lists, by_logit: Float32Array, threads: int) -> None:
    """Write `total`, the gradient by all weights, of the rows that `evaluate` has kept lists of.

    The gradient of the loss by each output is `by_logit`, float32[B, K].
    """
    rows, numbers = len(by_logit), len(descent.total)
    descent.gradients[:] = 0.0
    for thread in prange(threads):
        for index in range(thread * rows // threads, (thread + 1) * rows // threads):
            backward_row(network, descent, lists, by_logit[index], thread, index)
    for thread in prange(threads):
        sum_gradients(descent, thread * numbers // threads, (thread + 1) * numbers // threads)


@float_kernel
def descend(
    descent: Descent, block: Float32Array, step: int, learning_rate: float, epsilon: float, max_norm: float
) -> None:
    """Clip the gradient by its norm and take a step of Adam, like `clip_grad_norm_` and `torch.optim.Adam`.

    The state, and in `block`, float32[M], the new weights times the scale are overwritten. Steps are counted
    from 1.
    """
    gradient = descent.total
    squares = np.float32(0.0)
    for number in range(len(gradient)):
        squares += gradient[number] * gradient[number]
    clip = np.float32(min(1.0, max_norm / (sqrt(squares) + _NORM_MARGIN)))
    rate = np.float32(learning_rate / (1.0 - _BETA_1**step))
    root = np.float32(1.0 / sqrt(1.0 - _BETA_2**step))
    small, one = np.float32(epsilon), np.float32(1.0)
    beta_1, beta_2 = np.float32(_BETA_1), np.float32(_BETA_2)
    for number in range(len(gradient)):
        slope = clip * gradient[number]
        mean = beta_1 * descent.mean[number] + (one - beta_1) * slope
        square = beta_2 * descent.square[number] + (one - beta_2) * slope * slope
        descent.mean[number], descent.square[number] = mean, square
        weight = descent.weights[number] - rate * mean / (np.float32(sqrt(square)) * root + small)
        descent.weights[number] = weight
        block[number] = weight * descent.scale[number]


# Between PyTorch and the kernels ---------------------------------------------------------------------------


class SparseBackend:
    """Evaluates and updates the layers of a perceptron by the kernels of this file.

    Between updates PyTorch's parameters and optimizer hold weights and moments, so checkpoints are the same
    as with PyTorch's products.

    Attributes:
        network: the weights as the kernels read them.
        widths: of the rows, of each hidden layer, and of the outputs.
        gradients: the parameter whose `grad` several processes average.
    """

    def __init__(
        self,
        linears: Sequence[nn.Linear],
        scale: Float32Array,
        threads: int,
        optimizer: torch.optim.Optimizer | None = None,
    ) -> None:
        """Allocate all arrays; `load` reads the weights.

        The factors of the inputs are `scale`, float32[D]. Without Adam, the optimizer, nothing is learned.
        """
        self._parameters = [part for layer in linears for part in (layer.weight, layer.bias)]
        self._threads, self._optimizer = threads, optimizer
        self.widths = [len(scale), *(layer.out_features for layer in linears)]
        layout = layout_of(self.widths)
        size = int(layout[-1, BIASES]) + _padded(self.widths[-1], _ALIGNMENT)
        self.network = Weights(aligned_zeros(size), layout)
        self._thread_lists, self._row_lists = new_lists(threads, self.widths), new_lists(0, self.widths)
        factors = aligned_zeros(size)
        factors[:] = 1.0
        layers_in(factors, self.widths)[0][0][:] = scale
        self._descent = Descent(
            aligned_zeros(threads, size),
            aligned_zeros(threads, len(layout), self._thread_lists.units.shape[1]),
            aligned_zeros(size),
            factors,
            *(aligned_zeros(size) for _ in range(3)),
        )
        self._step = 0
        holder = nn.Parameter(torch.zeros(size))
        holder.grad = torch.from_numpy(self._descent.total)
        self.gradients = [holder]

    def load(self) -> None:
        """Read the weights of the layers after a change."""
        self._copy_in(self._parameters, self._descent.weights)
        np.multiply(self._descent.weights, self._descent.scale, out=self.network.block)

    def outputs(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """Return the outputs of rows, float32[N, K]: those of legal actions and the last one; else 0."""
        rows = np.arange(len(observations))
        return self._evaluated(observations, masks, rows, self._thread_lists)

    def _evaluated(
        self, observations: Int8Array, masks: Int8Array, rows: Int64Array, lists: Lists
    ) -> Float32Array:
        logits = np.zeros((len(rows), self.widths[-1]), np.float32)
        evaluate(self.network, observations, masks, rows, lists, logits, self._threads)
        return logits

    def begin(self) -> None:
        """Read weights and moments for an update."""
        self.load()
        assert self._optimizer is not None
        states = [self._optimizer.state[parameter] for parameter in self._parameters]
        self._step = int(states[0]["step"]) if states[0] else 0
        for name, moments in (("exp_avg", self._descent.mean), ("exp_avg_sq", self._descent.square)):
            moments[:] = 0.0
            if self._step:
                self._copy_in([state[name] for state in states], moments)

    def forward(self, observations: Int8Array, masks: Int8Array, rows: Int64Array) -> Float32Array:
        """Return the outputs of some rows, float32[B, K], and keep what `backward` needs."""
        if len(self._row_lists.counts) < len(rows):
            self._row_lists = new_lists(len(rows) + len(rows) // 8, self.widths)
        return self._evaluated(observations, masks, rows, self._row_lists)

    def backward(self, by_logit: Float32Array) -> None:
        """Compute the gradient by all weights from that by the outputs of `forward`."""
        backward(self.network, self._descent, self._row_lists, by_logit, self._threads)

    def descend(self, max_grad_norm: float) -> None:
        """Clip the gradient, and take a step of Adam with the learning rate of the optimizer."""
        assert self._optimizer is not None
        self._step += 1
        group = self._optimizer.param_groups[0]
        descend(self._descent, self.network.block, self._step, group["lr"], group["eps"], max_grad_norm)

    def end(self) -> None:
        """Write weights and moments back to the layers and the optimizer."""
        assert self._optimizer is not None
        self._copy_out(self._descent.weights, self._parameters)
        states = [self._optimizer.state[parameter] for parameter in self._parameters]
        for state, parameter in zip(states, self._parameters, strict=True):
            if not state:
                state |= {"exp_avg": torch.zeros_like(parameter), "exp_avg_sq": torch.zeros_like(parameter)}
            state["step"] = torch.tensor(float(self._step))
        for name, moments in (("exp_avg", self._descent.mean), ("exp_avg_sq", self._descent.square)):
            self._copy_out(moments, [state[name] for state in states])

    @torch.no_grad()
    def _copy_in(self, tensors: Sequence[Tensor], block: Float32Array) -> None:
        """Copy the weight and the bias of each layer to a block."""
        for number, layer in enumerate(layers_in(block, self.widths)):
            for part, array in enumerate(layer):
                array[:] = tensors[2 * number + part].numpy()

    @torch.no_grad()
    def _copy_out(self, block: Float32Array, tensors: Sequence[Tensor]) -> None:
        """Copy the layers of a block to the weight and the bias of each layer."""
        for number, layer in enumerate(layers_in(block, self.widths)):
            for part, array in enumerate(layer):
                tensors[2 * number + part].copy_(torch.from_numpy(array))
