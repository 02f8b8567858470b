"""One `Edition` per board: data, not code.

Each is a file of the folder `sheets`: the squares, the chance cards and a value for every number of
`rules.Rules`, each with its source. A sheet of your own is read with `edition("path/to/sheet.toml")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from pathlib import Path
from typing import Any, ClassVar, Final

from millebornes_env._util.texts import closest, toml_of_file
from millebornes_env.errors import EditionError, PlayersError, shown
from millebornes_env.games.sheets import (
    MOST_BYTES_OF_A_SHEET,
    SheetFolder,
    check_name,
    checked_changes,
    is_text,
    label_of,
    one_line,
    refuse_unknown,
)
from millebornes_env.games.wielerspel.rules import (
    FIELDS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NO_OR_YES,
    TABLE_FIELDS,
    Card,
    Place,
    Rules,
    validated,
)
from millebornes_env.games.wielerspel.squares import KIND_NAMES, KINDS_OF_CARDS, KINDS_OF_SQUARES

GAME: Final = "wielerspel"

OVERRIDABLE: Final = tuple(name for name in FIELDS if name not in TABLE_FIELDS)
"""The numbers that a sheet states and that a user may override."""

_TEXTS: Final = ("name", "title", "summary")


@dataclass(frozen=True, kw_only=True)
class Edition:
    """A board with its cards and numbers.

    Attributes:
        name: how code and command lines call it.
        title: what a person calls it.
        summary: what it is, in a sentence or two.
        rules: all values, at the table with the fewest players.
        least_players: the smallest number of players.
        most_players: the largest.
        roads: what kind of road each square is, such as "climb"; "" where the sheet does not say.
        sources: for each number, for "players" and for each square and card ("board 3", "deck 0"), where it
            comes from.
        changes: numbers that a user has overridden with `replace`, so that saved results name them.
    """

    game: ClassVar[str] = GAME
    """The name of the game in the table of games."""

    name: str
    title: str
    summary: str
    rules: Rules
    least_players: int
    most_players: int
    roads: tuple[str, ...]
    sources: Mapping[str, str]
    changes: Mapping[str, int] = field(default_factory=dict)

    @property
    def players(self) -> tuple[int, ...]:
        """The numbers of players that the sheet allows."""
        return tuple(range(self.least_players, self.most_players + 1))

    @property
    def label(self) -> str:
        """The name, with what was overridden: `arc_en_ciel` or `arc_en_ciel+target_rainbows=5`."""
        return label_of(self.name, self.changes)

    def table(self, players: int, teams: int | None = None) -> Rules:
        """The rules at one table.

        Args:
            players: number of seats.
            teams: as many, or None: every seat rides for itself.

        Raises:
            PlayersError: the sheet does not allow so many, or other teams.
            EditionError: what was overridden makes no race.
        """
        if isinstance(players, bool) or players not in self.players:
            raise PlayersError(
                f"{self.name!r} is a race for {self.least_players} to {self.most_players} players; "
                f"got {shown(players)}"
            )
        if isinstance(teams, bool) or teams not in (None, players):
            raise PlayersError(
                f"{self.name!r} is a race without partners: {players} players are {players} teams, "
                f"not {shown(teams)}"
            )
        changed: dict[str, Any] = {**self.changes, "players": int(players), "teams": int(players)}
        return validated(self.rules._replace(**changed))

    def replace(self, **changes: int) -> Edition:
        """The same board with some numbers overridden, such as `replace(target_rainbows=5)` (003:200).

        Raises:
            EditionError: an unknown number, or a value that makes no race.
        """
        plain = checked_changes(changes, OVERRIDABLE)
        changed = dataclass_replace(self, changes={**self.changes, **plain})
        changed.table(self.least_players)
        return changed


def editions() -> tuple[str, ...]:
    """The names of all boards, in alphabetical order."""
    return _SHEETS.names()


def edition(name: str | Path | Edition) -> Edition:
    """The board of that name, or that of a file (an `Edition` is returned as it is).

    Args:
        name: one of `editions()`, a label such as `arc_en_ciel+target_rainbows=5`, or the path of a sheet,
            ending in `.toml`.

    Raises:
        UnknownEditionError: there is none; the message lists those there are.
        EditionError: the file does not describe a board.
        EditionError: the label overrides something that cannot be overridden so.
    """
    if isinstance(name, Edition):
        return name
    return _SHEETS.find(name)


def _no_race(name: object) -> str:
    """What is said of something that names no board."""
    return (
        f"there is no race {shown(name)}; there are: {', '.join(editions())}, or the path of a sheet of "
        "your own, ending in .toml." + (closest(name, editions()) if isinstance(name, str) else "")
    )


# Reading a sheet -------------------------------------------------------------------------------------------


def read_sheet(path: Path) -> Edition:
    """The board that a file describes.

    Args:
        path: of a TOML file such as `sheets/arc_en_ciel.toml`.

    Raises:
        EditionError: the file cannot be read or describes no board; the message names file and entry.
    """
    sheet = toml_of_file(path, EditionError, MOST_BYTES_OF_A_SHEET)
    try:
        found = _edition_of(sheet)
    except EditionError as error:
        raise EditionError(f"{path}: {error}") from None
    if path.parent != _SHEETS.path and _is_another_of_a_shipped_name(found):
        raise EditionError(
            f"{path}: the name {found.name!r} is that of a shipped sheet, and this one differs from it: give "
            "it a name of its own, so that nobody takes its results for those of the other"
        )
    return found


def _is_another_of_a_shipped_name(found: Edition) -> bool:
    return found.name in editions() and found.rules != _SHEETS.shipped(found.name).rules


def _edition_of(sheet: dict[str, Any]) -> Edition:
    for name in _TEXTS:
        _need_text(f"the entry {name!r}", sheet.get(name))
    check_name(sheet["name"], "a race")
    if sheet.get("game", GAME) != GAME:
        raise EditionError(f"the entry 'game' is {shown(sheet['game'])}; a race says {GAME!r}")
    refuse_unknown(sheet, ("game", *_TEXTS, "players", "board", "deck", *OVERRIDABLE), "unknown entry {}")
    least, most, players_source = _players_of(sheet.get("players"))
    sources = {"players": players_source}
    numbers = {}
    for name in OVERRIDABLE:
        numbers[name], sources[name] = _number_of(name, sheet.get(name))
    board, roads = _board_of(sheet.get("board"), sources)
    deck = _deck_of(sheet.get("deck"), sources)
    rules = Rules(players=least, teams=least, board=board, deck=deck, **numbers)
    return Edition(
        name=sheet["name"],
        title=one_line("the title", sheet["title"]),
        summary=one_line("the summary", sheet["summary"]),
        rules=validated(rules),
        least_players=least,
        most_players=most,
        roads=roads,
        sources=sources,
    )


def _board_of(entries: object, sources: dict[str, str]) -> tuple[tuple[Place, ...], tuple[str, ...]]:
    """The squares and their roads; their sources are added to the others."""
    board, roads = [], []
    for square, entry in enumerate(_entries("board", entries)):
        where = f"board, square {square}"
        kind, number = _kind_and_number(where, entry, KINDS_OF_SQUARES, ("road",))
        board.append(Place(kind, number))
        roads.append(one_line(f"{where}: road", entry["road"]) if "road" in entry else "")
        sources[f"board {square}"] = entry["source"]
    return tuple(board), tuple(roads)


def _deck_of(entries: object, sources: dict[str, str]) -> tuple[Card, ...]:
    """The types of chance cards; their sources are added to the others."""
    deck = []
    for card, entry in enumerate(_entries("deck", entries)):
        where = f"deck, card type {card}"
        kind, number = _kind_and_number(where, entry, KINDS_OF_CARDS, ("copies",))
        deck.append(Card(kind, number, _whole(f"{where}: copies", entry.get("copies"))))
        sources[f"deck {card}"] = entry["source"]
    return tuple(deck)


def _entries(name: str, entries: object) -> list[dict[str, Any]]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise EditionError(f"{name}: write {name} = [{{ kind = ..., source = ... }}, ...]")
    return entries


def _kind_and_number(
    where: str, entry: dict[str, Any], kinds: tuple[int, ...], more: tuple[str, ...]
) -> tuple[int, int]:
    """The kind of a square or card and the number on it (0: none is given)."""
    refuse_unknown(entry, ("kind", "number", "source", *more), where + ": unknown entry {}")
    _need_text(f"{where}: the source", entry.get("source"))
    names = [KIND_NAMES[kind] for kind in kinds]
    kind = entry.get("kind")
    if kind not in names:
        hint = closest(kind, names) if isinstance(kind, str) else ""
        raise EditionError(f"{where}: the kind is {shown(kind)}; the kinds are {', '.join(names)}.{hint}")
    number = _whole(f"{where}: number", entry["number"]) if "number" in entry else 0
    return KIND_NAMES.index(str(kind)), number


def _players_of(entry: object) -> tuple[int, int, str]:
    """The smallest and largest number of players, and where it says so."""
    if not isinstance(entry, dict) or entry.keys() != {"least", "most", "source"}:
        raise EditionError("players: write players = { least = ..., most = ..., source = ... }")
    _need_text("players: the source", entry["source"])
    least, most = (_whole(f"players: {name}", entry[name]) for name in ("least", "most"))
    if not MIN_PLAYERS <= least <= most <= MAX_PLAYERS:
        raise EditionError(
            f"players: {least} to {most}; least and most must be {MIN_PLAYERS} to {MAX_PLAYERS}, in order"
        )
    return least, most, entry["source"]


def _number_of(name: str, entry: object) -> tuple[int, str]:
    """The value of a number and where it comes from."""
    wanted = f"write {name} = {{ value = ..., source = ... }}; it says: {FIELDS[name].question}"
    if entry is None:
        raise EditionError(f"the rule {name!r} is missing; {wanted}")
    if not isinstance(entry, dict) or entry.keys() != {"value", "source"}:
        raise EditionError(f"the rule {name!r} is not understood; {wanted}")
    _need_text(f"the rule {name!r}: the source", entry["source"])
    value = entry["value"]
    if FIELDS[name].choices == NO_OR_YES:
        if not isinstance(value, bool):
            raise EditionError(f"the rule {name!r} is {shown(value)}; it must be true or false")
        return int(value), entry["source"]
    return _whole(f"the rule {name!r}", value), entry["source"]


def _whole(what: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise EditionError(f"{what} is {shown(value)}; it must be a whole number")
    return value


def _need_text(what: str, value: object) -> None:
    if not is_text(value):
        raise EditionError(f"{what} is missing, or no text")


_SHEETS: Final = SheetFolder(Path(__file__).parent / "sheets", read_sheet, _no_race, "target_rainbows=5")
