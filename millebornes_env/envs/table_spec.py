"""`TableSpec`: edition, seats, teams, kind of episode and seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from millebornes_env.envs.options import USUAL
from millebornes_env.envs.vector import VectorEnv


@dataclass(frozen=True)
class TableSpec:
    """Description of a table and its games.

    Attributes:
        edition: name of the rule sheet, with overrides ("parker+max_200=4"), the path of your own sheet, or
            the name of a split ("variants-v1:train").
        players: seats at the table.
        teams: teams at the table; None for the sheet's default.
        episode: kind of episode, in Mille Bornes "match" or "round"; or "usual", the game's default.
        seed: seed of the deals and of the agents, 0 to 2**64 - 1.
    """

    edition: str = "parker"
    players: int = 2
    teams: int | None = None
    episode: str = USUAL
    seed: int = 1

    def env(self, num_envs: int = 1, **options: Any) -> VectorEnv:
        """Create an environment of the table, unseeded and with autoreset disabled.

        Args:
            num_envs: number of games.
            options: further options of `vector_env`.

        Raises:
            MilleBornesError: no such table; the message lists the tables.
        """
        return VectorEnv(
            num_envs,
            self.edition,
            players=self.players,
            teams=self.teams,
            episode=self.episode,
            **{"autoreset_mode": "disabled", **options},
        )
