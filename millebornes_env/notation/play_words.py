"""Unambiguous names of a game's actions for records, and short lists of names."""

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
"""Minimum length of a run of numbered names that is written as a range."""

_NUMBERED: Final = re.compile(r"(?P<words>.*\S) (?P<number>[0-9]{1,9})")
_PLAIN: Final = re.compile(r"[^:#\n\r]+")
_BY_ID: Final = re.compile(r"action ([0-9]{1,9})")


class PlayWords:
    """The names of a table's actions, from the game's hook or `Rulebook.action_name`.

    An action whose name is ambiguous, or invalid in a line, is written as `action 7`.

    Attributes:
        rules: the table's rules.
        count: A, the number of actions.
    """

    def __init__(self, game: Game, rules: Any) -> None:
        """Find the names of a table's actions."""
        self.rules = rules
        rulebook = game.module()
        self.count = int(rulebook.action_count(rules, None))
        own_words = game.find_hook("notation.action_words")
        self._names_of: Callable[[int, Any, int], Sequence[str]] = own_words or (
            lambda action, rules, seat: [rulebook.action_name(action, rules, seat)]
        )
        self._ids: dict[int, dict[str, int]] = {}

    def write(self, action: int, seat: int) -> str:
        """Return the name of an action of a seat."""
        number = whole_number("action", action, self.count)
        seat = whole_number("seat", seat, self.rules.players)
        name = _key(self._names_of(number, self.rules, seat)[0])
        return name if self._by_name(seat).get(name) == number else f"action {number}"

    def read(self, line: Line, seat: int) -> int:
        """Return the action that the words of a line name; an error suggests others."""
        words, names = _key(line.words), self._by_name(seat)
        if words in names:
            return names[words]
        by_id = _BY_ID.fullmatch(words)
        if by_id is not None and int(by_id[1]) < self.count:
            return int(by_id[1])
        written = [self.write(action, seat) for action in range(self.count)]
        longer = [name for name in written if name.startswith(f"{words} ")]
        hint = "" if longer else closest(words, written)
        hint = hint or f" The actions are: {listed(longer or written)}."
        raise line.error(f"there is no action {shown(words)}.{hint}")

    def _by_name(self, seat: int) -> dict[str, int]:
        """Return the actions with unambiguous names, by name."""
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
    """Return a value from 0 to count - 1 as an int; `what` is its noun in the error for another."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except Exception:  # a user's `__index__` may raise anything
        number = -1
    if not 0 <= number < count:
        raise NotationError(f"there is no {what} {shown(value)}; they are 0 to {count - 1}")
    return number


def _key(name: str) -> str:
    return " ".join(name.lower().split())


def runs(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Group consecutive names that differ only in their number, which counts up by one."""
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
    """Join names into one line: "pass, bid 3 to bid 53"."""
    words: list[str] = []
    for group in runs(names):
        words += [f"{group[0]} to {group[-1]}"] if len(group) >= LONG_RUN else group
    return ", ".join(words)


def number_at_the_end(name: str) -> int | None:
    """Return the number at the end of a name, such as 7 for "bid 7", or None."""
    result = _NUMBERED.fullmatch(name)
    return None if result is None else int(result["number"])
