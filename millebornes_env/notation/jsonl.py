"""Records in files of JSON Lines: one game in each line, the same words as in the text.

{"millebornes": 1, "position": {"edition": "parker", ...}, "plays": ["seat 0: 25", ...], "result": [700, 350]}
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from millebornes_env.errors import MilleBornesError, NotationError, shown
from millebornes_env.files import replacing
from millebornes_env.millebornes.editions import Edition
from millebornes_env.notation.positions import position_of_words, words_of_position
from millebornes_env.notation.records import Record, checked_record, checked_result, read_play, write_play
from millebornes_env.texts import MOST_BYTES, closest, decoded, undecodable

FORMAT: Final = "millebornes"
FORMAT_VERSION: Final = 1
"""Goes up when files of an older version can no longer be read."""

_ENTRIES: Final = (FORMAT, "position", "plays", "result")


def write_jsonl(path: str | Path, records: Iterable[Record]) -> None:
    """Write records to a file, a line each; the file is written whole or not at all.

    Args:
        path: the file; its folder is made if it is missing.
        records: what to write.

    Raises:
        OSError: it could not be written; the old file, if there was one, is as it was.
        NotationError: a record is none.
    """
    try:
        each = iter(records)
    except Exception:  # whatever is no list
        raise NotationError(
            f"write_jsonl writes a list of notation.Record; got {type(records).__name__}"
        ) from None
    with replacing(_path(path)) as draft, draft.open("x", encoding="utf-8", newline="\n") as file:
        for record in each:
            file.write(json.dumps(entries_of(record), ensure_ascii=False) + "\n")


def entries_of(record: Record) -> dict[str, Any]:
    """What stands in the line of a record, ready for JSON."""
    position = checked_record(record).position
    entries: dict[str, Any] = {
        FORMAT: FORMAT_VERSION,
        "position": words_of_position(position.state, position.edition, position.rules, key=position.has_key),
        "plays": [write_play(play, position.rules) for play in record.plays],
    }
    if record.result is not None:
        entries["result"] = checked_result(record.result, position.rules)
    return entries


def read_jsonl(
    path: str | Path, *, edition: str | Edition = "parker", players: int = 2, teams: int | None = None
) -> Iterator[Record]:
    """The records of a file, one after the other.

    Args:
        path: the file.
        edition: what is played if a record does not say; see `read_position`.
        players: seats at the table if a record does not say.
        teams: teams at the table if a record does not say.

    Yields:
        The records; blank lines are none.

    Raises:
        OSError: the file cannot be read.
        NotationError: a line is no record; the message names the file and the line, and what is wrong.
    """
    with _path(path).open("rb") as file:
        number = 0
        while line := file.readline(MOST_BYTES + 1):
            number += 1
            if not line.removeprefix(codecs.BOM_UTF8).strip():
                continue
            try:
                entries = _parsed(line)
                record = record_of_entries(entries, edition=edition, players=players, teams=teams)
            except MilleBornesError as error:
                raise NotationError(f"{path}, line {number}: {error}") from None
            yield record


def _path(path: Any) -> Path:
    if not isinstance(path, (str, Path)) or not str(path) or "\0" in str(path):
        raise NotationError(f"{shown(path)} names no file")
    try:
        os.fsencode(path)
    except UnicodeError as error:
        raise NotationError(f"{shown(path)} names no file: {error}") from None
    return Path(path)


def _parsed(line: bytes) -> object:
    if len(line) > MOST_BYTES:
        raise NotationError(f"it has more than {MOST_BYTES:,} bytes: that is no game")
    try:
        return json.loads(decoded(line), object_pairs_hook=_without_doubles, parse_constant=_refused_constant)
    except NotationError:
        raise
    except UnicodeDecodeError as error:
        raise NotationError(f"this is no JSON: {undecodable(line, error)}") from None
    except (ValueError, RecursionError) as error:
        cut = "" if line.endswith(b"\n") else " (the line is the last, and has no end: was the file cut off?)"
        raise NotationError(f"this is no JSON: {error}{cut}") from None


def _refused_constant(name: str) -> object:
    raise NotationError(f"this is no JSON: {name} is no number of it")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise NotationError(f"{shown(double)} is there twice")
    return found


def record_of_entries(
    entries: object, *, edition: str | Edition = "parker", players: int = 2, teams: int | None = None
) -> Record:
    """The record that `entries_of` describes.

    Raises:
        NotationError: it describes none.
    """
    if not isinstance(entries, dict):
        raise NotationError("a record is an object, {...}")
    for name in entries:
        if name not in _ENTRIES:
            raise NotationError(
                f"unknown entry {shown(name)}; there are {', '.join(_ENTRIES)}.{closest(name, _ENTRIES)}"
            )
    version = entries.get(FORMAT)
    if type(version) is not int or version != FORMAT_VERSION:
        raise NotationError(
            f"{FORMAT!r}, the version of the format, is {shown(version)}; this release reads {FORMAT_VERSION}"
        )
    words, plays, result = entries.get("position"), entries.get("plays", []), entries.get("result")
    if not isinstance(words, dict):
        raise NotationError('\'position\' must be an object of names and words, {"dealer": "1", ...}')
    for name, said in words.items():
        if not isinstance(said, str):
            raise NotationError(
                f'\'position\' must be an object of names and words, {{"dealer": "1", ...}}; '
                f"{shown(name)} is {shown(said)}, no text"
            )
    if not isinstance(plays, list):
        raise NotationError("'plays' must be a list of texts, [\"seat 0: 25\", ...]")
    for number, play in enumerate(plays, 1):
        if not isinstance(play, str):
            raise NotationError(
                f"'plays' must be a list of texts, [\"seat 0: 25\", ...]; play {number} is {shown(play)}"
            )
    position = position_of_words(words, edition=edition, players=players, teams=teams)
    rules = position.rules
    if result is not None:
        result = tuple(checked_result(result, rules))
    found = []
    for number, play in enumerate(plays, 1):
        try:
            found.append(read_play(play, rules))
        except NotationError as error:
            raise NotationError(f"play {number}, {error}") from None
    return Record(position, tuple(found), result)
