"""Recorded rounds as Parquet: the two tables, how they are written, and what is wrong with a file."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.recording.description import checked, sizes
from millebornes_env.arena.recording.playing import Played
from millebornes_env.errors import ArenaError

if TYPE_CHECKING:
    import pyarrow

KEY: Final = b"millebornes_env"
"""The entry of a file's metadata that says what is in it."""

DECISIONS: Final = "decisions"
ROUNDS: Final = "rounds"
TABLES: Final = (DECISIONS, ROUNDS)
"""The tables, each in a folder of its name."""

_LONGEST_REASON: Final = 300  # characters of what the library says
_LEVEL: Final = 1  # of zstd: higher ones take longer, and make these numbers no smaller
_INT8_LISTS: Final = ("observation", "action_mask", "hidden")
_ROW_GROUP: Final = 1 << 16  # rows: what a reader has to hold at once


def arrow() -> Any:
    """The library, imported when it is needed.

    Raises:
        ArenaError: it is not installed.
    """
    try:
        import pyarrow  # noqa: PLC0415 - of the extra `data`
        import pyarrow.parquet  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ArenaError(
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


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever the library raises about a file into a sentence that names it.

    Raises:
        ArenaError: the file is damaged, or cannot be read.
        FileNotFoundError: there is none.
    """
    try:
        yield
    except (FileNotFoundError, ArenaError):
        raise
    except Exception as error:  # Arrow has many, and OSError for changed bytes
        raise damaged(path, error) from None


def description_of(path: Path) -> dict[str, Any]:
    """Return what a file says of itself; its rows are not read.

    Raises:
        ArenaError: it is half-written or damaged, or was not written by us, or is of another version.
    """
    return checked(_metadata(path).get("recording"), str(path))


def place_of(path: Path) -> tuple[int, int]:
    """Return the first round of a file, and how many rounds are in it; raises what `description_of` does."""
    found = _metadata(path)
    first, rounds = found.get("first_round"), found.get("rounds")
    if type(first) is not int or type(rounds) is not int or first < 0 or rounds < 1:
        raise damaged(path, "its metadata does not say which rounds it has")
    return first, rounds


def _metadata(path: Path) -> dict[str, Any]:
    with reading(path):
        found = json.loads((arrow().parquet.read_schema(path).metadata or {}).get(KEY, b"{}"))
        return found if isinstance(found, dict) else {}


def read_rows(path: Path) -> pyarrow.Table:
    """Read all rows of a file.

    Raises:
        ArenaError: it is damaged.
    """
    with reading(path):
        table = arrow().parquet.read_table(path)
        table.validate(full=True)
        for name in table.column_names:
            if table.column(name).null_count:
                raise damaged(path, f"the column {name!r} has rows without a value")
        return table


def damaged(path: Path, error: object) -> ArenaError:
    """Make the error for a file that is not whole."""
    reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return ArenaError(
        f"{path}: the file is half-written or damaged ({reason[:_LONGEST_REASON]}); remove it, and record "
        "again: the other files are kept"
    )


def check_columns(path: Path, table: str, described: Mapping[str, Any]) -> None:
    """Refuse a file whose columns are not those of its description.

    Raises:
        ArenaError: there are others, of other types, or lists of other lengths.
    """
    with reading(path):
        schema = arrow().parquet.read_schema(path)
        wanted = _columns(table, described)
        if schema.names != list(wanted):
            raise damaged(
                path, f"its columns are {', '.join(schema.names)}; they must be {', '.join(wanted)}"
            )
        for name, kind in wanted.items():
            found = schema.field(name).type
            if str(found).replace("element: ", "item: ") != kind:
                raise damaged(path, f"the column {name!r} is of type {found}, and must be {kind}")


def _columns(table: str, described: Mapping[str, Any]) -> dict[str, str]:
    """Name the columns of a table and their types, as Arrow writes them."""
    numbers, actions, hidden = sizes(described)
    teams, players = described["teams"], described["players"]
    if table == ROUNDS:
        return {
            **{"round": "int32", "deal": "int32", "decisions": "int32"},
            "agents": _list_of("int8", teams),
            "points": _list_of("int16", teams),
            "rewards": _list_of("float", players),
            **{"winner": "int8", "notation": "string"},
        }
    return {
        **{"round": "int32", "decision": "int16", "seat": "int8", "agent": "int8"},
        "observation": _list_of("int8", numbers),
        "action_mask": _list_of("int8", actions),
        **{"action": "int8", "reward_to_go": "float"},
        **({"hidden": _list_of("int8", hidden)} if hidden else {}),
    }


def _list_of(kind: str, size: int) -> str:
    return f"fixed_size_list<item: {kind}>[{size}]"
