"""Explicit chance: the caller decides which cards are drawn, and cards not drawn have no order.

A record has the cards to come in its streams (`deal.py`). Here the streams are kept in a fixed order, and the
cards that a seat is to draw are put on top before the action is applied. So the rulebook applies the rules,
and chance is only the set of cards drawn from those not drawn, uniformly (004:5; a seat's stream is a part of
the shuffled deck).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.games.millebornes.cards import (
    CARD_NAMES,
    DISTANCE_200,
    DRIVING_ACE,
    KM,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    NUM_SAFETIES,
)
from millebornes_env.games.millebornes.rules import Rules

OUTCOMES: Final = CARD_NAMES
"""The outcomes of one draw: outcome `card` is a card of that type."""


class Draw(NamedTuple):
    """A set of cards that one seat draws together.

    Attributes:
        seat: the seat.
        size: number of cards.
    """

    seat: int
    size: int


def take_back(state: Any, rules: Rules) -> tuple[Draw, ...]:
    """Return the hands of a round that was just dealt to the cards not drawn.

    Args:
        state: one record, changed in place: empty hands, no key, the cards in a fixed order.
        rules: the table's rules.

    Returns:
        The hand to deal to each seat; that of the first seat includes its first draw.
    """
    hands = tuple(Draw(seat, int(state["hand_count"][seat])) for seat in range(rules.players))
    state["hand"], state["hand_count"] = 0, 0
    state["key"], state["episode"], state["round_number"] = 0, 0, 0
    put_in_order(state)
    return hands


def put_in_hand(state: Any, seat: int, cards: tuple[int, ...]) -> None:
    """Deal cards to a seat, from those not drawn."""
    counts = not_drawn(state)
    for card in cards:
        state["hand"][seat, card] += 1
        counts[card] -= 1
    state["hand_count"][seat] = len(cards)
    _fill(state, counts)


def put_in_order(state: Any) -> None:
    """Sort the cards not drawn, so that equivalent games are equal records."""
    _fill(state, not_drawn(state))


def not_drawn(state: Any) -> npt.NDArray[np.int64]:
    """Count the copies of each card not drawn, neither in a hand nor face up: int64[19]."""
    counts: npt.NDArray[np.int64] = state["hidden"] - state["hand"].sum(axis=0, dtype=np.int64)
    return counts


def in_hand(state: Any, seat: int) -> npt.NDArray[np.int8]:
    """Count the copies of each card in a seat's hand: int8[19]."""
    hand: npt.NDArray[np.int8] = state["hand"][seat]
    return hand


def draw_that_follows(before: Any, after: Any) -> Draw:
    """Return the draw between two consecutive records of a game."""
    has_gained = (after["hand"] > before["hand"]).any(axis=1)
    return Draw(int(has_gained.argmax()), int(before["draw_pile"]) - int(after["draw_pile"]))


def put_on_top(state: Any, after: Any, cards: tuple[int, ...]) -> None:
    """Arrange the deck so that the next action in `state` draws these cards.

    Args:
        state: one record, changed in place.
        after: the same game after the action, with other cards drawn.
        cards: the same number of cards.
    """
    counts = not_drawn(state)
    for card in cards:
        counts[card] -= 1
    is_drawn = (state["deck"] != NO_CARD) & (after["deck"] == NO_CARD)
    is_left = (state["deck"] != NO_CARD) & ~is_drawn
    state["deck"][is_drawn] = cards
    state["deck"][is_left] = np.arange(NUM_CARD_TYPES).repeat(counts)


def _fill(state: Any, counts: npt.NDArray[np.int64]) -> None:
    """Write the cards into the streams, in the order of their ids."""
    offsets = np.concatenate(
        [np.arange(first, end) for first, end in zip(state["stream_next"], state["stream_end"], strict=True)]
    )
    state["deck"][:] = NO_CARD
    state["deck"][offsets] = np.arange(NUM_CARD_TYPES).repeat(counts)[: len(offsets)]


def most_points(rules: Rules) -> int:
    """Return an upper bound on a team's lead in points at the end of a round."""
    copies = rules.deck
    longest = max(rules.target, rules.extended_target) + (0 if rules.exact_finish else int(KM[DISTANCE_200]))
    safeties = sum(copies[DRIVING_ACE:])
    return int(
        min(longest, int(np.dot(KM, copies[:NUM_DISTANCES])))
        + safeties * (rules.points_per_safety + rules.points_per_coup_fourre)
        + (rules.points_all_safeties if safeties == NUM_SAFETIES else 0)
        + rules.points_trip_completed
        + rules.points_delayed_action
        + rules.points_safe_trip
        + max(rules.points_extension, rules.points_extension_failed)
        + rules.points_shutout * (rules.teams - 1)
    )
