"""`escaper`: away whenever the tips of the rule text say that it pays.

* 003:186, to be away is a drawback while many effort squares are free, because the rider who is away bids
  first: it escapes when few are left.
* 003:192, when the pile of chance cards is thin and still holds the forced retirement, an escape is
  dangerous: it stays.
* 003:188, a longer lead costs more to keep: it rides further only while the lead is short.
* 003:190, to win by more than three minutes is hard: it tries only when the yellow die can take it there.
* 003:182, squares close before the line are worth most, and those with high numbers save energy: so it bids.
* 003:194 and 003:196: which servant retires, and when jerseys are exchanged.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.options import Between
from millebornes_env.agents.protocol import Table
from millebornes_env.agents.wielerspel.questions import (
    bid_up_to,
    cards_left_of_kind,
    exchange_move_or_retire,
    free_squares,
    is_away,
    squares_to_the_line,
)
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.actions import ESCAPE, GIVE_UP, MOST_ENERGY, PAY, STAY
from millebornes_env.games.wielerspel.chance_cards import cards_left
from millebornes_env.games.wielerspel.dice import FACES
from millebornes_env.games.wielerspel.escape import can_escape, price_of_lead
from millebornes_env.games.wielerspel.rules import MAX_DECK, MAX_INNER_TRACK, Rules
from millebornes_env.games.wielerspel.squares import FORCED_RETIREMENT, MAX_SQUARES
from millebornes_env.games.wielerspel.state import AWAY, BID, ESCAPING, State

# Its options.
FREE: Final = 0
THIN: Final = 1
LEAD: Final = 2
LINE: Final = 3
KEEPS: Final = 4


def choose(state: State, rules: Rules, seat: int, memory: Int16Array, options: Int64Array, draw: int) -> int:
    """Away, if that pays (see `agents.compiled.agent.Choose`)."""
    phase = int(state.phase)
    if phase == BID:
        return bid_up_to(state, rules, seat, most_to_bid(state, rules, seat, options))
    if phase == ESCAPING:
        return ESCAPE if can_escape(state, seat) and is_tempted(state, rules, seat, options) else STAY
    if phase == AWAY:
        return PAY if can_spare(state, seat, price_of_lead(state, rules), options) else GIVE_UP
    return exchange_move_or_retire(state, rules, seat)


@rule
def can_spare(state: State, seat: int, price: int, options: Int64Array) -> bool:
    """Return True if the seat can pay the price; in a rainbow lap it keeps nothing back."""
    keeps = 0 if int(state.rainbow_lap) == 1 else int(options[KEEPS])
    return int(state.energy[seat]) >= price + keeps


@rule
def is_tempted(state: State, rules: Rules, seat: int, options: Int64Array) -> bool:
    """Return True if the seat should escape, or extend its lead, if it can."""
    if is_away(state, seat) and int(state.lead) + FACES > rules.inner_track:
        return True  # 003:190, the end of the inner track is in reach
    if not can_spare(state, seat, int(state.number), options):
        return False
    if is_away(state, seat):
        return int(state.lead) < int(options[LEAD])
    return free_squares(state, rules) <= options[FREE] and not is_dangerous(state, rules, options)


@rule
def is_dangerous(state: State, rules: Rules, options: Int64Array) -> bool:
    """Return True if the forced retirement may be drawn soon (003:192)."""
    is_in_pile = cards_left_of_kind(state, rules, FORCED_RETIREMENT) > 0
    return is_in_pile and cards_left(state) <= options[THIN]


@rule
def most_to_bid(state: State, rules: Rules, seat: int, options: Int64Array) -> int:
    """Return the highest bid: the price of a landing, or more if a throw from the square reaches the line."""
    worth = int(rules.square_number[int(state.square)])
    if squares_to_the_line(state, rules) <= FACES:
        worth += int(options[LINE])
    return min(worth, int(state.energy[seat]) - int(options[KEEPS]))


class EscaperAgent(CompiledAgent):
    """Escapes whenever the tips of the rule text say that it pays."""

    name = "escaper"
    game = "wielerspel"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        free: Annotated[int, Between(0, MAX_SQUARES)] = 12,
        thin: Annotated[int, Between(0, MAX_DECK)] = 4,
        lead: Annotated[int, Between(1, MAX_INNER_TRACK)] = 6,
        line: Annotated[int, Between(0, MOST_ENERGY)] = 6,
        keeps: Annotated[int, Between(0, MOST_ENERGY)] = 10,
    ) -> None:
        """Nothing is drawn by chance.

        Args:
            table: the table to play at.
            seed: not used.
            free: it escapes when no more effort squares than these are free.
            thin: with so many chance cards left, the pile is thin.
            lead: in arrows of ten seconds; from it on it rides no further.
            line: what it bids more for a square from which a throw can reach the line.
            keeps: the energy that it keeps back outside of rainbow laps, and never bids.
        """
        super().__init__(table, seed, (free, thin, lead, line, keeps))
