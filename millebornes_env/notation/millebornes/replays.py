"""Games played again: a record made of what was played, and the positions that a record leads through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NoReturn

import numpy as np

from millebornes_env.engine.numba import machine_code
from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.errors import NotationError, shown
from millebornes_env.games.millebornes.actions import card_of, num_actions
from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.games.millebornes.cards import NO_CARD
from millebornes_env.games.millebornes.legality import is_legal
from millebornes_env.games.millebornes.replay import NEXT_ROUND, play_until_refused
from millebornes_env.games.millebornes.rule_checks import validated
from millebornes_env.games.millebornes.rules import Rules, compiled_rules, rules_record
from millebornes_env.games.millebornes.state import NO_SEAT, PHASE_NAMES, PLAY, ROUND_OVER, STATE, StateArray
from millebornes_env.notation.lines import CARD_WORDS
from millebornes_env.notation.millebornes.positions import Position, checked_state
from millebornes_env.notation.millebornes.records import (
    DEAL,
    Play,
    Record,
    checked_play,
    checked_record,
    entries_of,
    read_record,
    record_of_entries,
    whole_number,
    write_action,
    write_play,
    write_record,
)

_ACTIONS_AT_ONCE: Final = 1024


def record_of(position: Position, actions: Iterable[int]) -> Record:
    """The record of a game that was played: who played is found by playing it again.

    Args:
        position: where it began.
        actions: the ids of what was played; where a round is over and more follow, the next one is dealt.

    Returns:
        The record, with its result if the last round is over.

    Raises:
        NotationError: the position is none, or the rules do not allow an action; the message says which.
    """
    game = _Game(position)
    try:
        each = iter(actions)
    except Exception:  # whatever is no list
        raise NotationError(
            f"the actions of a game are their ids, such as [0, 13]; got {shown(actions)}"
        ) from None
    plays: list[Play] = []
    # In parts, since a list without end ends with the first action that the rules do not allow.
    while given := list(islice(each, _ACTIONS_AT_ONCE)):
        ids, refusal = _ids_up_to_the_first_wrong(given, position.rules)
        while ids:
            seats = game.play(ids)
            plays += map(Play, seats, ids)
            del ids[: len(seats)]
            if ids and game.is_round_over():
                game.play_or_refuse(Play(NO_SEAT, NEXT_ROUND), f"play {len(plays) + 1}")
                plays.append(Play(NO_SEAT, NEXT_ROUND))
            elif ids:
                game.refuse(Play(game.seat, ids[0]), f"play {len(plays) + 1}")
        if refusal is not None:
            raise refusal
    return Record(position, tuple(plays), game.totals())


def _ids_up_to_the_first_wrong(given: list[Any], rules: Rules) -> tuple[list[int], NotationError | None]:
    """The ids of actions as ints, and what is wrong with the one that is none."""
    ids: list[int] = []
    count = num_actions(rules.teams)
    for action in given:
        try:
            ids.append(whole_number("action", action, count))
        except NotationError as error:
            return ids, error
    return ids, None


class _Game:
    """A copy of a position that is played on.

    Attributes:
        states: `STATE[1]`, the game as it stands.
    """

    def __init__(self, position: Position) -> None:
        """Look at the position first: it may have been made in code."""
        self.states = _begun(position)
        self._rules = position.rules
        self._plain = for_kernels(self.states)
        self._fields = self.states.view(np.ndarray)  # the same memory; attributes of a recarray are slow
        self._bytes, self._dtype = self._fields.view(np.uint8), self.states.dtype
        self._table = compiled_rules(position.rules)
        self._play_until_refused = machine_code.of(play_until_refused)

    @property
    def seat(self) -> int:
        """The seat to act."""
        return int(self._fields["seat"][0])

    def copy(self) -> StateArray:
        """`STATE[1]`, the game as it stands; NumPy would copy it field by field."""
        return self._bytes.copy().view(self._dtype, np.recarray)

    def is_round_over(self) -> bool:
        """Return True if no seat is to act."""
        return int(self._fields["phase"][0]) == ROUND_OVER

    def play(self, actions: Sequence[int]) -> list[int]:
        """Carry out the actions up to the first that the rules do not allow; who played each."""
        seats = np.empty(len(actions), np.int32)
        ids = np.array(actions, np.int64)
        played = self._play_until_refused(self._plain, self._table, ids, seats)
        found: list[int] = seats[:played].tolist()
        return found

    def play_or_refuse(self, play: Play, where: str) -> None:
        """Carry out one play.

        Raises:
            NotationError: the rules do not allow it, or it is another seat's turn.
        """
        is_of_this_seat = play.action == NEXT_ROUND or play.seat == self.seat
        if not is_of_this_seat or not self.play([play.action]):
            self.refuse(play, where)

    def refuse(self, play: Play, where: str) -> NoReturn:
        """Say why the rules do not allow the play."""
        raise NotationError(
            f"{where}, {write_play(play, self._rules)!r}: {_reason(self.states, self._rules, play)}"
        )

    def totals(self) -> tuple[int, ...] | None:
        """Each team's points, if the round is over."""
        if not self.is_round_over():
            return None
        return tuple(self._fields["score"][0, : self._rules.teams].tolist())


def _begun(position: Position) -> StateArray:
    """A copy of the position's record to play on, looked at first: it may have been made in code."""
    given: object = position
    if not isinstance(given, Position):
        raise NotationError(f"a game begins with a notation.Position; got {type(given).__name__}")
    validated(position.rules)
    problem = first_violation(checked_state(position.state), position.rules)
    if problem is not None:
        raise NotationError(f"the position is no game of this table: {problem[1]}")
    states: StateArray = np.empty(1, STATE).view(np.recarray)
    states[:] = position.state
    return states


def replay(record: Record) -> Iterator[StateArray]:
    """Play the record again.

    Args:
        record: what to play.

    Yields:
        `STATE[1]`, a copy each: the game before every play, and at the end.

    Raises:
        NotationError: the position is none, the rules do not allow a play, or the game does not end with the
            record's result; the message names the line, the seat and the play, and what it might have done.
    """
    rules = checked_record(record).position.rules
    game = _Game(record.position)
    for number, given in enumerate(record.plays):
        yield game.copy()
        where = f"line {record.lines[number]}" if number < len(record.lines) else f"play {number + 1}"
        game.play_or_refuse(checked_play(given, rules), where)
    if record.result is not None:
        totals = game.totals()
        if totals is None:
            raise NotationError("the record has a result, but its last round is not over")
        if totals != record.result:
            said, found = (" ".join(map(str, points)) for points in (record.result, totals))
            raise NotationError(f"the result of the record is {said}, and its plays lead to {found}")
    yield game.states


def _reason(states: StateArray, rules: Rules, play: Play) -> str:
    """Why the rules do not allow the play now, and what they do allow."""
    state, table = states[0], rules_record(rules)
    seat, phase = int(state.seat), int(state.phase)
    if phase == ROUND_OVER:
        if play.action != NEXT_ROUND:
            return f"the round is over; in a match write {DEAL!r} before the next play"
        return "the match is over"
    if play.action == NEXT_ROUND:
        return f"the round is not over: seat {seat} is to act ({PHASE_NAMES[phase]})"
    legal = [action for action in range(num_actions(rules.teams)) if plain(is_legal)(state, table, action)]
    known = ", ".join(write_action(action, rules, seat) for action in legal)
    if play.seat != seat:
        return f"seat {seat} is to act ({PHASE_NAMES[phase]}). It may: {known}"
    card = int(card_of(play.action))
    lacks = phase == PLAY and card != NO_CARD and not state.hand[seat, card]
    reason = f"the seat does not hold {CARD_WORDS[card]}" if lacks else "the rules do not allow it now"
    return f"{reason}. It may: {known}"


__all__ = ["entries_of", "read_record", "record_of", "record_of_entries", "replay", "write_record"]
