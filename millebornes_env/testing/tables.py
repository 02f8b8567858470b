"""The tables of a rule sheet at which something is checked."""

from __future__ import annotations

from typing import Any

from millebornes_env.errors import OptionError, shown


def tables_of(sheet: Any, players: int | None, teams: int | None) -> list[tuple[int, int | None]]:
    """Return players and teams of the table asked for, else of all tables of a sheet.

    Args:
        sheet: a rule sheet of any game.
        players: seats at the table; None: all tables.
        teams: teams at the table; None: the sheet's default.

    Raises:
        OptionError: the teams are given without the players, or the sheet does not say which tables it has.
    """
    if players is not None:
        return [(players, teams)]
    if teams is not None:
        raise OptionError(
            f"teams is {shown(teams)}, without players: give both for one table, or neither for all tables"
        )
    if not hasattr(sheet, "tables"):
        if not hasattr(sheet, "players"):
            raise OptionError(f"the sheet {sheet.label!r} does not say which tables it has: give players=")
        return [(number, None) for number in sheet.players]
    tables = [(one.players, one.teams) if hasattr(one, "players") else one for one in sheet.tables]
    return [(seats, sides) for seats, sides in tables]
