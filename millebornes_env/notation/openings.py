"""The notation of games without a hook: the beginning of an episode, which is determined by the key.

edition: pig
table: 3 players
key: 123 456
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from millebornes_env._util.texts import closest
from millebornes_env.errors import NotationError, shown
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as find_game
from millebornes_env.notation.header import (
    HEADER,
    checked_table,
    one_record,
    opening_state,
    read_chance,
    read_table,
    words_of_header,
)
from millebornes_env.notation.lines import Line, by_key, line_of, named_line, text_lines
from millebornes_env.notation.position import Position


def read_position(text: str, *, edition: Any, players: int = 2, teams: int | None = None) -> Position:
    """Read the beginning of an episode.

    Args:
        text: the output of `write_position`, or a part of it.
        edition: default sheet, or its name.
        players: default number of seats.
        teams: default number of teams.

    Raises:
        NotationError: the text is invalid; the message names the line and the problem.
        MilleBornesError: the edition or the table in the arguments is unknown.
    """
    lines = [named_line(number, line) for number, line in text_lines(text, "a position")]
    return position_of_lines(lines, edition, players, teams)


def position_of_lines(lines: Iterable[Line], edition: Any, players: int, teams: int | None) -> Position:
    """Read a position from parsed lines (see `read_position`)."""
    result = by_key(lines)
    sheet: Any = find_edition(edition)
    for line in result.values():
        if line.key not in HEADER:
            raise line.error(
                f"there is no line {shown(line.key)}; positions of the game {sheet.game!r} are the beginning "
                f"of an episode, with the lines {', '.join(HEADER)}.{closest(line.key, HEADER)}"
            )
    sheet, rules = read_table(result.get("edition"), result.get("table"), sheet, players, teams)
    return Position(sheet, rules, opening_state(sheet.game, rules, read_chance(result)), "key" in result)


def write_position(state: Any, edition: Any, rules: Any, *, key: bool = True, checked: bool = True) -> str:
    """Write the beginning of an episode as text.

    Args:
        state: its record: an element of an array of games, or an array of one.
        edition: the rule sheet.
        rules: its rules at this table.
        key: True to write the game's key, which determines future chance.
        checked: ignored; the text is always checked to read back as the record.

    Returns:
        Lines `name: words`, each ending with a newline.

    Raises:
        StateError: `state` is not one record of the game.
        NotationError: it is not the beginning of an episode, or the rules are not the edition's.
    """
    words = words_of_position(state, edition, rules, key=key, checked=checked)
    return "".join(f"{name}: {said}\n" for name, said in words.items())


def words_of_position(
    state: Any, edition: Any, rules: Any, *, key: bool = True, checked: bool = True
) -> dict[str, str]:
    """Return the lines of `write_position` as words by name, in order."""
    sheet: Any = find_edition(edition)
    checked_table(sheet, rules)
    words = words_of_beginning(state, sheet, rules, key)
    if words is None:
        raise NotationError(
            f"the game {sheet.game!r} has no notation of positions: only the beginning of an episode can be "
            "written. Write a record of the game from there: notation.record_of"
        )
    return words


def words_of_beginning(state: Any, sheet: Any, rules: Any, key: bool) -> dict[str, str] | None:
    """Return the lines if the record is the beginning of an episode, else None."""
    states = one_record(state, find_game(sheet.game).module().STATE, key)
    words = words_of_header(states[0], sheet, rules, key)
    lines = {name: line_of(0, name, said) for name, said in words.items()}
    is_beginning = opening_state(sheet.game, rules, read_chance(lines)).tobytes() == states.tobytes()
    return words if is_beginning else None


__all__ = [
    "Position",
    "position_of_lines",
    "read_position",
    "words_of_beginning",
    "words_of_position",
    "write_position",
]
