"""Test which of two agents is better, and by how much; the result is one sentence.

    python -m millebornes_env compare strategist arnold
    python -m millebornes_env compare runs/second runs/first --until "ci<5" --deals 100000

Each deal is played once in each rotation of the agents, with the same cards. At a table of more than two
teams the first agent plays one team, and the second agent all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro

from millebornes_env._util.command_line import one_line, print_error, run_command
from millebornes_env._util.signals import exit_code_of
from millebornes_env._util.texts import named
from millebornes_env.arena.evaluation import Result, compare, few_deals_warning, save_results
from millebornes_env.arena.report import luck_sentence
from millebornes_env.arena.tournament import check_until, entrants_of, who_sees_hidden_cards
from millebornes_env.cli.console import progress_console
from millebornes_env.cli.options import (
    MatchArgs,
    match_config,
    parse_options,
    refuse_cheating,
    refuse_luck_of_cheats,
)
from millebornes_env.cli.progress import playing_bar


@dataclass(kw_only=True)
class Args(MatchArgs):
    """Test which of two agents is better, and by how much; print one sentence with a confidence interval."""

    agent: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="AGENT")]
    """First agent: `name:option=value`, the path of a run folder, or `my_file.py:Class`."""
    other: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="OTHER")]
    """Second agent, named in the same way."""
    deals: int = 1000
    """Number of deals, each played in all rotations of the agents; with --until, the maximum."""
    until: str | None = None
    """Play until the 95 % interval is this narrow: "ci<10" (points per round), "ci<1%" (wins)."""
    allow_cheating: bool = False
    """Allow agents that see hidden cards."""
    out: Path | None = None
    """JSON file for the result. None: no file."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: arguments without the program's name; None: those of the process.

    Returns:
        The exit code: 0; 2 for invalid arguments or a file that could not be written; 130 after Ctrl-C.
    """
    return run_command(lambda: _command(arguments))


def _command(arguments: Sequence[str] | None) -> int:
    args = parse_options(Args, "compare", arguments)
    texts = [args.agent, args.other if args.other != args.agent else f"other@{args.other}"]
    config = match_config(args, [named(text)[1] for text in texts])
    check_until(args.until, config)
    with progress_console().status("Loading; the first time, agents are compiled (a minute) ..."):
        entrants = entrants_of(texts, config)
    cheats = who_sees_hidden_cards(entrants)
    refuse_cheating(cheats, args.allow_cheating)
    refuse_luck_of_cheats(cheats, config)
    specs, teams = [entrant.spec for entrant in entrants], config.rules.teams
    result: Result | None = None
    try:
        with playing_bar() as on_turn:
            turns = compare(
                specs,
                config,
                args.deals,
                until=args.until,
                names=(named(args.agent)[0], named(args.other)[0]),
                on_progress=lambda episodes: on_turn(" - ".join(specs), episodes / teams, args.deals),
            )
            for result in turns:  # noqa: B007 - after Ctrl-C, the last result is printed
                pass
    except KeyboardInterrupt as stop:
        if result is not None:
            _print(result)
        return print_error("stopped before all deals were played", exit_code_of(stop))
    assert result is not None, "two deals or more were played"
    _print(result)
    if args.out is not None:
        save_results(args.out, [result], {**asdict(config), "deals": args.deals, "until": args.until})
        print(f"wrote {args.out}")
    return 0


def _print(result: Result) -> None:
    print(one_line(result.verdict()))
    print(f"({result.config.described()}; seed {result.config.seed})")
    if result.luck is not None:
        print(luck_sentence([result.luck]))
    if warning := few_deals_warning(result.num_deals):
        print(warning)
