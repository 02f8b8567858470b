"""The report of a tournament: tables for the terminal and for Markdown, notes, and JSON.

Every table is a `Grid` of texts, which `rich_table` and `markdown_table` format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env._util.files import save_picture, write_json_atomically, write_text_atomically
from millebornes_env._util.versions import versions
from millebornes_env.arena.analysis import Analysis
from millebornes_env.arena.estimates import Payoff, VarianceReduction
from millebornes_env.arena.intervals import FEW_DEALS, Interval
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.outcome import Lineup
from millebornes_env.arena.pictures import draw_payoff, draw_ratings, payoff_title
from millebornes_env.arena.tournament import Tournament

if TYPE_CHECKING:
    from rich.table import Table

REPORT_FORMAT: Final = 2

UNDEFINED: Final = "-"
"""Content of a cell without a value."""

_DIFFERS: Final = 0.2
"""Spread, as a fraction of the greatest value, from which on a terminal shows a statistic."""

_MOST_CYCLES: Final = 5  # that a sentence names
_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>|])")


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        title: title of the table.
        headings: headings of the columns.
        rows: cells, which may have several lines.
        num_names: number of columns with texts, at the left; the others are numbers, aligned to the right.
    """

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    num_names: int = 1


# Tables ---------------------------------------------------------------------------------------------------


def ratings_grid(analysis: Analysis) -> Grid:
    """Return the agents from the best to the worst, with ratings, and points and wins against the field."""
    order = analysis.ratings.order()
    columns = {
        "": [str(order.index(agent) + 1) for agent in range(len(order))],
        "agent": analysis.names,
        "Elo": [f"{elo:+z,.0f}" for elo in analysis.ratings.elo],
        "95 % interval": [
            f"{_number(low, '+z,.0f')} to {_number(high, '+z,.0f')}"
            for low, high in zip(analysis.ratings.low, analysis.ratings.high, strict=True)
        ],
        "points per round": [_text(total.points, "+z,.1f") for total in analysis.totals],
        f"{analysis.episodes} won, %": [_text(total.wins, ".1f", 100) for total in analysis.totals],
        "deals": [f"{total.deals:,}" for total in analysis.totals],
        analysis.rounds: [f"{total.rounds:,}" for total in analysis.totals],
    }
    if not has_points(analysis):
        del columns["points per round"]
    if analysis.alpha.masses is not None:
        columns["alpha-rank, %"] = [f"{100 * mass:.1f}" for mass in analysis.alpha.masses]
    rows = [tuple(column[agent] for column in columns.values()) for agent in order]
    what = "points and wins" if has_points(analysis) else "wins"
    return Grid(f"Ratings; {what} against the field", tuple(columns), rows, num_names=2)


def has_points(analysis: Analysis) -> bool:
    """Return True if the edition counts points."""
    return analysis.payoff.measure == "points"


def payoff_grid(analysis: Analysis) -> Grid:
    """Return the points per round (or wins) of each row against each column, with half-widths below."""
    order = analysis.ratings.order()
    rows = []
    for rank, row in enumerate(order, 1):
        cells = [_payoff_cell(analysis.payoff, row, column) for column in order]
        rows.append((str(rank), analysis.names[row], *cells))
    headings = ("", "agent", *(str(rank + 1) for rank in range(len(order))))
    return Grid(payoff_title(analysis.payoff.measure, analysis.episodes), headings, rows, num_names=2)


def behaviour_grid(analysis: Analysis, only_differing: bool = False) -> Grid:
    """Return a row for each statistic that is not 0 or undefined for all, and a column for each agent.

    Args:
        analysis: analysis of the tournament.
        only_differing: leave out statistics that are nearly the same for all.
    """
    order = analysis.ratings.order()
    rows = []
    for statistic in analysis.statistics:
        values = [analysis.behaviour[agent][statistic.key] for agent in order]
        if any(values) and (_differ(values) or not only_differing):
            cells = (_number(value, _form(value)) for value in values)
            rows.append((statistic.heading, statistic.unit, *cells))
    headings = ("statistic", "unit", *(analysis.names[agent] for agent in order))
    title = (
        f"Behaviour, where it differs by {100 * _DIFFERS:.0f} % or more" if only_differing else "Behaviour"
    )
    return Grid(title, headings, rows, num_names=2)


def _differ(values: Sequence[float | None]) -> bool:
    """Return True if the values differ by a fifth of the greatest or more, or only some are defined."""
    known = [value for value in values if value is not None]
    spread = max(known) - min(known)
    return len(known) < len(values) or spread >= _DIFFERS * max(map(abs, known))


def grids(analysis: Analysis, brief: bool = False) -> list[Grid]:
    """Return all tables of a report; `brief` leaves out statistics that hardly differ."""
    return [ratings_grid(analysis), payoff_grid(analysis), behaviour_grid(analysis, brief)]


def rich_table(grid: Grid) -> Table:
    """Return the grid as a table for `rich`."""
    from rich.table import Table  # noqa: PLC0415 - not needed for Markdown
    from rich.text import Text  # noqa: PLC0415

    table = Table(title=grid.title, title_justify="left")
    for column, heading in enumerate(grid.headings):
        justify = "left" if column < grid.num_names else "right"
        table.add_column(Text(heading), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in grid.rows:
        table.add_row(*(Text(cell) for cell in row))  # Text: a name may hold [brackets]
    return table


def markdown_table(grid: Grid) -> str:
    """Return the grid as a Markdown table, without its title."""
    aligned = ["---" if column < grid.num_names else "--:" for column in range(len(grid.headings))]
    lines = [grid.headings, aligned, *grid.rows]
    cells = [[cell if line is aligned else _escaped(cell) for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells) + "\n"


def markdown(analysis: Analysis) -> str:
    """Return all tables with headings, and the notes as a list."""
    parts = [f"## {grid.title}\n\n{markdown_table(grid)}" for grid in grids(analysis)]
    listed = "".join(f"- {_escaped(note)}\n" for note in notes(analysis))
    return "\n".join([*parts, f"## Notes\n\n{listed}"])


# Sentences ------------------------------------------------------------------------------------------------


def notes(analysis: Analysis) -> list[str]:
    """Return notes on the tables, of a sentence or two each."""
    points = "Points are those of the agent's team less the mean of the others'; " * has_points(analysis)
    listed = [
        f"{points}± and intervals are 95 %, over deals. Those of the ratings include the uncertainty of the "
        "zero.",
    ]
    if not analysis.plain:
        listed.append(
            _reduction_sentence(
                list(analysis.variance_reductions.values()),
                "Duplicate deals, measured: plain deals would have needed {} times as many episodes for the "
                "same precision",
            )
        )
    if analysis.luck_reductions:
        listed.append(luck_sentence(list(analysis.luck_reductions.values())))
    faults = [
        f"Not played: {' - '.join(_lineup_names(analysis.names, lineup))}: {fault}"
        for lineup, fault in analysis.faults
    ]
    return [*listed, cycle_sentence(analysis), analysis.alpha.note + ".", *_warnings(analysis), *faults]


def luck_sentence(reductions: Sequence[VarianceReduction]) -> str:
    """Return a sentence on the variance reduction by AIVAT, on top of duplicate deals."""
    return _reduction_sentence(
        reductions,
        "Luck was subtracted from the points, measured: without AIVAT {} times as many deals would have been "
        "needed",
    )


def cycle_sentence(analysis: Analysis) -> str:
    """Return a sentence on agents that beat each other in a cycle."""
    if not analysis.cycles:
        return "No significant cycles."
    named = [" > ".join(analysis.names[agent] for agent in (*cycle, cycle[0])) for cycle in analysis.cycles]
    more = f" and {len(named) - _MOST_CYCLES} more" if len(named) > _MOST_CYCLES else ""
    return f"Significant cycles, which a rating cannot show: {'; '.join(named[:_MOST_CYCLES])}{more}."


def _reduction_sentence(reductions: Sequence[VarianceReduction], sentence: str) -> str:
    ratios = [one.ratio for one in reductions if one.ratio is not None]
    undefined = len(reductions) - len(ratios)
    if not ratios:
        why = sorted({one.note for one in reductions if one.note}) or ["nothing was played"]
        return f"Variance reduction is undefined: {'; '.join(why)}."
    times = f"{median(ratios):.2f}"
    if len(ratios) > 1:
        times += f" (median of {len(ratios)} lineups, from {min(ratios):.2f} to {max(ratios):.2f})"
    left_out = f"; undefined for {undefined} more" if undefined else ""
    return sentence.format(times) + left_out + "."


def _warnings(analysis: Analysis) -> list[str]:
    """Return warnings: few deals, separate groups, and ratings without a lower or upper end."""
    warnings = []
    deals = analysis.payoff.deals[analysis.payoff.deals > 0]
    if len(deals) and deals.min() < FEW_DEALS:
        warnings.append(f"Intervals of fewer than {FEW_DEALS} deals are too narrow: play more.")
    if (groups := analysis.ratings.num_groups) > 1:
        message = f"The agents fall into {groups} groups that never met: compare ratings within a group."
        warnings.append(message)
    low, high = np.isnan(analysis.ratings.low), np.isnan(analysis.ratings.high)
    cases = (
        (low & high, "bounds", "played no game that tells"),
        (low & ~high, "lower bound", "lost every game that tells"),
        (high & ~low, "upper bound", "won every game that tells"),
    )
    for agents, end, why in cases:
        named = [analysis.names[agent] for agent in np.flatnonzero(agents)]
        if len(named) == 1:
            warnings.append(f"{named[0]} has no {end}: it {why}.")
        elif named:
            warnings.append(f"{', '.join(named)} have no {end}: they {why} against the others.")
    return warnings


# JSON -----------------------------------------------------------------------------------------------------


def to_json(analysis: Analysis) -> dict[str, Any]:
    """Return the analysis as JSON values; undefined values are None, never NaN."""
    content = {
        "agents": analysis.names,
        "payoff": asdict(analysis.payoff),
        "totals": [
            {**asdict(total), "points": _ends(total.points), "wins": _ends(total.wins)}
            for total in analysis.totals
        ],
        "ratings": {**asdict(analysis.ratings), "order": analysis.ratings.order()},
        "alpha_rank": asdict(analysis.alpha),
        "cycles": analysis.cycles,
        "statistics": {one.key: {"heading": one.heading, "unit": one.unit} for one in analysis.statistics},
        "behaviour": dict(zip(analysis.names, analysis.behaviour, strict=True)),
        "variance_reductions": _by_lineup(analysis.names, analysis.variance_reductions),
        "luck_reductions": _by_lineup(analysis.names, analysis.luck_reductions),
        "faults": [
            {"lineup": _lineup_names(analysis.names, lineup), "fault": fault}
            for lineup, fault in analysis.faults
        ],
        "notes": notes(analysis),
    }
    plain: dict[str, Any] = _plain(content)
    return plain


def _by_lineup(names: Sequence[str], reductions: Mapping[Lineup, VarianceReduction]) -> list[dict[str, Any]]:
    return [{"lineup": _lineup_names(names, lineup), **asdict(one)} for lineup, one in reductions.items()]


def _plain(value: Any) -> Any:
    """Convert arrays and tuples to lists, NumPy numbers to Python's, NaN and infinity to None."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _ends(interval: Interval | None) -> dict[str, float | None]:
    return interval._asdict() if interval is not None else dict.fromkeys(Interval._fields)


# Texts ----------------------------------------------------------------------------------------------------


def _lineup_names(names: Sequence[str], lineup: Lineup) -> list[str]:
    return [names[agent] for agent in lineup]


def _payoff_cell(payoff: Payoff, row: int, column: int) -> str:
    if payoff.measure == "points":
        value, form = float(payoff.points[row, column]), "+z,.0f"
    else:
        value, form = 100 * float(payoff.wins[row, column]), ".1f"
    half = float(payoff.lead_half[row, column]) * (1 if payoff.measure == "points" else 100)
    if math.isnan(value):
        return UNDEFINED
    return f"{value:{form}}" + ("" if math.isnan(half) else f"\n± {half:{_form(half)}}")


def _number(value: float | None, form: str) -> str:
    return UNDEFINED if value is None or math.isnan(value) else f"{value:{form}}"


def _form(value: float | None) -> str:
    """Return a format with three digits or more for a number of any size."""
    size = 0.0 if value is None else abs(value)
    return "z,.0f" if size >= 99.5 else "z.1f" if size >= 9.95 else "z.2f"


def _text(interval: Interval | None, form: str, scale: float = 1.0) -> str:
    return UNDEFINED if interval is None else interval.text(form, scale)


def _escaped(cell: str) -> str:
    """Escape a text for Markdown."""
    return _MARKDOWN.sub(r"\\\1", cell).replace("\n", "<br>")


# Files --------------------------------------------------------------------------------------------------


def table_name(config: MatchConfig) -> str:
    """Return a name such as "Parker Brothers and Winning Moves USA, 4 players in 2 teams, matches"."""
    sheet = config.sheets
    changed = f" ({sheet.label})" if sheet.label != sheet.name else ""
    title = getattr(sheet, "title", sheet.name) + changed  # not all games' sheets have titles
    return f"{config.described(title)}, {config.episodes}"


def save_report(
    tournament: Tournament, analysis: Analysis, folder: Path, config: Mapping[str, Any]
) -> tuple[list[Path], list[str]]:
    """Write the report as JSON and Markdown, with two pictures.

    Args:
        tournament: the tournament.
        analysis: its analysis.
        folder: folder to write to.
        config: configuration, with all defaults filled in.

    Returns:
        The files written, and a warning for each picture that could not be drawn or written.

    Raises:
        OSError: the JSON or Markdown file could not be written; an older one is unchanged.
    """
    content = {
        "format": REPORT_FORMAT,
        "started": tournament.started,
        "config": dict(config),
        "entrants": [asdict(entrant) for entrant in tournament.entrants],
        "versions": versions(),
        **to_json(analysis),
    }
    table = table_name(tournament.config.match)
    files = [folder / name for name in ("arena.json", "report.md", "payoff.png", "ratings.png")]
    write_json_atomically(files[0], content)
    matrix = payoff_title(analysis.payoff.measure, analysis.episodes)
    pictures = f"![Ratings with intervals](ratings.png)\n\n![{matrix}](payoff.png)\n"
    write_text_atomically(files[1], f"# {table}\n\n{pictures}\n{markdown(analysis)}")
    order = analysis.ratings.order()
    names, payoff, episodes = analysis.names, analysis.payoff, analysis.episodes
    problems = [
        save_picture(files[2], lambda: draw_payoff(names, payoff, order, table, episodes)),
        save_picture(files[3], lambda: draw_ratings(names, analysis.ratings, table)),
    ]
    drawn = [file for file, problem in zip(files[2:], problems, strict=True) if not problem]
    return files[:2] + drawn, [problem for problem in problems if problem]
