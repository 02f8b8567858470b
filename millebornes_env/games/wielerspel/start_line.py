"""The start line: the end of a lap, the rainbow jersey, the supply for everybody."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.dice import white_die
from millebornes_env.games.wielerspel.energy import gain_energy
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import State


@rule
def roll_white_die(state: State) -> int:
    """Roll the white die: 1 to 6 squares (003:44)."""
    state.white = white_die(state, int(state.turn))
    return int(state.white)


@rule
def ride_on(state: State, rules: Rules, squares: int) -> bool:
    """Move the rainbow rider (003:49), and return True if it passed the start line or landed on it."""
    ahead = int(state.square) + squares
    has_passed = ahead >= rules.length
    state.square = ahead - rules.length if has_passed else ahead
    state.landed_on_line = 1 if int(state.square) == 0 else 0
    return has_passed


@rule
def is_rainbow_jersey_due(state: State) -> bool:
    """Return True if a rainbow lap ends: the race leader takes a rainbow jersey (003:71, 003:75)."""
    return int(state.rainbow_lap) == 1


@rule
def begin_lap(state: State, rules: Rules) -> None:
    """Supply everybody and begin the next lap: a rainbow lap if the rainbow rider ended on the line.

    Rule: 003:153, every player gains 15 unless a chance card says otherwise; 003:155, which is taken away.
    Rule: 003:75, landed exactly: the top rainbow card is turned up, also if one has just been won.
    Ruling W5: also if no rainbow card is left; then nothing is won.
    """
    if int(state.no_supply) == 0:
        for seat in range(rules.players):
            if int(state.out[seat]) == 0:
                gain_energy(state, rules, seat, rules.lap_supply)
    state.no_supply = 0
    state.rainbow_lap = state.landed_on_line
