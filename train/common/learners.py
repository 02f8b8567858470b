"""Evaluation and update of the network of `train.selfplay`: PyTorch's dense products, or our sparse kernels.

Both take the same steps for the same decisions, but for rounding. Between updates networks and moments lie in
PyTorch's modules and optimizer, so checkpoints are the same. `selfplay_options.chosen_learner` chooses one.
"""

from __future__ import annotations

import copy
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from train.common.network import Perceptron
from train.common.ppo import (
    STATISTICS,
    Float64Array,
    Int8Array,
    Int64Array,
    LossCoefs,
    Rollout,
    Sampling,
    new_minibatch,
    sample_actions,
    write_gradient,
)

MEANS: Final = (*STATISTICS, "oracle_loss")
"""Of an update; 0 where there is no oracle."""


class Policy(Protocol):
    """Evaluates rows.

    Attributes:
        network: whose weights it evaluates.
    """

    network: Perceptron

    def take(self) -> None:
        """The weights of the network have changed."""

    def choose(self, rows: Int8Array, sampling: Sampling, key: tuple[int, int]) -> None:
        """Sample an action of each row.

        Args:
            rows: int8[N, D].
            sampling: of those rows: mask in; actions, log-probabilities and values out.
            key: of the random numbers.
        """


class Learner(Policy, Protocol):
    """Updates a network.

    Attributes:
        gradients: parameters whose `grad` several processes average.
    """

    gradients: list[nn.Parameter]

    def begin(self) -> None:
        """A rollout and its update begin."""

    def gradient(self, rows: Int64Array, coefs: LossCoefs) -> Float64Array:
        """Write the gradient of the mean loss of a minibatch; returns the mean of each of `MEANS`.

        Args:
            rows: int64[B], of the rollout.
            coefs: of the loss.
        """

    def descend(self, max_grad_norm: float) -> None:
        """Clip the gradient, and take a step of Adam, with the learning rate of the optimizer."""

    def end(self) -> None:
        """The update is done: network and optimizer hold it."""

    def undo(self) -> None:
        """The update has failed: network and optimizer are as they were when it began."""


class TorchPolicy:
    """A network whose rows are evaluated by PyTorch."""

    def __init__(self, network: Perceptron, precision: torch.dtype, threads: int) -> None:
        """Evaluate a network.

        Args:
            network: the network.
            precision: data type of its matrix products.
            threads: that sample actions.
        """
        self.network = network
        self.precision = precision
        self.threads = threads

    def take(self) -> None:
        """Nothing: PyTorch evaluates the network itself."""

    @torch.no_grad()
    def choose(self, rows: Int8Array, sampling: Sampling, key: tuple[int, int]) -> None:
        """See `Policy.choose`."""
        logits = self.network(torch.from_numpy(rows), self.precision).numpy()
        sample_actions(sampling._replace(logits=logits), *key, self.threads)


class Critics(NamedTuple):
    """The modules beside the network that only PyTorch evaluates."""

    magnet: Perceptron | None
    oracle: Perceptron | None
    oracle_rows: Tensor  # int8[R, K], what the oracle sees of the rows of a rollout


class TorchLearner(TorchPolicy):
    """Learns by PyTorch's products and gradients, in any precision, with magnet and oracle."""

    def __init__(
        self,
        policy: TorchPolicy,
        optimizer: torch.optim.Optimizer,
        rollout: Rollout,
        critics: Critics,
    ) -> None:
        """Learn a network.

        Args:
            policy: its network, how it is evaluated, and by how many threads.
            optimizer: Adam over the parameters of the network and of the oracle.
            rollout: what is learned from, with steps and games in one dimension, [R, ...].
            critics: magnet and oracle.
        """
        super().__init__(policy.network, policy.precision, policy.threads)
        self._optimizer = optimizer
        self._rollout = rollout
        self._rows = torch.from_numpy(rollout.observations)
        self._critics = critics
        self._learners = [self.network] if critics.oracle is None else [self.network, critics.oracle]
        self.gradients = [parameter for learner in self._learners for parameter in learner.parameters()]
        self._before: list[dict[str, Any]] = []

    def begin(self) -> None:
        """Remember the networks and the optimizer."""
        stateful: list[Any] = [*self._learners, self._optimizer]
        self._before = copy.deepcopy([one.state_dict() for one in stateful])

    def end(self) -> None:
        """Forget what they were."""
        self._before = []

    def undo(self) -> None:
        """Put back what was remembered."""
        *learners, optimizer = self._before
        for learner, state in zip(self._learners, learners, strict=True):
            learner.load_state_dict(state)
        self._optimizer.load_state_dict(optimizer)

    def gradient(self, rows: Int64Array, coefs: LossCoefs) -> Float64Array:
        """See `Learner.gradient`."""
        index = torch.from_numpy(rows)
        observations = self._rows[index]
        logits = self.network(observations, self.precision)
        magnet = torch.zeros((0, 0))
        if self._critics.magnet is not None:
            with torch.no_grad():
                magnet = self._critics.magnet(observations, self.precision)
        batch = new_minibatch(rows, logits.detach().numpy(), magnet.numpy(), self._rollout, self.threads)
        write_gradient(batch, coefs, self.threads)
        means = np.append(batch.sums.sum(axis=0) / len(rows), 0.0)
        tensors, gradients = [logits], [torch.from_numpy(batch.gradient)]
        oracle = self._critics.oracle
        if oracle is not None:
            values = oracle(self._critics.oracle_rows[index], self.precision).squeeze(1)
            errors = values.detach() - torch.from_numpy(self._rollout.returns)[index]
            means[-1] = 0.5 * float((errors * errors).mean())
            tensors.append(values)
            gradients.append(errors / len(rows))
        self._optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(tensors, gradients)
        return means

    def descend(self, max_grad_norm: float) -> None:
        """See `Learner.descend`; each network's gradient is clipped by itself."""
        for learner in self._learners:
            torch.nn.utils.clip_grad_norm_(learner.parameters(), max_grad_norm)
        self._optimizer.step()
