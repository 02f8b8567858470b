"""The first lines of a position, the same in all games: rule sheet, table, key and episode."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from millebornes_env.engine.chance import MASK_32, random_below
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.errors import MilleBornesError, NotationError, OptionError, StateError
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as find_game
from millebornes_env.games.sheets import table_words
from millebornes_env.notation.lines import Line, lines_of, number_in, number_of

HEADER: Final = ("edition", "table", "key", "episode")
"""The names of these lines, in order."""

MOST_EPISODES: Final = 10**9

_TABLE: Final = re.compile(r"([0-9]{1,4}) players?(?: in ([0-9]{1,4}) teams?)?")
_WORDS_OF_KEY: Final = 2


class Chance(NamedTuple):
    """The seed of a game's random numbers.

    Attributes:
        key: two 32-bit words.
        episode: index of the episode, from 0.
    """

    key: tuple[int, int]
    episode: int


# Reading ---------------------------------------------------------------------------------------------------


def read_table(
    edition_line: Line | None, table_line: Line | None, edition: Any, players: int, teams: int | None
) -> tuple[Any, Any]:
    """Return the sheet and the rules of the table, from the lines or else from the arguments.

    Args:
        edition_line: the line that names the sheet.
        table_line: the line with players and teams.
        edition: the default sheet; the line must name a sheet of the same game.
        players: default number of seats.
        teams: default number of teams.

    Raises:
        NotationError: a line names an unknown sheet or table.
        MilleBornesError: the arguments name an unknown table.
    """
    if edition_line is not None and edition_line.words != edition.label:
        edition = _edition_named(edition_line, edition)
    if table_line is not None:
        result = _TABLE.fullmatch(table_line.words.lower())
        if result is None:
            raise table_line.error("a table reads '4 players in 2 teams'")
        players, teams = int(result[1]), None if result[2] is None else int(result[2])
    try:
        return edition, edition.table(players, teams)
    except MilleBornesError as error:
        lines = (table_line, edition_line) if isinstance(error, OptionError) else (edition_line, table_line)
        line = lines[0] or lines[1]
        if line is None:
            raise
        raise line.error(str(error)) from None


def _edition_named(line: Line, default: Any) -> Any:
    if line.words.endswith(".toml"):
        raise line.error(
            "a text cannot name a file; read the sheet with edition(path) and pass it to the function that "
            "reads this text, which may then contain its label"
        )
    stem = line.words.partition("+")[0]
    if stem == default.name and stem not in find_game(default.game).shipped:
        raise line.error(f"the edition passed to the function is {default.label!r}, with other rules")
    try:
        result = find_edition(line.words)
    except MilleBornesError as error:
        raise line.error(str(error)) from None
    if result.game != default.game:
        raise line.error(f"this is a sheet of the game {result.game!r}; expected one of {default.game!r}")
    return result


def read_chance(lines: Mapping[str, Line]) -> Chance:
    """Parse the lines `key` and `episode`; 0 if they are missing."""
    key, line = (0, 0), lines.get("key")
    if line is not None:
        words = line.words.split()
        if len(words) != _WORDS_OF_KEY:
            raise line.error("a key is two whole numbers, such as '123 456'")
        first, second = (number_of(line, word, "a word of the key", 0, MASK_32) for word in words)
        key = first, second
    return Chance(key, number_in(lines, "episode", 0, MOST_EPISODES, 0))


def shuffle_by_key(cards: list[int], state: Any) -> None:
    """Shuffle cards that no line names, in place, by the key of the record."""
    key_0, key_1 = int(state.key[0]), int(state.key[1])
    for last in range(len(cards) - 1, 0, -1):
        other = int(random_below(key_0, key_1, last, last + 1))
        cards[last], cards[other] = cards[other], cards[last]


def opening_state(game_name: str, rules: Any, chance: Chance) -> StateArray:
    """Return a game at the first decision of an episode, `STATE[1]`."""
    rulebook = find_game(game_name).module()
    states: StateArray = np.zeros(1, rulebook.STATE).view(np.recarray)
    states["key"][0] = chance.key
    states["episode"][0] = chance.episode
    plain(rulebook.start)(states[0], rulebook.rules_array(rules)[0])
    return states


# Writing ---------------------------------------------------------------------------------------------------


def words_of_header(state: Any, edition: Any, rules: Any, key: bool) -> dict[str, str]:
    """Return these lines as words by name; without a key, chance is left to the reader of the position."""
    usual = edition.table(rules.players)
    table = f"{rules.players} players" if usual == rules and rules.teams == rules.players else ""
    said = {"edition": edition.label, "table": table or table_words(rules.players, rules.teams)}
    if key:
        said["key"] = " ".join(str(int(word)) for word in state.key)
    if int(state.episode):
        said["episode"] = str(int(state.episode))
    return said


def checked_table(edition: Any, rules: Any) -> None:
    """Raise NotationError unless a reader of the text finds these rules by the name of the sheet."""
    players, teams = getattr(rules, "players", None), getattr(rules, "teams", None)
    if players is None or teams is None:
        raise NotationError(f"the rules are those of a table, such as env.rules; got {type(rules).__name__}")
    if edition.table(players, teams) != rules:
        raise NotationError(
            f"the rules are not those of {edition.label!r} at the table of {table_words(players, teams)}"
        )
    try:
        known = find_edition(edition.label)
    except MilleBornesError:
        return  # a sheet of one's own, which is passed to the reader
    if known.game != edition.game or known.table(players, teams) != rules:
        raise NotationError(
            f"this edition is called {edition.label!r}, and the sheet found by that name has other rules: "
            "choose another name (dataclasses.replace(edition, name=...))"
        )


def checked_words(
    states: StateArray,
    rules: Any,
    audit: Callable[..., tuple[int, str] | None],
    write: Callable[[], dict[str, str]],
    read: Callable[..., Any],
) -> dict[str, str]:
    """Return the words of a record after checking that it is valid, and that they read back as it.

    `audit` is the game's hook `games.audit`, `write` returns the words, `read` the position of lines.
    """
    problem = audit(states, rules)
    if problem is not None:
        raise NotationError(f"the record is not valid at this table: {problem[1]}")
    words, impossible = write(), "this record cannot be written, as no plays lead to it"
    try:
        again = read(lines_of(words)).state
    except NotationError as error:
        raise NotationError(f"{impossible}: {error}") from None
    if again.tobytes() != states.tobytes():
        names = [name for name in states.dtype.names or () if (again[name] != states[name]).any()]
        raise NotationError(f"{impossible}: impossible values of {', '.join(names)}")
    return words


def one_record(state: Any, record: np.dtype[np.void], key: bool = True) -> StateArray:
    """Copy a record into an array of one, with the key set to 0 unless `key`; else raise StateError."""
    try:
        array = np.asarray(state)
    except Exception:  # a user's `__array__` may raise anything
        array = np.zeros(0)
    if array.dtype != record or array.size != 1:
        what = kind_of(state, record)
        raise StateError(f"one record of a game is needed, such as env.get_states()[0]; got {what}")
    states: StateArray = array.reshape(1).copy().view(np.recarray)
    if not key:
        states["key"] = 0
    return states


def kind_of(value: object, record: np.dtype[np.void]) -> str:
    """Describe the contents of an array, or the type of anything else, for errors."""
    if not isinstance(value, np.ndarray):
        return type(value).__name__
    dtype = "records" if value.dtype == record else "other records" if value.dtype.names else value.dtype
    return f"{dtype}{list(value.shape)}"
