"""Records in files of JSON Lines: one game in each line, the same words as in the text.

{"millebornes": 1, "position": {"edition": "parker", ...}, "plays": ["seat 0: 25", ...], "result": [700, 350]}

The first entry says which game it is of. A file may hold records of several games.
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
            entries = entries_of(record)
            file.write(json.dumps(entries, ensure_ascii=False) + "\n")


def read_jsonl(
    path: str | Path, *, edition: str | Path | Sheet = "parker", players: int = 2, teams: int | None = None
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
                record = record_of_entries(_parsed(line), edition=edition, players=players, teams=teams)
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
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise NotationError(f"{shown(double)} is there twice")
    return result
