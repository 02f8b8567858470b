"""Gradients and Adam over sparse rows: the update of the sparse learner, compiled.

`sparse_network` says what is sparse. Each thread takes its share of a minibatch row by row: lists, logits,
the loss and its gradient by the logits (`train.common.ppo.gradient_of_row`), then backwards through what the
lists name, added to a gradient of the thread's own. The gradients of the threads are summed in order, so that
the same number of threads gives the same bits.
"""

from __future__ import annotations

from math import sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import (
    float_kernel,
    float_rule,
    parallel_float_kernel,
    prange,
    stack_array,
)
from train.common.ppo import (
    Float32Array,
    Int8Array,
    Int32Array,
    LossCoefs,
    Minibatch,
    divide_row,
    gradient_of_row,
)
from train.common.sparse_network import (
    BIASES,
    TILE,
    WEIGHTS,
    WIDTH,
    Lists,
    SparseNetwork,
    add_dots,
    evaluate_hidden,
    list_outputs,
    write_logits,
)

_BETA_1: Final = 0.9
_BETA_2: Final = 0.999
_NORM_MARGIN: Final = 1e-6  # that of torch.nn.utils.clip_grad_norm_


# The gradient ----------------------------------------------------------------------------------------------


class Descent(NamedTuple):
    """Buffers in which a gradient is summed, for a network whose block has M numbers."""

    gradients: Float32Array  # [threads, M] of each thread's rows
    deltas: (
        Float32Array  # [threads, L, ROOM] scratch: the loss's derivative by the units of each hidden layer
    )
    total: Float32Array  # [M] overwritten: of all rows, by the weights as they are learned
    scale: Float32Array  # [M] of the inputs of the first layer; 1 elsewhere


@float_rule
def add_line(sums: Float32Array, line: Float32Array) -> None:
    """Add a line to another one."""
    for unit in range(len(sums)):
        sums[unit] += line[unit]


@float_rule
def backward_last(
    network: SparseNetwork,
    gradient: Float32Array,
    by_logit: Float32Array,
    outputs: Int32Array,
    count: int,
    units: Float32Array,
    delta: Float32Array,
) -> None:
    """Backwards through the last layer: its gradient, and the derivative by the last hidden units.

    Args:
        network: that was evaluated.
        gradient: float32[M], added to.
        by_logit: float32[A + 1], the gradient by the logits and, behind them, the value.
        outputs: those that count: the legal actions, and behind them the value.
        count: how many they are.
        units: the last hidden units.
        delta: float32[ROOM], overwritten.
    """
    last = len(network.layout) - 1
    width, weights = network.layout[last, WIDTH], network.layout[last, WEIGHTS]
    biases = network.layout[last, BIASES]
    sums, active = stack_array(np.float32, TILE), stack_array(np.float32, TILE)
    for tile in range(0, width, TILE):
        own, found = units[tile : tile + TILE], delta[tile : tile + TILE]
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
            found[unit] = sums[unit] if active[unit] > 0.0 else np.float32(0.0)
    for number in range(count):
        gradient[biases + np.int64(outputs[number])] += by_logit[outputs[number]]


@float_rule
def backward_hidden(
    network: SparseNetwork,
    layer: int,
    gradient: Float32Array,
    places: npt.NDArray[np.uint16],
    amounts: Float32Array,
    count: int,
    delta: Float32Array,
) -> None:
    """The gradient of a hidden layer: its biases, and the lines of the inputs that are not 0."""
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
            start = weights + np.int64(places[number]) * width + tile
            line = gradient[start : start + TILE]
            amount = amounts[number]
            for unit in range(TILE):
                line[unit] += amount * own[unit]


@float_rule
def backward_units(
    network: SparseNetwork,
    layer: int,
    places: npt.NDArray[np.uint16],
    count: int,
    delta: Float32Array,
    before: Float32Array,
) -> None:
    """The derivative by the inputs of a hidden layer: units, 0 where they are not listed."""
    before[: network.layout[layer - 1, WIDTH]] = 0.0
    add_dots(network, layer, places, count, delta, before)


@float_kernel
def add_gradient_of_row(
    network: SparseNetwork,
    descent: Descent,
    batch: Minibatch,
    coefs: LossCoefs,
    observations: Int8Array,
    lists: Lists,
    thread: int,
    row: int,
) -> None:
    """Forwards and backwards through the network with one row, whose gradient is added to the thread's."""
    logits, by_logit, outputs = batch.logits[thread], batch.gradient[thread], batch.legal[thread]
    gradient, units = descent.gradients[thread], lists.units[thread]
    evaluate_hidden(network, observations[row], lists, thread)
    count = list_outputs(batch.masks[row], outputs)
    write_logits(network, outputs, count, units, logits)
    gradient_of_row(batch, coefs, thread, row, thread)
    divide_row(by_logit, len(batch.rows))
    outputs[count - 1] = len(logits) - 1
    top = len(network.layout) - 2
    delta = descent.deltas[thread, top]
    backward_last(network, gradient, by_logit, outputs, count, units, delta)
    for layer in range(top, -1, -1):
        places, amounts = lists.places[thread, layer], lists.amounts[thread, layer]
        entries, delta = lists.counts[thread, layer], descent.deltas[thread, layer]
        backward_hidden(network, layer, gradient, places, amounts, entries, delta)
        if layer > 0:
            backward_units(network, layer, places, entries, delta, descent.deltas[thread, layer - 1])


@float_kernel
def add_gradient_of_range(
    network: SparseNetwork,
    descent: Descent,
    batch: Minibatch,
    coefs: LossCoefs,
    observations: Int8Array,
    lists: Lists,
    thread: int,
    threads: int,
) -> None:
    """A thread's share of a minibatch."""
    rows = len(batch.rows)
    descent.gradients[thread][:] = 0.0
    batch.sums[thread][:] = 0.0
    for index in range(thread * rows // threads, (thread + 1) * rows // threads):
        add_gradient_of_row(network, descent, batch, coefs, observations, lists, thread, batch.rows[index])


@float_kernel
def sum_gradients(descent: Descent, first: int, last: int) -> None:
    """Write the sum of the threads' gradients by the weights from `first` to `last` - 1."""
    total, scale = descent.total[first:last], descent.scale[first:last]
    total[:] = 0.0
    for thread in range(len(descent.gradients)):
        add_line(total, descent.gradients[thread, first:last])
    for number in range(last - first):
        total[number] *= scale[number]


@parallel_float_kernel
def write_sparse_gradient(
    network: SparseNetwork,
    descent: Descent,
    batch: Minibatch,
    coefs: LossCoefs,
    observations: Int8Array,
    lists: Lists,
    threads: int,
) -> None:
    """The gradient of the mean loss of a minibatch by all weights, and sums of the statistics.

    Args:
        network: that is learned.
        descent: its `total` is overwritten.
        batch: its logits and gradient are scratch here: a line for each thread.
        coefs: of the loss.
        observations: int8[R, D], of the whole rollout.
        lists: of the threads.
        threads: that share the rows.
    """
    for thread in prange(threads):
        add_gradient_of_range(network, descent, batch, coefs, observations, lists, thread, threads)
    numbers = len(descent.total)
    for thread in prange(threads):
        sum_gradients(descent, thread * numbers // threads, (thread + 1) * numbers // threads)


# Adam ------------------------------------------------------------------------------------------------------


class Adam(NamedTuple):
    """Weights and what Adam (Kingma and Ba 2015) keeps of them; M numbers."""

    weights: Float32Array  # [M] as they are learned
    mean: Float32Array  # [M] of the gradients
    square: Float32Array  # [M] mean of their squares


@float_kernel
def norm_of(gradient: Float32Array) -> float:
    """The Euclidean norm of a gradient."""
    squares = np.float32(0.0)
    for number in range(len(gradient)):
        squares += gradient[number] * gradient[number]
    return sqrt(squares)


@float_kernel
def descend(
    adam: Adam,
    gradient: Float32Array,
    scale: Float32Array,
    block: Float32Array,
    step: int,
    learning_rate: float,
    epsilon: float,
    max_norm: float,
) -> float:
    """Clip the gradient by its norm, and take a step of Adam, as `clip_grad_norm_` and `torch.optim.Adam` do.

    Args:
        adam: overwritten.
        gradient: float32[M].
        scale: float32[M], of the inputs.
        block: float32[M], overwritten: the new weights times the scale, what is evaluated.
        step: the number of this step, from 1.
        learning_rate: of this step.
        epsilon: of Adam.
        max_norm: at which the gradient is clipped.

    Returns:
        The norm before it was clipped.
    """
    norm = norm_of(gradient)
    clip = np.float32(min(1.0, max_norm / (norm + _NORM_MARGIN)))
    rate = np.float32(learning_rate / (1.0 - _BETA_1**step))
    root = np.float32(1.0 / sqrt(1.0 - _BETA_2**step))
    small, one = np.float32(epsilon), np.float32(1.0)
    beta_1, beta_2 = np.float32(_BETA_1), np.float32(_BETA_2)
    for number in range(len(gradient)):
        slope = clip * gradient[number]
        mean = beta_1 * adam.mean[number] + (one - beta_1) * slope
        square = beta_2 * adam.square[number] + (one - beta_2) * slope * slope
        adam.mean[number], adam.square[number] = mean, square
        weight = adam.weights[number] - rate * mean / (np.float32(sqrt(square)) * root + small)
        adam.weights[number] = weight
        block[number] = weight * scale[number]
    return norm
