"""The interface between the engine and a game: `Rulebook`.

A rulebook is a Python module that has the names below; `millebornes_env.games.millebornes.rulebook` is one.
Its compiled functions are made by `engine.numba.compiling.rule` and `engine.numba.compiling.seldom`: they
take one game's record and the record of the table's rules, and write to the arrays that they are handed. A
kernel is compiled for a rulebook, so a call through the interface costs nothing when it runs.

Terms: a *round* is played until nobody has to act any more, and is then scored; an *episode* is one round or
more. A game without rounds has episodes of one round. *Teams* win; if everyone plays for themselves, every
seat is a team.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env.errors import GameError, shown

StateArray = npt.NDArray[np.void]
"""An array of a rulebook's `STATE` records, one for each game."""
Row = npt.NDArray[np.int8]
"""One row of a buffer."""

NO_TEAM: Final = -1
"""The result of `winner` if no team has won alone."""

NEXT_ROUND: Final = -1
"""Among the plays of a match: no action, but the deal of the next round."""

RECORD_FIELDS: Final = {"key": (2,), "episode": (), "seat": ()}
"""The fields of `STATE` that the engine reads or writes itself, all of whole numbers, and their shapes."""


class State(Protocol):
    """The fields of a game's record that the engine reads and writes; the rest is the rulebook's.

    Attributes:
        key: int64[2], written by `Games.seed`. All that is left to chance in a game is a function of it, of
            `episode` and of what else the record holds (`engine.chance.random_word`).
        episode: how many episodes the game has begun, minus one; the engine counts.
        seat: who decides now.
    """

    key: npt.NDArray[np.int64]
    episode: int
    seat: int


class TableRules(Protocol):
    """The part of a table's rules that the engine reads, compiled or not."""

    @property
    def players(self) -> int:
        """Seats at the table."""

    @property
    def teams(self) -> int:
        """Teams at the table."""


class Section(Protocol):
    """A section of an observation, as the engine and the environments read it (`engine.layout`)."""

    @property
    def name(self) -> str:
        """Name of the section in code."""

    @property
    def start(self) -> int:
        """The index of its first number."""

    @property
    def size(self) -> int:
        """Count of numbers in the section."""

    @property
    def high(self) -> int:
        """The largest value that a number can have; the smallest is 0."""

    @property
    def stop(self) -> int:
        """One past the index of its last number."""


class Rulebook(Protocol):
    """The functions and constants that a module needs to be a game that the engine can run.

    In all of it, `state` is one record of `STATE`, `rules` the record of the table's rules (element 0 of
    `rules_array`) in compiled functions and the tuple that it is made from in the others, and `spec` a
    named tuple of ints that says what an observation shows; the engine hands it on as it is.
    """

    # The game and its tables --------------------------------------------------------------------------------

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of a module
        """Name of the game in the names of kernels: letters, digits and underscores."""

    @property
    def STATE(self) -> np.dtype[np.void]:  # noqa: N802
        """The structured dtype of one game, without padding; it has the fields of `RECORD_FIELDS`."""

    @property
    def EPISODES(self) -> Sequence[str]:  # noqa: N802
        """Kinds of episode, such as "round" and "match"; compiled functions get the index.

        The first is a single round, the default of environments; strength is measured in the last.
        """

    @property
    def REWARDS(self) -> Sequence[str]:  # noqa: N802
        """Kinds of reward, such as "points" and "win"; compiled functions get the index."""

    @property
    def REDEAL_ROOM(self) -> int:  # noqa: N802
        """Number of int8 that `redeal` needs as scratch space."""

    def rules_array(self, rules: Any, /) -> npt.NDArray[np.void]:
        """The rules as an array of one record, which compiled functions read."""

    def action_count(self, rules: Any, spec: Any, /) -> int:
        """A, how many actions a mask has; with None for a spec, how many the table itself has."""

    def sections(self, rules: Any, spec: Any, /) -> Sequence[Section]:
        """The layout of an observation (`engine.layout.Section`); the last one's stop is D."""

    def full_state_sections(self, rules: Any, spec: Any, /) -> Sequence[Section]:
        """The layout of a row with everything: the observation, then what is hidden from it."""

    def is_won_by_score(self, rules: Any, /) -> bool:
        """Return True if the highest `final_score` wins an episode; otherwise the highest reward wins."""

    # Playing (compiled) -------------------------------------------------------------------------------------

    def start(self, state: Any, rules: Any, /) -> None:
        """Begin an episode: everything but `key` and `episode` is written anew."""

    def step(self, state: Any, rules: Any, action: int, /) -> None:
        """Carry out a legal action of `state.seat`, up to the next decision or the end of the round."""

    def is_round_over(self, state: Any, /) -> bool:
        """Return True if nobody is to act: the round is over, or was broken off."""

    def is_episode_over(self, state: Any, rules: Any, episode: int, /) -> bool:
        """Return True if the episode has ended; asked when a round is over."""

    def start_next_round(self, state: Any, rules: Any, /) -> None:
        """Begin the next round of an episode that has not ended."""

    def break_off(self, state: Any, /) -> None:
        """End the round at once, without a winner: somebody has acted against the rules."""

    def is_legal(self, state: Any, rules: Any, action: int, /) -> bool:
        """Return True if `state.seat` may take this action (any int). Not called when the round is over."""

    def write_mask(self, state: Any, rules: Any, mask: Row, /) -> None:
        """Write 1 at each action that is legal and 0 elsewhere: int8[A]; all 0 when the round is over."""

    # What is seen (compiled) --------------------------------------------------------------------------------

    def write_observation(self, state: Any, rules: Any, seat: int, spec: Any, row: Row, /) -> None:
        """Write what the seat sees, whether it is its turn or not: int8[D], overwritten."""

    def write_hidden(self, state: Any, rules: Any, seat: int, spec: Any, row: Row, at: int, /) -> None:
        """Write what the seat does not see into a full state, from `at` on; the row is 0 there."""

    def redeal(self, state: Any, rules: Any, seat: int, key_0: int, key_1: int, room: Row, /) -> None:
        """Replace all that the seat cannot see by chance: each game that it could be in, equally probable.

        `key_0` and `key_1` are the key of the random numbers, `room` is int8[REDEAL_ROOM], overwritten.
        """

    # What comes of it (compiled) ----------------------------------------------------------------------------

    def write_rewards(
        self, state: Any, rules: Any, episode: int, reward: int, over: bool, row: npt.NDArray[np.float32], /
    ) -> None:
        """Write what a finished round gives to each seat, `over` saying whether it ends the episode.

        The row is float32[players] and 0. A sum of 0 is what `Games.win_shares` relies on where
        `is_won_by_score` is False.
        """

    def winner(self, state: Any, rules: Any, episode: int, /) -> int:
        """The team that has won the finished episode alone, or `NO_TEAM`."""

    def win_share(self, state: Any, rules: Any, episode: int, team: int, /) -> float:
        """The team's share of the win of the finished episode: 1, 1 / k if k teams share it, or 0."""

    def final_score(self, state: Any, rules: Any, episode: int, team: int, /) -> int:
        """The team's points of the episode, an int16."""

    # In words -----------------------------------------------------------------------------------------------

    def action_name(self, action: int, rules: Any, seat: int | None, /) -> str:
        """Name the action of a seat (None: of any seat) in words; an unknown id is named as such."""

    def reason_against(self, state: Any, rules: Any, action: int, /) -> str:
        """Why the action is not legal now, half a sentence that tells nothing the seat cannot see."""


_NAMES: Final = sorted(name for name in vars(Rulebook) if not name.startswith("_"))


def checked_module(rulebook: Rulebook) -> ModuleType:
    """The rulebook as the module that it is, with all that the engine asks for.

    Raises:
        GameError: something is missing; the message says what it would be.
    """
    if not isinstance(rulebook, ModuleType):
        raise GameError(
            f"a rulebook is {shown(rulebook)}; it must be a Python module (see engine/rulebook.py)"
        )
    who = f"the rulebook {rulebook.__name__}"
    missing = [name for name in _NAMES if not hasattr(rulebook, name)]
    if missing:
        meaning = str(getattr(Rulebook, missing[0]).__doc__).partition("\n")[0]
        raise GameError(f"{who} has no {', no '.join(missing)}. {missing[0]}: {meaning}")
    for name, shape in RECORD_FIELDS.items():
        _check_field(who, rulebook.STATE, name, shape)
    return rulebook


def _check_field(who: str, record: np.dtype[np.void], name: str, shape: tuple[int, ...]) -> None:
    kind = record[name] if name in (record.names or ()) else None
    if kind is None or kind.shape != shape or kind.base.kind != "i":
        result = f"it is {kind}" if kind is not None else "it has none of that name"
        wanted = "a signed whole number" if shape == () else f"{shape[0]} signed whole numbers"
        raise GameError(f"{who}: the field {name!r} of STATE must be {wanted}; {result}")
