"""The value of jerseys in a race: how much nearer they bring a seat, or another one, to the win.

Winning chances are estimated from the number of rainbow jerseys that each seat still needs: with half as
many, the odds are `2 ** power` times as good.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.wielerspel.questions import around_from, cards_left_of_kind
from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.chance_cards import cards_left
from millebornes_env.games.wielerspel.jerseys import JERSEYS_ON_A_DOUBLE, JERSEYS_ON_A_TRIPLE, polka_dots
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import ESCAPE
from millebornes_env.games.wielerspel.state import DOUBLES, GREENS, NUM_SETS, RAINBOW, TRIPLES, State

Stakes = npt.NDArray[np.float64]

# The array of stakes: first what a card of each set is worth to the seat, by its number.
OTHERS: Final = NUM_SETS
"""Index of the first value of a gain by another seat (negative)."""
WHOLE_RACE: Final = 2 * NUM_SETS
"""Value of winning now."""
ENERGY: Final = WHOLE_RACE + 1
"""Value of one energy: 1, or less if little of the race is left to spend it on."""
ESCAPE_CARDS: Final = WHOLE_RACE + 2
"""The share of escape cards among the chance cards that are left."""
LAPS_LEFT: Final = WHOLE_RACE + 3
"""Laps left in the race."""
SAVED_PERCENT: Final = WHOLE_RACE + 4
"""Weight of energy saved on a square, in percent."""
SIZE_OF_STAKES: Final = WHOLE_RACE + 5

_NO_CARD: Final = -1
_NEAREST: Final = 0.05
"""Smallest distance to the win; shorter ones are raised to it, so that all odds are finite."""


@rule
def rainbows_missing(rules: Rules, rainbows: int, greens: int, dots: int) -> float:
    """Return the number of rainbow jerseys still needed with these jerseys; 0: they win.

    Jerseys that can be exchanged count as rainbow jerseys; the rest, and the extra jerseys of an option
    (003:200), count as parts of one: two of three green ones are two thirds, and the polka dots
    shorten the third that is left.
    """
    greens_left, dots_left = max(0, greens - int(rules.also_green)), max(0, dots - int(rules.also_polka))
    per_green, per_polka = int(rules.greens_for_rainbow), int(rules.polka_for_rainbow)
    missing = float(rules.target_rainbows) - rainbows - greens_left // per_green - dots_left // per_polka
    to_green, to_polka = 1.0 - greens_left % per_green / per_green, 1.0 - dots_left % per_polka / per_polka
    if missing > 0.0:
        missing -= 1.0 - to_green * to_polka
    missing = max(0.0, missing)
    missing += max(0, int(rules.also_green) - greens) / per_green
    return missing + max(0, int(rules.also_polka) - dots) / per_polka


@rule
def missing_with(state: State, rules: Rules, seat: int, kind: int) -> float:
    """`rainbows_missing` of the seat with one more card of a set."""
    rainbows, greens = int(state.jerseys[seat, RAINBOW]), int(state.jerseys[seat, GREENS])
    dots = polka_dots(state, seat)
    if kind == DOUBLES:
        dots += JERSEYS_ON_A_DOUBLE
    elif kind == TRIPLES:
        dots += JERSEYS_ON_A_TRIPLE
    elif kind == GREENS:
        greens += 1
    elif kind == RAINBOW:
        rainbows += 1
    return rainbows_missing(rules, rainbows, greens, dots)


@rule
def missing(state: State, rules: Rules, seat: int) -> float:
    """Return the number of rainbow jerseys that the seat still needs."""
    return missing_with(state, rules, seat, _NO_CARD)


@rule
def least_missing(state: State, rules: Rules) -> float:
    """Return the fewest rainbow jerseys that any seat still needs."""
    least = float(rules.target_rainbows) + 2.0
    for seat in range(int(rules.players)):
        if int(state.out[seat]) == 0:
            least = min(least, missing(state, rules, seat))
    return least


@rule
def odds(missing_rainbows: float, power: float) -> float:
    """Return a number in proportion to the chance to win."""
    return float(max(missing_rainbows, _NEAREST) ** -power)


@seldom
def write_stakes(
    state: State, rules: Rules, seat: int, stakes: Stakes, race: float, power: float, energy: float
) -> None:
    """Write what everything is worth to the seat, float64[SIZE_OF_STAKES] up to LAPS_LEFT.

    `race` is the energy that a race is worth that is won, and would be lost otherwise; `power` says how
    steeply odds rise towards the win, `energy` what one energy is worth.
    """
    total = 0.0
    for place in range(int(rules.players)):  # from the own seat on: sums are rounded as all seats see them
        other = around_from(rules, seat, place)
        if int(state.out[other]) == 0:
            total += odds(missing(state, rules, other), power)
    own = odds(missing(state, rules, seat), power)
    for kind in range(NUM_SETS):
        still = missing_with(state, rules, seat, kind)
        more = odds(still, power)
        gained = 1.0 if still <= 0.0 else more / (total - own + more)
        stakes[kind] = race * (gained - own / total)
        stakes[OTHERS + kind] = race * (
            chance_if_another_gains(state, rules, seat, kind, power, total, own) - own / total
        )
    stakes[WHOLE_RACE] = race * (1.0 - own / total)
    stakes[ENERGY] = energy
    cards = cards_left(state)
    stakes[ESCAPE_CARDS] = cards_left_of_kind(state, rules, ESCAPE) / cards if cards > 0 else 0.0


@rule
def chance_if_another_gains(
    state: State, rules: Rules, seat: int, kind: int, power: float, total: float, own: float
) -> float:
    """Return the seat's chance if another seat, any with equal probability, gains a card of the set."""
    chance, others = 0.0, 0
    for place in range(1, int(rules.players)):
        other = around_from(rules, seat, place)
        if int(state.out[other]) == 1:
            continue
        others += 1
        still = missing_with(state, rules, other, kind)
        before = odds(missing(state, rules, other), power)
        if still > 0.0:
            chance += own / (total - before + odds(still, power))
    return chance / others if others > 0 else own / total
