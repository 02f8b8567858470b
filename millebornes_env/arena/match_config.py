"""`MatchConfig`: the table, the deals and the options of a match in the arena."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from millebornes_env._util.arguments import at_least_one, checked_seed, flag
from millebornes_env.agents.protocol import Table
from millebornes_env.arena.luck.value_files import network_for
from millebornes_env.arena.luck.value_network import ValueNetwork
from millebornes_env.envs.options import MAX_THREADS, USUAL
from millebornes_env.envs.table_spec import TableSpec
from millebornes_env.errors import ArenaError, OptionError, shown
from millebornes_env.games.registry import Game
from millebornes_env.games.registry import game as find_game
from millebornes_env.games.variants import sheets_of

_TABLES: dict[tuple[str, int, int | None], tuple[Game, Table]] = {}
"""Cache of tables, with the game of each."""


@dataclass(frozen=True)
class MatchConfig(TableSpec):
    """The table, the deals and the options of a match.

    The episode "usual" is the game's longest.

    Attributes:
        plain: True: each rotation of a deal has its own cards; False: the same cards in the same seats.
        threads: threads for compiled agents; results do not depend on it.
        aivat: subtract luck, measured by a value network that sees all hands (`arena.luck.aivat`).
        luck_value: folder of that network; "": the shipped one.

    Raises:
        ArenaError: the episode is invalid, or a value network is given without AIVAT. A table that does not
            exist is reported by `table`.
        OptionError: another value is invalid, or AIVAT is requested for a game without it.
        EditionError: there is no such rule sheet.
    """

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
            raise ArenaError(f"luck_value is {shown(self.luck_value)} but aivat is off: turn aivat on, too")
        checked_seed(self.seed, or_none=False)
        at_least_one("threads", self.threads, MAX_THREADS, OptionError)
        for option in ("plain", "aivat"):
            flag(option, getattr(self, option))

    @property
    def game(self) -> Game:
        """The game of the rule sheet."""
        return find_game(self._game_name)

    @functools.cached_property
    def _game_name(self) -> str:
        return str(self.sheets.game)

    @property
    def sheets(self) -> Any:
        """The rule sheet, or the split (`games.variants.Split`) whose sheets are played in turn."""
        return sheets_of(self.edition)

    @property
    def rules(self) -> Any:
        """The rules of the table, in the game's own class."""
        return self.table().rules

    @property
    def episodes(self) -> str:
        """The word for the episodes, in the plural."""
        return plural(self.episode)

    @property
    def has_points(self) -> bool:
        """True if the game counts points at this table, not only wins."""
        return self.game.module().is_won_by_score(self.rules)

    def network(self) -> ValueNetwork | None:
        """Return the value network for AIVAT, or None if AIVAT is off.

        Raises:
            ArenaError: there is no such network, or none for this table.
            ValueError: there is no such table.
        """
        return network_for(self.game, self.rules, self.luck_value) if self.aivat else None

    def refuse_luck_without_points(self) -> None:
        """Raise an ArenaError if AIVAT is requested for an edition without points."""
        if self.aivat and not self.has_points:
            raise ArenaError(f"aivat subtracts luck from points, but {self.edition} has no points")

    def table(self) -> Table:
        """Return the table as agents receive it.

        Raises:
            ValueError: there is no such table; the message lists the tables.
        """
        key = (self.edition, self.players, self.teams)
        game, table = _TABLES.get(key, (None, None))
        if table is None or game is not self.game:  # users may register a game again
            table = Table.of(self.env())
            _TABLES[key] = (self.game, table)
        return table

    def described(self, edition: str | None = None) -> str:
        """Return a description such as "parker, 4 players in 2 teams"; `edition` replaces the name."""
        teams = self.rules.teams
        partners = f" in {teams} teams" if teams < self.players else ""
        return f"{edition or self.edition}, {self.players} players{partners}"


def plural(episode: str) -> str:
    """Return a kind of episode in the plural, such as "matches" or "races"."""
    return f"{episode}{'es' if episode.endswith(('ch', 'sh', 's', 'x')) else 's'}"
