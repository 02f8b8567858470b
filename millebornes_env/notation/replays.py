"""Replay of games: make a record from actions, and iterate over the positions of a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba import machine_code
from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.engine.rulebook import NEXT_ROUND, NO_TEAM, StateArray
from millebornes_env.errors import NotationError, StateError, shown
from millebornes_env.notation.header import checked_table, kind_of
from millebornes_env.notation.play_words import PlayWords, listed
from millebornes_env.notation.position import Position, game_of
from millebornes_env.notation.records import (
    DEAL,
    NO_SEAT,
    WINNER,
    Play,
    Record,
    checked_play,
    checked_record,
    ends_of,
    write_play,
)

_CHUNK: Final = 1024


def record_of(position: Position, actions: Iterable[int]) -> Record:
    """Return the record of a sequence of actions, which are replayed to find the seats.

    Args:
        position: the first position.
        actions: the actions; if more follow at the end of a round, the next round is dealt. NEXT_ROUND may
            stand there, as in the plays of a record.

    Returns:
        The record; if the game is over, with the result, and with the winner if the game has such a line.

    Raises:
        NotationError: the position is invalid, or an action is illegal; the message names it.
    """
    game = _Replay(position)
    try:
        each = iter(actions)
    except Exception:  # a user's `__iter__` may raise anything
        raise NotationError(
            f"the actions of a game are their ids, such as [0, 13]; got {shown(actions)}"
        ) from None
    plays: list[Play] = []
    chance = [game.chance()]
    # In chunks, since an infinite sequence ends at the first illegal action.
    while chunk := list(islice(each, _CHUNK)):
        ids = [checked_play(Play(0, action), game.words).action for action in chunk]
        while ids:
            seats = [] if game.has_chance else game.apply_actions(ids)
            plays += map(Play, seats, ids)
            chance += [""] * len(seats)
            del ids[: len(seats)]
            if ids:
                deals = game.is_round_over() and not game.is_over()
                action = NEXT_ROUND if deals else ids[0]
                if action == ids[0]:
                    del ids[0]
                play = Play(NO_SEAT if deals else game.seat, action)
                chance.append(game.play(play, f"play {len(plays) + 1}"))
                plays.append(play)
    return Record(
        position,
        tuple(plays),
        game.result(),
        winner=game.winner(),
        chance=tuple(chance) if any(chance) else (),
    )


def replay(record: Record) -> Iterator[StateArray]:
    """Replay a record.

    Args:
        record: the record.

    Yields:
        A copy of the game, `STATE[1]`, before every play and at the end.

    Raises:
        NotationError: the position is invalid, a play is illegal, or the dice, the cards or the result differ
            from the record; the message names the line, the seat and the play, and lists legal actions.
    """
    game = _Replay(checked_record(record).position)
    recorded = record.chance or ("",) * (len(record.plays) + 1)
    _compare_chance(recorded[0], game.chance() if recorded[0] else "", "before the first play")
    for number, play in enumerate(record.plays):
        yield game.copy()
        where = f"line {record.lines[number]}" if number < len(record.lines) else f"play {number + 1}"
        expected = recorded[number + 1]
        result = game.play(checked_play(play, game.words), where, with_chance=bool(expected))
        _compare_chance(expected, result, f"after {where}")
    _compare_end(record, game)
    yield game.copy()


class _Replay:
    """A copy of a position that plays are applied to."""

    def __init__(self, position: Position) -> None:
        """Copy the position after checking it, since it may have been made in code."""
        first: object = position
        if not isinstance(first, Position):
            raise NotationError(f"a game begins with a notation.Position; got {type(first).__name__}")
        game, self.rules = game_of(position.edition), position.rules
        self.rulebook = game.module()
        state: object = position.state
        if not isinstance(state, np.ndarray) or state.dtype != self.rulebook.STATE or state.shape != (1,):
            result = kind_of(state, self.rulebook.STATE)
            raise StateError(f"a position holds one record of its game, STATE[1]; got {result}")
        checked_table(position.edition, self.rules)
        audit = game.find_hook("games.audit")
        problem = None if audit is None else audit(state, self.rules)
        if problem is not None:
            raise NotationError(f"the position is not valid at this table: {problem[1]}")
        self._states: StateArray = np.empty(1, self.rulebook.STATE).view(np.recarray)
        self._states[:] = state
        self._fields = self._states.view(np.ndarray)  # the same memory; attributes of a recarray are slow
        table = self.rulebook.rules_array(self.rules)
        self._table = table[0]
        self._episode = len(self.rulebook.EPISODES) - 1
        compiled = game.find_hook("games.play_until_refused")
        self._play_until_refused: Callable[..., int] = (
            self._play_plainly
            if compiled is None
            else partial(machine_code.of(compiled), for_kernels(self._states), for_kernels(table)[0])
        )
        self._describe_chance: Any = game.find_hook("notation.describe_chance")
        self.has_chance = self._describe_chance is not None
        self.words = PlayWords(game, self.rules)

    @property
    def _state(self) -> Any:
        return self._states[0]

    @property
    def seat(self) -> int:
        """The seat to act."""
        return int(self._fields["seat"][0])

    def copy(self) -> StateArray:
        """Return a copy of the game, `STATE[1]`, made in one piece (NumPy would copy field by field)."""
        return self._fields.view(np.uint8).copy().view(self._fields.dtype, np.recarray)

    def is_round_over(self) -> bool:
        """Return True if no seat is to act."""
        return bool(plain(self.rulebook.is_round_over)(self._state))

    def is_over(self) -> bool:
        """Return True if the match (or game) is over, so that nothing can follow."""
        is_episode_over = plain(self.rulebook.is_episode_over)
        return self.is_round_over() and bool(is_episode_over(self._state, self._table, self._episode))

    def chance(self) -> str:
        """Return the dice and cards of this turn so far; "" for games without the hook."""
        return self._chance_of(self.copy(), None) if self.has_chance else ""

    def _chance_of(self, before: StateArray, action: int | None) -> str:
        return ", ".join(self._describe_chance(before[0], self.rules, action))

    def apply_actions(self, actions: Sequence[int]) -> list[int]:
        """Apply actions up to the first illegal one, and return their seats."""
        seats = np.empty(len(actions), np.int32)
        played = self._play_until_refused(np.array(actions, np.int64), seats)
        result: list[int] = seats[:played].tolist()
        return result

    def _play_plainly(self, actions: npt.NDArray[np.int64], seats: npt.NDArray[np.int32]) -> int:
        """Replace the hook `games.play_until_refused` in plain Python."""
        rulebook, state, table = self.rulebook, self._state, self._table
        for index, action in enumerate(actions.tolist()):
            if self.is_round_over():
                if action != NEXT_ROUND or self.is_over():
                    return index
                seats[index] = NO_SEAT
                plain(rulebook.start_next_round)(state, table)
            else:
                if not plain(rulebook.is_legal)(state, table, action):
                    return index
                seats[index] = self.seat
                plain(rulebook.step)(state, table, action)
        return len(actions)

    def play(self, play: Play, where: str, *, with_chance: bool = True) -> str:
        """Apply one play; `where` is its line or number, for the error if it is illegal.

        Returns the dice and cards of the play, or ""; to describe them can take longer than the play.
        """
        before = self.copy() if with_chance and self.has_chance else None
        is_turn = play.action == NEXT_ROUND or play.seat == self.seat
        if not is_turn or not self.apply_actions([play.action]):
            raise NotationError(f"{where}, {write_play(play, self.words)!r}: {self._reason_against(play)}")
        if before is None:
            return ""
        return self.chance() if play.action == NEXT_ROUND else self._chance_of(before, play.action)

    def _reason_against(self, play: Play) -> str:
        """Say why the play is illegal, and list the legal ones."""
        if self.is_over():
            return f"the {self.rulebook.EPISODES[-1]} is over"
        if self.is_round_over():
            return f"the {self.rulebook.EPISODES[0]} is over; in a match write {DEAL!r} before the next play"
        reason = f"seat {self.seat} is to act"
        if play.action == NEXT_ROUND:
            reason = f"the {self.rulebook.EPISODES[0]} is not over: {reason}"
        elif play.seat == self.seat:
            why = self.rulebook.reason_against(self._state, self.rules, play.action)
            reason = f"the rules do not allow it now: {why}"
        mask = np.zeros(self.words.count, np.int8)
        plain(self.rulebook.write_mask)(self._state, self._table, mask)
        legal = [self.words.write(action, self.seat) for action in np.flatnonzero(mask).tolist()]
        return f"{reason}. It may: {listed(legal)}"

    def result(self) -> tuple[int, ...] | None:
        """Return each team's points (in a match, the total so far), or None if the round is not over."""
        if not self.is_round_over():
            return None
        score = plain(self.rulebook.final_score)
        return tuple(
            int(score(self._state, self._table, self._episode, team)) for team in range(self.rules.teams)
        )

    def winner(self) -> int | None:
        """Return the sole winner or NO_TEAM; None if the game is not over or has no line for the winner."""
        if not self.is_over() or WINNER not in ends_of(self.rulebook):
            return None
        return int(plain(self.rulebook.winner)(self._state, self._table, self._episode))


def _compare_chance(expected: str, result: str, where: str) -> None:
    if expected != result:
        raise NotationError(
            f"{where}, chance is {result or 'nothing'}, but the record has {expected!r}: do the key, the "
            "sheet or the position differ?"
        )


def _compare_end(record: Record, game: _Replay) -> None:
    """Compare result and winner, if the record has them."""
    if record.result is None and record.winner is None:
        return
    result, winner = game.result(), game.winner()
    if result is None:
        raise NotationError(f"the record has a result, but the {game.rulebook.EPISODES[0]} is not over")
    if record.result not in (None, result):
        expected, actual = (" ".join(map(str, points)) for points in (record.result or (), result))
        raise NotationError(f"the result of the record is {expected}, and its plays lead to {actual}")
    if record.winner not in (None, winner):
        others = {NO_TEAM: "nobody alone", None: "nobody"}
        expected, actual = (others.get(team, f"team {team}") for team in (record.winner, winner))
        raise NotationError(f"the winner of the record is {expected}, and its plays lead to {actual}")
