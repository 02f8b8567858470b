"""Records in files of JSON Lines: one game in each line, the same words as in the text.

{"millebornes": 1, "position": {"edition": "parker", ...}, "plays": ["seat 0: 25", ...], "result": [700, 350]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from millebornes_env.errors import MilleBornesError, NotationError
from millebornes_env.files import replacing
from millebornes_env.millebornes.editions import Edition
from millebornes_env.notation.positions import position_of_words, words_of_position
from millebornes_env.notation.records import Record, read_play, write_play
from millebornes_env.texts import closest

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
    with replacing(Path(path)) as draft, draft.open("x", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(entries_of(record), ensure_ascii=False) + "\n")


def entries_of(record: Record) -> dict[str, Any]:
    """What stands in the line of a record, ready for JSON."""
    position = record.position
    entries: dict[str, Any] = {
        FORMAT: FORMAT_VERSION,
        "position": words_of_position(position.state, position.edition, position.rules, key=position.has_key),
        "plays": [write_play(play, position.rules) for play in record.plays],
    }
    if record.result is not None:
        entries["result"] = list(record.result)
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
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                entries = _parsed(line)
                record = record_of_entries(entries, edition=edition, players=players, teams=teams)
            except MilleBornesError as error:
                raise NotationError(f"{path}, line {number}: {error}") from None
            yield record


def _parsed(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8"), object_pairs_hook=_without_doubles)
    except NotationError:
        raise
    except (ValueError, RecursionError) as error:
        cut = "" if line.endswith(b"\n") else " (the line is the last, and has no end: was the file cut off?)"
        raise NotationError(f"this is no JSON: {error}{cut}") from None


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise NotationError(f"{double!r} is there twice")
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
                f"unknown entry {name!r}; there are {', '.join(_ENTRIES)}.{closest(name, _ENTRIES)}"
            )
    version = entries.get(FORMAT)
    if version != FORMAT_VERSION or isinstance(version, bool):
        raise NotationError(
            f"{FORMAT!r}, the version of the format, is {version!r}; this release reads {FORMAT_VERSION}"
        )
    words, plays, result = entries.get("position"), entries.get("plays", []), entries.get("result")
    if not isinstance(words, dict) or not all(isinstance(said, str) for said in words.values()):
        raise NotationError('\'position\' must be an object of names and words, {"dealer": "1", ...}')
    if not isinstance(plays, list) or not all(isinstance(play, str) for play in plays):
        raise NotationError("'plays' must be a list of texts, [\"seat 0: 25\", ...]")
    position = position_of_words(words, edition=edition, players=players, teams=teams)
    rules = position.rules
    if result is not None and not _is_result(result, rules.teams):
        raise NotationError(f"'result' must be a list of {rules.teams} whole numbers, each team's points")
    found = []
    for number, play in enumerate(plays, 1):
        try:
            found.append(read_play(play, rules))
        except NotationError as error:
            raise NotationError(f"play {number}, {error}") from None
    return Record(position, tuple(found), None if result is None else tuple(result))


def _is_result(result: object, teams: int) -> bool:
    if not isinstance(result, list) or len(result) != teams:
        return False
    return all(isinstance(points, int) and not isinstance(points, bool) and points >= 0 for points in result)
