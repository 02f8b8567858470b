"""The auction of an effort square that nobody holds (003:119-123)."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.energy import has_choice_of_servants, pay_energy, servants_left
from millebornes_env.games.wielerspel.peloton import queue_in_race_order
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import EFFORT
from millebornes_env.games.wielerspel.state import NO_SEAT, State


@rule
def is_auctioned(state: State) -> bool:
    """Return True if the square was an effort square that nobody held when it was reached (003:119)."""
    return int(state.kind) == EFFORT and int(state.holder) == NO_SEAT


@rule
def open_auction(state: State) -> None:
    """Line up the bidders: the race leader first, after the positions were worked out (003:121)."""
    queue_in_race_order(state, NO_SEAT)
    state.highest_bid = 0
    state.highest_bidder = NO_SEAT


@rule
def can_bid(state: State, rules: Rules, seat: int, amount: int) -> bool:
    """Return True if the seat may bid this amount.

    Rule: 003:121, more than the highest bid. Ruling W21: at least 1, at most the seat's own energy; a seat
    without servants cannot bid.
    """
    if servants_left(state, rules, seat) == 0:
        return False
    return int(state.highest_bid) < amount <= int(state.energy[seat])


@rule
def can_retire_before_bid(state: State, rules: Rules, seat: int) -> bool:
    """Return True if a servant may retire for the sake of a higher bid (003:172).

    Ruling W7: while the energy is below 60. Ruling W8: not the last one, who would have to ride for it.
    """
    return int(state.energy[seat]) < rules.max_energy and servants_left(state, rules, seat) > 1


@rule
def is_asked_to_bid(state: State, rules: Rules, seat: int) -> bool:
    """Return True if the seat has a legal action other than to pass (W11)."""
    lowest = int(state.highest_bid) + 1
    return can_bid(state, rules, seat, lowest) or can_retire_before_bid(state, rules, seat)


@rule
def next_bidder(state: State, rules: Rules) -> int:
    """Return the next seat in the queue that has a decision, or NO_SEAT when all have had their turn.

    Ruling W21: once around: each seat bids once (003:184-186, bidding last is an advantage).
    """
    while int(state.queue_next) < int(state.queue_end):
        seat = int(state.queue[int(state.queue_next)])
        if is_asked_to_bid(state, rules, seat):
            return seat
        state.queue_next = int(state.queue_next) + 1
    return NO_SEAT


@rule
def play_pass(state: State) -> None:
    """Bid nothing; the next seat in the queue follows."""
    state.queue_next = int(state.queue_next) + 1


@rule
def play_bid(state: State, seat: int, amount: int) -> None:
    """Bid more than all before (003:121); the next seat in the queue follows."""
    state.highest_bid = amount
    state.highest_bidder = seat
    state.queue_next = int(state.queue_next) + 1


@rule
def pay_bid(state: State) -> None:
    """Make the highest bidder pay (003:121)."""
    pay_energy(state, int(state.highest_bidder), int(state.highest_bid))


@rule
def must_choose_servant(state: State, rules: Rules, seat: int) -> bool:
    """Return True if all servants of the winner are on the board, more than one of them (003:123)."""
    if int(state.off_board[seat]) > 0:
        return False
    return has_choice_of_servants(state, seat, servants_left(state, rules, seat))


@rule
def place_servant(state: State, seat: int) -> None:
    """Put a servant from beside the board on the square (003:121)."""
    state.off_board[seat] = int(state.off_board[seat]) - 1
    state.owner[int(state.square)] = seat


@rule
def move_servant(state: State, seat: int, square: int) -> None:
    """Take a servant from another square for this one (003:123)."""
    state.owner[square] = NO_SEAT
    state.owner[int(state.square)] = seat
