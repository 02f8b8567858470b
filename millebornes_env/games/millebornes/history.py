"""The events of a game's history, public and private.

Cards are played and discarded face up (004:5), so actions are public. A drawn card is known to the seat that
drew it. Only the seat itself knows that it could claim a coup fourré and lets the hazard stand: at a table,
nobody hears of a claim that is not made (E12, E13).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.games.millebornes.actions import PASS
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    CARD_NAMES,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_SAFETIES,
    SPEED_LIMIT,
)
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.state import CLAIM, StateArray

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

Numbers = npt.NDArray[np.int64]


class Events(NamedTuple):
    """Events of several games, ordered by game and then by time.

    Attributes:
        games: int64[K], index of the game.
        seats: int64[K], seat of the event.
        events: int64[K], indices of `EVENTS`.
    """

    games: Numbers
    seats: Numbers
    events: Numbers


def happened(before: StateArray, after: StateArray, rules: Rules) -> Events:
    """Return the events in each game between two records, other than the action itself.

    Args:
        before: `STATE[N]`.
        after: `STATE[N]`, the same games after at most one action each, or in a new round.
        rules: the table's rules.

    Returns:
        If a round was dealt, the deal and each hand; otherwise the cards drawn, ordered by card (the order of
        cards drawn together carries no information), and the seats that may claim a coup fourré.
    """
    deal = (after["round_number"] != before["round_number"]) | (after["episode"] != before["episode"])
    may_claim = ~deal & (after["phase"] == CLAIM) & (before["phase"] != CLAIM)
    return _in_order(
        _deals(after, deal, rules), _draws(before, after, ~deal, rules), _questions(after, may_claim)
    )


def questions(before: Any, after: Any) -> tuple[tuple[int, int], ...]:
    """Return the seats that may claim a coup fourré only in the second record of a game, with the events."""
    if int(after["phase"]) == CLAIM and int(before["phase"]) != CLAIM:
        return ((int(after["seat"]), MAY_CLAIM),)
    return ()


def dealt(states: StateArray, rules: Rules) -> Events:
    """Return the deal and the hands of games without an action yet; the first card drawn is in a hand."""
    return _deals(states, np.ones(len(states), np.bool_), rules)


def _deals(states: StateArray, chosen: npt.NDArray[np.bool_], rules: Rules) -> Events:
    games = np.flatnonzero(chosen)
    hands = states["hand"][games, : rules.players]
    of, seats, cards = np.nonzero(hands)
    copies = hands[of, seats, cards]
    hand = Events(games[of].repeat(copies), seats.repeat(copies), cards.repeat(copies))
    dealers = states["dealer"][games].astype(np.int64)
    return _in_order(Events(games, dealers, np.full(len(games), DEALS)), hand)


def _draws(before: StateArray, after: StateArray, chosen: npt.NDArray[np.bool_], rules: Rules) -> Events:
    """Return the cards that have left the draw pile; all cards drawn by one action go to one seat."""
    left = (before["deck"] != NO_CARD) & (after["deck"] == NO_CARD) & chosen[:, np.newaxis]
    games, offsets = np.nonzero(left)
    cards = before["deck"][games, offsets].astype(np.int64)
    has_gained = (after["hand"] > before["hand"])[:, : rules.players].any(axis=2)
    order = np.lexsort((cards, games))
    return Events(games[order], has_gained.argmax(axis=1)[games[order]], cards[order])


def _questions(after: StateArray, may_claim: npt.NDArray[np.bool_]) -> Events:
    games = np.flatnonzero(may_claim)
    return Events(games, after["seat"][games].astype(np.int64), np.full(len(games), MAY_CLAIM))


def _in_order(*parts: Events) -> Events:
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = joined[0].argsort(kind="stable")
    return Events(*(column[order] for column in joined))


def holding(state: Any, seat: int) -> npt.NDArray[np.int8]:
    """Return the private information of a seat: its cards of each type, and 1 if it may claim: int8[20]."""
    may_claim = int(state["phase"]) == CLAIM and int(state["seat"]) == seat
    return np.append(state["hand"][seat], np.int8(may_claim))


def words_of_holding(counts: npt.NDArray[np.int8]) -> str:
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
    return 1 + (size - of_others) + size + 2 * hazards + NUM_SAFETIES + 1
