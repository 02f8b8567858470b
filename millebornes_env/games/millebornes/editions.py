"""One `Edition` per published rule sheet: data, not code.

Each sheet is a file of the folder `sheets`: a value for every field of `rules.Rules`, with its source, and
what changes from table to table. Those of the folder `mini_decks` are read in the same way, but are none of
the editions: games small enough to be solved. A sheet of your own is read with
`edition("path/to/sheet.toml")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

from millebornes_env._util.texts import closest, toml_of_file
from millebornes_env.errors import EditionError, PlayersError, shown
from millebornes_env.games.millebornes.cards import Card
from millebornes_env.games.millebornes.rule_checks import validated
from millebornes_env.games.millebornes.rules import FIELDS, NO_OR_YES, TABLE_FIELDS, Rules
from millebornes_env.games.sheets import (
    MOST_BYTES_OF_A_SHEET,
    SheetFolder,
    check_name,
    checked_changes,
    is_text,
    label_of,
    one_line,
    refuse_unknown,
    whole,
)

GAME: Final = "millebornes"

OVERRIDABLE: Final = tuple(name for name in Rules._fields if name not in TABLE_FIELDS)
"""The fields that a sheet states and that a user may override."""

_LARGEST_NUMBER: Final = 10**6
_LONGEST_SHOWN: Final = 30


@dataclass(frozen=True, kw_only=True)
class Edition:
    """A published rule sheet as data.

    Attributes:
        name: how code and command lines call it.
        title: what a person calls it.
        summary: what distinguishes it, in a sentence or two.
        rules: the value of each rule, where the table does not say otherwise.
        tables: what differs by table: for (players, teams) the fields of `Rules` with another value there.
            The first table with a given number of players is that number's default.
        sources: for each field of `Rules`, where the sheet, or the ruling, says so.
        changes: fields that a user has overridden with `replace`, so that saved results name them.

    Raises:
        EditionError: the name is none that labels and positions can hold.
    """

    name: str
    title: str
    summary: str
    rules: Rules
    tables: Mapping[tuple[int, int], Mapping[str, int]]
    sources: Mapping[str, str]
    changes: Mapping[str, int] = field(default_factory=dict)

    game: ClassVar[str] = GAME
    """The name of the game in the table of games."""

    def __post_init__(self) -> None:
        check_name(self.name, "an edition")

    @property
    def players(self) -> tuple[int, ...]:
        """The numbers of seats that the sheet has a table for."""
        return tuple(sorted({players for players, _ in self.tables}))

    def table(self, players: int, teams: int | None = None) -> Rules:
        """The rules at one table.

        Args:
            players: number of seats.
            teams: number of tableaux; None for the sheet's usual way to play with so many.

        Returns:
            The value of every rule.

        Raises:
            PlayersError: the sheet has no such table.
            EditionError: what was overridden makes no game there.
        """
        for seats, sides in self.tables:
            if seats == whole(players) and (teams is None or sides == whole(teams)):
                if (seats, sides) not in self._checked:
                    self._checked[seats, sides] = self._rules_of(seats, sides)
                return self._checked[seats, sides]
        raise PlayersError(self._no_table(players, teams))

    @cached_property
    def _checked(self) -> dict[tuple[int, int], Rules]:
        """The rules of the tables that were asked for, so that each is checked once."""
        return {}

    def _rules_of(self, players: int, teams: int) -> Rules:
        values = {**self.tables[players, teams], "players": players, "teams": teams, **self.changes}
        try:
            return validated(self.rules._replace(**values))
        except EditionError as error:
            raise EditionError(f"at the table of {self._table_name(players, teams)}, {error}") from None

    def _table_name(self, players: int, teams: int) -> str:
        """The players, with their teams where the sheet has several tables for so many."""
        alone = sum(seats == players for seats, _ in self.tables) == 1
        return f"{players} players" if alone else _table_words(players, teams)

    def _no_table(self, players: object, teams: object) -> str:
        """What is said of a table that the sheet has not."""
        known = ", ".join(_table_words(*table) for table in self.tables)
        asked = {"players": players} | ({} if teams is None else {"teams": teams})
        wrong = " in ".join(
            f"{' '.join(value[:_LONGEST_SHOWN].split()) if isinstance(value, str) else shown(value)} {name}"
            for name, value in asked.items()
        )
        odd = [f"{name} is {shown(value)}" for name, value in asked.items() if whole(value) is None]
        odd_words = f" ({' and '.join(odd)}, not a whole number)" if odd else ""
        return f"the edition {self.name!r} has no table for {wrong}{odd_words}; it has: {known}"

    def replace(self, **changes: int) -> Edition:
        """The same edition with some rules overridden, e.g. `edition("parker").replace(max_200=4)`.

        Args:
            changes: fields of `Rules` with their new values, the same at every table.

        Returns:
            A new edition; `changes` and `label` name what was overridden.

        Raises:
            EditionError: an unknown field, or a value that makes no game at any table. (Where it makes none
                at some, `table` says so when that table is asked for.)
        """
        plain = checked_changes(changes, OVERRIDABLE)
        changed = dataclass_replace(self, changes={**self.changes, **plain})
        refusals = []
        for players, teams in self.tables:
            try:
                changed.table(players, teams)
            except EditionError as error:
                refusals.append(error)
        if len(refusals) == len(self.tables):
            raise refusals[0]
        return changed

    @property
    def label(self) -> str:
        """The name, with what was overridden: `parker` or `parker+max_200=4`."""
        return label_of(self.name, self.changes)


def _table_words(players: int, teams: int) -> str:
    return f"{players} players in {teams} teams"


def editions() -> tuple[str, ...]:
    """The names of all editions, in alphabetical order."""
    return _SHEETS.names()


def mini_decks() -> tuple[str, ...]:
    """The names of the mini decks, the smallest first: small enough to be solved, and no published game."""
    return _SHEETS.mini_names()


def edition(name: str | Path | Edition) -> Edition:
    """The edition of that name, or that of a file (an `Edition` is returned as it is).

    Args:
        name: one of `editions()` or of `mini_decks()` (`mini8` means the newest version, `mini8-v0`), a label
            such as `parker+max_200=4`, or the path of a sheet, ending in `.toml` (docs/add_an_edition.md says
            what stands in it).

    Returns:
        The edition, with what the label overrides.

    Raises:
        UnknownEditionError: there is none; the message lists those there are.
        EditionError: the file does not describe an edition.
        EditionError: the label overrides something that cannot be overridden so.
    """
    if isinstance(name, Edition):
        return name
    return _SHEETS.find(name)


def _no_edition(name: object) -> str:
    """What is said of something that names no edition."""
    minis = ", ".join(one.rpartition("-v")[0] for one in mini_decks())
    return (
        f"there is no edition {shown(name)}; the editions are: {', '.join(editions())}, or the path of a "
        f"sheet, ending in .toml; mini decks: {minis}."
        + (closest(name, editions() + mini_decks()) if isinstance(name, str) else "")
    )


# Reading a sheet -------------------------------------------------------------------------------------------


def read_sheet(path: Path) -> Edition:
    """The edition that a file describes.

    Args:
        path: of a TOML file; docs/add_an_edition.md says what stands in it.

    Raises:
        EditionError: the file cannot be read or describes no edition; the message names file and entry.
    """
    given: object = path
    if not isinstance(given, Path):
        raise EditionError(f"a sheet is read from a pathlib.Path; got {shown(given)}")
    sheet = toml_of_file(path, EditionError, MOST_BYTES_OF_A_SHEET)
    try:
        found = _edition_of(sheet)
        if not _SHEETS.has_file(path):
            _check_shipped_name(found)
    except EditionError as error:
        raise EditionError(f"{path}: {error}") from None
    return found


def _check_shipped_name(found: Edition) -> None:
    """Refuse the name of a shipped sheet for other rules: a position says the name only."""
    if not _SHEETS.is_shipped(found.name):
        return
    shipped = _SHEETS.shipped(found.name)
    differences = [_table_words(*table) for table in found.tables if table not in shipped.tables]
    for table in found.tables:
        if table in shipped.tables:
            rules, others = found.table(*table), shipped.table(*table)
            differences += [
                f"{name} {value}, there {other}"
                for name, value, other in zip(Rules._fields, rules, others, strict=True)
                if value != other
            ]
    if tuple(found.tables) == tuple(shipped.tables) and not differences:
        return
    what = f" ({differences[0]})" if differences else ""
    raise EditionError(
        f"the name {found.name!r} is that of a shipped sheet, and this one differs from it{what}: give it a "
        "name of its own, so that nobody takes its positions and results for those of the other"
    )


def _edition_of(sheet: dict[str, Any]) -> Edition:
    for name in ("name", "title", "summary"):
        if not is_text(sheet.get(name)):
            raise EditionError(f"the entry {name!r} is missing, or no text")
    if sheet.get("game", GAME) != GAME:
        raise EditionError(
            f"the entry 'game' is {shown(sheet['game'])}; an edition of Mille Bornes says {GAME!r}"
        )
    known = ("game", "name", "title", "summary", "deck", "tables", *OVERRIDABLE)
    refuse_unknown(sheet, known, "unknown entry {}")
    values, sources = _deck_of(sheet.get("deck"))
    for name in OVERRIDABLE:
        if name not in values:
            values[name], sources[name] = _entry(name, sheet.get(name))
    tables = _tables_of(sheet.get("tables"), sources)
    values["players"], values["teams"] = next(iter(tables))
    found = Edition(
        name=sheet["name"],
        title=one_line("the title", sheet["title"]),
        summary=one_line("the summary", sheet["summary"]),
        rules=Rules(**values),
        tables=tables,
        sources={name: one_line(f"the source of {name}", source) for name, source in sources.items()},
    )
    for players, teams in found.tables:
        try:
            found.table(players, teams)
        except EditionError as error:
            raise EditionError(str(error)) from None
    return found


def _deck_of(deck: object) -> tuple[dict[str, int], dict[str, str]]:
    """The copies of each card, and where the sheet says so."""
    if not isinstance(deck, dict) or not is_text(deck.get("source")):
        raise EditionError("the table 'deck' is missing, or its 'source'")
    names = {card: card.name.lower().removeprefix("distance_") for card in Card}
    refuse_unknown(deck, (*names.values(), "source"), "deck: there is no card {}")
    values = {}
    source: str = deck["source"]
    for name in names.values():
        if name not in deck:
            raise EditionError(f"deck: {name!r} is missing; write 0 if the deck has none")
        values[f"copies_of_{name}"] = _number(f"copies_of_{name}", deck[name])
    return values, dict.fromkeys(values, source)


def _entry(name: str, entry: object) -> tuple[int, str]:
    """The value of a rule and where the sheet says so."""
    wanted = f"write {name} = {{ value = ..., source = ... }}; it answers: {FIELDS[name].question}"
    if entry is None:
        raise EditionError(f"the rule {name!r} is missing; {wanted}")
    if not isinstance(entry, dict) or entry.keys() != {"value", "source"}:
        raise EditionError(f"the rule {name!r} is not understood; {wanted}")
    if not is_text(entry["source"]):
        raise EditionError(f"the rule {name!r} has no source; {wanted}")
    return _number(name, entry["value"]), entry["source"]


def _number(name: str, value: object) -> int:
    """The value of a field as an int: a file may say true, or the name of a choice."""
    choices = FIELDS[name].choices
    if choices == NO_OR_YES and isinstance(value, bool):
        return int(value)
    if choices != NO_OR_YES and isinstance(value, str) and value in choices:
        return choices.index(value)
    if isinstance(value, int) and not isinstance(value, bool) and not choices:
        return _not_too_large(f"the rule {name!r}", value)
    known = "true or false" if choices == NO_OR_YES else " or ".join(map(repr, choices))
    raise EditionError(f"the rule {name!r} is {shown(value)}; it must be {known or 'a whole number'}")


def _not_too_large(what: str, value: int) -> int:
    if abs(value) > _LARGEST_NUMBER:
        raise EditionError(f"{what} is {shown(value)}: nothing is that large")
    return value


def _tables_of(tables: object, sources: dict[str, str]) -> dict[tuple[int, int], dict[str, int]]:
    """What each table states, and its sources added to the others."""
    if not isinstance(tables, list) or not tables:
        raise EditionError("there is no [[tables]] entry: an edition has at least one")
    found: dict[tuple[int, int], dict[str, int]] = {}
    for number, given in enumerate(tables, 1):
        where = f"tables, entry {number}"
        entry = dict(given) if isinstance(given, dict) else {}
        table = entry.pop("players", None), entry.pop("teams", None)
        source = entry.pop("source", None)
        if {type(table[0]), type(table[1])} != {int} or not is_text(source):
            raise EditionError(f"{where}: it needs players, teams (whole numbers) and source (text)")
        for number_of in table:
            _not_too_large(f"{where}: the number of players or teams", number_of)
        which = f"the table of {_table_words(*table)}"
        if table in found:
            raise EditionError(f"{where}: {which} is there twice")
        refuse_unknown(entry, OVERRIDABLE, f"{where}: there is no rule {{}} for {which}")
        try:
            found[table] = {name: _number(name, value) for name, value in entry.items()}
        except EditionError as error:
            raise EditionError(f"{where}, {which}: {error}") from None
        for name in (*TABLE_FIELDS, *entry):
            parts = [*sources.get(name, "").split("; "), *source.split("; ")]
            sources[name] = "; ".join(part for part in dict.fromkeys(parts) if part)
    return found


_HERE: Final = Path(__file__).parent
_SHEETS: Final = SheetFolder(_HERE / "sheets", read_sheet, _no_edition, "max_200=4", _HERE / "mini_decks")
