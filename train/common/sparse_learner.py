"""The sparse learner of `train.selfplay`: compiled kernels in place of PyTorch's products and gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from train.common.network import Perceptron
from train.common.ppo import (
    STATISTICS,
    Float32Array,
    Float64Array,
    Int8Array,
    Int64Array,
    LossCoefs,
    Minibatch,
    Rollout,
    Sampling,
)
from train.common.sparse_network import (
    ROOM,
    SparseNetwork,
    aligned_zeros,
    block_size,
    evaluate_and_sample,
    layers_in,
    new_lists,
    sparse_layout,
)
from train.common.sparse_update import Adam, Descent, descend, write_sparse_gradient


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
        self.scale = aligned_zeros(block_size(layout))
        self.scale[:] = 1.0
        layers_in(self.scale, self.widths)[0][0][:] = network.scale.numpy()
        self.evaluated = SparseNetwork(aligned_zeros(len(self.scale)), layout)
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
        self._adam = Adam(*(aligned_zeros(numbers) for _ in range(3)))
        self._step = 0
        gradients, deltas = aligned_zeros(threads, numbers), aligned_zeros(threads, layers, ROOM)
        self._descent = Descent(gradients, deltas, aligned_zeros(numbers), self.scale)
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
