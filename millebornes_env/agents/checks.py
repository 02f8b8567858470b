"""Checks of the arguments of agents, made on entry because compiled code does not check them.

Valid arrays are not copied; all checks together take two or three microseconds. `name` is always the name of
the agent, for messages.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.decoder import CHOSE_NOTHING, OUT_OF_RANGE, bounds_of, decoder_of
from millebornes_env.agents.protocol import Observations, SlotIds, Table
from millebornes_env.errors import AgentError, shown

MOST_SLOTS: Final = 1 << 24
"""Largest number of memories of an agent (1.6 GB); a larger number is probably a mistake."""

_INT8: Final = np.dtype(np.int8)
_INT64: Final = np.dtype(np.int64)


def checked_rows(name: str, observations: Any, size: int) -> Observations:
    """Return the observations as int8[N, size], C-contiguous and writeable, as compiled code needs them.

    Lists and arrays of other types are accepted if they hold whole numbers.

    Raises:
        AgentError: the observations have another shape, or are not whole numbers from -128 to 127.
    """
    is_int8 = isinstance(observations, np.ndarray) and observations.dtype == _INT8
    rows: Observations = observations if is_int8 else _as_int8(name, observations)
    if rows.ndim != 2 or rows.shape[1] != size:
        raise AgentError(
            f"{name!r}: observations have the shape {rows.shape}; expected (N, {size}), a row for each game, "
            "from an environment with the agent's table"
        )
    flags = rows.flags
    if type(rows) is not np.ndarray or not (flags.c_contiguous and flags.writeable):
        rows = np.array(rows, order="C", subok=False)  # Numba would compile again for other array types
    return rows


def _as_int8(name: str, observations: Any) -> Observations:
    """Convert numbers of any type to int8; raises an AgentError as `checked_rows`."""
    try:
        given = np.asarray(observations)
    except ValueError:
        raise AgentError(f"{name!r}: observations are not an array: rows have different lengths") from None
    except Exception:  # an error in a user's `__array__`
        raise AgentError(
            f"{name!r}: observations are {shown(observations)}; expected an array, int8[N, D]"
        ) from None
    if given.dtype.kind not in "iufb":
        raise AgentError(f"{name!r}: observations have the dtype {given.dtype}; expected int8")
    with np.errstate(invalid="ignore"):
        rows: Observations = given.astype(np.int8)
    if not np.array_equal(rows, given):
        raise AgentError(
            f"{name!r}: observations of {given.dtype} contain values other than whole numbers from -128 to "
            "127; agents take the environment's observations, unscaled"
        )
    return rows


def as_array(given: Any) -> npt.NDArray[Any]:
    """Return what was given as an array; what cannot be one has the shape (0, 0)."""
    try:
        return given if isinstance(given, np.ndarray) else np.asarray(given)
    except Exception:  # ragged rows, or an error in a user's `__array__`
        return np.zeros((0, 0))


def check_masks(name: str, action_masks: Any, rows: int, num_actions: int) -> None:
    """Raise if the masks are not int8[rows, num_actions], a row for each observation.

    Raises:
        AgentError: the masks have another shape, or are neither whole numbers nor booleans.
    """
    masks = as_array(action_masks)
    shape = masks.shape
    if shape != (rows, num_actions):
        raise AgentError(
            f"{name!r}: action_masks have the shape {shape}; expected ({rows}, {num_actions}): a row for "
            f"each observation, with the {num_actions} actions of the agent's table"
        )
    if masks.dtype.kind not in "biu":
        raise AgentError(
            f"{name!r}: action_masks have the dtype {masks.dtype}; expected int8, 1 for legal actions"
        )


def checked_slot_ids(name: str, slot_ids: Any, rows: int) -> SlotIds:
    """Return the slot ids as int64[rows]; None stands for the row numbers.

    Raises:
        AgentError: the ids have another shape, are not whole numbers, or are negative or too large.
    """
    if slot_ids is None:
        return np.arange(rows)
    result = as_array(slot_ids)
    if result.shape != (rows,):
        raise AgentError(
            f"{name!r}: slot_ids have the shape {result.shape}; expected ({rows},): a number for each "
            "observation"
        )
    if rows == 0:
        return np.zeros(0, np.int64)
    if result.dtype.kind not in "iu":
        raise AgentError(
            f"{name!r}: slot_ids have the dtype {result.dtype}; expected whole numbers, such as game * "
            "players + seat"
        )
    lowest, highest = int(result.min()), int(result.max())
    if lowest < 0 or highest >= MOST_SLOTS:
        wrong = lowest if lowest < 0 else highest
        row = int(np.flatnonzero(result == wrong)[0])
        raise AgentError(
            f"{name!r}: slot_ids[{row}] is {wrong}; it must be from 0 to {MOST_SLOTS - 1:,}, such as game * "
            "players + seat"
        )
    return np.ascontiguousarray(result, _INT64)


def checked_seats(name: str, seats: Any, games: int, players: int) -> npt.NDArray[np.int32]:
    """Return the seats as int32[games].

    Raises:
        AgentError: the seats have another shape, are not whole numbers, or do not exist at the table.
    """
    result = as_array(seats)
    if result.shape != (games,) or (games and result.dtype.kind not in "iu"):
        raise AgentError(
            f"{name!r}: seats are {result.dtype}{list(result.shape)}; expected int32[{games}], the seat "
            "to act in each game"
        )
    if games and not 0 <= int(result.min()) <= int(result.max()) < players:
        raise AgentError(
            f"{name!r}: seats range from {result.min()} to {result.max()}; at its table from 0 to "
            f"{players - 1}"
        )
    return result.astype(np.int32)


def check_ranges(name: str, table: Table, rows: Observations) -> None:
    """Raise if a row of int8[N, D] has numbers out of range for this table; their consistency is not checked.

    Raises:
        AgentError: a row is out of range.
    """
    bounds = bounds_of(table)
    outside = ((rows < bounds[0]) | (rows > bounds[1])).any(axis=1)
    if outside.any():
        raise row_error(name, table, rows, int(outside.argmax()), OUT_OF_RANGE)


def row_error(name: str, table: Table, rows: Observations, number: int, fault: int) -> AgentError:
    """Build the error for row `number`, which is impossible at the table; `fault` is one of `decoder`."""
    if fault == CHOSE_NOTHING:
        return AgentError(
            f"{name!r} chose a negative action for observations[{number}], which has legal actions: its "
            "function has a bug, and its memory is invalid (call `forget`)"
        )
    if fault == OUT_OF_RANGE:
        bounds, row = bounds_of(table), rows[number]
        index = int(((row < bounds[0]) | (row > bounds[1])).argmax())
        section = next(part for part in table.sections if part.start <= index < part.stop)
        low, high = int(bounds[0, index]), int(bounds[1, index])
        allowed = f"{low}" if low == high else f"{low} to {high}"
        what = f"number {index - section.start} of {section.name!r} is {int(row[index])}; allowed: {allowed}"
    else:
        what = decoder_of(table.rulebook).FAULTS[fault]
    return AgentError(
        f"{name!r}: observations[{number}] is impossible at its table ({table.edition}, "
        f"{table.rules.players} players): {what}; pass observations from an environment with this table"
    )


def checked_options(name: str, options: Any) -> npt.NDArray[np.int64]:
    """Return the settings of a compiled agent as int64.

    Raises:
        AgentError: one of them is not a whole number, or does not fit.
    """
    try:
        result = np.asarray(options)
        if result.size and result.dtype.kind not in "iub":
            raise OverflowError
        return result.astype(np.int64)
    except (OverflowError, ValueError):
        raise AgentError(
            f"the options of {name!r} are {options!r}; each must be a whole number from -2**63 to 2**63 - 1"
        ) from None
