"""Measure the time until a new policy beats `holder`, in runs of `train.selfplay` with several seeds.

    python -m research.measurements.learning
    python -m research.measurements.learning --docs     # docs/benchmarks/learning.json, its picture

The clock runs from the first game on and does not stop for evaluations; compiling, once for each machine, is
not counted. A run reaches the goal at the first evaluation whose share of matches won is at least --goal.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from train.selfplay import Args as TrainingArgs  # first: it says how PyTorch's threads wait

from train.selfplay import train  # isort: skip

import tyro

from benchmarks.results import environment_info
from millebornes_env._util.command_line import warn
from millebornes_env._util.files import new_figure, save_picture, write_json_atomically
from millebornes_env.arena.intervals import NORMAL_QUANTILE
from millebornes_env.arena.learning_curve import Point
from research.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCS: Final = Path("docs")


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    seeds: int = 5
    """number of runs, with seeds 1, 2 ..."""
    minutes: float = 1.0
    """minutes of each run"""
    eval_seconds: float = 3.0
    """seconds between two evaluations"""
    eval_deals: int = 500
    """deals of an evaluation against each evaluation opponent, each played from both seats"""
    opponent: str = "holder"
    """evaluation opponent to be beaten"""
    goal: float = 0.6
    """share of matches to win"""
    threads: int = 2
    """CPU threads"""
    docs: bool = False
    """write table and plot into docs"""


def curve(args: Args, seed: int, folder: Path) -> tuple[list[Point], TrainingArgs]:
    """Return the learning curve of one run, and its options."""
    options = TrainingArgs(
        run_dir=folder,
        seed=seed,
        minutes=args.minutes,
        eval_seconds=args.eval_seconds,
        eval_deals=args.eval_deals,
        checkpoint_seconds=0,
        threads=args.threads,
    )
    return train(options).curve, options


def main() -> None:
    """Run the command line."""
    args = tyro.cli(Args, description=__doc__)
    curves: dict[int, list[Point]] = {}
    with tempfile.TemporaryDirectory() as folder:
        curve(Args(minutes=0.02, eval_seconds=0.5, eval_deals=10), 0, Path(folder) / "warm-up")
        for seed in range(1, args.seeds + 1):
            curves[seed], options = curve(args, seed, Path(folder) / str(seed))
    rows, seconds = [], []
    for seed, points in curves.items():
        rates = [point.scores[args.opponent].win_rate for point in points]
        at = next((index for index, rate in enumerate(rates) if rate >= args.goal), None)
        seconds.append(math.inf if at is None else points[at].seconds)
        cells = ("never", "", "")
        if at is not None:
            cells = (f"{points[at].seconds:.0f}", f"{points[at].decisions:,}", f"{100 * rates[at]:.1f}")
        rows.append((str(seed), *cells, f"{100 * rates[-1]:.1f}"))
    headings = ("seed", "seconds", "decisions", "share won, %", f"after {60 * args.minutes:.0f} s, %")
    title = f"From random to {100 * args.goal:.0f} % of matches against {args.opponent}"
    Table(headings, rows, title, text_columns=0).print()
    print(f"median of {args.seeds} seeds: {statistics.median(seconds):.0f} s")
    if args.docs:
        config = {**options.config(), "run_dir": "", "seed": list(curves)}
        content = {
            "environment": environment_info(),
            "benchmark": asdict(args),
            "training": config,
            "median_seconds": statistics.median(seconds) if max(seconds) < math.inf else None,
            "curves": {str(seed): [asdict(point) for point in points] for seed, points in curves.items()},
        }
        write_json_atomically(DOCS / "benchmarks" / "learning.json", content)
        warn(save_picture(DOCS / "images" / "learning.png", lambda: plot(curves, args)))


def plot(curves: dict[int, list[Point]], args: Args) -> Figure:
    """Draw the curves of all seeds."""
    figure = new_figure(8, 4.5, layout="constrained")
    axes = figure.add_subplot()
    for seed, points in curves.items():
        seconds = [point.seconds for point in points]
        rates = [100 * point.scores[args.opponent].win_rate for point in points]
        errors = [100 * NORMAL_QUANTILE * point.scores[args.opponent].win_error for point in points]
        axes.errorbar(seconds, rates, errors, marker=".", linewidth=1, elinewidth=0.5, label=f"seed {seed}")
    axes.axhline(100 * args.goal, color="grey", linewidth=1, linestyle="--")
    axes.set(
        xlabel="seconds of training, evaluations included",
        ylabel=f"matches won against {args.opponent}, %",
        ylim=(0, 100),
        title=f"{args.seeds} runs of train.selfplay, {args.threads} threads",
    )
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    return figure


if __name__ == "__main__":
    main()
