"""Measure the gain of a belief: search with it and with uniform redeals, on the same deals.

    python -m research.measurements.belief_gain --opponents champion --deals 1000 --aivat
    python -m research.measurements.belief_gain --belief sees=hands,rollouts=265 --uniform
    belief=network,rollouts=265 python -m research.measurements.belief_gain --docs

Single rounds, every deal from both seats with the same cards. Both searchers play the same deals, so the
difference between them is paired. Costs are CPU time of whole games, the opponent's decisions and AIVAT
included: give both searchers about the same (`python -m research.measurements.search --options ...` measures
    one alone).
"""

from __future__ import annotations

import json
import sys
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
from millebornes_env._util.command_line import run_command
from millebornes_env._util.files import write_json_atomically
from millebornes_env.arena.estimates import corrected
from millebornes_env.arena.match import MatchConfig, play
from research.measurements.search import spec_of

DOCS: Final = Path("docs/benchmarks/belief_gain.json")
TURN: Final = 25
"""Deals between two steps of the progress bar, and two turns of the searchers."""

Float64Array = npt.NDArray[np.float64]


@dataclass
class Args:
    """Measure the gain of a belief."""

    rollout: str = "champion"
    """The rollout agent."""
    belief: str = "belief=network"
    """Options of the searcher with a belief."""
    uniform: str = "belief=uniform"
    """Options of the other searcher."""
    opponents: tuple[str, ...] = (
        *("champion", "strategist", "arnold", "holder", "hoarder", "attacker", "racer", "greedy", "random"),
    )
    """Opponents of both searchers."""
    deals: int = 200
    """Deals against each opponent, two rounds each: a multiple of 25."""
    aivat: bool = False
    """Correct points for luck, as the arena does with --aivat."""
    seed: int = 1
    """Seed of the deals."""
    docs: bool = False
    """Write docs/benchmarks/belief_gain.json; lines of other opponents are kept."""


@dataclass(frozen=True)
class Line:
    """Measurements against one opponent, in points per round.

    Attributes:
        opponent: spec of the opponent.
        belief: mean lead of the searcher with a belief.
        belief_error: its standard error.
        uniform: mean lead of the searcher with uniform redeals.
        uniform_error: its standard error.
        difference: mean of the paired differences over the deals.
        difference_error: its standard error.
        cost: CPU time of the first searcher's games over that of the second's.
        deals: number of deals that both played.
    """

    opponent: str
    belief: float
    belief_error: float
    uniform: float
    uniform_error: float
    difference: float
    difference_error: float
    cost: float
    deals: int


def leads_of(spec: str, opponent: str, args: Args, first_deal: int) -> tuple[Float64Array, float]:
    """Play 25 deals; return the mean lead of each in points per round, and the CPU time in seconds."""
    start = time.process_time()
    config = MatchConfig(episode="round", seed=args.seed, aivat=args.aivat)
    outcome = play([spec, opponent], config, TURN, first_deal=first_deal)
    if args.aivat:
        leads = corrected(outcome).points / outcome.points.shape[1]
    else:
        leads = outcome.lead.mean(axis=1)
    return leads, time.process_time() - start


def mean_and_error(values: Float64Array) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def compared(opponent: str, args: Args) -> Line:
    """Measure both searchers against one opponent, in turns."""
    specs = spec_of(args.rollout, args.belief), spec_of(args.rollout, args.uniform)
    for spec in specs:  # may compile
        play([spec, opponent], MatchConfig(episode="round", aivat=args.aivat), 1)
    parts = [
        [leads_of(spec, opponent, args, first) for spec in specs]
        for first in track(range(0, args.deals, TURN), f"against {opponent}", transient=True)
    ]
    one, other = (np.concatenate([both[searcher][0] for both in parts]) for searcher in (0, 1))
    spent, spent_by_other = (sum(both[searcher][1] for both in parts) for searcher in (0, 1))
    results = mean_and_error(one), mean_and_error(other), mean_and_error(one - other)
    return Line(opponent, *results[0], *results[1], *results[2], spent / spent_by_other, len(one))


def check(args: Args) -> None:
    """Check the options.

    Raises:
        ValueError: an option is invalid; the message names it.
    """
    if args.deals % TURN or args.deals < TURN:
        raise ValueError(f"--deals is {args.deals}; it must be a multiple of {TURN}")
    if spec_of(args.rollout, args.belief) == spec_of(args.rollout, args.uniform):
        raise ValueError(f"--belief and --uniform are both {args.belief!r}: there is nothing to compare")
    if "belief=" not in args.uniform:  # search over some agents has a belief by default
        raise ValueError(f"--uniform is {args.uniform!r}; begin it with belief=uniform")


def main(args: Args) -> None:
    """Measure, print, and write the docs on request."""
    check(args)
    luck = ", less luck" if args.aivat else ""
    table = Table(title=f"{args.rollout}+search, points a round{luck} (1 SE)", title_justify="left")
    for heading in ("against", args.belief, args.uniform, "difference", "cost", "deals"):
        table.add_column(heading, justify="left" if heading == "against" else "right")
    lines = [compared(opponent, args) for opponent in args.opponents]
    for line in lines:
        table.add_row(
            line.opponent,
            f"{line.belief:+.0f} ({line.belief_error:.0f})",
            f"{line.uniform:+.0f} ({line.uniform_error:.0f})",
            f"{line.difference:+.0f} ({line.difference_error:.0f})",
            f"{line.cost:.2f}",
            f"{line.deals:,}",
        )
    Console().print(table)
    if args.docs:
        about = {"arguments": asdict(args), "environment": environment_info()}
        new = {line.opponent: {**asdict(line), **about} for line in lines}
        old = json.loads(DOCS.read_text(encoding="utf-8"))["lines"] if DOCS.exists() else []
        stay = [line for line in old if line["opponent"] not in new]
        write_json_atomically(DOCS, {"lines": [*new.values(), *stay]})
        print(f"wrote {DOCS}")


if __name__ == "__main__":
    sys.exit(
        run_command(
            lambda: main(
                tyro.cli(Args, prog="python -m research.measurements.belief_gain", description=__doc__)
            )
        )
    )
