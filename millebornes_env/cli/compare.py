"""Is one agent better than another, by how much, and how sure is that?

    python -m millebornes_env compare strategist arnold
    python -m millebornes_env compare runs/second runs/first --until "ci<5" --deals 100000

Every deal is played once from each team's place with the same cards; at a table of more than two teams the
agent plays one of them, and the other agent the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro

from millebornes_env._util.command_line import complain, one_line, run_command
from millebornes_env._util.files import write_json_atomically
from millebornes_env._util.signals import exit_code_of
from millebornes_env._util.texts import named
from millebornes_env._util.versions import versions
from millebornes_env.arena.comparison import Comparison, compare
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.report import luck_sentence
from millebornes_env.arena.results import table_words
from millebornes_env.arena.tournament import check_until, entrants_of, who_sees_hidden_cards
from millebornes_env.cli.console import progress_console
from millebornes_env.cli.options import (
    MatchArgs,
    match_config,
    parse_options,
    refuse_cheating,
    refuse_luck_of_cheats,
)
from millebornes_env.cli.progress import tournament_bar


@dataclass(kw_only=True)
class Args(MatchArgs):
    """Say in one sentence which of two agents is better, by how much, and how sure that is."""

    agent: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="AGENT")]
    """The agent: `name:option=value`, the path of a run folder, or `my_file.py:Class`."""
    other: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="OTHER")]
    """The agent that it is compared with, named in the same way."""
    deals: int = 1000
    """Deals, each played once from each team's place; with --until, the most."""
    until: str | None = None
    """Play until the 95 % interval is so narrow: "ci<10" (points per round), "ci<1%" (wins)."""
    allow_cheating: bool = False
    """Admit agents that see hidden cards."""
    out: Path | None = None
    """File for the result as JSON. None: none is written."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; None for those of the process.

    Returns:
        The exit code: 0; 2 if the arguments make no sense or the file could not be written; 130 after Ctrl-C.
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
    found: Comparison | None = None
    try:
        with tournament_bar() as on_turn:
            turns = compare(
                specs,
                config,
                args.deals,
                until=args.until,
                names=(named(args.agent)[0], named(args.other)[0]),
                on_progress=lambda episodes: on_turn(" - ".join(specs), episodes / teams, args.deals),
            )
            for found in turns:  # noqa: B007 - the last one is the result; Ctrl-C shows the one there is
                pass
    except KeyboardInterrupt as stop:
        if found is not None:
            _print(found, config)
        return complain("stopped; the rest of the deals was not played", exit_code_of(stop))
    assert found is not None, "two deals or more were played"
    _print(found, config)
    if args.out is not None:
        write_json_atomically(args.out, as_json(found))
        print(f"wrote {args.out}")
    return 0


def _print(found: Comparison, config: MatchConfig) -> None:
    print(one_line(found.verdict()))
    print(f"({table_words(config.edition, config.players, config.rules.teams)}; seed {config.seed})")
    if found.luck is not None:
        print(luck_sentence([found.luck]))
    if warning := found.warning():
        print(warning)


def as_json(found: Comparison) -> dict[str, object]:
    """The comparison as JSON values."""
    return {
        "agents": list(found.names),
        "config": asdict(found.config),
        "deals": found.outcome.num_deals,
        "points_per_round": None if found.points is None else found.points._asdict(),
        "win_rate": found.wins._asdict(),
        "even": found.even,
        "deals_saved_by_aivat": None if found.luck is None else found.luck.ratio,
        "verdict": found.verdict(),
        "versions": versions(),
    }
