"""`Position`, the state of one game of any kind with its rules, and the dispatch to the game's notation.

A game's hook `notation.positions` is the module that writes and reads its positions; for a game without it,
only the beginning of an episode can be written (`openings`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from millebornes_env.engine.rulebook import StateArray
from millebornes_env.errors import MilleBornesError
from millebornes_env.games.registry import Game, Sheet
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as find_game
from millebornes_env.notation.lines import Line, position_lines, text_of_words

OPENINGS: Final = "millebornes_env.notation.openings"
"""The notation of games without the hook."""

USUAL_EDITION: Final = "parker"
USUAL_PLAYERS: Final = 2

_NEEDED: Final = ("position_of_lines", "words_of_position")


@dataclass(frozen=True, eq=False)
class Position:
    """The state of one game, with its rules.

    Attributes:
        edition: the rule sheet.
        rules: its rules at this table.
        state: `STATE[1]` of the game, the record.
        has_key: True if the text has a key, which determines future chance; otherwise the key of the
            environment that plays on is used.
    """

    edition: Any
    rules: Any
    state: StateArray
    has_key: bool = True

    def __str__(self) -> str:
        return write_position(self.state, self.edition, self.rules, key=self.has_key)

    def _repr_html_(self) -> str | None:
        """Return a picture of the table for notebooks, or None if the game has no `render.picture`."""
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
    """Read a position of any game.

    Args:
        text: the output of `write_position`, or a part of it; docs/environment/records.md describes the
        defaults.
        edition: default rule sheet. A sheet of your own must be passed here: a text cannot name a file, but
            may name this sheet by its label.
        players: default number of seats.
        teams: default number of teams.

    Returns:
        The complete position.

    Raises:
        NotationError: the text is not a valid position; the message names the line and the problem.
        MilleBornesError: the edition or the table in the arguments is unknown.
    """
    lines = position_lines(text)
    sheet = choose_sheet(edition_in(lines), edition)
    result: Position = notation_of(sheet).position_of_lines(lines, sheet, players, teams)
    return result


def write_position(
    state: Any, edition: str | Path | Sheet, rules: Any, *, key: bool = True, checked: bool = True
) -> str:
    """Write a game as text.

    Args:
        state: its record: an element of an array of games, or an array of one.
        edition: the rule sheet.
        rules: its rules at this table.
        key: True to write the game's key, which determines future chance.
        checked: True to check that the record is valid at this table and reads back unchanged, which takes
            most of the time.

    Returns:
        One line for each field: its name, a colon and its words. `read_position` returns the same record.

    Raises:
        StateError: `state` is not one record of the game.
        NotationError: the record is invalid at this table, the rules are not the edition's, or the game has
            no notation except for the beginning of an episode.
    """
    return text_of_words(
        notation_of(edition).words_of_position(state, edition, rules, key=key, checked=checked)
    )


def edition_in(lines: Iterable[Line]) -> str | None:
    """Return the words of the line `edition`, or None."""
    return next((line.words for line in lines if line.key == "edition"), None)


def game_of(edition: Any) -> Game:
    """Return the game of a rule sheet."""
    return find_game(find_edition(edition).game)


def choose_sheet(words: str | None, default: Any) -> Any:
    """Return the sheet whose game is to read a text with the line `edition: words`, or without (None).

    It is the named sheet if that is of another game than the default. An unknown name is left to the reader
    of the default's game, which can report the line.
    """
    sheet: Any = find_edition(default)
    if words is None or words.endswith(".toml") or words.partition("+")[0] == sheet.name:
        return sheet
    try:
        named: Any = find_edition(words)
    except MilleBornesError:
        return sheet
    return sheet if named.game == sheet.game else named


def notation_of(edition: object) -> Any:
    """Return the module that reads and writes the positions of a sheet's game: its hook, or `openings`."""
    module = game_of(edition).find_hook("notation.positions")
    if module is not None and all(hasattr(module, name) for name in _NEEDED):
        return module
    return importlib.import_module(OPENINGS)
