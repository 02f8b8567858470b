"""Distributions of rule sheets in frozen splits: a number of a split stands for a rule sheet.

    split("variants-v1:train").sheet(123456)   # as does edition("variants-v1:train/123456")

A game lists its splits in its hook `games.variants`. docs/research/variants.md describes the splits of the
package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import whole_number
from millebornes_env._util.texts import closest
from millebornes_env.errors import EditionError, MilleBornesError, OptionError, shown
from millebornes_env.games.registry import DEFAULT_GAME, GAMES, Sheet, game
from millebornes_env.games.registry import edition as find_edition

Numbers = npt.NDArray[np.int64]
RulesArray = npt.NDArray[np.void]

MOST_SHEETS: Final = 2**32
"""Number of sheets of a split without a `count`."""
MOST_DRAWN_HERE: Final = 2**16
"""Maximum number of sheets that the games of an environment draw from: 33 MiB of rules."""
MOST_OWN: Final = 2**10
"""The same for a split of your own without a `count`, whose function is called for each."""


@dataclass(frozen=True)
class Split:
    """A numbered set of rule sheets, to train on or to be tested on.

    A split of your own needs a name and a function: `Split("mine", lambda number: my_edition(number))`.

    Attributes:
        name: name in code, such as "variants-v1:train".
        draw: returns the sheet of a number; the same number always gives the same sheet.
        count: number of sheets; None: `MOST_SHEETS`.
        game: name of the game of all sheets.
        draw_rules: returns the rules of many numbers (int64[n]) at a table (players, teams) as `RULES[n]`;
            None: `draw` is called for each number.
    """

    name: str
    draw: Callable[[int], Sheet]
    count: int | None = None
    game: str = DEFAULT_GAME
    draw_rules: Callable[[Numbers, int, int], RulesArray] | None = None

    @property
    def label(self) -> str:
        """The name, as no rule can be overridden."""
        return self.name

    def table(self, players: int, teams: int | None = None) -> Any:
        """Return the largest value of each rule that a sheet can have, for layouts that fit all sheets.

        Raises:
            EditionError: the split is invalid.
            OptionError: its first sheet has no such table, or the game does not support splits.
        """
        rules = self.sheet(0).table(players, teams)
        widest = game(self.game).hook("games.widest_rules", f"the split {self.name!r}")
        return widest(rules.players, rules.teams)

    @property
    def size(self) -> int:
        """Number of sheets."""
        return MOST_SHEETS if self.count is None else self.count

    def records(self, players: int, teams: int) -> RulesArray:
        """Return the rules that the games of an environment draw from: those of the first sheets, `RULES[K]`.

        Raises:
            EditionError: the split is invalid.
            OptionError: a sheet has no such table.
        """
        most = MOST_DRAWN_HERE if self.draw_rules is not None else MOST_OWN
        return self.rules(np.arange(self.count or most), players, teams)

    def __reduce__(self) -> Any:
        """Pickle a split of the package by its name."""
        if splits().get(self.name) is self:
            return split, (self.name,)
        return Split, (self.name, self.draw, self.count, self.game, self.draw_rules)

    def sheet(self, number: int) -> Any:
        """Return the sheet of a number, an `Edition` of the game.

        Raises:
            EditionError: the split has no such number, or `draw` returned a sheet of another game.
        """
        known = whole_number(number)
        if known is None:
            raise EditionError(f"{shown(number)} is not a number of a sheet: {self._range()}")
        checked = int(self._checked(np.array([known], object))[0])
        try:
            result: object = self.draw(checked)
        except MilleBornesError:
            raise
        except Exception as error:  # of a user's function
            raise EditionError(
                f"the split {self.name!r} has no sheet {known}: {type(error).__name__}: {error}"
            ) from error
        if getattr(result, "game", None) != self.game:
            raise EditionError(
                f"the split {self.name!r} returned {shown(result)} for the number {known}: expected a sheet "
                f"of the game {self.game!r}, such as an Edition"
            )
        return result

    def rules(self, numbers: npt.ArrayLike, players: int, teams: int | None = None) -> RulesArray:
        """Return the rules of many sheets at one table.

        Args:
            numbers: whole numbers of the split, [n]; a number may occur several times.
            players: number of seats.
            teams: number of teams; None: the default of each sheet for this number of players.

        Returns:
            `RULES[n]`, as the rulebook's `rules_array` makes it.

        Raises:
            EditionError: the split has no such number.
            OptionError: a sheet has no such table.
        """
        checked = self._checked(np.asarray(numbers))
        if self.draw_rules is not None and len(checked):
            if teams is None:
                teams = int(self.sheet(int(checked[0])).table(players).teams)
            return self.draw_rules(checked, players, teams)
        rules_array = game(self.game).module().rules_array
        rules = [rules_array(self.sheet(int(number)).table(players, teams)) for number in checked]
        if not rules:
            return rules_array(self.sheet(0).table(players, teams))[:0]
        return np.concatenate(rules).view(np.recarray)

    def _checked(self, numbers: npt.NDArray[Any]) -> Numbers:
        """Return the numbers as int64[n]; raise EditionError unless all are in the split."""
        if numbers.ndim != 1 or (numbers.dtype.kind not in "iuO" and numbers.size):
            raise EditionError(
                f"the numbers of sheets are a list of whole numbers; got {numbers.dtype}{list(numbers.shape)}"
            )
        wrong = numbers[(numbers < 0) | (numbers >= self.size)]
        if len(wrong):
            raise EditionError(f"{self.name!r} has no sheet {shown(wrong.tolist()[0])}: {self._range()}")
        return numbers.astype(np.int64)

    def _range(self) -> str:
        return f"its sheets are {self.name}/0 to {self.name}/{self.size - 1}"


def splits() -> dict[str, Split]:
    """Return the splits of all games by their names."""
    found: dict[str, Split] = {}
    for one in GAMES.values():
        found |= one.find_hook("games.variants") or {}
    return found


def split(name: str) -> Split:
    """Return the split of that name, such as "variants-v1:train".

    Raises:
        EditionError: the name is unknown; the message lists the splits.
    """
    known = splits()
    given: object = name
    if isinstance(given, str) and given in known:
        return known[given]
    raise unknown_split(given, known)


def unknown_split(given: object, known: Mapping[str, Split]) -> EditionError:
    """Return the error for a name that is none of the splits."""
    hint = closest(given, known) if isinstance(given, str) else ""
    return EditionError(f"there is no split {shown(given)}; the splits are: {', '.join(known)}.{hint}")


def sheet_of(name: str, known: Mapping[str, Split]) -> Any:
    """Return the sheet of a name such as "variants-v1:train/123456", or raise EditionError."""
    stem, _, number = name.rpartition("/")
    if name in known:
        raise EditionError(
            f"{name!r} is a split, not one sheet: add a number, such as {name}/0, or use "
            f"millebornes_env.split({name!r})"
        )
    if stem not in known:
        raise unknown_split(stem or name, known)
    if not (number.isascii() and number.isdecimal() and str(int(number[:20])) == number):
        raise EditionError(f"{shown(name)} ends in {shown(number)}, not a number: {known[stem]._range()}")
    return known[stem].sheet(int(number))


# What games are played by ---------------------------------------------------------------------------------

Sheets = str | Path | Sheet | Split | Sequence[str | Path | Sheet] | Callable[[int], Sheet]
"""A rule sheet; or a split, a list of sheets or a function from a number to a sheet, from which each game
draws a sheet for each episode."""


def sheets_of(given: Sheets) -> Any:
    """Return the sheet, or the split that the games draw from.

    Raises:
        EditionError: a name is unknown, or a file is not a valid sheet.
        GameError: a sheet is of a game that is not registered.
        OptionError: the list is empty, or has sheets of different games.
    """
    known: object = given
    if isinstance(known, str) and known in splits():
        return split(known)
    if isinstance(known, (list, tuple)):
        return _split_of_list([find_edition(one) for one in known])
    if isinstance(known, Split) or not callable(known) or hasattr(known, "table"):
        return known if isinstance(known, Split) else find_edition(known)  # type: ignore[arg-type] # any value
    return Split(getattr(known, "__name__", "own"), known)


def _split_of_list(sheets: list[Any]) -> Split:
    if not sheets:
        raise OptionError("the list of editions is empty: give at least one")
    games = {sheet.game for sheet in sheets}
    if len(games) > 1:
        raise OptionError(f"the editions are of several games ({', '.join(sorted(games))}): use one game")
    return Split("+".join(sheet.name for sheet in sheets), sheets.__getitem__, len(sheets), games.pop())
