"""Record games as data: Parquet files with a row for each decision.

    millebornes record champion strategist --rounds 100000 --out data/
    millebornes record --check --out data/

A recording that was stopped goes on with the same command. docs/data.md describes the files.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from millebornes_env._util.command_line import complain, run_command
from millebornes_env._util.signals import exit_code_of
from millebornes_env.arena.recording import RecordedData, Recording, check, record
from millebornes_env.arena.recording.folder import MANIFEST, command_line
from millebornes_env.cli.clusters import cluster_at
from millebornes_env.cli.console import progress_console
from millebornes_env.cli.editions import with_its_game
from millebornes_env.cli.options import TableArgs, parse_options, refuse_cheating, table_asked_for
from millebornes_env.cli.progress import counting_bar
from millebornes_env.errors import ArenaError


@dataclass(kw_only=True)
class Args(TableArgs):
    """Record rounds as Parquet: a row for each decision, and a row for each round."""

    agents: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="AGENT ...")] = field(
        default_factory=tuple
    )
    """Who plays: `name:option=value`, the path of a run folder, or `my_file.py:Class`; one for each team at
    most, and the last one plays the teams that are left. They change places from round to round."""
    rounds: int = 10_000
    """Rounds that the folder is to hold."""
    reward: Literal["points", "win"] = "points"
    """What reward_to_go counts."""
    hidden: bool = False
    """Keep the cards in the other hands, too."""
    rounds_per_file: int = 5_000
    """Rounds that are played and written at a time."""
    seed: int = 1
    """Seed of the deals and of the agents; the same seed gives the same files."""
    threads: int = 2
    """Files that are made at the same time; they change no file."""
    check: bool = False
    """Instead of recording: play every round in the folder again, and compare every row."""
    allow_cheating: bool = False
    """Admit agents that see hidden cards."""
    cluster: str | None = None
    """Play on a Ray cluster: its address, such as auto or 10.0.0.1:6379. It changes no file."""
    out: Path
    """The folder: a new one, an empty one, or one that goes on."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; None for those of the process.

    Returns:
        The exit code: 0; 2 if the arguments make no sense, the folder holds something else or a file could
        not be written; 130 after Ctrl-C.
    """
    return run_command(lambda: _command(arguments))


def _command(arguments: Sequence[str] | None) -> int:
    args = parse_options(Args, "record", arguments)
    if args.check:
        _check(args)
        return 0
    if not args.agents:
        raise ArenaError("name the agents that play, such as: record champion strategist --out data/")
    edition, players, teams = table_asked_for(args, args.agents)
    recording = Recording(
        args.agents,
        edition,
        players,
        teams,
        args.reward,
        args.seed,
        args.hidden,
        args.rounds_per_file,
    )
    with progress_console().status("Loading; the first time, agents are compiled (a minute) ..."):
        cheats = [one["name"] for one in recording.described()["agents"] if one["cheats"]]
    refuse_cheating(cheats, args.allow_cheating)
    typed = sys.argv[1:] if arguments is None else ["record", *arguments]
    try:
        with cluster_at(args.cluster, args.edition) as cluster, counting_bar() as bar:
            task = bar.add_task("rounds", total=args.rounds)
            data = record(
                args.out,
                recording,
                args.rounds,
                threads=args.threads,
                command=command_line(list(typed)),
                on_progress=lambda done: bar.update(task, completed=done),
                cluster=cluster,
            )
    except KeyboardInterrupt as stop:
        return complain(_after_a_stop(args.out), exit_code_of(stop))
    print(_said(data))
    print(f"wrote {args.out}")
    return 0


def _after_a_stop(folder: Path) -> str:
    """Say what is left of a recording that was stopped, and what the same command will do."""
    if not (folder / MANIFEST).exists():
        return f"stopped; no recording is in {folder}"
    return "stopped; the files that are written are whole, and the same command goes on"


def _check(args: Args) -> None:
    if args.agents:
        raise ArenaError("--check plays what was recorded: name no agents")
    edition = None if args.edition is None else with_its_game(args.edition)
    with counting_bar() as bar:
        task = bar.add_task("rounds", total=None)
        data = check(args.out, edition=edition, on_progress=lambda done: bar.update(task, completed=done))
    print(f"{_said(data)}; every row is what the game says")


def _said(data: RecordedData) -> str:
    """How much there is, in a line."""
    found = data.summary()
    each = found["bytes"] / max(1, found["decisions"])
    return f"{found['rounds']:,} rounds, {found['decisions']:,} decisions, {each:.1f} bytes a decision"
