"""The dice, the lots and the shuffles: each is a function of the race's key and of its purpose.

So no draw shifts another: the white die of turn 30 does not depend on earlier actions, which makes
comparisons of two players more precise.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import NO_CARD, State

FACES: Final = 6

# Purposes of random numbers, each with its own key.
_WHITE: Final = 1
_YELLOW: Final = 2
_LOT: Final = 3
_DECK: Final = 4


@rule
def key_of(state: State, purpose: int) -> tuple[int, int]:
    """Return the key of the random numbers for one purpose: a function of the race's key and episode."""
    key_0, key_1 = int(state.key[0]), int(state.key[1])
    episode_key = random_word(key_0, key_1, int(state.episode))
    return random_word(episode_key, key_1, purpose), random_word(key_1, episode_key, purpose)


@rule
def white_die(state: State, turn: int) -> int:
    """Return the white die of a turn: 1 to 6 squares for the rainbow rider (003:44)."""
    key_0, key_1 = key_of(state, _WHITE)
    return 1 + random_below(key_0, key_1, turn, FACES)


@rule
def yellow_die(state: State, turn: int) -> int:
    """Return the yellow die of a turn: 1 to 6 arrows on the inner track (003:45); a turn needs only one."""
    key_0, key_1 = key_of(state, _YELLOW)
    return 1 + random_below(key_0, key_1, turn, FACES)


@rule
def draw_lots(state: State, rules: Rules) -> None:
    """Draw lots for the order of the leaders in the peloton at the start (003:28)."""
    key_0, key_1 = key_of(state, _LOT)
    for seat in range(rules.players):
        state.peloton[seat] = seat
    for last in range(rules.players - 1, 0, -1):
        other = random_below(key_0, key_1, last, last + 1)
        seat = state.peloton[last]
        state.peloton[last] = state.peloton[other]
        state.peloton[other] = seat


@rule
def shuffle_deck(state: State, rules: Rules) -> None:
    """Put all chance cards into the deck, shuffled (003:22)."""
    size = 0
    for card in range(rules.card_types):
        for _ in range(int(rules.card_copies[card])):
            state.deck[size] = card
            size += 1
    for index in range(size, len(state.deck)):
        state.deck[index] = NO_CARD
    state.deck_next = 0
    key_0, key_1 = key_of(state, _DECK)
    shuffle_key = random_word(key_0, key_1, int(state.shuffles))
    for last in range(size - 1, 0, -1):
        other = random_below(shuffle_key, key_1, last, last + 1)
        card = state.deck[last]
        state.deck[last] = state.deck[other]
        state.deck[other] = card
