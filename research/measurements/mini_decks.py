"""Build the tables of the mini decks in docs/research/hidden_information.md: their sizes and values.

    python -m research.measurements.mini_decks          # a minute of two cores, mostly for the largest deck
    python -m research.measurements.mini_decks --docs   # also writes the tables of page and model card

The value of a deck is read from the shipped policy, or from the output of
`python -m millebornes_env solve DECK --json docs/benchmarks/DECK.json`.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any, Final

import tyro

from millebornes_env import edition, mini_decks
from millebornes_env.games.millebornes.cards import CARD_NAMES
from millebornes_env.solving.deck import Solvable, solvable
from millebornes_env.solving.equilibrium.agent import FOLDER
from millebornes_env.solving.policies import read_policy
from millebornes_env.solving.tree import Grower
from millebornes_env.solving.values import Judgement, Uniform, judge, judge_tree
from research.pages import write_blocks
from research.tables import Table

PAGE: Final = Path("docs/research/hidden_information.md")
CARD: Final = FOLDER / "README.md"
SOLVED: Final = Path("docs/benchmarks")
MOST_DIGITS: Final = 6


@dataclass
class Args:
    """Count and evaluate the mini decks."""

    docs: bool = False
    """Write the tables of the page and of the card."""


@dataclass(frozen=True)
class Row:
    """Facts about one deck.

    Attributes:
        game: the deck.
        uniform: evaluation of random play.
        judged: evaluation of the shipped policy, or None.
        about: results of the solver: `value`, its bounds `between`, `made_by`.
    """

    game: Solvable
    uniform: Judgement
    judged: Judgement | None
    about: dict[str, Any]


def row_of(name: str) -> Row:
    """Count a deck, and evaluate random play and the shipped policy."""
    game = solvable(name)
    path = FOLDER / f"{name}.npz"
    start = time.process_time()
    if not path.is_file():
        row = Row(game, judge(game, Uniform()), None, solved(name))
    else:
        tree = Grower(game).whole()
        policy = read_policy(path, tree)
        uniform = judge_tree(tree, Uniform().weights(tree), "uniform")
        row = Row(game, uniform, judge_tree(tree, policy.weights(tree), name), policy.about)
    print(f"{name}: {time.process_time() - start:.1f} s of processor time")
    return row


def solved(name: str) -> dict[str, Any]:
    """Return the results of the solve command for a deck without a shipped policy."""
    about: dict[str, Any] = json.loads((SOLVED / f"{name}.json").read_text(encoding="utf-8"))
    if about["game"] != name:
        raise ValueError(f"{SOLVED / name}.json is of {about['game']}: write it again by the command solve")
    return about


def table_of_sizes(rows: list[Row]) -> str:
    """Build the table of deck sizes."""
    lines = []
    for row in rows:
        rules, counts = row.game.rules, row.uniform.counts
        trip = f"{rules.target} km" + (f", or {rules.extended_target}" if rules.extended_target else "")
        first, second = counts.infosets
        nodes = (f"{number:,}" for number in (counts.chance_nodes, counts.play_nodes, counts.end_nodes))
        lines.append((
            f"`{row.game.name}`",
            f"{cards_of(row.game)}; {rules.hand_limit}; {trip}",
            *nodes,
            f"{first:,} + {second:,}",
            str(counts.most_actions),
            f"{counts.lowest:+,} to {counts.highest:+,}",
        ))  # fmt: skip
    headings = ("chance nodes", "decisions", "ends", "infosets", "actions", "payoffs")
    return Table(("deck", "cards; hand; trip", *headings), lines, text_columns=2).markdown()


def cards_of(game: Solvable) -> str:
    """Describe the cards of a deck."""
    return ", ".join(
        f"{copies} {CARD_NAMES[card]}" if copies > 1 else CARD_NAMES[card]
        for card, copies in enumerate(game.rules.deck)
        if copies
    )


def table_of_values(rows: list[Row]) -> str:
    """Build the table of game values for the first seat, and of the best gain against random play."""
    lines = []
    for row in rows:
        low, high = row.about["between"]
        digits = digits_of(high - low)
        value, between = f"{row.about['value']:+.{digits}f}", words_of_bounds(low, high, digits + 1)
        uniform = (f"{row.uniform.exploitability:.2f}", f"{100 * row.uniform.of_range:.2f}")
        lines.append((f"`{row.game.name}`", value, between, *uniform))
    headings = ("deck", "value to seat 0", "between", "uniform: exploitability, points")
    return Table((*headings, "% of the payoff range"), lines).markdown()


def digits_of(width: float) -> int:
    """Return the number of decimals of a value that are certain, given the width of its bounds."""
    return min(MOST_DIGITS, max(0, math.floor(-math.log10(width)))) if width > 0 else MOST_DIGITS


def words_of_bounds(low: float, high: float, digits: int) -> str:
    """Format bounds with a number of decimals, rounded outwards so that they stay valid."""
    unit = Decimal(1).scaleb(-digits)
    below = Decimal(low).quantize(unit, ROUND_FLOOR)
    return f"{below:+} and {Decimal(high).quantize(unit, ROUND_CEILING):+}"


def table_of_policies(rows: list[Row]) -> str:
    """Build the table of the exploitability of the shipped policies."""
    lines = [
        "| deck | NashConv, points | exploitability, % of the payoff range | made by |",
        "|---|--:|--:|---|",
    ]
    lines += [
        f"| `{row.game.name}` | {row.judged.nash_conv:.1e} | {100 * row.judged.of_range:.1e} | "
        f"{row.about['made_by']} |"
        for row in rows
        if row.judged is not None
    ]
    return "\n".join(lines) + "\n"


def main(args: Args) -> None:
    """Count, evaluate, print, and write the docs on request."""
    for name in mini_decks():
        edition(name)  # a sheet that cannot be read is found before the long walk
    rows = [row_of(name) for name in mini_decks()]
    sizes, values, policies = table_of_sizes(rows), table_of_values(rows), table_of_policies(rows)
    print(f"\n{sizes}\n{values}\n{policies}")
    if args.docs:
        write_blocks(PAGE, "measurements.mini_decks", {"sizes": sizes, "values": values})
        write_blocks(CARD, "measurements.mini_decks", {"policies": policies})
        print(f"wrote {PAGE} and {CARD}")


if __name__ == "__main__":
    main(tyro.cli(Args, prog="python -m research.measurements.mini_decks"))
