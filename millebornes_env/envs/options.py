"""What callers pass in, checked: every way to be wrong gets a message that says what to do."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from millebornes_env.engine import kernels
from millebornes_env.engine.kernels import SKIP, Settings
from millebornes_env.errors import (
    ActionShapeError,
    NotationError,
    NumEnvsError,
    OptionError,
    SeedError,
)
from millebornes_env.millebornes.audit import first_problem
from millebornes_env.millebornes.editions import Edition
from millebornes_env.millebornes.observation import View
from millebornes_env.millebornes.rules import Rules
from millebornes_env.millebornes.state import ROUND_OVER, StateArray
from millebornes_env.notation.positions import Position, read_position
from millebornes_env.notation.words import table_words

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


# Resetting -------------------------------------------------------------------------------------------------

RESET_OPTIONS = ("reset_mask", "positions")


class Reset(NamedTuple):
    """What a reset begins.

    Attributes:
        chosen: bool[N], the games that begin anew.
        positions: where the chosen games begin, one for each; empty: with a deal.
    """

    chosen: npt.NDArray[np.bool_]
    positions: list[Position]

    def set_up(self, states: StateArray) -> None:
        """Lay the positions out in the chosen games, which have begun their next episode.

        A game whose position has no key keeps its own, and its count of episodes with it.
        """
        for game, position in zip(np.flatnonzero(self.chosen).tolist(), self.positions, strict=True):
            key, episode = states["key"][game].copy(), int(states["episode"][game])
            states[game] = position.state[0]
            if not position.has_key:
                states["key"][game], states["episode"][game] = key, episode


def reset_options(options: Mapping[str, Any] | None, num_envs: int, edition: Edition, rules: Rules) -> Reset:
    """The options of `reset`.

    Raises:
        OptionError: an unknown one, a mask of the wrong shape, or positions that are not those of the table.
        NotationError: a text is no position.
    """
    options = options or {}
    for name in options:
        if name not in RESET_OPTIONS:
            known = " and ".join(map(repr, RESET_OPTIONS))
            raise OptionError(f"unknown reset option {name!r}; the known ones are {known}")
    chosen = np.ones(num_envs, np.bool_)
    if "reset_mask" in options:
        chosen = _reset_mask(options["reset_mask"], num_envs)
    if "positions" not in options:
        return Reset(chosen, [])
    given, games = options["positions"], int(chosen.sum())
    if isinstance(given, (str, Position)):
        return Reset(chosen, [_checked_position(given, "positions", edition, rules)] * games)
    if not isinstance(given, Sequence) or len(given) != games:
        what = f"{len(given)} of them" if isinstance(given, Sequence) else repr(given)
        raise OptionError(
            f"positions are {what}; there must be {games} in a list, one for each game that begins anew, or "
            "one alone for all of them"
        )
    return Reset(
        chosen,
        [_checked_position(one, f"positions[{place}]", edition, rules) for place, one in enumerate(given)],
    )


def _reset_mask(mask: object, num_envs: int) -> npt.NDArray[np.bool_]:
    found = np.asarray(mask)
    if found.shape != (num_envs,) or found.dtype != np.bool_:
        raise OptionError(
            f"reset_mask is {found.dtype}{list(found.shape)}; it must be bool[{num_envs}], "
            "True where a new episode begins"
        )
    return found


def _checked_position(given: object, name: str, edition: Edition, rules: Rules) -> Position:
    """A position of this table at which a seat is to act."""
    if isinstance(given, str):
        try:
            given = read_position(given, edition=edition, players=rules.players, teams=rules.teams)
        except NotationError as error:
            raise NotationError(f"{name}: {error}") from None
    if not isinstance(given, Position):
        raise OptionError(f"{name} is {given!r}; it must be a text or a notation.Position")
    if given.rules != rules:
        raise OptionError(
            f"{name} is of the edition {given.edition.label!r}, {table_words(given.rules)}; this environment "
            f"plays {edition.label!r}, {table_words(rules)}"
        )
    problem = first_problem(given.state, rules)
    if problem is not None:
        raise OptionError(f"{name} is no game of this table: {problem[1]}")
    if int(given.state["phase"][0]) == ROUND_OVER:
        raise OptionError(f"{name}: the round is over there, and nobody is to act")
    return given
