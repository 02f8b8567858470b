"""`champion`: the policies that come with the project, each where it plays best.

A folder of `agents/champions` is a run folder (see `agents.policy`) with a model card:

    parker-2    learned the game of the American sheet, two players
    all-2       learned two players by every sheet; it sees the rules, so it plays overridden ones too
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

from agents.policy import PolicyAgent, RunFolderError
from agents.protocol import Table

CHAMPIONS: Final = Path(__file__).with_name("champions")
"""The folder that they are in."""

PARKER_2: Final = "parker-2"
ALL_2: Final = "all-2"
WHICH: Final = (PARKER_2, ALL_2)

_PLAYERS: Final = 2


class ChampionAgent(PolicyAgent):
    """The policy that comes with the project for the table."""

    name = "champion"
    any_edition: ClassVar[bool] = True

    def __init__(self, table: Table, seed: int = 0, which: str = "", mode: str = "best") -> None:
        """Choose a champion, and read it.

        Args:
            table: the table to play at.
            seed: of the draws.
            which: one of WHICH, whatever the rules; left away: "parker-2" at the `parker` table with two
                players, overridden rules too, "all-2" at all others with two.
            mode: "best" or "sample", as for `PolicyAgent`.

        Raises:
            RunFolderError: there is no champion for this table, or not the one that was asked for.
            AgentOptionError: an unknown mode.
            AgentArgumentError: the observations do not show what the policy sees.
        """
        super().__init__(table, seed, str(CHAMPIONS / champion_for(table, which)), mode)


def champion_for(table: Table, which: str = "") -> str:
    """The name of the champion's folder.

    Args:
        table: the table to play at.
        which: the name, if it has been chosen.

    Raises:
        RunFolderError: there is no such champion, or none for this table.
    """
    if which not in ("", *WHICH):
        raise RunFolderError(f"there is no champion {which!r}; there are {' and '.join(WHICH)}")
    rules = table.rules
    if (rules.players, rules.teams) != (_PLAYERS, _PLAYERS):
        raise RunFolderError(
            f"there is no champion for {rules.players} players in {rules.teams} teams: {PARKER_2!r} plays "
            f"'parker' with {_PLAYERS} players, {ALL_2!r} every edition with {_PLAYERS}"
        )
    return which or (PARKER_2 if sheet_of(table) == "parker" else ALL_2)


def sheet_of(table: Table) -> str:
    """The name of the rule sheet, without what was overridden."""
    return table.edition.partition("+")[0]
