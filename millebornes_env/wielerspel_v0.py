"""PettingZoo's way to name the cycling race and its version: `wielerspel_v0.env(players=4)`.

The number goes up when trained agents would notice: other observations, actions, rewards or rules.
"""

from __future__ import annotations

from typing import Any

from millebornes_env.envs import aec

EDITION = "arc_en_ciel"


class raw_env(aec.raw_env):  # noqa: N801 - PettingZoo's name
    """The race as `envs.aec.raw_env` plays it: by the board `arc_en_ciel`, with four riders."""

    def __init__(self, edition: Any = EDITION, *, players: int = 4, **options: Any) -> None:
        """As `aec.raw_env`, with other defaults."""
        super().__init__(edition, players=players, **options)


env = raw_env

__all__ = ["env", "raw_env"]
