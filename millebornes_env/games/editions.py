"""`edition` and `editions`: the rule sheets of all games, by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from millebornes_env.games.registry import DEFAULT_GAME, GAMES, Sheet, find_sheet, game


def edition(name: str | Path | Sheet) -> Any:
    """The rule sheet of that name, or that of a file (a sheet is handed back as it is).

    Args:
        name: the name of a sheet of any game (`editions` lists them), a label such as `parker+max_200=4` or
            `arc_en_ciel+target_rainbows=5`, or the path of a sheet of your own, ending in `.toml`.

    Returns:
        An `Edition` of Mille Bornes, or what the sheet's game has in its place; its `game` is the name of the
        game in the table of games.

    Raises:
        UnknownEditionError: there is none; the message lists those there are.
        EditionError: the file does not describe a sheet.
        EditionError: the label overrides something that cannot be overridden so.
    """
    return find_sheet(name)


def editions(of: str | None = DEFAULT_GAME) -> tuple[str, ...]:
    """The names of a game's rule sheets, in alphabetical order.

    Args:
        of: the game: "millebornes", "wielerspel" (the cycling race) or one that was registered; None: of all
            games, one after the other.

    Raises:
        GameError: there is no such game.
    """
    if of is None:
        return tuple(name for one in GAMES.values() for name in sorted(one.editions))
    return tuple(sorted(game(of).editions))


def mini_decks(of: str = DEFAULT_GAME) -> tuple[str, ...]:
    """The names of a game's mini decks, the smallest first: sheets small enough to be solved exactly.

    They are none of its `editions`, so that nothing that goes through all editions plays them; `edition`
    finds them by their names (`mini8` means the newest version, such as `mini8-v0`).

    Args:
        of: the game.

    Raises:
        GameError: there is no such game.
    """
    return game(of).mini_decks


__all__ = ["edition", "editions", "mini_decks"]
