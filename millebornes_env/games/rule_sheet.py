"""What the table of games asks of a rule sheet, and a sheet that says no more than which tables there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from millebornes_env.engine.rulebook import TableRules
from millebornes_env.errors import PlayersError, shown


class Sheet(Protocol):
    """What the environments ask of a rule sheet; `games.millebornes.editions.Edition` is one."""

    @property
    def name(self) -> str:
        """How code calls it."""

    @property
    def label(self) -> str:
        """The name, with what was changed of the sheet's rules."""

    @property
    def game(self) -> str:
        """The name of the game that it is of."""

    def table(self, players: int, teams: int | None = None, /) -> TableRules:
        """The rules at one table.

        Raises:
            PlayersError: the sheet has no such table.
        """


@dataclass(frozen=True)
class SheetOfTables:
    """A rule sheet that says no more than which tables there are, for a game that has no files of sheets.

    Attributes:
        game: the name of the game.
        name: how code calls the sheet.
        tables: the rules of each table; the first one with a number of players is that number's usual way.
    """

    game: str
    name: str
    tables: Sequence[TableRules]

    @property
    def label(self) -> str:
        """The name: nothing can be changed."""
        return self.name

    def table(self, players: int, teams: int | None = None) -> TableRules:
        """The rules at one table.

        Raises:
            PlayersError: the sheet has no such table; the message lists those it has.
        """
        for rules in self.tables:
            if rules.players == players and teams in (None, rules.teams):
                return rules
        asked = f"{shown(players)} players" + ("" if teams is None else f" in {shown(teams)} teams")
        known = ", ".join(f"{rules.players} players in {rules.teams} teams" for rules in self.tables)
        raise PlayersError(f"the edition {self.name!r} has no table for {asked}; it has: {known}")


class Everything(NamedTuple):
    """Options of an observation for a game without any: compiled code takes no empty tuple."""

    everything: int = 1
