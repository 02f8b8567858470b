"""Descriptions and comparison of editions, as aligned Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from millebornes_env.errors import EditionError
from millebornes_env.games.millebornes.editions import Edition, edition, editions
from millebornes_env.games.millebornes.rules import FIELDS, TABLE_FIELDS, Rules
from millebornes_env.render.tables import Row, markdown, wrapped

CHAPTERS: Final = {
    "Tables": "hand_limit",
    "Deck": "copies_of_25",
    "The trip": "target",
    "Moving": "start_needs_roll",
    "Attacking": "hazard_opens_pile",
    "Discarding": "discard_only_if_stuck",
    "The empty draw pile": "when_pile_is_empty",
    "Scoring": "count_points",
}
"""The chapters of the comparison, each with its first field of `Rules`."""

_POINTS: Final = Rules._fields[Rules._fields.index("points_per_safety") :]
"""The fields without meaning where no points are counted."""

LEGEND: Final = (
    "A table is named by its players, and its teams if they are fewer: 6:3 is 6 players in 3 teams."
)


def fields_of(chapter: str) -> tuple[str, ...]:
    """Return the fields of `Rules` in a chapter of the comparison, in order."""
    starts = [*(Rules._fields.index(first) for first in CHAPTERS.values()), len(Rules._fields)]
    number = list(CHAPTERS).index(chapter)
    return Rules._fields[starts[number] : starts[number + 1]]


def value_name(field: str, value: int) -> str:
    """Return the name of a value: "yes", "play out", "700"."""
    choices = FIELDS[field].choices
    return choices[value].replace("_", " ") if choices else str(value)


def table_name(players: int, teams: int) -> str:
    """Return the short name of a table: "4" if each plays alone, "4:2" for 4 players in 2 teams."""
    return str(players) if players == teams else f"{players}:{teams}"


def tables_of(sheet: Edition) -> dict[tuple[int, int], Rules]:
    """Return the rules of each table, except for tables at which the overridden rules are impossible."""
    tables = {}
    for table in sheet.tables:
        with suppress(EditionError):
            tables[table] = sheet.table(*table)
    return tables


def cell(sheet: Edition, field: str) -> str:
    """Return the value of a rule; each value with its tables if they differ; "-" if it has no meaning."""
    tables = tables_of(sheet)
    if field in _POINTS and not any(rules.count_points for rules in tables.values()):
        return "-"
    tables_by_value: dict[int, list[str]] = {}
    for table, rules in tables.items():
        tables_by_value.setdefault(getattr(rules, field), []).append(table_name(*table))
    if len(tables_by_value) == 1:
        return value_name(field, next(iter(tables_by_value)))
    return "; ".join(
        f"{value_name(field, value)} ({', '.join(names)})" for value, names in tables_by_value.items()
    )


def tables_row(sheets: Sequence[Edition]) -> Row:
    """Return the row with the tables of each edition."""
    return [
        "players:teams",
        *(", ".join(table_name(*table) for table in tables_of(sheet)) for sheet in sheets),
    ]


def agreement(chapter: str, sheets: Sequence[Edition]) -> tuple[list[str], dict[str, str]]:
    """Split the rules of a chapter into those in which editions differ and those in which they agree.

    Args:
        chapter: one of `CHAPTERS`.
        sheets: the editions; if there is only one, all rules are in the first list.

    Returns:
        The fields of `Rules` in which they differ, and the common values of the others.
    """
    different, same = [], {}
    for field in fields_of(chapter):
        values = {cell(sheet, field) for sheet in sheets} - {"-"}
        if len(values) == 1 and len(sheets) > 1:
            same[field] = values.pop()
        else:
            different.append(field)
    return different, same


def comparison(names: Iterable[str] | None = None) -> str:
    """Compare editions (None: all), chapter by chapter, in Markdown."""
    sheets = [edition(name) for name in (editions() if names is None else names)]
    lines: list[str] = []
    for sheet in sheets:
        lines += wrapped(f"{sheet.label}: {sheet.title}. {sheet.summary}")
    lines += ["", *wrapped(LEGEND)]
    for chapter in CHAPTERS:
        different, same = agreement(chapter, sheets)
        rows = [tables_row(sheets)] if chapter == "Tables" else []
        rows += [[field, *(cell(sheet, field) for sheet in sheets)] for field in different]
        lines += ["", chapter, ""]
        if rows:
            lines += markdown([["", *(sheet.label for sheet in sheets)], *rows])
        if same:
            common = ", ".join(f"{field} {value}" for field, value in same.items())
            lines += [*([""] if rows else []), *wrapped(f"In all: {common}.")]
    return "\n".join(lines)


def description(sheet: Edition) -> str:
    """Describe one edition, rule by rule, with sources, in Markdown."""
    lines = [
        f"{sheet.label}: {sheet.title}",
        "",
        *wrapped(f"{sheet.summary} {LEGEND}"),
        "",
        *markdown([["rule", "", "value", "source"], *_rules_of(sheet)]),
    ]
    return "\n".join(lines)


def _rules_of(sheet: Edition) -> Iterable[Row]:
    tables = ", ".join(table_name(*table) for table in tables_of(sheet))
    yield [" ".join(TABLE_FIELDS), "players, and teams", tables, sheet.sources["players"]]
    for name in Rules._fields:
        if name not in TABLE_FIELDS:
            source = "overridden" if name in sheet.changes else sheet.sources[name]
            yield [name, FIELDS[name].question, cell(sheet, name), source]
