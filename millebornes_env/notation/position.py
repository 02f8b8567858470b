"""`Position`: one game as it stands, of any game of the table; and where its notation is found.

A game's hook `notation.positions` is the module that writes and reads its positions; of a game without it,
only the beginning of an episode can be written (`openings`).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from millebornes_env.engine.rulebook import StateArray
from millebornes_env.errors import MilleBornesError
from millebornes_env.games.registry import Game, Sheet
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as find_game
from millebornes_env.notation.lines import PLAYS, line_of, text_lines

OPENINGS: Final = "millebornes_env.notation.openings"
"""The notation of games that have none of their own."""

USUAL_EDITION: Final = "parker"
USUAL_PLAYERS: Final = 2

_NEEDED: Final = ("Position", "position_of_lines", "words_of_position", "write_position")


@dataclass(frozen=True, eq=False)
class Position:
    """One game, as it stands.

    Attributes:
        edition: the rule sheet that is played; it says which game it is of.
        rules: its rules at this table.
        state: `STATE[1]` of the game, the record.
        has_key: whether the text said which random numbers are to come; a game without goes on with those of
            whoever plays it.
    """

    edition: Any
    rules: Any
    state: StateArray
    has_key: bool = True

    def __str__(self) -> str:
        return write_position(self.state, self.edition, self.rules, key=self.has_key)

    def _repr_html_(self) -> str | None:
        """The table as a picture, for notebooks; None: of games of this kind there are none."""
        entry = game_of(self.edition)
        picture = entry.find_hook("render.picture")
        return None if picture is None else str(picture(self.state[0], self.rules))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[object, ...]:
        return self.edition.label, self.rules, self.has_key, self.state.tobytes()


def read_position(
    text: str,
    *,
    edition: str | Path | Sheet = USUAL_EDITION,
    players: int = USUAL_PLAYERS,
    teams: int | None = None,
) -> Position:
    """The position that a text describes, of any game.

    Args:
        text: as `write_position` writes it, or less; docs/notation.md says what each game completes.
        edition: what is played if the text does not say. A sheet of your own must be given here: the text
            names no files, but may name this sheet by its label.
        players: seats at the table if the text does not say.
        teams: teams at the table if the text does not say.

    Returns:
        The position, all of it.

    Raises:
        NotationError: the text describes none; the message names the line and what is wrong with it.
        MilleBornesError: the edition, or the table, that were given are none.
    """
    sheet = _sheet_of(text, edition)
    result: Position = notation_of(sheet).read_position(text, edition=sheet, players=players, teams=teams)
    return result


def write_position(
    state: Any, edition: str | Path | Sheet, rules: Any, *, key: bool = True, checked: bool = True
) -> str:
    """A game as text.

    Args:
        state: its record: one of the games of an array, or an array of one.
        edition: the rule sheet that is played.
        rules: its rules at this table.
        key: whether to write the game's key, that is which random numbers are to come.
        checked: whether to make sure that the record is one of this table and reads back as it was, which
            takes most of the time.

    Returns:
        A name, a colon and words in each line, newlines at their ends; `read_position` makes the same record
        of them.

    Raises:
        StateError: the record is none.
        NotationError: it is not the record of a game at this table, the rules are not the edition's, or of
            games like this only the beginning can be written.
    """
    return str(notation_of(edition).write_position(state, edition, rules, key=key, checked=checked))


def _sheet_of(text: object, given: object) -> Any:
    """The sheet that a text names in its line `edition`, or the one that was given."""
    for number, line in text_lines(text, "a position"):
        name, colon, words = line.partition(":")
        if name.strip().lower() == "edition" and colon:
            return sheet_meant(line_of(number, name, words).words, given)
        if name.strip().lower() == PLAYS:
            break
    return sheet_meant(None, given)


def game_of(edition: Any) -> Game:
    """The game that a rule sheet is of.

    Raises:
        EditionError: it is no sheet of any game.
    """
    return find_game(find_edition(edition).game)


def sheet_meant(said: str | None, given: Any) -> Any:
    """The rule sheet of a text that names one, perhaps of another game than the one that was given.

    Args:
        said: what the text's line `edition` says; None: there is none.
        given: the sheet, or its name, that is played if the text does not say.

    Returns:
        The sheet that was given, unless the text names one of another game: then that one. A name that is
        none is left to the reader of the game that was given, who knows the line.

    Raises:
        EditionError: what was given is no sheet.
    """
    sheet: Any = find_edition(given)
    if said is None or said.endswith(".toml") or said.partition("+")[0] == sheet.name:
        return sheet
    try:
        named: Any = find_edition(said)
    except MilleBornesError:
        return sheet
    return sheet if named.game == sheet.game else named


def notation_of(edition: object) -> Any:
    """The module that writes and reads the positions of a sheet's game; `openings` if it has none that can.

    Raises:
        EditionError: it is no sheet of any game.
    """
    module = game_of(edition).find_hook("notation.positions")
    if module is not None and all(hasattr(module, name) for name in _NEEDED):
        return module
    return importlib.import_module(OPENINGS)


__all__ = ["Position", "game_of", "notation_of", "read_position", "write_position"]
