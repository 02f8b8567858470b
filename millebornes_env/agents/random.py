"""`random`: any legal action, all equally probable."""

from __future__ import annotations

from typing import ClassVar, Final

from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.compiled.preferences import first_in, legal_actions, size_of
from millebornes_env.agents.protocol import Table
from millebornes_env.compile import rule
from millebornes_env.millebornes.rules import RulesRecord
from millebornes_env.millebornes.state import State

_BITS_OF_A_DRAW: Final = 32


def choose(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """Any legal action (see `agents.compiled.agent.Choose`)."""
    legal = legal_actions(state, rules, seat)
    return nth_of(legal, (draw * size_of(legal)) >> _BITS_OF_A_DRAW)


@rule
def nth_of(actions: int, number: int) -> int:
    """The action of a set that has so many of the set before it."""
    for _ in range(number):
        actions &= actions - 1
    return first_in(actions, 0)


class RandomAgent(CompiledAgent):
    """Any legal action, all equally probable."""

    name = "random"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(self, table: Table, seed: int = 0) -> None:
        """The choices are a function of the seed and of the calls made."""
        super().__init__(table, seed)
