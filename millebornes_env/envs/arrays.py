"""Validation of arrays that callers pass: compiled code trusts their shapes, dtypes and contents.

Legality of actions: `engine.kernels.first_illegal`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.kernels import SAME_STEP, SKIP, Buffers, Settings
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import Rulebook, StateArray
from millebornes_env.errors import ActionError, MilleBornesError, OptionError, StateError, shown
from millebornes_env.games.registry import Game

_INT64: Final = np.dtype(np.int64)
"""NumPy's instance of the dtype, which nearly all int64 arrays share."""


def array_of(name: str, value: object, error: type[MilleBornesError]) -> npt.NDArray[Any]:
    """Convert a value to an array; raise `error` if NumPy cannot, as for lists of unequal lengths."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError, RuntimeError) as problem:  # RuntimeError: tensors with grad
        raise error(f"{name} are {shown(value)}, which cannot be converted to an array: {problem}") from None


def checked_actions(actions: object, num_envs: int, name: str = "actions") -> npt.NDArray[np.int64]:
    """Return the actions as int64[num_envs], without a copy if kernels can read the array as it is.

    Raises:
        ActionError: the actions are not one whole number for each game.
    """
    array = actions if isinstance(actions, np.ndarray) else array_of(name, actions, ActionError)
    if array.shape != (num_envs,):
        raise ActionError(
            f"{name} have the shape {array.shape}; step needs ({num_envs},), one action for each game"
        )
    if array.dtype is _INT64 and type(array) is np.ndarray and array.flags.carray:
        return array
    if array.dtype.kind not in "iu":
        raise ActionError(
            f"{name} have the dtype {array.dtype}; step needs whole numbers, such as int64 "
            f"(an action is an id, not a vector of preferences; {SKIP} skips a game)"
        )
    if array.dtype == np.uint64:  # the largest values would become negative ids
        array = np.minimum(array, np.uint64(np.iinfo(np.int64).max))
    # A copy: Numba would compile the kernels again for read-only or unaligned arrays.
    return np.array(array, np.int64, order="C", subok=False)


def checked_seats(seats: object, num_envs: int, players: int) -> npt.NDArray[np.int32]:
    """Convert one seat for all games, or one for each, to int32[num_envs].

    Raises:
        OptionError: the seats are not whole numbers, or not seats of the table.
    """
    array = array_of("seats", seats, OptionError)
    if array.dtype.kind not in "iu" or array.shape not in ((), (num_envs,)):
        raise OptionError(f"seats are {shown(seats)}; they must be one whole number, or {num_envs} of them")
    if array.min() < 0 or array.max() >= players:
        raise OptionError(f"seats are {shown(seats)}; they must be from 0 to {players - 1}")
    return np.array(np.broadcast_to(array, num_envs), np.int32, order="C", subok=False)


def checked_output(name: str, array: object, expected: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the caller's array if a kernel can write to it: same shape and dtype as `expected`.

    Compiled code checks no bounds and would write past the end of a shorter array.

    Raises:
        OptionError: the array has another shape, dtype or memory layout.
    """
    if (
        isinstance(array, np.ndarray)
        and not isinstance(array, np.ma.MaskedArray)
        and array.shape == expected.shape
        and array.dtype == expected.dtype
        and array.flags.carray
    ):
        return array if type(array) is np.ndarray else array.view(np.ndarray)
    raise OptionError(
        f"{name} must be writeable, aligned, C-contiguous {expected.dtype}{list(expected.shape)}; got "
        f"{_describe_array(array)}"
    )


def _describe_array(array: object) -> str:
    """Describe the layout, dtype and shape of an array."""
    if not isinstance(array, np.ndarray):
        return shown(array)
    flags = array.flags
    faults = [
        *(["read-only"] if not flags.writeable else []),
        *(["not aligned"] if not flags.aligned else []),
        *(["not C-contiguous"] if not flags.c_contiguous else []),
        *(["masked"] if isinstance(array, np.ma.MaskedArray) else []),
    ]
    return " ".join([*faults, f"{array.dtype}{list(array.shape)}"])


def checked_buffers(buffers: object, expected: Buffers) -> Buffers:
    """Return views of a caller's buffers, so that the caller cannot reshape them.

    Raises:
        OptionError: not `Buffers`, a buffer of another shape, dtype or layout than expected, or two buffers
            that share memory.
    """
    if not isinstance(buffers, Buffers):
        raise OptionError(
            f"buffers is {shown(buffers)}; it must be Buffers, as engine.batch.new_buffers returns"
        )
    result = Buffers._make(
        checked_output(f"the buffer {name}", getattr(buffers, name), getattr(expected, name)).view()
        for name in Buffers._fields
    )
    for index, name in enumerate(Buffers._fields):
        for other in Buffers._fields[:index]:
            if np.may_share_memory(result[index], getattr(result, other)):
                raise OptionError(f"the buffers {other} and {name} share memory; each must have its own")
    return result


def copied_records(
    states: object, count: int, record: np.dtype[np.void], name: str = "set_states"
) -> StateArray:
    """Return a copy of `STATE[count]` in the memory layout that kernels are compiled for.

    `record` is the rulebook's `STATE`, and `name` that of the argument or method in messages.

    Raises:
        StateError: the value is not `STATE[count]`.
    """
    if not isinstance(states, np.ndarray) or states.dtype != record or states.shape != (count,):
        got = type(states).__name__
        if isinstance(states, np.ndarray):
            kind: object = states.dtype
            if states.dtype.names:
                kind = "such records" if states.dtype == record else "records of another version"
            got = f"{kind} of shape {states.shape}"
        raise StateError(f"{name} needs {count} records from get_states; got {got}")
    copied = np.empty(count, record)
    copied[:] = states
    return copied


def checked_states(
    states: object,
    count: int,
    game: Game,
    rules_of: Callable[[StateArray], list[tuple[Any, npt.NDArray[np.int64]]]],
    settings: Settings | None = None,
) -> StateArray:
    """Return a copy of game records, validated for continuing the games at a table.

    The copy is made first, so the records cannot change between check and use.

    Args:
        states: value from the caller.
        count: required number of records.
        game: game of the records.
        rules_of: function that returns the rules of records, each with the indices of its records.
        settings: settings of the environment that continues the games; None allows any.

    Raises:
        OptionError: the game has no audit to check the records with. StateError: the value is not
        `STATE[count]`, or a record is not valid for this table or these settings.
    """
    audit = game.hook("games.audit", "set_states")
    copied = copied_records(states, count, game.module().STATE)
    for rules, games in rules_of(copied):
        problem = audit(copied[games], rules)
        if problem is not None:
            number = int(games[problem[0]])
            raise StateError(f"states[{number}] is not a valid state for this table: {problem[1]}")
        if settings is not None:
            _check_ended(copied.view(np.recarray), games, game.module(), rules, settings)
    return copied


def _check_ended(
    states: StateArray, games: npt.NDArray[np.int64], rulebook: Rulebook, rules: Any, settings: Settings
) -> None:
    """Raise if a game has ended in a way that cannot occur with these settings: no step could continue it."""
    is_over, was_broken_off = plain(rulebook.is_round_over), getattr(rulebook, "was_broken_off", None)
    for number in games.tolist():
        state = states[number]
        if not is_over(state):
            continue
        if settings.autoreset == SAME_STEP:
            raise StateError(
                f"states[{number}] is a game that has ended, which autoreset_mode SAME_STEP never leaves: "
                "take states from such an environment, or make this one with DISABLED"
            )
        if settings.punish_illegal == 0 and was_broken_off is not None and was_broken_off(state, rules):
            raise StateError(
                f"states[{number}] is a game that has ended with cards left and without a winner; only "
                'an illegal action with illegal_action="terminate" ends a game like this'
            )
