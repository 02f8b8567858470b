"""Recorded rounds as Parquet: the two tables, how they are written, and what is wrong with a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.recording.description import check_version, sizes
from millebornes_env.recording.errors import RecordingError
from millebornes_env.recording.playing import Played

if TYPE_CHECKING:
    import pyarrow

KEY: Final = b"millebornes_env"
"""The entry of a file's metadata that says what is in it."""

DECISIONS: Final = "decisions"
ROUNDS: Final = "rounds"
TABLES: Final = (DECISIONS, ROUNDS)
"""The tables, each in a folder of its name."""

_LEVEL: Final = 1  # of zstd: higher ones take longer, and make these numbers no smaller
_INT8_LISTS: Final = ("observation", "action_mask", "hidden")
_ROW_GROUP: Final = 1 << 16  # rows: what a reader has to hold at once


def arrow() -> Any:
    """The library, imported when it is needed.

    Raises:
        RecordingError: it is not installed.
    """
    try:
        import pyarrow  # noqa: PLC0415 - of the extra `data`
        import pyarrow.parquet  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise RecordingError(
            f"recorded data needs {error.name}, which is not installed: pip install 'millebornes-env[data]'"
        ) from None
    return pyarrow


def decisions_table(played: Played, described: Mapping[str, Any]) -> pyarrow.Table:
    """A row for each decision."""
    pa = arrow()
    seats, games = played.seats, played.games
    begins = np.repeat(np.cumsum(played.lengths) - played.lengths, played.lengths)
    columns = {
        "round": pa.array((played.first_round + games).astype(np.int32)),
        "decision": pa.array((np.arange(len(games)) - begins).astype(np.int16)),
        "seat": pa.array(seats),
        "agent": pa.array(played.agents[games, seats % described["teams"]]),
        "observation": _lists(played.observations),
        "action_mask": _lists(played.masks),
        "action": pa.array(played.actions),
        "reward_to_go": pa.array(played.rewards[games, seats]),
    }
    if described["hidden"]:
        columns["hidden"] = _lists(played.hidden)
    return pa.table(columns)


def rounds_table(played: Played, texts: list[str], described: Mapping[str, Any]) -> pyarrow.Table:
    """A row for each round."""
    pa = arrow()
    rounds = played.first_round + np.arange(len(played.begun))
    columns = {
        "round": pa.array(rounds.astype(np.int32)),
        "deal": pa.array((rounds // described["teams"]).astype(np.int32)),
        "decisions": pa.array(played.lengths),
        "agents": _lists(played.agents),
        "points": _lists(played.points),
        "rewards": _lists(played.rewards),
        "winner": pa.array(played.winners),
        "notation": pa.array(texts),
    }
    return pa.table(columns)


def _lists(rows: npt.NDArray[Any]) -> Any:
    pa = arrow()
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])


def table_bytes(table: pyarrow.Table, said: Mapping[str, Any]) -> bytes:
    """A table as a Parquet file.

    Args:
        table: what it holds.
        said: the file's description, which goes into its metadata.
    """
    pa = arrow()
    lists = [f"{name}.list.element" for name in table.column_names if name in _INT8_LISTS]
    plain = [name for name in table.column_names if name not in (*_INT8_LISTS, "notation")]
    content = pa.BufferOutputStream()
    pa.parquet.write_table(
        table.replace_schema_metadata({KEY: json.dumps(said)}),
        content,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=plain,
        use_byte_stream_split=lists,  # Parquet has no int8: this is how three of four bytes go away
        row_group_size=_ROW_GROUP,
    )
    written: bytes = content.getvalue().to_pybytes()
    return written


def description_of(path: Path) -> dict[str, Any]:
    """What a file says of itself; its rows are not read.

    Raises:
        RecordingError: it is half-written or damaged, or was not written by us, or is of another version.
        OSError: it cannot be read.
    """
    return check_version(_metadata(path).get("recording"), str(path))


def place_of(path: Path) -> tuple[int, int]:
    """The first round of a file, and how many rounds are in it; raises what `description_of` does."""
    found = _metadata(path)
    try:
        return int(found["first_round"]), int(found["rounds"])
    except (KeyError, TypeError, ValueError):
        raise damaged(path, "its metadata does not say which rounds it has") from None


def _metadata(path: Path) -> dict[str, Any]:
    pa = arrow()
    try:
        found = pa.parquet.read_schema(path).metadata or {}
    except pa.ArrowInvalid as error:
        raise damaged(path, error) from None
    try:
        said = json.loads(found.get(KEY, b"{}"))
    except ValueError as error:
        raise damaged(path, error) from None
    return said if isinstance(said, dict) else {}


def damaged(path: Path, error: object) -> RecordingError:
    """What is said of a file that is not whole."""
    reason = " ".join(str(error).split()).rstrip(".")
    return RecordingError(
        f"{path}: the file is half-written or damaged ({reason}); remove it, and record again: the other "
        "files are kept"
    )


def check_columns(path: Path, table: str, described: Mapping[str, Any]) -> None:
    """Refuse a file whose columns are not those of its description.

    Raises:
        RecordingError: there are others, or lists of other lengths.
    """
    pa = arrow()
    numbers, actions, hidden = sizes(described)
    wanted = {"observation": numbers, "action_mask": actions, "hidden": hidden} if table == DECISIONS else {}
    schema = pa.parquet.read_schema(path)
    for name, length in wanted.items():
        kind = schema.field(name).type if name in schema.names else None
        found = kind.list_size if kind is not None and pa.types.is_fixed_size_list(kind) else 0
        if found != length:
            raise damaged(path, f"the column {name!r} has {found} numbers in a row, not {length}")
