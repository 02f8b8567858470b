"""`MatchConfig`: what is played in the arena, at which table and with which cards."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from millebornes_env.agents.protocol import Table
from millebornes_env.arena.luck.value_files import network_for
from millebornes_env.arena.luck.value_network import ValueNetwork
from millebornes_env.envs.options import USUAL
from millebornes_env.envs.vector import VectorEnv, vector_env
from millebornes_env.errors import ArenaError, shown
from millebornes_env.games.registry import Game, find_sheet
from millebornes_env.games.registry import game as find_game

_TABLES: dict[tuple[str, int, int | None], tuple[Game, Table]] = {}
"""Those that were asked for, with the game that each is of."""


@dataclass(frozen=True)
class MatchConfig:
    """What is played: the table, the cards, and by how many threads.

    Attributes:
        edition: name of the rule sheet, overrides included ("parker+max_200=4").
        players: seats at the table.
        teams: teams at the table; None: as usual for the sheet.
        episode: one of the game's kinds of episodes, in Mille Bornes "match" or "round"; "usual": its
            longest.
        seed: of the deals and of the agents; 0 to 2**64 - 1.
        plain: True: every rotation of a deal has cards of its own; False: the same cards in the same seats.
        aivat: whether luck is valued by a network that sees all hands, to take it off the points
            (`arena.luck.aivat`).
        luck_value: folder of that network; "": the one that comes with the project.
        threads: of compiled play; they change no result.

    Raises:
        ArenaError: a value that cannot be. Whether there is such a table, `table` says.
        OptionError: luck is to be counted or valued in a game that does not say how.
        UnknownEditionError: there is no such rule sheet.
    """

    edition: str = "parker"
    players: int = 2
    teams: int | None = None
    episode: str = USUAL
    seed: int = 1
    plain: bool = False
    threads: int = 2
    aivat: bool = False
    luck_value: str = ""

    def __post_init__(self) -> None:
        longest_first = list(reversed(self.game.module().EPISODES))
        if self.episode == USUAL:
            object.__setattr__(self, "episode", longest_first[0])  # saved results name it
        if self.episode not in longest_first:
            listed = " or ".join(map(repr, longest_first))
            raise ArenaError(f"episode is {shown(self.episode)}; it must be {listed}")
        if self.aivat:
            self.game.hook("arena.luck", "aivat")
        if self.luck_value and not self.aivat:
            raise ArenaError(
                f"luck_value is {shown(self.luck_value)}, which only aivat asks: choose that too"
            )
        if not 0 <= self.seed < 2**64:
            raise ArenaError(f"seed is {shown(self.seed)}; it must be from 0 to 2**64 - 1")
        if self.threads < 1:
            raise ArenaError(f"threads is {shown(self.threads)}; it must be 1 or more")

    @property
    def game(self) -> Game:
        """The game that the rule sheet is of, in the table of games."""
        return find_game(self._game_name)

    @functools.cached_property
    def _game_name(self) -> str:
        return str(find_sheet(self.edition).game)

    @property
    def rules(self) -> Any:
        """Of the table, as the game's rulebook has them."""
        return self.table().rules

    @property
    def episodes(self) -> str:
        """What the episodes are called, in the plural."""
        return plural(self.episode)

    @property
    def has_points(self) -> bool:
        """Whether the game counts points at this table, which tell more than who has won."""
        return self.game.module().is_won_by_score(self.rules)

    def network(self) -> ValueNetwork | None:
        """What luck is valued by, if it is.

        Raises:
            ArenaError: there is no such network, or none for this table.
            ValueError: there is no such table.
        """
        return network_for(self.game, self.rules, self.luck_value) if self.aivat else None

    def refuse_luck_without_points(self) -> None:
        """Refuse to take luck off points that the edition does not count.

        Raises:
            ArenaError: that was asked for.
        """
        if self.aivat and not self.has_points:
            raise ArenaError(f"luck is taken off the points, and {self.edition} counts none")

    def table(self) -> Table:
        """What agents are told of the table.

        Raises:
            ValueError: there is no such table; the message says what there is.
        """
        key = (self.edition, self.players, self.teams)
        game, table = _TABLES.get(key, (None, None))
        if table is None or game is not self.game:  # a game of the user's can be registered anew
            table = Table.of(vector_env(1, self.edition, players=self.players, teams=self.teams))
            _TABLES[key] = (self.game, table)
        return table

    def env(self) -> VectorEnv:
        """One game at the table, which stops after an episode.

        Raises:
            ValueError: as in `table`.
        """
        return vector_env(
            1,
            self.edition,
            players=self.players,
            teams=self.teams,
            episode=self.episode,
            autoreset_mode="disabled",
        )


def plural(episode: str) -> str:
    """A kind of episode in the plural, such as "matches" or "races"."""
    return f"{episode}{'es' if episode.endswith(('ch', 'sh', 's', 'x')) else 's'}"
