"""What a belief gains in play: search with it and with uniform redeals, against each agent on the same deals.

    python -m benchmarks.belief_gain --opponents champion --deals 1000
    python -m benchmarks.belief_gain --belief belief=policy,rollouts=120 --uniform rollouts=140
    python -m benchmarks.belief_gain --docs

Single rounds, every deal from both seats with the same cards; both searchers meet the same deals, so that the
difference between them is paired. Costs are processor time of the searcher's decisions on one core: give both
about the same (`python -m benchmarks.search --options ...` measures one more closely).
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.results import environment_info
from benchmarks.search import spec_of
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.files import write_json_atomically

DOCS: Final = Path("docs/benchmarks/belief_gain.json")
TURN: Final = 25
"""Deals that are played between two steps of the progress bar."""

Float64Array = npt.NDArray[np.float64]


@dataclass
class Args:
    """Measure what a belief gains."""

    rollout: str = "champion"
    """The rollout agent."""
    belief: str = "belief=policy"
    """Options of the searcher with a belief."""
    uniform: str = "belief=uniform"
    """Options of the other one."""
    opponents: tuple[str, ...] = (
        *("champion", "strategist", "arnold", "holder", "hoarder", "attacker", "racer", "greedy", "random"),
    )
    """Whom both play."""
    deals: int = 200
    """Deals against each, two rounds each."""
    seed: int = 1
    """Of the deals."""
    docs: bool = False
    """Write docs/benchmarks/belief_gain.json; lines of other opponents stay in it."""


@dataclass(frozen=True)
class Line:
    """What was measured against one opponent; points a round, with standard errors.

    Attributes:
        opponent: whom both played.
        belief: the lead of the searcher with a belief.
        belief_error: of that.
        uniform: the lead of the other one.
        uniform_error: of that.
        difference: the mean over the deals of the one less the other.
        difference_error: of that.
        cost: processor time that the first took for its games, as a multiple of the second.
    """

    opponent: str
    belief: float
    belief_error: float
    uniform: float
    uniform_error: float
    difference: float
    difference_error: float
    cost: float


def leads(spec: str, opponent: str, args: Args) -> tuple[Float64Array, float]:
    """The lead of each deal in points a round, float64[deals], and the processor time."""
    found, spent = [], 0.0
    config = MatchConfig(episode="round", seed=args.seed)
    for first in track(range(0, args.deals, TURN), f"{spec} against {opponent}", transient=True):
        start = time.process_time()
        outcome = play([spec, opponent], config, min(TURN, args.deals - first), first_deal=first)
        spent += time.process_time() - start
        points = outcome.points.astype(np.float64)
        found.append((points[..., 0] - points[..., 1]).mean(axis=1))
    return np.concatenate(found), spent


def mean_and_error(values: Float64Array) -> tuple[float, float]:
    """The mean, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def compared(opponent: str, args: Args) -> Line:
    """Both searchers against one opponent."""
    play([spec_of(args.rollout, args.belief), opponent], MatchConfig(episode="round"), 1)  # may compile
    one, spent = leads(spec_of(args.rollout, args.belief), opponent, args)
    other, spent_by_other = leads(spec_of(args.rollout, args.uniform), opponent, args)
    both = mean_and_error(one), mean_and_error(other), mean_and_error(one - other)
    return Line(opponent, *both[0], *both[1], *both[2], spent / spent_by_other)


def main(args: Args) -> None:
    """Measure, print, and write if asked to."""
    table = Table(title=f"{args.rollout}+search, points a round (1 SE)", title_justify="left")
    for heading in ("against", args.belief, args.uniform, "difference", "cost"):
        table.add_column(heading, justify="left" if heading == "against" else "right")
    lines = [compared(opponent, args) for opponent in args.opponents]
    for line in lines:
        table.add_row(
            line.opponent,
            f"{line.belief:+.0f} ({line.belief_error:.0f})",
            f"{line.uniform:+.0f} ({line.uniform_error:.0f})",
            f"{line.difference:+.0f} ({line.difference_error:.0f})",
            f"{line.cost:.2f}",
        )
    Console().print(table)
    if args.docs:
        told = {"arguments": asdict(args), "environment": environment_info()}
        new = {line.opponent: {**asdict(line), **told} for line in lines}
        old = json.loads(DOCS.read_text(encoding="utf-8"))["lines"] if DOCS.exists() else []
        stay = [line for line in old if line["opponent"] not in new]
        write_json_atomically(DOCS, {"lines": [*new.values(), *stay]})
        print(f"wrote {DOCS}")


if __name__ == "__main__":
    main(tyro.cli(Args, prog="python -m benchmarks.belief_gain", description=__doc__))
