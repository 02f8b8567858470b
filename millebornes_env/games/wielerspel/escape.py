"""The escape: its price, the lead, being caught."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.dice import yellow_die
from millebornes_env.games.wielerspel.peloton import is_anybody_away, join_last, leave_peloton
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import NO_SEAT, State


@rule
def price_of_lead(state: State, rules: Rules) -> int:
    """Return the price that the escaped rider pays when his turn begins.

    Rule: 003:57, one energy for a lead of less than a minute, three for one of more than two, else two.
    Ruling W17: so six arrows, a minute sharp, cost two, and twelve too.
    """
    if int(state.lead) < rules.first_minute:
        return rules.first_price
    if int(state.lead) <= rules.second_minute:
        return rules.second_price
    return rules.third_price


@rule
def can_escape(state: State, seat: int) -> bool:
    """Return True if the seat may escape, or ride further away, at the price on the square.

    Rule: 003:90 and 003:117, the value of the square is paid; 003:133, an escape square costs nothing.
    Ruling W20: a seat without the energy cannot, unless servants retire first.
    """
    return int(state.energy[seat]) >= int(state.number)


@rule
def roll_yellow_die(state: State) -> int:
    """Roll the yellow die: 1 to 6 arrows of 10 seconds (003:53)."""
    state.yellow = yellow_die(state, int(state.turn))
    return int(state.yellow)


@rule
def play_escape(state: State, seat: int) -> None:
    """Ride away from the peloton, or further away: pay the square's value and move by the yellow die.

    Rule: 003:53, the first move; 003:103, a longer lead.
    """
    state.energy[seat] = int(state.energy[seat]) - int(state.number)
    if not is_anybody_away(state):
        leave_peloton(state, seat)
        state.escaped = seat
        state.lead = 0
        state.highest_lead = 0
    state.lead = int(state.lead) + roll_yellow_die(state)
    state.highest_lead = max(int(state.highest_lead), int(state.lead))


@rule
def has_reached_the_end(state: State, rules: Rules) -> bool:
    """Return True if the escaped rider is beyond the inner track: more than three minutes ahead (003:36).

    Ruling W18: 18 arrows are three minutes, the END is the 19th.
    """
    return int(state.lead) > rules.inner_track


@seldom
def lose_lead(state: State, rules: Rules, arrows: int) -> None:
    """Let the escaped rider fall back; without a lead he is caught and goes last (003:59, 003:95, 003:99)."""
    state.lead = int(state.lead) - arrows
    if int(state.lead) <= 0:
        play_caught(state, rules)


@rule
def play_caught(state: State, rules: Rules) -> None:
    """Let all riders of the peloton pass the escaped rider: he is last (003:59)."""
    seat = int(state.escaped)
    end_escape(state, rules)
    join_last(state, seat)


@seldom
def play_give_up(state: State, rules: Rules) -> None:
    """Let the peloton catch the escaped rider: he pays nothing and goes last (003:63)."""
    play_caught(state, rules)


@rule
def points_of_escape(rules: Rules, highest_lead: int) -> int:
    """Return the points for combativity: 1 for a lead above a minute, 2 for more than two (003:202)."""
    if highest_lead > rules.second_minute:
        return 2
    return 1 if highest_lead > rules.first_minute else 0


@rule
def end_escape(state: State, rules: Rules) -> None:
    """End the escape; the points for the highest lead are kept."""
    seat = int(state.escaped)
    points = points_of_escape(rules, int(state.highest_lead))
    state.escape_points[seat] = int(state.escape_points[seat]) + points
    state.escaped = NO_SEAT
    state.lead = 0
    state.highest_lead = 0
