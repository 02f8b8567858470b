"""What an evaluation found: the rows, their intervals, and how they are printed, stored and drawn.

Nothing in this file plays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

from millebornes_env._util.files import new_figure, write_json_atomically
from millebornes_env._util.texts import json_of_file
from millebornes_env._util.versions import versions
from millebornes_env.arena.intervals import FEW_DEALS, NORMAL_QUANTILE, Interval
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.match_config import plural
from millebornes_env.errors import ArenaError, shown
from millebornes_env.games.registry import find_sheet
from millebornes_env.games.registry import game as find_game

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.table import Table

RESULTS_FORMAT: Final = 1

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "float | None": (int, float, NoneType),
}
"""Types that a file may hold for a field of `Row`, by the field's annotation."""
_HEADING_HEIGHT: Final = 0.6  # inches
_BETTER, _WORSE, _NEITHER = "#2f7d4f", "#c8443c", "#5b6b82"


@dataclass(frozen=True)
class Row:
    """One agent against one opponent.

    Attributes:
        agent: its specification.
        opponent: the specification of who plays all the other teams.
        edition: name of the rule sheet.
        players: seats at the table.
        teams: teams at the table; the agent plays one of them, in turn each of them.
        episode: "match", "round", or what the episodes of another game are.
        num_episodes: episodes played, `teams` for each deal.
        num_deals: blocks of episodes with the same cards or dice.
        win_rate: share of the episodes that the agent's team won, 0 to 1; a win that k teams share counts
            1 / k.
        win_rate_low: lower end of its 95 % interval; 0 after a single deal, which tells nothing.
        win_rate_high: upper end; 1 after a single deal.
        points: mean over the episodes of the points of the agent's team less the mean of the other teams'.
        points_low: lower end of its 95 % interval; None after a single deal.
        points_high: upper end.
        mean_decisions: actions that all seats together took, mean over the episodes.
        seconds: wall-clock time of the play; not compared when rows are.
        deals_saved: how many times as many deals the interval of the points would have needed without
            `aivat`; None where luck was not taken off them.
    """

    agent: str
    opponent: str
    edition: str
    players: int
    teams: int
    episode: str
    num_episodes: int
    num_deals: int
    win_rate: float
    win_rate_low: float
    win_rate_high: float
    points: float
    points_low: float | None
    points_high: float | None
    mean_decisions: float
    seconds: float = field(compare=False)
    deals_saved: float | None = None

    @property
    def win_rate_margin(self) -> float:
        """From the win rate to the farther end of its interval, 0 to 1."""
        return max(self.win_rate - self.win_rate_low, self.win_rate_high - self.win_rate)


def save_results(path: Path, rows: Sequence[Row], config: Mapping[str, object]) -> None:
    """Store the rows as JSON, with the configuration, the versions and the time.

    Args:
        path: the file to write; its folder is made if it is missing.
        rows: what was found.
        config: what was asked for, with all defaults filled in.

    Raises:
        OSError: the file could not be written; an older one is as it was.
    """
    content = {
        "format": RESULTS_FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "config": dict(config),
        "interval": f"95 %, {NORMAL_QUANTILE} standard errors of the means of the deals (normal quantile)",
        "versions": versions(),
        "rows": [asdict(row) for row in rows],
    }
    write_json_atomically(path, content)


def load_results(path: Path) -> tuple[list[Row], dict[str, Any]]:
    """Read back what `save_results` stored.

    Args:
        path: the file to read.

    Returns:
        The rows, and everything else that the file holds.

    Raises:
        ArenaError: the file is damaged, or of another format; the message names it and the entry.
        OSError: it cannot be read.
    """
    content = json_of_file(path, ArenaError)
    if content.get("format") != RESULTS_FORMAT:
        raise ArenaError(f"{str(path)!r} has the format {shown(content.get('format'))}, not {RESULTS_FORMAT}")
    rows = content.pop("rows", None)
    if not isinstance(rows, list):
        raise ArenaError(f"{str(path)!r} is damaged: its entry 'rows' is {shown(rows)}; it must be a list")
    return [
        _row_of(row, f"{str(path)!r} is damaged: row {number}") for number, row in enumerate(rows)
    ], content


def _row_of(entries: object, where: str) -> Row:
    if not isinstance(entries, dict):
        raise ArenaError(f"{where} is {shown(entries)}; it must be an object")
    known = {one.name: str(one.type) for one in fields(Row)}
    for name, value in entries.items():
        if name not in known or not isinstance(value, _KINDS[known[name]]) or isinstance(value, bool):
            raise ArenaError(f"{where} has the entry {shown(name)}, {shown(value)}, which no row can have")
    try:
        return Row(**entries)
    except TypeError as error:  # entries are missing
        raise ArenaError(f"{where}: {error}") from None


def describe_table(row: Row) -> str:
    """Edition and table of a row, such as `parker, 4 players in 2 teams`."""
    return table_words(row.edition, row.players, row.teams)


def table_words(edition: str, players: int, teams: int) -> str:
    """An edition and a table, such as `parker, 4 players in 2 teams`."""
    partners = f" in {teams} teams" if teams < players else ""
    return f"{edition}, {players} players{partners}"


def episodes_word(row: Row) -> str:
    """The row's kind of episode in the plural."""
    return plural(row.episode)


def table_of(rows: Sequence[Row]) -> Table:
    """The rows as a table for `rich`, green where the agent is surely better than even, red where worse.

    Args:
        rows: at least one, all of the same table and kind of episode.
    """
    from rich.table import Table  # noqa: PLC0415 - who only wants the rows needs no rich
    from rich.text import Text  # noqa: PLC0415

    first = rows[0]
    table = Table(title=f"{describe_table(first)}, {episodes_word(first)}", title_justify="left")
    table.add_column("agent", overflow="fold")
    table.add_column("in all other teams" if first.teams > 2 else "opponent", overflow="fold")
    points = [f"points per {first.episode}"] if _has_points(first) else []
    for heading in (episodes_word(first), "win rate, %", *points, "decisions", "seconds"):
        table.add_column(heading, justify="right")
    for row in rows:
        lead = Interval(row.points, row.points_low, row.points_high).text("+z,.0f", ends=True)
        table.add_row(
            Text(row.agent),  # Text: a path may hold [brackets]
            Text(row.opponent),
            f"{row.num_episodes:,}",
            Text(_win_rate_cell(row), style={1: "green", -1: "red", 0: ""}[verdict(row)]),
            *([lead] if points else []),
            f"{row.mean_decisions:,.0f}",
            f"{row.seconds:.2f}",
        )
    return table


def _has_points(row: Row) -> bool:
    """Whether the edition counts points."""
    return MatchConfig(row.edition, row.players, row.teams).has_points


def caption(rows: Sequence[Row]) -> str:
    """What a reader must know to judge the table, in a few lines of text."""
    row = rows[0]
    deals = f"{row.num_deals:,} deal{'s' if row.num_deals > 1 else ''}"
    chance = find_game(find_sheet(row.edition).game).chance
    lines = [
        f"± and [low, high]: 95 % intervals over {deals}, each played {row.teams} times with the "
        f"same {chance}, the agent once in each team ({NORMAL_QUANTILE} standard errors, normal quantile)."
    ]
    if row.teams > 2:
        lines.append(f"The agent plays one team, the opponent the {row.teams - 1} others.")
    points = f" Points are those of the agent's team less {_others(row)}." if _has_points(row) else ""
    lines.append(f"Even is {100 / row.teams:.1f} %; {_shared_win(row)}.{points}")
    saved = [one.deals_saved for one in rows if one.deals_saved is not None]
    if saved:
        times = " and ".join(dict.fromkeys(f"{ratio:.1f}" for ratio in (min(saved), max(saved))))
        between = "between " if "and" in times else ""
        lines.append(
            f"Luck was taken off the points: without that, {between}{times} times as many deals would have "
            "been needed for the same intervals."
        )
    if row.num_deals < FEW_DEALS:
        lines.append(
            f"With so few deals (less than {FEW_DEALS}) the intervals are too narrow: play more games."
        )
    return "\n".join(lines)


def _shared_win(row: Row) -> str:
    if row.teams == 2:
        return "a shared win counts 50.0 %"
    return "a win counts 1 / k to each of k teams that share it"


def verdict(row: Row) -> int:
    """1 if the whole interval of the win rate lies above the even share, -1 if below, else 0."""
    even = 1 / row.teams
    return int(row.win_rate_low > even + 1e-12) - int(row.win_rate_high < even - 1e-12)


def draw_win_rates(rows: Sequence[Row], seed: int) -> Figure:
    """Draw the win rates as dots with their intervals, and the even share as a line.

    Args:
        rows: at least one, all of the same agent, table and kind of episode.
        seed: of the deals, for the heading.

    Returns:
        A Matplotlib figure, 8 inches wide.
    """
    row = rows[0]
    longest = max(len(row.opponent) for row in rows)
    width, height = 8.0 + max(0, longest - 24) * 0.075, 1.7 + 0.5 * len(rows)
    figure = new_figure(width, height)
    figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - _HEADING_HEIGHT / height))
    _draw_heading(figure, row, seed)
    axes = figure.add_subplot()
    for place, drawn in enumerate(rows):
        _draw_row(axes, place, drawn)
    _draw_even_line(axes, row.teams)
    axes.set_yticks(range(len(rows)), [f"against {_shown_name(drawn.opponent)}" for drawn in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(*_limits(rows))
    axes.set_xlabel(f"{episodes_word(row)} won, %   (dot: mean, line: 95 % interval)")
    axes.grid(axis="x", color="#e3e6ea", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def _draw_heading(figure: Figure, row: Row, seed: int) -> None:
    """Two lines above all else, from the left edge of the picture."""
    height = figure.get_figheight()
    lines: list[tuple[float, str, dict[str, Any]]] = [
        (0.1, f"How often {_shown_name(row.agent)} wins", {"fontsize": "large", "fontweight": "bold"}),
        (
            0.35,
            f"{describe_table(row)}; n = {row.num_episodes:,} {episodes_word(row)} per opponent; seed {seed}",
            {"color": "#444444"},
        ),
    ]
    for below_top, text, style in lines:
        figure.text(0.012, 1 - below_top / height, text, va="top", **style)


def _draw_row(axes: Axes, place: int, row: Row) -> None:
    colour = {1: _BETTER, -1: _WORSE, 0: _NEITHER}[verdict(row)]
    mean = 100 * row.win_rate
    ends = [100 * row.win_rate_low, 100 * row.win_rate_high]
    axes.plot(ends, [place, place], "|-", color=colour, linewidth=2, markersize=13, markeredgewidth=2)
    axes.plot([mean], [place], "o", color=colour, markersize=6)
    axes.annotate(
        _win_rate_cell(row),
        xy=(1, place),
        xycoords=("axes fraction", "data"),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        color=colour,
    )


def _draw_even_line(axes: Axes, teams: int) -> None:
    even = 100 / teams
    axes.axvline(even, color="#222222", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.annotate(
        f"even, {even:.3g} %",
        xy=(even, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        fontsize="small",
    )


def _limits(rows: Sequence[Row]) -> tuple[float, float]:
    """The ends of the percentage axis: room for all intervals and the even line, little beyond 0 and 100."""
    ends = [100 / rows[0].teams]
    for row in rows:
        ends += [100 * row.win_rate_low, 100 * row.win_rate_high]
    margin = max(5.0, 0.12 * (max(ends) - min(ends)))
    return max(min(ends) - margin, -2.5), min(max(ends) + margin, 102.5)


def _win_rate_cell(row: Row) -> str:
    return Interval(row.win_rate, row.win_rate_low, row.win_rate_high).text(".1f", 100, ends=True)


def _others(row: Row) -> str:
    return "the mean of the other teams'" if row.teams > 2 else "the other's"


def _shown_name(spec: str) -> str:
    """A specification as Matplotlib may show it: a dollar sign would begin a formula."""
    return spec.replace("$", r"\$")
