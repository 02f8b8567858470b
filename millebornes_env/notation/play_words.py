"""The names of a game's actions as words that can be read back, and lists of them that stay short."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from millebornes_env._util.texts import closest
from millebornes_env.errors import NotationError, shown
from millebornes_env.games.registry import Game
from millebornes_env.notation.lines import Line

LONG_RUN: Final = 4
"""Names that differ in their number only are written as a range from so many on."""

_NUMBERED: Final = re.compile(r"(?P<words>.*\S) (?P<number>[0-9]{1,9})")
_PLAIN: Final = re.compile(r"[^:#\n\r]+")
_BY_ID: Final = re.compile(r"action ([0-9]{1,9})")


class PlayWords:
    """The actions of a table by their names: those of the game's hook, or `Rulebook.action_name`.

    A name that does not say which action is meant, or cannot stand in a line, is written as `action 7`.

    Attributes:
        rules: of the table.
        count: A, how many actions there are.
    """

    def __init__(self, game: Game, rules: Any) -> None:
        """Take the names of a table's actions."""
        self.rules = rules
        rulebook = game.module()
        self.count = int(rulebook.action_count(rules, None))
        own_words = game.find_hook("notation.action_words")
        self._names_of: Callable[[int, Any, int], Sequence[str]] = own_words or (
            lambda action, rules, seat: [rulebook.action_name(action, rules, seat)]
        )
        self._ids: dict[int, dict[str, int]] = {}

    def write(self, action: int, seat: int) -> str:
        """The words for an action of a seat.

        Raises:
            NotationError: there is no action of that id, or no such seat.
        """
        number = whole_number("action", action, self.count)
        place = whole_number("seat", seat, self.rules.players)
        name = _key(self._names_of(number, self.rules, place)[0])
        return name if self._by_name(place).get(name) == number else f"action {number}"

    def read(self, line: Line, seat: int) -> int:
        """The action that the words of a line name.

        Raises:
            NotationError: they name none; the message says which may be meant.
        """
        words, names = _key(line.words), self._by_name(seat)
        if words in names:
            return names[words]
        by_id = _BY_ID.fullmatch(words)
        if by_id is not None and int(by_id[1]) < self.count:
            return int(by_id[1])
        written = [self.write(action, seat) for action in range(self.count)]
        longer = [name for name in written if name.startswith(f"{words} ")]
        hint = "" if longer else closest(words, written)
        hint = hint or f" They are: {listed(longer or written)}."
        raise line.refused(f"there is no action {shown(words)}.{hint}")

    def _by_name(self, seat: int) -> dict[str, int]:
        """The actions whose name is theirs alone."""
        if seat not in self._ids:
            named = [
                (_key(name), action)
                for action in range(self.count)
                for name in self._names_of(action, self.rules, seat)
            ]
            counts = Counter(name for name, _ in named)
            self._ids[seat] = {
                name: action for name, action in named if counts[name] == 1 and _PLAIN.fullmatch(name)
            }
        return self._ids[seat]


def whole_number(what: str, value: Any, count: int) -> int:
    """The value as an int, if it is a whole number from 0 to count - 1.

    Raises:
        NotationError: it is none of those; `what` says of which kind they are, such as "action".
    """
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except Exception:  # whatever an `__index__` of theirs raises
        number = -1
    if not 0 <= number < count:
        raise NotationError(f"there is no {what} {shown(value)}; they are 0 to {count - 1}")
    return number


def _key(name: str) -> str:
    return " ".join(name.lower().split())


def runs(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Names in groups: those that differ in their number only, one after the other, are of one group."""
    result: list[list[str]] = []
    for name in names:
        last, now = result and _NUMBERED.fullmatch(result[-1][-1]), _NUMBERED.fullmatch(name)
        follows = last and now and last["words"] == now["words"]
        if follows and now and last and int(now["number"]) == int(last["number"]) + 1:
            result[-1].append(name)
        else:
            result.append([name])
    return [tuple(group) for group in result]


def listed(names: Sequence[str]) -> str:
    """The names in one line: "pass, bid 3 to bid 53"."""
    words: list[str] = []
    for group in runs(names):
        words += [f"{group[0]} to {group[-1]}"] if len(group) >= LONG_RUN else group
    return ", ".join(words)


def number_at_the_end(name: str) -> int | None:
    """The number that a name ends with: 7 of "bid 7"."""
    result = _NUMBERED.fullmatch(name)
    return None if result is None else int(result["number"])
