"""Play a tournament: every agent against every other, each deal once in each rotation of the agents.

    python -m millebornes_env arena arnold holder greedy
    python -m millebornes_env arena arnold strategist racer --players 3 --deals 300
    python -m millebornes_env arena runs/first arnold --until "ci<10"
    python -m millebornes_env arena new@holder:pile=30 holder greedy --edition dujardin --first-against-all

Prints ratings, the payoff matrix and statistics of behaviour, of two agents also which one is better, and
writes them with two pictures and all results into a folder. The same command continues a stopped tournament.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import tyro

from millebornes_env._util.command_line import one_line, print_error, run_command, warn
from millebornes_env._util.signals import exit_code_of
from millebornes_env._util.texts import named
from millebornes_env.arena.analysis import Analysis, analyse_tournament
from millebornes_env.arena.evaluation import FEWEST_DEALS, Result
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.report import grids, notes, rich_table, save_report, table_name
from millebornes_env.arena.tournament import (
    Entrant,
    Tournament,
    TournamentConfig,
    entrants_of,
    opened,
    who_sees_hidden_cards,
)
from millebornes_env.cli.clusters import players_of
from millebornes_env.cli.console import progress_console, table_console
from millebornes_env.cli.options import (
    MatchArgs,
    match_config,
    parse_options,
    refuse_cheating,
    refuse_luck_of_cheats,
)
from millebornes_env.cli.progress import playing_bar
from millebornes_env.errors import ArenaError

PIPED_WIDTH: Final = 180  # columns of the tables in a file or a pipe


@dataclass(kw_only=True)
class Args(MatchArgs):
    """Play a tournament, each deal once in each rotation of the agents, and rate the agents.

    With more agents than teams, each combination of agents is a lineup. One agent plays all seats of a team.
    """

    agents: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="AGENT ...")]
    """Agents: `name:option=value`, paths of run folders, or `my_file.py:Class`; `name@agent` renames one."""
    deals: int = 1000
    """Deals of each lineup, each played in all rotations of the agents; with --until, the maximum."""
    until: str | None = None
    """Play a lineup until its 95 % intervals are this narrow: "ci<10" (points per round), "ci<1%" (wins)."""
    first_against_all: bool = False
    """Play only the lineups with the first agent."""
    plain: bool = False
    """Deal new cards in each episode, instead of the same cards in all rotations."""
    allow_cheating: bool = False
    """Allow agents that see hidden cards."""
    anchor: str | None = None
    """Agent that is rated 0. None: the mean rating is 0."""
    out: Path | None = None
    """Folder of the tournament. None: a folder in results/arena, named after the options."""
    fresh: bool = False
    """Delete earlier results in the folder first."""
    cluster: str | None = None
    """Address of a Ray cluster to play on, such as auto or 10.0.0.1:6379; it does not change the results."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (None: the arguments of the process), and return the exit code."""
    stopped = "stopped; the results so far are saved: give the same command again to continue"
    return run_command(lambda: _command(arguments), stopped=stopped)


def _command(arguments: Sequence[str] | None) -> int:
    args = parse_options(Args, "arena", arguments)
    match = match_config(args, [named(text)[1] for text in args.agents], plain=args.plain)
    config = TournamentConfig(match, args.deals, args.until)
    folder = args.out or _folder_of(args, config)
    with progress_console().status("Loading; the first time, agents are compiled (a minute) ..."):
        entrants = entrants_of(args.agents, match)
        _check(args, entrants, match)
        try:
            tournament = opened(entrants, config, folder, args.fresh)
        except OSError as error:
            return print_error(_not_written(error))
    return _play(args, tournament, folder)


def _not_written(error: OSError) -> str:
    where = f"{error.filename!r} ({error.strerror})" if error.filename else f"({error})"
    return f"could not write {where}; choose another folder with --out"


def _folder_of(args: Args, config: TournamentConfig) -> Path:
    """Return a folder for this tournament alone: its name ends with a digest of the configuration."""
    options = json.dumps([args.agents, config.as_json(), args.first_against_all])
    match = config.match
    table = re.sub(r"[^A-Za-z0-9=+]+", "-", f"{match.edition}-{match.players}-{match.episode}")
    return Path("results") / "arena" / f"{table}-{hashlib.sha256(options.encode()).hexdigest()[:8]}"


def _check(args: Args, entrants: Sequence[Entrant], match: MatchConfig) -> None:
    """Raise an ArenaError early for agents that see hidden cards, or an anchor that does not play."""
    names = [entrant.name for entrant in entrants]
    cheats = who_sees_hidden_cards(entrants)
    refuse_cheating(cheats, args.allow_cheating)
    refuse_luck_of_cheats(cheats, match)
    if args.anchor is not None and args.anchor not in names:
        raise ArenaError(f"the anchor {args.anchor!r} does not play; there are {', '.join(names)}")


def _play(args: Args, tournament: Tournament, folder: Path) -> int:
    """Play to the end, then print and write the report."""
    only = 0 if args.first_against_all else None
    try:
        with players_of(args.cluster, args.edition) as play, playing_bar() as on_turn:
            play(tournament, folder, only, on_turn)
    except KeyboardInterrupt as stop:
        _print_if_played(tournament, args.anchor)
        saved = f"the results so far are in {folder}" if _has_played(tournament) else "no results yet"
        return print_error(f"stopped; {saved}: give the same command again to continue", exit_code_of(stop))
    except ArenaError:  # the folder is gone, but the results are in memory
        _print_if_played(tournament, args.anchor)
        raise
    except OSError as error:
        return print_error(_not_written(error))
    analysis = analyse_tournament(tournament, args.anchor)
    try:
        written, no_pictures = save_report(tournament, analysis, folder, asdict(tournament.config))
    except OSError as error:
        return print_error(_not_written(error))
    finally:
        _print(analysis, tournament)
    for path in written:
        print(f"wrote {path}")
    for problem in no_pictures:
        warn(problem)
    return 0 if _has_played(tournament) else print_error("nothing was played; the report says why")


def _has_played(tournament: Tournament) -> bool:
    return any(len(outcome.points) for outcome in tournament.outcomes.values())


def _print_if_played(tournament: Tournament, anchor: str | None) -> None:
    if _has_played(tournament):
        _print(analyse_tournament(tournament, anchor), tournament)


def _print(analysis: Analysis, tournament: Tournament) -> None:
    print(f"{table_name(tournament.config.match)}\n")
    if verdict := _verdict(tournament):
        print(f"{verdict}\n")
    console = table_console(PIPED_WIDTH)
    for grid in grids(analysis, brief=True):
        console.print(rich_table(grid))
    for note in notes(analysis):
        print(f"- {note}")


def _verdict(tournament: Tournament) -> str:
    """Say in one sentence which of two agents is better; "" for more agents or teams."""
    if len(tournament.outcomes) != 1 or len(tournament.names) != 2:
        return ""
    (outcome,) = tournament.outcomes.values()
    one, other = tournament.names
    found = Result(one, other, tournament.config.match, outcome)
    return one_line(found.verdict()) if found.num_deals >= FEWEST_DEALS else ""
