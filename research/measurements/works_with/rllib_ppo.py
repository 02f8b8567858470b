"""RLlib: its PPO over `RLlibEnv`, in which one policy plays all seats, and its own module for masks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from millebornes_env.envs.rllib import RLlibEnv
from research.measurements.works_with.rounds import Act, Floats, Ints, Masks

GAMES, STEPS, EPOCHS, BATCH = 64, 32, 4, 256


def make_env() -> PPOConfig:
    """Create the algorithm as a user of RLlib would."""
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [128, 128]})
    config = PPOConfig().environment(RLlibEnv, env_config={"episode": "round"}, disable_env_checking=True)
    config.multi_agent(policies={"main"}, policy_mapping_fn=lambda agent, episode, **_: "main")
    config.rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"main": module}))
    return config


def learn(seed: int) -> Iterator[Act]:
    """Learn without end; yield the policy after each update."""
    ray.init(ignore_reinit_error=True, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    config = make_env().debugging(seed=seed, log_level="ERROR").learners(num_learners=0)
    config.env_runners(num_env_runners=0, num_envs_per_env_runner=GAMES, rollout_fragment_length=STEPS)
    config.training(
        lr=1e-3,
        gamma=1.0,
        entropy_coeff=0.01,
        vf_clip_param=float("inf"),
        use_kl_loss=False,
        num_epochs=EPOCHS,
        minibatch_size=BATCH,
        train_batch_size_per_learner=GAMES * STEPS,
    )
    algorithm = config.build_algo()

    def act(observations: Floats, masks: Masks) -> Ints:
        seen: Any = {"observations": torch.from_numpy(observations), "action_mask": torch.from_numpy(masks)}
        with torch.no_grad():
            shown = algorithm.get_module("main").forward_inference({"obs": seen})
        chosen: Ints = shown["action_dist_inputs"].argmax(dim=1).numpy()
        return chosen

    try:
        while True:
            algorithm.train()
            yield act
    finally:
        algorithm.stop()
