"""The command `export`, which writes a round as a file for other solvers.

    python -m millebornes_env export mini7 --format efg

It requires no extra. docs/environment/libraries.md describes the files.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from millebornes_env.cli.editions import with_its_game
from millebornes_env.solving.extensive.export import FORMATS, MOST_NODES, OnProgress, export
from millebornes_env.solving.extensive.tree import Tree


def add_to(commands: Any) -> None:
    """Add the command to an `argparse` parser."""
    one = commands.add_parser("export", help="write a round as a game tree for other solvers (.efg or .game)")
    one.add_argument("edition", help="rule sheet with few cards, such as mini7, perhaps with overrides")
    one.add_argument(
        "--format",
        choices=FORMATS,
        default="efg",
        help="file format: efg for Gambit and OpenSpiel, game for LiteEFG (default: %(default)s)",
    )
    one.add_argument("--out", type=Path, help="output file (default: EDITION.efg or EDITION.game)")
    one.add_argument("--players", type=int, default=2, help="seats at the table (default: %(default)s)")
    one.add_argument("--teams", type=int, help="teams at the table (default: the sheet's)")
    one.add_argument(
        "--first", type=int, default=0, help="seat that begins; -1: a random one (default: %(default)s)"
    )
    one.add_argument(
        "--compact",
        action="store_true",
        help="define information sets by the public history and the own hand, which gives fewer",
    )
    one.add_argument(
        "--most-nodes",
        type=int,
        default=MOST_NODES,
        help=f"maximum number of nodes (default: {MOST_NODES:,})",
    )
    one.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> None:
    tree = Tree(with_its_game(args.edition), players=args.players, teams=args.teams, first=args.first)
    path = args.out or Path(f"{tree.edition.label}.{args.format}")
    written = export(
        tree,
        path,
        args.format,
        compact=args.compact,
        most_nodes=args.most_nodes,
        on_progress=_progress(),
    )
    sets = " and ".join(f"{count:,}" for count in written.information_sets)
    print(
        f"{path}: {written.decisions:,} decisions, {written.chance_nodes:,} chance nodes, "
        f"{written.ends:,} ends; {sets} information sets"
    )


def _progress() -> OnProgress | None:
    """Return a callback that prints the number of nodes on stderr, if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    return lambda nodes: print(f"\r{nodes:,} nodes", end="", file=sys.stderr, flush=True)
