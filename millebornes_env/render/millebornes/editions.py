"""The editions beside each other, as tables that a person can read (Markdown, aligned)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

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
"""The chapters of the comparison, each with the first field of `Rules` that it is about."""

_POINTS: Final = Rules._fields[Rules._fields.index("points_per_safety") :]
"""The fields that mean nothing where no points are counted."""

LEGEND: Final = (
    "A table is named by its players, and its teams if they are fewer: 6:3 is 6 players in 3 teams."
)


def fields_of(chapter: str) -> tuple[str, ...]:
    """The fields of `Rules` that a chapter of the comparison is about, in their order."""
    starts = [Rules._fields.index(first) for first in CHAPTERS.values()]
    place = list(CHAPTERS).index(chapter)
    end = starts[place + 1] if place + 1 < len(starts) else len(Rules._fields)
    return Rules._fields[starts[place] : end]


def value_name(field: str, value: int) -> str:
    """Return the name of a value: "yes", "play out", "700"."""
    choices = FIELDS[field].choices
    return choices[value].replace("_", " ") if choices else str(value)


def table_name(players: int, teams: int) -> str:
    """A short name of a table: "4" where each plays alone, "4:2" where 4 play in 2 teams."""
    return str(players) if players == teams else f"{players}:{teams}"


def cell(sheet: Edition, field: str) -> str:
    """The value of a rule; where tables differ, each value with its tables; "-" where it does not arise."""
    if field in _POINTS and not any(sheet.table(*table).count_points for table in sheet.tables):
        return "-"
    tables_by_value: dict[int, list[str]] = {}
    for players, teams in sheet.tables:
        value = getattr(sheet.table(players, teams), field)
        tables_by_value.setdefault(value, []).append(table_name(players, teams))
    if len(tables_by_value) == 1:
        return value_name(field, next(iter(tables_by_value)))
    return "; ".join(
        f"{value_name(field, value)} ({', '.join(tables)})" for value, tables in tables_by_value.items()
    )


def tables_row(sheets: Sequence[Edition]) -> Row:
    """The tables that each edition has."""
    return [
        "players:teams",
        *(", ".join(table_name(*table) for table in sheet.tables) for sheet in sheets),
    ]


def agreement(chapter: str, sheets: Sequence[Edition]) -> tuple[list[str], dict[str, str]]:
    """In which rules of a chapter the editions differ, and the common value of the others.

    Args:
        chapter: one of `CHAPTERS`.
        sheets: the editions; of one alone all rules are in the first list.

    Returns:
        The fields of `Rules` in which they differ, and the others with what they have in common.
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
    """The editions beside each other, chapter by chapter.

    Args:
        names: which editions (see `edition`); None for all.

    Returns:
        Markdown, without a newline at the end.
    """
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
    """One edition, rule by rule, with the source of each.

    Returns:
        Markdown, without a newline at the end.
    """
    lines = [
        f"{sheet.label}: {sheet.title}",
        "",
        *wrapped(f"{sheet.summary} {LEGEND}"),
        "",
        *markdown([["rule", "", "value", "source"], *_rules_of(sheet)]),
    ]
    return "\n".join(lines)


def _rules_of(sheet: Edition) -> Iterable[Row]:
    tables = ", ".join(table_name(*table) for table in sheet.tables)
    yield [" ".join(TABLE_FIELDS), "players, and teams", tables, sheet.sources["players"]]
    for name in Rules._fields:
        if name not in TABLE_FIELDS:
            source = "overridden" if name in sheet.changes else sheet.sources[name]
            yield [name, FIELDS[name].question, cell(sheet, name), source]
