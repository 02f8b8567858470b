"""The names of a game's actions as words that can be read back, and lists of them that stay short."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from millebornes_env._util.texts import closest
from millebornes_env.engine.rulebook import Rulebook
from millebornes_env.errors import NotationError, shown
from millebornes_env.notation.lines import Line

LONG_RUN: Final = 4
"""Names that differ in their number only are written as a range from so many on."""

_NUMBERED: Final = re.compile(r"(?P<words>.*\S) (?P<number>[0-9]{1,9})")
_PLAIN: Final = re.compile(r"[^:#\n\r]+")
_BY_ID: Final = re.compile(r"action ([0-9]{1,9})")


class PlayWords:
    """The actions of a table by their names (`Rulebook.action_name`).

    A name that does not say which action is meant, or cannot stand in a line, is written as `action 7`.

    Attributes:
        count: A, how many actions there are.
    """

    def __init__(self, rulebook: Rulebook, rules: Any) -> None:
        """Take the names of a table's actions."""
        self.count = int(rulebook.action_count(rules, None))
        self._rulebook = rulebook
        self._rules = rules
        self._ids: dict[int, dict[str, int]] = {}

    def write(self, action: int, seat: int) -> str:
        """The words for an action of a seat.

        Raises:
            NotationError: there is no action of that id.
        """
        number = -1 if isinstance(action, bool) else int(action)
        if not 0 <= number < self.count:
            raise NotationError(f"there is no action {shown(action)}; they are 0 to {self.count - 1}")
        name = _key(self._rulebook.action_name(number, self._rules, seat))
        return name if self.by_name(seat).get(name) == number else f"action {number}"

    def read(self, line: Line, seat: int) -> int:
        """The action that the words of a line name.

        Raises:
            NotationError: they name none; the message says which may be meant.
        """
        words, names = _key(line.words), self.by_name(seat)
        if words in names:
            return names[words]
        by_id = _BY_ID.fullmatch(words)
        if by_id is not None and int(by_id[1]) < self.count:
            return int(by_id[1])
        hint = closest(words, names) or f" They are: {listed(list(names))}."
        raise line.refused(f"there is no action {shown(words)}.{hint}")

    def by_name(self, seat: int) -> dict[str, int]:
        """The actions whose name is theirs alone."""
        if seat not in self._ids:
            names = [_key(self._rulebook.action_name(one, self._rules, seat)) for one in range(self.count)]
            once = {name: names.index(name) for name in names if _PLAIN.fullmatch(name)}
            self._ids[seat] = {name: one for name, one in once.items() if names.count(name) == 1}
        return self._ids[seat]


def _key(name: str) -> str:
    return " ".join(name.lower().split())


def runs(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Names in groups: those that differ in their number only, one after the other, are of one group."""
    found: list[list[str]] = []
    for name in names:
        last, now = found and _NUMBERED.fullmatch(found[-1][-1]), _NUMBERED.fullmatch(name)
        follows = last and now and last["words"] == now["words"]
        if follows and now and last and int(now["number"]) == int(last["number"]) + 1:
            found[-1].append(name)
        else:
            found.append([name])
    return [tuple(group) for group in found]


def listed(names: Sequence[str]) -> str:
    """The names in one line: "pass, bid 3 to bid 53"."""
    words: list[str] = []
    for group in runs(names):
        words += [f"{group[0]} to {group[-1]}"] if len(group) >= LONG_RUN else group
    return ", ".join(words)


def number_at_the_end(name: str) -> int | None:
    """The number that a name ends with: 7 of "bid 7"."""
    found = _NUMBERED.fullmatch(name)
    return None if found is None else int(found["number"])
