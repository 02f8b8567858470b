"""Jerseys: gaining them, and exchanging green and polka-dot ones for a rainbow jersey."""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import DOUBLES, GREENS, RAINBOW, TRIPLES, State

JERSEYS_ON_A_DOUBLE: Final = 2
JERSEYS_ON_A_TRIPLE: Final = 3


@rule
def polka_dots(state: State, seat: int) -> int:
    """Count the polka-dot jerseys on the seat's cards (003:73, 4.1: cards of two and of three)."""
    doubles, triples = int(state.jerseys[seat, DOUBLES]), int(state.jerseys[seat, TRIPLES])
    return JERSEYS_ON_A_DOUBLE * doubles + JERSEYS_ON_A_TRIPLE * triples


@seldom
def gain_jersey(state: State, seat: int, kind: int) -> bool:
    """Take a card of the set, and return True; return False if the set is empty.

    Ruling W4: where the set is empty, the seat gets nothing.
    """
    if int(state.stacks[kind]) == 0:
        return False
    state.stacks[kind] = int(state.stacks[kind]) - 1
    state.jerseys[seat, kind] = int(state.jerseys[seat, kind]) + 1
    return True


@rule
def hand_in(state: State, seat: int, kind: int, cards: int) -> None:
    """Return cards to their set."""
    state.jerseys[seat, kind] = int(state.jerseys[seat, kind]) - cards
    state.stacks[kind] = int(state.stacks[kind]) + cards


@rule
def can_exchange_green(state: State, rules: Rules, seat: int) -> bool:
    """Return True if the seat has three green jerseys and a rainbow jersey is left (003:67)."""
    return int(state.jerseys[seat, GREENS]) >= rules.greens_for_rainbow and int(state.stacks[RAINBOW]) > 0


@rule
def can_exchange_polka_dot(state: State, rules: Rules, seat: int) -> bool:
    """Return True if the seat has ten polka-dot jerseys and a rainbow jersey is left (003:67)."""
    return polka_dots(state, seat) >= rules.polka_for_rainbow and int(state.stacks[RAINBOW]) > 0


@rule
def can_exchange(state: State, rules: Rules, seat: int) -> bool:
    """Return True if the seat can exchange jerseys at all."""
    return can_exchange_green(state, rules, seat) or can_exchange_polka_dot(state, rules, seat)


@rule
def play_exchange_green(state: State, rules: Rules, seat: int) -> None:
    """Hand in three green jerseys for a rainbow jersey (003:67)."""
    hand_in(state, seat, GREENS, rules.greens_for_rainbow)
    gain_jersey(state, seat, RAINBOW)


@rule
def play_exchange_polka_dot(state: State, rules: Rules, seat: int) -> None:
    """Hand in polka-dot jerseys for a rainbow jersey.

    Rule: 003:67; 003:196, what the cards show beyond ten is lost.
    Ruling W3: the cards that add up to ten, or the least above it; of several such sets the one with the
    most cards of two.
    """
    doubles, triples = cards_to_hand_in(state, rules, seat)
    hand_in(state, seat, DOUBLES, doubles)
    hand_in(state, seat, TRIPLES, triples)
    gain_jersey(state, seat, RAINBOW)


@rule
def cards_to_hand_in(state: State, rules: Rules, seat: int) -> tuple[int, int]:
    """Return the number of polka-dot cards of two and of three that the exchange takes (W3)."""
    most_doubles, most_triples = int(state.jerseys[seat, DOUBLES]), int(state.jerseys[seat, TRIPLES])
    least, best_doubles, best_triples = polka_dots(state, seat) + 1, 0, 0
    for doubles in range(most_doubles, -1, -1):
        for triples in range(most_triples + 1):
            dots = JERSEYS_ON_A_DOUBLE * doubles + JERSEYS_ON_A_TRIPLE * triples
            if rules.polka_for_rainbow <= dots < least:
                least, best_doubles, best_triples = dots, doubles, triples
    return best_doubles, best_triples
