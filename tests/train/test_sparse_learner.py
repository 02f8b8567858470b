"""The sparse learner takes the steps that PyTorch takes: its gradients are autograd's, its Adam torch's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

if TYPE_CHECKING:  # imported by the tests' fixture `_imported`
    import torch

    from train.common.learners import Critics, TorchLearner, TorchPolicy
    from train.common.network import Perceptron
    from train.common.ppo import LossCoefs, Rollout, new_rollout, new_sampling
    from train.common.sparse_learner import SparseLearner, SparsePolicy
    from train.common.sparse_network import layers_in


INPUTS, ACTIONS, ROWS = 90, 12, 300
DEPTHS = [(40,), (70, 130), (30, 20, 10)]


def coefs() -> LossCoefs:
    return LossCoefs(clip_range=0.2, ent_coef=0.03, vf_coef=0.7, magnet_coef=0.0)


def network(hidden: tuple[int, ...], seed: int = 1) -> Perceptron:
    torch.manual_seed(seed)
    scale = np.linspace(0.02, 1.0, INPUTS).astype(np.float32)
    found = Perceptron(scale, hidden, ACTIONS + 1)
    with torch.no_grad():
        for layer in found.linears:
            layer.bias.uniform_(-0.3, 0.3)
    return found


def rollout(seed: int = 1) -> Rollout:
    """Rows of which a third is not 0, one of them all 0; one to all actions are legal."""
    rng = np.random.default_rng(seed)
    found = new_rollout(1, ROWS, INPUTS, ACTIONS, 2)
    flat = Rollout._make(array.reshape(ROWS, *array.shape[2:]) for array in found)
    flat.observations[:] = rng.integers(-3, 20, (ROWS, INPUTS)) * (rng.random((ROWS, INPUTS)) < 0.35)
    flat.observations[5] = 0
    flat.masks[:] = rng.random((ROWS, ACTIONS)) < 0.4
    flat.actions[:] = rng.integers(ACTIONS, size=ROWS)
    flat.masks[np.arange(ROWS), flat.actions] = 1
    flat.masks[7] = np.eye(ACTIONS, dtype=np.int8)[flat.actions[7]]
    flat.log_probs[:] = -rng.random(ROWS) * 3
    flat.advantages[:] = rng.normal(size=ROWS)
    flat.returns[:] = rng.normal(size=ROWS)
    return flat


class Pair(NamedTuple):
    """A learner of each kind, of networks that are equal."""

    sparse: SparseLearner
    dense: TorchLearner


def pair(hidden: tuple[int, ...], threads: int = 1) -> Pair:
    flat = rollout()
    ours, theirs = network(hidden), network(hidden)
    critics = Critics(None, None, torch.zeros(0))
    found = Pair(
        SparseLearner(ours, torch.optim.Adam(ours.parameters(), 1e-3, eps=1e-5), flat, threads),
        TorchLearner(
            TorchPolicy(theirs, torch.float32, threads),
            torch.optim.Adam(theirs.parameters(), 1e-3, eps=1e-5),
            flat,
            critics,
        ),
    )
    found.sparse.begin()
    found.dense.begin()
    return found


def gradient_by_layer(learner: SparseLearner) -> list[torch.Tensor]:
    """Weight and bias of each layer."""
    total = learner.gradients[0].grad
    assert total is not None
    layers = layers_in(total.numpy(), learner.widths)
    return [torch.from_numpy(tensor.copy()) for layer in layers for tensor in layer]


SOME = np.random.default_rng(3).permutation(ROWS)[:200]


# Gradients --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", DEPTHS)
def test_gradients_are_those_of_autograd(hidden: tuple[int, ...]) -> None:
    """Each tensor's, of rows that the clip range and illegal actions cut; and the parts of the loss."""
    both = pair(hidden, threads=2)
    ours, theirs = (learner.gradient(SOME, coefs()) for learner in both)
    assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6)
    assert 0.1 < ours[4] < 0.9, "some rows are clipped, not all"
    for found, parameter in zip(gradient_by_layer(both.sparse), both.dense.gradients, strict=True):
        assert parameter.grad is not None
        largest = float(parameter.grad.abs().max())
        assert largest > 0
        assert float((found - parameter.grad).abs().max()) < 2e-5 * largest


# Adam -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_norm", [1e-3, 100.0], ids=["clipped", "not clipped"])
def test_steps_are_those_of_adam(max_norm: float) -> None:
    hidden = DEPTHS[1]
    both = pair(hidden)
    for number in range(12):
        rows = np.random.default_rng(number).permutation(ROWS)[:100]
        for learner in both:
            learner._optimizer.param_groups[0]["lr"] = 1e-3 / (1 + number)
            learner.gradient(rows, coefs())
            learner.descend(max_norm)
    for learner in both:
        learner.end()
    moving = both.sparse.network, both.dense.network, network(hidden)
    tensors = ([parameter.detach() for parameter in one.parameters()] for one in moving)
    for ours, theirs, old in zip(*tensors, strict=True):
        moved = float((theirs - old).abs().max())
        assert moved > 1e-4
        assert float((ours - theirs).abs().max()) < 2e-3 * moved
    for name in ("exp_avg", "exp_avg_sq", "step"):
        kept = [
            [learner._optimizer.state[one][name] for one in learner.network.parameters()] for learner in both
        ]
        for one, other in zip(*kept, strict=True):
            assert one.shape == other.shape
            assert torch.allclose(one, other, rtol=1e-3, atol=1e-3 * float(other.abs().max()))


def test_what_was_learned_lies_in_network_and_optimizer() -> None:
    """Another learner that takes them over goes on bit for bit; after `undo` they are as they were."""
    learner = pair((70, 130)).sparse
    learner.gradient(SOME, coefs())
    learner.descend(0.5)
    learner.end()
    saved = [value.detach().clone() for value in learner.network.parameters()]
    learner.begin()
    learner.gradient(SOME, coefs())
    learner.descend(0.5)
    learner.undo()
    assert all(
        torch.equal(one, other) for one, other in zip(saved, learner.network.parameters(), strict=True)
    )
    other = SparseLearner(learner.network, learner._optimizer, learner._rollout, 1)
    weights = []
    for one in (learner, other):
        one.begin()
        one.gradient(SOME, coefs())
        one.descend(0.5)
        weights.append(one.evaluated.block.copy())
    assert (weights[0] == weights[1]).all()


# Inference --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", DEPTHS)
def test_choices_are_those_of_the_dense_network(hidden: tuple[int, ...]) -> None:
    flat, found = rollout(), []
    for policy in (
        SparsePolicy(network(hidden), 2),
        TorchPolicy(network(hidden), torch.float32, 2),
    ):
        policy.take()
        sampling = new_sampling(np.zeros((ROWS, ACTIONS + 1), np.float32), flat.masks, 2)
        policy.choose(flat.observations, sampling, (5, 6))
        found.append(sampling)
    ours, theirs = found
    assert ours.values == pytest.approx(theirs.values, rel=1e-4, abs=1e-4)
    same = ours.actions == theirs.actions
    assert same.mean() > 0.99, "but for draws that rounding decides"
    assert ours.log_probs[same] == pytest.approx(theirs.log_probs[same], abs=1e-3)


def test_a_row_may_be_full() -> None:
    flat = rollout()
    flat.observations[:] = 1
    learner = SparsePolicy(network((70, 130)), 1)
    learner.take()
    sampling = new_sampling(np.zeros((ROWS, ACTIONS + 1), np.float32), flat.masks, 1)
    learner.choose(flat.observations, sampling, (1, 2))
    with torch.no_grad():
        expected = learner.network(torch.ones((1, INPUTS), dtype=torch.int8))[0, -1]
    assert sampling.values == pytest.approx(float(expected), rel=1e-4)
