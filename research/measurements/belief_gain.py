"""Measure the gain of a belief: search with it and with uniform redeals, on the same deals.

    python -m research.measurements.belief_gain --opponents champion --deals 1000
    python -m research.measurements.belief_gain --belief belief=policy,rollouts=120 --uniform
    belief=uniform,rollouts=140 python -m research.measurements.belief_gain --belief belief=network
    --opponents champion --resume runs/gain --aivat python -m research.measurements.belief_gain --docs

Single rounds, every deal from both seats with the same cards; both searchers meet the same deals, so that the
difference between them is paired. Costs are processor time of whole games, with the opponent's decisions and
what --aivat takes: give both about the same (`python -m research.measurements.search --options ...` measures
a searcher alone).

With `--resume FOLDER` every 25 deals are kept in a file there. A run that was stopped goes on, more deals are
added, and two processes may play different deals (`--first-deal`) into one folder: what is printed is of all
deals that are in it.
"""

from __future__ import annotations

import functools
import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.results import environment_info
from millebornes_env import agents
from millebornes_env._util.command_line import run_command
from millebornes_env._util.files import check_writable, locked, write_json_atomically
from millebornes_env.agents.fingerprint import fingerprint
from millebornes_env.arena.estimates import corrected
from millebornes_env.arena.match import MatchConfig, play
from research.measurements.search import spec_of

DOCS: Final = Path("docs/benchmarks/belief_gain.json")
TURN: Final = 25
"""Deals that are played between two steps of the progress bar, and kept in one file."""

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
    """Deals against each, two rounds each: a multiple of 25"""
    first_deal: int = 0
    """Number of the first: a multiple of 25"""
    aivat: bool = False
    """Take luck off the points, as the arena does with --aivat"""
    resume: Path | None = None
    """Folder where results are kept, and those of before are found"""
    seed: int = 1
    """Of the deals."""
    docs: bool = False
    """Write docs/benchmarks/belief_gain.json; lines of other opponents stay in it."""


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


@dataclass(frozen=True)
class Part:
    """Some deals that a searcher has played.

    Attributes:
        leads: of each deal, in points a round.
        seconds: of processor time.
    """

    leads: list[float]
    seconds: float


def part_of(spec: str, opponent: str, args: Args, first: int) -> Part:
    """25 deals, from what is kept or by playing them."""
    path = None
    if args.resume is not None:
        path = args.resume / f"{_beginning(opponent, args)}{_kind(spec, args)}-{first:06d}.json"
    settings = {
        "spec": spec,
        "opponent": opponent,
        "seed": args.seed,
        "first_deal": first,
        "aivat": args.aivat,
        "fingerprints": [fingerprint_of(spec), fingerprint_of(opponent)],
    }
    kept = None if path is None else read_part(path, settings)
    if kept is not None:
        return kept
    start = time.process_time()
    config = MatchConfig(episode="round", seed=args.seed, aivat=args.aivat)
    outcome = play([spec, opponent], config, TURN, first_deal=first)
    if args.aivat:
        leads = corrected(outcome).points / outcome.points.shape[1]
    else:
        leads = outcome.lead.mean(axis=1)
    part = Part(leads.tolist(), time.process_time() - start)
    if path is not None:
        write_json_atomically(path, {"settings": settings, **asdict(part), "environment": environment_info()})
    return part


@functools.cache
def fingerprint_of(spec: str) -> str:
    """Return a digest of an agent and its networks, so that only results of the same agent are merged."""
    return fingerprint(agents.make(spec, MatchConfig().table()), spec)


def _beginning(opponent: str, args: Args) -> str:
    """Return the common prefix of the file names of one opponent."""
    return f"{re.sub(r'[^A-Za-z0-9_.=:,+-]', '_', opponent)}-{args.seed}-"


def _kind(spec: str, args: Args) -> str:
    return "belief" if spec == spec_of(args.rollout, args.belief) else "uniform"


def read_part(path: Path, settings: dict[str, Any]) -> Part | None:
    """Read the results of some deals; None if the file does not exist.

    Raises:
        ValueError: the file is damaged, or was measured with other settings.
    """
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        found, part = kept["settings"], Part([float(lead) for lead in kept["leads"]], float(kept["seconds"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{str(path)!r} is damaged ({error!r}): remove it, and its deals are played again"
        ) from None
    for name, wanted in settings.items():
        if found.get(name) != wanted:
            raise ValueError(
                f"{str(path)!r} was measured with {name} {found.get(name)!r}, now it is {wanted!r}: give "
                "another --resume"
            )
    return part


def firsts_of(opponent: str, args: Args) -> Iterator[int]:
    """The first deals of the parts that are reported: the wanted ones, and others that both have kept."""
    wanted = range(args.first_deal, args.first_deal + args.deals, TURN)
    yield from wanted
    if args.resume is None:
        return
    begin = _beginning(opponent, args)
    for path in sorted(args.resume.glob(f"{begin}belief-*.json")):
        other = path.with_name(path.name.replace(f"{begin}belief-", f"{begin}uniform-"))
        first = int(path.stem.rsplit("-", 1)[1])
        if other.exists() and first not in wanted:
            yield first


def both_leads(opponent: str, args: Args) -> tuple[list[Part], list[Part]]:
    """The parts of both searchers, in turns, so that a stopped run leaves pairs."""
    specs = spec_of(args.rollout, args.belief), spec_of(args.rollout, args.uniform)
    one, other = [], []
    count = len(list(firsts_of(opponent, args)))
    for first in track(firsts_of(opponent, args), f"against {opponent}", total=count, transient=True):
        one.append(part_of(specs[0], opponent, args, first))
        other.append(part_of(specs[1], opponent, args, first))
    return one, other


def mean_and_error(values: Float64Array) -> tuple[float, float]:
    """The mean, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def compared(opponent: str, args: Args) -> Line:
    """Both searchers against one opponent."""
    for options in (args.belief, args.uniform):  # may compile
        play([spec_of(args.rollout, options), opponent], MatchConfig(episode="round", aivat=args.aivat), 1)
    parts, others = both_leads(opponent, args)
    one, other = (np.concatenate([part.leads for part in found]) for found in (parts, others))
    spent, spent_by_other = (sum(part.seconds for part in found) for found in (parts, others))
    both = mean_and_error(one), mean_and_error(other), mean_and_error(one - other)
    return Line(opponent, *both[0], *both[1], *both[2], spent / spent_by_other, len(one))


def check(args: Args) -> None:
    """Refuse what cannot be.

    Raises:
        ValueError: the message names the option.
        OSError: nothing can be kept in the folder.
    """
    for name, value, least in (("deals", args.deals, TURN), ("first-deal", args.first_deal, 0)):
        if value % TURN or value < least:
            raise ValueError(f"--{name} is {value}; it must be a multiple of {TURN}, and {least} or more")
    if spec_of(args.rollout, args.belief) == spec_of(args.rollout, args.uniform):
        raise ValueError(f"--belief and --uniform are both {args.belief!r}: there is nothing to compare")
    if "belief=" not in args.uniform:  # search over some agents has a belief if nothing else is said
        raise ValueError(f"--uniform is {args.uniform!r}; begin it with belief=uniform")
    if args.resume is not None:
        check_writable(args.resume / "trial.json")


def main(args: Args) -> None:
    """Measure, print, and write if asked to."""
    check(args)
    if args.resume is None:
        compare(args)
        return
    refusal = ValueError(
        f"another process plays into {str(args.resume)!r}: wait for it, or choose another --resume"
    )
    with locked(args.resume / "belief_gain.lock", refusal):
        compare(args)


def compare(args: Args) -> None:
    """Play, print and write."""
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
        told = {"arguments": {**asdict(args), "resume": None}, "environment": environment_info()}
        new = {line.opponent: {**asdict(line), **told} for line in lines}
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
