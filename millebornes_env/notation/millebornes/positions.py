"""Positions of Mille Bornes as text; docs/environment/records.md describes the format.

Writing and reading are exact: a written position reads back as the same record, byte for
byte. A text to be read may leave out whatever can be completed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.games.millebornes.cards import DRIVING_ACE, NO_CARD, NUM_CARD_TYPES, NUM_DISTANCES
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.games.millebornes.editions import edition as find_edition
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.state import (
    NO_TEAM,
    PHASE_NAMES,
    ROUND_OVER,
    SCORE_LINES,
    STATE,
    StateArray,
)
from millebornes_env.games.sheets import table_words
from millebornes_env.notation.header import checked_table, checked_words, one_record, read_table
from millebornes_env.notation.lines import (
    CARD_WORDS,
    NOTHING,
    Line,
    by_key,
    position_lines,
    words_of_counts,
    words_of_sequence,
)
from millebornes_env.notation.millebornes.deal_rest import usual_opening, usual_starts
from millebornes_env.notation.millebornes.position_reader import (
    COUP_FOURRE,
    OPENING_WORDS,
    TOP_UNKNOWN,
    Reader,
)
from millebornes_env.notation.position import Position

_CHUNK: Final = 64  # positions whose numbers are held as Python objects at a time

# Reading ---------------------------------------------------------------------------------------------------


def read_position(
    text: str, *, edition: str | Edition = "parker", players: int = 2, teams: int | None = None
) -> Position:
    """Read a position of Mille Bornes, as `notation.read_position` does for all games.

    Defaults are those of the start of a round with empty hands; cards that are not named go to the streams.
    """
    return position_of_lines(position_lines(text), edition, players, teams)


def position_of_lines(
    lines: Iterable[Line], edition: str | Edition, players: int, teams: int | None
) -> Position:
    """Read a position from parsed lines (see `read_position`)."""
    result = by_key(lines)
    edition, rules = read_table(
        result.get("edition"), result.get("table"), find_edition(edition), players, teams
    )
    state = Reader(result, rules).read()
    return Position(edition, rules, state, "key" in result)


# Writing ---------------------------------------------------------------------------------------------------


def words_of_position(
    state: Any, edition: str | Edition, rules: Rules, *, key: bool = True, checked: bool = True
) -> dict[str, str]:
    """Return the lines of a position as words by name, in order (see `notation.write_position`)."""
    edition = find_edition(edition)
    checked_table(edition, rules)
    states = one_record(state, STATE, key)

    def write() -> dict[str, str]:
        return next(words_of_positions(states, edition, rules, key=key))

    if not checked:
        return write()
    _clear_drawn_cards(states)
    read = partial(position_of_lines, edition=edition, players=rules.players, teams=rules.teams)
    return checked_words(states, rules, first_violation, write, read)


def words_of_positions(
    states: StateArray, edition: str | Edition, rules: Rules, *, key: bool = True
) -> Iterator[dict[str, str]]:
    """Yield the lines of each of many positions of one table, as `words_of_position` without its checks."""
    edition = find_edition(edition)
    columns, names = np.asarray(states), STATE.names or ()
    for first in range(0, len(columns), _CHUNK):
        chunk = columns[first : first + _CHUNK]
        fields = [chunk[name].tolist() for name in names]  # numbers and nested lists are faster to read
        for values in zip(*fields, strict=True):
            yield _words_of(SimpleNamespace(**dict(zip(names, values, strict=True))), edition, rules, key)


def _clear_drawn_cards(states: StateArray) -> None:
    """Remove drawn cards from the deck of an array of one: no text has them."""
    to_come = np.zeros(states["deck"].shape[1], np.bool_)
    for start, end in zip(states["stream_next"][0], states["stream_end"][0], strict=True):
        to_come[max(0, int(start)) : max(0, int(end))] = True
    states["deck"][0, ~to_come] = NO_CARD


def _words_of(state: SimpleNamespace, edition: Edition, rules: Rules, key: bool) -> dict[str, str]:
    """Return all nonempty lines."""
    said = {"edition": edition.label, "table": table_words(rules.players, rules.teams)}
    said["key"] = " ".join(str(word) for word in state.key) if key else ""
    said["episode"] = str(state.episode) if state.episode else ""
    said["round"] = str(state.round_number + 1)
    said["dealer"] = str(state.dealer)
    scores = [state.score[team] for team in range(rules.teams)]
    said["scores"] = " ".join(map(str, scores)) if any(scores) else ""
    said |= _words_of_decision(state)
    for team in range(rules.teams):
        said |= _words_of_team(state, team)
    for seat in range(rules.players):
        said[f"hand {seat}"] = words_of_counts(state.hand[seat])
    said["discard pile"] = _words_of_discard_pile(state)
    said |= _words_of_streams(state, rules)
    for team in range(rules.teams):
        points = zip(SCORE_LINES, state.score_sheet[team], strict=True)
        said[f"score sheet {team}"] = ", ".join(f"{line} {number}" for line, number in points if number)
    return {name: words for name, words in said.items() if words}


def _words_of_decision(state: SimpleNamespace) -> dict[str, str]:
    seat, phase = state.seat, state.phase
    over = phase == ROUND_OVER
    said = {"to act": f"round over, last seat {seat}" if over else f"seat {seat}, {PHASE_NAMES[phase]}"}
    if state.pending_hazard != NO_CARD:
        said["pending"] = (
            f"{CARD_WORDS[state.pending_hazard]} by seat {state.attacker} against team {state.pending_team}"
        )
    for name, team in (("extension", state.extension_team), ("winner", state.winner)):
        if team != NO_TEAM:
            said[name] = f"team {team}"
    return said


def _words_of_team(state: SimpleNamespace, team: int) -> dict[str, str]:
    tableau = dict(enumerate(state.tableau[team]))
    top, below, speed = state.battle[team], state.battle_below[team], state.speed[team]
    battle = "" if top == NO_CARD else CARD_WORDS[top]
    battle += "" if below == NO_CARD else f" on {CARD_WORDS[below]}"
    opening = state.opening[team]
    if opening != usual_opening(tableau, top, below):
        battle = f"{battle or NOTHING} ({OPENING_WORDS[opening]})"
    safeties = [
        CARD_WORDS[card] + (COUP_FOURRE if state.coup_fourre[team][card - DRIVING_ACE] else "")
        for card in range(DRIVING_ACE, NUM_CARD_TYPES)
        if tableau[card]
    ]
    covered = {card: count for card, count in tableau.items() if NUM_DISTANCES <= card < DRIVING_ACE}
    for card in (top, below, speed):
        if card != NO_CARD:
            covered[card] -= 1
    return {
        f"battle {team}": battle,
        f"speed {team}": "" if speed == NO_CARD else CARD_WORDS[speed],
        f"distance {team}": words_of_counts({card: tableau[card] for card in range(NUM_DISTANCES)}),
        f"safeties {team}": " ".join(safeties),
        f"covered {team}": words_of_counts(covered),
    }


def _words_of_discard_pile(state: SimpleNamespace) -> str:
    """Return the words for the cards in the order of their ids, with the top card at the end."""
    counts = dict(enumerate(state.discard_pile))
    top = state.discard_top
    if top == NO_CARD:
        words = words_of_counts(counts)
        return f"{words} ({TOP_UNKNOWN})" if words else ""
    counts[top] -= 1
    return f"{words_of_counts(counts)} {CARD_WORDS[top]}".lstrip()


def _words_of_streams(state: SimpleNamespace, rules: Rules) -> dict[str, str]:
    starts: Sequence[int] = state.stream_next[: rules.players]
    ends = state.stream_end[: rules.players]
    lengths = [end - start for start, end in zip(starts, ends, strict=True)]
    usual = usual_starts(lengths, sum(rules.deck))
    said = {}
    for seat in range(rules.players):
        words = words_of_sequence(state.deck[starts[seat] : ends[seat]])
        if starts[seat] == usual[seat]:
            said[f"stream {seat}"] = words
        else:
            said[f"stream {seat} at {starts[seat]}"] = words or NOTHING
    return said


__all__ = ["Position", "position_of_lines", "read_position", "words_of_position", "words_of_positions"]
