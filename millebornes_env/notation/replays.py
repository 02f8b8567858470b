"""Games played again: a record made of what was played, and the positions that a record leads through."""

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
from millebornes_env.notation.play_words import PlayWords, listed, whole_number
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

_ACTIONS_AT_ONCE: Final = 1024


def record_of(position: Position, actions: Iterable[int]) -> Record:
    """The record of a game that was played: who played is found by playing it again.

    Args:
        position: where it began.
        actions: the ids of what was played; where a round is over and more follow, the next one is dealt.

    Returns:
        The record, with its result, and the winner if records of the game name one, if the game is over.

    Raises:
        NotationError: the position is none, or the rules do not allow an action; the message says which.
    """
    game = _Played(position)
    try:
        each = iter(actions)
    except Exception:  # whatever is no list
        raise NotationError(
            f"the actions of a game are their ids, such as [0, 13]; got {shown(actions)}"
        ) from None
    plays: list[Play] = []
    chance = [game.chance()]
    # In parts, since a list without end ends with the first action that the rules do not allow.
    while given := list(islice(each, _ACTIONS_AT_ONCE)):
        ids = [whole_number("action", action, game.words.count) for action in given]
        while ids:
            seats = [] if game.tells_chance else game.carry_out(ids)
            plays += map(Play, seats, ids)
            chance += [""] * len(seats)
            del ids[: len(seats)]
            if ids:
                deals = game.is_round_over() and not game.is_over()
                play = Play(NO_SEAT, NEXT_ROUND) if deals else Play(game.seat, ids.pop(0))
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
    """Play the record again.

    Args:
        record: what to play.

    Yields:
        `STATE[1]` of the game, a copy each: the game before every play, and at the end.

    Raises:
        NotationError: the position is none, the rules do not allow a play, other dice or cards fall than the
            record says, or the game does not end with its result; the message names the line, the seat and
            the play, and what it might have done.
    """
    game = _Played(checked_record(record).position)
    said = record.chance or ("",) * (len(record.plays) + 1)
    _compare_chance(said[0], game.chance() if said[0] else "", "before the first play")
    for number, given in enumerate(record.plays):
        yield game.copy()
        where = f"line {record.lines[number]}" if number < len(record.lines) else f"play {number + 1}"
        says = said[number + 1]
        result = game.play(checked_play(given, game.words), where, tell_chance=bool(says))
        _compare_chance(says, result, f"after {where}")
    _compare_end(record, game)
    yield game.copy()


class _Played:
    """A copy of a position that is played on."""

    def __init__(self, position: Position) -> None:
        """Look at the position first: it may have been made in code."""
        given: object = position
        if not isinstance(given, Position):
            raise NotationError(f"a game begins with a notation.Position; got {type(given).__name__}")
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
            raise NotationError(f"the position is no game of this table: {problem[1]}")
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
        self.tells_chance = self._describe_chance is not None
        self.words = PlayWords(game, self.rules)

    @property
    def _state(self) -> Any:
        return self._states[0]

    @property
    def seat(self) -> int:
        """The seat to act."""
        return int(self._fields["seat"][0])

    def copy(self) -> StateArray:
        """`STATE[1]`, the game as it stands; NumPy would copy it field by field."""
        return self._fields.view(np.uint8).copy().view(self._fields.dtype, np.recarray)

    def is_round_over(self) -> bool:
        """Return True if no seat is to act."""
        return bool(plain(self.rulebook.is_round_over)(self._state))

    def is_over(self) -> bool:
        """Return True if the round is over, and the match with it: nothing can follow."""
        is_episode_over = plain(self.rulebook.is_episode_over)
        return self.is_round_over() and bool(is_episode_over(self._state, self._table, self._episode))

    def chance(self) -> str:
        """Return the dice and cards that have fallen in this turn so far."""
        return self._told(self.copy(), None) if self.tells_chance else ""

    def _told(self, before: StateArray, action: int | None) -> str:
        return ", ".join(self._describe_chance(before[0], self.rules, action))

    def carry_out(self, actions: Sequence[int]) -> list[int]:
        """Carry out actions up to the first that the rules do not allow; return who played each."""
        seats = np.empty(len(actions), np.int32)
        played = self._play_until_refused(np.array(actions, np.int64), seats)
        result: list[int] = seats[:played].tolist()
        return result

    def _play_plainly(self, actions: npt.NDArray[np.int64], seats: npt.NDArray[np.int32]) -> int:
        """Do the work of a game's hook `games.play_until_refused` in plain Python."""
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

    def play(self, play: Play, where: str, *, tell_chance: bool = True) -> str:
        """Carry out one play.

        Args:
            play: what is played.
            where: its line or number, for the error.
            tell_chance: whether to find out which dice and cards fall, which can take longer than the play.

        Returns:
            The dice and cards that fell.

        Raises:
            NotationError: the rules do not allow it, or it is another seat's turn.
        """
        before = self.copy() if tell_chance and self.tells_chance else None
        is_turn = play.action == NEXT_ROUND or play.seat == self.seat
        if not is_turn or not self.carry_out([play.action]):
            raise NotationError(f"{where}, {write_play(play, self.words)!r}: {self._reason_against(play)}")
        if before is None:
            return ""
        return self.chance() if play.action == NEXT_ROUND else self._told(before, play.action)

    def _reason_against(self, play: Play) -> str:
        """Say why the rules do not allow the play now, and what they do allow."""
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
        """Each team's points, of a match so far; None if the round is not over."""
        if not self.is_round_over():
            return None
        score = plain(self.rulebook.final_score)
        return tuple(
            int(score(self._state, self._table, self._episode, team)) for team in range(self.rules.teams)
        )

    def winner(self) -> int | None:
        """The team that has won alone, or NO_TEAM; None if the game is not over, or none is named."""
        if not self.is_over() or WINNER not in ends_of(self.rulebook):
            return None
        return int(plain(self.rulebook.winner)(self._state, self._table, self._episode))


def _compare_chance(said: str, found: str, where: str) -> None:
    if said != found:
        raise NotationError(
            f"{where}, chance has brought {found or 'nothing'}, and the record says {said!r}: is the key, "
            "the sheet or the position another one?"
        )


def _compare_end(record: Record, game: _Played) -> None:
    """Compare result and winner, if the record has them."""
    if record.result is None and record.winner is None:
        return
    result, winner = game.result(), game.winner()
    if result is None:
        raise NotationError(f"the record has a result, but the {game.rulebook.EPISODES[0]} is not over")
    if record.result not in (None, result):
        said, found = (" ".join(map(str, points)) for points in (record.result or (), result))
        raise NotationError(f"the result of the record is {said}, and its plays lead to {found}")
    if record.winner not in (None, winner):
        others = {NO_TEAM: "nobody alone", None: "nobody"}
        said, found = (others.get(team, f"team {team}") for team in (record.winner, winner))
        raise NotationError(f"the winner of the record is {said}, and its plays lead to {found}")


__all__ = ["record_of", "replay"]
