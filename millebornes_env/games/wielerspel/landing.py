"""The square that the rainbow rider has reached: gains and payments."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.chance_cards import draw_card
from millebornes_env.games.wielerspel.energy import (
    gain_energy,
    has_energy,
    is_exhausted,
    leave_race,
    pay_energy,
    servants_left,
)
from millebornes_env.games.wielerspel.jerseys import JERSEYS_ON_A_DOUBLE, gain_jersey
from millebornes_env.games.wielerspel.peloton import clear_queue, queue_in_race_order, queue_one
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import CHANCE, EFFORT, EVENT, EVENT_FOR_ALL, GREEN, gives_energy
from millebornes_env.games.wielerspel.state import DOUBLES, GREENS, NO_SEAT, TRIPLES, State


@rule
def reach_square(state: State, rules: Rules) -> None:
    """Write the kind and number of the square for this turn, and the owner of its servant.

    Ruling W26: that servant's team holds it for the whole turn, even if he retires before it escapes.
    """
    square = int(state.square)
    state.kind = rules.square_kind[square]
    state.number = rules.square_number[square]
    state.holder = state.owner[square]
    if int(state.kind) == CHANCE:
        draw_card(state, rules)


@rule
def take_supply(state: State, rules: Rules, seat: int) -> None:
    """Give the race leader the energy on the supply post, its card or the tail wind (003:143-148)."""
    if gives_energy(int(state.kind)):
        gain_energy(state, rules, seat, int(state.number))


@rule
def take_jersey(state: State, seat: int) -> bool:
    """Take a green jersey, or a polka-dot card of two or three (003:73); return False if none is left."""
    if int(state.kind) == GREEN:
        return gain_jersey(state, seat, GREENS)
    return gain_jersey(state, seat, DOUBLES if int(state.number) == JERSEYS_ON_A_DOUBLE else TRIPLES)


# Payments --------------------------------------------------------------------------------------------------


@rule
def line_up_payers(state: State, seat: int) -> None:
    """Line up the seats that pay the number on the square, in race order.

    Rule: 003:115, an effort square: everybody but the team whose servant stands there; nobody's: everybody.
    Rule: 003:162, an event: the race leader alone; 003:166, the event with the yellow number: everybody.
    """
    kind = int(state.kind)
    clear_queue(state)
    state.due = state.number
    if kind == EFFORT:
        queue_in_race_order(state, int(state.holder))
    elif kind == EVENT_FOR_ALL:
        queue_in_race_order(state, NO_SEAT)
    elif kind == EVENT:
        queue_one(state, seat)


@seldom
def pay_in_turn(state: State, rules: Rules) -> int:
    """Let the seats in the queue pay, and return the first that needs a servant's energy, or NO_SEAT.

    Rule: 003:115; 003:178, a seat with too little energy and no servant left is out.
    """
    while int(state.queue_next) < int(state.queue_end):
        seat, due = int(state.queue[int(state.queue_next)]), int(state.due)
        if has_energy(state, seat, due):
            pay_energy(state, seat, due)
        elif is_exhausted(state, rules, seat, due):
            leave_race(state, rules, seat)
        else:
            return seat
        state.queue_next = int(state.queue_next) + 1
    return NO_SEAT


@rule
def can_be_forced_to_retire(state: State, rules: Rules, seat: int) -> bool:
    """Return True if the card that takes a servant finds one (003:174; W23: otherwise it has no effect)."""
    return servants_left(state, rules, seat) > 0
