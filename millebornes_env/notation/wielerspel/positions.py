"""Positions of the race as text; docs/environment/records.md describes the format.

Writing and reading are exact: a written position reads back as the same record, byte for
byte. A text to be read may leave out whatever can be completed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel.audit import first_violation
from millebornes_env.games.wielerspel.chance_cards import cards_left
from millebornes_env.games.wielerspel.editions import Edition
from millebornes_env.games.wielerspel.editions import edition as find_edition
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import NO_CARD, NO_SEAT, NOT_ENDED, PHASE_NAMES, RACE_OVER, STATE
from millebornes_env.notation.header import (
    checked_table,
    checked_words,
    one_record,
    read_table,
    words_of_header,
)
from millebornes_env.notation.lines import NOTHING, Line, by_key, position_lines, words_of_sequence
from millebornes_env.notation.openings import words_of_beginning
from millebornes_env.notation.position import Position
from millebornes_env.notation.wielerspel.position_reader import RaceReader
from millebornes_env.notation.wielerspel.words import (
    ENDINGS,
    JERSEY_WORDS,
    NO_SUPPLY_WORDS,
    RAINBOW_LAP,
    STAGE_WORDS,
    card_words,
    usual_holder,
    usual_queue,
    usual_stage,
)

# Reading ---------------------------------------------------------------------------------------------------


def read_position(
    text: str, *, edition: str | Edition = "arc_en_ciel", players: int = 4, teams: int | None = None
) -> Position:
    """Read a position of the race, as `notation.read_position` does for all games.

    Defaults are those of the start of a race, and chance cards that are not named are shuffled by the key.
    Without a line `to act`, a turn begins, and the race continues with the dice of the key to its first
    decision.
    """
    return position_of_lines(position_lines(text), edition, players, teams)


def position_of_lines(lines: Iterable[Line], edition: Any, players: int, teams: int | None) -> Position:
    """Read a position from parsed lines (see `read_position`)."""
    result = by_key(lines)
    sheet, rules = read_table(
        result.get("edition"), result.get("table"), find_edition(edition), players, teams
    )
    return Position(sheet, rules, RaceReader(result, rules).read(), "key" in result)


# Writing ---------------------------------------------------------------------------------------------------


def words_of_position(
    state: Any, edition: str | Edition, rules: Rules, *, key: bool = True, checked: bool = True
) -> dict[str, str]:
    """Return the lines of a race as words by name, in order (see `notation.write_position`)."""
    sheet = find_edition(edition)
    checked_table(sheet, rules)
    states = one_record(state, STATE, key)
    write = partial(_words_of, states[0], sheet, rules, key)
    read = partial(position_of_lines, edition=sheet, players=rules.players, teams=None)
    return checked_words(states, rules, first_violation, write, read) if checked else write()


def _words_of(state: Any, sheet: Edition, rules: Rules, key: bool) -> dict[str, str]:
    """Return all nonempty lines."""
    seats, said = range(rules.players), words_of_header(state, sheet, rules, key)
    said |= {"turn": str(int(state.turn) + 1), "lap": _lap(state), "rider": str(int(state.square))}
    if int(state.escaped) != NO_SEAT:
        highest = int(state.highest_lead)
        more = f" (highest {highest})" if highest != int(state.lead) else ""
        said["away"] = f"seat {int(state.escaped)}, lead {int(state.lead)}{more}"
    said["peloton"] = " ".join(str(int(seat)) for seat in state.peloton[: int(state.riders)]) or NOTHING
    said["energy"] = _row(state.energy, rules)
    for seat in seats:
        squares = [square for square, owner in enumerate(state.owner) if int(owner) == seat]
        said[f"servants {seat}"] = " ".join(map(str, squares))
    said["retired"] = _row(state.retired, rules) if any(state.retired) else ""
    for seat in seats:
        cards = zip(JERSEY_WORDS, map(int, state.jerseys[seat]), strict=True)
        said[f"jerseys {seat}"] = ", ".join(f"{name} {count}" for name, count in cards if count)
    said["points"] = _row(state.escape_points, rules) if any(state.escape_points) else ""
    said["shuffles"] = str(int(state.shuffles)) if int(state.shuffles) else ""
    first = int(state.deck_next)
    to_come = state.deck[first : first + int(plain(cards_left)(state))]
    said["deck"] = words_of_sequence(to_come, card_words(rules)) or NOTHING
    said |= _words_of_turn(state, rules)
    return {name: words for name, words in said.items() if words}


def _row(numbers: Any, rules: Rules) -> str:
    return " ".join(str(int(number)) for number in numbers[: rules.players])


def _lap(state: Any) -> str:
    rainbow = RAINBOW_LAP if int(state.rainbow_lap) else ""
    return ", ".join(filter(None, [rainbow, NO_SUPPLY_WORDS if int(state.no_supply) else ""]))


def _words_of_turn(state: Any, rules: Rules) -> dict[str, str]:
    """Return the words for this turn's events and for the decision."""
    said = {}
    if int(state.white):
        said["rolled"] = f"{int(state.white)} by seat {int(state.roller)}"
    if int(state.card) != NO_CARD:
        said["card"] = card_words(rules)[int(state.card)]
    if int(state.yellow):
        said["yellow"] = str(int(state.yellow))
    if int(state.holder) != usual_holder(state):
        said["holder"] = NOTHING if int(state.holder) == NO_SEAT else f"seat {int(state.holder)}"
    said["queue"] = _queue(state)
    if int(state.highest_bidder) != NO_SEAT:
        said["bid"] = f"{int(state.highest_bid)} by seat {int(state.highest_bidder)}"
    seat, phase = int(state.seat), int(state.phase)
    over = phase == RACE_OVER
    said["to act"] = f"race over, last seat {seat}" if over else f"seat {seat}, {PHASE_NAMES[phase]}"
    if int(state.stage) != usual_stage(state, rules):
        said["to act"] += f" ({STAGE_WORDS[int(state.stage)]})"
    if int(state.ending) != NOT_ENDED:
        how = next(words for words, ending in ENDINGS.items() if ending == int(state.ending))
        winner = int(state.winner)
        said["ending"] = how + (f", won by seat {winner}" if winner != NO_SEAT else "")
    return said


def _queue(state: Any) -> str:
    """Return the words for the queue, or "" if it follows from the decision.

    They are the seats that have moved, a bar, the seats that have not, and, after another bar, seats left
    over from an earlier queue.
    """
    line = [int(seat) for seat in state.queue if int(seat) != NO_SEAT]
    start, end = int(state.queue_next), int(state.queue_end)
    if (line, start, end) == (*(usual := usual_queue(state)), len(usual[0])):
        return ""
    parts = [line[:start], line[start:end], *([line[end:]] if line[end:] else [])]
    return " | ".join(" ".join(map(str, part)) for part in parts).strip() or "|"


__all__ = ["Position", "position_of_lines", "read_position", "words_of_beginning", "words_of_position"]
