"""Check that luck correction (AIVAT) keeps the mean, and measure the deals it saves and its cost.

    python -m research.measurements.aivat
    python -m research.measurements.aivat --pair champion arnold --rounds 1_000_000

Single rounds, every deal from both seats with the same cards. Each pair is played without the
correction and with it, in turns; processor time is compared.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import tyro
from rich.progress import track

from benchmarks.results import environment_info
from millebornes_env._util.files import write_json_atomically
from millebornes_env.arena.estimates import luck_reduction, variance_reduction
from millebornes_env.arena.luck.value_files import network_digest
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.arena.outcome import Outcome, own_less_others
from research.intervals import mean_and_error
from research.pages import kept_lines
from research.tables import Table

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
    """Two agents; repeat it for several pairs (default: four pairs)."""
    edition: str = "parker"
    """Rule sheet."""
    players: int = 2
    """Seats at the table."""
    rounds: int = 40_000
    """Rounds of each pair."""
    luck_value: str = ""
    """Folder of the network; "": the shipped one."""
    seed: int = 1
    """Seed of the deals."""
    threads: int = 1
    """CPU threads."""
    docs: bool = False
    """Write docs/benchmarks/aivat.json; lines of other pairs stay in it."""


def measured(pair: tuple[str, str], args: Args) -> dict[str, Any]:
    """Play one pair without the correction and with it.

    Returns:
        The line of the pair: `plain`, mean points per round of the first agent over the others, and its
        standard error; `corrected`, the same after luck correction; `luck`, the mean of the correction;
        `streams`, variance of plain deals over that of duplicate deals, for equally many rounds; `saved`,
        variance without the correction over variance with it; `seconds` and `seconds_with`, CPU time of play
        without it and with it; `saved_time`, their ratio for equal precision; `network`, digest of the
        network that estimates luck.
    """
    plain = MatchConfig(args.edition, args.players, episode="round", seed=args.seed, threads=args.threads)
    config = replace(plain, aivat=True, luck_value=args.luck_value)
    network = config.network()
    assert network is not None, "luck is valued"
    ways = (plain, config)
    for one in ways:
        play(pair, one, _WARM_UP)
    outcomes: list[Outcome] = []  # with the correction
    seconds = [0.0, 0.0]
    deals = args.rounds // config.rules.teams
    for first in track(range(0, deals, _DEALS_AT_ONCE), " - ".join(pair), transient=True):
        for index, one in enumerate(ways):
            start = time.process_time()
            result = play(pair, one, min(_DEALS_AT_ONCE, deals - first), first_deal=first)
            seconds[index] += time.process_time() - start
        outcomes.append(result)
    outcome = Outcome.joined(outcomes)
    assert outcome.luck is not None, "luck was counted"
    leads, luck = outcome.lead.mean(axis=1), own_less_others(outcome.luck).mean(axis=1)
    saved = luck_reduction(outcome).ratio or math.nan
    return {
        "pair": " - ".join(pair),
        "deals": outcome.num_deals,
        "rounds": int(outcome.rounds.sum()),
        "plain": mean_and_error(leads),
        "corrected": mean_and_error(leads - luck),
        "luck": mean_and_error(luck),
        "streams": variance_reduction(outcome).ratio or math.nan,
        "saved": saved,
        "seconds": seconds[0],
        "seconds_with": seconds[1],
        "network": network_digest(network),
        "seed": args.seed,
        "saved_time": saved * seconds[0] / seconds[1],
    }


def table_of(lines: Sequence[dict[str, Any]]) -> Table:
    """Build the table of the lines."""
    headings = ("rounds", "plain", "less luck", "luck", "deals saved by duplicates", "by AIVAT", "time saved")
    rows = []
    for line in lines:
        means = ("{:+.2f} ± {:.2f}".format(*line[name]) for name in ("plain", "corrected", "luck"))
        times = (f"{line[name]:.2f}x" for name in ("streams", "saved", "saved_time"))
        rows.append((line["pair"], f"{line['rounds']:,}", *means, *times))
    title = "AIVAT on top of duplicate deals; points per round, ± standard errors"
    return Table(("pair", *headings), rows, title)


def main() -> None:
    """Run the command line."""
    args = tyro.cli(Args, prog="python -m research.measurements.aivat", description=__doc__)
    lines = [measured(pair, args) for pair in args.pair or PAIRS]
    table_of(lines).print()
    if args.docs:
        content = {
            "environment": environment_info(),
            "options": {"edition": args.edition, "players": args.players},
            "lines": kept_lines(DOCS, lines, "pair") + lines,
        }
        write_json_atomically(DOCS, content)
        print(f"wrote {DOCS}")


if __name__ == "__main__":
    main()
