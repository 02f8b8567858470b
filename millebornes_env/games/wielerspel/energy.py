"""Energy and servants who retire: gains, payments, exhaustion."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.escape import end_escape
from millebornes_env.games.wielerspel.peloton import leave_peloton
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import NO_SQUARE
from millebornes_env.games.wielerspel.state import NO_SEAT, State


@rule
def gain_energy(state: State, rules: Rules, seat: int, amount: int) -> None:
    """Gain energy; what goes beyond 60 is lost (003:40, 003:158)."""
    state.energy[seat] = min(int(state.energy[seat]) + amount, rules.max_energy)


@rule
def has_energy(state: State, seat: int, amount: int) -> bool:
    """Return True if the seat can pay this amount."""
    return int(state.energy[seat]) >= amount


@rule
def pay_energy(state: State, seat: int, amount: int) -> None:
    """Hand in energy (003:115)."""
    state.energy[seat] = int(state.energy[seat]) - amount


# Servants --------------------------------------------------------------------------------------------------


@rule
def servants_on_board(state: State, rules: Rules, seat: int) -> int:
    """Count the squares that the seat's servants hold."""
    count = 0
    for square in range(rules.length):
        count += 1 if int(state.owner[square]) == seat else 0
    return count


@rule
def servants_left(state: State, rules: Rules, seat: int) -> int:
    """Count the servants who have not retired, on the board or off it."""
    return rules.servants - int(state.retired[seat])


@rule
def first_servant_on_board(state: State, rules: Rules, seat: int) -> int:
    """Return the lowest square that a servant of the seat holds, or NO_SQUARE."""
    for square in range(rules.length):
        if int(state.owner[square]) == seat:
            return square
    return NO_SQUARE


@rule
def has_servant_at(state: State, rules: Rules, seat: int, square: int) -> bool:
    """Return True if the seat has a servant on the square (NO_SQUARE: off the board)."""
    if square == NO_SQUARE:
        return int(state.off_board[seat]) > 0
    return 0 <= square < rules.length and int(state.owner[square]) == seat


@rule
def has_choice_of_servants(state: State, seat: int, left: int) -> bool:
    """Return True if the choice of a servant matters; the seat has `left` of them (`servants_left`).

    Servants off the board are equivalent.
    """
    return left > 1 and int(state.off_board[seat]) < left


@rule
def any_servant(state: State, rules: Rules, seat: int) -> int:
    """Return the square of a servant where there is no choice, NO_SQUARE for one who is off the board."""
    if int(state.off_board[seat]) > 0:
        return NO_SQUARE
    return first_servant_on_board(state, rules, seat)


@seldom
def play_retirement(state: State, rules: Rules, seat: int, square: int) -> None:
    """Retire a servant from the board or from beside it; the seat gains 15 (003:172)."""
    if square == NO_SQUARE:
        state.off_board[seat] = int(state.off_board[seat]) - 1
    else:
        state.owner[square] = NO_SEAT
    state.retired[seat] = int(state.retired[seat]) + 1
    gain_energy(state, rules, seat, rules.retirement_energy)


# Exhaustion ------------------------------------------------------------------------------------------------


@rule
def is_exhausted(state: State, rules: Rules, seat: int, amount: int) -> bool:
    """Return True if the seat must pay more than it has, with all servants retired (003:178)."""
    return not has_energy(state, seat, amount) and servants_left(state, rules, seat) == 0


@seldom
def leave_race(state: State, rules: Rules, seat: int) -> None:
    """Take the leader out of the race: the player is out of the game (003:178).

    Ruling W22: his energy is gone, his jerseys stay for the ranking; he holds no squares any more, since all
    his servants have retired.
    """
    state.energy[seat] = 0
    state.out[seat] = 1
    if int(state.escaped) == seat:
        end_escape(state, rules)
    else:
        leave_peloton(state, seat)
