"""Measure the gain of search over its rollout agent, and the cost of a decision.

    python -m research.measurements.search
    python -m research.measurements.search --rollouts arnold --deals 600 --docs
    python -m research.measurements.search --rollouts policy:runs/first --options depth=0,rollouts=100
    python -m research.measurements.search --rollouts strategist --players 3 --deals 150

Gain: points per round of `X+search` against X in all other teams, single rounds, every deal from all
seats with the same cards.
Cost: processor time of a decision on one core, mean and 95th percentile, in rounds of X.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
import tyro
from rich.progress import track

from benchmarks.results import environment_info
from millebornes_env import agents, vector_env
from millebornes_env.agents.protocol import Table as GameTable
from millebornes_env.agents.protocol import ask
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.arena.intervals import NORMAL_QUANTILE
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.arena.outcome import Outcome
from research.pages import write_lines
from research.tables import Table

DOCS: Final = Path("docs/benchmarks/search.json")

TURN: Final = 25
"""Deals between two steps of the progress bar."""


@dataclass
class Args:
    """Measure `search` over its own rollout agents."""

    rollouts: tuple[str, ...] = ("champion", "strategist", "arnold", "holder")
    """The rollout agents."""
    options: str = ""
    """Options of the searcher, such as "z=1,rollouts=400"."""
    deals: int = 400
    """Deals of each rollout agent, two rounds each."""
    seed: int = 1
    """Seed of the deals."""
    decisions: int = 300
    """Decisions for the measurement of cost."""
    edition: str = "parker"
    """Rule sheet."""
    players: int = 2
    """Seats at the table."""
    teams: int | None = None
    """Teams at the table (default: as usual for the sheet)."""
    docs: bool = False
    """Write docs/benchmarks/search.json; lines of other rollout agents stay in it."""


def spec_of(rollout: str, *options: str) -> str:
    """Return the spec of the searcher."""
    text = ",".join(filter(None, options))
    return f"{rollout}+search" + (f":{text}" if text else "")


def gain(rollout: str, args: Args) -> tuple[float, float]:
    """Return points per round over the rollout agent, and the standard error."""
    config = MatchConfig(args.edition, args.players, args.teams, episode="round", seed=args.seed)
    specs = [spec_of(rollout, args.options)] + [rollout] * (config.rules.teams - 1)
    turns = track(range(0, args.deals, TURN), f"search over {rollout}", transient=True)
    outcomes = [play(specs, config, min(TURN, args.deals - first), first_deal=first) for first in turns]
    mean, low, _ = Outcome.joined(outcomes).points_per_round()
    return mean, (mean - (low if low is not None else mean)) / NORMAL_QUANTILE


def cost_of(spec: str, rollout: str, args: Args) -> tuple[float, float, float]:
    """Return mean and 95th percentile of milliseconds per decision on one core, and playouts per decision.

    Args:
        spec: spec of the searcher, on one thread.
        rollout: the agent whose self-play rounds provide the decisions.
        args: the table, the seed and the number of decisions.
    """
    env = vector_env(1, args.edition, players=args.players, teams=args.teams, episode="round", seed=args.seed)
    table = GameTable.of(env)
    searcher = agents.make(spec, table, args.seed)
    assert isinstance(searcher, SearchAgent)
    mover = agents.make(rollout, table, args.seed)
    observations, _ = env.reset()
    spent = []
    for number in range(args.decisions + 1):
        rows = observations["observation"], observations["action_mask"]
        slot_ids = env.agent_selection.astype(np.int64)
        start = time.process_time()
        searcher.act(*rows, slot_ids=slot_ids)
        if number:  # the first may compile
            spent.append(1000 * (time.process_time() - start))
        else:
            searcher.playouts = 0
        observations = env.step(ask(mover, *rows, slot_ids)).observations
    return float(np.mean(spent)), float(np.percentile(spent, 95)), searcher.playouts / args.decisions


def main(args: Args) -> None:
    """Measure, print, and write the docs on request."""
    lines, rows = [], []
    names = ("rollout", "gain", "standard_error", "deals", "ms", "ms_95", "playouts")
    forms = ("", "+.0f", ".0f", ",", ".1f", ".1f", ",.0f")
    for rollout in args.rollouts:
        cost = cost_of(spec_of(rollout, args.options, "threads=1"), rollout, args)
        line = (rollout, *gain(rollout, args), args.deals, *cost)
        rows.append(tuple(map(format, line, forms)))
        lines.append(dict(zip(names, line, strict=True)))
    headings = ("over", "points per round", "standard error", "deals", "ms, mean", "ms, 95 %", "playouts")
    Table(headings, rows, f"search over its rollout agent {args.options}".strip()).print()
    if args.docs:
        arguments = {name: value for name, value in asdict(args).items() if name != "rollouts"}
        about = {"arguments": arguments, "environment": environment_info()}
        write_lines(DOCS, lines, about, "rollout")


if __name__ == "__main__":
    main(tyro.cli(Args, prog="python -m research.measurements.search"))
