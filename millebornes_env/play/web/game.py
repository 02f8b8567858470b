"""A game at the table: its first position, its plays, and the position after each play."""

from __future__ import annotations

from typing import Any

import numpy as np

from millebornes_env.engine.numba import machine_code
from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.engine.rulebook import NEXT_ROUND
from millebornes_env.errors import PlayError
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.legality import is_legal
from millebornes_env.games.millebornes.replay import play_until_refused
from millebornes_env.games.millebornes.rulebook import NAME
from millebornes_env.games.millebornes.rules import Rules, compiled_rules, rules_record
from millebornes_env.games.millebornes.state import ROUND_OVER, STATE, State, StateArray
from millebornes_env.games.millebornes.winning import is_match_over
from millebornes_env.notation import Play, Position, Record, read_record, replay


class PlayedGame:
    """A game with its history, which can return to an earlier position and continue from there.

    Attributes:
        start: the first position.
        plays: all plays.
        at: number of plays before the current position.
        is_match: True for a match, False for a single round.
    """

    def __init__(self, start: Position, *, is_match: bool) -> None:
        """Start at a position."""
        self.start = start
        self.plays: list[Play] = []
        self.at = 0
        self.is_match = is_match
        self._states = [_copied(start.state)]

    @classmethod
    def of_text(cls, text: str, *, edition: str, is_match: bool | None) -> PlayedGame:
        """Read a game from a position or a record, and go to its beginning.

        Args:
            text: a position or a record in notation.
            edition: edition of a text that names none.
            is_match: True for a match, False for a round; None: a match if the text deals a next round.

        Raises:
            NotationError: the text cannot be read.
        """
        record = read_record(text, edition=edition)
        shown_here(record.position.edition)
        states = [_copied(state) for state in replay(record)]
        has_next = any(play.action == NEXT_ROUND for play in record.plays)
        game = cls(record.position, is_match=has_next if is_match is None else is_match)
        game.plays = list(record.plays)
        game._states = states
        return game

    @property
    def rules(self) -> Rules:
        """The rules of the table."""
        rules: Rules = self.start.rules
        return rules

    @property
    def states(self) -> StateArray:
        """The current position, `STATE[1]`; it must not be changed."""
        return self._states[self.at]

    @property
    def state(self) -> State:
        """The record of the current position."""
        state: State = self.states[0]
        return state

    def go_to(self, at: int) -> None:
        """Go to the position after this number of plays.

        Raises:
            PlayError: there are fewer plays.
        """
        if not 0 <= at <= len(self.plays):
            raise PlayError(f"there is no position {at}: the game has {len(self.plays)} plays")
        self.at = at

    def play(self, action: int) -> None:
        """Play an action in the current position; later plays are removed.

        Args:
            action: id of the action; NEXT_ROUND deals the next round of a match.

        Raises:
            PlayError: the rules do not allow it.
        """
        states = for_kernels(_copied(self.states))
        seats = np.empty(1, np.int32)
        if action == NEXT_ROUND and not self.can_go_on():
            raise PlayError("no round can be dealt now: " + self._why_no_round())
        ids = np.array([action], np.int64)
        if not machine_code.of(play_until_refused)(states, compiled_rules(self.rules), ids, seats):
            raise PlayError(f"the rules do not allow action {action} now")
        del self.plays[self.at :], self._states[self.at + 1 :]
        self.plays.append(Play(int(seats[0]), action))
        self._states.append(_copied(states))
        self.at += 1

    def take_back(self) -> None:
        """Remove the last play before the current position, and all later ones.

        Raises:
            PlayError: there is no play before it.
        """
        if self.at == 0:
            raise PlayError("there is no play to take back")
        self.at -= 1
        del self.plays[self.at :], self._states[self.at + 1 :]

    def legal(self) -> list[int]:
        """List the ids of the legal actions; NEXT_ROUND if the next round is to be dealt."""
        state = self.state
        if int(state.phase) == ROUND_OVER:
            return [NEXT_ROUND] if self.can_go_on() else []
        record, count = rules_record(self.rules), int(num_actions(self.rules.teams))
        return [action for action in range(count) if plain(is_legal)(state, record, action)]

    def can_go_on(self) -> bool:
        """Return True if the round is over and the match is not."""
        if not self.is_match or int(self.state.phase) != ROUND_OVER:
            return False
        return not plain(is_match_over)(self.state, rules_record(self.rules))

    def _why_no_round(self) -> str:
        if int(self.state.phase) != ROUND_OVER:
            return "the round is not over"
        return "the match is decided" if self.is_match else "a single round is played"

    def record(self) -> Record:
        """Return the game as a record, with the result if the last round is over."""
        last = self._states[-1][0]
        is_over = int(last.phase) == ROUND_OVER
        result = tuple(int(last.score[team]) for team in range(self.rules.teams)) if is_over else None
        return Record(self.start, tuple(self.plays), result)

    def plays_of_round(self) -> list[tuple[StateArray, int]]:
        """List the decisions of this round before the current position: STATE[1] and action of each."""
        rounds = [number for number, play in enumerate(self.plays[: self.at]) if play.action == NEXT_ROUND]
        first = rounds[-1] + 1 if rounds else 0
        return [(for_kernels(self._states[at]), self.plays[at].action) for at in range(first, self.at)]


def shown_here(sheet: Any) -> Any:
    """Return the rule sheet.

    Raises:
        PlayError: it is of a game that the page cannot show.
    """
    if sheet.game != NAME:
        raise PlayError(
            f"{sheet.label!r} is a sheet of a game that this page cannot show: play it on the terminal"
        )
    return sheet


def _copied(states: StateArray) -> StateArray:
    copied: StateArray = np.empty(1, STATE).view(np.recarray)
    copied[:] = states
    return copied
