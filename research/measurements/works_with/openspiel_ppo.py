"""OpenSpiel: its PPO for PyTorch, over our games converted to time steps of OpenSpiel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import torch
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.rl_environment import StepType, TimeStep

from research.measurements.works_with.rounds import GAME, Act, Floats, Masks, most_probable

GAMES, STEPS, EPOCHS, MINIBATCHES = 64, 64, 2, 8


def make_env() -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Create games with built-in opponents in all other seats."""
    return gymnasium.make_vec(GAME, num_envs=GAMES, opponent="random", scaled=True)


def time_steps(observations: Floats, masks: Masks) -> list[TimeStep]:
    """Convert results to time steps for OpenSpiel's agents."""
    legal = [np.flatnonzero(mask) for mask in masks]
    seen = zip(observations, legal, strict=True)
    shown = [{"info_state": [row], "legal_actions": [may], "current_player": 0} for row, may in seen]
    return [TimeStep(one, None, None, StepType.MID) for one in shown]


def learn(seed: int) -> Iterator[Act]:
    """Learn without end; yield the policy after each update."""
    torch.manual_seed(seed)
    games: Any = make_env()
    observations, infos = games.reset(seed=seed)
    agent = PPO(
        games.single_observation_space.shape,
        int(games.single_action_space.n),
        num_players=1,
        num_envs=GAMES,
        steps_per_batch=STEPS,
        num_minibatches=MINIBATCHES,
        update_epochs=EPOCHS,
        learning_rate=1e-3,
        gamma=1.0,
        agent_fn=PPOAgent,
    )

    while True:
        for _ in range(STEPS):
            actions = [output.action for output in agent.step(time_steps(observations, infos["action_mask"]))]
            observations, rewards, terminations, _, infos = games.step(np.array(actions))
            agent.post_step(rewards.tolist(), terminations.tolist())
        agent.learn(time_steps(observations, infos["action_mask"]))
        yield most_probable(agent.network.actor)
