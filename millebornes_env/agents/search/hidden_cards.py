"""The cards that the searching seat does not see: laid out, looked at by a cheat, dealt anew.

The seat is seat 0, as in `kernels`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.numba.compiling import kernel, rule, stack_array
from millebornes_env.games.millebornes.actions import around
from millebornes_env.games.millebornes.cards import DECK_SIZE, NO_CARD, NUM_CARD_TYPES
from millebornes_env.games.millebornes.determinize import redeal_hidden_cards
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import Int8Array, State, StateArray

Float64Array = npt.NDArray[np.float64]

# Values of `Searcher.sees`: which of the hidden cards stay as they are.
NOTHING: Final = 0
HANDS: Final = 1
ALL: Final = 2

OWN: Final = 0
"""The seat that searches, and its team."""

_GOLDEN: Final = 0.6180339887498949  # steps of it along a circle come nowhere near each other
_PLACE_TAG: Final = 0x706C6163


class Believed(NamedTuple):
    """Hands that the others may hold, C of them, and how far along a line of length 1 each reaches.

    None at all: every deal is as probable as any other.
    """

    hands: Int8Array  # [C, S, NUM_CARD_TYPES]; that of the own seat is not looked at
    reached: Float64Array  # [C], the last 1


def nothing_believed() -> Believed:
    """No belief: redeals are uniform."""
    return Believed(np.zeros((0, 1, NUM_CARD_TYPES), np.int8), np.zeros(0, np.float64))


@rule
def lay_out_hidden_cards(root: State, rules: RulesRecord, sees: int) -> None:
    """Lay the cards that the seat does not see into the other hands and the streams, by card id.

    Every redeal shuffles them. The streams are made equally long, whatever they were: no seat knows how long
    they are, and what the others draw then depends least on the action that is tried.
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
    """Peek: the other hands are what they are."""
    for other in range(1, rules.players):
        for card in range(NUM_CARD_TYPES):
            root.hand[other, card] = state.hand[around(seat + other, rules.players), card]


@rule
def copy_streams(state: State, rules: RulesRecord, seat: int, root: State) -> None:
    """Peek: the cards to come are what they are."""
    for place in range(DECK_SIZE):
        root.deck[place] = state.deck[place]
    for other in range(rules.players):
        root.stream_next[other] = state.stream_next[around(seat + other, rules.players)]
        root.stream_end[other] = state.stream_end[around(seat + other, rules.players)]


@rule
def redeal(
    sees: int,
    believed: Believed,
    game: State,
    rules: RulesRecord,
    turn: int,
    key_0: int,
    key_1: int,
    room: Int8Array,
) -> None:
    """Deal anew what the searcher does not see.

    Args:
        sees: NOTHING, HANDS or ALL.
        believed: what it believes of the others' hands.
        game: changed in place.
        rules: the table's.
        turn: how many redeals came before: those that follow each other take hands from all over the line.
        key_0: of the redeal.
        key_1: of the redeal.
        room: int8[DECK_SIZE], overwritten.
    """
    if sees == NOTHING and len(believed.reached) > 0:
        deal_hands(game, rules, believed.hands[hands_for(believed, turn)])
        shuffle_streams(game, rules, key_0, key_1, room)
    elif sees == NOTHING:
        redeal_hidden_cards(game, rules, OWN, key_0, key_1, room)
    elif sees == HANDS:
        shuffle_streams(game, rules, key_0, key_1, room)


@rule
def hands_for(believed: Believed, turn: int) -> int:
    """Return the index of the hand for a redeal: each hand in proportion to its probability."""
    place = 0.5 + _GOLDEN * turn
    place -= int(place)
    low, high = 0, len(believed.reached) - 1
    while low < high:
        middle = (low + high) // 2
        if believed.reached[middle] > place:
            high = middle
        else:
            low = middle + 1
    return low


@rule
def deal_hands(game: State, rules: RulesRecord, hands: Int8Array) -> None:
    """Give the others these hands; what is left of the hidden cards comes into the streams, by card id.

    Args:
        game: changed in place.
        rules: the table's.
        hands: int8[S, NUM_CARD_TYPES], as many cards for each as it has.
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


@kernel
def draw_hands(
    root: State,
    rules: RulesRecord,
    key_0: int,
    key_1: int,
    games: StateArray,
    room: Int8Array,
    hands: Int8Array,
) -> None:
    """Draw hands that the others may hold by uniform redeals.

    Args:
        root: the game as the seat knows it.
        rules: the table's.
        key_0: of the redeals.
        key_1: of the redeals.
        games: STATE[1], scratch.
        room: int8[DECK_SIZE], scratch.
        hands: int8[C, S, NUM_CARD_TYPES], overwritten; that of the own seat is 0.
    """
    games[0] = root
    game = games[0]
    for number in range(len(hands)):
        word = random_word(key_0 ^ _PLACE_TAG, key_1, number)
        redeal_hidden_cards(game, rules, OWN, word, random_word(key_1, word, number), room)
        for seat in range(rules.players):
            for card in range(NUM_CARD_TYPES):
                hands[number, seat, card] = int(game.hand[seat, card]) if seat != OWN else 0


@rule
def shuffle_streams(game: State, rules: RulesRecord, key_0: int, key_1: int, room: Int8Array) -> None:
    """Shuffle the cards to come; all hands stay."""
    count = 0
    for seat in range(rules.players):
        for place in range(int(game.stream_next[seat]), int(game.stream_end[seat])):
            room[count] = game.deck[place]
            count += 1
    for last in range(count - 1, 0, -1):
        other = random_below(key_0, key_1, last, last + 1)
        card = room[last]
        room[last] = room[other]
        room[other] = card
    count = 0
    for seat in range(rules.players):
        for place in range(int(game.stream_next[seat]), int(game.stream_end[seat])):
            game.deck[place] = room[count]
            count += 1
