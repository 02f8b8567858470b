"""Gradients and Adam over sparse rows: the update of the sparse learner.

`sparse_network` says what is sparse. Each thread takes its share of a minibatch row by row: lists, logits,
the loss and its gradient by the logits (`train.common.ppo.gradient_of_row`), then backwards through what the
lists name, added to a gradient of the thread's own. The gradients of the threads are summed in order, so that
the same number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from millebornes_env.compile import float_kernel, float_rule, parallel_float_kernel, prange, stack_array
from train.common.network import Perceptron
from train.common.ppo import (
    STATISTICS,
    Float32Array,
    Float64Array,
    Int8Array,
    Int32Array,
    Int64Array,
    LossCoefs,
    Minibatch,
    Rollout,
    Sampling,
    divide_row,
    gradient_of_row,
)
from train.common.sparse_network import (
    BIASES,
    ROOM,
    TILE,
    WEIGHTS,
    WIDTH,
    Lists,
    SparseNetwork,
    block_size,
    dot,
    evaluate_and_sample,
    evaluate_hidden,
    layers_in,
    list_legal,
    new_lists,
    sparse_layout,
    write_logits,
)

_BETA_1: Final = 0.9
_BETA_2: Final = 0.999
_NORM_MARGIN: Final = 1e-6  # that of torch.nn.utils.clip_grad_norm_


# The gradient ----------------------------------------------------------------------------------------------


class Descent(NamedTuple):
    """What a gradient is added up in, for a network whose block has M numbers."""

    gradients: Float32Array  # [threads, M] of each thread's rows
    deltas: (
        Float32Array  # [threads, L, ROOM] scratch: the loss's derivative by the units of each hidden layer
    )
    total: Float32Array  # [M] overwritten: of all rows, by the weights as they are learned
    scale: Float32Array  # [M] of the inputs of the first layer; 1 elsewhere


@float_rule
def add_multiple(sums: Float32Array, amount: float, line: Float32Array, width: int) -> None:
    """Add a multiple of a line to another one."""
    for unit in range(width):
        sums[unit] += amount * line[unit]


@float_rule
def backward_last(
    network: SparseNetwork,
    gradient: Float32Array,
    by_logit: Float32Array,
    legal: Int32Array,
    count: int,
    units: Float32Array,
    delta: Float32Array,
) -> None:
    """Backwards through the last layer: its gradient, and the derivative by the last hidden units.

    Args:
        network: that was evaluated.
        gradient: float32[M], added to.
        by_logit: float32[A + 1], the gradient by the logits and, behind them, the value.
        legal: the legal actions and behind them the number of the value.
        count: how many they are, the value included.
        units: the last hidden units.
        delta: float32[ROOM], overwritten.
    """
    last = len(network.layout) - 1
    width, weights = network.layout[last, WIDTH], network.layout[last, WEIGHTS]
    biases = network.layout[last, BIASES]
    sums, active = stack_array(np.float32, TILE), stack_array(np.float32, TILE)
    for tile in range(0, width, TILE):
        own = units[tile : tile + TILE]
        for unit in range(TILE):
            sums[unit] = 0.0
            active[unit] = own[unit]
        for number in range(count):
            start = weights + np.int64(legal[number]) * width + tile
            line, learned = network.block[start : start + TILE], gradient[start : start + TILE]
            share = by_logit[legal[number]]
            for unit in range(TILE):
                sums[unit] += share * line[unit]
            for unit in range(TILE):
                learned[unit] += share * active[unit]
        for unit in range(TILE):
            delta[tile + unit] = sums[unit] if active[unit] > 0.0 else np.float32(0.0)
    for number in range(count):
        gradient[biases + np.int64(legal[number])] += by_logit[legal[number]]


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
        learned = gradient[biases + tile : biases + tile + TILE]
        for unit in range(TILE):
            own[unit] = delta[tile + unit]
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
    width, weights = network.layout[layer, WIDTH], network.layout[layer, WEIGHTS]
    before[: network.layout[layer - 1, WIDTH]] = 0.0
    for number in range(count):
        start = weights + np.int64(places[number]) * width
        before[places[number]] = dot(network.block[start : start + width], delta, width)


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
    logits, by_logit, legal = batch.logits[thread], batch.gradient[thread], batch.legal[thread]
    gradient, units = descent.gradients[thread], lists.units[thread]
    evaluate_hidden(network, observations[row], lists, thread)
    count = list_legal(batch.masks[row], legal)
    write_logits(network, legal, count, units, logits)
    gradient_of_row(batch, coefs, thread, row, thread)
    divide_row(by_logit, len(batch.rows))
    legal[count] = len(logits) - 1
    top = len(network.layout) - 2
    delta = descent.deltas[thread, top]
    backward_last(network, gradient, by_logit, legal, count + 1, units, delta)
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
    total = descent.total[first:last]
    total[:] = descent.gradients[0, first:last]
    for thread in range(1, len(descent.gradients)):
        add_multiple(total, np.float32(1.0), descent.gradients[thread, first:last], last - first)
    scale = descent.scale[first:last]
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


# The learner -----------------------------------------------------------------------------------------------


def widths_of(network: Perceptron) -> list[int]:
    """The widths of a network's rows, of its hidden layers and of its outputs."""
    linears = network.linears
    return [linears[0].in_features, *(layer.out_features for layer in linears)]


@torch.no_grad()
def copy_to_block(tensors: Sequence[Tensor], block: Float32Array, widths: Sequence[int]) -> None:
    """Write the weight and the bias of each layer, as PyTorch has them, to a block."""
    for number, (weight, bias) in enumerate(layers_in(block, widths)):
        weight[:] = tensors[2 * number].numpy()
        bias[:] = tensors[2 * number + 1].numpy()


@torch.no_grad()
def copy_from_block(tensors: Sequence[Tensor], block: Float32Array, widths: Sequence[int]) -> None:
    """Write the layers of a block to PyTorch's tensors."""
    for number, (weight, bias) in enumerate(layers_in(block, widths)):
        tensors[2 * number].copy_(torch.from_numpy(weight))
        tensors[2 * number + 1].copy_(torch.from_numpy(bias))


class SparsePolicy:
    """A network whose rows are evaluated by the compiled kernels.

    Attributes:
        network: whose weights they are.
        evaluated: the same as the kernels read it.
        scale: float32[M], what the numbers of the block are multiplied with, beside the weights of `network`.
        lists: of the threads.
    """

    def __init__(self, network: Perceptron, threads: int) -> None:
        """Make room; the weights are read by `take`.

        Args:
            network: whose weights are evaluated; each row may have `ROOM` numbers, each hidden layer units.
            threads: that share the rows.
        """
        self.network = network
        self.widths = widths_of(network)
        layout = sparse_layout(self.widths)
        self.scale = np.ones(block_size(layout), np.float32)
        layers_in(self.scale, self.widths)[0][0][:] = network.scale.numpy()
        self.evaluated = SparseNetwork(np.zeros_like(self.scale), layout)
        self.lists = new_lists(len(layout), threads)
        self._threads = threads

    def take(self) -> None:
        """Take over the weights of the network as they are now."""
        copy_to_block(list(self.network.parameters()), self.evaluated.block, self.widths)
        np.multiply(self.evaluated.block, self.scale, out=self.evaluated.block)

    def choose(self, rows: Int8Array, sampling: Sampling, key: tuple[int, int]) -> None:
        """See `train.common.learners.Policy.choose`."""
        evaluate_and_sample(self.evaluated, rows, sampling, self.lists, *key, self._threads)


class SparseLearner(SparsePolicy):
    """Learns by the compiled kernels; between updates all lies in the network and the optimizer.

    Attributes:
        gradients: what processes average, one parameter: the gradient of all weights.
    """

    def __init__(
        self, network: Perceptron, optimizer: torch.optim.Optimizer, rollout: Rollout, threads: int
    ) -> None:
        """Make room.

        Args:
            network: that is learned.
            optimizer: PyTorch's Adam over its parameters, which keeps the moments between updates.
            rollout: what is learned from, with steps and games in one dimension, [R, ...].
            threads: that share the rows.
        """
        super().__init__(network, threads)
        self._optimizer = optimizer
        self._rollout = rollout
        numbers, layers = len(self.scale), len(self.evaluated.layout)
        self._adam = Adam(*(np.zeros(numbers, np.float32) for _ in range(3)))
        self._step = 0
        gradients = np.zeros((threads, numbers), np.float32)
        deltas = np.zeros((threads, layers, ROOM), np.float32)
        self._descent = Descent(gradients, deltas, np.zeros(numbers, np.float32), self.scale)
        outputs = self.widths[-1]
        self._scratch = (
            np.zeros((threads, outputs), np.int32),
            np.zeros((threads, 4, outputs), np.float32),
            np.zeros((threads, len(STATISTICS)), np.float64),
        )
        self._logits, self._by_logit = (np.zeros((threads, outputs), np.float32) for _ in range(2))
        holder = nn.Parameter(torch.zeros(numbers))
        holder.grad = torch.from_numpy(self._descent.total)
        self.gradients = [holder]

    def begin(self) -> None:
        """Take over network and optimizer for an update."""
        parameters = list(self.network.parameters())
        copy_to_block(parameters, self._adam.weights, self.widths)
        self.take()
        states = [self._optimizer.state[parameter] for parameter in parameters]
        self._step = int(states[0]["step"]) if states[0] else 0
        for name, moments in (("exp_avg", self._adam.mean), ("exp_avg_sq", self._adam.square)):
            moments[:] = 0.0
            if self._step:
                copy_to_block([state[name] for state in states], moments, self.widths)

    def end(self) -> None:
        """Hand what was learned to network and optimizer."""
        parameters = list(self.network.parameters())
        copy_from_block(parameters, self._adam.weights, self.widths)
        states = [self._optimizer.state[parameter] for parameter in parameters]
        for state, parameter in zip(states, parameters, strict=True):
            if not state:
                state |= {"exp_avg": torch.zeros_like(parameter), "exp_avg_sq": torch.zeros_like(parameter)}
            state["step"] = torch.tensor(float(self._step))
        for name, moments in (("exp_avg", self._adam.mean), ("exp_avg_sq", self._adam.square)):
            copy_from_block([state[name] for state in states], moments, self.widths)

    def undo(self) -> None:
        """Forget the update: network and optimizer are as they were, and are taken over by the next one."""

    def gradient(self, rows: Int64Array, coefs: LossCoefs) -> Float64Array:
        """See `train.common.learners.Learner.gradient`."""
        rollout = self._rollout
        batch = Minibatch(
            rows,
            self._logits,
            np.zeros((0, 0), np.float32),  # no magnet
            self._by_logit,
            rollout.masks,
            rollout.actions,
            rollout.log_probs,
            rollout.advantages,
            rollout.returns,
            *self._scratch,
        )
        write_sparse_gradient(
            self.evaluated, self._descent, batch, coefs, rollout.observations, self.lists, self._threads
        )
        return np.append(batch.sums.sum(axis=0) / len(rows), 0.0)

    def descend(self, max_grad_norm: float) -> None:
        """See `train.common.learners.Learner.descend`."""
        self._step += 1
        group = self._optimizer.param_groups[0]
        descend(
            self._adam,
            self._descent.total,
            self.scale,
            self.evaluated.block,
            self._step,
            group["lr"],
            group["eps"],
            max_grad_norm,
        )
