"""The sparse learner takes the steps that PyTorch takes: its gradients are autograd's, its Adam torch's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch

from train.common.games import Float64Array, Int64Array, Rollout, new_rollout
from train.common.sparse import SparseBackend, layers_in
from train.selfplay import (
    CLIPPED,
    LossCoefs,
    Minibatch,
    Perceptron,
    Policy,
    TorchBackend,
    new_scratch,
    write_gradient,
)

INPUTS, ACTIONS, ROWS = 90, 12, 300
DEPTHS = [(40,), (70, 130), (30, 20, 10)]


def coefs() -> LossCoefs:
    return LossCoefs(clip_range=0.2, ent_coef=0.03, vf_coef=0.7, magnet_coef=0.0)


def network(hidden: tuple[int, ...], seed: int = 1, outputs: int = ACTIONS + 1) -> Perceptron:
    torch.manual_seed(seed)
    scale = np.linspace(0.02, 1.0, INPUTS).astype(np.float32)
    result = Perceptron(scale, hidden, outputs)
    with torch.no_grad():
        for layer in result.linears:
            layer.bias.uniform_(-0.3, 0.3)
    return result


def rollout(seed: int = 1) -> Rollout:
    """Rows of which a third is not 0, one of them all 0; one to all actions are legal."""
    rng = np.random.default_rng(seed)
    result = new_rollout(1, ROWS, INPUTS, ACTIONS, 2)
    flat = Rollout._make(array.reshape(ROWS, *array.shape[2:]) for array in result)
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


class Learner(NamedTuple):
    """A network, its optimizer, and a backend that updates both."""

    network: Perceptron
    optimizer: torch.optim.Optimizer
    backend: SparseBackend | TorchBackend

    def gradient(self, rows: Int64Array) -> Float64Array:
        """Compute the gradient of a minibatch; return the means of the statistics."""
        flat = rollout()
        logits = self.backend.forward(flat.observations, flat.masks, rows)
        recorded = flat.masks, flat.actions, flat.log_probs, flat.advantages, flat.returns
        scratch = new_scratch(1, ACTIONS)
        none = np.zeros((0, 0), np.float32)
        batch = Minibatch(rows, logits, np.empty_like(logits), none, *recorded)
        write_gradient(batch, coefs(), scratch, 1)
        self.backend.backward(batch.gradient)
        means: Float64Array = scratch.sums.sum(axis=0) / len(rows)
        return means


class Pair(NamedTuple):
    """A learner of each kind, of networks that are equal."""

    sparse: Learner
    dense: Learner


def sparse_backend(
    network: Perceptron, threads: int, optimizer: torch.optim.Optimizer | None = None
) -> SparseBackend:
    return SparseBackend(network.linears, network.scale.numpy(), threads, optimizer)


def pair(hidden: tuple[int, ...], threads: int = 1) -> Pair:
    networks = network(hidden), network(hidden)
    ours, theirs = (torch.optim.Adam(one.parameters(), 1e-3, eps=1e-5) for one in networks)
    result = Pair(
        Learner(networks[0], ours, sparse_backend(networks[0], threads, ours)),
        Learner(networks[1], theirs, TorchBackend(networks[1], torch.float32, theirs)),
    )
    for learner in result:
        learner.backend.begin()
    return result


def gradient_by_layer(learner: Learner) -> list[torch.Tensor]:
    """Weight and bias of each layer."""
    assert isinstance(learner.backend, SparseBackend)
    total = learner.backend.gradients[0].grad
    assert total is not None
    layers = layers_in(total.numpy(), learner.backend.widths)
    return [torch.from_numpy(tensor.copy()) for layer in layers for tensor in layer]


SOME = np.random.default_rng(3).permutation(ROWS)[:200]


@pytest.mark.parametrize("hidden", DEPTHS)
def test_gradients_are_those_of_autograd(hidden: tuple[int, ...]) -> None:
    """Each tensor's, of rows that the clip range and illegal actions cut; and the parts of the loss."""
    both = pair(hidden, threads=2)
    ours, theirs = (learner.gradient(SOME) for learner in both)
    assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6)
    assert 0.1 < ours[CLIPPED] < 0.9, "some rows are clipped, not all"
    for result, parameter in zip(gradient_by_layer(both.sparse), both.dense.backend.gradients, strict=True):
        assert parameter.grad is not None
        largest = float(parameter.grad.abs().max())
        assert largest > 0
        assert float((result - parameter.grad).abs().max()) < 2e-5 * largest


@pytest.mark.parametrize("max_norm", [1e-3, 100.0], ids=["clipped", "not clipped"])
def test_steps_are_those_of_adam(max_norm: float) -> None:
    hidden = DEPTHS[1]
    both = pair(hidden)
    for number in range(12):
        rows = np.random.default_rng(number).permutation(ROWS)[:100]
        for learner in both:
            learner.optimizer.param_groups[0]["lr"] = 1e-3 / (1 + number)
            learner.gradient(rows)
            learner.backend.descend(max_norm)
    for learner in both:
        learner.backend.end()
    moving = both.sparse.network, both.dense.network, network(hidden)
    tensors = ([parameter.detach() for parameter in one.parameters()] for one in moving)
    for ours, theirs, old in zip(*tensors, strict=True):
        moved = float((theirs - old).abs().max())
        assert moved > 1e-4
        assert float((ours - theirs).abs().max()) < 2e-3 * moved
    for name in ("exp_avg", "exp_avg_sq", "step"):
        kept = [
            [learner.optimizer.state[one][name] for one in learner.network.parameters()] for learner in both
        ]
        for one, other in zip(*kept, strict=True):
            assert one.shape == other.shape
            assert torch.allclose(one, other, rtol=1e-3, atol=1e-3 * float(other.abs().max()))


def test_what_was_learned_lies_in_network_and_optimizer() -> None:
    """Another backend that reads them goes on bit for bit; before `end` they are as they were."""
    learner = pair((70, 130)).sparse
    learner.gradient(SOME)
    learner.backend.descend(0.5)
    learner.backend.end()
    saved = [value.detach().clone() for value in learner.network.parameters()]
    learner.backend.begin()
    learner.gradient(SOME)
    learner.backend.descend(0.5)
    kept = learner.network.parameters()
    assert all(torch.equal(one, other) for one, other in zip(saved, kept, strict=True))
    weights = []
    for backend in (learner.backend, sparse_backend(learner.network, 1, learner.optimizer)):
        assert isinstance(backend, SparseBackend)
        backend.begin()
        learner._replace(backend=backend).gradient(SOME)
        backend.descend(0.5)
        weights.append(backend.network.block.copy())
    assert (weights[0] == weights[1]).all()


@pytest.mark.parametrize("hidden", DEPTHS)
def test_choices_are_those_of_the_dense_network(hidden: tuple[int, ...]) -> None:
    flat, result = rollout(), []
    one, other = network(hidden), network(hidden)
    for policy in (
        Policy(one, sparse_backend(one, 2), 2),
        Policy(other, TorchBackend(other, torch.float32), 2),
    ):
        policy.load()
        result.append(policy.act(flat.observations, flat.masks, (5, 6)))
    ours, theirs = result
    assert ours.values == pytest.approx(theirs.values, rel=1e-4, abs=1e-4)
    same = ours.actions == theirs.actions
    assert same.mean() > 0.99, "but for draws that rounding decides"
    assert ours.log_probs[same] == pytest.approx(theirs.log_probs[same], abs=1e-3)


@pytest.mark.parametrize("outputs", [1, ACTIONS])
def test_critics_of_one_output_or_one_for_each_action_learn_the_same(outputs: int) -> None:
    """The last output is computed in every row, the others where the action is legal."""
    flat, gradients = rollout(), []
    ours, theirs = (network((40,), outputs=outputs) for _ in range(2))
    legal = flat.masks[SOME, :outputs] == 1
    legal[:, -1] = True
    by_output = np.random.default_rng(5).normal(size=legal.shape).astype(np.float32) * legal
    found = []
    for backend in (sparse_backend(ours, 2), TorchBackend(theirs, torch.float32)):
        backend.load()
        found.append(backend.forward(flat.observations, flat.masks, SOME))
        backend.backward(by_output)
        gradients.append(backend.gradients)
    assert found[0][legal] == pytest.approx(found[1][legal], rel=1e-4, abs=1e-4)
    assert (found[0][~legal] == 0).all()
    total = gradients[0][0].grad
    assert total is not None
    layers = layers_in(total.numpy(), [INPUTS, 40, outputs])
    for result, parameter in zip([part for layer in layers for part in layer], gradients[1], strict=True):
        assert parameter.grad is not None
        expected = parameter.grad.numpy()
        assert result == pytest.approx(expected, abs=2e-5 * float(np.abs(expected).max()))


def test_a_row_may_be_full() -> None:
    flat, own = rollout(), network((70, 130))
    flat.observations[:] = 1
    backend = sparse_backend(own, 1)
    backend.load()
    logits = backend.outputs(flat.observations, flat.masks)
    with torch.no_grad():
        expected = own(torch.ones((1, INPUTS), dtype=torch.int8))[0, -1]
    assert logits[:, -1] == pytest.approx(float(expected), rel=1e-4)


def test_what_was_just_compiled_computes_the_same_bits_as_what_was_kept(tmp_path: Path) -> None:
    """A run that compiles first and one that finds everything compiled give the same policy for a seed."""
    script = (
        "from tests.train.test_sparse_learner import *\n"
        "flat = rollout()\n"
        "layers = network((40,))\n"
        "backend = SparseBackend(layers.linears, layers.scale.numpy(), 1)\n"
        "backend.load()\n"
        "print(backend.outputs(flat.observations, flat.masks).tobytes().hex())"
    )
    settings = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", script]
    compiled, kept = (subprocess.check_output(command, env=settings) for _ in range(2))
    assert len(compiled) > ROWS
    assert compiled == kept
