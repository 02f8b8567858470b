"""`bidder`: values every square by how often it will be landed on, and bids what it expects of it.

It reckons in energy, over what is left of the race:

* what the race is worth, and so a jersey: by how much it brings the seat nearer to the win, or another one
  (`stakes`);
* what a place in the race is worth: the jerseys that it will lead to, by the white die (`laps`);
* what a square is worth: the payments that it saves, and the place at the front that every landing on it
  gives. So squares before the line and before jerseys are dear.

It bids as much, less what its servant would bring otherwise: 15 energy, or the square that he leaves. It
notices when its bids are higher than they had to be. It escapes, pays for its lead and gives up by the same
values, and lets servants retire where 15 energy are worth more than they. Towards the end of the race energy
is worth less and less to it.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

import numpy as np

from millebornes_env.agents.compiled.agent import FIRST_FREE, Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.options import Between
from millebornes_env.agents.protocol import Table
from millebornes_env.agents.wielerspel.laps import (
    NEXT_LAP,
    NEXT_RAINBOW_LAP,
    SIZE,
    THIS_LAP,
    Values,
    further,
    slot_of_lead,
    value_at,
    value_laps,
)
from millebornes_env.agents.wielerspel.questions import (
    LANDINGS_PER_LAP,
    energy_of_later_bidders,
    exchange,
    is_away,
    payments_of_a_lap,
    riders_left,
    squares_to_the_line,
)
from millebornes_env.agents.wielerspel.stakes import (
    ENERGY,
    LAPS_LEFT,
    SAVED_PERCENT,
    SIZE_OF_STAKES,
    Stakes,
    least_missing,
    write_stakes,
)
from millebornes_env.engine.numba.compiling import rule, seldom, stack_array
from millebornes_env.games.wielerspel.actions import (
    ESCAPE,
    GIVE_UP,
    PASS,
    PAY,
    RETIRE,
    STAY,
    bid_action,
    move_action,
    retire_action,
)
from millebornes_env.games.wielerspel.auction import can_bid, can_retire_before_bid
from millebornes_env.games.wielerspel.energy import servants_left
from millebornes_env.games.wielerspel.escape import can_escape, price_of_lead
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import NO_SQUARE
from millebornes_env.games.wielerspel.state import AWAY, BID, ESCAPING, EXCHANGE, MOVE, NO_SEAT, State

# Its options.
RACE: Final = 0
POWER: Final = 1
LAPS: Final = 2
LATE: Final = 3
SAVING: Final = 4
LEARNS: Final = 5

# What it remembers.
OFF_PRICE: Final = FIRST_FREE
"""In thousandths of a square's worth: so much less it bids where others can still bid."""
OPENED: Final = FIRST_FREE + 1
"""1 + the square that it bid for last, while others could still bid; 0: it has seen what became of that."""

_KEEPS: Final = 5
"""Energy that it does not bid: some landings must be paid for."""
_WHOLE: Final = 1000
_MOST_OFF: Final = 800
_LOST_STEPS: Final = 4
"""A square that was lost counts as much as so many that were won."""
_NO_LAP_LEFT: Final = 0.3
"""Length of the rest of a race that may end at any moment, in laps."""


def choose(state: State, rules: Rules, seat: int, memory: Int16Array, options: Int64Array, draw: int) -> int:
    """Return the action that is worth most (see `agents.compiled.agent.Choose`)."""
    notice_last_bid(state, seat, memory, int(options[LEARNS]))
    phase = int(state.phase)
    if phase == EXCHANGE:
        return exchange(state, rules, seat)
    if phase == BID and not has_means(state, rules, seat):
        return PASS
    if phase not in (AWAY, ESCAPING, BID, MOVE) and int(state.off_board[seat]) > 0:
        return RETIRE
    stakes = stack_array(np.float64, SIZE_OF_STAKES)
    values, landings = stack_array(np.float64, SIZE), stack_array(np.float64, SIZE)
    laps = laps_left(state, rules, options)
    energy = worth_of_energy(laps, options)
    write_stakes(state, rules, seat, stakes, float(options[RACE]), options[POWER] / 100.0, energy)
    stakes[LAPS_LEFT], stakes[SAVED_PERCENT] = laps, options[SAVING]
    value_laps(state, rules, seat, stakes, values, landings, phase in (AWAY, ESCAPING))
    if phase == AWAY:
        return away(state, rules, seat, stakes, values)
    if phase == ESCAPING:
        return escape(state, rules, seat, stakes, values)
    if phase == BID:
        return bid(state, rules, seat, stakes, values, memory)
    square = least_square(state, rules, seat, stakes, values)
    return move_action(square) if phase == MOVE else retire_action(square)


# What is left of the race ----------------------------------------------------------------------------------


@rule
def laps_left(state: State, rules: Rules, options: Int64Array) -> float:
    """Estimate the laps left in the race, from the jerseys that the seat nearest to the win still needs."""
    return _NO_LAP_LEFT + least_missing(state, rules) * int(options[LAPS]) / 10.0


@rule
def worth_of_energy(laps: float, options: Int64Array) -> float:
    """Return the value of one energy with so many laps left: 1, or less if few are left to spend it in."""
    return min(1.0, laps * 10.0 / int(options[LATE]))


# What squares and servants are worth -----------------------------------------------------------------------


@rule
def worth_of_square(state: State, rules: Rules, stakes: Stakes, values: Values, square: int) -> float:
    """Return the value of holding the square for the rest of the race.

    In each lap the chance of a landing on it is 1 in 3.5. A landing saves the square's number, and takes the
    leader to the front from any place.
    """
    front, riders = 0.0, riders_left(state)
    for place in range(riders):
        ordinary = value_at(values, NEXT_LAP, square, 0) - value_at(values, NEXT_LAP, square, place)
        rainbow = value_at(values, NEXT_RAINBOW_LAP, square, 0) - value_at(
            values, NEXT_RAINBOW_LAP, square, place
        )
        front += ordinary + (rainbow - ordinary) * LANDINGS_PER_LAP
    saved = float(stakes[ENERGY]) * int(rules.square_number[square]) * float(stakes[SAVED_PERCENT]) / 100.0
    return float(stakes[LAPS_LEFT]) * LANDINGS_PER_LAP * (front / riders + saved)


@seldom
def least_square(state: State, rules: Rules, seat: int, stakes: Stakes, values: Values) -> int:
    """The seat's square that is worth least; NO_SQUARE: it holds none."""
    result, least = NO_SQUARE, 0.0
    for square in range(int(rules.length)):
        if int(state.owner[square]) == seat:
            worth = worth_of_square(state, rules, stakes, values, square)
            if result == NO_SQUARE or worth < least:
                result, least = square, worth
    return result


@rule
def worth_of_retirement(rules: Rules, stakes: Stakes) -> float:
    """Return the value of the energy that a retiring servant brings."""
    return float(stakes[ENERGY]) * int(rules.retirement_energy)


@rule
def price_of_servant(state: State, rules: Rules, seat: int, stakes: Stakes, values: Values) -> float:
    """Return the cost of placing a servant: his 15 energy, or the value of the square that he leaves."""
    if int(state.off_board[seat]) > 0:
        return worth_of_retirement(rules, stakes)
    least = least_square(state, rules, seat, stakes, values)
    return worth_of_square(state, rules, stakes, values, least)


@rule
def loss_by_retirement(state: State, rules: Rules, seat: int, stakes: Stakes, values: Values) -> float:
    """Return the loss if a servant retires: the excess of a square's value over the 15 energy, or nothing."""
    return max(0.0, price_of_servant(state, rules, seat, stakes, values) - worth_of_retirement(rules, stakes))


@rule
def retire_cheapest(state: State, rules: Rules, seat: int, stakes: Stakes, values: Values) -> int:
    """Retire a servant who is off the board, else the one whose square is worth least (003:194)."""
    if int(state.off_board[seat]) > 0:
        return RETIRE
    return retire_action(least_square(state, rules, seat, stakes, values))


# Bids ------------------------------------------------------------------------------------------------------


@seldom
def bid(state: State, rules: Rules, seat: int, stakes: Stakes, values: Values, memory: Int16Array) -> int:
    """Bid up to what the square is worth; with too little energy, let a servant retire, or pass."""
    square, highest = int(state.square), int(state.highest_bid)
    worth = worth_of_square(state, rules, stakes, values, square)
    worth -= price_of_servant(state, rules, seat, stakes, values)
    limit = int(worth / stakes[ENERGY] + surplus(state, rules, seat))
    spare = int(state.energy[seat]) - _KEEPS
    amount = opening_bid(state, seat, min(limit, spare), memory)
    if can_bid(state, rules, seat, amount):
        return bid_action(amount)
    if limit > highest >= spare and could_retire(state, rules, seat):
        return RETIRE
    return PASS


@rule
def surplus(state: State, rules: Rules, seat: int) -> float:
    """Energy that the supply at the line would take beyond 60, and that therefore costs nothing (003:158)."""
    if int(state.no_supply) == 1:
        return 0.0
    part = squares_to_the_line(state, rules) / int(rules.length)
    at_the_line = int(state.energy[seat]) - part * payments_of_a_lap(state, rules, seat)
    return max(0.0, at_the_line + int(rules.lap_supply) - int(rules.max_energy))


@rule
def has_means(state: State, rules: Rules, seat: int) -> bool:
    """Return True if the seat has the energy for a higher bid, or can get it."""
    spare = int(state.energy[seat]) - _KEEPS
    return spare > int(state.highest_bid) or could_retire(state, rules, seat)


@rule
def could_retire(state: State, rules: Rules, seat: int) -> bool:
    """Return True if a servant off the board can retire before the bid without any loss of energy."""
    fits = int(state.energy[seat]) + int(rules.retirement_energy) <= int(rules.max_energy)
    return fits and int(state.off_board[seat]) > 0 and can_retire_before_bid(state, rules, seat)


@rule
def opening_bid(state: State, seat: int, most: int, memory: Int16Array) -> int:
    """Return the bid for a square that is worth at most `most` energy.

    The last bidder bids one more than the others. If others are still to bid, the bid need not exceed their
    energy, and can be lower against seats that have passed on cheaper bids.
    """
    lowest, later = int(state.highest_bid) + 1, energy_of_later_bidders(state, seat)
    if later == 0:
        return min(most, lowest)
    enough = min(later, most * (_WHOLE - int(memory[OFF_PRICE])) // _WHOLE)
    amount = min(most, max(lowest, enough))
    if amount >= lowest:
        memory[OPENED] = int(state.square) + 1
    return amount


@rule
def notice_last_bid(state: State, seat: int, memory: Int16Array, step: int) -> None:
    """Lower or raise later bids, depending on the result of the last bid that others could outbid."""
    square = int(memory[OPENED]) - 1
    if square < 0 or (int(state.phase) in (BID, MOVE) and int(state.square) == square):
        return  # there was none, or its auction goes on
    memory[OPENED] = 0
    if int(state.owner[square]) == seat:
        memory[OFF_PRICE] = min(_MOST_OFF, int(memory[OFF_PRICE]) + step)
    elif int(state.owner[square]) != NO_SEAT:
        memory[OFF_PRICE] = max(0, int(memory[OFF_PRICE]) - _LOST_STEPS * step)


# Escapes ---------------------------------------------------------------------------------------------------


@seldom
def escape(state: State, rules: Rules, seat: int, stakes: Stakes, values: Values) -> int:
    """Escape, or ride further, if that is worth more than to stay; a servant may retire for it."""
    square, lead = int(state.square), int(state.lead) if is_away(state, seat) else 0
    stays = value_at(values, THIS_LAP, square, slot_of_lead(lead) if lead > 0 else 0)
    goes = further(rules, stakes, values, THIS_LAP, square, lead) - float(stakes[ENERGY]) * int(state.number)
    if can_escape(state, seat):
        return ESCAPE if goes > stays else STAY
    if servants_left(state, rules, seat) == 0:
        return STAY
    loss = loss_by_retirement(state, rules, seat, stakes, values)
    if goes - loss <= stays:
        return STAY
    return retire_cheapest(state, rules, seat, stakes, values)


@seldom
def away(state: State, rules: Rules, seat: int, stakes: Stakes, values: Values) -> int:
    """Pay for the lead, if that is worth more than the last place; a servant may retire for it."""
    square = int(state.square)
    gives_up = value_at(values, THIS_LAP, square, riders_left(state) - 1)
    keeps = value_at(values, THIS_LAP, square, slot_of_lead(int(state.lead)))  # the better one of both
    if int(state.energy[seat]) >= price_of_lead(state, rules):
        return PAY if keeps > gives_up else GIVE_UP
    loss = loss_by_retirement(state, rules, seat, stakes, values)
    if servants_left(state, rules, seat) == 0 or keeps - loss <= gives_up:
        return GIVE_UP
    return retire_cheapest(state, rules, seat, stakes, values)


class BidderAgent(CompiledAgent):
    """Bids what it expects of a square: by how often it will be landed on, in what is left of the race."""

    name = "bidder"
    game = "wielerspel"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        race: Annotated[int, Between(0, 10_000)] = 200,
        power: Annotated[int, Between(0, 1_000)] = 250,
        laps: Annotated[int, Between(0, 1_000)] = 70,
        late: Annotated[int, Between(1, 1_000)] = 90,
        saving: Annotated[int, Between(0, 1_000)] = 120,
        learns: Annotated[int, Between(0, 200)] = 150,
    ) -> None:
        """Nothing is drawn by chance.

        Args:
            table: the table to play at.
            seed: not used.
            race: the energy that it is worth to win the race.
            power: how steeply chances rise towards the win, in percent (`stakes`).
            laps: tenths of laps that it takes to win a rainbow jersey.
            late: tenths of laps; with fewer left, energy loses its worth.
            saving: what energy saved on a square counts, in percent: more than 100, because the others do
                not save it.
            learns: thousandths by which it lowers its bids with each square that it gets before others could
                bid more.
        """
        super().__init__(table, seed, (race, power, laps, late, saving, learns))
