"""PettingZoo's way to name an environment and its version.

The number goes up when trained agents would notice: other observations, actions, rewards or rules.
"""

from millebornes_env.envs.aec import env, raw_env

__all__ = ["env", "raw_env"]
