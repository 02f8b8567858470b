"""A round or a match as text: the position where it begins, and every play; docs/notation.md describes it.

edition: parker
...
plays:
seat 0: 25
seat 1: stop against team 0
seat 0: discard 50
...
result: 700 350
"""

from __future__ import annotations

import importlib
import operator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from millebornes_env._util.texts import closest, items_of
from millebornes_env.errors import NotationError, shown
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    PASS,
    card_of,
    discard_action,
    is_discard,
    num_actions,
    opponent_of,
    play_action,
    target_team,
)
from millebornes_env.games.millebornes.cards import is_hazard
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.games.millebornes.replay import NEXT_ROUND
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.state import NO_SEAT
from millebornes_env.games.registry import Game
from millebornes_env.notation.entries import FORMAT_VERSION, checked_entries
from millebornes_env.notation.lines import (
    CARD_WORDS,
    Line,
    card_named,
    line_of,
    lines_of,
    named_line,
    number_of,
    refused,
    seat_of,
    team_named,
    text_lines,
)
from millebornes_env.notation.millebornes.position_reader import MOST_POINTS
from millebornes_env.notation.millebornes.positions import PLAYS, RESULT, position_of_lines, words_of_position
from millebornes_env.notation.position import Position, game_of

DEAL: Final = "next round"
"""The line of a play that deals the next round."""

FORMAT: Final = "millebornes"
"""The entry of a file's line that names the game, and holds the version of the format."""

ANY_GAME: Final = "millebornes_env.notation.game_records"
"""The records of games that have no module of their own for them."""

_DECISIONS: Final = {"claim": CLAIM_COUP_FOURRE, "pass": PASS, "extend": EXTEND, "finish": FINISH}
_WORDS_OF_DECISIONS: Final = {action: word for word, action in _DECISIONS.items()}
_PLAYS_READ: Final = "write a card, 'discard' and a card, claim, pass, extend or finish"
_VERBS: Final = ("discard", "against", "play", *_DECISIONS, *CARD_WORDS)


class Play(NamedTuple):
    """One line of a record.

    Attributes:
        seat: who plays; NO_SEAT for the deal of the next round.
        action: its id (see `actions.py`), or NEXT_ROUND.
    """

    seat: int
    action: int


@dataclass(frozen=True)
class Record:
    """A game from some position on.

    Attributes:
        position: where it begins.
        plays: what was played, in order.
        result: each team's total when the last round was over, or None if the record does not say.
        lines: the number of each play's line in the text that it was read from; empty if from none.
        winner: of other games than Mille Bornes: the team that has won alone, or -1, if the record says so.
        chance: of games that say it: which dice and cards fell before each play and after the last one, such
            as "white 4, card event_2"; "" where the record does not say, empty if it never does.

    Raises:
        NotationError: the position or the plays are something else.
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

    def __str__(self) -> str:
        return str(records_of(self.position.edition).write_record(self))


def records_of(edition: object) -> Any:
    """Return the module that writes, reads and replays the records of a sheet's game."""
    return records_of_game(game_of(edition))


def records_of_game(entry: Game) -> Any:
    """The module that writes, reads and replays the records of a game."""
    if entry.has("notation.records"):
        return entry.hook("notation.records", "a record")
    return importlib.import_module(ANY_GAME)


def checked_record(record: Any) -> Record:
    """The record, if it is one.

    Raises:
        NotationError: it is something else.
    """
    if not isinstance(record, Record):
        raise NotationError(f"a game is a notation.Record; got {type(record).__name__}")
    return record


# Actions ---------------------------------------------------------------------------------------------------


def write_action(action: int, rules: Rules, seat: int) -> str:
    """The words for an action: `25`, `discard stop`, `stop against team 1`, `claim`.

    Args:
        action: its id.
        rules: of the table.
        seat: who plays.

    Raises:
        NotationError: there is no action of that id at this table, or no such seat.
    """
    _check_rules(rules)
    action = whole_number("action", action, num_actions(rules.teams))
    seat = whole_number("seat", seat, rules.players)
    if action in _WORDS_OF_DECISIONS:
        return _WORDS_OF_DECISIONS[action]
    card = int(card_of(action))
    if is_discard(action):
        return f"discard {CARD_WORDS[card]}"
    if not is_hazard(card):
        return CARD_WORDS[card]
    team = int(target_team(rules.teams, seat % rules.teams, int(opponent_of(action))))
    return f"{CARD_WORDS[card]} against team {team}"


def _check_rules(rules: object) -> None:
    if not isinstance(rules, Rules):
        raise NotationError(f"the rules are those of a table, such as env.rules; got {shown(rules)}")


def whole_number(what: str, value: Any, count: int) -> int:
    """The value as an int, if it is a whole number from 0 to count - 1.

    Raises:
        NotationError: it is none of those; `what` says of which kind they are, such as "action".
    """
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except Exception:  # whatever an `__index__` of theirs raises
        number = -1
    if not 0 <= number < count:
        raise NotationError(f"there is no {what} {shown(value)}; they are 0 to {count - 1}")
    return number


def read_action(text: str, rules: Rules, seat: int) -> int:
    """The id of the action that the words stand for; with two teams a hazard need not name the other.

    Args:
        text: as `write_action` writes it.
        rules: of the table.
        seat: who plays.

    Raises:
        NotationError: the words are no action at this table.
    """
    if not isinstance(text, str):
        raise NotationError(f"an action is text; got {type(text).__name__}")
    _check_rules(rules)
    seat = whole_number("seat", seat, rules.players)
    return _action_of(line_of(0, f"seat {seat}", text), rules, seat)


def _action_of(line: Line, rules: Rules, seat: int) -> int:
    words = line.words.lower().split()
    if not words:
        raise line.refused(f"nothing is played; {_PLAYS_READ}")
    if len(words) == 1 and words[0] in _DECISIONS:
        return _DECISIONS[words[0]]
    if words[0] == "discard":
        if len(words) == 1:
            raise line.refused("which card does it discard?")
        _check_end(line, words[2:])
        return int(discard_action(card_named(line, words[1])))
    if words[0] == "play" and len(words) > 1:
        words = words[1:]
    if words[0] not in CARD_WORDS:
        hint = closest(words[0], _VERBS) or f" {_PLAYS_READ.capitalize()}."
        raise line.refused(f"{shown(words[0])} is no play.{hint}")
    card = card_named(line, words[0])
    if not is_hazard(card):
        _check_end(line, words[1:])
        return int(play_action(card, 0))
    return int(play_action(card, _opponent_named(line, words[1:], rules, seat)))


def _opponent_named(line: Line, words: list[str], rules: Rules, seat: int) -> int:
    """Return the opponent of the seat that the words "against team 1" name."""
    own = seat % rules.teams
    if not words and rules.teams == len((own, 1 - own)):
        return 0
    if words[:2] != ["against", "team"] or not words[2:]:
        others = ", ".join(str(team) for team in range(rules.teams) if team != own)
        raise line.refused(f"a hazard says whom it is laid against: 'against team N', N one of {others}")
    _check_end(line, words[3:])
    team = team_named(line, words[2], rules)
    if team == own:
        raise line.refused(f"team {team} is the seat's own")
    return (team - own - 1) % rules.teams


def _check_end(line: Line, words: list[str]) -> None:
    if words:
        raise line.refused(f"{shown(' '.join(words))} is too much: one line is one play")


# Plays -----------------------------------------------------------------------------------------------------


def write_play(play: Play, rules: Rules) -> str:
    """The line of a play: `seat 0: discard stop`, `next round`.

    Raises:
        NotationError: there is no such play at this table.
    """
    seat, action = checked_play(play, rules)
    return DEAL if action == NEXT_ROUND else f"seat {seat}: {write_action(action, rules, seat)}"


def checked_play(play: Play, rules: Rules) -> Play:
    """The play with plain numbers: those of its seat and of its action.

    Raises:
        NotationError: there is no such play at this table.
    """
    given: object = play.action
    if isinstance(given, (int, np.integer)) and given == NEXT_ROUND:
        return Play(NO_SEAT, NEXT_ROUND)
    action = whole_number("action", play.action, num_actions(rules.teams))
    return Play(whole_number("seat", play.seat, rules.players), action)


def read_play(text: str, rules: Rules, number: int = 0) -> Play:
    """The play of a line.

    Args:
        text: as `write_play` writes it.
        rules: of the table.
        number: of the line, for the error.

    Raises:
        NotationError: it is none at this table.
    """
    if " ".join(text.lower().split()).rstrip(":") == DEAL:
        return Play(NO_SEAT, NEXT_ROUND)
    if ":" not in text:
        raise refused(number, text, f"a play reads 'seat 0: 25', or {DEAL!r}.{closest(text, [DEAL])}")
    line = named_line(number, text)
    if line.name != "seat" or line.place is None or line.at is not None:
        raise line.refused(f"a play begins with the seat, such as 'seat 0: 25'; or it is {DEAL!r}")
    seat = seat_of(line, str(line.place), rules)
    return Play(seat, _action_of(line, rules, seat))


# Records ---------------------------------------------------------------------------------------------------


def write_record(record: Record) -> str:
    """The record as text; `read_record` makes the same of it.

    Raises:
        NotationError: a play or a result that there is not at this table, or a position that is none.
    """
    record = checked_record(record)
    lines = [f"{PLAYS}:", *(write_play(play, record.position.rules) for play in record.plays)]
    if record.result is not None:
        result = checked_result(record.result, record.position.rules)
        lines.append(f"{RESULT}: {' '.join(map(str, result))}")
    return str(record.position) + "\n" + "\n".join(lines) + "\n"


def read_record(
    text: str, *, edition: str | Edition = "parker", players: int = 2, teams: int | None = None
) -> Record:
    """The record that a text holds: a position, the line `plays:`, a play in each line, perhaps a result.

    The plays are taken as they stand; `replay` says whether the rules allow them.

    Args:
        text: as `write_record` writes it; without plays, a position alone.
        edition: what is played if the text does not say; see `read_position`.
        players: seats at the table if the text does not say.
        teams: teams at the table if the text does not say.

    Raises:
        NotationError: it holds none; the message names the line and what is wrong with it.
    """
    before, after = parts_of_record(text)
    position = position_of_lines(before, edition, players, teams)
    plays, lines = [], []
    result: tuple[int, ...] | None = None
    for number, words in after:
        if result is not None:
            raise refused(number, words, "the record ends with its result")
        if words.lower().partition(":")[0].strip() == RESULT:
            result = _result_of(named_line(number, words), position.rules)
        else:
            plays.append(read_play(words, position.rules, number))
            lines.append(number)
    return Record(position, tuple(plays), result, tuple(lines))


def parts_of_record(text: object) -> tuple[list[Line], list[tuple[int, str]]]:
    """The lines of the position, and those of the plays and the result with their numbers.

    Raises:
        NotationError: it is no text, or its lines are in another order.
    """
    numbered = text_lines(text, "a record")
    starts = [place for place, (number, line) in enumerate(numbered) if _is_plays(number, line)]
    end = starts[0] if starts else len(numbered)
    before = [named_line(number, line) for number, line in numbered[:end]]
    for line in before:
        if line.name == RESULT:
            raise line.refused(f"the result stands at the end, after the line '{PLAYS}:' and the plays")
    return before, numbered[end + 1 :]


def _is_plays(number: int, line: str) -> bool:
    name, colon, words = line.lower().partition(":")
    if name.strip() == PLAYS and colon and words.strip():
        raise refused(number, line, f"each play stands in a line of its own, after the line '{PLAYS}:'")
    return name.strip() == PLAYS and bool(colon)


def _result_of(line: Line, rules: Rules) -> tuple[int, ...]:
    words = line.words.replace(",", " ").split()
    if len(words) != rules.teams:
        raise line.refused(f"a result is the points of {rules.teams} teams; these are {len(words)}")
    return tuple(number_of(line, word, f"team {team}'s", 0, MOST_POINTS) for team, word in enumerate(words))


def checked_result(result: Any, rules: Rules) -> list[int]:
    """The points of a result, if they are such as can be written.

    Raises:
        NotationError: they are none.
    """
    try:
        given = items_of(result, rules.teams) or []
        points = [-1 if isinstance(one, bool) else operator.index(one) for one in given]
    except Exception:  # whatever an `__index__` of theirs raises
        points = []
    if (
        isinstance(result, (str, bytes, bytearray))
        or len(points) != rules.teams
        or not all(0 <= p <= MOST_POINTS for p in points)
    ):
        raise NotationError(
            f"'result' must be a list of {rules.teams} whole numbers from 0 to {MOST_POINTS}, each team's "
            f"points; it is {shown(result)}"
        )
    return points


# For files -------------------------------------------------------------------------------------------------


def entries_of(record: Record) -> dict[str, Any]:
    """Return the entries of a record's line, ready for JSON."""
    position = checked_record(record).position
    entries: dict[str, Any] = {
        FORMAT: FORMAT_VERSION,
        "position": words_of_position(position.state, position.edition, position.rules, key=position.has_key),
        "plays": [write_play(play, position.rules) for play in record.plays],
    }
    if record.result is not None:
        entries["result"] = checked_result(record.result, position.rules)
    return entries


def record_of_entries(
    entries: object, *, edition: str | Edition = "parker", players: int = 2, teams: int | None = None
) -> Record:
    """The record that `entries_of` describes.

    Raises:
        NotationError: it describes none.
    """
    words, plays, others = checked_entries(entries, FORMAT, (RESULT,))
    position = position_of_lines(lines_of(words), edition, players, teams)
    rules, result = position.rules, others[RESULT]
    if result is not None:
        result = tuple(checked_result(result, rules))
    found = []
    for number, play in enumerate(plays, 1):
        try:
            found.append(read_play(play, rules))
        except NotationError as error:
            raise NotationError(f"play {number}, {error}") from None
    return Record(position, tuple(found), result)
