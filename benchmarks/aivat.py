"""Whether taking luck off the points leaves the mean alone, how many deals it saves, and what it costs.

    python -m benchmarks.aivat
    python -m benchmarks.aivat --pair champion arnold --rounds 1_000_000 --no-lookahead

Single rounds, every deal from both seats with the same cards. Each pair is played without the correction,
with it, and with it after the next decision (`aivat_lookahead`), in turns; processor time is compared.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.results import PIPED_WIDTH, environment_info
from millebornes_env.arena.estimates import AIVAT_COEFFICIENTS, control_variate_reduction, variance_reduction
from millebornes_env.arena.intervals import Float64Array
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.arena.outcome import Outcome, own_less_others
from millebornes_env.arena.value_files import network_digest
from millebornes_env.files import write_json_atomically

DOCS: Final = Path("docs/benchmarks/aivat.json")
PAIRS: Final = (
    ("champion", "arnold"),
    ("champion", "strategist"),
    ("strategist", "arnold"),
    ("greedy", "holder"),
)
_DEALS_AT_ONCE: Final = 4096
_WARM_UP: Final = 64


@dataclass
class Args:
    """Measure AIVAT on pairs of agents."""

    pair: Annotated[tuple[tuple[str, str], ...], tyro.conf.UseAppendAction] = ()
    """Two agents; give it once for each pair. Without one, four pairs are played."""
    edition: str = "parker"
    """The rule sheet."""
    players: int = 2
    """Seats at the table."""
    rounds: int = 40_000
    """Of each pair."""
    luck_value: str = ""
    """Folder of the network; "": the project's own."""
    seed: int = 1
    """Of the deals."""
    threads: int = 1
    """Of the play."""
    lookahead: bool = True
    """Measure the value after the next decision, too (two teams only): some twenty times as long."""
    docs: bool = False
    """Write docs/benchmarks/aivat.json; lines of other pairs stay in it."""


@dataclass(frozen=True)
class Line:
    """What was measured of one pair.

    Attributes:
        pair: the agents.
        deals: played, each from all seats.
        rounds: played.
        plain: points per round of the first agent over the others, and the standard error of that.
        corrected: the same less luck.
        luck: the mean of what was taken off, and its standard error.
        streams: how many times as many rounds plain deals would have needed.
        saved: how many times as many deals would have been needed without the correction.
        seconds: processor time of the play without the correction.
        seconds_with: with it.
        corrected_ahead: points less luck with lookahead (`aivat_lookahead`); None, as what follows, without.
        saved_ahead: how many times as many deals would have been needed without that.
        seconds_ahead: processor time of the play with lookahead.
        network: digest of the network that valued luck.
        seed: of the deals.
    """

    pair: str
    deals: int
    rounds: int
    plain: tuple[float, float]
    corrected: tuple[float, float]
    luck: tuple[float, float]
    streams: float
    saved: float
    seconds: float
    seconds_with: float
    corrected_ahead: tuple[float, float] | None
    saved_ahead: float | None
    seconds_ahead: float | None
    network: str
    seed: int

    @property
    def saved_time(self) -> float:
        """How many times as long the same precision would have taken without the correction."""
        return self.saved * self.seconds / self.seconds_with

    @property
    def saved_time_ahead(self) -> float | None:
        """The same as `saved_time`, with lookahead."""
        if self.saved_ahead is None or self.seconds_ahead is None:
            return None
        return self.saved_ahead * self.seconds / self.seconds_ahead


def measured(pair: tuple[str, str], args: Args) -> Line:
    """Play one pair without the correction, with it, and with it after the next decision."""
    plain = MatchConfig(args.edition, args.players, episode="round", seed=args.seed, threads=args.threads)
    config = replace(plain, aivat=True, luck_value=args.luck_value)
    network = config.network()
    assert network is not None, "luck is valued"
    ways = [plain, config]
    if args.lookahead:
        ways.append(replace(config, aivat_lookahead=True))
    for one in ways:
        play(pair, one, _WARM_UP)
    outcomes: list[Outcome] = []
    seconds = [0.0, 0.0, 0.0]
    deals = args.rounds // config.rules.teams
    for first in track(range(0, deals, _DEALS_AT_ONCE), " - ".join(pair), transient=True):
        count, found = min(_DEALS_AT_ONCE, deals - first), list[Outcome]()
        for place, one in enumerate(ways):
            start = time.process_time()
            found.append(play(pair, one, count, first_deal=first))
            seconds[place] += time.process_time() - start
        pairs = zip(outcomes, found, strict=True) if outcomes else ()
        outcomes = [before.followed_by(after) for before, after in pairs] or found
    outcome, ahead = outcomes[1], outcomes[2] if args.lookahead else None
    reductions = [
        control_variate_reduction(one, AIVAT_COEFFICIENTS).ratio or math.nan for one in outcomes[1:]
    ]
    leads, luck = outcome.lead.mean(axis=1), _luck(outcome)
    return Line(
        pair=" - ".join(pair),
        deals=outcome.num_deals,
        rounds=int(outcome.rounds.sum()),
        plain=_mean(leads),
        corrected=_mean(leads - luck),
        luck=_mean(luck),
        streams=variance_reduction(outcome).ratio or math.nan,
        saved=reductions[0],
        seconds=seconds[0],
        seconds_with=seconds[1],
        corrected_ahead=None if ahead is None else _mean(leads - _luck(ahead)),
        saved_ahead=None if ahead is None else reductions[1],
        seconds_ahead=None if ahead is None else seconds[2],
        network=network_digest(network),
        seed=args.seed,
    )


def _luck(outcome: Outcome) -> Float64Array:
    """Of the first agent in each deal, over both seats."""
    assert outcome.variates is not None, "luck was counted"
    luck: Float64Array = own_less_others(outcome.variates[:, :, 0]).mean(axis=1)
    return luck


def _mean(blocks: Float64Array) -> tuple[float, float]:
    return float(blocks.mean()), float(blocks.std(ddof=1) / np.sqrt(len(blocks)))


def table_of(lines: Sequence[Line]) -> Table:
    """The lines for people."""
    table = Table(
        title="AIVAT on top of duplicate deals, and with lookahead; points per round, ± standard errors",
        title_justify="left",
    )
    headings = ("rounds", "plain", "less luck", "luck", "deals saved by duplicates", "by AIVAT", "time saved")
    table.add_column("pair")
    for heading in (*headings, "less luck, ahead", "by AIVAT, ahead", "time saved, ahead"):
        table.add_column(heading, justify="right")
    for line in lines:
        means = (f"{mean:+.2f} ± {error:.2f}" for mean, error in (line.plain, line.corrected, line.luck))
        times = (f"{line.streams:.2f}x", f"{line.saved:.2f}x", f"{line.saved_time:.2f}x")
        ahead = ("-", "-", "-")
        if line.corrected_ahead is not None:
            mean, error = line.corrected_ahead
            ahead = (
                f"{mean:+.2f} ± {error:.2f}",
                f"{line.saved_ahead:.2f}x",
                f"{line.saved_time_ahead:.3f}x",
            )
        table.add_row(line.pair, f"{line.rounds:,}", *means, *times, *ahead)
    return table


def main() -> None:
    """The command line."""
    args = tyro.cli(Args, prog="python -m benchmarks.aivat", description=__doc__)
    lines = [measured(pair, args) for pair in args.pair or PAIRS]
    Console(width=None if sys.stdout.isatty() else PIPED_WIDTH).print(table_of(lines))
    if args.docs:
        kept = json.loads(DOCS.read_text())["lines"] if DOCS.exists() else []
        named = {line.pair for line in lines}
        new = [
            {**asdict(line), "saved_time": line.saved_time, "saved_time_ahead": line.saved_time_ahead}
            for line in lines
        ]
        content = {
            "environment": environment_info(),
            "options": {"edition": args.edition, "players": args.players},
            "lines": [line for line in kept if line["pair"] not in named] + new,
        }
        write_json_atomically(DOCS, content)
        print(f"wrote {DOCS}")


if __name__ == "__main__":
    main()
