"""`Position`: one game as it stands, of any game of the table; and where its notation is found.

A game's hook `notation.positions` is the module that writes and reads its positions; of a game without it,
only the beginning of an episode can be written (`openings`).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Final

from millebornes_env.engine.rulebook import StateArray
from millebornes_env.errors import MilleBornesError
from millebornes_env.games.registry import Game
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as find_game

OPENINGS: Final = "millebornes_env.notation.openings"
"""The notation of games that have none of their own."""

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
        return str(
            notation_of(self.edition).write_position(self.state, self.edition, self.rules, key=self.has_key)
        )

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


def game_of(edition: Any) -> Game:
    """The game that a rule sheet is of.

    Raises:
        UnknownEditionError: it is no sheet of any game.
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
        UnknownEditionError: what was given is no sheet.
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
    """The module that writes and reads the positions of a sheet's game.

    Raises:
        UnknownEditionError: it is no sheet of any game.
    """
    return notation_of_game(game_of(edition))


def notation_of_game(entry: Game) -> Any:
    """The module that writes and reads the positions of a game; `openings` if it has none that can."""
    module = entry.find_hook("notation.positions")
    if module is not None and all(hasattr(module, name) for name in _NEEDED):
        return module
    return importlib.import_module(OPENINGS)


__all__ = ["Position", "game_of", "notation_of", "notation_of_game"]
