"""Measure the strength of the champions at every table of Mille Bornes, against others in all other teams.

    python -m benchmarks.champions                         # all 28 tables, `arnold` and `strategist`
    python -m benchmarks.champions --table parker:4:2 --deals 10000
    python -m benchmarks.champions --agent runs/first --table parker:3
    python -m benchmarks.champions --turned                # one opponent among champions
    python -m benchmarks.champions --docs

Matches to 5,000 points, or single rounds in editions without points. Every deal is played in all rotations of
the teams with the same cards; errors are standard errors over the deals. A shared win is divided.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tyro
from rich.console import Console
from rich.table import Table as Printed

from benchmarks.results import PIPED_WIDTH, environment_info
from millebornes_env import edition, editions
from millebornes_env._util.command_line import run_command, warn
from millebornes_env._util.files import new_figure, save_picture, write_json_atomically
from millebornes_env.agents.champion import champion_for
from millebornes_env.arena.learning_curve import Score
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.render.millebornes.editions import table_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCS: Final = Path("docs")
JSON_FILE: Final = DOCS / "benchmarks" / "champions.json"
PICTURE: Final = DOCS / "images" / "champions.png"
CHAMPION: Final = "champion"
ENOUGH_ERRORS: Final = 5.0
"""Standard errors by which a champion must exceed the win rate of an equal agent."""
_COLOURS: Final = {"arnold": "#c8443c", "strategist": "#3c6ec8"}


@dataclass(frozen=True)
class Args:
    """Measure the champions."""

    table: tuple[str, ...] = ()
    """tables, such as parker:4:2 (edition, players, teams if fewer than players); default: all"""
    against: tuple[str, ...] = ("arnold", "strategist")
    """agents in all other teams"""
    agent: str = CHAMPION
    """agent to measure"""
    deals: int = 2000
    """deals at each table, each played in all rotations of the teams"""
    turned: bool = False
    """swap roles: one of `against` in one team, the agent in all others"""
    threads: int = 2
    """CPU threads"""
    seed: int = 2026
    """seed of the deals"""
    docs: bool = False
    """write docs/benchmarks/champions.json and its plot too; lines of other tables are kept"""


@dataclass(frozen=True)
class Line:
    """Measurements at one table.

    Attributes:
        edition: name of the rule sheet.
        players: number of seats.
        teams: number of teams.
        agent: the agent measured; for `champion`, the network that plays the table.
        against: the agent in all other teams.
        matches: number of matches.
        even: win rate of an equally strong agent.
        share: win rate.
        error: its standard error.
        points: mean lead in points per round; None if the game counts no points.
        points_error: its standard error.
    """

    edition: str
    players: int
    teams: int
    agent: str
    against: str
    matches: int
    even: float
    share: float
    error: float
    points: float | None
    points_error: float | None

    @property
    def table(self) -> str:
        """Name of the table."""
        return f"{self.edition} {table_name(self.players, self.teams)}"

    @property
    def errors_above_even(self) -> float:
        """Standard errors by which the win rate exceeds that of an equal agent."""
        return (self.share - self.even) / max(self.error, 1e-9)


def all_tables() -> list[tuple[str, int, int]]:
    """Return edition, players and teams of every table."""
    return [(name, *table) for name in editions() for table in edition(name).tables]


def tables_named(names: Iterable[str]) -> list[tuple[str, int, int]]:
    """Parse names of tables.

    Raises:
        ValueError: a name is invalid.
    """
    result = []
    for name in names:
        sheet, *counts = name.split(":")
        if not (1 <= len(counts) <= 2 and all(count.isdecimal() for count in counts)):
            raise ValueError(
                f"--table {name!r} is no table: name the edition, the players, and the teams if they are "
                "fewer, such as parker:2 or parker:4:2"
            )
        result.append((sheet, int(counts[0]), int(counts[-1])))
    return result


def measured(table: tuple[str, int, int], against: str, args: Args) -> Line:
    """Measure the agent against one opponent at a table.

    Raises:
        ValueError: there is no such table or agent.
    """
    sheet, players, teams = table
    config = MatchConfig(sheet, players, teams, seed=args.seed, threads=args.threads)
    both = (against, args.agent) if args.turned else (args.agent, against)
    score = Score.of([play(both, config, args.deals)])
    agent, others = (champion_for(config.table()) if name == CHAMPION else name for name in both)
    points = (score.points, score.points_error) if config.has_points else (None, None)
    won = score.win_rate, score.win_error
    return Line(sheet, players, teams, agent, others, score.matches, 1.0 / teams, *won, *points)


def printed(lines: Sequence[Line]) -> Printed:
    """Print the lines."""
    table = Printed(title="share of wins, % (1 standard error)", title_justify="left")
    for heading in ("table", "agent", "all others", "even", "share", "errors above even", "points a round"):
        table.add_column(heading, justify="left" if heading in ("table", "agent", "all others") else "right")
    for line in lines:
        points = "" if line.points is None else f"{line.points:+.0f} ({line.points_error:.0f})"
        table.add_row(
            *(line.table, line.agent, line.against, f"{100 * line.even:.1f}"),
            f"{100 * line.share:.1f} ({100 * line.error:.1f})",
            f"{line.errors_above_even:+.1f}",
            points,
        )
    return table


# In the docs -----------------------------------------------------------------------------------------------


def markdown(lines: Sequence[Line]) -> str:
    """Return the table of research/notes/champions.md: a line for each table, a column for each opponent."""
    opponents = list(dict.fromkeys(line.against for line in lines))
    heads = [*("table", "champion", "even, %"), *(f"against `{name}`, %" for name in opponents)]
    rows = [heads, ["---", "---", *["--:"] * (1 + len(opponents))]]
    for table in dict.fromkeys(line.table for line in lines):
        result = {line.against: line for line in lines if line.table == table}
        one = next(iter(result.values()))
        sheet, _, seats = table.partition(" ")
        row = [f"`{sheet}` {seats}", f"`{one.agent}`", f"{100 * one.even:.1f}"]
        shares = [result.get(name) for name in opponents]
        row += [f"{100 * line.share:.1f} ({100 * line.error:.1f})" if line else "" for line in shares]
        rows.append(row)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def lines_of(content: dict[str, Any]) -> list[Line]:
    """Read the lines of the JSON file in the order of all tables, without tables that no longer exist."""
    known = dict.fromkeys(Line.__dataclass_fields__)
    lines = [Line(**{key: one[key] for key in known}) for one in content["lines"]]
    order = all_tables()
    there = [line for line in lines if (line.edition, line.players, line.teams) in order]
    return sorted(there, key=lambda line: order.index((line.edition, line.players, line.teams)))


def write_docs(lines: Sequence[Line], args: Args) -> None:
    """Add the lines to the JSON file, which keeps those of other tables and opponents, and plot all.

    Raises:
        OSError: a file could not be written.
    """
    about = {"deals": args.deals, "seed": args.seed, "environment": environment_info()}
    old = json.loads(JSON_FILE.read_text(encoding="utf-8"))["lines"] if JSON_FILE.exists() else []
    new = {_key(asdict(line)): {**asdict(line), **about} for line in lines}
    content = {"lines": [*new.values(), *(one for one in old if _key(one) not in new)]}
    write_json_atomically(JSON_FILE, content)
    warn(save_picture(PICTURE, lambda: plot(lines_of(content))))


def _key(one: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(one[name] for name in ("edition", "players", "teams", "against"))


def plot(lines: Sequence[Line]) -> Figure:
    """Plot win rates as multiples of an equal agent's, with 95 % intervals, by table and opponent."""
    tables = list(dict.fromkeys(line.table for line in lines))
    figure = new_figure(9.0, 1.4 + 0.3 * len(tables), layout="constrained")
    axes = figure.add_subplot()
    for number, opponent in enumerate(dict.fromkeys(line.against for line in lines)):
        own = [line for line in lines if line.against == opponent]
        axes.errorbar(
            [line.share / line.even for line in own],
            [tables.index(line.table) + 0.24 * number - 0.12 for line in own],
            xerr=[1.96 * line.error / line.even for line in own],
            fmt="o",
            markersize=5,
            color=_COLOURS.get(opponent, "#555555"),
            label=f"against {opponent} in all other teams",
        )
    axes.axvline(1.0, color="#888888", linewidth=1.0)
    axes.set_yticks(range(len(tables)), tables)
    axes.set_ylim(len(tables) - 0.4, -0.6)
    axes.set_xlabel("share of wins, as a multiple of an equal share (95 % intervals)")
    axes.set_title("Champions at every table", fontweight="bold", loc="left")
    axes.grid(axis="x", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


# The command -----------------------------------------------------------------------------------------------


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(_command)


def _command() -> None:
    args = tyro.cli(Args, prog="python -m benchmarks.champions", description=__doc__)
    if args.deals < 2:
        raise ValueError(f"--deals is {args.deals}: an error needs 2 or more")
    if args.docs and (args.turned or args.agent != CHAMPION):
        raise ValueError("--docs is for the champion against others: leave out --turned and --agent")
    tables = tables_named(args.table) or all_tables()
    lines = []
    for table in tables:
        for against in args.against:
            lines.append(measured(table, against, args))
            print(f"{lines[-1].table}, {against}: {100 * lines[-1].share:.1f} %", file=sys.stderr, flush=True)
        if args.docs:
            write_docs(lines, args)
    Console(width=None if sys.stdout.isatty() else PIPED_WIDTH).print(printed(lines))
    weak = [line for line in lines if line.errors_above_even < ENOUGH_ERRORS]
    print(
        f"{len(lines) - len(weak)} of {len(lines)} lie {ENOUGH_ERRORS:.0f} standard errors or more above even"
    )


if __name__ == "__main__":
    sys.exit(main())
