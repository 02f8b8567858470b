"""Resampling of everything hidden in a race: the order of the chance cards, and the dice.

The cards drawn since the last shuffle are public, so the remaining ones are shuffled. The dice and later
shuffles are functions of the race's key, which is replaced.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.chance_cards import cards_left
from millebornes_env.games.wielerspel.rules import MAX_DECK, Rules
from millebornes_env.games.wielerspel.state import Int8Array, State

_FIRST_KEY: Final = MAX_DECK
"""The shuffle uses the counters below this one."""


@rule
def redeal_hidden(state: State, rules: Rules, seat: int, key_0: int, key_1: int, scratch: Int8Array) -> None:
    """Shuffle the cards to come, and replace the key of the dice.

    Args:
        state: the race, changed in place.
        rules: the table's rules.
        seat: ignored, as all seats see the same.
        key_0: first 32-bit word of the key of the shuffle.
        key_1: second word.
        scratch: ignored; the cards are shuffled in place.
    """
    first = int(state.deck_next)
    for last in range(cards_left(state) - 1, 0, -1):
        other = random_below(key_0, key_1, last, last + 1)
        card = state.deck[first + last]
        state.deck[first + last] = state.deck[first + other]
        state.deck[first + other] = card
    state.key[0] = random_word(key_0, key_1, _FIRST_KEY)
    state.key[1] = random_word(key_0, key_1, _FIRST_KEY + 1)
