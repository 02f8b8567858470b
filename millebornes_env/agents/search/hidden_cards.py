"""The cards that the searching seat does not see: ordered, copied for a cheat, or redealt.

The seat is seat 0, as in `kernels`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.chance import random_below
from millebornes_env.engine.numba.compiling import rule, stack_array
from millebornes_env.games.millebornes.actions import around
from millebornes_env.games.millebornes.cards import DECK_SIZE, NO_CARD, NUM_CARD_TYPES
from millebornes_env.games.millebornes.determinize import redeal_hidden_cards
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import Int8Array, State

Float64Array = npt.NDArray[np.float64]

# Values of `Searcher.sees`: which of the hidden cards stay as they are.
NOTHING: Final = 0
HANDS: Final = 1
ALL: Final = 2

OWN: Final = 0
"""The seat that searches, and its team."""

_GOLDEN: Final = 0.6180339887498949  # steps of it along a circle come nowhere near each other


def no_hands() -> Int8Array:
    """Return an empty array of believed hands, which makes redeals uniform."""
    return np.zeros((0, 1, NUM_CARD_TYPES), np.int8)


@rule
def lay_out_hidden_cards(root: State, rules: RulesRecord, sees: int) -> None:
    """Put the cards that the seat does not see into the other hands and the streams, by card id.

    Every redeal shuffles them. The streams get equal lengths: no seat knows the true ones, and the others'
    draws then depend least on the action that is tried.
    """
    count = 0
    for card in range(NUM_CARD_TYPES):
        left = int(root.hidden[card])
        for seat in range(rules.players):
            left -= int(root.hand[seat, card])
        for _ in range(left):
            if count < DECK_SIZE:
                root.deck[count] = card
                count += 1
    if sees == NOTHING:
        for seat in range(1, rules.players):
            root.hand_count[seat] = min(int(root.hand_count[seat]), count)
            for _ in range(int(root.hand_count[seat])):
                count -= 1
                card = int(root.deck[count])
                root.deck[count] = NO_CARD
                root.hand[seat, card] = int(root.hand[seat, card]) + 1
    root.draw_pile = min(int(root.draw_pile), count)
    for seat in range(rules.players):
        root.stream_next[seat] = seat * int(root.draw_pile) // rules.players
        root.stream_end[seat] = (seat + 1) * int(root.draw_pile) // rules.players


@rule
def copy_hands(state: State, rules: RulesRecord, seat: int, root: State) -> None:
    """Copy the true hands of the others, for a cheat."""
    for other in range(1, rules.players):
        for card in range(NUM_CARD_TYPES):
            root.hand[other, card] = state.hand[around(seat + other, rules.players), card]


@rule
def copy_streams(state: State, rules: RulesRecord, seat: int, root: State) -> None:
    """Copy the true draw pile, for a cheat."""
    for place in range(DECK_SIZE):
        root.deck[place] = state.deck[place]
    for other in range(rules.players):
        root.stream_next[other] = state.stream_next[around(seat + other, rules.players)]
        root.stream_end[other] = state.stream_end[around(seat + other, rules.players)]


@rule
def redeal(
    sees: int,
    hands: Int8Array,
    game: State,
    rules: RulesRecord,
    turn: int,
    key_0: int,
    key_1: int,
    scratch: Int8Array,
) -> None:
    """Redeal the cards that the searcher does not see.

    Args:
        sees: NOTHING, HANDS or ALL.
        hands: int8[C, S, NUM_CARD_TYPES], hands drawn by a belief, or `no_hands`.
        game: changed in place.
        rules: rules of the table.
        turn: number of earlier redeals; successive redeals take hands from all over the array.
        key_0: key of the redeal.
        key_1: key of the redeal.
        scratch: int8[DECK_SIZE], scratch.
    """
    if sees == NOTHING and len(hands) > 0:
        deal_hands(game, rules, hands[hand_for(len(hands), turn)])
        shuffle_streams(game, rules, key_0, key_1, scratch)
    elif sees == NOTHING:
        redeal_hidden_cards(game, rules, OWN, key_0, key_1, scratch)
    elif sees == HANDS:
        shuffle_streams(game, rules, key_0, key_1, scratch)


@rule
def hand_for(count: int, turn: int) -> int:
    """Return the index of the hand for a redeal: all of them equally often, spread over the array."""
    share = 0.5 + _GOLDEN * turn
    return min(int((share - int(share)) * count), count - 1)


@rule
def deal_hands(game: State, rules: RulesRecord, hands: Int8Array) -> None:
    """Deal hands, int8[S, NUM_CARD_TYPES], to the others; the other hidden cards go into the streams, by id.

    Each hand has the size of the seat's.
    """
    left = stack_array(np.int64, NUM_CARD_TYPES)
    for card in range(NUM_CARD_TYPES):
        left[card] = 0
        for seat in range(1, rules.players):
            left[card] += int(game.hand[seat, card]) - int(hands[seat, card])
            game.hand[seat, card] = hands[seat, card]
    for seat in range(rules.players):
        for place in range(int(game.stream_next[seat]), int(game.stream_end[seat])):
            left[int(game.deck[place])] += 1
    card = 0
    for seat in range(rules.players):
        for place in range(int(game.stream_next[seat]), int(game.stream_end[seat])):
            while left[card] == 0:
                card += 1
            game.deck[place] = card
            left[card] -= 1


@rule
def shuffle_streams(game: State, rules: RulesRecord, key_0: int, key_1: int, scratch: Int8Array) -> None:
    """Shuffle the draw pile; all hands stay."""
    count = 0
    for seat in range(rules.players):
        for place in range(int(game.stream_next[seat]), int(game.stream_end[seat])):
            scratch[count] = game.deck[place]
            count += 1
    for last in range(count - 1, 0, -1):
        other = random_below(key_0, key_1, last, last + 1)
        card = scratch[last]
        scratch[last] = scratch[other]
        scratch[other] = card
    count = 0
    for seat in range(rules.players):
        for place in range(int(game.stream_next[seat]), int(game.stream_end[seat])):
            game.deck[place] = scratch[count]
            count += 1
