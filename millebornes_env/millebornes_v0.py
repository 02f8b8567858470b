"""Mille Bornes as a versioned PettingZoo environment: `millebornes_v0.env(players=4)`.

The version changes with observations, actions, rewards or rules, because trained agents depend on them.
"""

from millebornes_env.envs.aec import env, raw_env

__all__ = ["env", "raw_env"]
