"""Progress bars of the commands that play."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from millebornes_env.cli.console import progress_console


def counting_bar(unit: str = "") -> Progress:
    """Return a progress bar on stderr, hidden unless that is a terminal; `unit` is text such as "deals, "."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit + "{task.percentage:3.0f} %,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    console = progress_console()
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@contextlib.contextmanager
def playing_bar() -> Iterator[Callable[[str, float, float], None]]:
    """Show progress in deals; the yielded function takes the lineup, the deals done and their total."""
    with counting_bar("deals, ") as bar:
        task = bar.add_task("compiling ...", total=None)

        def on_turn(lineup: str, done: float, total: float) -> None:
            bar.update(task, completed=int(done), total=int(total), description=escape(lineup))

        yield on_turn
