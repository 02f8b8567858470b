"""Words and defaults of positions of the race: cards, jerseys, stages, and the fields derived in a turn.

A text contains the dice and cards of a turn; `complete_turn` derives the kind of the square and the energy
due from them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from millebornes_env._util.texts import closest
from millebornes_env.errors import shown
from millebornes_env.games.wielerspel.rules import MAX_DECK, Rules
from millebornes_env.games.wielerspel.squares import (
    EFFORT,
    EVENT,
    EVENT_FOR_ALL,
    FORCED_RETIREMENT,
    KIND_NAMES,
    START,
    holds_jerseys,
)
from millebornes_env.games.wielerspel.state import (
    AUCTION,
    AWAY,
    BID,
    BIDS,
    BROKEN_OFF,
    BY_EXHAUSTION,
    BY_INNER_TRACK,
    BY_JERSEYS,
    BY_TURNS,
    ESCAPE_CHOICE,
    ESCAPING,
    EXCHANGE,
    JERSEYS_AFTER_THE_SQUARE,
    JERSEYS_AT_THE_LINE,
    JERSEYS_BEFORE_THE_DIE,
    MOVE,
    MUST_PAY,
    MUST_RETIRE,
    NO_CARD,
    NO_SEAT,
    PAYMENTS,
    RETIREMENT,
    SERVANT,
    SQUARE,
    TURN_BEGINS,
)
from millebornes_env.notation.lines import AND_OTHERS, NOTHING, Line, number_of

LINE_NAMES: Final = {
    "edition": "",
    "table": "",
    "key": "",
    "episode": "",
    "turn": "",
    "lap": "",
    "rider": "",
    "away": "",
    "peloton": "",
    "energy": "",
    "servants": "seat",
    "retired": "",
    "jerseys": "seat",
    "points": "",
    "shuffles": "",
    "deck": "",
    "rolled": "",
    "card": "",
    "yellow": "",
    "holder": "",
    "queue": "",
    "bid": "",
    "to act": "",
    "ending": "",
}
"""The names of lines in order, with "seat" if there is one line for each."""

LINES_OF_A_TURN: Final = ("rolled", "card", "yellow", "holder", "queue", "bid", "ending")
"""Lines about a turn in progress, which require a line `to act`."""

STAGE_WORDS: Final = (
    "turn begins",
    "before the die",
    "white die",
    "at the line",
    "supply",
    "square",
    "after the square",
    "payments",
    "retirement",
    "positions",
    "escape",
    "auction",
    "bids",
    "servant",
    "turn ends",
)
"""The words for a turn's stage where the decision alone does not determine it."""

ENDINGS: Final = {
    "jerseys": BY_JERSEYS,
    "inner track": BY_INNER_TRACK,
    "exhaustion": BY_EXHAUSTION,
    "turns": BY_TURNS,
    "broken off": BROKEN_OFF,
}

JERSEY_WORDS: Final = ("rainbow", "green", "doubles", "triples")

RAINBOW_LAP: Final = "rainbow"
NO_SUPPLY_WORDS: Final = "no supply"

_STAGES: Final = {
    AWAY: TURN_BEGINS,
    MUST_PAY: PAYMENTS,
    MUST_RETIRE: RETIREMENT,
    ESCAPING: ESCAPE_CHOICE,
    BID: BIDS,
    MOVE: SERVANT,
}
_SEVERAL: Final = re.compile(r"([0-9]+)x(.*)")


# Derived fields and defaults -------------------------------------------------------------------------------


def usual_stage(state: Any, rules: Rules) -> int:
    """Infer the stage of the turn from the decision and the dice."""
    phase = int(state.phase)
    if phase in _STAGES:
        return _STAGES[phase]
    if not int(state.white):
        return JERSEYS_BEFORE_THE_DIE if phase == EXCHANGE else TURN_BEGINS
    if phase == EXCHANGE:
        holds = holds_jerseys(rules.board[int(state.square)].kind)
        return JERSEYS_AFTER_THE_SQUARE if holds else JERSEYS_AT_THE_LINE
    return {BY_INNER_TRACK: AUCTION, BY_EXHAUSTION: PAYMENTS}.get(int(state.ending), JERSEYS_AT_THE_LINE)


def complete_turn(state: Any, rules: Rules) -> None:
    """Write the fields that follow from the square, the dice, the card and the stage."""
    state.landed_on_line = 1 if int(state.white) and int(state.square) == 0 else 0
    state.kind, state.number, state.due = START, 0, 0
    if int(state.stage) <= SQUARE:
        return
    square = rules.board[int(state.square)]
    card = int(state.card)
    state.kind, state.number = square if card == NO_CARD else rules.deck[card][:2]
    if not holds_jerseys(int(state.kind)) and int(state.kind) != FORCED_RETIREMENT:
        state.due = state.number


def usual_holder(state: Any) -> int:
    """Return the owner of the servant on the square, once the rainbow rider has reached it."""
    return int(state.owner[int(state.square)]) if int(state.stage) > SQUARE else NO_SEAT


def race_order(state: Any) -> list[int]:
    """Return the seats in the race, the race leader first."""
    riding = [int(seat) for seat in state.peloton if int(seat) != NO_SEAT]
    return riding if int(state.escaped) == NO_SEAT else [int(state.escaped), *riding]


def usual_queue(state: Any) -> tuple[list[int], int]:
    """Return the seats that pay or bid (possibly empty), and the index of the seat to decide."""
    phase, kind = int(state.phase), int(state.kind)
    order = race_order(state)
    if phase == MUST_PAY and kind == EVENT:
        order = [int(state.roller)]
    elif phase == MUST_PAY and kind in (EFFORT, EVENT_FOR_ALL):
        order = [seat for seat in order if seat != int(state.holder)]
    elif phase != BID:
        return [], 0
    seat = int(state.seat)
    return order, order.index(seat) if seat in order else 0


# Cards -----------------------------------------------------------------------------------------------------


def card_words(rules: Rules) -> list[str]:
    """Return the name of each type of chance card: `event_2`, `escape`; of two alike, `event_2/1`."""
    names = [KIND_NAMES[card.kind] + (f"_{card.number}" if card.number else "") for card in rules.deck]
    return [
        name if names.count(name) == 1 else f"{name}/{names[:card].count(name) + 1}"
        for card, name in enumerate(names)
    ]


def words_of_cards(cards: Sequence[int], rules: Rules) -> str:
    """Return the words for a sequence of cards, with equal neighbours combined."""
    names = card_words(rules)
    runs: list[tuple[int, int]] = []
    for card in cards:
        if runs and runs[-1][0] == card:
            runs[-1] = card, runs[-1][1] + 1
        else:
            runs.append((card, 1))
    words = [names[card] if count == 1 else f"{count}x {names[card]}" for card, count in runs]
    return " ".join(words) or NOTHING


def card_of(line: Line, word: str, rules: Rules) -> int:
    """Return the type of card with that name.

    Raises:
        NotationError: there is no such card; the message has the closest name, or lists all.
    """
    names = card_words(rules)
    if word in names:
        return names.index(word)
    hint = closest(word, names) or f" The cards are: {', '.join(names)}."
    raise line.error(f"there is no chance card {shown(word)}.{hint}")


def cards_of(line: Line, rules: Rules) -> tuple[list[int], bool]:
    """Return the cards of a line, and True if the list ends with `...`.

    Raises:
        NotationError: a word is not a card, or no card follows a number.
    """
    words = line.words.lower().replace(",", " ").split()
    if words == [NOTHING]:
        return [], False
    is_open = words[-1:] == [AND_OTHERS]
    cards: list[int] = []
    count = 0  # copies of the next card, if it follows a number
    for word in words[: len(words) - is_open]:
        several = _SEVERAL.fullmatch(word)
        name = word if several is None else several[2]
        if several is not None:
            count = number_of(line, several[1], "the number of cards", 1, MAX_DECK)
        if name:
            cards += [card_of(line, name, rules)] * (count or 1)
            count = 0
    if count:
        raise line.error(f"a card must follow {count}x")
    return cards, is_open
