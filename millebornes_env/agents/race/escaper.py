"""`escaper`: away whenever the tips of the rule text say that it pays."""

from __future__ import annotations

from typing import Final

from millebornes_env.agents.race.questions import (
    cards_left_of_kind,
    energy_of_later_bidders,
    exchange,
    free_squares,
    is_away,
    move_least,
    number_on,
    retire_least,
    squares_to_the_line,
)
from millebornes_env.compile import rule
from millebornes_env.wielerspel.actions import ESCAPE, GIVE_UP, PASS, PAY, STAY, bid_action
from millebornes_env.wielerspel.auction import can_bid
from millebornes_env.wielerspel.chance_cards import cards_left
from millebornes_env.wielerspel.dice import FACES
from millebornes_env.wielerspel.escape import can_escape, price_of_lead
from millebornes_env.wielerspel.rules import Rules
from millebornes_env.wielerspel.squares import FORCED_RETIREMENT
from millebornes_env.wielerspel.state import AWAY, BID, ESCAPING, EXCHANGE, MOVE, State

FREE: Final = 0
THIN: Final = 1
PRICE: Final = 2
LINE: Final = 3
KEEPS: Final = 4
LEAD: Final = 5


def choose(state: State, rules: Rules, seat: int, memory, options, draw: int) -> int:
    phase = int(state.phase)
    if phase == BID:
        return bid(state, rules, seat, options)
    if phase == ESCAPING:
        return escape(state, rules, seat, options)
    if phase == AWAY:
        return PAY if can_keep(state, seat, price_of_lead(state, rules), options) else GIVE_UP
    if phase == EXCHANGE:
        return exchange(state, rules, seat)
    if phase == MOVE:
        return move_least(state, rules, seat)
    return retire_least(state, rules, seat)


@rule
def can_keep(state: State, seat: int, price: int, options) -> bool:
    return int(state.energy[seat]) - price >= (0 if int(state.rainbow_lap) == 1 else int(options[KEEPS]))


@rule
def escape(state: State, rules: Rules, seat: int, options) -> int:
    if not can_escape(state, seat):
        return STAY
    if is_away(state, seat):
        lead = int(state.lead)
        if lead + FACES > rules.inner_track:
            return ESCAPE
        return ESCAPE if lead < int(options[LEAD]) and can_keep(state, seat, int(state.number), options) else STAY
    if not can_keep(state, seat, int(state.number), options):
        return STAY
    if free_squares(state, rules) > int(options[FREE]):
        return STAY
    if cards_left_of_kind(state, rules, FORCED_RETIREMENT) > 0 and cards_left(state) <= int(options[THIN]):
        return STAY
    return ESCAPE


@rule
def bid(state: State, rules: Rules, seat: int, options) -> int:
    most = number_on(rules, int(state.square)) * int(options[PRICE]) // 10
    if squares_to_the_line(state, rules) <= FACES:
        most += int(options[LINE])
    most = min(most, int(state.energy[seat]) - int(options[KEEPS]))
    amount = min(most, max(int(state.highest_bid), energy_of_later_bidders(state, seat)) + 1)
    return bid_action(amount) if can_bid(state, rules, seat, amount) else PASS
