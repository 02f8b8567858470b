"""`holder`: plays like `greedy` but keeps its safeties for coups fourrés until the draw pile runs low.

A safety that lifts the hazard now lying on the own pile is played at once; the others are laid when at most
`pile` cards are left to draw, because a safety still in hand at the end is worth nothing.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.millebornes.greedy import play_score
from millebornes_env.agents.millebornes.preferences import claim_or_best_play, cures
from millebornes_env.agents.options import Between
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.actions import card_of, is_discard
from millebornes_env.games.millebornes.cards import is_safety
from millebornes_env.games.millebornes.motion import team_of
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import State

# Its option.
PILE: Final = 0

CURE_SCORE: Final = 5500  # more than any distance, less than to finish
KEEPS: Final = -1
NEVER_DISCARD: Final = -2


def choose(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """Choose the action with the highest score (see `agents.compiled.agent.Choose`)."""
    return claim_or_best_play(patient_play_score, state, rules, seat, options)


@rule
def patient_play_score(state: State, rules: RulesRecord, seat: int, action: int, options: Int64Array) -> int:
    """Return `holder`'s score of an action: that of `greedy`, except for safeties."""
    card = card_of(action)
    if not is_safety(card):
        return play_score(state, rules, seat, action, options)
    if is_discard(action):
        return NEVER_DISCARD
    if cures(state, team_of(rules, seat), card):
        return CURE_SCORE
    waits = int(state.draw_pile) > int(options[PILE])
    return KEEPS if waits else play_score(state, rules, seat, action, options)


class HolderAgent(CompiledAgent):
    """`greedy` with patience for the coup fourré."""

    name = "holder"
    game = "millebornes"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(self, table: Table, seed: int = 0, pile: Annotated[int, Between(0, 1_000)] = 40) -> None:
        """Nothing is drawn by chance.

        Args:
            table: the table to play at.
            seed: not used.
            pile: safeties are laid when at most so many cards are left to draw.
        """
        super().__init__(table, seed, (pile,))
