"""One `Edition` per published rule sheet: data, not code.

Each sheet is a file of the folder `sheets`: a value for every field of `rules.Rules`, with its source, and
what changes from table to table. A sheet of your own is read with `edition("path/to/sheet.toml")`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from millebornes_env.errors import EditionFileError, PlayersError, RulesError, UnknownEditionError, shown
from millebornes_env.millebornes.cards import Card
from millebornes_env.millebornes.rules import FIELDS, NO_OR_YES, TABLE_FIELDS, Rules, validated

OVERRIDABLE: Final = tuple(name for name in Rules._fields if name not in TABLE_FIELDS)
"""The fields that a sheet states and that a user may override."""


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
    """

    name: str
    title: str
    summary: str
    rules: Rules
    tables: Mapping[tuple[int, int], Mapping[str, int]]
    sources: Mapping[str, str]
    changes: Mapping[str, int] = field(default_factory=dict)

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
            RulesError: what was overridden makes no game there.
        """
        known = ", ".join(f"{seats} players in {sides} teams" for seats, sides in self.tables)
        for name, number in (("players", players), ("teams", 0 if teams is None else teams)):
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
                raise PlayersError(
                    f"{name} is {shown(number)}; it must be a whole number. The tables of the edition "
                    f"{self.name!r}: {known}"
                )
        for (seats, sides), differences in self.tables.items():
            if seats == players and teams in (None, sides):
                values = {**differences, "players": seats, "teams": sides, **self.changes}
                try:
                    return validated(self.rules._replace(**values))
                except RulesError as error:
                    raise RulesError(f"at the table of {players} players, {error}") from None
        asked = f"{shown(players)} players" + ("" if teams is None else f" in {shown(teams)} teams")
        raise PlayersError(f"the edition {self.name!r} has no table for {asked}; it has: {known}")

    def replace(self, **changes: int) -> Edition:
        """The same edition with some rules overridden, e.g. `edition("parker").replace(max_200=4)`.

        Args:
            changes: fields of `Rules` with their new values, the same at every table.

        Returns:
            A new edition; `changes` and `label` name what was overridden.

        Raises:
            RulesError: an unknown field, or a value that makes no game at any table. (Where it makes none at
                some, `table` says so when that table is asked for.)
        """
        for name in changes:
            if name not in OVERRIDABLE:
                raise RulesError(
                    f"there is no rule {name!r} to override; the rules are: {', '.join(OVERRIDABLE)}"
                )
        changed = dataclass_replace(self, changes={**self.changes, **changes})
        refusals = []
        for players, teams in self.tables:
            try:
                changed.table(players, teams)
            except RulesError as error:
                refusals.append(error)
        if len(refusals) == len(self.tables):
            raise refusals[0]
        return changed

    @property
    def label(self) -> str:
        """The name, with what was overridden: `parker` or `parker+max_200=4`."""
        return "+".join([self.name, *(f"{name}={value}" for name, value in sorted(self.changes.items()))])


_SHEETS: Final = Path(__file__).parent / "sheets"


@cache
def editions() -> tuple[str, ...]:
    """The names of all editions, in alphabetical order."""
    return tuple(sorted(file.stem for file in _SHEETS.glob("*.toml")))


def edition(name: str | Path | Edition) -> Edition:
    """The edition of that name, or that of a file (an `Edition` is returned as it is).

    Args:
        name: one of `editions()`, a label such as `parker+max_200=4`, or the path of a sheet, ending in
            `.toml` (docs/add_an_edition.md says what stands in it).

    Returns:
        The edition, with what the label overrides.

    Raises:
        UnknownEditionError: there is none; the message lists those there are.
        EditionFileError: the file does not describe an edition.
        RulesError: the label overrides something that cannot be overridden so.
    """
    if isinstance(name, Edition):
        return name
    if not isinstance(name, (str, Path)):
        raise UnknownEditionError(
            f"the edition is {shown(name)}; it must be an Edition, one of {', '.join(editions())}, or the "
            "path of a sheet of your own, ending in .toml"
        )
    path, suffix, rest = str(name).rpartition(".toml")
    last, *overrides = rest.split("+")
    stem = path + suffix + last
    if stem.endswith(".toml"):
        found = read_sheet(Path(stem))
    elif stem in editions():
        found = _shipped(stem)
    else:
        raise UnknownEditionError(
            f"there is no edition {shown(stem)}; the editions are: {', '.join(editions())}, "
            "or the path of a sheet of your own, ending in .toml"
        )
    changes = dict(_override(one) for one in overrides)
    if len(changes) < len(overrides):
        raise RulesError(f"{name} overrides a rule twice")
    return found.replace(**changes) if changes else found


@cache
def _shipped(name: str) -> Edition:
    return read_sheet(_SHEETS / f"{name}.toml")


def _override(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not value.isdecimal():
        raise RulesError(f"{text!r} overrides no rule: it must read name=number, such as max_200=4")
    return name, int(value)


# Reading a sheet -------------------------------------------------------------------------------------------


def read_sheet(path: Path) -> Edition:
    """The edition that a file describes.

    Args:
        path: of a TOML file; docs/add_an_edition.md says what stands in it.

    Raises:
        EditionFileError: the file cannot be read or describes no edition; the message names file and entry.
    """
    try:
        sheet = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise EditionFileError(f"{path}: {error}") from None
    try:
        return _edition_of(sheet)
    except EditionFileError as error:
        raise EditionFileError(f"{path}: {error}") from None


def _edition_of(sheet: dict[str, Any]) -> Edition:
    for name in ("name", "title", "summary"):
        if not _is_text(sheet.get(name)):
            raise EditionFileError(f"the entry {name!r} is missing, or no text")
    unknown = sheet.keys() - {"name", "title", "summary", "deck", "tables", *OVERRIDABLE}
    if unknown:
        raise EditionFileError(f"unknown entry {min(unknown)!r}")
    values, sources = _deck_of(sheet.get("deck"))
    for name in OVERRIDABLE:
        if name not in values:
            values[name], sources[name] = _entry(name, sheet.get(name))
    tables = _tables_of(sheet.get("tables"), sources)
    values["players"], values["teams"] = next(iter(tables))
    found = Edition(
        name=sheet["name"],
        title=sheet["title"],
        summary=sheet["summary"],
        rules=Rules(**values),
        tables=tables,
        sources=sources,
    )
    for players, teams in found.tables:
        try:
            found.table(players, teams)
        except RulesError as error:
            raise EditionFileError(str(error)) from None
    return found


def _deck_of(deck: object) -> tuple[dict[str, int], dict[str, str]]:
    """The copies of each card, and where the sheet says so."""
    if not isinstance(deck, dict) or not _is_text(deck.get("source")):
        raise EditionFileError("the table 'deck' is missing, or its 'source'")
    names = {card: card.name.lower().removeprefix("distance_") for card in Card}
    unknown = deck.keys() - {*names.values(), "source"}
    if unknown:
        raise EditionFileError(f"deck: there is no card {min(unknown)!r}")
    values = {}
    source: str = deck["source"]
    for name in names.values():
        if name not in deck:
            raise EditionFileError(f"deck: {name!r} is missing; write 0 if the deck has none")
        values[f"copies_of_{name}"] = _number(f"copies_of_{name}", deck[name])
    return values, dict.fromkeys(values, source)


def _entry(name: str, entry: object) -> tuple[int, str]:
    """The value of a rule and where the sheet says so."""
    wanted = f"write {name} = {{ value = ..., source = ... }}; it answers: {FIELDS[name].question}"
    if entry is None:
        raise EditionFileError(f"the rule {name!r} is missing; {wanted}")
    if not isinstance(entry, dict) or entry.keys() != {"value", "source"}:
        raise EditionFileError(f"the rule {name!r} is not understood; {wanted}")
    if not _is_text(entry["source"]):
        raise EditionFileError(f"the rule {name!r} has no source; {wanted}")
    return _number(name, entry["value"]), entry["source"]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _number(name: str, value: object) -> int:
    """The value of a field as an int: a file may say true, or the name of a choice."""
    choices = FIELDS[name].choices
    if choices == NO_OR_YES and isinstance(value, bool):
        return int(value)
    if choices != NO_OR_YES and isinstance(value, str) and value in choices:
        return choices.index(value)
    if isinstance(value, int) and not isinstance(value, bool) and not choices:
        return value
    known = "true or false" if choices == NO_OR_YES else " or ".join(map(repr, choices))
    raise EditionFileError(f"the rule {name!r} is {value!r}; it must be {known or 'a whole number'}")


def _tables_of(tables: object, sources: dict[str, str]) -> dict[tuple[int, int], dict[str, int]]:
    """What each table states, and its sources added to the others."""
    if not isinstance(tables, list) or not tables:
        raise EditionFileError("there is no [[tables]] entry: an edition has at least one")
    found: dict[tuple[int, int], dict[str, int]] = {}
    for number, given in enumerate(tables, 1):
        where = f"tables, entry {number}"
        entry = dict(given) if isinstance(given, dict) else {}
        table = entry.pop("players", None), entry.pop("teams", None)
        source = entry.pop("source", None)
        if {type(table[0]), type(table[1])} != {int} or not _is_text(source):
            raise EditionFileError(f"{where}: it needs players, teams (whole numbers) and source (text)")
        if table in found:
            raise EditionFileError(
                f"{where}: the table of {table[0]} players in {table[1]} teams is there twice"
            )
        unknown = entry.keys() - set(OVERRIDABLE)
        if unknown:
            raise EditionFileError(f"{where}: there is no rule {min(unknown)!r}")
        found[table] = {name: _number(name, value) for name, value in entry.items()}
        for name in (*TABLE_FIELDS, *entry):
            parts = [*sources.get(name, "").split("; "), *source.split("; ")]
            sources[name] = "; ".join(part for part in dict.fromkeys(parts) if part)
    return found
