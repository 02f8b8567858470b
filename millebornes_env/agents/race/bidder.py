"""`bidder`."""

from __future__ import annotations

from typing import Final

import numpy as np

from millebornes_env.agents.race.laps import (
    NEXT_LAP, NEXT_RAINBOW_LAP, SIZE, THIS_LAP, Values, at, further, slot_of_lead, value_laps,
)
from millebornes_env.agents.race.questions import (
    LANDINGS_PER_LAP,
    can_spare_a_servant,
    energy_of_later_bidders,
    later_bidders,
    exchange,
    is_away,
    number_on,
    payments_of_a_lap,
    riders_left,
)
from millebornes_env.agents.race.stakes import SIZE_OF_STAKES, write_stakes, least_missing, ENERGY
from millebornes_env.compile import rule, seldom, stack_array
from millebornes_env.wielerspel.actions import ESCAPE, GIVE_UP, PASS, PAY, RETIRE, STAY, bid_action, move_action, retire_action
from millebornes_env.wielerspel.auction import can_bid, can_retire_before_bid
from millebornes_env.wielerspel.dice import FACES
from millebornes_env.wielerspel.energy import servants_left
from millebornes_env.wielerspel.escape import can_escape, price_of_lead
from millebornes_env.wielerspel.rules import MAX_INNER_TRACK, Rules
from millebornes_env.wielerspel.squares import EFFORT, NO_SQUARE, CHANCE
from millebornes_env.wielerspel.squares import ESCAPE as ESCAPE_SQUARE
from millebornes_env.wielerspel.state import AWAY, BID, ESCAPING, EXCHANGE, MOVE, NO_SEAT, RAINBOW, State

STAKE: Final = 0
POWER: Final = 1
LAPS: Final = 2      # laps per missing rainbow, tenths
KEEPS: Final = 3
SAVING: Final = 4    # percent worth of energy saved
SHADE: Final = 5     # percent of value bid
SERVANT: Final = 6   # what a servant beside the board is worth
RISK: Final = 7      # percent: what an escape must bring
PRICE: Final = 8     # percent of energy worth in escapes
RETIRES: Final = 9
RIVAL: Final = 10
LATE: Final = 11

_LEADS: Final = 112
_AWAY_SIZE: Final = _LEADS * 43


def choose(state: State, rules: Rules, seat: int, memory, options, draw: int) -> int:
    phase = int(state.phase)
    if phase == EXCHANGE:
        return exchange(state, rules, seat)
    if phase not in (AWAY, ESCAPING, BID, MOVE) and int(state.off_board[seat]) > 0:
        return RETIRE
    values, landings = stack_array(np.float64, SIZE), stack_array(np.float64, SIZE)
    stakes = stack_array(np.float64, SIZE_OF_STAKES)
    laps = laps_left(state, rules, options)
    energy = worth_of_energy(laps, options)
    write_stakes(state, rules, seat, stakes, float(options[STAKE]), options[POWER] / 100.0, energy)
    value_laps(state, rules, seat, stakes, values, landings, phase in (AWAY, ESCAPING))
    if phase == AWAY:
        return away(state, rules, seat, values)
    if phase == ESCAPING:
        return escape(state, rules, seat, stakes, values, options)
    if phase == BID:
        return bid(state, rules, seat, values, options)
    square = least_square(state, rules, seat, values, options)
    return move_action(square) if phase == MOVE else retire_action(square)


# Squares


@rule
def laps_left(state: State, rules: Rules, options) -> float:
    return 0.3 + least_missing(state, rules) * options[LAPS] / 10.0


@rule
def worth_of_energy(laps: float, options) -> float:
    return 1.0 if options[LATE] == 0 else min(1.0, laps * 10.0 / options[LATE])


@rule
def worth_of_square(state: State, rules: Rules, values: Values, square: int, laps: float, options) -> float:
    """Of holding it for the rest of the race."""
    riders = riders_left(state)
    lead = 0.0
    for place in range(riders):
        ordinary = values[at(NEXT_LAP, square, 0)] - values[at(NEXT_LAP, square, place)]
        rainbow = values[at(NEXT_RAINBOW_LAP, square, 0)] - values[at(NEXT_RAINBOW_LAP, square, place)]
        lead += ordinary + (rainbow - ordinary) * LANDINGS_PER_LAP
    lead /= riders
    saved = number_on(rules, square) * options[SAVING] / 100.0
    return laps * LANDINGS_PER_LAP * (lead + saved)


@seldom
def least_square(state: State, rules: Rules, seat: int, values: Values, options) -> int:
    found, least = NO_SQUARE, 0.0
    laps = laps_left(state, rules, options)
    for square in range(int(rules.length)):
        if int(state.owner[square]) == seat:
            worth = worth_of_square(state, rules, values, square, laps, options)
            if found == NO_SQUARE or worth < least:
                found, least = square, worth
    return found


# Bids


@seldom
def bid(state: State, rules: Rules, seat: int, values: Values, options) -> int:
    laps = laps_left(state, rules, options)
    square = int(state.square)
    worth = worth_of_square(state, rules, values, square, laps, options)
    if int(state.off_board[seat]) > 0:
        worth -= options[SERVANT] / 10.0 * worth_of_energy(laps, options)
    else:
        least = least_square(state, rules, seat, values, options)
        worth -= worth_of_square(state, rules, values, least, laps, options)
    energy = int(state.energy[seat])
    to_line = (int(rules.length) - square) / float(rules.length)
    supply = 0 if int(state.no_supply) == 1 else int(rules.lap_supply)
    overflow = energy + supply - payments_of_a_lap(state, rules, seat) * to_line - int(rules.max_energy)
    limit = worth / worth_of_energy(laps, options) * options[SHADE] / 100.0 + max(0.0, overflow)
    spare = energy - int(options[KEEPS])
    most = min(int(limit), spare)
    later, rivals = energy_of_later_bidders(state, seat), later_bidders(state, seat)
    shaded = int(most * (1.0 - options[RIVAL] / 100.0 / (rivals + 1)))
    amount = min(most, max(int(state.highest_bid) + 1, min(later, shaded)))
    if can_bid(state, rules, seat, amount):
        return bid_action(amount)
    if (
        int(limit) > int(state.highest_bid)
        and spare <= int(state.highest_bid)
        and int(state.off_board[seat]) >= int(options[RETIRES])
        and energy + int(rules.retirement_energy) <= int(rules.max_energy)
        and can_retire_before_bid(state, rules, seat)
    ):
        return RETIRE
    return PASS


# Escapes


@seldom
def escape(state, rules, seat: int, stakes: Values, values: Values, options) -> int:
    if not can_escape(state, seat) and not can_spare_a_servant(state, rules, seat):
        return STAY
    square = int(state.square)
    lead = int(state.lead) if is_away(state, seat) else 0
    stays = values[at(THIS_LAP, square, slot_of_lead(lead) if lead > 0 else 0)]
    goes = further(rules, stakes, values, THIS_LAP, square, lead) - stakes[ENERGY] * int(state.number)
    if goes <= stays + options[RISK] / 10.0:
        return STAY
    return ESCAPE if can_escape(state, seat) else RETIRE


@seldom
def away(state, rules, seat: int, values: Values) -> int:
    price = price_of_lead(state, rules)
    if int(state.energy[seat]) < price and not can_spare_a_servant(state, rules, seat):
        return GIVE_UP
    square, riders = int(state.square), riders_left(state)
    gives_up = values[at(THIS_LAP, square, riders - 1)]
    if values[at(THIS_LAP, square, slot_of_lead(int(state.lead)))] <= gives_up:
        return GIVE_UP
    return PAY if int(state.energy[seat]) >= price else RETIRE
