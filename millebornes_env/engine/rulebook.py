"""The interface between the engine and a game: `Rulebook`.

A rulebook is a Python module that has the names below; `millebornes_env.games.millebornes.rulebook` is one.
Its compiled functions are decorated with `rule` or `seldom` of `engine.numba.compiling`. They take one game's
record and the record of the table's rules, and write into arrays of the caller. Kernels are compiled for one
rulebook, so a call through the interface costs nothing at run time.

Terms: a *round* is played until no seat has to act, and is then scored; an *episode* is one or more rounds. A
game without rounds has episodes of one round. *Teams* win; if everyone plays alone, every seat is a team.
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
"""In a list of plays: the deal of the next round, which is not an action."""

RECORD_FIELDS: Final = {"key": (2,), "episode": (), "seat": ()}
"""The fields of `STATE` that the engine reads or writes, all signed integers, with their shapes."""


class State(Protocol):
    """The fields of a game's record that the engine reads and writes; all others belong to the rulebook.

    Attributes:
        key: int64[2], written by `Batch.seed`. All chance in a game is a function of the key, of `episode`
            and of the rest of the record (`engine.chance.random_word`).
        episode: index of the current episode, from 0; counted by the engine.
        seat: the seat to act.
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
    """The interface of a section of an observation (`engine.layout.Section`)."""

    @property
    def name(self) -> str:
        """Name of the section in code."""

    @property
    def start(self) -> int:
        """Index of the section's first number."""

    @property
    def size(self) -> int:
        """Number of entries."""

    @property
    def high(self) -> int:
        """Upper bound of the entries; the lower bound is 0."""

    @property
    def stop(self) -> int:
        """One past the index of the section's last number."""


class Rulebook(Protocol):
    """The functions and constants of a module that the engine can run as a game.

    `state` is one record of `STATE`. `rules` is the record of the table's rules (element 0 of `rules_array`)
    in compiled functions, and the tuple that the record is made from in all others. `spec` is a named tuple
    of ints that selects what an observation shows; the engine passes it through.
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
        """Kinds of episode, such as "round" and "match"; compiled functions receive the index.

        The first is a single round, the default of environments; the arena measures strength in the last.
        """

    @property
    def REWARDS(self) -> Sequence[str]:  # noqa: N802
        """Kinds of reward, such as "points" and "win"; compiled functions receive the index."""

    @property
    def REDEAL_ROOM(self) -> int:  # noqa: N802
        """Number of int8 that `redeal` needs as scratch space."""

    def rules_array(self, rules: Any, /) -> npt.NDArray[np.void]:
        """Return the rules as an array of one record, which compiled functions read."""

    def action_count(self, rules: Any, spec: Any, /) -> int:
        """Return A, the length of an action mask; if `spec` is None, the number of actions at the table."""

    def sections(self, rules: Any, spec: Any, /) -> Sequence[Section]:
        """Return the layout of an observation (`engine.layout.Section`); D is the stop of the last one."""

    def full_state_sections(self, rules: Any, spec: Any, /) -> Sequence[Section]:
        """Return the layout of a full-state row: the observation, then the hidden information."""

    def is_won_by_score(self, rules: Any, /) -> bool:
        """Return True if the highest `final_score` wins an episode; otherwise the highest reward wins."""

    # Playing (compiled) -------------------------------------------------------------------------------------

    def start(self, state: Any, rules: Any, /) -> None:
        """Begin an episode: overwrite everything but `key` and `episode`."""

    def step(self, state: Any, rules: Any, action: int, /) -> None:
        """Apply a legal action of `state.seat`, up to the next decision or the end of the round."""

    def is_round_over(self, state: Any, /) -> bool:
        """Return True if no seat is to act: the round has ended or was broken off."""

    def is_episode_over(self, state: Any, rules: Any, episode: int, /) -> bool:
        """Return True if the episode has ended; called when a round is over."""

    def start_next_round(self, state: Any, rules: Any, /) -> None:
        """Begin the next round of an episode that has not ended."""

    def break_off(self, state: Any, /) -> None:
        """End the round without a winner, after an illegal action."""

    def is_legal(self, state: Any, rules: Any, action: int, /) -> bool:
        """Return True if `state.seat` may take this action (any int). Not called when the round is over."""

    def write_mask(self, state: Any, rules: Any, mask: Row, /) -> None:
        """Write 1 for legal actions and 0 for others into int8[A]; all 0 when the round is over."""

    # Observations (compiled) --------------------------------------------------------------------------------

    def write_observation(self, state: Any, rules: Any, seat: int, spec: Any, row: Row, /) -> None:
        """Overwrite int8[D] with the seat's observation, whether it is to act or not."""

    def write_hidden(self, state: Any, rules: Any, seat: int, spec: Any, row: Row, at: int, /) -> None:
        """Write the information hidden from the seat into a full state, from `at` on; the row is 0 there."""

    def redeal(self, state: Any, rules: Any, seat: int, key_0: int, key_1: int, scratch: Row, /) -> None:
        """Resample everything hidden from the seat, uniformly over the games that it could be in.

        `key_0` and `key_1` are the key of the random numbers; `scratch` is int8[REDEAL_ROOM], overwritten.
        """

    # Results (compiled) -------------------------------------------------------------------------------------

    def write_rewards(
        self, state: Any, rules: Any, episode: int, reward: int, over: bool, row: npt.NDArray[np.float32], /
    ) -> None:
        """Write the reward of each seat for a finished round; `over` is True if it ends the episode.

        The row is float32[players], all 0. `Batch.win_shares` relies on a sum of 0 where `is_won_by_score` is
        False.
        """

    def winner(self, state: Any, rules: Any, episode: int, /) -> int:
        """Return the sole winner of the finished episode, a team, or `NO_TEAM`."""

    def win_share(self, state: Any, rules: Any, episode: int, team: int, /) -> float:
        """Return the team's share of the win of the finished episode: 1, 1 / k if k teams share it, or 0."""

    def final_score(self, state: Any, rules: Any, episode: int, team: int, /) -> int:
        """Return the team's points of the episode, an int16."""

    # Text ---------------------------------------------------------------------------------------------------

    def action_name(self, action: int, rules: Any, seat: int | None, /) -> str:
        """Name the action of a seat (None: of any seat); the name of an unknown id says so."""

    def reason_against(self, state: Any, rules: Any, action: int, /) -> str:
        """Say why the action is illegal, as half a sentence without information hidden from the seat."""


_NAMES: Final = sorted(name for name in vars(Rulebook) if not name.startswith("_"))


def checked_module(rulebook: Rulebook) -> ModuleType:
    """Return the rulebook as a module after checking that it is complete.

    Raises:
        GameError: something is missing; the message describes it.
    """
    if not isinstance(rulebook, ModuleType):
        raise GameError(
            f"a rulebook is {shown(rulebook)}; it must be a Python module (see engine/rulebook.py)"
        )
    subject = f"the rulebook {rulebook.__name__}"
    missing = [name for name in _NAMES if not hasattr(rulebook, name)]
    if missing:
        meaning = str(getattr(Rulebook, missing[0]).__doc__).partition("\n")[0]
        raise GameError(f"{subject} has no {', no '.join(missing)}. {missing[0]}: {meaning}")
    record = rulebook.STATE
    for name, shape in RECORD_FIELDS.items():
        kind = record[name] if name in (record.names or ()) else None
        if kind is None or kind.shape != shape or kind.base.kind != "i":
            result = "it is missing" if kind is None else f"it is {kind}"
            wanted = "a signed whole number" if shape == () else f"{shape[0]} signed whole numbers"
            raise GameError(f"{subject}: the field {name!r} of STATE must be {wanted}; {result}")
    return rulebook
