"""Measure the speed of the arena and the rounds that duplicate deals save.

    python -m research.measurements.arena
    python -m research.measurements.arena --docs     # writes docs/benchmarks/arena.json and its picture too

Speed: rounds per second of whole matches between compiled agents, everything included (deals, decisions,
legality checks, rules, scoring, counting), on one thread and on two, in turns, medians of the repeats.
Rounds saved: variance of the points difference of plain deals over that of duplicate deals, for equally many
rounds (`arena.estimates.variance_reduction`).
"""

from __future__ import annotations

import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import tyro

from benchmarks.results import environment_info
from millebornes_env._util.command_line import warn
from millebornes_env._util.files import new_figure, save_picture, write_json_atomically
from millebornes_env.arena.estimates import variance_reduction
from millebornes_env.arena.match import MatchConfig, play
from research.tables import Table

PAIRS: Final = (
    ("greedy", "racer"),
    ("greedy", "holder"),
    ("hoarder", "attacker"),
    ("strategist", "greedy"),
    ("arnold", "arnold:debian"),
    ("strategist", "arnold"),
    ("champion", "arnold"),
    ("champion", "strategist"),
)
"""The pairs of agents whose speed is measured."""

SAVINGS: Final = {
    "hold against play at once": ("holder:pile=40", "holder:pile=200"),
    "near-equal": ("holder:pile=40", "holder:pile=35"),
    "greedy against holder": ("greedy", "holder"),
    "arnold against arnold:debian": ("arnold", "arnold:debian"),
}
"""The pairs of agents whose variance reduction is measured, in single rounds."""

DOCS: Final = Path("docs")


@dataclass
class Args:
    """Measure the arena."""

    repeats: int = 5
    """Measurements of each speed; the median counts."""
    deals: int = 4096
    """Deals of a measurement of speed, two matches each."""
    saving_deals: int = 20_000
    """Deals of a measurement of the variance reduction, two rounds each."""
    docs: bool = False
    """Write docs/benchmarks/arena.json and docs/images/arena.png."""


def speed(pair: tuple[str, str], threads: int, deals: int, first: int) -> float:
    """Return rounds per second of elapsed time, in deals of two matches each from the first one."""
    start = time.perf_counter()
    outcome = play(pair, MatchConfig(threads=threads), deals, first_deal=first)
    return float(outcome.rounds.sum() / (time.perf_counter() - start))


def speeds(args: Args) -> dict[str, dict[str, float]]:
    """Return medians by pair and number of threads; every repeat measures all of them in turns."""
    measured: dict[tuple[str, str], dict[str, list[float]]] = {pair: {"1": [], "2": []} for pair in PAIRS}
    for pair in PAIRS:
        speed(pair, 2, 64, 0)  # compiles
    for repeat in range(args.repeats):
        for pair, rates in measured.items():
            for threads, of_threads in rates.items():
                of_threads.append(speed(pair, int(threads), args.deals, repeat * args.deals))
    return {
        " - ".join(pair): {threads: statistics.median(of_threads) for threads, of_threads in rates.items()}
        for pair, rates in measured.items()
    }


def reductions(args: Args) -> dict[str, dict[str, Any]]:
    """Return the agents and the factor of plain rounds needed, by kind of pair."""
    result = {}
    for name, pair in SAVINGS.items():
        outcome = play(pair, MatchConfig(episode="round"), args.saving_deals)
        result[name] = {"pair": " - ".join(pair), **asdict(variance_reduction(outcome))}
    return result


def main(args: Args) -> None:
    """Measure, print, and write the docs on request."""
    rates, saved = speeds(args), reductions(args)
    rows = [
        (pair, f"{rate['1']:,.0f}", f"{rate['2']:,.0f}", f"{rate['2'] / rate['1']:.2f}")
        for pair, rate in rates.items()
    ]
    Table(("pair", "1 thread", "2 threads", "ratio"), rows, "Rounds per second, matches").print()
    savings = [(name, row["pair"], f"{row['ratio']:.1f}x") for name, row in saved.items()]
    Table(("kind", "pair", "saved"), savings, "Rounds saved by duplicate deals", text_columns=2).print()
    if args.docs:
        write_docs(rates, saved, args)


def write_docs(rates: dict[str, dict[str, float]], saved: dict[str, dict[str, Any]], args: Args) -> None:
    """Write the figures with the environment, and the plot."""
    content = {
        "environment": environment_info(),
        "arguments": asdict(args),
        "rounds_per_second": rates,
        "savings": saved,
    }
    write_json_atomically(DOCS / "benchmarks" / "arena.json", content)
    print("wrote docs/benchmarks/arena.json and docs/images/arena.png")
    warn(save_picture(DOCS / "images" / "arena.png", lambda: picture(rates, saved)))


def picture(rates: dict[str, dict[str, float]], saved: dict[str, dict[str, Any]]) -> Any:
    """Plot rounds per second by pair, and rounds saved by kind of pair."""
    figure = new_figure(10.5, 4.6, layout="constrained")
    left, right = figure.subplots(1, 2)
    for threads, shift, colour in (("1", 0.2, "#9db4d0"), ("2", -0.2, "#2f5f9e")):
        values = [rate[threads] for rate in rates.values()]
        bars = left.barh([index + shift for index in range(len(rates))], values, 0.38, color=colour)
        left.bar_label(bars, [f"{value / 1000:.0f} k" for value in values], padding=3, fontsize=8)
        bars.set_label(f"{threads} thread" + ("s" if threads == "2" else ""))
    left.set_yticks(range(len(rates)), list(rates))
    left.set_title("Rounds per second", loc="left", fontweight="bold")
    left.legend(frameon=False, loc="lower right", fontsize=8)
    names = list(saved)
    values = [saved[name]["ratio"] for name in names]
    bars = right.barh(range(len(names)), values, 0.6, color="#2f7d4f")
    right.bar_label(bars, [f"{value:.1f}x" for value in values], padding=3, fontsize=8)
    right.set_yticks(range(len(names)), names)
    right.set_title("Rounds saved by duplicate deals", loc="left", fontweight="bold")
    for axes in (left, right):
        axes.invert_yaxis()
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.margins(x=0.15)
    return figure


if __name__ == "__main__":
    main(tyro.cli(Args, prog="python -m research.measurements.arena"))
