"""The arithmetic of PPO beside the matrix products, compiled: sampling, advantages, the gradient of the loss.

PyTorch would do each of these in a dozen passes over arrays of logits of which six in seven belong to illegal
actions; here a row is read once, and only its legal actions cost anything. `tests/train/test_ppo.py` compares
every function with the textbook's formula in PyTorch.

A "row" is one decision. N rows, A actions, S seats; logits have A + 1 columns, the last is the value.
Threads get equal shares of the rows in order, so that the same number of threads gives the same sums.
"""

from __future__ import annotations

from math import exp, log
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.chance import random_word
from millebornes_env.engine.numba.compiling import float_kernel, parallel_float_kernel, prange

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
Int8Array = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]

# Columns of `Minibatch.sums`, which `gradient_of_row` adds to.
STATISTICS: Final = (
    "policy_loss",
    "value_loss",
    "entropy",
    "approx_kl",
    "clip_fraction",
    "magnet_kl",
)
CHUNK: Final = 32
"""Rows that stay together when rows are shuffled."""
_HIGHEST_LOG_RATIO: Final = 20.0  # exp of much more overflows
POLICY_LOSS, VALUE_LOSS, ENTROPY, APPROX_KL, CLIPPED, MAGNET_KL = range(len(STATISTICS))


@float_kernel
def legal_softmax(
    logits: Float32Array, mask: Int8Array, legal: Int32Array, probs: Float32Array, log_probs: Float32Array
) -> int:
    """The softmax over the legal actions of a row.

    Args:
        logits: float32[A + 1]; what illegal actions have is not looked at.
        mask: int8[A], 1 where an action is legal.
        legal: int32[A + 1], overwritten: the legal actions in order.
        probs: float32[A + 1], overwritten: their probabilities.
        log_probs: float32[A + 1], overwritten: the logarithms of those, finite.

    Returns:
        How many are legal.
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


class Sampling(NamedTuple):
    """Inputs and outputs of sampling actions; N rows."""

    logits: Float32Array  # [N, A + 1] the last column is the value
    mask: Int8Array  # [N, A]
    actions: Int64Array  # [N] overwritten; -1 where nothing is legal
    log_probs: Float32Array  # [N] overwritten: of the sampled actions
    values: Float32Array  # [N] overwritten
    legal: Int32Array  # [threads, A + 1] scratch
    legal_probs: Float32Array  # [threads, A + 1] scratch
    legal_log_probs: Float32Array  # [threads, A + 1] scratch


def new_sampling(logits: Float32Array, mask: Int8Array, threads: int) -> Sampling:
    """Allocate what sampling actions of N rows needs.

    Args:
        logits: float32[N, A + 1].
        mask: int8[N, A].
        threads: that share the rows.
    """
    rows, columns = logits.shape
    return Sampling(
        logits,
        mask,
        np.zeros(rows, np.int64),
        np.zeros(rows, np.float32),
        np.zeros(rows, np.float32),
        np.zeros((threads, columns), np.int32),
        np.zeros((threads, columns), np.float32),
        np.zeros((threads, columns), np.float32),
    )


@float_kernel
def sample_range(sampling: Sampling, thread: int, key_0: int, key_1: int, first: int, last: int) -> None:
    """Sample an action of each row from `first` to `last` - 1, as often as the policy says."""
    legal = sampling.legal[thread]
    probs, log_probs = sampling.legal_probs[thread], sampling.legal_log_probs[thread]
    actions = sampling.mask.shape[1]
    for row in range(first, last):
        count = legal_softmax(sampling.logits[row], sampling.mask[row], legal, probs, log_probs)
        left = np.float32(random_word(key_0, key_1, row) * 2.0**-32)
        i = 0
        while i < count - 1 and left >= probs[i]:
            left -= probs[i]
            i += 1
        sampling.actions[row] = legal[i] if count > 0 else -1
        sampling.log_probs[row] = log_probs[i] if count > 0 else 0.0
        sampling.values[row] = sampling.logits[row, actions]


@parallel_float_kernel
def sample_actions(sampling: Sampling, key_0: int, key_1: int, threads: int) -> None:
    """Sample an action of each row; another key gives other samples."""
    rows = len(sampling.actions)
    for thread in prange(threads):
        sample_range(sampling, thread, key_0, key_1, thread * rows // threads, (thread + 1) * rows // threads)


class Rollout(NamedTuple):
    """T steps of N games: a row for each decision."""

    observations: Int8Array  # [T, N, D]
    masks: Int8Array  # [T, N, A]
    seats: Int8Array  # [T, N] who decided
    actions: npt.NDArray[np.int16]  # [T, N]
    log_probs: Float32Array  # [T, N] of the actions when they were sampled
    values: Float32Array  # [T, N] to the deciding seat; of the oracle, if there is one
    rewards: Float32Array  # [T, N, S] of the step that followed, to every seat
    dones: BoolArray  # [T, N] whether the step ended what is played for
    opponent_mask: BoolArray  # [T, N] whether an opponent decided, not the learner
    advantages: Float32Array  # [T, N] of the actions; written by `write_advantages`
    returns: Float32Array  # [T, N] what the value should have been; likewise
    loss_mask: BoolArray  # [T, N] whether the row counts in the loss; likewise


def new_rollout(steps: int, games: int, obs_size: int, actions: int, seats: int) -> Rollout:
    """Allocate the arrays of a rollout, zeroed."""
    shape = (steps, games)
    return Rollout(
        np.zeros((*shape, obs_size), np.int8),
        np.zeros((*shape, actions), np.int8),
        np.zeros(shape, np.int8),
        np.zeros(shape, np.int16),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        np.zeros((*shape, seats), np.float32),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.bool_),
    )


class SeatMemory(NamedTuple):
    """The next decision of each seat, while a game is read backwards; S seats."""

    has_next: Int8Array  # [threads, S] whether a later decision of it, or the end, is in the rollout
    value: Float32Array  # [threads, S] of that decision; 0 at the end
    advantage: Float32Array  # [threads, S] of that decision
    reward: Float32Array  # [threads, S] what it got from then back to now


def new_seat_memory(threads: int, seats: int) -> SeatMemory:
    """Allocate what `write_advantages` needs."""
    shape = (threads, seats)
    return SeatMemory(np.zeros(shape, np.int8), *(np.zeros(shape, np.float32) for _ in range(3)))


@float_kernel
def advantages_of_game(
    rollout: Rollout, memory: SeatMemory, thread: int, game: int, gamma: float, gae_lambda: float
) -> None:
    """Generalised advantage estimation (Schulman et al. 2016, equation 16) over each seat's own decisions.

    A seat's transition leads from its decision to its own next one; what the others do in between is a part
    of the environment, and so are the rewards that it gets meanwhile. A seat's last decision in the rollout,
    if the game goes on, has no successor yet: its value only bootstraps the decision before it, and it is
    masked from the loss.
    """
    has_next, value = memory.has_next[thread], memory.value[thread]
    advantage, reward = memory.advantage[thread], memory.reward[thread]
    has_next[:] = 0
    reward[:] = 0.0
    for step in range(len(rollout.dones) - 1, -1, -1):
        if rollout.dones[step, game]:
            has_next[:] = 1
            value[:] = 0.0
            advantage[:] = 0.0
            reward[:] = 0.0
        for seat in range(len(reward)):
            reward[seat] += rollout.rewards[step, game, seat]
        seat = int(rollout.seats[step, game])
        own = rollout.values[step, game]
        estimate = np.float32(0.0)
        if has_next[seat] == 1:
            delta = reward[seat] + gamma * value[seat] - own
            estimate = np.float32(delta + gamma * gae_lambda * advantage[seat])
        rollout.advantages[step, game] = estimate
        rollout.returns[step, game] = estimate + own
        rollout.loss_mask[step, game] = has_next[seat] == 1 and not rollout.opponent_mask[step, game]
        has_next[seat] = 1
        value[seat] = own
        advantage[seat] = estimate
        reward[seat] = 0.0


@parallel_float_kernel
def write_advantages(
    rollout: Rollout, memory: SeatMemory, gamma: float, gae_lambda: float, threads: int
) -> None:
    """`advantages_of_game` for all games."""
    games = rollout.dones.shape[1]
    for thread in prange(threads):
        for game in range(thread * games // threads, (thread + 1) * games // threads):
            advantages_of_game(rollout, memory, thread, game, gamma, gae_lambda)


class Minibatch(NamedTuple):
    """Inputs and outputs of one gradient; B rows of a rollout (flattened), A actions."""

    rows: Int64Array  # [B] which rows of the rollout
    logits: Float32Array  # [B, A + 1] of the present policy; the last column is the value
    magnet: Float32Array  # [B, A + 1] of the policy to stay near to, or [0, 0]
    gradient: Float32Array  # [B, A + 1] overwritten: of the loss by each logit
    masks: Int8Array  # [R, A] of the whole rollout, as all that follow
    actions: npt.NDArray[np.int16]  # [R]
    old_log_probs: Float32Array  # [R] of the actions under the policy that sampled them
    advantages: Float32Array  # [R] normalised
    returns: Float32Array  # [R]
    legal: Int32Array  # [threads, A + 1] scratch
    scratch: Float32Array  # [threads, 4, A + 1]
    sums: Float64Array  # [threads, STATISTICS] overwritten: sums over the thread's rows


class LossCoefs(NamedTuple):
    """The coefficients of the loss."""

    clip_range: float
    ent_coef: float
    vf_coef: float
    magnet_coef: float


def new_minibatch(
    rows: Int64Array, logits: Float32Array, magnet: Float32Array, rollout: Rollout, threads: int
) -> Minibatch:
    """Allocate what a gradient needs.

    Args:
        rows: int64[B], which rows of the rollout.
        logits: float32[B, A + 1].
        magnet: float32[B, A + 1], or [0, 0] without one.
        rollout: its arrays with steps and games in one dimension, [R, ...].
        threads: that share the rows.
    """
    return Minibatch(
        rows,
        logits,
        magnet,
        np.empty_like(logits),
        rollout.masks,
        rollout.actions,
        rollout.log_probs,
        rollout.advantages,
        rollout.returns,
        np.zeros((threads, logits.shape[1]), np.int32),
        np.zeros((threads, 4, logits.shape[1]), np.float32),
        np.zeros((threads, len(STATISTICS)), np.float64),
    )


def shuffled(rows: Int64Array, batches: int, rng: np.random.Generator) -> list[Int64Array]:
    """Shuffle rows into minibatches of nearly equal size.

    Chunks of `CHUNK` rows stay together: they are of one step of neighbouring games, which know nothing of
    each other, and lie side by side in memory (row by row it took four times as long to fetch them).

    Args:
        rows: int64[n], in order.
        batches: how many minibatches.
        rng: random number generator.
    """
    order = rng.permutation(-(-len(rows) // CHUNK))
    indices = (order[:, np.newaxis] * CHUNK + np.arange(CHUNK)).reshape(-1)
    shuffled_rows = rows[indices[indices < len(rows)]]
    return np.array_split(shuffled_rows, batches)


@float_kernel
def gradient_of_row(batch: Minibatch, coefs: LossCoefs, thread: int, row: int, index: int) -> None:
    """Write the gradient of one row's loss by its logits, and add the row to the statistics.

    Its logits and their gradient stand in line `index` of the batch's. Afterwards the thread's `legal` lists
    the legal actions.

    With p the present policy over legal actions, r = p(a) / p_old(a), A the advantage, H the entropy, q the
    magnet, v the value and R the return, the row's loss is (Schulman et al. 2017, equations 7 and 9; Sokal et
    al. 2023 for the magnet)

        -min(r A, clip(r, 1 - c, 1 + c) A) - w_H H(p) + w_q KL(p, q) + w_v (v - R)^2 / 2
    """
    legal, sums = batch.legal[thread], batch.sums[thread]
    probs, log_probs = batch.scratch[thread, 0], batch.scratch[thread, 1]
    actions = batch.masks.shape[1]
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
        sums[MAGNET_KL] += add_magnet_gradient(batch, coefs, thread, row, index, count)


@float_kernel
def add_magnet_gradient(
    batch: Minibatch, coefs: LossCoefs, thread: int, row: int, index: int, count: int
) -> float:
    """Add the gradient of KL(p, q) to a row's, whose softmax lies in the scratch; the KL itself, in nats."""
    legal, probs, log_probs = batch.legal[thread], batch.scratch[thread, 0], batch.scratch[thread, 1]
    magnet_log_probs = batch.scratch[thread, 3]
    legal_softmax(batch.magnet[index], batch.masks[row], legal, batch.scratch[thread, 2], magnet_log_probs)
    kl = np.float32(0.0)
    for i in range(count):
        kl += probs[i] * (log_probs[i] - magnet_log_probs[i])
    for i in range(count):
        pull = probs[i] * (log_probs[i] - magnet_log_probs[i] - kl)
        batch.gradient[index, legal[i]] += np.float32(coefs.magnet_coef) * pull
    return float(kl)


@float_kernel
def divide_row(row: Float32Array, rows: int) -> None:
    """Make the gradient of a row's loss that of the mean loss of all rows.

    In a function of its own: what is written as `array[row] *= number` in a loop of threads is lost.
    """
    share = np.float32(1.0 / rows)
    for column in range(len(row)):
        row[column] *= share


@parallel_float_kernel
def write_gradient(batch: Minibatch, coefs: LossCoefs, threads: int) -> None:
    """The gradient of the mean loss of a minibatch by its logits, and sums of the statistics."""
    rows = len(batch.rows)
    batch.sums[:] = 0.0
    for thread in prange(threads):
        for index in range(thread * rows // threads, (thread + 1) * rows // threads):
            gradient_of_row(batch, coefs, thread, batch.rows[index], index)
            divide_row(batch.gradient[index], rows)
