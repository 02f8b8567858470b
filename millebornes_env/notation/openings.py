"""The notation of games that have none of their own: the beginning of an episode, which follows from its key.

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
    begun,
    checked_table,
    one_record,
    read_chance,
    read_table,
    words_of_header,
)
from millebornes_env.notation.lines import Line, by_key, line_of, named_line, text_lines
from millebornes_env.notation.position import Position


def read_position(text: str, *, edition: Any, players: int = 2, teams: int | None = None) -> Position:
    """The beginning of an episode that a text describes.

    Args:
        text: as `write_position` writes it, or less.
        edition: what is played if the text does not say: a sheet, or its name.
        players: seats at the table if the text does not say.
        teams: teams at the table if the text does not say.

    Raises:
        NotationError: the text describes none; the message names the line and what is wrong with it.
        MilleBornesError: the edition, or the table, that were given are none.
    """
    lines = [named_line(number, line) for number, line in text_lines(text, "a position")]
    return position_of_lines(lines, edition, players, teams)


def position_of_lines(lines: Iterable[Line], edition: Any, players: int, teams: int | None) -> Position:
    """`read_position` for lines that have been taken apart already."""
    result = by_key(lines)
    sheet: Any = find_edition(edition)
    for line in result.values():
        if line.key not in HEADER:
            raise line.refused(
                f"there is no line {shown(line.key)}; positions of the game {sheet.game!r} are the beginning "
                f"of an episode, with the lines {', '.join(HEADER)}.{closest(line.key, HEADER)}"
            )
    sheet, rules = read_table(result.get("edition"), result.get("table"), sheet, players, teams)
    return Position(sheet, rules, begun(sheet.game, rules, read_chance(result)), "key" in result)


def write_position(state: Any, edition: Any, rules: Any, *, key: bool = True, checked: bool = True) -> str:
    """The beginning of an episode as text.

    Args:
        state: its record: one of the games of an array, or an array of one.
        edition: the rule sheet that is played.
        rules: its rules at this table.
        key: whether to write the game's key, that is which random numbers are to come.
        checked: not needed: it is always checked that the text reads back as the record.

    Returns:
        Lines `name: words`, each ending with a newline.

    Raises:
        StateError: the record is none.
        NotationError: an episode does not begin so; or the rules are not the edition's.
    """
    words = words_of_position(state, edition, rules, key=key, checked=checked)
    return "".join(f"{name}: {said}\n" for name, said in words.items())


def words_of_position(
    state: Any, edition: Any, rules: Any, *, key: bool = True, checked: bool = True
) -> dict[str, str]:
    """The lines of `write_position`: words by name, in the order in which they are written."""
    sheet: Any = find_edition(edition)
    checked_table(sheet, rules)
    words = words_of_beginning(state, sheet, rules, key)
    if words is None:
        raise NotationError(
            f"the game {sheet.game!r} has no notation of positions: only the beginning of an episode can be "
            "written. Write down the game from there: notation.record_of"
        )
    return words


def words_of_beginning(state: Any, sheet: Any, rules: Any, key: bool) -> dict[str, str] | None:
    """The lines if an episode begins like this; None if the record is that of another position."""
    states = one_record(state, find_game(sheet.game).module().STATE, key)
    words = words_of_header(states[0], sheet, rules, key)
    lines = {name: line_of(0, name, said) for name, said in words.items()}
    is_beginning = begun(sheet.game, rules, read_chance(lines)).tobytes() == states.tobytes()
    return words if is_beginning else None


__all__ = [
    "Position",
    "position_of_lines",
    "read_position",
    "words_of_beginning",
    "words_of_position",
    "write_position",
]
