"""What callers pass in, checked: every way to be wrong gets a message that says what to do."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from millebornes_env.engine import kernels
from millebornes_env.engine.kernels import SKIP, Settings
from millebornes_env.errors import (
    ActionShapeError,
    NumEnvsError,
    OptionError,
    SeedError,
)
from millebornes_env.millebornes.observation import View

EPISODES = {"round": 0, "match": 1}
REWARDS = {"points": kernels.POINTS, "win": kernels.WIN}
ILLEGAL_ACTIONS = {"error": 0, "terminate": 1}
AUTORESET_MODES = {
    AutoresetMode.SAME_STEP: kernels.SAME_STEP,
    AutoresetMode.NEXT_STEP: kernels.NEXT_STEP,
    AutoresetMode.DISABLED: kernels.DISABLED,
}
LARGEST_SEED = 2**64 - 1


def one_of(option: str, value: object, known: Iterable[str]) -> str:
    """The value, if it is one of the known ones.

    Raises:
        OptionError: it is not; the message lists them and names the closest.
    """
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    close = difflib.get_close_matches(str(value), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise OptionError(f"{option} is {value!r}; it may be {', '.join(map(repr, names))}.{hint}")


def checked_num_envs(num_envs: object) -> int:
    """A whole number of at least 1.

    Raises:
        NumEnvsError: it is not.
    """
    return _whole_number("num_envs", num_envs, NumEnvsError)


def checked_num_threads(num_threads: object) -> int:
    """A whole number of at least 1.

    Raises:
        OptionError: it is not.
    """
    return _whole_number("num_threads", num_threads, OptionError)


def _whole_number(name: str, value: object, error: type[ValueError]) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise error(f"{name} is {value!r}; it must be a whole number, 1 or more") from None
    if number < 1:
        raise error(f"{name} is {number}; it must be 1 or more")
    return number


def checked_seed(seed: object) -> int:
    """A whole number from 0 to 2**64 - 1.

    Raises:
        SeedError: it is not.
    """
    try:
        if isinstance(seed, (bool, np.bool_)):
            raise TypeError
        number = operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise SeedError(f"seed is {seed!r}; it must be a whole number (or None to draw one)") from None
    if not 0 <= number <= LARGEST_SEED:
        raise SeedError(f"seed is {number}; it must be from 0 to 2**64 - 1")
    return number


def autoreset_mode(mode: object) -> AutoresetMode:
    """The mode, given as Gymnasium's `AutoresetMode` or as its name, in any case.

    Raises:
        OptionError: there is no such mode.
    """
    if isinstance(mode, AutoresetMode):
        return mode
    name = one_of("autoreset_mode", str(mode).upper(), AutoresetMode.__members__)
    return AutoresetMode[name]


def settings(*, episode: str, reward: str, mode: AutoresetMode, view: View, illegal_action: str) -> Settings:
    """The environment's options as the engine takes them.

    Raises:
        OptionError: an option has a value that it cannot have.
    """
    return Settings(
        match=EPISODES[one_of("episode", episode, EPISODES)],
        reward=REWARDS[one_of("reward", reward, REWARDS)],
        autoreset=AUTORESET_MODES[mode],
        layout=view,
        punish_illegal=ILLEGAL_ACTIONS[one_of("illegal_action", illegal_action, ILLEGAL_ACTIONS)],
    )


def checked_actions(actions: object, num_envs: int) -> npt.NDArray[np.int64]:
    """The actions as int64[num_envs]; no copy is made of an array that is one already.

    Raises:
        ActionShapeError: they are not whole numbers, one for each game.
    """
    array = actions if isinstance(actions, np.ndarray) else np.asarray(actions)
    if array.shape != (num_envs,):
        raise ActionShapeError(
            f"actions have the shape {array.shape}; step needs ({num_envs},): one action for each game"
        )
    if array.dtype.kind not in "iu":
        raise ActionShapeError(
            f"actions have the dtype {array.dtype}; step needs whole numbers, such as int64 "
            f"(an action is an id, not a vector of preferences; {SKIP} leaves a game as it is)"
        )
    if array.dtype == np.uint64:  # the largest would turn into negative ids
        array = np.minimum(array, np.uint64(np.iinfo(np.int64).max))
    return np.ascontiguousarray(array, dtype=np.int64)
