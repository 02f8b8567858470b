"""Play every table of every edition with mixed players, and check every law at every step.

Run it with `python -m tests.laws.audit`. The laws of a record are in `games.millebornes.audit`, those of a
step in `testing.millebornes.step_laws`, the styles of the players in `testing.millebornes.random_play`. Half
of the games are matches, half are rounds.

`--game wielerspel` plays the race instead, with 2 to 6 players and several options of the text (see
`audited_games`).

A violation does not stop the run: all are counted, the first of each table are saved with the game before and
after the step, and the exit status is 1. Ctrl-C stops the run; the results so far are printed and saved.
"""

from __future__ import annotations

import collections
import functools
import math
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from benchmarks.results import environment_info, format_rate
from millebornes_env import __version__
from millebornes_env._util.files import replacing, write_json_atomically, write_text_atomically
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.testing.audited_play import FOUND, MOST_FOUND, new_play, play_kernels
from tests.laws.audited_games import GAMES, AuditedGame

ROOT = Path(__file__).parents[2]
MOST_GAMES = 64
"""Number of games at a table: their records stay in the processor's cache."""
STEPS_WORTH_A_GAME = 2000
STEPS_PER_CALL = 1024
"""Number of steps of a game between two checks whether the run is to stop."""
PIPED_WIDTH = 190


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    steps: float = 1e9
    """total number of steps, shared evenly among the tables"""
    seed: int = 1
    """seed of all games"""
    threads: int = 2
    """number of tables played at the same time; it changes no result"""
    game: Literal["millebornes", "wielerspel"] = "millebornes"
    """game to play"""
    edition: tuple[str, ...] = ()
    """editions to play (default: all)"""
    out: Path = Path("benchmarks/results/audit.json")
    """file of the figures; games with violations are saved in its folder"""
    docs: bool = False
    """also write research/notes/audit.md and docs/benchmarks/audit.json (audit_race for the race)"""

    @property
    def command(self) -> str:
        """Command that plays the same games."""
        names = f" --edition {' '.join(self.edition)}" if self.edition else ""
        game = f" --game {self.game}" if self.game != next(iter(GAMES)) else ""
        return f"python -m tests.laws.audit --steps {self.steps:g} --seed {self.seed}{game}{names}"


@dataclass
class Audited:
    """The games of one table and how far they are.

    Attributes:
        game: the game's settings.
        edition: name of the sheet.
        rules: rules of the table.
        play: the games.
        steps: number of steps left in each game.
        seconds: time spent in play.
    """

    game: AuditedGame
    edition: str
    rules: Any
    play: Any
    steps: int
    seconds: float = 0.0

    @functools.cached_property
    def compiled(self) -> Any:
        """Record of the rules, for kernels."""
        return for_kernels(self.game.hooks.rulebook.rules_array(self.rules))[0]

    @property
    def name(self) -> str:
        """Name of the table, such as `parker, 4 players in 2 teams`."""
        return f"{self.edition}, {self.rules.players} players in {self.rules.teams} teams"

    def go_on(self, steps: int) -> int:
        """Play at most `steps` steps in each game, and return the number of steps of all games."""
        steps = min(steps, self.steps)
        began = time.perf_counter()
        play_kernels(self.game.hooks).play_on(self.play, self.compiled, steps)
        self.seconds += time.perf_counter() - began
        self.steps -= steps
        return steps * len(self.play.states)

    def counts(self) -> dict[str, int]:
        """Return the counts by name."""
        return dict(zip(self.game.hooks.COUNTS, self.play.counts.tolist(), strict=True))

    def violations(self) -> list[dict[str, Any]]:
        """Return the first violations with all their fields."""
        number = min(self.counts()["violations"], MOST_FOUND)
        rows = [dict(zip(FOUND, row.tolist(), strict=True)) for row in self.play.found[:number]]
        hooks = self.game.hooks
        for row in rows:
            row["what"] = hooks.message_of(row.pop("violation"), self.rules, hooks.laws.ALL_MESSAGES)
        return rows


def new_tables(args: Args) -> list[Audited]:
    """Return all tables, with their games dealt and the kernels compiled."""
    game = GAMES[args.game]
    tables = game.tables(args.edition)
    share = max(1, math.ceil(args.steps / len(tables)))
    games = max(2, min(MOST_GAMES, share // STEPS_WORTH_A_GAME))
    audited = [
        Audited(game, name, rules, new_play(game.hooks, games, rules, args.seed), -(-share // games))
        for name, rules in tables
    ]
    for table in audited:
        play_kernels(game.hooks).begin(table.play, table.compiled)
        table.go_on(0)  # compiles, or loads what was compiled
        table.seconds = 0.0
    return audited


class Run:
    """Threads that play the tables in turn, a stretch of each at a time."""

    def __init__(self, tables: Sequence[Audited], threads: int) -> None:
        """Start the threads."""
        self._waiting = collections.deque(tables)
        self._steps: collections.deque[int] = collections.deque()
        self._stop = threading.Event()
        self._errors: list[BaseException] = []
        self._threads = [threading.Thread(target=self._work) for _ in range(max(1, threads))]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    table = self._waiting.popleft()
                except IndexError:
                    return
                self._steps.append(table.go_on(STEPS_PER_CALL))
                if table.steps:
                    self._waiting.append(table)
        except BaseException as error:  # the main thread raises it
            self._errors.append(error)
            self._stop.set()

    def wait(self, total: int) -> bool:
        """Show a progress bar until all steps are played; return False if Ctrl-C stopped the run."""
        finished = True
        with tqdm(total=total, unit=" steps", unit_scale=True, desc="audited") as bar:
            try:
                while any(thread.is_alive() for thread in self._threads):
                    self._threads[0].join(0.1)
                    time.sleep(0 if self._threads[0].is_alive() else 0.05)
                    self._show(bar)
            except KeyboardInterrupt:
                finished = False
            finally:
                self._stop.set()
                for thread in self._threads:
                    thread.join()
            self._show(bar)
        if self._errors:
            raise self._errors[0]
        return finished

    def _show(self, bar: Any) -> None:
        while self._steps:
            bar.update(self._steps.popleft())


def report_of(args: Args, tables: Sequence[Audited], seconds: float, finished: bool) -> dict[str, Any]:
    """Return all figures, in the form of the JSON file."""
    rows = []
    for table in tables:
        counts = table.counts()
        rate = counts["steps"] / table.seconds if table.seconds else 0.0
        rows.append(
            {
                "edition": table.edition,
                "players": table.rules.players,
                "teams": table.rules.teams,
                **counts,
                "steps_per_second": rate,
                "found": table.violations(),
            }
        )
    counts = GAMES[args.game].hooks.COUNTS
    total = {name: sum(table.counts()[name] for table in tables) for name in counts}
    return {
        "command": args.command,
        "seed": args.seed,
        "threads": args.threads,
        "finished": finished,
        "seconds": seconds,
        "steps_per_second": total["steps"] / seconds,
        "environment": {"millebornes_env": __version__, **environment_info()},
        "total": total,
        "tables": rows,
    }


def header(report: dict[str, Any]) -> tuple[str, ...]:
    """Return the headings of the report: table, counts and speed."""
    return ("edition", "players", "teams", *(name.replace("_", " ") for name in report["total"]), "steps/s")


def cells(report: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the lines of the report; the last one is for all tables together."""
    lines = []
    for row in [*report["tables"], {**report["total"], "edition": "all", "players": "", "teams": ""}]:
        rate = row.get("steps_per_second", report["steps_per_second"])
        counts = (f"{row[name]:,}" for name in report["total"])
        lines.append((row["edition"], str(row["players"]), str(row["teams"]), *counts, format_rate(rate)))
    return lines


def print_report(report: dict[str, Any]) -> None:
    """Print the report, then every recorded violation."""
    table = Table(header_style="bold")
    for heading in header(report):
        table.add_column(heading, justify="left" if heading == "edition" else "right")
    lines = cells(report)
    for line in lines:
        table.add_row(*line, style="bold" if line is lines[-1] else "")
    Console(width=None if sys.stdout.isatty() else PIPED_WIDTH).print(table)
    for row in report["tables"]:
        for result in row["found"]:
            print(
                f"VIOLATION: {row['edition']}, {row['players']} players in {row['teams']} teams, "
                f"seed {report['seed']}, game {result['game']}, step {result['step']}, "
                f"seat {result['seat']}, action {result['action']}: {result['what']} "
                f"(saved: {result['file']})"
            )
    left = "" if report["finished"] else "; stopped before the end"
    print(
        f"{report['total']['violations']} violations in {report['total']['steps']:,} steps, "
        f"{report['seconds']:.0f} s, {format_rate(report['steps_per_second'])} "
        f"on {report['threads']} threads{left}"
    )


def page(report: dict[str, Any], game: AuditedGame) -> str:
    """Return the report as a page of the documentation."""
    machine, headings = report["environment"], header(report)
    threads = report["threads"]
    lines = [
        f"# {game.title}",
        "",
        f"Made by `{report['command']} --docs`: mixed players at every table, every law checked "
        "at every step.",
        "",
        f"{report['total']['steps']:,} steps in {report['seconds']:.0f} s on {threads} "
        f"thread{'s' if threads != 1 else ''} of {machine['cpu']}: "
        f"**{report['total']['violations']} violations**.",
        "",
        f"{game.about} The rate of a table is that of one thread, the last one that of all. Games are "
        "counted as they begin.",
        "",
        "| " + " | ".join(headings) + " |",
        "|---|" + "--:|" * (len(headings) - 1),
        *("| " + " | ".join(line) + " |" for line in cells(report)),
        "",
        f"millebornes_env {machine['millebornes_env']}, Python {machine['python']}, "
        f"NumPy {machine['numpy']}, Numba {machine['numba']}. "
        f"Figures: [{game.page}.json](../../docs/benchmarks/{game.page}.json).",
    ]
    return "\n".join(lines) + "\n"


def save_violations(report: dict[str, Any], tables: Sequence[Audited], out: Path) -> None:
    """Save the game before and after each recorded violation, `STATE[2]`, and add the file to the report."""
    for row, table in zip(report["tables"], tables, strict=True):
        for number, result in enumerate(row["found"]):
            name = f"violation_{row['edition']}_{row['players']}_{row['teams']}_{number}.npy"
            with replacing(out.with_name(name)) as draft, draft.open("wb") as file:
                np.save(file, np.asarray(table.play.saved[2 * number : 2 * number + 2]).view(np.ndarray))
            result["file"] = name


def audit(args: Args) -> dict[str, Any]:
    """Play, print and save; return the report."""
    tables = new_tables(args)
    total = sum(table.steps * len(table.play.states) for table in tables)
    began = time.perf_counter()
    finished = Run(tables, args.threads).wait(total)
    report = report_of(args, tables, time.perf_counter() - began, finished)
    save_violations(report, tables, args.out)
    write_json_atomically(args.out, report)
    if args.docs:
        game = GAMES[args.game]
        write_json_atomically(ROOT / "docs" / "benchmarks" / f"{game.page}.json", report)
        write_text_atomically(ROOT / "research" / "notes" / f"{game.page}.md", page(report, game))
    print_report(report)
    return report


def main() -> None:
    """Run the command line."""
    report = audit(tyro.cli(Args, description=__doc__))
    sys.exit(1 if report["total"]["violations"] else 0)


if __name__ == "__main__":
    main()
