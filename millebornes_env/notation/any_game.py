"""Positions and records of any game of the table: the game's own notation writes and reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from millebornes_env.engine.rulebook import StateArray
from millebornes_env.errors import NotationError
from millebornes_env.games.registry import Sheet
from millebornes_env.notation.lines import line_of, text_lines
from millebornes_env.notation.millebornes.records import Record, checked_record, records_of
from millebornes_env.notation.position import Position, notation_of, sheet_meant

USUAL_EDITION = "parker"
USUAL_PLAYERS = 2


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
    sheet = _sheet_of(text, "a position", edition)
    found: Position = notation_of(sheet).read_position(text, edition=sheet, players=players, teams=teams)
    return found


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


def read_record(
    text: str,
    *,
    edition: str | Path | Sheet = USUAL_EDITION,
    players: int = USUAL_PLAYERS,
    teams: int | None = None,
) -> Record:
    """The record that a text holds: a position, the line `plays:`, a play in each line, perhaps a result.

    The plays are taken as they stand; `replay` says whether the rules allow them.

    Args:
        text: as `write_record` writes it; without plays, a position alone.
        edition: what is played if the text does not say; see `read_position`.
        players: seats at the table if the text does not say.
        teams: teams at the table if the text does not say.

    Raises:
        NotationError: it holds none; the message names the line and what is wrong with it.
    """
    sheet = _sheet_of(text, "a record", edition)
    found: Record = records_of(sheet).read_record(text, edition=sheet, players=players, teams=teams)
    return found


def write_record(record: Record) -> str:
    """The record as text; `read_record` makes the same of it.

    Raises:
        NotationError: a play or a result that there is not at this table, or a position that is none.
    """
    return str(records_of(checked_record(record).position.edition).write_record(record))


def record_of(position: Position, actions: Iterable[int]) -> Record:
    """The record of a game that was played: who played is found by playing it again.

    Args:
        position: where it began.
        actions: the ids of what was played. Of Mille Bornes, where a round is over and more follow, the next
            one is dealt.

    Returns:
        The record, with its result if the game is over.

    Raises:
        NotationError: the position is none, or the rules do not allow an action; the message says which.
    """
    given: object = position
    if not isinstance(given, Position):
        raise NotationError(f"a game begins with a notation.Position; got {type(given).__name__}")
    found: Record = records_of(position.edition).record_of(position, actions)
    return found


def replay(record: Record) -> Iterator[StateArray]:
    """Play the record again.

    Args:
        record: what to play.

    Yields:
        `STATE[1]` of the game, a copy each: the game before every play, and at the end.

    Raises:
        NotationError: the position is none, the rules do not allow a play, or the game does not end with the
            record's result; the message names the line, the seat and the play, and what it might have done.
    """
    yield from records_of(checked_record(record).position.edition).replay(record)


def _sheet_of(text: object, what: str, given: object) -> Any:
    """The sheet that a text names in its line `edition`, or the one that was given."""
    for number, line in text_lines(text, what):
        name, colon, words = line.partition(":")
        if name.strip().lower() == "edition" and colon:
            return sheet_meant(line_of(number, name, words).words, given)
        if name.strip().lower() == "plays":
            break
    return sheet_meant(None, given)


__all__ = ["read_position", "read_record", "record_of", "replay", "write_position", "write_record"]
