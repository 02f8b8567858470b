"""Tianshou: PPO over Gymnasium's environment, with observations as `obs` and `mask`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.utils.torch_utils import policy_within_training_step
from torch import Tensor, nn

from research.measurements.works_with.rounds import GAME, Act, most_probable

GAMES, STEPS, EPOCHS, BATCH = 64, 64, 2, 512


def make_env() -> gymnasium.Env[Any, Any]:
    """Create the environment as a user of Tianshou would."""
    env: Any = gymnasium.make(
        GAME, opponent="random", observe_mask=True, scaled=True, disable_env_checker=True
    )
    names = {"obs": "observation", "mask": "action_mask"}
    space = gymnasium.spaces.Dict({to: env.observation_space[name] for to, name in names.items()})
    return gymnasium.wrappers.TransformObservation(
        env, lambda seen: {to: seen[names[to]] for to in names}, space
    )


class Perceptron(nn.Module):
    """Logits of legal actions, or a value, from Tianshou's batches of `obs` and `mask`."""

    def __init__(self, inputs: int, outputs: int, *, is_policy: bool) -> None:
        """Create random weights."""
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs)
        )
        self.is_policy = is_policy

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> Any:
        """Logits and the state that Tianshou keeps for recurrent networks; or values."""
        rows = self.layers(torch.as_tensor(obs.obs, dtype=torch.float32))
        if not self.is_policy:
            return rows
        return rows.masked_fill(torch.as_tensor(obs.mask) == 0, torch.finfo(rows.dtype).min), state


def _policy_of(logits: Tensor) -> torch.distributions.Categorical:
    return torch.distributions.Categorical(logits=logits)


def learn(seed: int) -> Iterator[Act]:
    """Learn without end; yield the policy after each update."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # which Tianshou draws from
    envs = DummyVectorEnv([make_env] * GAMES)
    envs.seed(list(range(seed * GAMES, (seed + 1) * GAMES)))
    one: Any = make_env()
    inputs, actions = one.observation_space["obs"].shape[0], int(one.action_space.n)
    actor = Perceptron(inputs, actions, is_policy=True)
    policy = ProbabilisticActorPolicy(
        actor=actor,
        dist_fn=_policy_of,
        action_space=one.action_space,
        deterministic_eval=True,
        action_scaling=False,
    )
    algorithm = PPO(
        policy=policy,
        critic=Perceptron(inputs, 1, is_policy=False),
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        ent_coef=0.01,
        vf_coef=0.5,
        max_grad_norm=0.5,
    )
    collector = Collector(algorithm, envs, VectorReplayBuffer(GAMES * STEPS, GAMES))
    collector.reset()

    while True:
        with policy_within_training_step(policy):  # it samples its actions
            collector.collect(n_step=GAMES * STEPS)
            algorithm.update(collector.buffer, BATCH, EPOCHS)
        collector.reset_buffer(keep_statistics=True)
        yield most_probable(actor.layers)
