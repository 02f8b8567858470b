"""Records: games as text with the first position and all plays (format: docs/environment/records.md).

edition: arc_en_ciel
table: 4 players
key: 123 456
plays:
chance: white 4
seat 2: bid 3
...
result: 3 1 0 2
winner: 0

A line `chance` lists the dice and cards since the last play, for games with that hook. In a game of rounds
and matches, `next round` deals the next round of a match; there is no line `winner` then, since the record
does not say whether a round or a match was played.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from millebornes_env._util.texts import closest, items_of
from millebornes_env.engine.rulebook import NEXT_ROUND, NO_TEAM, Rulebook
from millebornes_env.errors import NotationError, shown
from millebornes_env.games.registry import GAMES, Sheet
from millebornes_env.notation.header import checked_table
from millebornes_env.notation.lines import (
    NOTHING,
    PLAYS,
    RESULT,
    Line,
    error_at,
    lines_of,
    named_line,
    number_of,
    seat_of,
    team_named,
    text_lines,
)
from millebornes_env.notation.play_words import PlayWords, whole_number
from millebornes_env.notation.position import (
    USUAL_EDITION,
    USUAL_PLAYERS,
    Position,
    choose_sheet,
    edition_in,
    game_of,
    notation_of,
)

CHANCE: Final = "chance"
WINNER: Final = "winner"

FORMAT_VERSION: Final = 1
"""Version of the format in JSON; increased when older files can no longer be read."""

DEAL: Final = "next round"
"""The line for the deal of the next round."""

NO_SEAT: Final = -1

_MOST_POINTS: Final = int(np.iinfo(np.int16).max)


class Play(NamedTuple):
    """One play of a record.

    Attributes:
        seat: the acting seat; -1 for the deal of the next round.
        action: the action, or NEXT_ROUND.
    """

    seat: int
    action: int


@dataclass(frozen=True)
class Record:
    """A game from some position on.

    Attributes:
        position: the first position.
        plays: the plays, in order.
        result: each team's points at the end of the last round (in a match, the total so far), or None.
        lines: line number of each play in the text; empty if the record was not read from a text.
        winner: for games without matches, the sole winner (a team) or -1; None if unknown.
        chance: the dice and cards before each play and after the last one, such as "white 4, card event_2";
            "" where they are not recorded, and an empty tuple if they never are.

    Raises:
        NotationError: the position or the plays have another type, or `chance` another length.
    """

    position: Position
    plays: tuple[Play, ...]
    result: tuple[int, ...] | None = None
    lines: tuple[int, ...] = field(default=(), compare=False)
    winner: int | None = None
    chance: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        position: object = self.position
        plays: object = self.plays
        if not isinstance(position, Position):
            raise NotationError(f"a record begins with a notation.Position; got {type(position).__name__}")
        if not isinstance(plays, tuple) or not all(isinstance(play, Play) for play in plays):
            raise NotationError(f"the plays of a record are a tuple of notation.Play; got {shown(plays)}")
        if self.chance and len(self.chance) != len(self.plays) + 1:
            raise NotationError(
                f"chance has {len(self.chance)} entries, and a record of {len(self.plays)} plays has "
                f"{len(self.plays) + 1}: before each play and after the last one; give as many, or none"
            )

    def __str__(self) -> str:
        return write_record(self)


def checked_record(record: Any) -> Record:
    """Return the record; raise NotationError for anything else."""
    if not isinstance(record, Record):
        raise NotationError(f"a game is a notation.Record; got {type(record).__name__}")
    return record


def ends_of(rulebook: Rulebook) -> tuple[str, ...]:
    """Return the names of the last lines; games with rounds and matches have no line for the winner."""
    return (RESULT, WINNER) if len(rulebook.EPISODES) == 1 else (RESULT,)


# Writing ---------------------------------------------------------------------------------------------------


def write_record(record: Record) -> str:
    """Write a record as text that `read_record` can read.

    Raises:
        NotationError: a play, the result or the position is invalid at this table.
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
    """Return a record as a dictionary for JSON."""
    position = checked_record(record).position
    rules, game = position.rules, game_of(position.edition)
    words = PlayWords(game, rules)
    plays = []
    chance = record.chance or ("",) * (len(record.plays) + 1)
    for events, play in zip(chance, record.plays, strict=False):
        plays += [f"{CHANCE}: {events}"] if events else []
        plays.append(write_play(play, words))
    if chance[-1]:
        plays.append(f"{CHANCE}: {chance[-1]}")
    entries: dict[str, Any] = {game.name: FORMAT_VERSION, "position": _words_of(position), PLAYS: plays}
    if record.result is not None:
        entries[RESULT] = _checked_result(record.result, rules.teams)
    if record.winner is not None:
        if WINNER not in ends_of(game.module()):
            raise NotationError(
                f"records of the game {game.name!r} have no line for the winner, which is {record.winner}"
            )
        is_alone = record.winner != NO_TEAM
        entries[WINNER] = whole_number("team", record.winner, rules.teams) if is_alone else None
    return entries


def write_play(play: Play, words: PlayWords) -> str:
    """Return the line of a play: `seat 0: discard stop`, `next round`."""
    seat, action = checked_play(play, words)
    return DEAL if action == NEXT_ROUND else f"seat {seat}: {words.write(action, seat)}"


def checked_play(play: Play, words: PlayWords) -> Play:
    """Return the play with its seat and action as plain ints; raise NotationError if there is none."""
    action: object = play.action
    if isinstance(action, (int, np.integer)) and action == NEXT_ROUND:
        return Play(NO_SEAT, NEXT_ROUND)
    number = whole_number("action", action, words.count)
    return Play(whole_number("seat", play.seat, words.rules.players), number)


def _words_of(position: Position) -> dict[str, str]:
    """Return the lines of the position, shortened if it is the beginning of an episode."""
    notation, edition, rules = notation_of(position.edition), position.edition, position.rules
    if hasattr(notation, "words_of_beginning"):
        checked_table(edition, rules)
        beginning: dict[str, str] | None = notation.words_of_beginning(
            position.state, edition, rules, key=position.has_key
        )
        if beginning is not None:
            return beginning
    words: dict[str, str] = notation.words_of_position(position.state, edition, rules, key=position.has_key)
    return words


def _checked_result(result: Any, teams: int) -> list[int]:
    """Return the points of a result as ints; raise NotationError if they are invalid."""
    try:
        items = [] if isinstance(result, (str, bytes, bytearray)) else items_of(result, teams) or []
        points = [operator.index(one) for one in items if not isinstance(one, bool)]
    except Exception:  # a user's `__index__` may raise anything
        points = []
    if len(points) != teams or not all(abs(one) <= _MOST_POINTS for one in points):
        raise NotationError(
            f"'result' must be a list of {teams} whole numbers up to {_MOST_POINTS}, each team's points; it "
            f"is {shown(result)}"
        )
    return points


# Reading ---------------------------------------------------------------------------------------------------


def read_record(
    text: str,
    *,
    edition: str | Path | Sheet = USUAL_EDITION,
    players: int = USUAL_PLAYERS,
    teams: int | None = None,
) -> Record:
    """Read a record: a position, the line `plays:`, one play per line, and optionally a result.

    The legality of the plays is not checked; `replay` does that.

    Args:
        text: the output of `write_record`, or a position without plays.
        edition: default sheet; see `read_position`.
        players: default number of seats.
        teams: default number of teams.

    Raises:
        NotationError: the text is not a valid record; the message names the line and the problem.
    """
    before, after = _parts_of(text)
    sheet = choose_sheet(edition_in(before), edition)
    reader = _Reader(notation_of(sheet).position_of_lines(before, sheet, players, teams))
    for number, words in after:
        reader.read(number, words)
    return reader.record()


def _parts_of(text: object) -> tuple[list[Line], list[tuple[int, str]]]:
    """Split a text into the lines of the position and the numbered lines after `plays:`."""
    numbered = text_lines(text, "a record")
    if not numbered:
        raise NotationError("the text is empty: a record begins with a line such as 'edition: parker'")
    starts = [index for index, (number, line) in enumerate(numbered) if _is_plays(number, line)]
    end = starts[0] if starts else len(numbered)
    before: list[Line] = []
    for number, words in numbered[:end]:
        line = named_line(number, words)
        if line.name in ("seat", CHANCE, RESULT) and not starts and before and not before[-1].words:
            raise before[-1].error(f"this line, before the plays and the result, must read '{PLAYS}:'")
        if line.name == RESULT:
            raise line.error(f"the result must follow the line '{PLAYS}:' and the plays")
        before.append(line)
    return before, numbered[end + 1 :]


def _is_plays(number: int, line: str) -> bool:
    name, colon, words = line.lower().partition(":")
    if name.strip() == PLAYS and colon and words.strip():
        raise error_at(number, line, f"each play needs its own line, after the line '{PLAYS}:'")
    return name.strip() == PLAYS and bool(colon)


def record_of_entries(
    entries: object, edition: str | Path | Sheet, players: int, teams: int | None
) -> Record:
    """Return the record of a dictionary made by `entries_of`; see `read_record`."""
    if not isinstance(entries, dict):
        raise NotationError("a record is an object, {...}")
    words = entries.get("position")
    words_of_edition = words.get("edition") if isinstance(words, dict) else None
    sheet = choose_sheet(words_of_edition if isinstance(words_of_edition, str) else None, edition)
    named = [name for name in GAMES if name in entries]
    if named and sheet.game not in named:
        raise NotationError(
            f"the record is of the game {named[0]!r}, and the edition {sheet.label!r} is of {sheet.game!r}"
        )
    words, plays = _checked_entries(entries, sheet.game, ends_of(game_of(sheet).module()))
    reader = _Reader(notation_of(sheet).position_of_lines(lines_of(words), sheet, players, teams))
    for number, play in enumerate(plays, 1):
        try:
            reader.read(0, play)
            if reader.is_at_the_end:
                raise error_at(0, play, "in JSON, result and winner are entries, not plays")
        except NotationError as error:
            raise NotationError(f"play {number}, {error}") from None
    count = reader.position.rules.teams
    if entries.get(RESULT) is not None:
        reader.result = tuple(_checked_result(entries[RESULT], count))
    if WINNER in entries:
        winner = entries[WINNER]
        reader.winner = NO_TEAM if winner is None else whole_number("team", winner, count)
    return reader.record()


def _checked_entries(
    entries: dict[str, Any], game: str, ends: tuple[str, ...]
) -> tuple[dict[str, str], list[str]]:
    """Return the words of the position by name, and the texts of the plays; an error names the entry.

    `ends` are the names of the last lines. `game` is also the name of the entry with the format version.
    """
    known = (game, "position", PLAYS, *ends)
    for name in entries:
        if name not in known:
            raise NotationError(
                f"unknown entry {shown(name)}; the entries are {', '.join(known)}.{closest(name, known)}"
            )
    version = entries.get(game)
    if type(version) is not int or version != FORMAT_VERSION:
        raise NotationError(
            f"{game!r}, the version of the format, is {shown(version)}; this release reads {FORMAT_VERSION}"
        )
    words, plays = entries.get("position"), entries.get(PLAYS, [])
    wanted = '\'position\' must be an object of names and words, {"dealer": "1", ...}'
    if not isinstance(words, dict):
        raise NotationError(wanted)
    for name, said in words.items():
        if not isinstance(said, str):
            raise NotationError(f"{wanted}; {shown(name)} is {shown(said)}, not text")
    wanted = "'plays' must be a list of texts, [\"seat 0: 25\", ...]"
    if not isinstance(plays, list):
        raise NotationError(wanted)
    for number, play in enumerate(plays, 1):
        if not isinstance(play, str):
            raise NotationError(f"{wanted}; play {number} is {shown(play)}")
    return words, plays


class _Reader:
    """A parser for the lines after `plays:`."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.result: tuple[int, ...] | None = None
        self.winner: int | None = None
        game = game_of(position.edition)
        self._words = PlayWords(game, position.rules)
        self._ends = ends_of(game.module())
        self._plays: list[Play] = []
        self._lines: list[int] = []
        self._chance: dict[int, str] = {}

    @property
    def is_at_the_end(self) -> bool:
        """Return True if the result or the winner has been read."""
        return self.result is not None or self.winner is not None

    def read(self, number: int, text: str) -> None:
        """Parse the next line."""
        if " ".join(text.lower().split()).rstrip(":") == DEAL:
            self._check_not_at_the_end(number, text)
            self._add(Play(NO_SEAT, NEXT_ROUND), number)
            return
        if ":" not in text:
            raise error_at(number, text, f"a play reads {self._example}, or {DEAL!r}.{closest(text, [DEAL])}")
        line = named_line(number, text)
        if line.key in self._ends:
            self._read_end(line)
            return
        self._check_not_at_the_end(number, text)
        if line.key == CHANCE:
            if len(self._plays) in self._chance:
                raise line.error("there are two lines of chance in a row: put them together")
            self._chance[len(self._plays)] = ", ".join(part.strip() for part in line.words.lower().split(","))
        elif line.name == "seat" and line.owner is not None and line.at is None:
            seat = seat_of(line, str(line.owner), self.position.rules)
            self._add(Play(seat, self._words.read(line, seat)), number)
        else:
            others = ", ".join(repr(name) for name in (DEAL, CHANCE, *self._ends))
            raise line.error(
                f"a play begins with the seat, such as {self._example}; other lines are {others}"
            )

    @property
    def _example(self) -> str:
        return repr(f"seat 0: {self._words.write(0, 0)}")

    def _add(self, play: Play, number: int) -> None:
        self._plays.append(play)
        self._lines.append(number)

    def _check_not_at_the_end(self, number: int, text: str) -> None:
        if self.is_at_the_end:
            raise error_at(number, text, f"the record ends with its {' and its '.join(self._ends)}")

    def _read_end(self, line: Line) -> None:
        """Parse the line of the result or the winner."""
        if (self.result if line.key == RESULT else self.winner) is not None:
            raise line.error(f"the {line.key} is there already")
        if line.key == RESULT:
            self.result = _result_of(line, self.position.rules.teams)
        else:
            word = line.words.lower().removeprefix("team ")
            self.winner = NO_TEAM if word == NOTHING else team_named(line, word, self.position.rules)

    def record(self) -> Record:
        """Return the record of all lines."""
        chance = tuple(self._chance.get(index, "") for index in range(len(self._plays) + 1))
        return Record(
            self.position,
            tuple(self._plays),
            self.result,
            tuple(self._lines) if any(self._lines) else (),
            self.winner,
            chance if any(chance) else (),
        )


def _result_of(line: Line, teams: int) -> tuple[int, ...]:
    words = line.words.replace(",", " ").split()
    if len(words) != teams:
        raise line.error(f"a result has the points of {teams} teams; got {len(words)}")
    result = []
    for team, word in enumerate(words):
        size = number_of(line, word.removeprefix("-"), f"team {team}'s", 0, _MOST_POINTS)
        result.append(-size if word.startswith("-") else size)
    return tuple(result)
