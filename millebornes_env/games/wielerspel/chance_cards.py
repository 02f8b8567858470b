"""Chance cards: drawing one, and the effects that no square has."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.dice import shuffle_deck
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import FORCED_RETIREMENT, NO_SUPPLY
from millebornes_env.games.wielerspel.state import NO_CARD, State


@rule
def cards_left(state: State) -> int:
    """Count the chance cards that have not been drawn since the last shuffle."""
    end = int(state.deck_next)
    while end < len(state.deck) and int(state.deck[end]) != NO_CARD:
        end += 1
    return end - int(state.deck_next)


@rule
def is_deck_empty(state: State) -> bool:
    """Return True if all cards have been drawn since the last shuffle."""
    index = int(state.deck_next)
    return index == len(state.deck) or int(state.deck[index]) == NO_CARD


@rule
def reshuffle(state: State, rules: Rules) -> None:
    """Shuffle all cards again, the drawn ones too."""
    state.shuffles = int(state.shuffles) + 1
    shuffle_deck(state, rules)


@rule
def draw_card(state: State, rules: Rules) -> None:
    """Draw a card, which gives the kind of the square for this turn (003:138).

    Rule: 003:192, cards are drawn without replacement, until the forced retirement has been drawn: then the
    whole deck is shuffled. Ruling W24: an empty deck is shuffled too.
    Rule: 003:155, the card "no supply" lies at the start until the end of the lap; it goes back with the next
    shuffle.
    """
    if is_deck_empty(state):
        reshuffle(state, rules)
    index = int(state.deck_next)
    card = int(state.deck[index])
    state.deck[index] = NO_CARD
    state.deck_next = index + 1
    state.card = card
    state.kind = rules.card_kind[card]
    state.number = rules.card_number[card]
    if int(state.kind) == NO_SUPPLY:
        state.no_supply = 1
    if int(state.kind) == FORCED_RETIREMENT:
        reshuffle(state, rules)
