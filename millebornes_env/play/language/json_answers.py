"""Parse the last JSON object in the answer of a language model, without guessing."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

KEYS: Final = ("move", "action", "answer", "play")
"""Keys that may hold the move; the first that is present counts, and the others may not contradict it."""

DISCARD: Final = "discard"
DETAILS: Final = ("card", "target", "against", "opponent", "team", DISCARD)
"""Keys that may hold a part of the move: {"move": "discard", "card": "Roll"}."""

_LONGEST: Final = 4_000  # characters of an object that holds a move
_QUOTES: Final = str.maketrans("\u201c\u201d\u201e\u201f\u2033\u2018\u2019\u201a\u201b", '"' * 5 + "'" * 4)
"""Typographic quotes, replaced by those of JSON and Python."""

_BARE_KEY: Final = re.compile(r"([{,]\s*)([A-Za-z_]+)(\s*:)")
_HAS_KEY: Final = re.compile(rf"\b({'|'.join(KEYS)})\b\W{{0,4}}:", re.IGNORECASE)

_COMMENT: Final = r"//[^\n]*|/\*(?:.*?\*/|.*)"
_IN_QUOTES: Final = re.compile(r'\\.|"', re.DOTALL)
_IN_OBJECT: Final = re.compile(rf'\\.|["{{}}]|{_COMMENT}', re.DOTALL)
_OUTSIDE: Final = re.compile(r'\\.|["{}]', re.DOTALL)
_STRING_OR_COMMENT: Final = re.compile(
    rf"""(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|{_COMMENT}""", re.DOTALL
)

_OPENING: Final = re.compile(r"\{\s*(?:[\"']|$)")


class Detail(NamedTuple):
    """A detail of the move besides its name: a key of `DETAILS`, or a further one of `KEYS`, and the text."""

    key: str
    text: str


class Move(NamedTuple):
    """The contents of an answer.

    Attributes:
        move: text of the move, or None.
        details: further entries of the object about the move.
        problem: the reason why there is no move; else empty.
    """

    move: str | None
    details: tuple[Detail, ...] = ()
    problem: str = ""


NO_OBJECT: Final = 'there is no JSON object with the key "move" in it'


def find_move(text: str) -> Move | None:
    """Read the last JSON object of the text that has a move; None if there is none."""
    pieces = [piece for piece in _objects(text.translate(_QUOTES)) if _may_be_answer(piece)]
    if not pieces:
        return None
    last = pieces[-1]
    if not last.is_whole:
        return Move(None, (), "its last JSON object is cut off")
    read = _read(last.text)
    if isinstance(read, _Twice):
        return Move(None, (), f"its last JSON object has the key {read.key!r} twice")
    if read is None:
        return Move(None, (), "its last JSON object cannot be read as JSON")
    return _move_in(read)


class _Piece(NamedTuple):
    """A {...} of a text, or the rest of the text if its end is missing."""

    text: str
    is_whole: bool


def _may_be_answer(piece: _Piece) -> bool:
    """Return True if the object has a move, or is cut off where one might have followed."""
    return _HAS_KEY.search(piece.text) is not None or (
        not piece.is_whole and _OPENING.match(piece.text) is not None
    )


def _objects(text: str) -> Iterator[_Piece]:
    """Yield the outermost {...} of a text in order; the last one may lack its end."""
    closed: list[tuple[int, int]] = []
    open_at: list[int] = []
    quoted = False
    position = 0
    while result := (_IN_QUOTES if quoted else _IN_OBJECT if open_at else _OUTSIDE).search(text, position):
        letter, position = result[0], result.end()
        if letter == '"' and open_at:
            quoted = not quoted
        elif letter == "{":
            open_at.append(result.start())
        elif letter == "}" and open_at:
            start = open_at.pop()
            while closed and closed[-1][0] > start:
                closed.pop()  # inside of this one
            closed.append((start, result.end()))
    for start, end in closed:
        yield _Piece(text[start:end], True)
    end = closed[-1][1] if closed else 0
    left = [start for start in open_at if start >= end]
    if left:
        yield _Piece(text[left[0] :], False)


class _Twice(NamedTuple):
    key: str


def _read(text: str) -> dict[str, Any] | _Twice | None:
    """Parse an object; single quotes, bare keys, trailing commas and comments without a move are allowed."""
    if len(text) > _LONGEST:
        return None
    comments = [match[0] for match in _STRING_OR_COMMENT.finditer(text) if match["string"] is None]
    if any(_HAS_KEY.search(comment) for comment in comments):
        return None
    if comments:
        text = _STRING_OR_COMMENT.sub(lambda match: match["string"] or " ", text)
    for written in (text, _BARE_KEY.sub(r'\1"\2"\3', text)):
        try:
            result = json.loads(written, strict=False, object_pairs_hook=_without_doubles)
        except KeyError as error:  # of `_without_doubles`
            return _Twice(error.args[0])
        except (ValueError, RecursionError):
            result = _literal(written)
            if isinstance(result, _Twice):
                return result
        if isinstance(result, dict):
            return result
    return None


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [_key(name) for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise KeyError(name)
    return dict(pairs)


def _literal(text: str) -> Any:
    """Parse a dictionary literal of Python."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if not isinstance(tree, ast.Dict):
            return None
        names = [str(ast.literal_eval(key)) for key in tree.keys if key is not None]
        for name in names:
            if names.count(name) > 1:
                return _Twice(name)
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _key(name: object) -> str:
    return str(name).strip().casefold()


def _move_in(read: dict[Any, Any]) -> Move:
    """Find the move in an object, or in the only object inside of it."""
    by_key = {_key(name): value for name, value in read.items()}
    name = next((key for key in KEYS if key in by_key), None)
    if name is None:
        inner = [value for value in by_key.values() if isinstance(value, dict)]
        return _move_in(inner[0]) if len(inner) == 1 else Move(None, (), NO_OBJECT)
    value = by_key[name]
    details = tuple(
        Detail(key, text)
        for key in (*KEYS, *DETAILS)
        if key in by_key and key != name and (text := _text_of_detail(key, by_key[key]))
    )
    if isinstance(value, dict):
        within = _move_in(value)
        return within._replace(details=(*within.details, *details))
    if isinstance(value, list):
        if len(value) != 1:
            return Move(None, (), f"its {name!r} is a list of {len(value)}: name one move")
        value = value[0]
    text = _text_of(value)
    if text is None or not text.strip():
        return Move(None, (), f"its {name!r} names no move")
    return Move(" ".join(text.split()), details)


def _text_of_detail(key: str, value: object) -> str | None:
    """Return the text of a detail; a list with one item counts as the item."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if key == DISCARD and value is True:
        return DISCARD
    return str(value) if isinstance(value, (list, dict, tuple, set)) and value else _text_of(value)


def _text_of(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, (int, float)) else None
