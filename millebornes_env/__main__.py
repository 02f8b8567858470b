"""The command line: `python -m millebornes_env COMMAND`, or `millebornes COMMAND` where it was installed."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from millebornes_env.command_line import carry_out, complain
from millebornes_env.errors import NotationError
from millebornes_env.millebornes.editions import edition, editions
from millebornes_env.texts import text_of_file

PLAYING: Final = {
    "play": "play against an agent, on the terminal",
    "evaluate": "let an agent play against others, and say how often it wins",
    "compare": "say which of two agents is better, by how much, and how sure that is",
    "arena": "let agents play each other, and rate them",
    "record": "record games as data, a row for each decision",
    "leaderboard": "play the project's leaderboard anew",
}
"""Commands that read their own options (`COMMAND --help`), each in a file of `millebornes_env.commands`."""


def show_editions(names: Sequence[str]) -> None:
    """Print the comparison of all editions, or one edition with its sources, or some beside each other."""
    from millebornes_env.render.editions import comparison, description  # noqa: PLC0415 - only where printed

    if len(names) == 1:
        print(description(edition(names[0])))
    else:
        print(comparison(names or None))


def replay_games(file: Path, edition_name: str) -> None:
    """Play every game of a file again and print where each ends; an illegal play is refused."""
    from millebornes_env.millebornes.state import ROUND_OVER  # noqa: PLC0415 - only for who replays
    from millebornes_env.notation import read_jsonl, read_record, replay  # noqa: PLC0415
    from millebornes_env.render.text import draw_game, draw_score_sheet  # noqa: PLC0415

    sheet = edition(edition_name)
    records = (
        read_jsonl(file, edition=sheet)
        if file.suffix == ".jsonl"
        else [read_record(text_of_file(file, NotationError), edition=sheet)]
    )
    for number, record in enumerate(records, 1):
        *_, end = replay(record)
        rules = record.position.rules
        print(f"game {number}: {record.position.edition.label}, {len(record.plays)} plays, all legal")
        print(draw_game(end[0], rules))
        if int(end[0].phase) == ROUND_OVER and rules.count_points:
            print(draw_score_sheet(end[0], rules))
        print()


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    top = argparse.ArgumentParser(prog="python -m millebornes_env", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    one = commands.add_parser(
        "editions", help="print the rule sheets beside each other, or one with its sources"
    )
    one.add_argument(
        "names",
        nargs="*",
        metavar="EDITION",
        help=f"{', '.join(editions())}; with overrides, as parker+max_200=4; or the path of a sheet (.toml)",
    )
    one.set_defaults(run=lambda arguments: show_editions(arguments.names))
    games = commands.add_parser("replay", help="check a game that was written down, and show where it ends")
    games.add_argument("file", type=Path, help="a record as docs/notation.md describes it, or many (.jsonl)")
    games.add_argument(
        "--edition", default="parker", help="what is played where the file does not say; or a sheet (.toml)"
    )
    games.set_defaults(run=lambda arguments: replay_games(arguments.file, arguments.edition))
    for name, what in PLAYING.items():
        commands.add_parser(name, help=what, add_help=False)
    return top


def play(name: str, arguments: Sequence[str]) -> int:
    """Carry out one of the commands that play."""
    try:
        command = importlib.import_module(f"millebornes_env.commands.{name}")
    except ModuleNotFoundError as error:
        if str(error.name).startswith("millebornes_env"):
            raise
        return complain(
            f"the command {name} needs {error.name}, which is not installed: "
            "pip install 'millebornes-env[arena]'"
        )
    return int(command.main(arguments))


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line.

    Returns:
        0, or 2 if the command line, or a file that it names, was wrong (the reason goes to standard error).
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0] in PLAYING:
        return play(given[0], given[1:])

    def command() -> None:
        asked = parser().parse_args(given)
        asked.run(asked)

    return carry_out(command)


if __name__ == "__main__":
    sys.exit(main())
