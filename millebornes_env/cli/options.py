"""Options that commands have in common: the same names, order, help and defaults wherever they occur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from millebornes_env import agents
from millebornes_env._util.command_line import program
from millebornes_env.agents.policy.files import read_description
from millebornes_env.agents.specs import is_folder, is_path, split_policy
from millebornes_env.arena.match import MatchConfig
from millebornes_env.cli.console import read_options
from millebornes_env.cli.editions import with_its_game
from millebornes_env.envs.options import USUAL
from millebornes_env.errors import ArenaError

Options = TypeVar("Options")

_USUAL_EDITION: Final = "parker"
_USUAL_PLAYERS: Final = 2


@dataclass(kw_only=True)
class TableArgs:
    """Where is played."""

    edition: str | None = None
    """Rule sheet, with overrides: parker+max_200=4; of a game of your own, my_game.py:SHEET. None: as the
    first agent's run folder, else parker."""
    players: int | None = None
    """Seats at the table. None: as the first agent's run folder, else 2."""
    teams: int | None = None
    """Teams at the table. None: as usual for the sheet."""


@dataclass(kw_only=True)
class MatchArgs(TableArgs):
    """What is played, where strength is measured."""

    episode: str = USUAL
    """Play whole matches, or single rounds. usual: the longest that the game has, such as match."""
    seed: int = 1
    """Seed of the deals and of the agents; the same seed gives the same results."""
    threads: int = 2
    """Threads of compiled agents; they change no result."""
    aivat: bool = False
    """Take luck off the points: what each drawn card is worth less what was to be expected (AIVAT)."""
    luck_value: Path | None = None
    """Folder of the network that says what cards are worth (train.tools.luck_value). None: the project's
    own."""


def parse_options(options: type[Options], command: str, arguments: Sequence[str] | None) -> Options:
    """Read the options of a command.

    Args:
        options: the dataclass of the command's options.
        command: its name.
        arguments: without the program's name; None for those of the process.

    Raises:
        SystemExit: after --help, and after a wrong option, about which tyro has printed what is wrong.
    """
    return read_options(options, f"{program()} {command}", arguments)


def match_config(args: MatchArgs, specs: Sequence[str], *, plain: bool = False) -> MatchConfig:
    """What is played, with all defaults filled in.

    Args:
        args: what was asked for.
        specs: of the agents; the first one that is a run folder's policy names the usual table.
        plain: as in `MatchConfig`.

    Raises:
        UnknownAgentError: the run folder is missing or damaged.
        ValueError: there is no such table, or an option with a value that it cannot have.
    """
    edition, players, teams = table_asked_for(args, specs)
    config = MatchConfig(
        edition=edition,
        players=players,
        teams=teams,
        episode=args.episode,
        seed=args.seed,
        plain=plain,
        threads=args.threads,
        aivat=args.aivat,
        luck_value="" if args.luck_value is None else str(args.luck_value),
    )
    config.table()  # refuses one that there is not
    config.network()  # likewise
    return config


def table_asked_for(args: TableArgs, specs: Sequence[str]) -> tuple[str, int, int | None]:
    """The edition, the seats and the teams (None: as usual for the sheet).

    They are as asked for, else as the first run folder among the agents names them.

    Raises:
        GameError: the sheet is of a game of the user's that could not be imported.
        UnknownAgentError: the run folder is missing or damaged.
    """
    folder = next(filter(None, map(run_folder, specs)), None)
    trained = {} if folder is None else read_description(folder)
    editions, seats = trained.get("editions"), trained.get("players")
    edition = str(editions[0]) if isinstance(editions, list) and editions else _USUAL_EDITION
    players = seats if type(seats) is int else _USUAL_PLAYERS  # of others loading the policy complains
    edition = edition if args.edition is None else with_its_game(args.edition)
    teams = args.teams
    if args.players is None and teams is None and folder is not None:
        teams = _unless_usual(edition, players, trained.get("teams"))
    return edition, players if args.players is None else args.players, teams


def _unless_usual(edition: str, players: int, teams: object) -> int | None:
    """The teams, if the sheet seats that many players otherwise where no teams are named."""
    return teams if type(teams) is int and teams != MatchConfig(edition, players).rules.teams else None


def run_folder(spec: str) -> Path | None:
    """The run folder that an agent's specification names, whether it exists or not; None for other agents.

    Of search over a policy, it is the policy's.
    """
    spec, _ = agents.split_search(spec)
    name, _, rest = spec.partition(":")
    if name == "policy":
        folder, _ = split_policy(rest) if rest or not is_folder(name) else (name, [])
        return Path(folder) if folder else None
    if name in agents.AGENTS or not is_path(spec):
        return None
    return Path(spec)


def refuse_cheating(cheats: Sequence[str], is_allowed: bool) -> None:
    """Refuse agents that see hidden cards, unless the user wants them.

    Raises:
        ArenaError: there are some; the message names them.
    """
    if cheats and not is_allowed:
        verb = "see" if len(cheats) > 1 else "sees"
        raise ArenaError(
            f"{', '.join(cheats)} {verb} hidden cards, which is not allowed unless --allow-cheating is given"
        )


def refuse_luck_of_cheats(cheats: Sequence[str], config: MatchConfig) -> None:
    """Refuse to take luck off the points of agents to whom the next card may be no surprise.

    Raises:
        ArenaError: that was asked for; the message names them.
    """
    if cheats and config.aivat:
        raise ArenaError(
            f"{', '.join(cheats)} may know the cards to come: what is luck cannot be told, leave --aivat out"
        )
