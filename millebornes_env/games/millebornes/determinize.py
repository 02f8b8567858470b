"""Redealing of everything hidden from a seat.

The seat sees its own hand, all piles and all counts. The other hands and the order of the cards to come are
hidden; these cards are shuffled and dealt again in the same numbers. Later deals are functions of the game's
key, which is replaced.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.cards import DECK_SIZE, NO_CARD, NUM_CARD_TYPES, safety_against
from millebornes_env.games.millebornes.deal import take_into_hand
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import CLAIM, Int8Array, State

_FIRST_KEY: Final = DECK_SIZE
"""The shuffle uses the counters below this one."""


@rule
def redeal_hidden_cards(
    state: State, rules: RulesRecord, seat: int, key_0: int, key_1: int, hidden: Int8Array
) -> None:
    """Deal all cards that the seat cannot see again, and replace the key of the deals to come.

    Each consistent deal has the same probability.

    While another seat may claim a coup fourré, everybody can see that it holds the safety, so that card stays
    in its hand. (Inferences from the play of others are not considered.)

    Args:
        state: the game, changed in place.
        rules: the table's rules.
        seat: the seat whose information is kept.
        key_0: first 32-bit word of the key of the shuffle.
        key_1: second word.
        hidden: int8[DECK_SIZE], overwritten, scratch for the shuffle.
    """
    known_seat, known_card = known_card_of_others(state, seat)
    if known_card != NO_CARD:
        put_aside(state, known_seat, known_card)
    count = gather_hidden_cards(state, rules, seat, hidden)
    for last in range(count - 1, 0, -1):
        other = random_below(key_0, key_1, last, last + 1)
        card = hidden[last]
        hidden[last] = hidden[other]
        hidden[other] = card
    deal_hidden_cards(state, rules, seat, hidden)
    if known_card != NO_CARD:
        take_into_hand(state, known_seat, known_card)
    state.key[0] = random_word(key_0, key_1, _FIRST_KEY)
    state.key[1] = random_word(key_0, key_1, _FIRST_KEY + 1)


@rule
def put_aside(state: State, seat: int, card: int) -> None:
    """Take the card out of the seat's hand without showing it."""
    state.hand[seat, card] = int(state.hand[seat, card]) - 1
    state.hand_count[seat] = int(state.hand_count[seat]) - 1


@rule
def known_card_of_others(state: State, seat: int) -> tuple[int, int]:
    """Return the seat and the one card in another hand that everybody can infer, or (0, NO_CARD)."""
    responder = int(state.seat)
    if int(state.phase) != CLAIM or responder == seat:
        return 0, NO_CARD
    return responder, safety_against(int(state.pending_hazard))


@rule
def gather_hidden_cards(state: State, rules: RulesRecord, seat: int, hidden: Int8Array) -> int:
    """Write the cards of the other hands and of all streams into `hidden`, and return their number."""
    count = 0
    for other in range(rules.players):
        if other != seat:
            for card in range(NUM_CARD_TYPES):
                for _ in range(int(state.hand[other, card])):
                    hidden[count] = card
                    count += 1
        for offset in range(int(state.stream_next[other]), int(state.stream_end[other])):
            hidden[count] = state.deck[offset]
            count += 1
    return count


@rule
def deal_hidden_cards(state: State, rules: RulesRecord, seat: int, hidden: Int8Array) -> None:
    """Deal the cards of `hidden` to the other hands and to all streams, in the same numbers as before."""
    count = 0
    for other in range(rules.players):
        if other != seat:
            for card in range(NUM_CARD_TYPES):
                state.hand[other, card] = 0
            for _ in range(int(state.hand_count[other])):
                card = int(hidden[count])
                state.hand[other, card] = int(state.hand[other, card]) + 1
                count += 1
        for offset in range(int(state.stream_next[other]), int(state.stream_end[other])):
            state.deck[offset] = hidden[count]
            count += 1
