"""The two tables of recorded rounds: writing, reading and checking their Parquet files."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.recording.card import decision_columns, round_columns
from millebornes_env.arena.recording.description import checked
from millebornes_env.arena.recording.notations import notations
from millebornes_env.arena.recording.playing import Played
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import ArenaError

if TYPE_CHECKING:
    import pyarrow

KEY: Final = b"millebornes_env"
"""Entry of a file's metadata with its description."""

DECISIONS: Final = "decisions"
ROUNDS: Final = "rounds"
TABLES: Final = (DECISIONS, ROUNDS)
"""Names of the tables and of their folders."""

_LONGEST_REASON: Final = 300  # characters of the library's message
_LEVEL: Final = 1  # zstd level; higher ones take longer, and the files are no smaller
_INT8_LISTS: Final = ("observation", "action_mask", "hidden")
_ROW_GROUP: Final = 1 << 16  # rows that a reader must hold in memory


def arrow() -> Any:
    """Import and return pyarrow.

    Raises:
        ArenaError: pyarrow is not installed.
    """
    try:
        import pyarrow  # noqa: PLC0415 - of the extra `data`
        import pyarrow.parquet  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ArenaError(
            f"recorded data needs {error.name}, which is not installed: pip install 'millebornes-env[data]'"
        ) from None
    return pyarrow


def tables_of(played: Played, env: VectorEnv, described: Mapping[str, Any]) -> dict[str, pyarrow.Table]:
    """Return both tables of some rounds by name; `env` is of their table."""
    return {DECISIONS: _decisions_table(played, described), ROUNDS: _rounds_table(played, env, described)}


def _decisions_table(played: Played, described: Mapping[str, Any]) -> pyarrow.Table:
    """Return the table with a row for each decision."""
    pa = arrow()
    rows = played.decisions
    seats, games = rows.seats, rows.games
    begins = np.repeat(np.cumsum(played.lengths) - played.lengths, played.lengths)
    columns = {
        "round": pa.array((played.first_round + games).astype(np.int32)),
        "decision": pa.array((np.arange(len(games)) - begins).astype(np.int16)),
        "seat": pa.array(seats),
        "agent": pa.array(played.agents[games, seats % described["teams"]]),
        "observation": _lists(rows.observations),
        "action_mask": _lists(rows.masks),
        "action": pa.array(rows.actions),
        "reward_to_go": pa.array(played.rewards[games, seats]),
    }
    if described["hidden"]:
        columns["hidden"] = _lists(rows.hidden)
    return _table(DECISIONS, columns, described)


def _rounds_table(played: Played, env: VectorEnv, described: Mapping[str, Any]) -> pyarrow.Table:
    """Return the table with a row for each round."""
    pa = arrow()
    rounds = played.first_round + np.arange(len(played.begun))
    columns = {
        "round": pa.array(rounds.astype(np.int32)),
        "deal": pa.array((rounds // described["teams"]).astype(np.int32)),
        "sheet": pa.array(played.sheets),
        "decisions": pa.array(played.lengths),
        "agents": _lists(played.agents),
        "points": _lists(played.points),
        "rewards": _lists(played.rewards),
        "winner": pa.array(played.winners),
        "notation": notations(played, env),
    }
    return _table(ROUNDS, columns, described)


def _lists(rows: npt.NDArray[Any]) -> Any:
    pa = arrow()
    numbers = pa.array(rows.reshape(-1))
    return pa.FixedSizeListArray.from_arrays(numbers, type=_list_of(numbers.type, rows.shape[1]))


def _list_of(kind: Any, size: int) -> Any:
    pa = arrow()
    return pa.list_(pa.field("element", kind, nullable=False), size)


def _table(name: str, columns: Mapping[str, Any], described: Mapping[str, Any]) -> pyarrow.Table:
    pa = arrow()
    return pa.Table.from_arrays(list(columns.values()), schema=_schema(name, described))


def _schema(table: str, described: Mapping[str, Any]) -> pyarrow.Schema:
    """Return the columns of a table, without missing values: Parquet writes them in 80 % of the time."""
    pa = arrow()
    columns = (round_columns if table == ROUNDS else decision_columns)(described)
    kinds = [getattr(pa, one.type)() for one in columns]
    return pa.schema(
        pa.field(one.name, _list_of(kind, one.size) if one.size else kind, nullable=False)
        for one, kind in zip(columns, kinds, strict=True)
    )


def table_bytes(table: pyarrow.Table, said: Mapping[str, Any]) -> bytes:
    """Return a table as a Parquet file, with the description `said` in its metadata."""
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
        write_statistics=plain,  # nobody selects rows by the numbers of a list, and they take time
        use_byte_stream_split=lists,  # Parquet has no int8: this compresses three of four bytes away
        row_group_size=_ROW_GROUP,
    )
    written: bytes = content.getvalue().to_pybytes()
    return written


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert errors of the library to an ArenaError that names the file, except FileNotFoundError."""
    try:
        yield
    except (FileNotFoundError, ArenaError):
        raise
    except Exception as error:  # Arrow raises many kinds, and OSError for changed bytes
        raise damaged(path, error) from None


def description_of(path: Path) -> dict[str, Any]:
    """Return the description in a file's metadata, without reading its rows.

    Raises:
        ArenaError: the file is damaged, not a recording, or has another version.
    """
    return checked(_metadata(path).get("recording"), str(path))


def rounds_of(path: Path) -> tuple[int, int]:
    """Return the first round of a file and its number of rounds; raises the same as `description_of`."""
    metadata = _metadata(path)
    first, rounds = metadata.get("first_round"), metadata.get("rounds")
    if type(first) is not int or type(rounds) is not int or first < 0 or rounds < 1:
        raise damaged(path, "its metadata do not name its rounds")
    return first, rounds


def _metadata(path: Path) -> dict[str, Any]:
    with reading(path):
        metadata = json.loads((arrow().parquet.read_schema(path).metadata or {}).get(KEY, b"{}"))
        return metadata if isinstance(metadata, dict) else {}


def read_rows(path: Path) -> pyarrow.Table:
    """Read all rows of a file; raise an ArenaError if it is damaged."""
    with reading(path):
        table = arrow().parquet.read_table(path)
        table.validate(full=True)
        for name in table.column_names:
            if table.column(name).null_count:
                raise damaged(path, f"the column {name!r} has rows without a value")
        return table


def damaged(path: Path, error: object) -> ArenaError:
    """Return the error for a damaged file."""
    reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return ArenaError(
        f"{path}: the file is half-written or damaged ({reason[:_LONGEST_REASON]}); remove it, and record "
        "again: the other files are kept"
    )


def check_columns(path: Path, table: str, described: Mapping[str, Any]) -> None:
    """Raise an ArenaError if the names, types or sizes of the columns do not fit the description."""
    with reading(path):
        schema = arrow().parquet.read_schema(path)
        wanted = _schema(table, described)
        if schema.names != wanted.names:
            raise damaged(
                path, f"its columns are {', '.join(schema.names)}; they must be {', '.join(wanted.names)}"
            )
        for actual, field in zip(schema, wanted, strict=True):
            if actual.type != field.type:
                raise damaged(
                    path, f"the column {field.name!r} has type {actual.type}, and must have {field.type}"
                )
