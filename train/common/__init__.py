"""Shared by the training scripts: options, start of a network, games, opponents, processes, run folders.

Losses are in the scripts themselves; advantages in `train.selfplay` and `millebornes_env.envs.rollout`.
"""
