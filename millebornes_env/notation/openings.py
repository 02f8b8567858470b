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
from millebornes_env.notation.lines import Line, by_key, line_of
from millebornes_env.notation.position import Position


def position_of_lines(lines: Iterable[Line], edition: Any, players: int, teams: int | None) -> Position:
    """Read the beginning of an episode from parsed lines (see `notation.read_position`)."""
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


def words_of_position(
    state: Any, edition: Any, rules: Any, *, key: bool = True, checked: bool = True
) -> dict[str, str]:
    """Return the beginning of an episode as words by name; `checked` is ignored, as it always is."""
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
