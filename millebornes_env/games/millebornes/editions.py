"""One `Edition` per published rule sheet, as data.

Each sheet is a file in the folder `sheets` with a value for every field of `rules.Rules`, the source of each
value, and the differences from table to table. The files in the folder `mini_decks` have the same format;
they are games small enough to be solved, not editions. Read a sheet of your own with
`edition("path/to/sheet.toml")`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from millebornes_env.errors import EditionError
from millebornes_env.games.millebornes.cards import Card
from millebornes_env.games.millebornes.rule_checks import validated
from millebornes_env.games.millebornes.rules import FIELDS, TABLE_FIELDS, Rules
from millebornes_env.games.sheets import RuleSheet, Tables, check_known, is_text, read_number, table_words

GAME: Final = "millebornes"

OVERRIDABLE: Final = tuple(name for name in Rules._fields if name not in TABLE_FIELDS)
"""The fields that a sheet states and that a user may override."""


@dataclass(frozen=True, kw_only=True)
class Edition(RuleSheet[Rules]):
    """A published rule sheet as data."""

    game = GAME
    game_title = "Mille Bornes"
    rules_type = Rules
    validate = staticmethod(validated)
    fields = FIELDS
    overridable = OVERRIDABLE
    parts = ("deck", "tables")
    example = "max_200=4"
    folder = Path(__file__).parent / "sheets"
    mini_folder = Path(__file__).parent / "mini_decks"
    drawn = "millebornes_env.games.millebornes.variants:sheet_named"

    @classmethod
    def read_parts(
        cls, entries: dict[str, Any], values: dict[str, Any], sources: dict[str, str]
    ) -> dict[str, Any]:
        """Read the deck, the rules and the tables."""
        cls._read_deck(entries.get("deck"), values, sources)
        for name in OVERRIDABLE:
            if name not in values:
                values[name], sources[name] = cls.read_rule(name, entries.get(name))
        return {"tables": cls._read_tables(entries.get("tables"), sources)}

    @classmethod
    def _read_deck(cls, deck: object, values: dict[str, Any], sources: dict[str, str]) -> None:
        """Read the number of copies of each card."""
        if not isinstance(deck, dict) or not is_text(deck.get("source")):
            raise EditionError("the table 'deck' is missing, or its 'source'")
        names = [card.name.lower().removeprefix("distance_") for card in Card]
        check_known(deck, (*names, "source"), "deck: there is no card {}")
        for name in names:
            if name not in deck:
                raise EditionError(f"deck: {name!r} is missing; write 0 if the deck has none")
            rule = f"copies_of_{name}"
            values[rule], sources[rule] = cls.read_value(rule, deck[name]), deck["source"]

    @classmethod
    def _read_tables(cls, tables: object, sources: dict[str, str]) -> Tables:
        """Read the rules of each table, and add their sources to `sources`."""
        if not isinstance(tables, list) or not tables:
            raise EditionError("there is no [[tables]] entry: an edition needs at least one")
        result: dict[tuple[int, int], dict[str, int]] = {}
        for number, given in enumerate(tables, 1):
            where = f"tables, entry {number}"
            entry = dict(given) if isinstance(given, dict) else {}
            table = entry.pop("players", None), entry.pop("teams", None)
            source = entry.pop("source", None)
            if {type(table[0]), type(table[1])} != {int} or not is_text(source):
                raise EditionError(f"{where}: it needs players, teams (whole numbers) and source (text)")
            for count in table:
                read_number(f"{where}: the number of players or teams", count)
            which = f"the table of {table_words(*table)}"
            if table in result:
                raise EditionError(f"{where}: {which} is there twice")
            check_known(entry, OVERRIDABLE, f"{where}: there is no rule {{}} for {which}")
            try:
                result[table] = {name: cls.read_value(name, value) for name, value in entry.items()}
            except EditionError as error:
                raise EditionError(f"{where}, {which}: {error}") from None
            for name in (*TABLE_FIELDS, *entry):
                parts = [*sources.get(name, "").split("; "), *source.split("; ")]
                sources[name] = "; ".join(part for part in dict.fromkeys(parts) if part)
        return result


edition = Edition.find
editions = Edition.names
mini_decks = Edition.mini_names
