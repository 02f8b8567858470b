"""CleanRL's style: our single file of plain PyTorch over `vector_env`, with all seats learning."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from millebornes_env import VectorEnv, vector_env
from research.measurements.works_with.rounds import Act, most_probable
from train.cleanrl_ppo import Agent, Args, Rollout, update


def make_env(seed: int) -> VectorEnv:
    """Create games in which every seat learns; `envs.rollout` assigns rewards to seats."""
    env = vector_env(256, episode="round", seed=seed, num_threads=2)
    env.reset()
    return env


def learn(seed: int) -> Iterator[Act]:
    """Learn without end, at the initial learning rate of the file; yield the policy after each update."""
    torch.manual_seed(seed)
    args = Args(seed=seed)
    env = make_env(seed)
    agent = Agent(env, args.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    rollout = Rollout(env, args.num_steps)

    act = most_probable(agent.actor)  # the file scales observations itself, and here they are scaled
    while True:
        rollout.collect(env, agent)
        update(agent, optimizer, rollout, args)
        yield act
