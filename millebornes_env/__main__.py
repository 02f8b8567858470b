"""Play, measure and train agents: `python -m millebornes_env COMMAND`, or `millebornes COMMAND`."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from millebornes_env._util.command_line import print_error, program, run_command, sentence
from millebornes_env._util.signals import exit_code_of
from millebornes_env._util.texts import text_of_file
from millebornes_env._util.versions import __version__
from millebornes_env.cli import editions, export, info
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.errors import MissingExtraError, NotationError
from millebornes_env.games.registry import Game, edition, game

PLAYING: Final = {
    "play": "play against agents in the browser or on the terminal",
    "evaluate": "measure the win rates of an agent against others",
    "arena": "play a tournament between agents, and rate them",
    "record": "record games as Parquet files with a row for each decision",
    "leaderboard": "play and write the project's leaderboard",
    "train": "train an agent with a script of the repository",
    "solve": "solve a mini deck, or measure the exploitability of agents on it",
}
"""Commands that parse their own options: `play.command`, and files of `cli`."""

EXTRAS: Final = {
    name: {"record": "data", "train": "train", "solve": ""}.get(name, "arena") for name in PLAYING
}
"""Extra that each command requires, or ""."""


def list_agents(names: Sequence[str]) -> None:
    """Print some agents, or all, with their options."""
    from millebornes_env.cli.agents import listing  # noqa: PLC0415 - agents take a second to import

    print(listing(names))


def replay_games(file: Path, edition_name: str) -> None:
    """Replay every game of a file and print its end; an illegal play is an error."""
    from millebornes_env.notation import read_jsonl, read_record, replay  # noqa: PLC0415 - needed only here

    sheet = edition(editions.with_its_game(edition_name))
    records = (
        read_jsonl(file, edition=sheet)
        if file.suffix == ".jsonl"
        else [read_record(text_of_file(file, NotationError), edition=sheet)]
    )
    number = 0
    for number, record in enumerate(records, 1):
        *_, end = replay(record)
        rules, sheet = record.position.rules, record.position.edition
        played = game(sheet.game)
        print(f"game {number}: {sheet.label}, {len(record.plays)} plays, all legal")
        print(end_table(played, end, rules))
        print()
    if not number:
        raise NotationError(f"{file}: it holds no game")


def end_table(played: Game, end: StateArray, rules: Any) -> str:
    """Render the table at the end of a game, with the game's description of the result if it is over."""
    rulebook, state = played.module(), end[0]
    is_over = bool(plain(rulebook.is_round_over)(state))
    draw = played.find_hook("render.draw")
    if draw is not None:
        return str(draw(state, rules)) + (played.end_of_drawing(state, rules) if is_over else "")
    return f"The {rulebook.EPISODES[0]} is over." if is_over else f"seat {int(state.seat)} is to act."


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog=program(),
        description=__doc__,
        epilog="[NAME]: the command requires an extra: pip install 'millebornes-env[NAME]'",
    )
    top.add_argument("--version", action="version", version=f"millebornes-env {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    editions.add_to(commands)
    games = commands.add_parser("replay", help="check a recorded game, and print the final table")
    games.add_argument(
        "file", type=Path, help="file with one record (docs/environment/records.md), or with many (.jsonl)"
    )
    games.add_argument(
        "--edition",
        default="parker",
        help="edition, or rule sheet (.toml), of files that name none (default: %(default)s)",
    )
    games.set_defaults(run=lambda arguments: replay_games(arguments.file, arguments.edition))
    named = commands.add_parser("agents", help="list the agents with their options and tables")
    named.add_argument("names", nargs="*", metavar="AGENT", help="agents to list (default: all)")
    named.set_defaults(run=lambda arguments: list_agents(arguments.names))
    export.add_to(commands)
    info.add_to(commands)
    for name, what in PLAYING.items():
        needs = f" [{EXTRAS[name]}]" if EXTRAS[name] else ""
        commands.add_parser(name, help=what + needs, add_help=False)
    return top


def module_of(name: str) -> str:
    """Return the name of the module that runs one of `PLAYING`."""
    return f"millebornes_env.{'play.command' if name == 'play' else f'cli.{name}'}"


def play(name: str, arguments: Sequence[str]) -> int:
    """Run one of `PLAYING`."""
    try:
        command = importlib.import_module(module_of(name))
    except ModuleNotFoundError as error:
        if str(error.name).startswith("millebornes_env"):
            raise
        return print_error(sentence(MissingExtraError.of(f"the command {name}", error, EXTRAS[name])))
    except KeyboardInterrupt as stop:  # while NumPy, Numba and others are imported
        return print_error("interrupted", exit_code_of(stop))
    return int(command.main(arguments))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line.

    Returns:
        The exit code: 0, or 2 if the command line or a named file is invalid (reported on standard error).
    """
    if arguments is None:
        _look_in_the_current_folder()
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0] in PLAYING:
        return play(given[0], given[1:])

    def command() -> None:
        args = parser().parse_args(given)
        args.run(args)

    return run_command(command)


def _look_in_the_current_folder() -> None:
    """Let the console script import modules from the current folder, as `python -m` does without -P."""
    with contextlib.suppress(OSError):  # the folder was removed
        here = os.getcwd()
        if not sys.flags.safe_path and here not in sys.path and "" not in sys.path:
            sys.path.insert(0, here)


if __name__ == "__main__":
    sys.exit(main())
