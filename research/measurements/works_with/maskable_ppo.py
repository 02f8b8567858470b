"""Stable-Baselines3: MaskablePPO of sb3-contrib over our `VecEnv` of many games."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from millebornes_env.envs.sb3 import SB3VecEnv
from research.measurements.works_with.rounds import Act, Floats, Ints, Masks

GAMES, STEPS, EPOCHS, BATCH = 256, 32, 2, 1024


def make_env(seed: int) -> VecEnv:
    """Create the environment as a user of Stable-Baselines3 would."""
    return SB3VecEnv(GAMES, "random", episode="round", seed=seed)


def learn(seed: int) -> Iterator[Act]:
    """Learn without end; yield the policy after each update."""
    sizes: dict[str, Any] = {"n_steps": STEPS, "n_epochs": EPOCHS, "batch_size": BATCH}
    network = {"net_arch": [128, 128]}
    model = MaskablePPO(
        "MlpPolicy",
        make_env(seed),
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.01,
        seed=seed,
        device="cpu",
        policy_kwargs=network,
        **sizes,
    )

    def act(observations: Floats, masks: Masks) -> Ints:
        chosen: Ints = model.predict(observations, action_masks=masks, deterministic=True)[0]
        return chosen

    while True:
        model.learn(GAMES * STEPS, reset_num_timesteps=False)
        yield act
