"""The exact track of the variants: 1,000 solved mini sheets, and one call that judges a policy on them.

`mini-variants-v1` has 800 sheets of 6 to 8 cards to train on and 200 to be tested on. `solved_sheets` returns
the value of each, the exploitability of uniform play and the size. docs/variants.md describes the splits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from millebornes_env.errors import SolvingError
from millebornes_env.games.millebornes.variants import MINI_VERSION

FILE: Final = Path(__file__).parent / "equilibrium" / "mini_variants.json"
"""Solutions of the frozen sheets, written by `python -m research.measurements.variants`."""


class SolvedSheet(NamedTuple):
    """Facts about a mini sheet with two players, computed exactly.

    Attributes:
        value: expected points of the seat that begins, minus those of the other, in equilibrium; to 0.001.
        uniform: exploitability of uniform play in points.
        payoffs: lowest and highest payoff of the seat that begins.
        infosets: number of information sets of each seat.
        decisions: number of decision nodes of the game tree.
    """

    value: float
    uniform: float
    payoffs: tuple[int, int]
    infosets: tuple[int, int]
    decisions: int


def solved_sheets(split: str = f"{MINI_VERSION}:test") -> list[SolvedSheet]:
    """Return the solutions of the sheets of a frozen split, in the order of their numbers.

    Raises:
        SolvingError: there is no such split; or the file is of another version.
    """
    known = json.loads(FILE.read_text(encoding="utf-8"))
    if known["version"] != MINI_VERSION:
        raise SolvingError(f"{FILE} is of {known['version']}, not {MINI_VERSION}: install the package again")
    if split not in known["splits"]:
        raise SolvingError(f"there are no solutions of {split!r}; there are of {', '.join(known['splits'])}")
    rows = known["splits"][split]
    return [SolvedSheet(row[0], row[1], tuple(row[2:4]), tuple(row[4:6]), row[6]) for row in rows]


def text_of_file(solutions: Mapping[str, list[SolvedSheet]]) -> str:
    """Return the text of the file: a line for each sheet."""
    parts = []
    for split, sheets in solutions.items():
        rows = [
            json.dumps([one.value, one.uniform, *one.payoffs, *one.infosets, one.decisions]) for one in sheets
        ]
        parts.append(f"{json.dumps(split)}: [\n" + ",\n".join(rows) + "\n]")
    columns = ["value", "uniform", "lowest", "highest", "infosets_0", "infosets_1", "decisions"]
    return (
        f'{{"version": {json.dumps(MINI_VERSION)},\n"columns": {json.dumps(columns)},\n'
        f'"splits": {{{", ".join(parts)}}}}}\n'
    )
