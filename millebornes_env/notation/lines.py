"""The syntax of positions and records: lines, numbers, cards, and errors that name the line.

A text consists of lines of the form `name: words`; `#` begins a comment, and blank lines are ignored. Cards
are named by their identifiers in lower case, distance cards by their km; `3x25` and `2x roll` are several
cards of one kind.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from millebornes_env._util.texts import closest, shortened
from millebornes_env.engine.rulebook import TableRules
from millebornes_env.errors import NotationError, shown
from millebornes_env.games.millebornes.cards import DECK_SIZE, NO_CARD, Card
from millebornes_env.games.sheets import table_words

CARD_WORDS: Final = tuple(card.name.lower().removeprefix("distance_") for card in Card)
"""The name of each card in texts, by card id: `25`, `out_of_gas`, `right_of_way`."""

NOTHING: Final = "none"
"""An empty list of cards."""

PLAYS: Final = "plays"
"""The line between the position of a record and its plays."""

RESULT: Final = "result"

AND_OTHERS: Final = "..."
"""At the end of a list of cards: to be filled up with cards that no line names."""

_SEVERAL: Final = re.compile(r"([0-9]+)x(.*)")
_NAME: Final = re.compile(r"(?P<name>[^0-9]*?)(?: *(?P<owner>[0-9]+))?(?: +at +(?P<at>[0-9]+))?", re.DOTALL)
_MOST_DIGITS: Final = 18


class Line(NamedTuple):
    """A line of a text.

    Attributes:
        number: line number in the text, from 1; 0 if the line is not part of a longer text.
        name: the text before the colon, without numbers: `hand`, `to act`.
        owner: the seat or team at the end of the name, or None.
        at: the 12 of `stream 0 at 12`; else None.
        words: the text after the colon, without comment.
    """

    number: int
    name: str
    owner: int | None
    at: int | None
    words: str

    @property
    def key(self) -> str:
        """The name with its seat or team, unique in a position."""
        return self.name if self.owner is None else f"{self.name} {self.owner}"

    @property
    def label(self) -> str:
        """The whole text before the colon."""
        return self.key if self.at is None else f"{self.key} at {self.at}"

    def error(self, problem: str) -> NotationError:
        """Return an error that quotes this line."""
        return error_at(self.number, f"{self.label}: {self.words}", problem)


def error_at(number: int, text: str, problem: str) -> NotationError:
    """Return an error that quotes the text of a line, with its number unless that is 0."""
    where = f"line {number}, " if number else ""
    return NotationError(f"{where}{shortened(text)!r}: {problem}")


def text_lines(text: object, what: str) -> list[tuple[int, str]]:
    """Split a text into numbered lines, without comments and blank lines; `what` is its noun in errors."""
    if not isinstance(text, str):
        raise NotationError(f"{what} is text; got {type(text).__name__}")
    numbered = enumerate(text.removeprefix("\ufeff").split("\n"), 1)
    stripped = ((number, line.partition("#")[0].strip()) for number, line in numbered)
    return [(number, line) for number, line in stripped if line]


def position_lines(text: object) -> list[Line]:
    """Parse the lines of a position; raise NotationError if a line is invalid, or for a whole record."""
    lines = []
    for number, words in text_lines(text, "a position"):
        line = named_line(number, words)
        if line.name in (PLAYS, RESULT):
            raise line.error("this text is the record of a game, not a position alone: use read_record")
        lines.append(line)
    return lines


def named_line(number: int, text: str) -> Line:
    """Parse a line of the form `name: words`; raise NotationError without a colon or a valid name."""
    name, colon, words = text.partition(":")
    if not colon:
        raise error_at(number, text, "there is no colon; a line reads 'name: words', such as 'dealer: 1'")
    return line_of(number, name, words)


def line_of(number: int, name: str, words: str) -> Line:
    """Return the line of a name, which is parsed, and words."""
    result = _NAME.fullmatch(" ".join(name.lower().split()))
    words = " ".join(words.split())
    if result is None or len(result["owner"] or "") > _MOST_DIGITS or len(result["at"] or "") > _MOST_DIGITS:
        raise error_at(number, f"{name.strip()}: {words}", "its name is not understood")
    owner, at = result["owner"], result["at"]
    return Line(
        number,
        result["name"],
        None if owner is None else int(owner),
        None if at is None else int(at),
        words,
    )


def text_of_words(words: Mapping[str, str]) -> str:
    """Return the text of a mapping from names to words: a line for each."""
    return "".join([f"{name}: {said}\n" for name, said in words.items()])


def lines_of(words: Mapping[str, str]) -> Iterator[Line]:
    """Return the lines of a mapping from names to words, such as the result of `words_of_position`."""
    return (line_of(0, name, said) for name, said in words.items())


def by_key(lines: Iterable[Line]) -> dict[str, Line]:
    """Return the lines by `Line.key`; raise NotationError if two have the same key."""
    result: dict[str, Line] = {}
    for line in lines:
        first = result.setdefault(line.key, line)
        if first is not line:
            where = f" in line {first.number}" if first.number else ""
            raise line.error(f"{shown(line.key)} is there already{where}: put the two together")
    return result


def check_names(lines: Iterable[Line], names: Mapping[str, str], rules: TableRules, of: str = "") -> None:
    """Check the names of lines, their seats or teams, and that they have words.

    Args:
        lines: the lines of a position.
        names: the known names, with "seat" or "team" if there is a line for each, else "".
        rules: the table's rules.
        of: text after an unknown name in the error, such as " in a position of the race".

    Raises:
        NotationError: the check fails.
    """
    for line in lines:
        counted = names.get(line.name)
        if counted is None:
            hint = closest(line.name, names) or f" The lines are: {', '.join(names)}."
            raise line.error(f"there is no line {shown(line.name)}{of}.{hint}")
        if counted and line.owner is None:
            raise line.error(f"it must name the {counted}, such as '{line.name} 0'")
        if not counted and line.owner is not None:
            raise line.error(f"there is only one {line.name!r}: write it without a number")
        if counted:
            (seat_of if counted == "seat" else team_named)(line, str(line.owner), rules)
        if not line.words:
            raise line.error(f"nothing follows the colon; leave the line out, or write {NOTHING!r}")
        if line.at is not None and line.name != "stream":
            raise line.error("only a stream can have 'at', an offset in the deck")


def without_remark(line: Line) -> tuple[str, str]:
    """Split the words of a line into the words and a remark in parentheses after them."""
    words, parenthesis, remark = line.words.lower().partition("(")
    if parenthesis and not remark.endswith(")"):
        raise line.error("the parenthesis is not closed at the end of the line")
    return words, remark.removesuffix(")").strip()


# Numbers ---------------------------------------------------------------------------------------------------


def number_of(line: Line, word: str, what: str, lowest: int, highest: int) -> int:
    """Parse a number from `lowest` to `highest`; `what` is its noun in the error for any other word."""
    if re.fullmatch(r"[0-9]+", word) is None:
        raise line.error(f"{what} is {shown(word)}; it must be a whole number")
    if len(word) > _MOST_DIGITS or not lowest <= int(word) <= highest:
        raise line.error(f"{what} is {shortened(word)}; it must be from {lowest} to {highest}")
    return int(word)


def number_in(lines: Mapping[str, Line], name: str, lowest: int, highest: int, default: int) -> int:
    """Return the number in the line of that name, or the default without such a line."""
    line = lines.get(name)
    return default if line is None else number_of(line, line.words, f"the {name}", lowest, highest)


def seat_of(line: Line, word: str, rules: TableRules) -> int:
    """Parse the number of a seat; raise NotationError if the table has no such seat."""
    return _index_of(line, word, "seat", rules.players, rules)


def team_named(line: Line, word: str, rules: TableRules) -> int:
    """Parse the number of a team; raise NotationError if the table has no such team."""
    return _index_of(line, word, "team", rules.teams, rules)


def _index_of(line: Line, word: str, what: str, count: int, rules: TableRules) -> int:
    if re.fullmatch(r"[0-9]+", word) is None:
        raise line.error(f"{shown(word)} is not a {what}; write its number, 0 to {count - 1}")
    if len(word) > _MOST_DIGITS or int(word) >= count:
        table = table_words(rules.players, rules.teams)
        raise line.error(f"there is no {what} {shortened(word)}: the table has {table}, counted from 0")
    return int(word)


# Cards -----------------------------------------------------------------------------------------------------


def card_named(line: Line, word: str, names: Sequence[str] = CARD_WORDS, what: str = "card") -> int:
    """Return the card with that name, its index in `names`; raise an error with the closest name, or all."""
    if word in names:
        return names.index(word)
    hint = closest(word, names) or f" The cards are: {', '.join(names)}."
    raise line.error(f"there is no {what} {shown(word)}.{hint}")


def cards_named(
    line: Line, words: str, names: Sequence[str] = CARD_WORDS, what: str = "card", most: int = DECK_SIZE
) -> list[int]:
    """Parse a list of cards such as `3x25 2x roll stop`, with at most `most` copies in an item."""
    listed = words.lower().replace(",", " ").split()
    if listed == [NOTHING]:
        return []
    cards: list[int] = []
    count = 0  # copies of the next card, if it follows a number
    for word in listed:
        name, result = word, _SEVERAL.fullmatch(word)
        if result is not None:
            if count:
                raise line.error(f"a card is missing between {count}x and {shown(word)}")
            count, name = number_of(line, result[1], "the number of cards", 1, most), result[2]
        if name:
            cards += [card_named(line, name, names, what)] * (count or 1)
            count = 0
    if count:
        raise line.error(f"a card must follow {count}x")
    return cards


def without_others(line: Line) -> tuple[str, bool]:
    """Return the words of a line without `...` at the end, and True if it was there."""
    return line.words.removesuffix(AND_OTHERS), line.words.endswith(AND_OTHERS)


@functools.cache
def several(word: str, count: int) -> str:
    """Return the words for copies of a card: `25`, `3x25`, `2x roll`."""
    if count == 1:
        return word
    return f"{count}x{word}" if word.isdecimal() else f"{count}x {word}"


def words_of_counts(counts: Iterable[int] | Mapping[int, int]) -> str:
    """Return the words for counts of cards, in the order of their ids; "" if there are no cards."""
    pairs = sorted(counts.items()) if isinstance(counts, Mapping) else enumerate(counts)
    return " ".join([several(CARD_WORDS[card], count) for card, count in pairs if count])


def words_of_sequence(cards: Iterable[int], names: Sequence[str] = CARD_WORDS) -> str:
    """Return the words for a sequence of cards, with equal neighbours combined; "" if it is empty."""
    words, copies = [], 1
    for card, following in itertools.pairwise([*cards, NO_CARD]):
        if card == following:
            copies += 1
        else:
            words.append(several(names[card], copies))
            copies = 1
    return " ".join(words)
