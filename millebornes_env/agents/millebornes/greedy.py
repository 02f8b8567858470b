"""`greedy`: finish > distance > remedy > hazard > safety > discard, the largest distance first.

It claims every coup fourré, never extends a trip, and when it must discard gives away what it is least likely
to need.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.millebornes.preferences import claim_or_best_play
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.actions import card_of, is_discard, num_actions
from millebornes_env.games.millebornes.cards import (
    NO_CARD,
    NUM_DISTANCES,
    Card,
    is_battle_hazard,
    is_distance,
    is_hazard,
    is_remedy,
    km_of,
)
from millebornes_env.games.millebornes.motion import team_of
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import MAX_TEAMS, State

# Each kind has a band of a thousand; within it, what a rule below adds.
FINISH_SCORE: Final = 6000
DISTANCES_SCORE: Final = 5000
REMEDIES_SCORE: Final = 4000
HAZARDS_SCORE: Final = 3000
SAFETIES_SCORE: Final = 2000
DISCARDS_SCORE: Final = 1000

DISCARD_FIRST: Final = (
    Card.DISTANCE_25,
    Card.END_OF_LIMIT,
    Card.DISTANCE_50,
    Card.SPEED_LIMIT,
    Card.DISTANCE_75,
    Card.REPAIRS,
    Card.GASOLINE,
    Card.SPARE_TIRE,
    Card.DISTANCE_100,
    Card.DISTANCE_200,
    Card.ACCIDENT,
    Card.OUT_OF_GAS,
    Card.FLAT_TIRE,
    Card.STOP,
    Card.ROLL,
    Card.DRIVING_ACE,
    Card.EXTRA_TANK,
    Card.PUNCTURE_PROOF,
    Card.RIGHT_OF_WAY,
)
"""The order in which cards are given away: what stops or starts a car is kept longest."""


def _usual_score(action: int) -> int:
    """Return the score of an action that does not complete the trip."""
    card = card_of(action)
    if card == NO_CARD:
        return 0
    if is_discard(action):
        return DISCARDS_SCORE - DISCARD_FIRST.index(Card(card))
    if is_distance(card):
        return DISTANCES_SCORE + km_of(card)
    if is_remedy(card):
        return REMEDIES_SCORE
    if is_hazard(card):  # a stopped car is worse than a slow one
        return HAZARDS_SCORE + 1 if is_battle_hazard(card) else HAZARDS_SCORE
    return SAFETIES_SCORE


USUAL_SCORES: Final = np.array([_usual_score(action) for action in range(num_actions(MAX_TEAMS))])
"""By action, looked up: the kind of a card is a branch that no processor can predict."""
USUAL_SCORES.setflags(write=False)


def choose(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """Choose the action with the highest score (see `agents.compiled.agent.Choose`)."""
    return claim_or_best_play(play_score, state, rules, seat, options)


@rule
def play_score(state: State, rules: RulesRecord, seat: int, action: int, options: Int64Array) -> int:
    """Return `greedy`'s score of an action: finish > distance > remedy > hazard > safety."""
    if action < NUM_DISTANCES and int(state.km[team_of(rules, seat)]) + km_of(action) == int(state.target):
        return FINISH_SCORE
    return int(USUAL_SCORES[action])


class GreedyAgent(CompiledAgent):
    """Finish > distance > remedy > hazard > safety > discard."""

    name = "greedy"
    game = "millebornes"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(self, table: Table, seed: int = 0) -> None:
        """Nothing is drawn by chance; `seed` is there because every agent takes one."""
        super().__init__(table, seed)
