r"""Measure the gain of a belief: search with it and with uniform redeals, on the same deals.

    python -m research.measurements.belief_gain --opponents champion --deals 1000 --aivat
    python -m research.measurements.belief_gain --edition dutch --opponents champion --out runs/dutch.jsonl
    python -m research.measurements.belief_gain --docs
    python -m research.measurements.belief_gain --belief sees=hands,rollouts=265 \
        --uniform belief=network,rollouts=265

Single rounds, every deal from both seats with the same cards. Both searchers play the same deals, so the
difference between them is paired. Costs are CPU time of whole games, the opponent's decisions and AIVAT
included: give both searchers about the same (`python -m research.measurements.search --options ...` measures
    one alone).

With `--out` each turn of 25 deals is appended to a file as soon as it is played, and the same command goes
on from it. Processes with other deals (`--first-deal`) need files of their own, which may be joined later.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import tyro
from rich.progress import track

from benchmarks.results import environment_info
from millebornes_env import agents
from millebornes_env._util.command_line import run_command
from millebornes_env.agents.fingerprint import fingerprint
from millebornes_env.arena.estimates import corrected
from millebornes_env.arena.intervals import Float64Array
from millebornes_env.arena.match import MatchConfig, play
from research.intervals import mean_and_error
from research.measurements.search import spec_of
from research.pages import write_lines
from research.tables import Table

DOCS: Final = Path("docs/benchmarks/belief_gain.json")
TURN: Final = 25
"""Deals between two steps of the progress bar, and two turns of the searchers."""


@dataclass
class Args:
    """Measure the gain of a belief."""

    rollout: str = "champion"
    """The rollout agent."""
    belief: str = "belief=network"
    """Options of the searcher with a belief."""
    uniform: str = "belief=uniform"
    """Options of the other searcher."""
    edition: str = "parker"
    """Rule sheet; where it counts no points, wins are measured instead, in % of the rounds."""
    opponents: tuple[str, ...] = (
        *("champion", "strategist", "arnold", "holder", "hoarder", "attacker", "racer", "greedy", "random"),
    )
    """Opponents of both searchers."""
    deals: int = 200
    """Deals against each opponent, two rounds each: a multiple of 25."""
    first_deal: int = 0
    """Number of the first deal: a multiple of 25."""
    out: Path | None = None
    """File that turns are read from and appended to; the table has all turns of this measurement in it."""
    aivat: bool = False
    """Correct points for luck, as the arena does with --aivat."""
    seed: int = 1
    """Seed of the deals."""
    docs: bool = False
    """Write docs/benchmarks/belief_gain.json; lines of other editions and opponents are kept."""

    @property
    def config(self) -> MatchConfig:
        """The table of the games."""
        return MatchConfig(self.edition, 2, episode="round", seed=self.seed, aivat=self.aivat)

    @property
    def counts_points(self) -> bool:
        """True if points are measured, and not wins."""
        return bool(self.config.rules.count_points)


@dataclass(frozen=True)
class Turn:
    """The same 25 deals of both searchers, first that with the belief.

    Attributes:
        measurement: what else the results depend on.
        first_deal: number of the first deal.
        leads: mean leads of each deal, in points per round, or in % of the rounds won more than half.
        seconds: CPU time.
    """

    measurement: dict[str, Any]
    first_deal: int
    leads: tuple[list[float], list[float]]
    seconds: tuple[float, float]


def leads_of(spec: str, opponent: str, args: Args, first_deal: int) -> tuple[list[float], float]:
    """Play 25 deals; return the mean lead of each (see `Turn`), and the CPU time in seconds."""
    start = time.process_time()
    outcome = play([spec, opponent], args.config, TURN, first_deal=first_deal)
    leads: Float64Array
    if not args.counts_points:
        leads = 100.0 * outcome.wins[..., 0].mean(axis=1) - 50.0
    elif args.aivat:
        leads = corrected(outcome).lead.mean(axis=1)
    else:
        leads = outcome.lead.mean(axis=1)
    return leads.tolist(), time.process_time() - start


def turns_in(path: Path | None, measurement: dict[str, Any]) -> dict[int, Turn]:
    """Read the turns of a measurement by the number of their first deal; none without a file.

    Raises:
        ValueError: the file is damaged; the message names the line.
    """
    if path is None or not path.exists():
        return {}
    result = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            turn = Turn(**json.loads(line))
            if [len(leads) for leads in turn.leads] != [TURN, TURN]:
                raise ValueError(f"{TURN} deals of both searchers are expected")
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}, line {number} is no turn ({error}): remove that line") from None
        if turn.measurement == measurement:
            result[turn.first_deal] = turn
    return result


def compared(opponent: str, args: Args) -> dict[str, Any]:
    """Measure both searchers against one opponent, in turns.

    Returns:
        The line of the opponent: mean leads (see `Turn`) of the searcher with a `belief` and of the `uniform`
        one, and of their `difference` on the same deals, each with its standard error; `cost`, CPU time of
        the first searcher's games over that of the second's; and `deals`, number of deals that both played.
    """
    specs = spec_of(args.rollout, args.belief), spec_of(args.rollout, args.uniform)
    config = args.config
    agents_of = [fingerprint(agents.make(spec, config.table(), 1), spec) for spec in (*specs, opponent)]
    measurement = {
        "edition": args.edition,
        "searchers": list(specs),
        "opponent": opponent,
        "agents": agents_of,
        "aivat": args.aivat,
        "seed": args.seed,
    }
    turns = turns_in(args.out, measurement)
    todo = [
        first for first in range(args.first_deal, args.first_deal + args.deals, TURN) if first not in turns
    ]
    for spec in specs if todo else ():  # may compile
        play([spec, opponent], config, 1)
    for first in track(todo, f"against {opponent}", transient=True):
        (own, seconds), (others, others_seconds) = (leads_of(spec, opponent, args, first) for spec in specs)
        turns[first] = Turn(measurement, first, (own, others), (seconds, others_seconds))
        if args.out is not None:
            args.out.parent.mkdir(parents=True, exist_ok=True)
            with args.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(turns[first])) + "\n")
    one, other = (np.concatenate([turn.leads[side] for turn in turns.values()]) for side in (0, 1))
    spent, spent_by_other = (sum(turn.seconds[side] for turn in turns.values()) for side in (0, 1))
    line: dict[str, Any] = {"edition": args.edition, "opponent": opponent}
    for name, leads in (("belief", one), ("uniform", other), ("difference", one - other)):
        line[name], line[f"{name}_error"] = mean_and_error(leads)
    return {**line, "cost": spent / spent_by_other, "deals": len(one)}


def check(args: Args) -> None:
    """Check the options.

    Raises:
        ValueError: an option is invalid; the message names it.
    """
    if args.deals % TURN or args.deals < TURN:
        raise ValueError(f"--deals is {args.deals}; it must be a multiple of {TURN}")
    if args.first_deal % TURN or args.first_deal < 0:
        raise ValueError(f"--first-deal is {args.first_deal}; it must be 0 or a multiple of {TURN}")
    if args.aivat and not args.counts_points:
        raise ValueError(f"--aivat corrects points, and {args.edition!r} counts none: omit it")
    if spec_of(args.rollout, args.belief) == spec_of(args.rollout, args.uniform):
        raise ValueError(f"--belief and --uniform are both {args.belief!r}: there is nothing to compare")
    if "belief=" not in args.uniform:  # search over some agents has a belief by default
        raise ValueError(f"--uniform is {args.uniform!r}; begin it with belief=uniform")


def main(args: Args) -> None:
    """Measure, print, and write the docs on request."""
    check(args)
    luck = ", less luck" if args.aivat else ""
    unit = f"points a round{luck}" if args.counts_points else "rounds won more than half, %"
    title = f"{args.rollout}+search at {args.edition}, {unit} (1 SE)"
    lines = [compared(opponent, args) for opponent in args.opponents]
    form, rows = ".0f" if args.counts_points else ".1f", []
    for line in lines:
        names = ("belief", "uniform", "difference")
        means = (f"{line[name]:+{form}} ({line[f'{name}_error']:{form}})" for name in names)
        rows.append((line["opponent"], *means, f"{line['cost']:.2f}", f"{line['deals']:,}"))
    Table(("against", args.belief, args.uniform, "difference", "cost", "deals"), rows, title).print()
    if args.docs:
        arguments = {name: value for name, value in asdict(args).items() if name != "out"}
        about = {"arguments": arguments, "environment": environment_info()}
        write_lines(DOCS, lines, about, "edition", "opponent")


if __name__ == "__main__":
    prog = "python -m research.measurements.belief_gain"
    sys.exit(run_command(lambda: main(tyro.cli(Args, prog=prog, description=__doc__))))
