"""A tournament as people and programs read it: tables for the terminal and for Markdown, sentences, JSON.

Every table is made once, as a grid of texts, and then shown in either way.
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
from millebornes_env.arena.results import table_words
from millebornes_env.arena.tournament import Tournament
from millebornes_env.games.registry import find_sheet

if TYPE_CHECKING:
    from rich.table import Table

REPORT_FORMAT: Final = 2

UNDEFINED: Final = "-"
"""In a cell without a value."""

_DIFFERS: Final = 0.2
"""So much of the greatest value (a share of it) agents must differ by for a terminal to show it."""

_MOST_CYCLES: Final = 5  # that a sentence names
_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>|])")


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        title: above it.
        headings: of the columns.
        rows: texts, which may have several lines.
        num_names: so many columns on the left are texts; the others are numbers, to the right.
    """

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    num_names: int = 1


# Tables ---------------------------------------------------------------------------------------------------


def ratings_grid(analysis: Analysis) -> Grid:
    """The agents from the best to the worst: ratings, points (if counted) and wins against the field."""
    columns = {
        "": _places(analysis),
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
    rows = [tuple(column[agent] for column in columns.values()) for agent in analysis.ratings.order()]
    what = "points and wins" if has_points(analysis) else "wins"
    return Grid(f"Ratings; {what} against the field", tuple(columns), rows, num_names=2)


def has_points(analysis: Analysis) -> bool:
    """Whether points were counted."""
    return analysis.payoff.measure == "points"


def _places(analysis: Analysis) -> list[str]:
    """The place of each agent, from 1."""
    order = analysis.ratings.order()
    return [str(order.index(agent) + 1) for agent in range(len(order))]


def payoff_grid(analysis: Analysis) -> Grid:
    """Points per round (or episodes won) of each row against each column, half of the 95 % interval below."""
    order = analysis.ratings.order()
    rows = []
    for place, row in enumerate(order):
        cells = [_payoff_cell(analysis.payoff, row, column) for column in order]
        rows.append((str(place + 1), analysis.names[row], *cells))
    headings = ("", "agent", *(str(place + 1) for place in range(len(order))))
    return Grid(payoff_title(analysis.payoff.measure, analysis.episodes), headings, rows, num_names=2)


def behaviour_grid(analysis: Analysis, only_differing: bool = False) -> Grid:
    """A row for each statistic (but those 0 or undefined for all), a column for each agent.

    Args:
        analysis: what was found.
        only_differing: leave out what is much the same for all, which leaves the eye the rest.
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
    """Whether the least is less than the greatest by a fifth of it or more, or only some are defined."""
    known = [value for value in values if value is not None]
    spread = max(known) - min(known)
    return len(known) < len(values) or spread >= _DIFFERS * max(map(abs, known))


def grids(analysis: Analysis, brief: bool = False) -> list[Grid]:
    """All tables, in the order of a report.

    Args:
        analysis: what was found.
        brief: for a terminal: of the behaviour only what differs.
    """
    return [ratings_grid(analysis), payoff_grid(analysis), behaviour_grid(analysis, brief)]


def rich_table(grid: Grid) -> Table:
    """The grid as a table for `rich`."""
    from rich.table import Table  # noqa: PLC0415 - who only wants Markdown needs no rich
    from rich.text import Text  # noqa: PLC0415

    table = Table(title=grid.title, title_justify="left")
    for place, heading in enumerate(grid.headings):
        justify = "left" if place < grid.num_names else "right"
        table.add_column(Text(heading), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in grid.rows:
        table.add_row(*(Text(cell) for cell in row))  # Text: a name may hold [brackets]
    return table


def markdown_table(grid: Grid) -> str:
    """The grid as a Markdown table, without its title."""
    aligned = ["---" if place < grid.num_names else "--:" for place in range(len(grid.headings))]
    lines = [grid.headings, aligned, *grid.rows]
    cells = [[cell if line is aligned else _escaped(cell) for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells) + "\n"


def markdown(analysis: Analysis, level: int = 2) -> str:
    """All tables under headings, and the notes as a list.

    Args:
        analysis: what was found.
        level: of the headings, 1 to 6.
    """
    parts = [f"{'#' * level} {grid.title}\n\n{markdown_table(grid)}" for grid in grids(analysis)]
    listed = "".join(f"- {_escaped(note)}\n" for note in notes(analysis))
    return "\n".join([*parts, f"{'#' * level} Notes\n\n{listed}"])


# Sentences ------------------------------------------------------------------------------------------------


def notes(analysis: Analysis) -> list[str]:
    """What a reader must know to judge the tables, a sentence or two each."""
    points = "Points are those of the agent's team less the mean of the others'; " * has_points(analysis)
    found = [
        f"{points}± and intervals are 95 %, over deals. Those of the ratings hold the uncertainty of their "
        "zero too.",
        variance_reduction_sentence(analysis.variance_reductions),
    ]
    if analysis.luck_reductions:
        found.append(luck_sentence(list(analysis.luck_reductions.values())))
    found.append(cycle_sentence(analysis))
    found.append(analysis.alpha.note + ".")
    return found + _warnings(analysis) + fault_lines(analysis)


def variance_reduction_sentence(reductions: Mapping[Lineup, VarianceReduction]) -> str:
    """What duplicate deals saved, measured: the median and the extremes over the lineups."""
    return _reduction_sentence(
        list(reductions.values()),
        "Duplicate deals, measured: plain deals would have needed {} times as many episodes for the same "
        "precision",
    )


def luck_sentence(reductions: Sequence[VarianceReduction]) -> str:
    """What the correction for luck saved on top of duplicate deals."""
    return _reduction_sentence(
        reductions,
        "Luck was taken off the points, measured: without it {} times as many deals would have been needed",
    )


def cycle_sentence(analysis: Analysis) -> str:
    """Which agents beat each other around a circle."""
    if not analysis.cycles:
        return "No significant cycles."
    named = [" > ".join(analysis.names[agent] for agent in (*cycle, cycle[0])) for cycle in analysis.cycles]
    more = f" and {len(named) - _MOST_CYCLES} more" if len(named) > _MOST_CYCLES else ""
    return f"Significant cycles, which a rating cannot show: {'; '.join(named[:_MOST_CYCLES])}{more}."


def fault_lines(analysis: Analysis) -> list[str]:
    """One line for each lineup that could not be played to the end."""
    return [
        f"Not played: {_lineup_name(analysis.names, lineup)}: {fault}" for lineup, fault in analysis.faults
    ]


def _reduction_sentence(reductions: Sequence[VarianceReduction], sentence: str) -> str:
    ratios = [found.ratio for found in reductions if found.ratio is not None]
    undefined = len(reductions) - len(ratios)
    if not ratios:
        why = sorted({found.note for found in reductions if found.note}) or ["nothing was played"]
        return f"Variance reduction is undefined: {'; '.join(why)}."
    times = f"{median(ratios):.2f}"
    if len(ratios) > 1:
        times += f" (median of {len(ratios)} lineups, from {min(ratios):.2f} to {max(ratios):.2f})"
    left_out = f"; undefined for {undefined} more" if undefined else ""
    return sentence.format(times) + left_out + "."


def _warnings(analysis: Analysis) -> list[str]:
    """What makes some of the figures worth less than they look."""
    found = []
    deals = analysis.payoff.deals[analysis.payoff.deals > 0]
    if len(deals) and deals.min() < FEW_DEALS:
        found.append(f"Intervals of fewer than {FEW_DEALS} deals are too narrow: play more.")
    rated = analysis.ratings
    if rated.num_groups > 1:
        found.append(
            f"The agents fall into {rated.num_groups} groups that never met: compare ratings within a group."
        )
    found += _missing_ends(analysis)
    return found


def _missing_ends(analysis: Analysis) -> list[str]:
    """Which ratings have no lower or upper end, and why."""
    low, high = np.isnan(analysis.ratings.low), np.isnan(analysis.ratings.high)
    cases = (
        (low & high, "bounds", "played no game that tells"),
        (low & ~high, "lower bound", "lost every game"),
        (high & ~low, "upper bound", "won every game"),
    )
    found = []
    for agents, end, why in cases:
        named = [analysis.names[agent] for agent in np.flatnonzero(agents)]
        if len(named) == 1:
            found.append(f"{named[0]} has no {end}: it {why}.")
        elif named:
            found.append(f"{', '.join(named)} have no {end}: they {why} against the others.")
    return found


# JSON -----------------------------------------------------------------------------------------------------


def to_json(analysis: Analysis) -> dict[str, Any]:
    """Everything as JSON can hold it.

    Args:
        analysis: what was found.

    Returns:
        Dicts, lists, texts and numbers; None where a value is undefined, never NaN.
    """
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
    return [{"lineup": _lineup_names(names, lineup), **asdict(found)} for lineup, found in reductions.items()]


def _plain(value: Any) -> Any:
    """Arrays and tuples as lists, NumPy's numbers as Python's, NaN and infinity as None."""
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


def _lineup_name(names: Sequence[str], lineup: Lineup) -> str:
    return " - ".join(_lineup_names(names, lineup))


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
    """Three digits or more for a number of any size."""
    size = 0.0 if value is None else abs(value)
    return "z,.0f" if size >= 99.5 else "z.1f" if size >= 9.95 else "z.2f"


def _text(interval: Interval | None, form: str, scale: float = 1.0) -> str:
    return UNDEFINED if interval is None else interval.text(form, scale)


def _escaped(cell: str) -> str:
    """A text that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\1", cell).replace("\n", "<br>")


# Files --------------------------------------------------------------------------------------------------


def table_name(config: MatchConfig) -> str:
    """Such as "Parker Brothers and Winning Moves USA, 4 players in 2 teams, matches"; overrides are named."""
    sheet = find_sheet(config.edition)
    changed = f" ({sheet.label})" if sheet.label != sheet.name else ""
    title = getattr(sheet, "title", sheet.name) + changed  # not all games' sheets have titles
    return f"{table_words(title, config.players, config.rules.teams)}, {config.episodes}"


def save_report(
    tournament: Tournament, analysis: Analysis, folder: Path, config: Mapping[str, Any]
) -> tuple[list[Path], list[str]]:
    """Write everything as JSON and Markdown, and the two pictures.

    Args:
        tournament: that was played.
        analysis: of it.
        folder: to write to.
        config: what was asked for, with all defaults filled in.

    Returns:
        The files that were written, and a warning for each picture that could not be drawn or written.

    Raises:
        OSError: another file could not be written; an older one is as it was.
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
