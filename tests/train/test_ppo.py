"""The compiled arithmetic of PPO against the textbook's formulas, in PyTorch and in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from millebornes_env.envs.rollout import advantages_of, transitions_of
from tests.each import each
from train.common.games import Rollout, new_rollout
from train.selfplay import (
    APPROX_KL,
    CLIPPED,
    ENTROPY,
    MAGNET_KL,
    POLICY_LOSS,
    VALUE_LOSS,
    LossCoefs,
    Minibatch,
    Samples,
    Scratch,
    new_scratch,
    sample_actions,
    shuffled,
    write_advantages,
    write_gradient,
)

ACTIONS = 7


def random_rows(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Logits float32[rows, A + 1] and masks int8[rows, A] with one to all actions legal."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=2.0, size=(rows, ACTIONS + 1)).astype(np.float32)
    mask = (rng.random((rows, ACTIONS)) < 0.4).astype(np.int8)
    mask[np.arange(rows), rng.integers(ACTIONS, size=rows)] = 1
    mask[0] = np.eye(ACTIONS, dtype=np.int8)[3]  # one legal action only
    return logits, mask


def masked_log_softmax(logits: torch.Tensor, mask: np.ndarray) -> torch.Tensor:  # type: ignore[type-arg]
    illegal = torch.from_numpy(mask) == 0
    return torch.log_softmax(logits[:, :-1].masked_fill(illegal, -torch.inf), dim=1)


def sampled(logits: np.ndarray, mask: np.ndarray, key: int = 1, threads: int = 2) -> Samples:  # type: ignore[type-arg]
    rows, actions = mask.shape
    samples = Samples(logits, np.zeros(rows, np.int64), *(np.zeros(rows, np.float32) for _ in range(2)))
    sample_actions(mask, samples, new_scratch(threads, actions), key, 2, threads)
    return samples


def test_actions_are_drawn_as_often_as_the_policy_says() -> None:
    logits, mask = random_rows(6)
    times = 20_000
    many = sampled(np.repeat(logits, times, axis=0), np.repeat(mask, times, axis=0))
    expected = masked_log_softmax(torch.from_numpy(logits), mask).exp().numpy()
    for row in range(6):
        actions = many.actions[row * times : (row + 1) * times]
        result = np.bincount(actions, minlength=ACTIONS) / times
        assert result[mask[row] == 0].sum() == 0
        assert np.abs(result - expected[row]).max() < 4.5 * 0.5 / np.sqrt(times)


def test_probabilities_and_values_are_those_of_the_logits() -> None:
    logits, mask = random_rows(50)
    samples = sampled(logits, mask)
    expected = masked_log_softmax(torch.from_numpy(logits), mask).numpy()
    chosen = expected[np.arange(50), samples.actions]
    assert samples.log_probs == pytest.approx(chosen, abs=1e-5)
    assert (samples.values == logits[:, -1]).all()


def test_draws_depend_on_the_key_and_not_on_the_threads() -> None:
    logits, mask = random_rows(500)
    assert (sampled(logits, mask).actions == sampled(logits, mask, threads=1).actions).all()
    assert (sampled(logits, mask).actions != sampled(logits, mask, key=2).actions).any()


@each("highest", [1e4, -1e4, 80.0])
def test_huge_logits_give_numbers(highest: float) -> None:
    logits, mask = random_rows(20)
    logits[:, 2] = highest
    mask[:, 2] = 1
    samples = sampled(logits, mask)
    assert np.isfinite(samples.log_probs).all()
    assert (mask[np.arange(20), samples.actions] == 1).all()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    seats=st.sampled_from([2, 3, 4, 6]),
    gamma=st.sampled_from([1.0, 0.9]),
    lam=st.sampled_from([0.0, 0.5, 0.95, 1.0]),
    spread=st.sampled_from([0.0, 1.0]),  # of action values about values
)
def test_advantages_follow_each_seats_own_decisions(
    seed: int, seats: int, gamma: float, lam: float, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    steps, games = int(rng.integers(1, 30)), 3
    rollout = new_rollout(steps, games, 1, 1, seats)
    rollout.seats[:] = rng.integers(seats, size=(steps, games))
    rollout.values[:] = rng.normal(size=(steps, games))
    rollout.action_values[:] = rollout.values + spread * rng.normal(size=(steps, games))
    rollout.rewards[:] = rng.normal(size=(steps, games, seats))
    rollout.dones[:] = rng.random((steps, games)) < 0.15
    rollout.opponent_mask[:] = rng.random((steps, games)) < 0.2
    write_advantages(rollout, np.zeros((2, 4, seats), np.float32), gamma, lam, 2)
    transitions = transitions_of(rollout.seats, rollout.rewards, rollout.dones)
    above = rollout.action_values - rollout.values
    less = transitions._replace(rewards=transitions.rewards - above)
    advantages = advantages_of(less, rollout.values, gamma=gamma, gae_lambda=lam)[0] + above
    complete = transitions.is_complete
    assert (rollout.loss_mask.astype(np.bool_) == complete & ~rollout.opponent_mask).all()
    assert rollout.advantages[complete] == pytest.approx(advantages[complete], abs=1e-4)
    assert rollout.returns[complete] == pytest.approx((advantages + rollout.values)[complete], abs=1e-4)


def minibatch(rows: int, seed: int, with_magnet: bool) -> Minibatch:
    rng = np.random.default_rng(seed)
    logits, mask = random_rows(rows, seed)
    rollout = new_rollout(1, rows, 1, ACTIONS, 2)
    flat = Rollout._make(array.reshape(rows, *array.shape[2:]) for array in rollout)
    old = logits + rng.normal(scale=1.0, size=logits.shape).astype(np.float32)
    samples = sampled(old, mask)
    flat.masks[:] = mask
    flat.actions[:] = samples.actions
    flat.log_probs[:] = samples.log_probs
    flat.advantages[:] = rng.normal(size=rows)
    flat.returns[:] = rng.normal(size=rows)
    magnet = rng.normal(size=logits.shape if with_magnet else (0, 0)).astype(np.float32)
    chosen = rng.permutation(rows)[: rows - 2]
    recorded = flat.masks, flat.actions, flat.log_probs, flat.advantages, flat.returns
    own = logits[chosen]
    return Minibatch(chosen, own, np.full_like(own, np.nan), magnet, *recorded)


def gradient_written(batch: Minibatch, coefs: LossCoefs) -> Scratch:
    scratch = new_scratch(2, ACTIONS)
    write_gradient(batch, coefs, scratch, 2)
    return scratch


@pytest.mark.parametrize("with_magnet", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_the_gradient_is_that_of_the_papers_loss(seed: int, with_magnet: bool) -> None:
    batch = minibatch(40, seed, with_magnet)
    coefs = LossCoefs(clip_range=0.2, ent_coef=0.03, vf_coef=0.7, magnet_coef=0.4)
    sums = gradient_written(batch, coefs).sums.sum(axis=0)

    rows = torch.from_numpy(batch.rows)
    logits = torch.from_numpy(batch.logits.copy()).requires_grad_()
    mask = batch.masks[batch.rows]
    masked_log_probs = masked_log_softmax(logits, mask)
    legal = torch.from_numpy(mask) == 1
    log_probs = masked_log_probs.masked_fill(~legal, 0.0)
    probs = masked_log_probs.exp()
    actions = torch.from_numpy(batch.actions)[rows].long()
    advantages = torch.from_numpy(batch.advantages)[rows]
    log_ratios = (
        masked_log_probs[torch.arange(len(rows)), actions] - torch.from_numpy(batch.old_log_probs)[rows]
    )
    ratios = log_ratios.exp()
    clipped = ratios.clamp(1 - coefs.clip_range, 1 + coefs.clip_range)
    policy_losses = -torch.minimum(ratios * advantages, clipped * advantages)
    entropies = -(probs * log_probs).sum(dim=1)
    value_losses = 0.5 * (logits[:, -1] - torch.from_numpy(batch.returns)[rows]) ** 2
    loss = policy_losses - coefs.ent_coef * entropies + coefs.vf_coef * value_losses
    if with_magnet:
        near = masked_log_softmax(torch.from_numpy(batch.magnet)[rows], mask).masked_fill(~legal, 0.0)
        distances = (probs * (log_probs - near)).sum(dim=1)
        loss = loss + coefs.magnet_coef * distances
        assert sums[MAGNET_KL] == pytest.approx(float(distances.detach().sum()), rel=1e-4)
    loss.mean().backward()
    assert logits.grad is not None
    assert batch.gradient == pytest.approx(logits.grad.numpy(), abs=1e-6)

    assert sums[POLICY_LOSS] == pytest.approx(float(policy_losses.detach().sum()), abs=1e-3)
    assert sums[ENTROPY] == pytest.approx(float(entropies.detach().sum()), rel=1e-4)
    assert sums[VALUE_LOSS] == pytest.approx(float(value_losses.detach().sum()), rel=1e-4)
    assert sums[APPROX_KL] == pytest.approx(float((ratios - 1 - log_ratios).detach().sum()), abs=1e-3)
    assert sums[CLIPPED] == float((clipped * advantages < ratios * advantages).detach().sum())
    assert 0 < sums[CLIPPED] < len(rows)


def test_a_policy_far_from_the_old_one_still_gives_numbers() -> None:
    batch = minibatch(30, 1, False)
    batch.old_log_probs[:] = -200.0
    scratch = gradient_written(batch, LossCoefs(0.2, 0.01, 0.5, 0.0))
    assert np.isfinite(batch.gradient).all()
    assert np.isfinite(scratch.sums).all()


@settings(max_examples=60, deadline=None)
@given(rows=st.integers(1, 5000), count=st.integers(1, 60), seed=st.integers(0, 100))
def test_every_row_is_in_one_batch(rows: int, count: int, seed: int) -> None:
    numbers = np.arange(0, 3 * rows, 3)
    batches = shuffled(numbers, count, np.random.default_rng(seed))
    assert sorted(np.concatenate(batches).tolist()) == numbers.tolist()
    assert len(batches) == count
    assert max(len(batch) for batch in batches) - min(len(batch) for batch in batches) <= 1
