"""Episodes of any game of the table as text: the position where they begin, and every play by its name.

edition: arc_en_ciel
table: 4 players
key: 123 456
plays:
chance: white 4
seat 2: bid 3
...
result: 3 1 0 2
winner: 0

A line `chance` says which dice and cards have fallen since the play before, where the game says it; replaying
the record compares. One episode is played, of the game's first kind (`Rulebook.EPISODES`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np

from millebornes_env._util.texts import items_of
from millebornes_env.engine.batch import NO_GAME, Batch, Settings
from millebornes_env.engine.kernels import DISABLED
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import NO_TEAM, StateArray
from millebornes_env.errors import NotationError, shown
from millebornes_env.games.registry import Game
from millebornes_env.games.registry import game as find_game
from millebornes_env.notation.entries import FORMAT_VERSION, checked_entries
from millebornes_env.notation.lines import NOTHING, Line, lines_of, named_line, number_of, seat_of, team_named
from millebornes_env.notation.millebornes.positions import PLAYS, RESULT
from millebornes_env.notation.millebornes.records import (
    Play,
    Record,
    checked_record,
    parts_of_record,
    whole_number,
)
from millebornes_env.notation.openings import words_of_beginning
from millebornes_env.notation.play_words import PlayWords, listed
from millebornes_env.notation.position import Position, notation_of, sheet_meant

CHANCE: Final = "chance"
WINNER: Final = "winner"
_MOST_POINTS: Final = int(np.iinfo(np.int16).max)


# Writing ---------------------------------------------------------------------------------------------------


def write_record(record: Record) -> str:
    """The record as text; `read_record` makes the same of it.

    Raises:
        NotationError: a play or a result that there is not at this table, or a position that is none.
    """
    entries = entries_of(record)
    lines = [f"{name}: {said}" for name, said in entries["position"].items()]
    lines += [f"{PLAYS}:", *entries[PLAYS]]
    if RESULT in entries:
        lines.append(f"{RESULT}: {' '.join(map(str, entries[RESULT]))}")
    if WINNER in entries:
        lines.append(f"{WINNER}: {NOTHING if entries[WINNER] is None else entries[WINNER]}")
    return "\n".join(lines) + "\n"


def entries_of(record: Record) -> dict[str, Any]:
    """Return the entries of a record's line, ready for JSON."""
    position = checked_record(record).position
    rules, entry = position.rules, find_game(position.edition.game)
    words = PlayWords(entry.module(), rules)
    plays = []
    chance = record.chance or ("",) * (len(record.plays) + 1)
    for fallen, play in zip(chance, record.plays, strict=False):
        plays += [f"{CHANCE}: {fallen}"] if fallen else []
        seat = whole_number("seat", play.seat, rules.players)
        plays.append(f"seat {seat}: {words.write(play.action, seat)}")
    if chance[-1]:
        plays.append(f"{CHANCE}: {chance[-1]}")
    entries: dict[str, Any] = {entry.name: FORMAT_VERSION, "position": _words_of(position), PLAYS: plays}
    if record.result is not None:
        entries[RESULT] = _checked_result(record.result, rules)
    if record.winner is not None:
        winner = record.winner
        entries[WINNER] = None if winner == NO_TEAM else whole_number("team", winner, rules.teams)
    return entries


def _words_of(position: Position) -> dict[str, str]:
    """The lines of the position; of the beginning of an episode, those from which it follows."""
    state, sheet, rules = position.state, position.edition, position.rules
    beginning = words_of_beginning(state, sheet, rules, position.has_key)
    if beginning is not None:
        return beginning
    words: dict[str, str] = notation_of(sheet).words_of_position(state, sheet, rules, key=position.has_key)
    return words


def _checked_result(result: Any, rules: Any) -> list[int]:
    given = None if isinstance(result, (str, bytes)) else items_of(result, rules.teams)
    points = [
        int(one)
        for one in given or []
        if isinstance(one, (int, np.integer)) and not isinstance(one, bool) and abs(int(one)) <= _MOST_POINTS
    ]
    if given is None or len(points) != len(given) or len(points) != rules.teams:
        raise NotationError(
            f"'result' must be a list of {rules.teams} whole numbers, each team's points; it is "
            f"{shown(result)}"
        )
    return points


# Reading ---------------------------------------------------------------------------------------------------


def read_record(text: str, *, edition: Any, players: int = 2, teams: int | None = None) -> Record:
    """The record that a text holds: a position, the line `plays:`, a play in each line, perhaps a result.

    The plays are taken as they stand; `replay` says whether the rules allow them.

    Args:
        text: as `write_record` writes it; without plays, a position alone.
        edition: what is played if the text does not say.
        players: seats at the table if the text does not say.
        teams: teams at the table if the text does not say.

    Raises:
        NotationError: it holds none; the message names the line and what is wrong with it.
    """
    before, after = parts_of_record(text)
    said = next((line.words for line in before if line.name == "edition"), None)
    sheet = sheet_meant(said, edition)
    position = notation_of(sheet).position_of_lines(before, sheet, players, teams)
    reader = _Reader(position)
    for number, words in after:
        reader.read(named_line(number, words))
    return reader.record()


def record_of_entries(entries: object, *, edition: Any, players: int = 2, teams: int | None = None) -> Record:
    """The record that `entries_of` describes.

    Raises:
        NotationError: it describes none.
    """
    said: object = entries.get("position") if isinstance(entries, dict) else None
    named: object = said.get("edition") if isinstance(said, dict) else None
    sheet = sheet_meant(named if isinstance(named, str) else None, edition)
    words, plays, others = checked_entries(entries, sheet.game, (RESULT, WINNER))
    position = notation_of(sheet).position_of_lines(lines_of(words), sheet, players, teams)
    reader = _Reader(position)
    for number, play in enumerate(plays, 1):
        try:
            line = named_line(0, play)
            if line.name in (RESULT, WINNER):
                raise line.refused(f"the {line.name} of a line of JSON is an entry of its own")
            reader.read(line)
        except NotationError as error:
            raise NotationError(f"play {number}, {error}") from None
    if others[RESULT] is not None:
        reader.result = tuple(_checked_result(others[RESULT], position.rules))
    if isinstance(entries, dict) and WINNER in entries:
        winner = others[WINNER]
        reader.winner = NO_TEAM if winner is None else whole_number("team", winner, position.rules.teams)
    return reader.record()


class _Reader:
    """The lines after `plays:` on their way into a record."""

    def __init__(self, position: Position) -> None:
        self.result: tuple[int, ...] | None = None
        self.winner: int | None = None
        self._position = position
        self._words = PlayWords(find_game(position.edition.game).module(), position.rules)
        self._plays: list[Play] = []
        self._lines: list[int] = []
        self._chance: dict[int, str] = {}

    def read(self, line: Line) -> None:
        """Take the next line.

        Raises:
            NotationError: it is none of a record, or stands at the wrong place.
        """
        rules = self._position.rules
        if line.key == WINNER:
            if self.winner is not None:
                raise line.refused("the winner is there already")
            word = line.words.lower().removeprefix("team ")
            self.winner = NO_TEAM if word == NOTHING else team_named(line, word, rules)
        elif line.key == RESULT and self.result is None:
            self.result = _result_of(line, rules)
        elif self.result is not None or self.winner is not None:
            raise line.refused("the record ends with its result and its winner")
        elif line.key == CHANCE:
            if len(self._plays) in self._chance:
                raise line.refused("two lines of chance follow each other: put them together")
            self._chance[len(self._plays)] = ", ".join(part.strip() for part in line.words.lower().split(","))
        elif line.name == "seat" and line.place is not None and line.at is None:
            seat = seat_of(line, str(line.place), rules)
            self._plays.append(Play(seat, self._words.read(line, seat)))
            self._lines.append(line.number)
        else:
            raise line.refused(
                f"a play begins with the seat, such as 'seat 0: {self._words.write(0, 0)}'; other lines are "
                f"{CHANCE!r}, {RESULT!r} and {WINNER!r}"
            )

    def record(self) -> Record:
        """All that was read."""
        chance = tuple(self._chance.get(place, "") for place in range(len(self._plays) + 1))
        return Record(
            self._position,
            tuple(self._plays),
            self.result,
            tuple(self._lines) if any(self._lines) else (),
            self.winner,
            chance if any(chance) else (),
        )


def _result_of(line: Line, rules: Any) -> tuple[int, ...]:
    words = line.words.replace(",", " ").split()
    if len(words) != rules.teams:
        raise line.refused(f"a result is the points of {rules.teams} teams; these are {len(words)}")
    found = []
    for team, word in enumerate(words):
        size = number_of(line, word.removeprefix("-"), f"team {team}'s", 0, _MOST_POINTS)
        found.append(-size if word.startswith("-") else size)
    return tuple(found)


# Playing again ---------------------------------------------------------------------------------------------


class _Played:
    """A copy of a position that is played on."""

    def __init__(self, position: object) -> None:
        if not isinstance(position, Position):
            raise NotationError(f"a game begins with a notation.Position; got {type(position).__name__}")
        self.entry: Game = find_game(position.edition.game)
        self.rules = position.rules
        self.rulebook = self.entry.module()
        if position.state.dtype != self.rulebook.STATE or position.state.shape != (1,):
            raise NotationError("a position holds one record of its game, STATE[1]")
        if self.entry.has("games.audit"):
            problem = self.entry.hook("games.audit", "a record")(position.state, self.rules)
            if problem is not None:
                raise NotationError(f"the position is no game of this table: {problem[1]}")
        spec = self.entry.observation_kind()()
        settings = Settings(episode=0, reward=0, autoreset=DISABLED, observation_spec=spec, punish_illegal=0)
        self.games = Batch(self.rulebook, 1, self.rules, settings)
        self.games.states[:] = position.state
        self.games.write_decisions()
        self.words = PlayWords(self.rulebook, self.rules)
        self._is_over = plain(self.rulebook.is_round_over)
        self._chance: Any = (
            self.entry.hook("notation.describe_chance", "a record")
            if self.entry.has("notation.describe_chance")
            else None
        )

    @property
    def state(self) -> Any:
        """The record as it stands."""
        return self.games.states[0]

    def copy(self) -> StateArray:
        """`STATE[1]`, the game as it stands."""
        copied: StateArray = self.games.states.copy()
        return copied

    def is_over(self) -> bool:
        """Return True if no seat is to act."""
        return bool(self._is_over(self.state))

    def fallen(self, action: int | None) -> str:
        """Return the dice and cards that an action brings; for None, those of this turn so far."""
        if self._chance is None:
            return ""
        return ", ".join(self._chance(self.copy()[0], self.rules, action))

    def play(self, action: int, where: str) -> None:
        """Carry out one play.

        Raises:
            NotationError: the rules do not allow it, or the game is over.
        """
        if self.is_over():
            raise NotationError(f"{where}: the {self.rulebook.EPISODES[0]} is over")
        if self.games.step(np.array([action], np.int64)) != NO_GAME:
            seat = int(self.state.seat)
            reason = self.rulebook.reason_against(self.state, self.rules, action)
            raise NotationError(
                f"{where}, 'seat {seat}: {self.words.write(action, seat)}': the rules do not allow it now: "
                f"{reason}. {self._may()}"
            )

    def check_seat(self, play: Play, where: str) -> None:
        """Refuse a play of another seat than the one to act."""
        if play.seat != int(self.state.seat) and not self.is_over():
            said = f"seat {play.seat}: {self.words.write(play.action, play.seat)}"
            raise NotationError(f"{where}, {said!r}: seat {int(self.state.seat)} is to act. {self._may()}")

    def _may(self) -> str:
        legal = np.flatnonzero(self.games.buffers.action_mask[0]).tolist()
        return f"It may: {listed([self.words.write(action, int(self.state.seat)) for action in legal])}"

    def result(self) -> tuple[int, ...]:
        """Each team's points."""
        score = plain(self.rulebook.final_score)
        record = self.rulebook.rules_array(self.rules)[0]
        return tuple(int(score(self.state, record, 0, team)) for team in range(self.rules.teams))

    def winner(self) -> int:
        """The team that has won alone, or NO_TEAM."""
        record = self.rulebook.rules_array(self.rules)[0]
        return int(plain(self.rulebook.winner)(self.state, record, 0))


def record_of(position: Position, actions: Iterable[int]) -> Record:
    """The record of a game that was played: who played is found by playing it again.

    Args:
        position: where it began.
        actions: the ids of what was played.

    Returns:
        The record, with its result and winner if the game is over.

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
    chance = [game.fallen(None)]
    for given in each:
        action = whole_number("action", given, game.words.count)
        where, seat = f"play {len(plays) + 1}", int(game.state.seat)
        before = game.copy()
        game.play(action, where)
        plays.append(Play(seat, action))
        chance.append(_fallen_after(game, before, action))
    over = game.is_over()
    return Record(
        position,
        tuple(plays),
        game.result() if over else None,
        winner=game.winner() if over else None,
        chance=tuple(chance) if any(chance) else (),
    )


def _fallen_after(game: _Played, before: StateArray, action: int) -> str:
    """Return the dice and cards that the last action brought."""
    now = game.copy()
    game.games.states[:] = before
    fallen = game.fallen(action)
    game.games.states[:] = now
    return fallen


def replay(record: Record) -> Iterator[StateArray]:
    """Play the record again.

    Args:
        record: what to play.

    Yields:
        `STATE[1]`, a copy each: the game before every play, and at the end.

    Raises:
        NotationError: the position is none, the rules do not allow a play, other dice or cards fall than the
            record says, or the game does not end with its result; the message names the line, the seat and
            the play, and what it might have done.
    """
    game = _Played(checked_record(record).position)
    said = record.chance or ("",) * (len(record.plays) + 1)
    _compare_chance(said[0], game, None, "before the first play")
    for number, play in enumerate(record.plays):
        yield game.copy()
        where = f"line {record.lines[number]}" if number < len(record.lines) else f"play {number + 1}"
        game.check_seat(play, where)
        before = game.copy()
        game.play(whole_number("action", play.action, game.words.count), where)
        if said[number + 1]:
            now = game.copy()
            game.games.states[:] = before
            _compare_chance(said[number + 1], game, play.action, f"after {where}")
            game.games.states[:] = now
    _compare_end(record, game)
    yield game.copy()


def _compare_chance(said: str, game: _Played, action: int | None, where: str) -> None:
    found = game.fallen(action) if said else ""
    if said != found:
        raise NotationError(
            f"{where}, chance has brought {found or 'nothing'}, and the record says {said!r}: is the key, "
            "the sheet or the position another one?"
        )


def _compare_end(record: Record, game: _Played) -> None:
    """Compare result and winner, if the record has them."""
    if record.result is None and record.winner is None:
        return
    if not game.is_over():
        raise NotationError(f"the record has a result, but the {game.rulebook.EPISODES[0]} is not over")
    result, winner = game.result(), game.winner()
    if record.result not in (None, result):
        said, found = (" ".join(map(str, points)) for points in (record.result or (), result))
        raise NotationError(f"the result of the record is {said}, and its plays lead to {found}")
    if record.winner not in (None, winner):
        said, found = (
            "nobody alone" if team == NO_TEAM else f"team {team}" for team in (record.winner, winner)
        )
        raise NotationError(f"the winner of the record is {said}, and its plays lead to {found}")


__all__ = ["entries_of", "read_record", "record_of", "record_of_entries", "replay", "write_record"]
