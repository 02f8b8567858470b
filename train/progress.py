"""The progress bar of a training run that lasts a given time."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from train.curve import CurvePoint


class TrainingBar:
    """Time done and left, decisions and their rate, and the last point of the learning curve."""

    def __init__(self, minutes: float) -> None:
        """A bar for a run of so many minutes; it is shown inside a `with` block."""
        self._progress = Progress(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[facts]}"),
            console=Console(stderr=True),
        )
        self._task = self._progress.add_task("training", total=1.0, facts="compiling ...")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def update(self, share: float, decisions: int, rate: float) -> None:
        """Show how much is done (0 to 1), the decisions learned from and how many a second."""
        facts = f"{decisions / 1e6:.2f} M decisions, {rate / 1e3:.1f} k/s"
        self._progress.update(self._task, completed=share, facts=facts)

    def note(self, point: CurvePoint) -> None:
        """Print a point of the learning curve above the bar."""
        rates = ", ".join(f"{name} {100 * rate:.0f} %" for name, rate in point.win_rates.items())
        self._progress.console.print(f"{point.seconds:5.0f} s: matches won against {rates}")

    def warn(self, message: str) -> None:
        """Print a warning above the bar."""
        self._progress.console.print(f"[bold red]warning:[/] {message}")
