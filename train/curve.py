"""The learning curve of a run: matches won against fixed opponents, as numbers and as a picture."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from train.evaluate import EvaluationConfig, evaluate
from train.files import save_figure_atomically, write_text_atomically

OPPONENTS = ("random", "greedy", "holder")


class CurveOptions(Protocol):
    """What of a run's options the curve needs."""

    @property
    def run_dir(self) -> Path: ...  # noqa: D102 - see Args
    @property
    def edition(self) -> str: ...  # noqa: D102
    @property
    def players(self) -> int: ...  # noqa: D102
    @property
    def seed(self) -> int: ...  # noqa: D102
    @property
    def curve_matches(self) -> int: ...  # noqa: D102


@dataclass(frozen=True)
class CurvePoint:
    """One measurement.

    Attributes:
        seconds: trained until then.
        decisions: learned from until then.
        win_rates: share of matches won, 0 to 1, by opponent.
        margins: half the width of its 95 % interval, by opponent.
    """

    seconds: float
    decisions: int
    win_rates: dict[str, float]
    margins: dict[str, float]


def measure_point(options: CurveOptions, seconds: float, decisions: int) -> CurvePoint:
    """Play the policy in the run folder against each opponent."""
    config = EvaluationConfig(
        edition=options.edition,
        players=options.players,
        episode="match",
        num_games=options.curve_matches,
        seed=options.seed,
    )
    rows = evaluate(f"policy:{options.run_dir}", OPPONENTS, config)
    return CurvePoint(
        seconds=seconds,
        decisions=decisions,
        win_rates={row.opponent: row.win_rate for row in rows},
        margins={row.opponent: row.win_rate_margin for row in rows},
    )


def save_curve(points: Sequence[CurvePoint], folder: Path, options: CurveOptions) -> None:
    """Write `learning_curve.json` and `learning_curve.png` into the folder."""
    text = json.dumps([dataclasses.asdict(point) for point in points], indent=2)
    write_text_atomically(folder / "learning_curve.json", text + "\n")
    if points:
        _draw(points, folder / "learning_curve.png", options)


def _draw(points: Sequence[CurvePoint], path: Path, options: CurveOptions) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    minutes = [point.seconds / 60 for point in points]
    for opponent in OPPONENTS:
        rates = [100 * point.win_rates[opponent] for point in points]
        margins = [100 * point.margins[opponent] for point in points]
        low = [rate - margin for rate, margin in zip(rates, margins, strict=True)]
        high = [min(rate + margin, 100) for rate, margin in zip(rates, margins, strict=True)]
        (line,) = axes.plot(minutes, rates, marker="o", label=f"against {opponent}")
        axes.fill_between(minutes, low, high, alpha=0.2, color=line.get_color())
    axes.axhline(50, color="grey", linewidth=1, linestyle="--")
    axes.set(
        xlabel="minutes of training",
        ylabel="matches won, %",
        ylim=(0, 102),
        title=f"MaskablePPO learns Mille Bornes ({options.edition}, {options.players} players, "
        f"{points[-1].decisions / 1e6:.1f} M decisions)",
    )
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    save_figure_atomically(figure, path)
