"""The command `editions`, and the names of games and sheets on command lines."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

from millebornes_env._util.command_line import sentence
from millebornes_env._util.texts import text_of_file
from millebornes_env.errors import GameError, OptionError, shown
from millebornes_env.games.registry import DEFAULT_GAME, GAMES, edition, editions, game
from millebornes_env.games.sheets import split_label


def add_to(commands: Any) -> None:
    """Add the command to an `argparse` parser."""
    one = commands.add_parser("editions", help="compare the rule sheets, or print one with its sources")
    one.add_argument(
        "names",
        nargs="*",
        metavar="EDITION",
        help=f"{', '.join(editions(None))}; with overrides: parker+max_200=4; the path of a sheet (.toml); "
        "or a sheet of your own game: my_game.py:SHEET",
    )
    one.add_argument(
        "--toml", action="store_true", help="print the file of one sheet, as a start for your own"
    )
    one.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> None:
    names = [with_its_game(name) for name in args.names]
    if args.toml:
        print(file_of_sheet(names), end="")
    else:
        show_editions(names)


def show_editions(names: list[str]) -> None:
    """Print a comparison of the sheets of a game, or one sheet with its sources."""
    sheets = [edition(name) for name in names]
    played = {sheet.game: sheet for sheet in sheets}
    if len(played) > 1:
        several = " and ".join(f"{sheet.label!r} of {name}" for name, sheet in played.items())
        raise OptionError(f"sheets of different games cannot be compared: {several}; name those of one game")
    entry = game(next(iter(played), DEFAULT_GAME))
    if len(names) == 1:
        print(entry.hook("render.pages", "editions").description(sheets[0]))
        return
    print(entry.hook("render.pages", "editions").comparison(names or None))
    if not names and entry.mini_decks:
        print(f"\nMini decks, small enough to be solved: {', '.join(entry.mini_decks)}")
    for other in GAMES.values() if not names else ():
        if other.name != entry.name:
            print(f"\nSheets of the game {other.name}: {', '.join(other.editions)}")


def file_of_sheet(names: list[str]) -> str:
    """Return the TOML text of a sheet; raise an OptionError for several sheets or overrides."""
    if len(names) != 1:
        raise OptionError("--toml prints the file of one sheet: name one, such as editions parker --toml")
    sheet = edition(names[0])
    stem, overrides = split_label(names[0])
    if overrides:
        raise OptionError(
            f"--toml prints files unchanged: leave out {shown('+' + overrides[0])}, and edit the file instead"
        )
    folder = Path(__file__).parents[1] / "games" / sheet.game
    files = [folder / part / f"{sheet.name}.toml" for part in ("sheets", "mini_decks")]
    path = Path(stem) if stem.endswith(".toml") else next((file for file in files if file.is_file()), None)
    if path is None:
        raise OptionError(
            f"the sheet {sheet.label!r} has no file: its game, {sheet.game!r}, defines it in code"
        )
    return text_of_file(path)


def with_its_game(name: str) -> str:
    """Import the game named before a sheet, and return the name of the sheet.

    `pig:fast` is the sheet `fast` of the module `pig`; `my_game.py:fast` that of a file. For names typed on
    the command line only, never for names in files. `variants-v1:train` is a split: the names of modules have
    no hyphen.

    Raises:
        GameError: the module or file does not exist or cannot be imported, or no sheet is named.
    """
    source, colon, sheet = name.partition(":")
    if name.endswith(".py") or ".py:" in name:
        return _in_a_file(name)
    if not colon or "-" in source or split_label(name)[0].endswith(".toml"):
        return name
    try:
        importlib.import_module(source)
    except Exception as error:
        raise GameError(
            f"edition is {shown(name)}: the module {shown(source)} that should register its game cannot "
            f"be imported: {sentence(error)}"
        ) from error
    return sheet


def _in_a_file(name: str) -> str:
    from millebornes_env.agents.own_classes import module_of_file  # noqa: PLC0415
    from millebornes_env.agents.specs import split_class  # noqa: PLC0415
    from millebornes_env.errors import AgentError  # noqa: PLC0415 - only for a game of a user's

    result = split_class(name)
    if result is None:
        raise GameError(
            f"edition is {shown(name)}, a folder; name the file of a game, such as my_game.py:SHEET"
        )
    try:
        module_of_file(result.source)
    except AgentError as error:
        raise GameError(f"edition is {shown(name)}: {sentence(error)}") from error
    if not result.name:
        own = [sheet for one in GAMES.values() for sheet in one.shipped if not _is_ours(one.name)]
        known = f"; there are: {', '.join(own)}" if own else ""
        raise GameError(
            f"edition is {shown(name)}: name a sheet of the game, too, as {result.source}:SHEET{known}"
        )
    return result.name


def _is_ours(game_name: str) -> bool:
    return (Path(__file__).parents[1] / "games" / game_name).is_dir()
