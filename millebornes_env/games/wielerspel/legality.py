"""Legal actions: a check of one action, and the mask of all of them."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.actions import (
    ESCAPE,
    EXCHANGE_GREEN,
    EXCHANGE_POLKA_DOT,
    FIRST_MOVE,
    FIRST_RETIRE_FROM,
    GIVE_UP,
    KEEP,
    PASS,
    PAY,
    RETIRE,
    STAY,
    bid_action,
    bid_of,
    is_move,
    is_retirement,
    square_of,
)
from millebornes_env.games.wielerspel.auction import can_bid, can_retire_before_bid
from millebornes_env.games.wielerspel.energy import has_energy, has_servant_at
from millebornes_env.games.wielerspel.escape import can_escape, price_of_lead
from millebornes_env.games.wielerspel.jerseys import can_exchange_green, can_exchange_polka_dot
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import (
    AWAY,
    BID,
    ESCAPING,
    EXCHANGE,
    MOVE,
    MUST_PAY,
    MUST_RETIRE,
    RACE_OVER,
    Int8Array,
    State,
)


@rule
def is_legal(state: State, rules: Rules, action: int) -> bool:
    """Return True if the seat to act may take this action (any int); not to be called after the race."""
    seat, phase = int(state.seat), int(state.phase)
    if is_retirement(action):
        return may_retire_now(state, rules, seat, phase) and has_servant_at(
            state, rules, seat, square_of(action)
        )
    if phase == AWAY:
        return action == GIVE_UP or (action == PAY and can_pay_for_lead(state, rules, seat))
    if phase == EXCHANGE:
        return is_legal_exchange(state, rules, seat, action)
    if phase == ESCAPING:
        return action == STAY or (action == ESCAPE and can_escape(state, seat))
    if phase == BID:
        return action == PASS or can_bid(state, rules, seat, bid_of(action))
    return phase == MOVE and is_move(action) and has_servant_at(state, rules, seat, square_of(action))


@rule
def can_pay_for_lead(state: State, rules: Rules, seat: int) -> bool:
    """Return True if the escaped rider can pay for his lead (003:57)."""
    return has_energy(state, seat, price_of_lead(state, rules))


@rule
def is_legal_exchange(state: State, rules: Rules, seat: int, action: int) -> bool:
    """Return True if the jerseys may be exchanged in this way, or kept (003:67, 003:196)."""
    if action == EXCHANGE_GREEN:
        return can_exchange_green(state, rules, seat)
    if action == EXCHANGE_POLKA_DOT:
        return can_exchange_polka_dot(state, rules, seat)
    return action == KEEP


@rule
def may_retire_now(state: State, rules: Rules, seat: int, phase: int) -> bool:
    """Return True if a servant may retire in this decision.

    Rule: 003:172, at any moment. Rulings W1 and W7: it is offered where it can matter, before a payment that
    the energy does not cover and before a bid.
    """
    if phase == AWAY:
        return not can_pay_for_lead(state, rules, seat)
    if phase == ESCAPING:
        return not can_escape(state, seat)
    if phase == BID:
        return can_retire_before_bid(state, rules, seat)
    return phase in (MUST_PAY, MUST_RETIRE)


@rule
def write_mask(state: State, rules: Rules, mask: Int8Array) -> None:
    """Write 1 for legal actions and 0 for others into int8[NUM_ACTIONS]; all 0 when the race is over."""
    mask[:] = 0
    seat, phase = int(state.seat), int(state.phase)
    if phase == RACE_OVER:
        return
    if may_retire_now(state, rules, seat, phase):
        mask[RETIRE] = 1 if int(state.off_board[seat]) > 0 else 0
        mark_servants(state, rules, seat, mask, FIRST_RETIRE_FROM)
    if phase == AWAY:
        mask[GIVE_UP] = 1
        mask[PAY] = 1 if can_pay_for_lead(state, rules, seat) else 0
    elif phase == EXCHANGE:
        mask[EXCHANGE_GREEN] = 1 if can_exchange_green(state, rules, seat) else 0
        mask[EXCHANGE_POLKA_DOT] = 1 if can_exchange_polka_dot(state, rules, seat) else 0
        mask[KEEP] = 1
    elif phase == ESCAPING:
        mask[ESCAPE] = 1 if can_escape(state, seat) else 0
        mask[STAY] = 1
    elif phase == BID:
        mask[PASS] = 1
        mask[bid_action(int(state.highest_bid) + 1) : bid_action(int(state.energy[seat])) + 1] = 1
    elif phase == MOVE:
        mark_servants(state, rules, seat, mask, FIRST_MOVE)


@rule
def mark_servants(state: State, rules: Rules, seat: int, mask: Int8Array, first: int) -> None:
    """Write 1 for each square that a servant of the seat holds, without a branch so that it is vectorized."""
    squares = mask[first : first + rules.length]
    for square in range(rules.length):
        squares[square] = 1 if int(state.owner[square]) == seat else 0
