"""The events of a game's history, public and private.

Cards are played and discarded face up (004:5), so actions are public. A drawn card is known to the seat that
drew it. Only the seat itself knows that it could claim a coup fourré and lets the hazard stand: at a table,
nobody hears of a claim that is not made (E12, E13).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.engine.numba.simd import copy_numbers
from millebornes_env.games.millebornes.actions import PASS
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    CARD_NAMES,
    DECK_SIZE,
    NUM_CARD_TYPES,
    NUM_SAFETIES,
    SPEED_LIMIT,
)
from millebornes_env.games.millebornes.rules import Rules, RulesRecord
from millebornes_env.games.millebornes.state import CLAIM, MAX_SEATS, STATE, State

EVENTS: Final = (*(f"draws {name}" for name in CARD_NAMES), "may claim", "deals")
"""Events other than actions; their seat is the one that draws, may claim or deals."""

PRIVATE_EVENTS: Final = NUM_CARD_TYPES + 1
"""Number of events, the first of `EVENTS`, that only their seat sees."""

PRIVATE_ACTIONS: Final = (PASS,)
"""Actions that only their seat sees."""

PRIVATE_SECTIONS: Final = ("hand", "unseen")
"""The sections of an observation with private information."""

MAY_CLAIM: Final = NUM_CARD_TYPES
DEALS: Final = NUM_CARD_TYPES + 1

Codes = npt.NDArray[np.uint16]
"""Events as numbers: `event * players + seat`, where events are the actions, then `EVENTS`."""


BEFORE: Final = np.dtype(
    [
        (name, STATE[name])
        for name in (
            "episode",
            "round_number",
            "seat",
            "phase",
            "draw_pile",
            "hand_count",
            "stream_next",
            "stream_end",
            "deck",
        )
    ]
)
"""Fields of `STATE` before an action that `write_events` needs."""


@rule
def remember(state: State, before: Any) -> None:
    """Copy the fields of `BEFORE`."""
    before.episode, before.round_number = state.episode, state.round_number
    before.seat, before.phase, before.draw_pile = state.seat, state.phase, state.draw_pile
    copy_numbers(before.hand_count, 0, state.hand_count, 0, MAX_SEATS)
    copy_numbers(before.stream_next, 0, state.stream_next, 0, MAX_SEATS)
    copy_numbers(before.stream_end, 0, state.stream_end, 0, MAX_SEATS)
    copy_numbers(before.deck, 0, state.deck, 0, DECK_SIZE)


@rule
def write_deal(state: State, rules: RulesRecord, num_actions: int, row: Codes, at: int) -> int:
    """Write the deal and all hands of a round in which nobody has acted yet.

    Args:
        state: the game; the first card drawn is in a hand.
        rules: of the table.
        num_actions: number of actions; `EVENTS` come after them.
        row: overwritten from an index on.
        at: that index.

    Returns:
        The index after the last event.
    """
    row[at] = (num_actions + DEALS) * rules.players + int(state.dealer)
    at += 1
    for seat in range(rules.players):
        for card in range(NUM_CARD_TYPES):
            for _ in range(int(state.hand[seat, card])):
                row[at] = (num_actions + card) * rules.players + seat
                at += 1
    return at


@rule
def write_events(before: Any, after: State, rules: RulesRecord, num_actions: int, row: Codes, at: int) -> int:
    """Write what followed an action: a new deal, or the cards drawn and the question about a coup fourré.

    Args:
        before: `BEFORE` of the game before the action.
        after: the game after it, in the same episode.
        rules: of the table.
        num_actions: number of actions; `EVENTS` come after them.
        row: overwritten from an index on.
        at: that index.

    Returns:
        The index after the last event.
    """
    if int(after.round_number) != int(before.round_number):
        return write_deal(after, rules, num_actions, row, at)
    at = write_draws(before, after, rules, num_actions, row, at)
    if int(after.phase) == CLAIM and int(before.phase) != CLAIM:
        row[at] = (num_actions + MAY_CLAIM) * rules.players + int(after.seat)
        at += 1
    return at


@rule
def write_draws(before: Any, after: State, rules: RulesRecord, num_actions: int, row: Codes, at: int) -> int:
    """Write the cards that have left the draw pile, ordered by card; one seat has drawn them all.

    The order in which a seat draws several at once carries no information.
    """
    if int(after.draw_pile) == int(before.draw_pile):
        return at
    seat, first = drawing_seat(before, after, rules), at
    for stream in range(rules.players):
        for index in range(int(before.stream_next[stream]), int(after.stream_next[stream])):
            insert(row, first, at, (num_actions + int(before.deck[index])) * rules.players + seat)
            at += 1
        for index in range(int(after.stream_end[stream]), int(before.stream_end[stream])):
            insert(row, first, at, (num_actions + int(before.deck[index])) * rules.players + seat)
            at += 1
    return at


@rule
def insert(row: Codes, first: int, end: int, code: int) -> None:
    """Insert a code into the sorted codes from `first` to `end` - 1."""
    while end > first and int(row[end - 1]) > code:
        row[end] = row[end - 1]
        end -= 1
    row[end] = code


@rule
def drawing_seat(before: Any, after: State, rules: RulesRecord) -> int:
    """Return the seat that has drawn: another one than has acted if its hand has grown."""
    for seat in range(rules.players):
        if seat != int(before.seat) and int(after.hand_count[seat]) > int(before.hand_count[seat]):
            return seat
    return int(before.seat)


def decision_events(before: Any, after: Any) -> tuple[tuple[int, int], ...]:
    """Return the seats that may claim a coup fourré only in the second record of a game, with the events."""
    if int(after["phase"]) == CLAIM and int(before["phase"]) != CLAIM:
        return ((int(after["seat"]), MAY_CLAIM),)
    return ()


def holding(state: Any, seat: int) -> npt.NDArray[np.int8]:
    """Return the private information of a seat: its cards of each type, and 1 if it may claim: int8[20]."""
    may_claim = int(state["phase"]) == CLAIM and int(state["seat"]) == seat
    return np.append(state["hand"][seat], np.int8(may_claim))


def describe_holding(counts: npt.NDArray[np.int8]) -> str:
    """Return the result of `holding` in words: "2 x 25 km, Roll"."""
    *cards, may_claim = counts.tolist()
    held = [(copies, CARD_NAMES[card]) for card, copies in enumerate(cards) if copies]
    words = ", ".join(name if copies == 1 else f"{copies} x {name}" for copies, name in held) or "nothing"
    return f"{words}; may claim" if may_claim else words


def most_events(rules: Rules) -> int:
    """Return a bound on the events that one seat can see in a round.

    Each card is drawn at most once, by the seat or another one, and leaves a hand once. A hazard can add a
    decision on a claim and a pass; a claim lays a safety. One extension may be called.
    """
    size, hazards = sum(rules.deck), sum(rules.deck[ACCIDENT : SPEED_LIMIT + 1])
    of_others = (rules.players - 1) * rules.hand_limit
    if of_others >= size:  # these are the largest rules of games that draw their sheets
        of_others = 0
    return 1 + (size - of_others) + size + 2 * hazards + NUM_SAFETIES + 1


def most_events_of_step(rules: Rules) -> int:
    """Return a bound on the events of one step: an action and a deal, or its draws and a question."""
    return 2 + rules.players * (rules.hand_limit + 1)
