"""Options shared by commands, with the same names, order, help and defaults everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from millebornes_env import agents
from millebornes_env._util.command_line import program
from millebornes_env.agents.policy.memory import description_of_run
from millebornes_env.agents.specs import is_folder, is_path, split_policy
from millebornes_env.arena.match import MatchConfig
from millebornes_env.cli.console import read_options
from millebornes_env.cli.editions import with_its_game
from millebornes_env.envs.options import USUAL
from millebornes_env.envs.table_spec import TableSpec
from millebornes_env.errors import ArenaError

Options = TypeVar("Options")

_USUAL_EDITION: Final = "parker"
_USUAL_PLAYERS: Final = 2


@dataclass(kw_only=True)
class TableArgs:
    """Options for the table."""

    edition: str | None = None
    """Rule sheet, perhaps with overrides (parker+max_200=4) or of your own game (my_game.py:SHEET). None: the
    edition of the first agent's run folder, else parker."""
    players: int | None = None
    """Seats at the table. None: those of the first agent's run folder, else 2."""
    teams: int | None = None
    """Teams at the table. None: the sheet's default."""


@dataclass(kw_only=True)
class MatchArgs(TableArgs):
    """Options for matches that measure strength."""

    episode: str = USUAL
    """Length of an episode: round, match, or usual for the game's longest."""
    seed: int = 1
    """Seed of the deals and of the agents; the same seed gives the same results."""
    threads: int = 2
    """Threads for compiled agents; it does not change the results."""
    aivat: bool = False
    """Reduce the variance by AIVAT: subtract the luck of each drawn card, its value minus the expectation."""
    luck_value: Path | None = None
    """Folder of the value network for AIVAT (made by train.tools.luck_value). None: the shipped network."""


def parse_options(options: type[Options], command: str, arguments: Sequence[str] | None) -> Options:
    """Parse the options of a command (see `console.read_options`)."""
    return read_options(options, f"{program()} {command}", arguments)


def match_config(args: MatchArgs, specs: Sequence[str], *, plain: bool = False) -> MatchConfig:
    """Return the configuration of a match between agents, with all defaults filled in (see `table_of`)."""
    table = table_of(args, specs)
    config = MatchConfig(
        edition=table.edition,
        players=table.players,
        teams=table.teams,
        episode=args.episode,
        seed=args.seed,
        plain=plain,
        threads=args.threads,
        aivat=args.aivat,
        luck_value="" if args.luck_value is None else str(args.luck_value),
    )
    config.table()  # raises if the table does not exist
    config.network()  # raises if the network does not exist
    return config


def table_of(args: TableArgs, specs: Sequence[str]) -> TableSpec:
    """Return the table of the options, with defaults from the first run folder among the agents."""
    folder = next(filter(None, map(run_folder, specs)), None)
    trained = {} if folder is None else description_of_run(folder)
    editions, seats = trained.get("editions"), trained.get("players")
    edition = str(editions[0]) if isinstance(editions, list) and editions else _USUAL_EDITION
    players = seats if type(seats) is int else _USUAL_PLAYERS  # loading the policy reports other values
    edition = edition if args.edition is None else with_its_game(args.edition)
    teams = args.teams
    if args.players is None and teams is None and folder is not None:
        trained_teams = trained.get("teams")
        if type(trained_teams) is int and trained_teams != MatchConfig(edition, players).rules.teams:
            teams = trained_teams
    return TableSpec(edition, players if args.players is None else args.players, teams)


def run_folder(spec: str) -> Path | None:
    """Return the run folder named by an agent (for search, by its policy), or None; it need not exist."""
    spec, _ = agents.split_search(spec)
    name, _, rest = spec.partition(":")
    if name == "policy":
        folder, _ = split_policy(rest) if rest or not is_folder(name) else (name, [])
        return Path(folder) if folder else None
    if name in agents.AGENTS or not is_path(spec):
        return None
    return Path(spec)


def refuse_cheating(cheats: Sequence[str], is_allowed: bool) -> None:
    """Raise an ArenaError that names the agents that see hidden cards, unless that is allowed."""
    if cheats and not is_allowed:
        verb = "see" if len(cheats) > 1 else "sees"
        raise ArenaError(
            f"{', '.join(cheats)} {verb} hidden cards, which is not allowed unless --allow-cheating is given"
        )


def refuse_luck_of_cheats(cheats: Sequence[str], config: MatchConfig) -> None:
    """Raise an ArenaError if AIVAT is on and an agent may know the next cards."""
    if cheats and config.aivat:
        raise ArenaError(
            f"{', '.join(cheats)} may know the next cards, so luck cannot be measured: leave out --aivat"
        )
