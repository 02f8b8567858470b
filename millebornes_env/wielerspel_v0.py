"""The cycling race as a versioned PettingZoo environment: `wielerspel_v0.env(players=4)`.

The version changes with observations, actions, rewards or rules, because trained agents depend on them.
"""

from __future__ import annotations

from typing import Any

from millebornes_env.envs import aec

EDITION = "arc_en_ciel"


class raw_env(aec.raw_env):  # noqa: N801 - PettingZoo's name
    """`envs.aec.raw_env` for the race, by default on the board `arc_en_ciel` with four riders."""

    def __init__(self, edition: Any = EDITION, *, players: int = 4, **options: Any) -> None:
        """Create the environment; the options are those of `aec.raw_env`."""
        super().__init__(edition, players=players, **options)


env = raw_env

__all__ = ["env", "raw_env"]
