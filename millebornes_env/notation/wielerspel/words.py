"""Words and defaults of positions of the race: cards, jerseys, stages, and the fields derived in a turn.

A text contains the dice and cards of a turn; `complete_turn` derives the kind of the square and the energy
due from them.
"""

from __future__ import annotations

from typing import Any, Final

from millebornes_env.games.wielerspel.rules import Rules
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

LINE_NAMES: Final = {
    **dict.fromkeys(("edition", "table", "key", "episode"), ""),
    **dict.fromkeys(("turn", "lap", "rider", "away", "peloton", "energy"), ""),
    "servants": "seat",
    "retired": "",
    "jerseys": "seat",
    **dict.fromkeys(("points", "shuffles", "deck"), ""),
    **dict.fromkeys(("rolled", "card", "yellow", "holder", "queue", "bid", "to act", "ending"), ""),
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
