"""Games played again: a record made of what was played, and the positions that a record leads through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from millebornes_env.engine.batch import Batch, Settings
from millebornes_env.engine.kernels import DISABLED
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import NO_TEAM, StateArray
from millebornes_env.errors import NotationError, StateError, shown
from millebornes_env.games.millebornes.replay import NEXT_ROUND
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
    chance = [game.chance(None)]

    def carry_out(play: Play) -> None:
        chance.append(game.play(play, f"play {len(plays) + 1}"))
        plays.append(play)

    for given in each:
        action = whole_number("action", given, game.words.count)
        if game.is_round_over() and not game.is_over():
            carry_out(Play(NO_SEAT, NEXT_ROUND))
        carry_out(Play(game.seat, action))
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
    _compare_chance(said[0], game.chance(None) if said[0] else "", "before the first play")
    for number, given in enumerate(record.plays):
        yield game.copy()
        where = f"line {record.lines[number]}" if number < len(record.lines) else f"play {number + 1}"
        says = said[number + 1]
        found = game.play(checked_play(given, game.words), where, tell_chance=bool(says))
        _compare_chance(says, found, f"after {where}")
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
            found = kind_of(state, self.rulebook.STATE)
            raise StateError(f"a position holds one record of its game, STATE[1]; got {found}")
        checked_table(position.edition, self.rules)
        problem = None
        if game.has("games.audit"):
            problem = game.hook("games.audit", "a record")(state, self.rules)
        if problem is not None:
            raise NotationError(f"the position is no game of this table: {problem[1]}")
        spec = game.observation_kind()()
        settings = Settings(episode=0, reward=0, autoreset=DISABLED, observation_spec=spec, punish_illegal=0)
        self._games = Batch(self.rulebook, 1, self.rules, settings)
        self._games.states[:] = state
        self._games.write_decisions()
        self._table = self.rulebook.rules_array(self.rules)[0]
        self._episode = len(self.rulebook.EPISODES) - 1
        self._describe_chance: Any = (
            game.hook("notation.describe_chance", "a record")
            if game.has("notation.describe_chance")
            else None
        )
        self.words = PlayWords(game, self.rules)

    @property
    def _state(self) -> Any:
        return self._games.states[0]

    @property
    def seat(self) -> int:
        """The seat to act."""
        return int(self._state.seat)

    def copy(self) -> StateArray:
        """`STATE[1]`, the game as it stands; NumPy would copy it field by field."""
        states = self._games.states
        return states.view(np.ndarray).view(np.uint8).copy().view(states.dtype, np.recarray)

    def is_round_over(self) -> bool:
        """Return True if no seat is to act."""
        return bool(plain(self.rulebook.is_round_over)(self._state))

    def is_over(self) -> bool:
        """Return True if the round is over, and the match with it: nothing can follow."""
        is_episode_over = plain(self.rulebook.is_episode_over)
        return self.is_round_over() and bool(is_episode_over(self._state, self._table, self._episode))

    def chance(self, action: int | None) -> str:
        """Return the dice and cards that a legal action brings; for None, those of this turn so far."""
        if self._describe_chance is None:
            return ""
        return ", ".join(self._describe_chance(self.copy()[0], self.rules, action))

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
        refusal = self._refusal(play)
        if refusal is not None:
            raise NotationError(f"{where}, {write_play(play, self.words)!r}: {refusal}")
        if play.action == NEXT_ROUND:
            plain(self.rulebook.start_next_round)(self._state, self._table)
            self._games.write_decisions()
            return self.chance(None) if tell_chance else ""
        found = self.chance(play.action) if tell_chance else ""
        self._games.step(np.array([play.action], np.int64))
        return found

    def _refusal(self, play: Play) -> str | None:
        """Say why the rules do not allow the play now, and what they do allow; None if they allow it."""
        mask = self._games.buffers.action_mask[0]
        if self.is_round_over():
            if self.is_over():
                return f"the {self.rulebook.EPISODES[-1]} is over"
            if play.action == NEXT_ROUND:
                return None
            return f"the {self.rulebook.EPISODES[0]} is over; in a match write {DEAL!r} before the next play"
        if play.action == NEXT_ROUND:
            reason = f"the {self.rulebook.EPISODES[0]} is not over: seat {self.seat} is to act"
        elif play.seat != self.seat:
            reason = f"seat {self.seat} is to act"
        elif not mask[play.action]:
            why = self.rulebook.reason_against(self._state, self.rules, play.action)
            reason = f"the rules do not allow it now: {why}"
        else:
            return None
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
