"""The exact track of the variants: 1,000 solved mini sheets, and one call that judges a policy on them.

`mini-variants-v1` has 800 sheets of 6 to 8 cards to train on and 200 to be tested on. `solved_sheets` returns
the value of each, the exploitability of uniform play and the size. docs/research/variants.md describes the
splits.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from millebornes_env.errors import OptionError, SolvingError
from millebornes_env.games.millebornes.variants import MINI_VERSION
from millebornes_env.games.variants import split as find_split
from millebornes_env.solving.as_policy import policy_of
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.values import Judgement, judge

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


def judge_sheets(
    policy: Any,
    split: str = f"{MINI_VERSION}:test",
    *,
    count: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> list[Judgement]:
    """Evaluate a policy exactly on the mini sheets of a split, such as the 200 test sheets.

    Args:
        policy: as for `as_policy.policy_of`; observations show the rules of the sheet.
        split: name of the split.
        count: number of sheets, from the first; None: all.
        seed: seed of an agent's random numbers.
        threads: number of threads; None: one for each processor. If the policy is a name or a path, each
            thread loads it and judges other sheets; an object is asked about one sheet after the other.
        on_progress: called with the number of finished sheets.

    Returns:
        The evaluation of each sheet. `of_range` is the exploitability divided by the range of the payoffs;
        docs/research/variants.md defines the score.

    Raises:
        SolvingError: the policy is invalid; the message names the sheet and the information set.
        EditionError: there is no such split.
        OptionError: `threads` is below 1.
    """
    if threads is not None and threads < 1:
        raise OptionError(f"threads is {threads}; it must be 1 or more")
    sheets = find_split(split)
    numbers = range(sheets.size if count is None else min(count, sheets.size))
    results: list[Judgement] = []
    is_named = isinstance(policy, str | Path)  # loaded anew for each sheet; an object may keep state
    sheets_at_once, threads_of_sheet = (threads or os.cpu_count() or 1, 1) if is_named else (1, threads)

    def judged(number: int) -> Judgement:
        game = solvable(sheets.sheet(number))
        return judge(game, policy_of(policy, game, seed, observe_rules=True), threads=threads_of_sheet)

    with ThreadPoolExecutor(sheets_at_once) as pool:
        for result in pool.map(judged, numbers):
            results.append(result)
            if on_progress is not None:
                on_progress(len(results))
    return results


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
