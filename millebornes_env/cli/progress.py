"""The progress bars of commands that play."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from millebornes_env.arena.evaluation import OnProgress
from millebornes_env.arena.results import Row
from millebornes_env.cli.console import progress_console


def counting_bar(counted: str = "") -> Progress:
    """Show on stderr, if that is a terminal, how much of a task is done and how long the rest will take.

    Args:
        counted: what is counted, such as "deals, ".
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(counted + "{task.percentage:3.0f} %,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    console = progress_console()
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@contextlib.contextmanager
def evaluation_bar(rows: Sequence[Row], num_rows: int, episodes: int) -> Iterator[OnProgress]:
    """Show on stderr, if that is a terminal, how many episodes have been played and how long it will take.

    Args:
        rows: those that are complete; looked at again whenever progress is reported.
        num_rows: how many there will be.
        episodes: in each row.
    """
    with counting_bar() as bar:
        task = bar.add_task("playing", total=num_rows * episodes)

        def on_progress(opponent: str, played: float) -> None:
            done = len(rows) * episodes + played
            bar.update(task, completed=int(done), description=f"against {escape(opponent)}")

        yield on_progress


@contextlib.contextmanager
def tournament_bar() -> Iterator[Callable[[str, float, float], None]]:
    """Show on stderr, if that is a terminal, who plays and how many deals are left of a tournament."""
    with counting_bar("deals, ") as bar:
        task = bar.add_task("compiling ...", total=None)

        def on_turn(lineup: str, done: float, total: float) -> None:
            bar.update(task, completed=int(done), total=int(total), description=escape(lineup))

        yield on_turn
