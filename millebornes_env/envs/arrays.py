"""Arrays that callers pass in, checked: compiled code trusts their shapes, dtypes and contents."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.kernels import SAME_STEP, SKIP, Buffers, Settings
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import Rulebook, StateArray
from millebornes_env.errors import ActionError, MilleBornesError, OptionError, StateError, shown
from millebornes_env.games.registry import Game

_INT64: Final = np.dtype(np.int64)
"""NumPy's own object for the dtype, which nearly all arrays of it share."""


def array_of(name: str, given: object, error: type[MilleBornesError]) -> npt.NDArray[Any]:
    """Convert to an array; raise `error` if NumPy cannot, for example for lists of different lengths."""
    try:
        return np.asarray(given)
    except (
        TypeError,
        ValueError,
        OverflowError,
        RuntimeError,
    ) as problem:  # the last: tensors with gradients
        raise error(f"{name} are {shown(given)}, of which no array can be made: {problem}") from None


def checked_actions(actions: object, num_envs: int, name: str = "actions") -> npt.NDArray[np.int64]:
    """Return the actions as int64[num_envs], without a copy if kernels can read the array as it is.

    Raises:
        ActionError: they are not whole numbers, one for each game.
    """
    array = actions if isinstance(actions, np.ndarray) else array_of(name, actions, ActionError)
    if array.shape != (num_envs,):
        raise ActionError(
            f"{name} have the shape {array.shape}; step needs ({num_envs},): one action for each game"
        )
    if array.dtype is _INT64 and type(array) is np.ndarray and array.flags.carray:
        return array
    if array.dtype.kind not in "iu":
        raise ActionError(
            f"{name} have the dtype {array.dtype}; step needs whole numbers, such as int64 "
            f"(an action is an id, not a vector of preferences; {SKIP} leaves a game as it is)"
        )
    if array.dtype == np.uint64:  # the largest would turn into negative ids
        array = np.minimum(array, np.uint64(np.iinfo(np.int64).max))
    # A copy: for arrays that are read-only or not aligned Numba would compile the kernels once more.
    return np.array(array, np.int64, order="C", subok=False)


def checked_seats(seats: object, num_envs: int, players: int) -> npt.NDArray[np.int32]:
    """Return the seats as int32[num_envs], given as one for all games or one for each.

    Raises:
        OptionError: they are not whole numbers, or not seats of the table.
    """
    given = array_of("seats", seats, OptionError)
    if given.dtype.kind not in "iu" or given.shape not in ((), (num_envs,)):
        raise OptionError(f"seats are {shown(seats)}; they must be one whole number, or {num_envs} of them")
    if given.min() < 0 or given.max() >= players:
        raise OptionError(f"seats are {shown(seats)}; they must be from 0 to {players - 1}")
    return np.array(np.broadcast_to(given, num_envs), np.int32, order="C", subok=False)


def checked_output(name: str, found: object, wanted: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the caller's array if a kernel can write to it: same shape and dtype as `wanted`.

    Compiled code checks no index: into a shorter array it would write beyond the end.

    Raises:
        OptionError: it is not such an array.
    """
    if (
        isinstance(found, np.ndarray)
        and not isinstance(found, np.ma.MaskedArray)
        and found.shape == wanted.shape
        and found.dtype == wanted.dtype
        and found.flags.carray
    ):
        return found.view(np.ndarray)
    raise OptionError(
        f"{name} must be writeable, aligned, C-contiguous {wanted.dtype}{list(wanted.shape)}; got "
        f"{_kind_of(found)}"
    )


def _kind_of(found: object) -> str:
    """Describe the shape and dtype of an array in words."""
    if not isinstance(found, np.ndarray):
        return shown(found)
    flags = found.flags
    faults = [
        *(["read-only"] if not flags.writeable else []),
        *(["not aligned"] if not flags.aligned else []),
        *(["not C-contiguous"] if not flags.c_contiguous else []),
        *(["masked"] if isinstance(found, np.ma.MaskedArray) else []),
    ]
    return " ".join([*faults, f"{found.dtype}{list(found.shape)}"])


def checked_buffers(buffers: object, wanted: Buffers) -> Buffers:
    """Return a caller's buffers as views that nobody else can reshape.

    Raises:
        OptionError: they are not `Buffers`, one of them has not the shape, dtype or layout of the one
            wanted, or two of them share memory.
    """
    if not isinstance(buffers, Buffers):
        raise OptionError(
            f"buffers is {shown(buffers)}; it must be engine.games.Buffers, such as new_buffers makes"
        )
    result = Buffers._make(
        checked_output(f"the buffer {name}", getattr(buffers, name), getattr(wanted, name))
        for name in Buffers._fields
    )
    for place, name in enumerate(Buffers._fields):
        for other in Buffers._fields[:place]:
            if np.may_share_memory(result[place], getattr(result, other)):
                raise OptionError(
                    f"the buffers {other} and {name} share memory; each must have memory of its own"
                )
    return result


def copied_records(
    states: object, count: int, record: np.dtype[np.void], name: str = "set_states"
) -> StateArray:
    """Return a copy of game records in the memory layout that kernels are compiled for.

    Args:
        states: as a caller gave them.
        count: how many there must be.
        record: the rulebook's `STATE`.
        name: what the caller calls them.

    Raises:
        StateError: it is not `STATE[count]`.
    """
    if not isinstance(states, np.ndarray) or states.dtype != record or states.shape != (count,):
        result = type(states).__name__
        if isinstance(states, np.ndarray):
            kind: object = states.dtype
            if states.dtype.names:
                kind = "such records" if states.dtype == record else "records of another version"
            result = f"{kind} of shape {states.shape}"
        raise StateError(f"{name} needs {count} records as get_states returned them; got {result}")
    copied = np.empty(count, record)
    copied[:] = states
    return copied


def checked_states(
    states: object, count: int, game: Game, rules: Any, settings: Settings | None = None
) -> StateArray:
    """Return a copy of game records that can be played on at a table.

    The copy is what is checked and what is used: nobody can change it in between.

    Args:
        states: as a caller gave them.
        count: how many there must be.
        game: that they are records of.
        rules: of the table.
        settings: of the environment that is to go on from them; None: it may be any.

    Raises:
        OptionError: the game has no audit to check them with.
        StateError: it is not `STATE[count]`, or a record that no game of this table, or of an environment
            with these settings, can be in.
    """
    audit = game.hook("games.audit", "set_states")
    copied = copied_records(states, count, game.module().STATE)
    problem = audit(copied, rules)
    if problem is not None:
        raise StateError(f"states[{problem[0]}] is not a valid state for this table: {problem[1]}")
    if settings is not None:
        _check_ended(copied.view(np.recarray), game.module(), rules, settings)
    return copied


def _check_ended(states: StateArray, rulebook: Rulebook, rules: Any, settings: Settings) -> None:
    """Raise if a game has ended where the settings do not allow it: no step could continue it."""
    is_over, broken_off = plain(rulebook.is_round_over), getattr(rulebook, "was_broken_off", None)
    for number, state in enumerate(states):
        if not is_over(state):
            continue
        if settings.autoreset == SAME_STEP:
            raise StateError(
                f"states[{number}] has ended, but with autoreset_mode SAME_STEP the next episode starts in "
                "the same step: take states from such an environment, or make this one with DISABLED"
            )
        if settings.punish_illegal == 0 and broken_off is not None and broken_off(state, rules):
            raise StateError(
                f"states[{number}] says that the game is over, but nobody has won and cards are left; only "
                'an illegal action ends a game so, with illegal_action="terminate"'
            )
