"""The progress bar of training."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from millebornes_env.cli.console import progress_console


@contextlib.contextmanager
def timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Add the time that a `with` block takes to that of its part."""
    began = time.perf_counter()
    yield
    seconds[part] += time.perf_counter() - began


def per_second(rate: float) -> str:
    """A rate in words, with the digits that mean something: "278/s", "12.3 k/s", "464 k/s", "1.25 M/s"."""
    if rate < 999.5:
        return f"{rate:.0f}/s" if rate >= 9.95 else f"{rate:.1f}/s"
    value, unit = (rate / 1e3, "k/s") if rate < 999_500 else (rate / 1e6, "M/s")
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"


class TrainingBar:
    """Time done and left, decisions and their rate; lines that are said stay above it."""

    def __init__(self) -> None:
        """A bar that is shown inside a `with` block."""
        self._progress = Progress(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[facts]}"),
            console=progress_console(),
            redirect_stdout=False,
        )
        self._task = self._progress.add_task("training", total=1.0, facts="compiling ...")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self) -> None:
        """Training begins, all is compiled: the time that is shown counts from now on."""
        self._progress.reset(self._task, total=1.0, facts="")

    def update(self, share: float, decisions: int, rate: float) -> None:
        """Show how much is done (0 to 1), the decisions learned from and how many a second."""
        facts = f"{decisions / 1e6:.2f} M decisions, {per_second(rate)}"
        self._progress.update(self._task, completed=share, facts=facts)

    def say(self, line: str) -> None:
        """Print a line above the bar, such as a point of the learning curve."""
        self._progress.console.print(escape(line), highlight=False, soft_wrap=True)

    def warn(self, message: str) -> None:
        """Print a warning above the bar."""
        line = f"[bold red]warning:[/] {escape(message)}"
        self._progress.console.print(line, highlight=False, soft_wrap=True)
