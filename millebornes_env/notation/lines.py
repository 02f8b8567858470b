"""The words that positions and records are written in: lines, numbers, cards, and what is said of wrong ones.

A text is lines of the form `name: words`; `#` begins a comment, blank lines do not count. Cards are called by
their identifiers in lower case, distance cards by their km; `3x25` and `2x roll` are several of one kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from millebornes_env._util.texts import closest, shortened
from millebornes_env.engine.rulebook import TableRules
from millebornes_env.errors import NotationError, shown
from millebornes_env.games.millebornes.cards import DECK_SIZE, NUM_DISTANCES, Card

CARD_WORDS: Final = tuple(card.name.lower().removeprefix("distance_") for card in Card)
"""The name of each card in texts, by card id: `25`, `out_of_gas`, `right_of_way`."""

NOTHING: Final = "none"
"""An empty list of cards."""

PLAYS: Final = "plays"
"""The line after which a record's plays stand; a position ends there."""

RESULT: Final = "result"

AND_OTHERS: Final = "..."
"""At the end of a list of cards: and others, whichever are left."""

_ID_OF: Final = {word: card for card, word in enumerate(CARD_WORDS)}
_SEVERAL: Final = re.compile(r"([0-9]+)x(.*)")
_NAME: Final = re.compile(r"(?P<name>[^0-9]*?)(?: *(?P<place>[0-9]+))?(?: +at +(?P<at>[0-9]+))?", re.DOTALL)
_MOST_DIGITS: Final = 18


class Line(NamedTuple):
    """A line of a text.

    Attributes:
        number: in the text, from 1; 0 where the line stands in no text of several lines.
        name: what stands before the colon, without numbers: `hand`, `to act`.
        place: the seat or team that the name ends with, or None.
        at: of `stream 0 at 12`, the 12; else None.
        words: what stands after the colon, without comment.
    """

    number: int
    name: str
    place: int | None
    at: int | None
    words: str

    @property
    def key(self) -> str:
        """The name with its seat or team: there is one line of each."""
        return self.name if self.place is None else f"{self.name} {self.place}"

    @property
    def label(self) -> str:
        """The name as it was written."""
        return self.key if self.at is None else f"{self.key} at {self.at}"

    def refused(self, complaint: str) -> NotationError:
        """The error that says what is wrong with this line."""
        return refused(self.number, f"{self.label}: {self.words}", complaint)


def refused(number: int, text: str, complaint: str) -> NotationError:
    """The error that says what is wrong with the text of a line."""
    where = f"line {number}, " if number else ""
    return NotationError(f"{where}{shortened(text)!r}: {complaint}")


def text_lines(text: object, what: str) -> list[tuple[int, str]]:
    """The lines of a text that say something, with their numbers: no comments, no blank ones.

    Args:
        text: the text.
        what: that it should be, for the error: "a position".

    Raises:
        NotationError: it is no text.
    """
    if not isinstance(text, str):
        raise NotationError(f"{what} is text; got {type(text).__name__}")
    numbered = enumerate(text.removeprefix("\ufeff").split("\n"), 1)
    stripped = ((number, line.partition("#")[0].strip()) for number, line in numbered)
    return [(number, line) for number, line in stripped if line]


def named_line(number: int, text: str) -> Line:
    """The line of the form `name: words`.

    Raises:
        NotationError: there is no colon in it, or no name before it.
    """
    name, colon, words = text.partition(":")
    if not colon:
        raise refused(number, text, "there is no colon; a line reads 'name: words', such as 'dealer: 1'")
    return line_of(number, name, words)


def line_of(number: int, name: str, words: str) -> Line:
    """The line with that name and those words, the name taken apart."""
    result = _NAME.fullmatch(" ".join(name.lower().split()))
    words = " ".join(words.split())
    if result is None or len(result["place"] or "") > _MOST_DIGITS or len(result["at"] or "") > _MOST_DIGITS:
        raise refused(number, f"{name.strip()}: {words}", "its name is not understood")
    place, at = result["place"], result["at"]
    return Line(
        number,
        result["name"],
        None if place is None else int(place),
        None if at is None else int(at),
        words,
    )


def lines_of(words: Mapping[str, str]) -> Iterator[Line]:
    """The lines with these names and words, such as those of `words_of_position`."""
    return (line_of(0, name, said) for name, said in words.items())


def by_key(lines: Iterable[Line]) -> dict[str, Line]:
    """The lines by name and number.

    Raises:
        NotationError: two are of one name.
    """
    result: dict[str, Line] = {}
    for line in lines:
        first = result.setdefault(line.key, line)
        if first is not line:
            where = f" in line {first.number}" if first.number else ""
            raise line.refused(f"{shown(line.key)} is there already{where}: put the two together")
    return result


def check_name(line: Line, names: Mapping[str, str], rules: TableRules, of: str = "") -> None:
    """Refuse a line of another name than those there are, without its seat or team, or without words.

    Args:
        line: of a position.
        names: of the lines there are; "seat" or "team" where there is a line for each, else "".
        rules: the table's.
        of: what has these lines, to be said behind an unknown name.

    Raises:
        NotationError: it is refused.
    """
    counted = names.get(line.name)
    if counted is None:
        hint = closest(line.name, names) or f" The lines are: {', '.join(names)}."
        raise line.refused(f"there is no line {shown(line.name)}{of}.{hint}")
    if counted and line.place is None:
        raise line.refused(f"it must name the {counted}, such as '{line.name} 0'")
    if not counted and line.place is not None:
        raise line.refused(f"there is one {line.name!r} only: no number stands after it")
    if counted:
        (seat_of if counted == "seat" else team_named)(line, str(line.place), rules)
    if not line.words:
        raise line.refused(f"nothing stands after the colon; leave the line out, or write {NOTHING!r}")


def without_remark(line: Line) -> tuple[str, str]:
    """The words of a line, and what stands in parentheses after them."""
    words, parenthesis, remark = line.words.lower().partition("(")
    if parenthesis and not remark.endswith(")"):
        raise line.refused("the parenthesis is not closed at the end of the line")
    return words, remark.removesuffix(")").strip()


# Numbers ---------------------------------------------------------------------------------------------------


def number_of(line: Line, word: str, what: str, lowest: int, highest: int) -> int:
    """The whole number that a word of the line stands for.

    Raises:
        NotationError: it is none, or not between the two.
    """
    if re.fullmatch(r"[0-9]+", word) is None:
        raise line.refused(f"{what} is {shown(word)}; it must be a whole number")
    if len(word) > _MOST_DIGITS or not lowest <= int(word) <= highest:
        raise line.refused(f"{what} is {shortened(word)}; it must be from {lowest} to {highest}")
    return int(word)


def seat_of(line: Line, word: str, rules: TableRules) -> int:
    """The seat of that number.

    Raises:
        NotationError: the table has none.
    """
    return _place_of(line, word, "seat", rules.players, rules)


def team_named(line: Line, word: str, rules: TableRules) -> int:
    """The team of that number.

    Raises:
        NotationError: the table has none.
    """
    return _place_of(line, word, "team", rules.teams, rules)


def _place_of(line: Line, word: str, what: str, count: int, rules: TableRules) -> int:
    if re.fullmatch(r"[0-9]+", word) is None:
        raise line.refused(f"{shown(word)} is no {what}; write its number, 0 to {count - 1}")
    if len(word) > _MOST_DIGITS or int(word) >= count:
        raise line.refused(
            f"there is no {what} {shortened(word)}: the table has {table_words(rules)}, counted from 0"
        )
    return int(word)


def table_words(rules: TableRules) -> str:
    """Return the name of a table in texts: `4 players in 2 teams`."""
    return f"{rules.players} players in {rules.teams} teams"


# Cards -----------------------------------------------------------------------------------------------------


def card_named(line: Line, word: str) -> int:
    """The card that the word names.

    Raises:
        NotationError: it names none; the message says which it may mean, or lists all.
    """
    card = _ID_OF.get(word)
    if card is None:
        hint = closest(word, CARD_WORDS) or f" The cards are: {', '.join(CARD_WORDS)}."
        raise line.refused(f"there is no card {shown(word)}.{hint}")
    return card


def cards_named(line: Line, words: str) -> list[int]:
    """The cards of a list such as `3x25 2x roll stop`, in its order.

    Raises:
        NotationError: one of them is no card, or a number has none.
    """
    cards: list[int] = []
    count = 0  # of the card that comes next, if a number stands before it
    for word in words.lower().replace(",", " ").split():
        if word == NOTHING and words.split() == [NOTHING]:
            return []
        several = _SEVERAL.fullmatch(word)
        if several is not None:
            if count:
                raise line.refused(f"a card must stand between {count}x and {shown(word)}")
            count = number_of(line, several[1], "the number of cards", 1, DECK_SIZE)
            word = several[2]  # noqa: PLW2901 - what is left of it
            if not word:
                continue
        cards += [card_named(line, word)] * (count or 1)
        count = 0
    if count:
        raise line.refused(f"{count}x of which card? It must stand after it")
    return cards


def several(card: int, count: int) -> str:
    """So many copies of the card in words: `25`, `3x25`, `2x roll`."""
    word = CARD_WORDS[card]
    if count == 1:
        return word
    return f"{count}x{word}" if card < NUM_DISTANCES else f"{count}x {word}"


def words_of_counts(counts: Iterable[int] | Mapping[int, int]) -> str:
    """Cards of which only the number counts, in the order of their ids; "" for none."""
    pairs = counts.items() if isinstance(counts, Mapping) else enumerate(counts)
    return " ".join(several(card, int(count)) for card, count in sorted(pairs) if int(count))


def words_of_sequence(cards: Sequence[int]) -> str:
    """Cards in their order, neighbours of one kind taken together; "" for none."""
    runs: list[tuple[int, int]] = []
    for card in cards:
        if runs and runs[-1][0] == card:
            runs[-1] = (card, runs[-1][1] + 1)
        else:
            runs.append((int(card), 1))
    return " ".join(several(card, count) for card, count in runs)
