"""The end of the race: its winner, and the ranking if nobody has won outright."""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.escape import points_of_escape
from millebornes_env.games.wielerspel.jerseys import polka_dots
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import (
    BROKEN_OFF,
    BY_JERSEYS,
    GREENS,
    NO_SEAT,
    NOT_ENDED,
    RACE_OVER,
    RAINBOW,
    State,
)

_MORE_THAN_POLKA_DOTS: Final = 1000
"""More than the polka-dot jerseys that a seat can have: a green jersey outweighs all of them."""
_MORE_THAN_GREENS: Final = 100
_LAST: Final = -1

POINTS_PER_RAINBOW: Final = 3
POLKA_DOTS_PER_POINT: Final = 3


@rule
def has_enough_jerseys(state: State, rules: Rules, seat: int) -> bool:
    """Return True if the seat has the jerseys to win: three rainbow (003:34), more by an option (003:200)."""
    if int(state.jerseys[seat, RAINBOW]) < rules.target_rainbows:
        return False
    if int(state.jerseys[seat, GREENS]) < rules.also_green:
        return False
    return polka_dots(state, seat) >= rules.also_polka


@seldom
def end_race(state: State, winner: int, ending: int) -> None:
    """End the race; `winner` has won outright, or is NO_SEAT if the ranking decides."""
    state.winner = winner
    state.ending = ending
    state.phase = RACE_OVER


@seldom
def end_race_if_won(state: State, rules: Rules, seat: int) -> bool:
    """End the race and return True if the seat has the jerseys that win it (003:67), else return False.

    Option: 003:202, points for combativity decide then.
    """
    if not has_enough_jerseys(state, rules, seat):
        return False
    end_race(state, NO_SEAT if rules.combativity == 1 else seat, BY_JERSEYS)
    return True


@rule
def combativity_points(state: State, rules: Rules, seat: int) -> int:
    """Count points: for escapes, 1 for each green jersey and 3 polka-dots, 3 for each rainbow (003:202).

    Ruling W12: jerseys count as they are held at the end; an escape that is still under way counts.
    """
    points = int(state.escape_points[seat])
    if int(state.escaped) == seat:
        points += points_of_escape(rules, int(state.highest_lead))
    points += POINTS_PER_RAINBOW * int(state.jerseys[seat, RAINBOW]) + int(state.jerseys[seat, GREENS])
    return points + polka_dots(state, seat) // POLKA_DOTS_PER_POINT


@rule
def standing(state: State, rules: Rules, seat: int) -> int:
    """Return the number that ranks seats: by rainbow, then green, then polka-dot jerseys (003:178).

    Ruling W12: by points for combativity if they count. A seat that has left a race that jerseys end is not
    ranked.
    """
    if int(state.ending) == BY_JERSEYS and int(state.out[seat]) == 1:
        return _LAST
    if rules.combativity == 1:
        return combativity_points(state, rules, seat)
    greens = int(state.jerseys[seat, RAINBOW]) * _MORE_THAN_GREENS + int(state.jerseys[seat, GREENS])
    return greens * _MORE_THAN_POLKA_DOTS + polka_dots(state, seat)


@rule
def has_won(state: State, rules: Rules, seat: int) -> bool:
    """Return True if the seat has won the race, alone or together with others.

    Rule: 003:178, the seat ranked first, even if exhausted before others; equal in everything: a true draw.
    """
    if int(state.ending) in (NOT_ENDED, BROKEN_OFF):
        return False
    if int(state.winner) != NO_SEAT:
        return int(state.winner) == seat
    own = standing(state, rules, seat)
    for other in range(rules.players):
        if standing(state, rules, other) > own:
            return False
    return True


@rule
def race_winner(state: State, rules: Rules) -> int:
    """Return the seat that has won the race alone, or NO_SEAT."""
    winner = NO_SEAT
    for seat in range(rules.players):
        if has_won(state, rules, seat):
            if winner != NO_SEAT:
                return NO_SEAT
            winner = seat
    return winner
