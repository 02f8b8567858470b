"""Laws of every record that play from a start leads to.

`reachability_violation` is their table of contents.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.laws import NO_VIOLATION, is_between, require
from millebornes_env.engine.numba.compiling import for_kernels, kernel, rule
from millebornes_env.errors import ConformanceError
from millebornes_env.games.wielerspel.audit import violations as law
from millebornes_env.games.wielerspel.audit.soundness import soundness_violation
from millebornes_env.games.wielerspel.chance_cards import cards_left
from millebornes_env.games.wielerspel.dice import FACES, white_die, yellow_die
from millebornes_env.games.wielerspel.rules import Rules, rules_array
from millebornes_env.games.wielerspel.squares import FORCED_RETIREMENT
from millebornes_env.games.wielerspel.state import JERSEYS_BEFORE_THE_DIE, NO_CARD, NO_SEAT, RACE_OVER, State
from millebornes_env.games.wielerspel.winning import has_enough_jerseys

_MOST_POINTS_OF_A_TURN = 2


def check_laws(states: npt.NDArray[np.void], rules: Rules) -> None:
    """Check records of races that were played from their start.

    Args:
        states: `STATE[N]`, at decisions or after the end.
        rules: the table's rules.

    Raises:
        ConformanceError: a record breaks a law; the message names the race and the law.
    """
    records = for_kernels(np.ascontiguousarray(states))
    race, violation = _first_unreachable(records, rules_array(rules)[0])
    if violation != NO_VIOLATION:
        what = law.message_of(int(violation), rules)
        raise ConformanceError(f"game {race}, seat {states['seat'][race]}: {what}; no race leads there")


@kernel
def _first_unreachable(states: npt.NDArray[np.void], rules: Rules) -> tuple[int, int]:
    for race in range(len(states)):
        violation = violation_of(states[race], rules)
        if violation != NO_VIOLATION:
            return race, violation
    return -1, NO_VIOLATION


@rule
def violation_of(state: State, rules: Rules) -> int:
    """Return the first law that a race breaks if it was played from its start, or NO_VIOLATION.

    Args:
        state: one record of `STATE`, at a decision or after the end; it may contain any bytes.
        rules: the table's rules.
    """
    result = soundness_violation(state, rules)
    if result != NO_VIOLATION:
        return result
    return reachability_violation(state, rules)


@rule
def reachability_violation(state: State, rules: Rules) -> int:
    """Return the first law of this file that a sound record breaks, or NO_VIOLATION."""
    result = require(NO_VIOLATION, law.RACE_GOES_ON_AFTER_WIN, is_over_if_won(state, rules))
    result = require(result, law.ROLLED_TOO_EARLY, has_rolled(state) or nothing_is_rolled(state))
    result = require(result, law.NOT_ROLLED, not has_rolled(state) or all_is_rolled(state))
    result = require(result, law.DICE_ARE_NOT_THE_KEYS, dice_are_the_keys(state))
    result = require(result, law.WRONG_LINE, line_is_right(state))
    result = require(result, law.DRAWN_CARD_IN_DECK, drawn_cards_are_gone(state))
    result = require(result, law.WRONG_DECK, deck_is_whole(state, rules))
    result = require(result, law.FORCED_RETIREMENT_DRAWN, forced_retirements_are_left(state, rules))
    result = require(result, law.TOO_MANY_SHUFFLES, int(state.shuffles) <= 2 * (int(state.turn) + 1))
    return require(result, law.TOO_MANY_ESCAPE_POINTS, escape_points_are_few(state, rules))


@rule
def is_over_if_won(state: State, rules: Rules) -> bool:
    """003:67, a seat with enough jerseys wins immediately."""
    for seat in range(rules.players):
        if has_enough_jerseys(state, rules, seat) and int(state.phase) != RACE_OVER:
            return False
    return True


# Dice ------------------------------------------------------------------------------------------------------


@rule
def has_rolled(state: State) -> bool:
    """Return True if the turn has reached the roll of the white die."""
    return int(state.stage) > JERSEYS_BEFORE_THE_DIE


@rule
def nothing_is_rolled(state: State) -> bool:
    """No die shows a number, and there is no roller."""
    return int(state.roller) == NO_SEAT and int(state.white) == 0 and int(state.yellow) == 0


@rule
def all_is_rolled(state: State) -> bool:
    """003:49, the race leader has rolled the white die."""
    return int(state.roller) != NO_SEAT and is_between(int(state.white), 1, FACES)


@rule
def dice_are_the_keys(state: State) -> bool:
    """Each die is a function of the key and the turn; the yellow one may not have been rolled."""
    white, yellow, turn = int(state.white), int(state.yellow), int(state.turn)
    return white in (0, white_die(state, turn)) and yellow in (0, yellow_die(state, turn))


@rule
def line_is_right(state: State) -> bool:
    """003:75, `landed_on_line` says that the rainbow rider is exactly on the line."""
    on_line = has_rolled(state) and int(state.square) == 0
    return int(state.landed_on_line) == (1 if on_line else 0)


# Cards -----------------------------------------------------------------------------------------------------


@rule
def drawn_cards_are_gone(state: State) -> bool:
    """The slots of drawn cards are empty."""
    for slot in range(int(state.deck_next)):
        if int(state.deck[slot]) != NO_CARD:
            return False
    return True


@rule
def deck_is_whole(state: State, rules: Rules) -> bool:
    """The cards drawn since the last shuffle and those left are a whole deck."""
    size = 0
    for card in range(rules.card_types):
        size += int(rules.card_copies[card])
    return int(state.deck_next) + cards_left(state) == size


@rule
def forced_retirements_are_left(state: State, rules: Rules) -> bool:
    """003:192, the deck is shuffled when one is drawn, so it holds all of them at any time."""
    left = 0
    for slot in range(int(state.deck_next), len(state.deck)):
        card = int(state.deck[slot])
        left += 1 if card != NO_CARD and int(rules.card_kind[card]) == FORCED_RETIREMENT else 0
    for card in range(rules.card_types):
        left -= int(rules.card_copies[card]) if int(rules.card_kind[card]) == FORCED_RETIREMENT else 0
    return left == 0


@rule
def escape_points_are_few(state: State, rules: Rules) -> bool:
    """003:202, an escape scores at most two points, and at most one escape ends in a turn."""
    for seat in range(rules.players):
        if int(state.escape_points[seat]) > _MOST_POINTS_OF_A_TURN * (int(state.turn) + 1):
            return False
    return True
