"""`saver`: a tight purse. It never bids above a limit, and keeps its energy for the finish.

It buys what is cheap and keeps something in hand for what it may have to pay. It escapes only at the finish:
in a rainbow lap, when a jersey waits at the line; there it spends what it has. No servant retires before he
must.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.options import Between
from millebornes_env.agents.protocol import Table
from millebornes_env.agents.wielerspel.questions import (
    bid_up_to,
    exchange_move_or_retire,
    squares_to_the_line,
)
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.actions import ESCAPE, GIVE_UP, MOST_ENERGY, PAY, STAY
from millebornes_env.games.wielerspel.escape import can_escape, price_of_lead
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import MAX_SQUARES
from millebornes_env.games.wielerspel.state import AWAY, BID, ESCAPING, State

# Its options.
LIMIT: Final = 0
KEEPS: Final = 1
FINISH: Final = 2


def choose(state: State, rules: Rules, seat: int, memory: Int16Array, options: Int64Array, draw: int) -> int:
    """Return the action that saves most (see `agents.compiled.agent.Choose`)."""
    phase = int(state.phase)
    if phase == BID:
        spare = int(state.energy[seat]) - options[KEEPS]
        return bid_up_to(state, rules, seat, min(options[LIMIT], spare))
    if phase == ESCAPING:
        return ESCAPE if is_finish(state, rules, options) and can_escape(state, seat) else STAY
    if phase == AWAY:
        return PAY if can_pay(state, rules, seat, options) else GIVE_UP
    return exchange_move_or_retire(state, rules, seat)


@rule
def is_finish(state: State, rules: Rules, options: Int64Array) -> bool:
    """Return True if a rainbow jersey waits at the line, and the line is near."""
    return int(state.rainbow_lap) == 1 and squares_to_the_line(state, rules) <= options[FINISH]


@rule
def can_pay(state: State, rules: Rules, seat: int, options: Int64Array) -> bool:
    """Return True if the seat pays for its lead: at the finish with all its energy, else from its surplus."""
    keeps = 0 if is_finish(state, rules, options) else options[KEEPS]
    return int(state.energy[seat]) >= price_of_lead(state, rules) + keeps


class SaverAgent(CompiledAgent):
    """Never bids above a limit, and keeps its energy for the finish."""

    name = "saver"
    game = "wielerspel"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        limit: Annotated[int, Between(0, MOST_ENERGY)] = 6,
        keeps: Annotated[int, Between(0, MOST_ENERGY)] = 10,
        finish: Annotated[int, Between(0, MAX_SQUARES)] = 40,
    ) -> None:
        """Nothing is drawn by chance.

        Args:
            table: the table to play at.
            seed: not used.
            limit: the most that it bids.
            keeps: the energy that it does not bid, nor pay for a lead before the finish.
            finish: so many squares before the line the finish of a rainbow lap begins.
        """
        super().__init__(table, seed, (limit, keeps, finish))
