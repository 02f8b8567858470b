"""Reasons why an action is illegal, in words."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel import actions
from millebornes_env.games.wielerspel.actions import action_name, bid_of, is_move, is_retirement, square_of
from millebornes_env.games.wielerspel.energy import has_servant_at
from millebornes_env.games.wielerspel.escape import price_of_lead
from millebornes_env.games.wielerspel.jerseys import polka_dots
from millebornes_env.games.wielerspel.legality import may_retire_now
from millebornes_env.games.wielerspel.rules import Rules, rules_array
from millebornes_env.games.wielerspel.squares import NO_SQUARE
from millebornes_env.games.wielerspel.state import (
    AWAY,
    BID,
    ESCAPING,
    EXCHANGE,
    GREENS,
    MOVE,
    PHASE_NAMES,
    RAINBOW,
    State,
)

_PHASES_OF = {
    actions.GIVE_UP: AWAY,
    actions.PAY: AWAY,
    actions.ESCAPE: ESCAPING,
    actions.STAY: ESCAPING,
    actions.PASS: BID,
    actions.EXCHANGE_GREEN: EXCHANGE,
    actions.EXCHANGE_POLKA_DOT: EXCHANGE,
    actions.KEEP: EXCHANGE,
}
"""The phase in which each action is possible."""


def reason_against(state: State, rules: Rules, action: int) -> str:
    """Say why an action is illegal.

    Args:
        state: the race.
        rules: the table's rules.
        action: an action id that is illegal now.

    Returns:
        Half a sentence: "seat 2 has 4 energy".
    """
    phase, seat = int(state.phase), int(state.seat)
    energy = f"seat {seat} has {int(state.energy[seat])} energy"
    if is_retirement(action):
        return _reason_against_retirement(state, rules, action)
    if is_move(action):
        return _no_servant(seat, square_of(action)) if phase == MOVE else _decision(phase)
    if bid_of(action) > 0:
        if phase != BID:
            return _decision(phase)
        if bid_of(action) <= int(state.highest_bid):
            return f"the highest bid is {int(state.highest_bid)}"
        return energy
    if _PHASES_OF.get(action) != phase:
        return _decision(phase)
    if phase == AWAY:
        return f"the lead costs {plain(price_of_lead)(state, rules_array(rules)[0])}, and {energy}"
    if phase == ESCAPING:
        return f"the escape costs {int(state.number)}, and {energy}"
    return _reason_against_exchange(state, seat, action)


def _decision(phase: int) -> str:
    return f"the decision is {PHASE_NAMES[phase]!r}"


def _no_servant(seat: int, square: int) -> str:
    where = "beside the board" if square == NO_SQUARE else f"on square {square}"
    return f"seat {seat} has no servant {where}"


def _reason_against_retirement(state: State, rules: Rules, action: int) -> str:
    seat, phase, record = int(state.seat), int(state.phase), rules_array(rules)[0]
    if not plain(has_servant_at)(state, record, seat, square_of(action)):
        return _no_servant(seat, square_of(action))
    if plain(may_retire_now)(state, record, seat, phase):
        raise AssertionError(f"{action_name(action)} is legal")
    if phase == BID:
        return "before a bid, servants retire only below the maximum energy, and not the last one"
    return "no servant need retire now"


def _reason_against_exchange(state: State, seat: int, action: int) -> str:
    if int(state.stacks[RAINBOW]) == 0:
        return "no rainbow jersey is left"
    if action == actions.EXCHANGE_GREEN:
        return f"seat {seat} has {int(state.jerseys[seat, GREENS])} green jerseys"
    return f"seat {seat} has {plain(polka_dots)(state, seat)} polka-dot jerseys"
