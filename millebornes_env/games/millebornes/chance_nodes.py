"""Explicit chance: cards that have not been drawn are in no order, and the caller decides which are drawn.

A record has the cards to come in its streams (`deal.py`). Here the streams are held in one fixed order, and
the cards that an action makes a seat draw are put where it draws them, before the action is carried out. So
the rules are carried out by the rulebook, and all that is left to chance is which cards those are: a set of
the cards not drawn, all of which are equally probable (004:5; a seat's stream is a stretch of the shuffled
deck).
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
    """Cards that one seat draws at once, as a set.

    Attributes:
        seat: who draws them.
        size: how many.
    """

    seat: int
    size: int


def take_back(state: Any, rules: Rules) -> tuple[Draw, ...]:
    """Put the hands of a round that was just dealt back under the cards not drawn.

    Args:
        state: one record, changed in place: empty hands, no key, the cards in a fixed order.
        rules: of the table.

    Returns:
        What each seat has to be dealt again; who begins has drawn his first card with it.
    """
    hands = tuple(Draw(seat, int(state["hand_count"][seat])) for seat in range(rules.players))
    state["hand"], state["hand_count"] = 0, 0
    state["key"], state["episode"], state["round_number"] = 0, 0, 0
    put_in_order(state)
    return hands


def put_in_hand(state: Any, seat: int, cards: tuple[int, ...]) -> None:
    """Give a seat the cards that it is dealt; they are taken from those not drawn."""
    counts = not_drawn(state)
    for card in cards:
        state["hand"][seat, card] += 1
        counts[card] -= 1
    state["hand_count"][seat] = len(cards)
    _fill(state, counts)


def put_in_order(state: Any) -> None:
    """Hold the cards not drawn in a fixed order, so that games that are alike are equal records."""
    _fill(state, not_drawn(state))


def not_drawn(state: Any) -> npt.NDArray[np.int64]:
    """Count the copies of each card that nobody has drawn yet: int64[19].

    They are the cards of the deck that lie neither in a hand nor face up.
    """
    counts: npt.NDArray[np.int64] = state["hidden"] - state["hand"].sum(axis=0, dtype=np.int64)
    return counts


def in_hand(state: Any, seat: int) -> npt.NDArray[np.int8]:
    """Count the copies of each card in a seat's hand: int8[19]."""
    hand: npt.NDArray[np.int8] = state["hand"][seat]
    return hand


def draw_that_follows(before: Any, after: Any) -> Draw:
    """Return the seat that drew between two records and its number of cards; the second follows the first."""
    has_gained = (after["hand"] > before["hand"]).any(axis=1)
    return Draw(int(has_gained.argmax()), int(before["draw_pile"]) - int(after["draw_pile"]))


def put_on_top(state: Any, after: Any, cards: tuple[int, ...]) -> None:
    """Let the next action in `state` draw these cards.

    Args:
        state: one record, changed in place.
        after: the same game after the action, in which other cards were drawn.
        cards: as many as those.
    """
    counts = not_drawn(state)
    for card in cards:
        counts[card] -= 1
    is_drawn = (state["deck"] != NO_CARD) & (after["deck"] == NO_CARD)
    is_left = (state["deck"] != NO_CARD) & ~is_drawn
    state["deck"][is_drawn] = cards
    state["deck"][is_left] = np.arange(NUM_CARD_TYPES).repeat(counts)


def _fill(state: Any, counts: npt.NDArray[np.int64]) -> None:
    """Lay the cards into the places of the streams, in the order of their ids."""
    places = np.concatenate(
        [np.arange(first, end) for first, end in zip(state["stream_next"], state["stream_end"], strict=True)]
    )
    state["deck"][:] = NO_CARD
    state["deck"][places] = np.arange(NUM_CARD_TYPES).repeat(counts)[: len(places)]


def most_points(rules: Rules) -> int:
    """Return a bound on the points by which a team can be ahead at the end of a round."""
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
