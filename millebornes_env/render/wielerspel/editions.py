"""Descriptions and comparison of the race's boards, as aligned Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable

from millebornes_env.games.wielerspel.editions import OVERRIDABLE, Edition, edition, editions
from millebornes_env.games.wielerspel.rules import FIELDS
from millebornes_env.render.tables import Row, markdown, wrapped
from millebornes_env.render.wielerspel.facts import name_of_kind


def description(sheet: Edition) -> str:
    """Describe one board: every number, square and chance card, with sources, in Markdown."""
    numbers = [
        [name, FIELDS[name].question, _value(sheet, name), _source(sheet, name)] for name in OVERRIDABLE
    ]
    players = ["players", "seats; each is a team of its own", _players(sheet), sheet.sources["players"]]
    return "\n".join(
        [
            f"{sheet.label}: {sheet.title}",
            "",
            *wrapped(sheet.summary),
            "",
            *markdown([["rule", "", "value", "source"], players, *numbers]),
            "",
            "The outer track",
            "",
            *markdown([["square", "kind", "number", "road", "source"], *_board(sheet)]),
            "",
            "The chance cards",
            "",
            *markdown([["card", "number", "copies", "source"], *_deck(sheet)]),
        ]
    )


def comparison(names: Iterable[str] | None = None) -> str:
    """Compare boards (None: all), their numbers and the counts of kinds of squares and cards, in Markdown."""
    sheets = [edition(name) for name in (editions() if names is None else names)]
    lines = [line for sheet in sheets for line in wrapped(f"{sheet.label}: {sheet.title}. {sheet.summary}")]
    rows = [["", *(sheet.label for sheet in sheets)], ["players", *map(_players, sheets)]]
    rows += [[name, *(_value(sheet, name) for sheet in sheets)] for name in OVERRIDABLE]
    counts = [_counts(sheet) for sheet in sheets]
    for name in dict.fromkeys(name for result in counts for name in result):
        rows.append([name, *(str(result.get(name, 0)) for result in counts)])
    return "\n".join([*lines, "", *markdown(rows)])


def _players(sheet: Edition) -> str:
    return f"{sheet.players[0]} to {sheet.players[-1]}"


def _value(sheet: Edition, name: str) -> str:
    """Return the name of a rule's value: "60", "no"."""
    value = getattr(sheet.table(sheet.players[0]), name)
    choices = FIELDS[name].choices
    return choices[value] if choices else str(value)


def _source(sheet: Edition, name: str) -> str:
    return "overridden" if name in sheet.changes else sheet.sources[name]


def _number(number: int) -> str:
    return str(number) if number else ""


def _board(sheet: Edition) -> Iterable[Row]:
    for number, (square, road) in enumerate(zip(sheet.rules.board, sheet.roads, strict=True)):
        source = sheet.sources[f"board {number}"]
        yield [str(number), name_of_kind(square.kind), _number(square.number), road, source]


def _deck(sheet: Edition) -> Iterable[Row]:
    for number, card in enumerate(sheet.rules.deck):
        source = sheet.sources[f"deck {number}"]
        yield [name_of_kind(card.kind), _number(card.number), str(card.copies), source]


def _counts(sheet: Edition) -> dict[str, int]:
    """Count the squares and cards of each kind on a board."""
    result: dict[str, int] = {}
    for square in sheet.rules.board:
        name = f"squares: {name_of_kind(square.kind)}"
        result[name] = result.get(name, 0) + 1
    for card in sheet.rules.deck:
        name = f"cards: {name_of_kind(card.kind)}"
        result[name] = result.get(name, 0) + card.copies
    return result
