"""`saver`: a tight purse. It never bids above a limit and keeps energy for the finish."""

from __future__ import annotations

from typing import Final

from millebornes_env.agents.race.questions import (
    energy_of_later_bidders,
    exchange,
    move_least,
    retire_least,
    squares_to_the_line,
)
from millebornes_env.compile import rule
from millebornes_env.wielerspel.actions import ESCAPE, GIVE_UP, PASS, PAY, STAY, bid_action
from millebornes_env.wielerspel.auction import can_bid
from millebornes_env.wielerspel.escape import can_escape, price_of_lead
from millebornes_env.wielerspel.rules import Rules
from millebornes_env.wielerspel.state import AWAY, BID, ESCAPING, EXCHANGE, MOVE, State

LIMIT: Final = 0
KEEPS: Final = 1
FINISH: Final = 2


def choose(state: State, rules: Rules, seat: int, memory, options, draw: int) -> int:
    phase = int(state.phase)
    if phase == BID:
        return bid(state, rules, seat, options)
    if phase == ESCAPING:
        is_worth_it = is_finish(state, rules, options) and can_escape(state, seat)
        return ESCAPE if is_worth_it else STAY
    if phase == AWAY:
        return pay(state, rules, seat, options)
    if phase == EXCHANGE:
        return exchange(state, rules, seat)
    if phase == MOVE:
        return move_least(state, rules, seat)
    return retire_least(state, rules, seat)


@rule
def is_finish(state: State, rules: Rules, options) -> bool:
    return int(state.rainbow_lap) == 1 and squares_to_the_line(state, rules) <= int(options[FINISH])


@rule
def pay(state: State, rules: Rules, seat: int, options) -> int:
    left = int(state.energy[seat]) - price_of_lead(state, rules)
    keeps = 0 if int(state.rainbow_lap) == 1 else int(options[KEEPS])
    return PAY if left >= keeps else GIVE_UP


@rule
def bid(state: State, rules: Rules, seat: int, options) -> int:
    spare = int(state.energy[seat]) - int(options[KEEPS])
    most = min(int(options[LIMIT]), spare)
    amount = min(most, max(int(state.highest_bid), energy_of_later_bidders(state, seat)) + 1)
    return bid_action(amount) if can_bid(state, rules, seat, amount) else PASS
