"""Learn a game by self-play: PPO (Schulman et al. 2017) at the speed of the environment.

    python -m train.selfplay --run-dir runs/first --minutes 5

One network plays all seats, and every decision of every seat is learned from. Several processes learn
together if `torchrun` starts them. docs/agents/training.md explains the options, the run folder and the
metrics.
"""

# Read from top to bottom: the network, sampling, advantages, the loss, the trainer (rollout and update), the
# run. The rest is in `common`: options in options.py; games and rewards in games.py; opponents in
# opponents.py; the compiled products of the sparse learner in sparse.py; evaluation, checkpoints and logs in
# runs.py and run_folder.py; several processes in workers.py.
#
# Shapes: T steps, N games, S seats, D inputs, A actions, R = T * N rows (one for each decision), B rows of a
# minibatch, K outputs of a network. A policy has A + 1: logits, and last the value. A critic has 1 or A.

from __future__ import annotations

import contextlib
import copy
import importlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, log
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from millebornes_env._util.command_line import say
from millebornes_env._util.network_files import Layers
from millebornes_env._util.signals import Stops
from millebornes_env.agents.policy.writing import fold_in_scale, save_policy_files
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import key_of_seed
from millebornes_env.engine.numba.compiling import float_kernel, parallel_float_kernel, prange
from train.common.games import (
    Float32Array,
    Float64Array,
    Int8Array,
    Int32Array,
    Int64Array,
    ManyGames,
    Rollout,
    new_rollout,
    oracle_scale,
)
from train.common.memory import keep_freed_memory
from train.common.network import common_scale, start_layers
from train.common.opponents import MEMORIES, Opponents
from train.common.options import (
    CHOICES,
    Args,
    Choice,
    bfloat16_units,
    check,
    choose_learner,
    linear_schedule,
)
from train.common.run_folder import (
    LossError,
    RunError,
    recorded_options,
    tensors_of_optimizer,
    tensors_to_optimizer,
    with_prefix,
)
from train.common.runs import Run, run_training, timed
from train.common.sparse import SparseBackend
from train.common.workers import ALONE, Order, Workers, joined, signals_ignored

CHECKPOINT_KIND: Final = "train.selfplay 2"
PARTS: Final = ("env", "inference", "advantage", "update")
"""Timed parts of the work; the rest is "other"."""
PRECISIONS: Final = {"float32": torch.float32, "bfloat16": torch.bfloat16}
"""Data types of the hidden layers; weights, optimizer, logits and losses are float32 in any case."""
STATISTICS: Final = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction", "magnet_kl")
"""Columns of `Scratch.sums`."""
POLICY_LOSS, VALUE_LOSS, ENTROPY, APPROX_KL, CLIPPED, MAGNET_KL = range(len(STATISTICS))
MEANS: Final = (*STATISTICS, "oracle_loss")
"""Statistics of an update."""
CHUNK: Final = 32
"""Rows that stay together when rows are shuffled."""

_POLICY_GAIN: Final = 0.01  # a new policy is nearly uniform (Andrychowicz et al. 2021, section 3.2)
_HIGHEST_LOG_RATIO: Final = 20.0  # exp of much more overflows
_EMA_WARM_UP: Final = 10  # updates with a lower decay
_GAMES: Final = "games"


# The network -----------------------------------------------------------------------------------------------


class Perceptron(nn.Module):
    """Linear layers with ReLU between them.

    Rows of integers up to 127 are exact in bfloat16. A scale on the first layer's weights keeps large inputs
    from drowning small ones.
    """

    scale: Tensor

    def __init__(self, scale: Float32Array, hidden: Sequence[int], outputs: int) -> None:
        """Create a network with orthogonal weights; `scale`, float32[D], has factors of the inputs."""
        super().__init__()
        widths = [len(scale), *hidden, outputs]
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(widths))
        self.register_buffer("scale", torch.from_numpy(scale.copy()), persistent=False)
        for layer in self.linears:
            nn.init.orthogonal_(layer.weight, 2.0**0.5)
            nn.init.zeros_(layer.bias)

    @property
    def linears(self) -> list[nn.Linear]:
        """The layers, first to last."""
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    def forward(self, rows: Tensor, precision: torch.dtype = torch.float32) -> Tensor:
        """Evaluate rows int8[N, D] with matrix products of a precision; returns float32[N, outputs]."""
        first, *others = self.linears
        weight = (first.weight * self.scale).to(precision)
        values = F.linear(rows.to(precision), weight, first.bias.to(precision))
        for layer in others:
            values = F.linear(F.relu_(values), layer.weight.to(precision), layer.bias.to(precision))
        return values.float()

    def folded(self) -> Layers:
        """Return weights and biases of all layers over raw rows, which `agents.policy` plays."""
        layers = [
            (layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy())
            for layer in self.linears
        ]
        return fold_in_scale(layers, self.scale.numpy())

    @torch.no_grad()
    def unfold(self, layers: Layers, source: str) -> None:
        """Copy layers over raw rows into the network.

        Raises:
            ValueError: they have other shapes; the message names their source.
        """
        ours = [tuple(layer.weight.shape) for layer in self.linears]
        theirs = [weight.shape for weight, _ in layers]
        if ours != theirs:
            raise ValueError(
                f"the policy in {source!r} has layers of {theirs} (outputs, inputs), the network to be "
                f"trained has {ours}: give --hidden and --features of that policy"
            )
        for number, (layer, (weight, bias)) in enumerate(zip(self.linears, layers, strict=True)):
            layer.weight.copy_(torch.from_numpy(weight / self.scale.numpy() if number == 0 else weight))
            layer.bias.copy_(torch.from_numpy(bias))


def actor_critic(scale: Float32Array, hidden: Sequence[int], actions: int) -> Perceptron:
    """Create policy and value in one network: a logit for each action, then the value."""
    network = Perceptron(scale, hidden, actions + 1)
    head = network.linears[-1]
    nn.init.orthogonal_(head.weight[:-1], _POLICY_GAIN)
    nn.init.orthogonal_(head.weight[-1:], 1.0)
    return network


# Sampling --------------------------------------------------------------------------------------------------
#
# Six in seven actions are illegal, and PyTorch would read the logits of all of them a dozen times. These
# compiled loops read a row once and compute for its legal actions only. Threads take equal shares of the rows
# in order, so the same number of threads gives the same sums.


class Samples(NamedTuple):
    """Sampled actions of N rows."""

    logits: Float32Array  # [N, A + 1] that they are sampled from
    actions: Int64Array  # [N] -1 where no action is legal
    log_probs: Float32Array  # [N] of the sampled actions
    values: Float32Array  # [N]


class Scratch(NamedTuple):
    """Working memory of the threads."""

    legal: Int32Array  # [threads, A + 1] the legal actions of a row
    probs: Float32Array  # [threads, 4, A + 1]
    sums: Float64Array  # [threads, STATISTICS] sums over the thread's rows of a minibatch


def new_scratch(threads: int, actions: int) -> Scratch:
    """Allocate the memory, zeroed."""
    return Scratch(
        np.zeros((threads, actions + 1), np.int32),
        np.zeros((threads, 4, actions + 1), np.float32),
        np.zeros((threads, len(STATISTICS)), np.float64),
    )


@float_kernel
def legal_softmax(
    logits: Float32Array, mask: Int8Array, legal: Int32Array, probs: Float32Array, log_probs: Float32Array
) -> int:
    """Compute the softmax over the legal actions of a row, and return their number.

    Args:
        logits: float32[A + 1]; those of illegal actions are not read.
        mask: int8[A], 1 where an action is legal.
        legal: int32[A + 1], overwritten: the legal actions in order.
        probs: float32[A + 1], overwritten: their probabilities.
        log_probs: float32[A + 1], overwritten: the logarithms of those, finite.
    """
    count = 0
    for action in range(len(mask)):  # without a branch, which could not be predicted
        legal[count] = action
        count += int(mask[action])
    highest = np.float32(-np.inf)
    for i in range(count):
        highest = max(highest, logits[legal[i]])
    total = np.float32(0.0)
    for i in range(count):
        log_probs[i] = logits[legal[i]] - highest
        probs[i] = np.float32(exp(log_probs[i]))
        total += probs[i]
    shift = np.float32(log(total))
    for i in range(count):
        probs[i] /= total
        log_probs[i] -= shift
    return count


@float_kernel
def sample_range(
    masks: Int8Array, samples: Samples, scratch: Scratch, key_0: int, key_1: int, thread: int, threads: int
) -> None:
    """Sample an action of each row in a thread's share."""
    (rows, actions), logits = masks.shape, samples.logits
    legal, probs, log_probs = scratch.legal[thread], scratch.probs[thread, 0], scratch.probs[thread, 1]
    for row in range(thread * rows // threads, (thread + 1) * rows // threads):
        count = legal_softmax(logits[row], masks[row], legal, probs, log_probs)
        left = np.float32(random_word(key_0, key_1, row) * 2.0**-32)
        i = 0
        while i < count - 1 and left >= probs[i]:
            left -= probs[i]
            i += 1
        samples.actions[row] = legal[i] if count > 0 else -1
        samples.log_probs[row] = log_probs[i] if count > 0 else 0.0
        samples.values[row] = logits[row, actions]


@parallel_float_kernel
def sample_actions(
    masks: Int8Array, samples: Samples, scratch: Scratch, key_0: int, key_1: int, threads: int
) -> None:
    """Sample an action of each row; each key gives other samples."""
    for thread in prange(threads):
        sample_range(masks, samples, scratch, key_0, key_1, thread, threads)


# Advantages ------------------------------------------------------------------------------------------------


@float_kernel
def advantages_of_game(
    rollout: Rollout, memory: Float32Array, game: int, gamma: float, gae_lambda: float
) -> None:
    """Estimate the advantages and returns of each seat's own decisions.

        error_t = r_t + gamma V_t+1 - Q_t + gamma lambda error_t+1, return = Q + error, advantage = return - V

    With Q = V this is generalized advantage estimation (Schulman et al. 2016, equation 16). With --q-boosting
    Q is the critic's value of the action, and V its mean over the policy: Expected SARSA(lambda), as in VRPO.

    A seat's transition leads from its decision to its own next one; the decisions of others in between are a
    part of the environment, and so are the rewards meanwhile. If the game goes on, a seat's last decision in
    the rollout has no successor yet: its value only bootstraps the decision before it, and it is masked from
    the loss.

    The memory, float32[4, S], has the next decision of each seat while the game is read backwards: 1 if it or
    the end is in the rollout, its value (0 at the end), its error, and the sum of the seat's rewards since.
    """
    has_next, value, error, reward = memory[0], memory[1], memory[2], memory[3]
    has_next[:] = 0.0
    reward[:] = 0.0
    for step in range(len(rollout.dones) - 1, -1, -1):
        if rollout.dones[step, game]:
            has_next[:] = 1.0
            value[:] = 0.0
            error[:] = 0.0
            reward[:] = 0.0
        for seat in range(len(reward)):
            reward[seat] += rollout.rewards[step, game, seat]
        seat = int(rollout.seats[step, game])
        own, of_action = rollout.values[step, game], rollout.action_values[step, game]
        estimate = np.float32(0.0)
        if has_next[seat] == 1.0:
            delta = reward[seat] + gamma * value[seat] - of_action
            estimate = np.float32(delta + gamma * gae_lambda * error[seat])
        rollout.advantages[step, game] = estimate + (of_action - own)
        rollout.returns[step, game] = estimate + of_action
        rollout.loss_mask[step, game] = has_next[seat] == 1.0 and not rollout.opponent_mask[step, game]
        has_next[seat] = 1.0
        value[seat] = own
        error[seat] = estimate
        reward[seat] = 0.0


@parallel_float_kernel
def write_advantages(
    rollout: Rollout, memory: Float32Array, gamma: float, gae_lambda: float, threads: int
) -> None:
    """Write advantages, returns and the loss mask of all games; the memory is float32[threads, 4, S]."""
    games = rollout.dones.shape[1]
    for thread in prange(threads):
        for game in range(thread * games // threads, (thread + 1) * games // threads):
            advantages_of_game(rollout, memory[thread], game, gamma, gae_lambda)


def expected_values(action_values: Float32Array, logits: Float32Array, masks: Int8Array) -> Float32Array:
    """Return the mean over the policy's legal actions of the critic's action values, float32[N, A].

    With them a seat's later actions add no noise to advantages: VRPO (Fan and Farina 2026, arXiv 2605.19235),
    of which we know the abstract. Our choices: traces over a seat's own decisions, not cut by probabilities
    (Q(lambda), Harutyunyan et al. 2016); a critic without target network, which also sees the cards to come.
    """
    legal = torch.from_numpy(logits[:, :-1]).masked_fill(torch.from_numpy(masks == 0), -1e9)
    means: Float32Array = (legal.softmax(dim=1).numpy() * action_values).sum(axis=1)
    return means


def columns_of(actions: np.ndarray[tuple[int], Any], values: Float32Array) -> Int64Array:
    """Return the columns, int64[N, 1], of actions int[N] in a critic's values [N, A], or [N, 1] if alike."""
    columns: Int64Array = np.clip(actions, 0, values.shape[1] - 1).astype(np.int64)[:, np.newaxis]
    return columns


# The loss --------------------------------------------------------------------------------------------------


class Minibatch(NamedTuple):
    """Inputs and outputs of a gradient."""

    rows: Int64Array  # [B] indices of the rows in the rollout
    logits: Float32Array  # [B, A + 1] of the current policy; the last column is the value
    gradient: Float32Array  # [B, A + 1] overwritten: of the mean loss by each logit
    magnet: Float32Array  # [R, A + 1] logits of the policy to stay close to, of the whole rollout, or [0, 0]
    masks: Int8Array  # [R, A] of the whole rollout, like the following
    actions: np.ndarray[tuple[int], np.dtype[np.int16]]  # [R]
    old_log_probs: Float32Array  # [R] of the actions under the policy that sampled them
    advantages: Float32Array  # [R] normalized
    returns: Float32Array  # [R]


class LossCoefs(NamedTuple):
    """The coefficients of the loss."""

    clip_range: float
    ent_coef: float
    vf_coef: float
    magnet_coef: float


@float_kernel
def gradient_of_row(batch: Minibatch, coefs: LossCoefs, scratch: Scratch, thread: int, index: int) -> None:
    """Write one row's part of the gradient of the mean loss, and add the row to the statistics.

    With p the current policy over legal actions, r = p(a) / p_old(a), A the advantage, H the entropy, q the
    magnet, v the value and R the return, the loss of a row is (Schulman et al. 2017, equations 7 and 9;
    Sokota et al. 2023 for the magnet)

        -min(r A, clip(r, 1 - c, 1 + c) A) - w_H H(p) + w_q KL(p, q) + w_v (v - R)^2 / 2
    """
    row, actions = batch.rows[index], batch.masks.shape[1]
    legal, sums = scratch.legal[thread], scratch.sums[thread]
    probs, log_probs = scratch.probs[thread, 0], scratch.probs[thread, 1]
    count = legal_softmax(batch.logits[index], batch.masks[row], legal, probs, log_probs)
    entropy = np.float32(0.0)
    chosen = 0
    for i in range(count):
        entropy -= probs[i] * log_probs[i]
        if legal[i] == batch.actions[row]:
            chosen = i
    log_ratio = log_probs[chosen] - batch.old_log_probs[row]
    ratio = np.float32(exp(min(log_ratio, np.float32(_HIGHEST_LOG_RATIO))))
    advantage = batch.advantages[row]
    clipped = min(max(ratio, np.float32(1.0 - coefs.clip_range)), np.float32(1.0 + coefs.clip_range))
    is_clipped = clipped * advantage < ratio * advantage
    ratio_adv = np.float32(0.0) if is_clipped else ratio * advantage
    gradient = batch.gradient[index]
    gradient[:] = 0.0
    for i in range(count):
        step = probs[i] * (ratio_adv + np.float32(coefs.ent_coef) * (log_probs[i] + entropy))
        gradient[legal[i]] = step - ratio_adv if i == chosen else step
    error = batch.logits[index, actions] - batch.returns[row]
    gradient[actions] = np.float32(coefs.vf_coef) * error
    sums[POLICY_LOSS] -= min(ratio * advantage, clipped * advantage)
    sums[VALUE_LOSS] += 0.5 * error * error
    sums[ENTROPY] += entropy
    sums[APPROX_KL] += ratio - 1.0 - log_ratio
    sums[CLIPPED] += 1.0 if is_clipped else 0.0
    if len(batch.magnet) > 0:
        sums[MAGNET_KL] += add_magnet_gradient(batch, coefs, scratch, thread, index, count)
    share = np.float32(1.0 / len(batch.rows))
    for column in range(len(gradient)):
        gradient[column] *= share


@float_kernel
def add_magnet_gradient(
    batch: Minibatch, coefs: LossCoefs, scratch: Scratch, thread: int, index: int, count: int
) -> float:
    """Add the gradient of KL(p, q) to that of a row whose softmax is in the scratch; return the KL."""
    legal, probs, log_probs = scratch.legal[thread], scratch.probs[thread, 0], scratch.probs[thread, 1]
    row, magnet_log_probs = batch.rows[index], scratch.probs[thread, 3]
    legal_softmax(batch.magnet[row], batch.masks[row], legal, scratch.probs[thread, 2], magnet_log_probs)
    kl = np.float32(0.0)
    for i in range(count):
        kl += probs[i] * (log_probs[i] - magnet_log_probs[i])
    for i in range(count):
        pull = probs[i] * (log_probs[i] - magnet_log_probs[i] - kl)
        batch.gradient[index, legal[i]] += np.float32(coefs.magnet_coef) * pull
    return float(kl)


@parallel_float_kernel
def write_gradient(batch: Minibatch, coefs: LossCoefs, scratch: Scratch, threads: int) -> None:
    """Write the gradient of the mean loss of a minibatch by its logits, and the sums of the statistics."""
    rows = len(batch.rows)
    scratch.sums[:] = 0.0
    for thread in prange(threads):
        for index in range(thread * rows // threads, (thread + 1) * rows // threads):
            gradient_of_row(batch, coefs, scratch, thread, index)


def shuffled(rows: Int64Array, batches: int, rng: np.random.Generator) -> list[Int64Array]:
    """Shuffle rows int64[n] into minibatches of nearly equal size.

    Chunks of `CHUNK` rows stay together: they belong to one step of neighboring games, which are independent,
    and are contiguous in memory (shuffling single rows took four times as long to read them).
    """
    order = rng.permutation(-(-len(rows) // CHUNK))
    indices = (order[:, np.newaxis] * CHUNK + np.arange(CHUNK)).reshape(-1)
    return np.array_split(rows[indices[indices < len(rows)]], batches)


class TorchBackend:
    """Evaluates and updates a network by PyTorch's products, autograd and Adam.

    `SparseBackend` does the same with compiled kernels that skip zeros; its steps differ by rounding only.

    Attributes:
        gradients: parameters whose `grad` several processes average.
    """

    def __init__(
        self,
        network: Perceptron,
        precision: torch.dtype,
        optimizer: torch.optim.Optimizer | None = None,
    ) -> None:
        """Create a backend; with an optimizer it can also update the network."""
        self._network, self._precision, self._optimizer = network, precision, optimizer
        self._outputs = torch.zeros(0)
        self.gradients = list(network.parameters())

    def load(self) -> None:
        """Do nothing; PyTorch reads the weights of the network directly."""

    begin = end = load

    @torch.no_grad()
    def outputs(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """Return the outputs of rows, float32[N, K]."""
        outputs: Float32Array = self._network(torch.from_numpy(observations), self._precision).numpy()
        return outputs

    def forward(self, observations: Int8Array, masks: Int8Array, rows: Int64Array) -> Float32Array:
        """Return the outputs of some rows, float32[B, K], and keep what `backward` needs."""
        chosen = torch.from_numpy(observations)[torch.from_numpy(rows)]
        self._outputs = self._network(chosen, self._precision)
        for parameter in self.gradients:
            parameter.grad = None
        outputs: Float32Array = self._outputs.detach().numpy()
        return outputs

    def backward(self, by_logit: Float32Array) -> None:
        """Compute the gradient by the weights from that by the outputs of `forward`."""
        self._outputs.backward(torch.from_numpy(by_logit))  # type: ignore[no-untyped-call]

    def descend(self, max_grad_norm: float) -> None:
        """Clip the gradient, and take a step of Adam."""
        assert self._optimizer is not None
        nn.utils.clip_grad_norm_(self.gradients, max_grad_norm)
        self._optimizer.step()


class Policy:
    """A network that samples actions.

    Attributes:
        network: holds the weights.
        backend: evaluates and updates them.
    """

    def __init__(self, network: Perceptron, backend: TorchBackend | SparseBackend, threads: int) -> None:
        self.network, self.backend, self._threads = network, backend, threads
        self._scratch = new_scratch(threads, network.linears[-1].out_features - 1)

    def load(self) -> None:
        """Read the weights of the network after a change."""
        self.backend.load()

    def act(self, observations: Int8Array, masks: Int8Array, key: tuple[int, int]) -> Samples:
        """Sample an action of each row of observations int8[N, D], by the random numbers of a key."""
        count = len(observations)
        logits, numbers = self.backend.outputs(observations, masks), np.zeros((2, count), np.float32)
        samples = Samples(logits, np.zeros(count, np.int64), *numbers)
        sample_actions(masks, samples, self._scratch, *key, self._threads)
        return samples


# The trainer -----------------------------------------------------------------------------------------------


class Trainer:
    """Games, networks and optimizer: `collect` plays a rollout, `learn` updates the networks from it.

    Attributes:
        network: policy and value function.
        ema_network: the exponential moving average of its weights, which plays better than the raw weights.
        workers: the processes that learn together, each from games of its own.
        updates: number of updates so far.
        decisions: decisions learned from so far, in all processes.
        flat: the last rollout, with rows [T * N] for [T, N].
        seconds: time of each of `PARTS` since the run began.
    """

    def __init__(self, args: Args, workers: Workers = ALONE) -> None:
        """Start the games of this process, and create networks that are the same in all processes.

        Raises:
            ValueError: there is no such table or opponent.
        """
        keep_freed_memory()
        torch.set_num_threads(args.threads)
        torch.manual_seed(args.seed)
        self.args, self.workers = args, workers
        self._seed = workers.seed(args.seed)
        self.games = games = ManyGames(workers.share_of_games(args.num_envs), args, self._seed)
        scale = common_scale(games.tables)
        features = np.ones(games.num_inputs - games.obs_size, np.float32)
        self.network = actor_critic(np.append(scale, features), args.layers, games.num_actions)
        if args.start:
            layers = start_layers(args.start, games.tables[0], games.observation)
            self.network.unfold(layers, args.start)
        self.ema_network = copy.deepcopy(self.network)
        self.magnet = copy.deepcopy(self.network) if args.magnet > 0 else None
        self.oracle: Perceptron | None = None
        if args.oracle:
            inputs, outputs = oracle_scale(scale, games.players), games.num_actions if args.q_boosting else 1
            self.oracle = Perceptron(inputs, args.layers, outputs)
            nn.init.orthogonal_(self.oracle.linears[-1].weight, 1.0)
        choice = choose_learner(args)
        self._is_sparse, self._precision = choice.learner == "sparse", PRECISIONS[choice.precision]
        networks = {"optimizer": self.network, "oracle_optimizer": self.oracle}
        self.optimizers = {
            name: torch.optim.Adam(network.parameters(), args.learning_rate, eps=1e-5, fused=True)
            for name, network in networks.items()
            if network
        }
        adam, critic_adam = self.optimizers["optimizer"], self.optimizers.get("oracle_optimizer")
        self._policy = self._new_policy(self.network, self._precision, adam)
        self._critic = self._new_backend(self.oracle, self._precision, critic_adam) if self.oracle else None
        self._magnet = self._new_backend(self.magnet, self._precision) if self.magnet else None
        self._learners = [self._policy.backend, *([self._critic] if self._critic else [])]
        self.opponents = self._new_opponents()
        self.updates = self.decisions = 0
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._rollout = new_rollout(
            args.num_steps, games.num_games, games.num_inputs, games.num_actions, games.players
        )
        rows = args.num_steps * games.num_games
        self.flat = Rollout._make(array.reshape(rows, *array.shape[2:]) for array in self._rollout)
        self._oracle_rows = np.zeros((rows, games.oracle_size if self.oracle else 0), np.int8)
        self._magnet_logits = np.zeros((rows, games.num_actions + 1) if self.magnet else (0, 0), np.float32)
        self._seat_memory = np.zeros((args.threads, 4, games.players), np.float32)
        self._scratch = new_scratch(args.threads, games.num_actions)

    def _new_policy(
        self,
        network: Perceptron,
        precision: torch.dtype,
        optimizer: torch.optim.Optimizer | None = None,
    ) -> Policy:
        """Build the policy of a network, with the backend of the run."""
        return Policy(network, self._new_backend(network, precision, optimizer), self.args.threads)

    def _new_backend(
        self, network: Perceptron, precision: torch.dtype, optimizer: torch.optim.Optimizer | None = None
    ) -> TorchBackend | SparseBackend:
        """Build a backend of the run for a network; with an optimizer it can also update the network."""
        if self._is_sparse:
            return SparseBackend(network.linears, network.scale.numpy(), self.args.threads, optimizer)
        return TorchBackend(network, precision, optimizer)

    def _new_opponents(self) -> Opponents:
        """Build the opponents, with empty memories and an empty pool."""
        snapshot = self._new_policy(copy.deepcopy(self.network), torch.float32)
        return Opponents(self.games, snapshot, self.args, self._seed)

    def collect(self) -> None:
        """Play a rollout, `num_steps` decisions of every game, and compute its advantages."""
        rollout, games, args = self._rollout, self.games, self.args
        self.opponents.begin(np.random.default_rng([self._seed, self.updates]))
        for backend in (*self._learners, *([self._magnet] if self._magnet else [])):
            backend.load()
        key_0, key_1 = key_of_seed(self._seed)
        for step in range(args.num_steps):
            with timed(self.seconds, "env"):
                games.write_decisions(rollout, step)
            with timed(self.seconds, "inference"):
                key = (key_0, random_word(key_1, key_0, self.updates * args.num_steps + step))
                samples = self._policy.act(rollout.observations[step], rollout.masks[step], key)
                rollout.log_probs[step] = samples.log_probs
                self.opponents.decide(rollout, step, key, samples.actions)
                rollout.actions[step] = samples.actions
                rollout.values[step] = rollout.action_values[step] = samples.values
                self._ask_others(samples, step)
            with timed(self.seconds, "env"):
                games.step(samples.actions, rollout, step)
        with timed(self.seconds, "advantage"):
            write_advantages(rollout, self._seat_memory, args.gamma, args.gae_lambda, args.threads)

    def _ask_others(self, samples: Samples, step: int) -> None:
        """Replace a step's values by those of the oracle critic, and keep the magnet's logits, if any."""
        rollout, masks = self._rollout, self._rollout.masks[step]
        rows = slice(step * len(masks), (step + 1) * len(masks))
        if self._magnet:
            self._magnet_logits[rows] = self._magnet.outputs(rollout.observations[step], masks)
        if self._critic:
            self.games.write_oracle_rows(self._oracle_rows[rows])
            found = self._critic.outputs(self._oracle_rows[rows], masks)
            own = np.take_along_axis(found, columns_of(samples.actions, found), axis=1)[:, 0]
            rollout.values[step] = rollout.action_values[step] = own
            if self.args.q_boosting:
                rollout.values[step] = expected_values(found, samples.logits, masks)

    def learn(self, share: float) -> dict[str, float]:
        """Update the networks from the rollout, in all processes at the same time; return means by name.

        The completed `share` of the run is 0 to 1.

        Raises:
            LossError: a loss became NaN or infinite; the networks are unchanged.
            ValueError: the rollout has nothing to learn from.
        """
        args = self.args
        with timed(self.seconds, "advantage"):
            rows, advantages = np.flatnonzero(self.flat.loss_mask), self.flat.advantages
            learned_from, batches = self._sizes(rows)
            mean, deviation = self.workers.mean_and_std(advantages[rows])
            advantages -= mean
            advantages /= deviation + 1e-8
        for optimizer in self.optimizers.values():
            optimizer.param_groups[0]["lr"] = linear_schedule(
                args.learning_rate, args.final_learning_rate, share
            )
        ent_coef = linear_schedule(args.ent_coef, args.final_ent_coef, share)
        coefs = LossCoefs(args.clip_range, ent_coef, args.vf_coef, args.magnet)
        rng = np.random.default_rng([self._seed, self.updates, 1])
        totals = np.zeros(len(MEANS))
        before = copy.deepcopy(self._learned())
        with timed(self.seconds, "update"):
            for backend in self._learners:
                backend.begin()
            try:
                for _ in range(args.num_epochs):
                    for batch in shuffled(rows, batches, rng):
                        totals += self._step(batch, coefs)
            except LossError:
                self._restore_learned(before)
                raise
            for backend in self._learners:
                backend.end()
        self.updates += 1
        self.decisions += learned_from
        self._update_copies()
        means = dict(zip(MEANS, (totals / (batches * args.num_epochs)).tolist(), strict=True))
        returns, values = self.flat.returns[rows], self.flat.action_values[rows]  # of this process
        unexplained = float((returns - values).var() / max(returns.var(), 1e-12))
        return {**means, "explained_variance": 1.0 - unexplained, "ent_coef": ent_coef}

    def _sizes(self, rows: Int64Array) -> tuple[int, int]:
        """Return the number of rows to learn from in all processes, and of minibatches.

        Raises:
            ValueError: a process has too few rows; all processes raise it.
        """
        args, workers = self.args, self.workers
        everywhere, empty = (int(number) for number in workers.sums(len(rows), not len(rows)))
        if empty:
            raise ValueError(f"no seat decides twice in --num-steps {args.num_steps}: give more steps")
        batches = max(-(-everywhere // args.batch_size), 1)
        if workers.sums(len(rows) < batches)[0]:
            raise ValueError(
                f"--batch-size {args.batch_size} is too small to be shared by {workers.count} processes"
            )
        return everywhere, batches

    def _step(self, rows: Int64Array, coefs: LossCoefs) -> Float64Array:
        """Take one step of gradient descent; return the means of the statistics."""
        flat, backend, scratch = self.flat, self._policy.backend, self._scratch
        logits = backend.forward(flat.observations, flat.masks, rows)
        gradient = np.empty_like(logits)
        recorded = flat.masks, flat.actions, flat.log_probs, flat.advantages, flat.returns
        batch = Minibatch(rows, logits, gradient, self._magnet_logits, *recorded)
        write_gradient(batch, coefs, scratch, self.args.threads)
        backend.backward(gradient)
        means = np.append(scratch.sums.sum(axis=0) / len(rows), self._oracle_backward(rows))
        gradients = [gradient for learner in self._learners for gradient in learner.gradients]
        means = self.workers.average(gradients, means, len(rows))
        if not np.isfinite(means).all():
            values = ", ".join(f"{name} {mean:.4g}" for name, mean in zip(MEANS, means, strict=True))
            raise LossError(
                f"loss became NaN or infinite in update {self.updates + 1}: batch of {len(rows)} rows "
                f"beginning with row {int(rows[0])} ({values}); a lower --learning-rate may help",
                {name: torch.from_numpy(array[rows]) for name, array in flat._asdict().items()},
            )
        for learner in self._learners:
            learner.descend(self.args.max_grad_norm)
        return means

    def _oracle_backward(self, rows: Int64Array) -> float:
        """Compute the gradient of the oracle critic; return its loss, 0 if there is none."""
        if self._critic is None:
            return 0.0
        found = self._critic.forward(self._oracle_rows, self.flat.masks, rows)
        columns = columns_of(self.flat.actions[rows], found)
        errors = np.take_along_axis(found, columns, axis=1)[:, 0] - self.flat.returns[rows]
        gradient = np.zeros_like(found)
        np.put_along_axis(gradient, columns, errors[:, np.newaxis] / len(rows), axis=1)
        self._critic.backward(gradient)
        return 0.5 * float(np.square(errors).mean())

    @torch.no_grad()
    def _update_copies(self) -> None:
        """Update the EMA, and copy the policy to the pool and to the magnet when due.

        The decay is lower during the first updates, when the weights change fast.
        """
        decay = min(self.args.ema_decay, self.updates / (self.updates + _EMA_WARM_UP))
        for mean, value in zip(self.ema_network.parameters(), self.network.parameters(), strict=True):
            mean.lerp_(value, 1.0 - decay)
        if self.opponents.pool is not None and self.updates % self.args.pool_updates == 0:
            self.opponents.pool.add(self.network)
        if self.magnet is not None and self.updates % self.args.magnet_updates == 0:
            self.magnet.load_state_dict(self.network.state_dict())

    def warm_up(self) -> None:
        """Play and learn once, so that everything is compiled, and reset all state.

        Random numbers are functions of the seed and of counters, so the run is not affected.
        """
        learned = copy.deepcopy(self._learned())
        workers, self.workers = self.workers, ALONE  # processes may take different times to compile
        try:
            if self.opponents.pool is not None:
                self.opponents.pool.add(self.network)
            self.collect()
            with contextlib.suppress(LossError):
                self.learn(0.0)
        finally:
            self.workers = workers
        self._restore_learned(learned)
        self.games.restart()
        self.opponents = self._new_opponents()
        self.updates = self.decisions = 0
        self.seconds = dict.fromkeys(PARTS, 0.0)

    # Saving -------------------------------------------------------------------------------------------------

    def save_policy(self, folder: Path) -> None:
        """Write the EMA of the policy in the format that agents play."""
        tables = self.games.tables
        save_policy_files(
            folder,
            self.ema_network.folded(),
            tables[0],
            editions=[table.edition for table in tables],
            input_spec=self.games.input_spec,
            value=self.args.chosen_reward,
            more={"trained_by": "train.selfplay", "decisions_trained": self.decisions},
        )

    def checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return all that learning depends on; random numbers are functions of the seed and of counters.

        Process 0 collects the games of the others, with the memories of agents.
        """
        remembered, snapshots = self.opponents.checkpoint()
        tensors = self._learned() | remembered | {_GAMES: torch.from_numpy(self.games.save())}
        tensors |= self.workers.gathered(_rows_of_games(tensors))
        counters = {"updates": self.updates, "decisions": self.decisions, "pool": snapshots}
        return tensors, {**counters, "processes": self.workers.count, "parts": self.seconds}

    def restore(self, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        """Continue from the checkpoint of a trainer with the same options; process 0 sends it to the others.

        Raises:
            RunError: the run has another number of processes.
            KeyError, TypeError, RuntimeError, ValueError: the tensors are of another run.
        """
        processes = int(progress["processes"])
        if processes != self.workers.count:
            raise RunError(
                f"the games of this run are shared by {processes} processes, and this is one of "
                f"{self.workers.count}: start as many with torchrun, or choose another --run-dir"
            )
        self.workers.send(tensors, progress)
        own = {name: self.workers.own(rows) for name, rows in _rows_of_games(tensors).items()}
        self._restore_learned(tensors)
        self.games.load(own[_GAMES].numpy())
        self.opponents.restore({**tensors, **own}, int(progress["pool"]))
        self.updates, self.decisions = int(progress["updates"]), int(progress["decisions"])
        for part in self.seconds:
            self.seconds[part] = float(progress["parts"][part])

    def _modules(self) -> dict[str, nn.Module]:
        """Return the networks by their names in checkpoints."""
        modules = {"network": self.network, "average": self.ema_network}
        others = {"oracle": self.oracle, "magnet": self.magnet}
        return {**modules, **{name: module for name, module in others.items() if module is not None}}

    def _learned(self) -> dict[str, Tensor]:
        """Return the tensors of the networks and their optimizers, by name."""
        tensors: dict[str, Tensor] = {}
        for name, optimizer in self.optimizers.items():
            tensors |= tensors_of_optimizer(optimizer, name)
        for name, module in self._modules().items():
            tensors |= {f"{name}.{key}": value for key, value in module.state_dict().items()}
        return tensors

    def _restore_learned(self, tensors: dict[str, Tensor]) -> None:
        """Restore the tensors of `_learned`; other tensors are ignored."""
        for name, module in self._modules().items():
            module.load_state_dict(with_prefix(tensors, f"{name}."))
        for name, optimizer in self.optimizers.items():
            tensors_to_optimizer(optimizer, tensors, name)


def _rows_of_games(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors that have a row for each game; each process has its own rows."""
    return {name: rows for name, rows in tensors.items() if name == _GAMES or name.startswith(MEMORIES)}


# The run ---------------------------------------------------------------------------------------------------


def with_recorded_choice(args: Args) -> Args:
    """Replace "auto" by the learner and the precision of the run to be resumed, if there is one.

    Raises:
        RunError: the checkpoint of the run is damaged or of another version.
    """
    recorded = recorded_options(args.run_dir, CHECKPOINT_KIND) if args.resume else {}
    if (recorded.get("learner"), recorded.get("precision")) not in CHOICES:
        return args
    known = Choice(recorded["learner"], recorded["precision"])
    learner = known.learner if args.learner == "auto" else args.learner
    takes_precision = args.precision == "auto" and learner == known.learner
    return replace(args, learner=learner, precision=known.precision if takes_precision else args.precision)


def train(args: Args, workers: Workers = ALONE) -> Run:
    """Train, or resume training, until the budget is spent or a signal stops the run.

    Args:
        args: options; the numbers of games and of rows are those of all processes together.
        workers: the processes that learn together; this is process 0, the others `follow`.

    Raises:
        RunError: the folder cannot be used.
        ValueError: an option is invalid, or there is no such table or opponent.
        LossError: a loss became NaN; a checkpoint from before that update and the batch were saved.
        Stopped: a signal (Ctrl-C, SIGTERM or SIGHUP); a checkpoint was written after the current update.
    """
    check(args)
    workers.share_of_games(args.num_envs)
    args = with_recorded_choice(args)
    if args.precision == "bfloat16" and not bfloat16_units():
        say("note: this processor has no bfloat16, --precision float32 is several times faster")
    with Stops() as stops, workers.leading(), Run(args, CHECKPOINT_KIND, "PPO") as run:
        workers.send_order(Order.BEGIN, CHOICES.index(choose_learner(args)))
        trainer = Trainer(args, workers)
        trainer.warm_up()
        run.warm_up(trainer)
        run.begin(trainer)

        def update(share: float) -> dict[str, float]:
            workers.send_order(Order.UPDATE, share)
            trainer.collect()
            return trainer.learn(share)

        run.train(stops, update)
    print(f"{run.summary()}, {trainer.updates:,} updates; run folder: {run.folder}")
    shares = ", ".join(f"{part} {100 * share:.0f} %" for part, share in run.time_shares().items())
    print(f"time: {shares}")
    return run


def follow(args: Args, workers: Workers) -> None:
    """Follow the orders of process 0 until it ends the run, as one of the other processes.

    Raises:
        ValueError: as in `train`.
        RunError: another process ended.
    """
    check(args)
    workers.share_of_games(args.num_envs)
    with signals_ignored():
        order, value = workers.receive_order()
        if order is Order.END:
            return
        trainer = Trainer(replace(args, **CHOICES[int(value)]._asdict()), workers)
        trainer.warm_up()
        while True:
            order, value = workers.receive_order()
            if order is Order.END:
                return
            # Any error here is raised in process 0 too, which handles it.
            with contextlib.suppress(LossError, KeyError, TypeError, RuntimeError, ValueError):
                if order is Order.UPDATE:
                    trainer.collect()
                    trainer.learn(value)
                elif order is Order.CHECKPOINT:
                    trainer.checkpoint()
                else:
                    trainer.restore(*workers.received())


def _run_command(args: Args) -> str | None:
    with joined() as workers:
        if workers.rank == 0:
            return train(args, workers).problem
        follow(args, workers)
        return None


def main() -> int:
    """Run the command line; return the exit status."""
    return run_training(Args, __doc__, _run_command, lambda args: args.run_dir)


__all__ = ["CHECKPOINT_KIND", "PARTS", "Args", "Trainer", "check", "follow", "main", "train"]

if __name__ == "__main__":
    # Under its own name: machine code of a module called __main__ would be compiled in every process.
    sys.exit(importlib.import_module("train.selfplay").main())
