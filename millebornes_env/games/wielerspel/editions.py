"""One `Edition` per board, as data.

Each is a file in the folder `sheets` with the squares, the chance cards and a value for every number of
`rules.Rules`, each with its source. Read a sheet of your own with `edition("path/to/sheet.toml")`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from millebornes_env._util.texts import closest
from millebornes_env.errors import EditionError, shown
from millebornes_env.games.sheets import RuleSheet, check_known, need_text, one_line, read_number
from millebornes_env.games.wielerspel.rules import (
    FIELDS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    TABLE_FIELDS,
    Card,
    Rules,
    Square,
    validated,
)
from millebornes_env.games.wielerspel.squares import KIND_NAMES, KINDS_OF_CARDS, KINDS_OF_SQUARES

GAME: Final = "wielerspel"

OVERRIDABLE: Final = tuple(name for name in FIELDS if name not in TABLE_FIELDS)
"""The numbers that a sheet states and that a user may override."""


@dataclass(frozen=True, kw_only=True)
class Edition(RuleSheet[Rules]):
    """A board with its cards and numbers; every seat is a team.

    Attributes:
        roads: kind of road of each square, such as "climb", or "". `sources` also has entries for "players"
            and for each square and card ("board 3", "deck 0").
    """

    roads: tuple[str, ...]

    game = GAME
    game_title = "the race"
    rules_type = Rules
    validate = staticmethod(validated)
    fields = FIELDS
    overridable = OVERRIDABLE
    parts = ("players", "board", "deck")
    example = "target_rainbows=5"
    folder = Path(__file__).parent / "sheets"

    @classmethod
    def read_parts(
        cls, entries: dict[str, Any], values: dict[str, Any], sources: dict[str, str]
    ) -> dict[str, Any]:
        """Read the players, the numbers, the board and the deck."""
        players, sources["players"] = _read_players(entries.get("players"))
        for name in OVERRIDABLE:
            values[name], sources[name] = cls.read_rule(name, entries.get(name))
        roads, board, deck = [], [], []
        for square, entry in enumerate(_list_of_tables("board", entries.get("board"))):
            where = f"board, square {square}"
            board.append(Square(*_kind_and_number(where, entry, KINDS_OF_SQUARES, "road")))
            roads.append(one_line(f"{where}: road", entry.get("road", "")))
            sources[f"board {square}"] = entry["source"]
        for card, entry in enumerate(_list_of_tables("deck", entries.get("deck"))):
            where = f"deck, card type {card}"
            kind, number = _kind_and_number(where, entry, KINDS_OF_CARDS, "copies")
            deck.append(Card(kind, number, read_number(f"{where}: copies", entry.get("copies"))))
            sources[f"deck {card}"] = entry["source"]
        values["board"], values["deck"] = tuple(board), tuple(deck)
        return {"tables": {(seats, seats): {} for seats in players}, "roads": tuple(roads)}


def _read_players(entry: object) -> tuple[range, str]:
    """Read the numbers of players."""
    if not isinstance(entry, dict) or entry.keys() != {"least", "most", "source"}:
        raise EditionError("players: write players = { least = ..., most = ..., source = ... }")
    need_text("players: the source", entry["source"])
    least, most = (read_number(f"players: {name}", entry[name]) for name in ("least", "most"))
    if not MIN_PLAYERS <= least <= most <= MAX_PLAYERS:
        raise EditionError(
            f"players: {least} to {most}; least and most must be {MIN_PLAYERS} to {MAX_PLAYERS}, in order"
        )
    return range(least, most + 1), entry["source"]


def _list_of_tables(name: str, entries: object) -> list[dict[str, Any]]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise EditionError(f"{name}: write {name} = [{{ kind = ..., source = ... }}, ...]")
    return entries


def _kind_and_number(where: str, entry: dict[str, Any], kinds: tuple[int, ...], more: str) -> tuple[int, int]:
    """Read the kind of a square or card and the number on it (0 if it has none)."""
    check_known(entry, ("kind", "number", "source", more), where + ": unknown entry {}")
    need_text(f"{where}: the source", entry.get("source"))
    names = [KIND_NAMES[kind] for kind in kinds]
    kind = entry.get("kind")
    if kind not in names:
        hint = closest(kind, names) if isinstance(kind, str) else ""
        raise EditionError(f"{where}: the kind is {shown(kind)}; the kinds are {', '.join(names)}.{hint}")
    return KIND_NAMES.index(str(kind)), read_number(f"{where}: number", entry.get("number", 0))


edition = Edition.find
editions = Edition.names
