"""Records in JSON Lines files: one game per line, with the same words as in text.

{"millebornes": 1, "position": {"edition": "parker", ...}, "plays": ["seat 0: 25", ...], "result": [700, 350]}

The name of the first entry is the game, its value the format version. A file may contain several games.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from millebornes_env._util.files import replacing
from millebornes_env._util.texts import MOST_BYTES, decoded, undecodable
from millebornes_env.errors import MilleBornesError, NotationError, shown
from millebornes_env.games.registry import Sheet
from millebornes_env.notation.records import Record, entries_of, record_of_entries


def write_jsonl(path: str | Path, records: Iterable[Record]) -> None:
    """Write records to a file, one per line; the file is replaced atomically.

    Args:
        path: the file; its folder is made if it is missing.
        records: the records.

    Raises:
        OSError: the file cannot be written; an existing file is unchanged.
        NotationError: a record is invalid.
    """
    try:
        each = iter(records)
    except Exception:  # a user's `__iter__` may raise anything
        raise NotationError(
            f"write_jsonl writes a list of notation.Record; got {type(records).__name__}"
        ) from None
    with replacing(_path(path)) as draft, draft.open("x", encoding="utf-8", newline="\n") as file:
        for record in each:
            entries = entries_of(record)
            file.write(json.dumps(entries, ensure_ascii=False) + "\n")


def read_jsonl(
    path: str | Path, *, edition: str | Path | Sheet = "parker", players: int = 2, teams: int | None = None
) -> Iterator[Record]:
    """Read the records of a file, one after the other.

    Args:
        path: the file.
        edition: default sheet; see `read_position`.
        players: default number of seats.
        teams: default number of teams.

    Yields:
        The records; blank lines are skipped.

    Raises:
        OSError: the file cannot be read.
        NotationError: a line is not a valid record; the message names the file, the line and the problem.
    """
    with _path(path).open("rb") as file:
        number = 0
        while line := file.readline(MOST_BYTES + 1):
            number += 1
            if not line.removeprefix(codecs.BOM_UTF8).strip():
                continue
            try:
                record = record_of_entries(_parsed(line), edition, players, teams)
            except MilleBornesError as error:
                raise NotationError(f"{path}, line {number}: {error}") from None
            yield record


def _path(path: Any) -> Path:
    if not isinstance(path, (str, Path)) or not str(path) or "\0" in str(path):
        raise NotationError(f"{shown(path)} is not a valid path")
    try:
        os.fsencode(path)
    except UnicodeError as error:
        raise NotationError(f"{shown(path)} is not a valid path: {error}") from None
    return Path(path)


def _parsed(line: bytes) -> object:
    if len(line) > MOST_BYTES:
        raise NotationError(f"it has more than {MOST_BYTES:,} bytes, which is too long for a game")
    try:
        return json.loads(decoded(line), object_pairs_hook=_unique_names, parse_constant=_raise_for_constant)
    except NotationError:
        raise
    except UnicodeDecodeError as error:
        raise NotationError(f"this is not JSON: {undecodable(line, error)}") from None
    except (ValueError, RecursionError) as error:
        cut = "" if line.endswith(b"\n") else " (the last line has no newline: was the file cut off?)"
        raise NotationError(f"this is not JSON: {error}{cut}") from None


def _raise_for_constant(name: str) -> object:
    raise NotationError(f"this is not JSON: {name} is not a number in JSON")


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise NotationError(f"{shown(double)} is there twice")
    return result
