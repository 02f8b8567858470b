"""The order of the race: the race leader, and moves to the front or to the back of the peloton."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.state import NO_SEAT, State


@rule
def is_anybody_away(state: State) -> bool:
    """Return True if a leader has escaped from the peloton."""
    return int(state.escaped) != NO_SEAT


@rule
def race_leader(state: State) -> int:
    """Return the seat that leads the race: the escaped rider, else the first of the peloton, or NO_SEAT.

    Rule: 003:49 and 003:61, the white die is rolled by the player whose leader is in front.
    """
    if is_anybody_away(state):
        return int(state.escaped)
    return int(state.peloton[0])


@rule
def is_anybody_riding(state: State) -> bool:
    """Return True if a leader is left in the race."""
    return race_leader(state) != NO_SEAT


@rule
def place_in_peloton(state: State, seat: int) -> int:
    """Count the leaders that ride before the seat's in the peloton; `riders` if it is not there."""
    for place in range(int(state.riders)):
        if int(state.peloton[place]) == seat:
            return place
    return int(state.riders)


@rule
def leave_peloton(state: State, seat: int) -> None:
    """Take the leader out of the peloton, if he is in it; those behind him move up."""
    place = place_in_peloton(state, seat)
    if place == int(state.riders):
        return
    last = int(state.riders) - 1
    for behind in range(place, last):
        state.peloton[behind] = state.peloton[behind + 1]
    state.peloton[last] = NO_SEAT
    state.riders = last


@rule
def join_last(state: State, seat: int) -> None:
    """Let the leader ride at the back of the peloton."""
    state.peloton[int(state.riders)] = seat
    state.riders = int(state.riders) + 1


@seldom
def play_to_the_back(state: State, seat: int) -> None:
    """Move the leader to the last place; the others keep their order (003:83)."""
    leave_peloton(state, seat)
    join_last(state, seat)


@seldom
def play_to_the_front(state: State, seat: int) -> None:
    """Move the leader to the front of the peloton; the former first is second (003:87)."""
    for place in range(place_in_peloton(state, seat), 0, -1):
        state.peloton[place] = state.peloton[place - 1]
    state.peloton[0] = seat


@seldom
def queue_in_race_order(state: State, without: int) -> None:
    """Line up all seats in the race except `without` (or NO_SEAT), the race leader first.

    Rule: 003:121, in the order that the players have in the race.
    """
    end = 0
    if is_anybody_away(state) and int(state.escaped) != without:
        state.queue[0] = state.escaped
        end = 1
    for place in range(int(state.riders)):
        if int(state.peloton[place]) != without:
            state.queue[end] = state.peloton[place]
            end += 1
    state.queue_next = 0
    state.queue_end = end


@rule
def queue_one(state: State, seat: int) -> None:
    """Line up one seat alone."""
    state.queue[0] = seat
    state.queue_next = 0
    state.queue_end = 1


@rule
def clear_queue(state: State) -> None:
    """Empty the queue."""
    for index in range(len(state.queue)):
        state.queue[index] = NO_SEAT
    state.queue_next = 0
    state.queue_end = 0
