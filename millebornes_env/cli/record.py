"""Record games as data: Parquet files with a row for each decision.

    millebornes record champion strategist --rounds 100000 --out data/
    millebornes record --check --out data/

The same command continues a stopped recording. docs/environment/records.md describes the files.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal

import tyro

from millebornes_env._util.command_line import print_error, run_command
from millebornes_env._util.signals import exit_code_of
from millebornes_env.arena.recording import RecordedData, Recording, check, record
from millebornes_env.arena.recording.folder import MANIFEST, command_line
from millebornes_env.cli.clusters import cluster_at
from millebornes_env.cli.console import progress_console
from millebornes_env.cli.editions import with_its_game
from millebornes_env.cli.options import TableArgs, parse_options, refuse_cheating, table_of
from millebornes_env.cli.progress import counting_bar
from millebornes_env.errors import ArenaError


@dataclass(kw_only=True)
class Args(TableArgs):
    """Record rounds as Parquet, with a row for each decision and a row for each round."""

    agents: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="AGENT ...")] = field(
        default_factory=tuple
    )
    """Agents: `name:option=value`, the path of a run folder, or `my_file.py:Class`; at most one for each
    team, and the last one plays the remaining teams. They rotate from round to round."""
    rounds: int = 10_000
    """Total number of rounds in the folder, earlier ones included."""
    reward: Literal["points", "win"] = "points"
    """Reward of the column reward_to_go: points per round, or the win."""
    hidden: bool = False
    """Also record the cards in the other hands."""
    rounds_per_file: int = 5_000
    """Rounds in each file."""
    seed: int = 1
    """Seed of the deals and of the agents; the same seed gives the same files."""
    threads: int = 2
    """Number of files written in parallel; it does not change their content."""
    check: bool = False
    """Instead of recording, replay every round in the folder and compare every row."""
    allow_cheating: bool = False
    """Allow agents that see hidden cards."""
    cluster: str | None = None
    """Address of a Ray cluster to play on, such as auto or 10.0.0.1:6379; it does not change the files."""
    out: Path
    """Output folder: a new or empty one, or that of a recording to continue."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (None: the arguments of the process), and return the exit code."""
    return run_command(lambda: _command(arguments))


def _command(arguments: Sequence[str] | None) -> int:
    args = parse_options(Args, "record", arguments)
    if args.check:
        _check(args)
        return 0
    if not args.agents:
        raise ArenaError("name the agents, such as: record champion strategist --out data/")
    table = table_of(args, args.agents)
    recording = Recording(
        agents=args.agents,
        edition=table.edition,
        players=table.players,
        teams=table.teams,
        reward=args.reward,
        seed=args.seed,
        hidden=args.hidden,
        rounds_per_file=args.rounds_per_file,
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
        has_files = (args.out / MANIFEST).exists()
        resume = "written files are complete; give the same command again to continue"
        message = f"stopped; {resume if has_files else f'there is no recording in {args.out}'}"
        return print_error(message, exit_code_of(stop))
    print(_summary(data))
    print(f"wrote {args.out}")
    return 0


def _check(args: Args) -> None:
    plain = Args(check=True, edition=args.edition, out=args.out)
    besides = [one.name for one in fields(args) if getattr(args, one.name) != getattr(plain, one.name)]
    if besides:
        names = ", ".join(name if name == "agents" else f"--{name.replace('_', '-')}" for name in besides)
        raise ArenaError(f"--check replays the folder as it was recorded: leave out {names}")
    edition = None if args.edition is None else with_its_game(args.edition)
    with counting_bar() as bar:
        task = bar.add_task("rounds", total=None)
        data = check(args.out, edition=edition, on_progress=lambda done: bar.update(task, completed=done))
    print(f"{_summary(data)}; every row agrees with the game")


def _summary(data: RecordedData) -> str:
    """Return the amounts of data on one line."""
    summary = data.summary()
    size = summary["bytes"] / max(1, summary["decisions"])
    return f"{summary['rounds']:,} rounds, {summary['decisions']:,} decisions, {size:.1f} bytes a decision"
