"""Validation of options, with error messages that say how to correct them."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from millebornes_env._util.arguments import one_of
from millebornes_env._util.texts import items_of
from millebornes_env.engine import kernels
from millebornes_env.engine.batch import new_buffers
from millebornes_env.engine.kernels import Settings
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules
from millebornes_env.envs.arrays import array_of, copied_records
from millebornes_env.errors import NotationError, OptionError, StateError, shown
from millebornes_env.games.registry import Game, Sheet

ILLEGAL_ACTIONS = {"error": 0, "terminate": 1}
AUTORESET_MODES = {
    AutoresetMode.SAME_STEP: kernels.SAME_STEP,
    AutoresetMode.NEXT_STEP: kernels.NEXT_STEP,
    AutoresetMode.DISABLED: kernels.DISABLED,
}
MAX_THREADS = 1024
"""Maximum number of threads; a larger number is probably a mistake."""
MAX_NUM_ENVS = 2**31 - 1


def check_memory(rulebook: Rulebook, num_envs: int, rules: TableRules, settings: Settings) -> None:
    """Check that the games fit into the memory of the machine, before allocating them.

    Raises:
        OptionError: they do not fit.
    """
    buffers = new_buffers(rulebook, 1, rules, settings)
    needed = num_envs * (rulebook.STATE.itemsize + sum(array.nbytes for array in buffers))
    try:
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return
    if 0 < available < needed:
        raise too_many_games(num_envs, f"need {needed / 2**30:,.0f} GiB of {available / 2**30:,.0f}")


def too_many_games(num_envs: int, why: str) -> OptionError:
    """Return the error for games that do not fit into memory; `why` follows "that many games"."""
    return OptionError(f"num_envs is {num_envs}: that many games {why}; make fewer")


def autoreset_mode(mode: object) -> AutoresetMode:
    """Return the mode from Gymnasium's `AutoresetMode` or its name in upper or lower case.

    Raises:
        OptionError: no such mode.
    """
    if isinstance(mode, AutoresetMode):
        return mode
    name = mode.lower() if isinstance(mode, str) else mode
    known = [one.lower() for one in AutoresetMode.__members__]
    return AutoresetMode[one_of("autoreset_mode", name, known).upper()]


USUAL = "usual"
"""The name of a game's default episode or reward."""


def _index_of(option: str, value: object, known: Sequence[str]) -> int:
    """Return the index of a value among the known ones; the first is the default."""
    return 0 if isinstance(value, str) and value == USUAL else known.index(one_of(option, value, known))


def settings(
    rulebook: Rulebook,
    *,
    episode: str,
    reward: str,
    mode: AutoresetMode,
    observation_spec: Any,
    illegal_action: str,
) -> Settings:
    """Convert the environment's options to engine settings.

    Raises:
        OptionError: an option has an invalid value.
    """
    return Settings(
        episode=_index_of("episode", episode, rulebook.EPISODES),
        reward=_index_of("reward", reward, rulebook.REWARDS),
        autoreset=AUTORESET_MODES[mode],
        observation_spec=observation_spec,
        punish_illegal=ILLEGAL_ACTIONS[one_of("illegal_action", illegal_action, ILLEGAL_ACTIONS)],
    )


# Resetting -------------------------------------------------------------------------------------------------

RESET_OPTIONS = ("reset_mask", "positions")


class Reset(NamedTuple):
    """The games to reset and their starting positions.

    Attributes:
        chosen: bool[N], the games to reset.
        positions: starting positions, one for each chosen game; if empty, games begin with a deal.
    """

    chosen: npt.NDArray[np.bool_]
    positions: list[Any]

    def write_positions(self, states: StateArray) -> None:
        """Write the positions into the chosen games, which have already been reset.

        If a position has no key, the game keeps its own key and episode number.
        """
        for game, position in zip(np.flatnonzero(self.chosen).tolist(), self.positions, strict=True):
            key, episode = states["key"][game].copy(), int(states["episode"][game])
            states[game] = position.state[0]
            if not position.has_key:
                states["key"][game], states["episode"][game] = key, episode


class Table(NamedTuple):
    """The table that positions must match: the game, its rule sheet and the rules of the table."""

    game: Game
    edition: Sheet
    rules: Any


def reset_options(options: Mapping[str, Any] | None, num_envs: int, table: Table) -> Reset:
    """Return the validated options of `reset`.

    Raises:
        OptionError: unknown option, mask of the wrong shape, positions of another table, or positions for a
            game without a text notation.
        NotationError: a text is not a valid position.
    """
    options = checked_mapping(options)
    for name in options:
        if name not in RESET_OPTIONS:
            known = " and ".join(map(repr, RESET_OPTIONS))
            raise OptionError(f"unknown reset option {shown(name)}; the known ones are {known}")
    chosen = np.ones(num_envs, np.bool_)
    if "reset_mask" in options:
        chosen = _reset_mask(options["reset_mask"], num_envs)
    if "positions" not in options:
        return Reset(chosen, [])
    positions, games = options["positions"], int(chosen.sum())
    notation = table.game.hook("notation.positions", "reset's option 'positions'")
    checked = functools.partial(_checked_position, table, notation)
    if isinstance(positions, (str, notation.Position)):
        return Reset(chosen, [checked(positions, "positions")] * games)
    listed = items_of(positions, num_envs) if isinstance(positions, Sequence) else None
    if listed is None or len(listed) != games:
        got = shown(positions) if listed is None else f"a list of {len(listed)}"
        raise OptionError(
            f"positions are {got}; they must be a list of {games}, one for each game to reset, or a single "
            "position for all games"
        )
    return Reset(chosen, [checked(one, f"positions[{index}]") for index, one in enumerate(listed)])


def checked_mapping(options: object) -> Mapping[str, Any]:
    """Return the options of `reset` as a mapping, which is empty for None.

    Raises:
        OptionError: the options are neither a mapping nor None.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise OptionError(
            f'the reset options are {shown(options)}; they must be a dictionary such as {{"reset_mask": ...}}'
        )
    return options


def _reset_mask(mask: object, num_envs: int) -> npt.NDArray[np.bool_]:
    result = array_of("reset_mask", mask, OptionError)
    if result.shape != (num_envs,) or result.dtype != np.bool_:
        raise OptionError(
            f"reset_mask is {result.dtype}{list(result.shape)}; it must be bool[{num_envs}], "
            "True for the games to reset"
        )
    return np.array(result, order="C", subok=False)


def _describe_table(rules: TableRules) -> str:
    return f"{rules.players} players in {rules.teams} teams"


def _checked_position(table: Table, notation: Any, value: object, name: str) -> Any:
    """Return a position of this table in which a seat is to act; messages call it `name`."""
    edition, rules, rulebook = table.edition, table.rules, table.game.module()
    position: Any = value
    if isinstance(value, str):
        try:
            position = notation.read_position(
                value, edition=edition, players=rules.players, teams=rules.teams
            )
        except NotationError as error:
            raise NotationError(f"{name}: {error}") from None
    if not isinstance(position, notation.Position):
        raise OptionError(f"{name} is {shown(value)}; it must be a text or a notation.Position")
    if position.rules != rules:
        raise OptionError(
            f"{name} is of the edition {position.edition.label!r}, {_describe_table(position.rules)}; "
            f"this environment plays {edition.label!r}, {_describe_table(rules)}"
        )
    try:
        copied = copied_records(position.state, 1, rulebook.STATE, name)
    except StateError as error:
        raise OptionError(str(error)) from None
    problem = table.game.hook("games.audit", "reset's option 'positions'")(copied, rules)
    if problem is not None:
        raise OptionError(f"{name} is not a valid state for this table: {problem[1]}")
    if plain(rulebook.is_round_over)(copied.view(np.recarray)[0]):
        raise OptionError(f"{name}: the round is over, and no seat is to act")
    return position
