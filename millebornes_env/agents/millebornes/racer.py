"""`racer`: foot down. Distance above all, the largest that fits; everything else is a delay.

It lays the longest distance that it can, and starts the car before it thinks of anybody else. It has no time
for others: it attacks who is about to win, or out of boredom when it has nothing to drive. Safeties it lays
as they come, because each gives another play at once. It throws away hazards before distances, and when the
short trip is done it calls for the long one, as long as there are cards to go on with.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.millebornes import preferences
from millebornes_env.agents.options import Between
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes import actions, cards, motion
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import EXTENSION, State

# Its options.
EXTENDS: Final = 0
CARDS_TO_EXTEND: Final = 1
NEAR: Final = 2

# What it likes best, from the top; distances by their km, hazards by the km of whom they stop.
TO_FINISH: Final = 90_000
TO_STOP_A_WINNER: Final = 80_000
TO_BE_FREE_AT_ONCE: Final = 70_000
TO_DRIVE: Final = 60_000
TO_GET_GOING: Final = 50_000
TO_LAY_A_SAFETY: Final = 40_000
TO_ATTACK: Final = 30_000
TO_DRIVE_ON_FASTER: Final = TO_DRIVE + 150  # rather lift the limit than lay a 25 or 50

# What it keeps in its hand: gives away the least of these first.
KEEPS_HAZARD: Final = 10
KEEPS_REMEDY: Final = 60
KEEPS_ROLL: Final = 160
KEEPS_SAFETY: Final = 10_000


def choose(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """Choose the fastest action (see `agents.compiled.agent.Choose`)."""
    if int(state.phase) == EXTENSION:
        is_bold = options[EXTENDS] == 1 and int(state.draw_pile) >= options[CARDS_TO_EXTEND]
        return actions.EXTEND if is_bold else actions.FINISH
    return preferences.claim_or_best_play(play_score, state, rules, seat, options)


@rule
def play_score(state: State, rules: RulesRecord, seat: int, action: int, options: Int64Array) -> int:
    """Return the score of a play or a discard."""
    team, card = motion.team_of(rules, seat), actions.card_of(action)
    if actions.is_discard(action):
        return -keep_score(state, rules, seat, card)
    if cards.is_distance(card):
        return TO_FINISH if preferences.fits(state, rules, team, card) else TO_DRIVE + cards.km_of(card)
    if cards.is_hazard(card):
        victim = actions.target_team(rules.teams, team, actions.opponent_of(action))
        return attack_score(state, rules, victim, card, options)
    if card == cards.END_OF_LIMIT:
        return TO_DRIVE_ON_FASTER if preferences.large_distances_held(state, rules, seat) > 0 else TO_ATTACK
    if cards.is_remedy(card):
        return TO_GET_GOING
    return TO_BE_FREE_AT_ONCE if preferences.cures(state, team, card) else TO_LAY_A_SAFETY


@rule
def attack_score(state: State, rules: RulesRecord, victim: int, hazard: int, options: Int64Array) -> int:
    """Return the score of an attack: teams about to win first, then the foremost."""
    if not cards.is_battle_hazard(hazard):
        return 0 if preferences.is_too_late_to_limit(state, victim) else TO_ATTACK
    is_near = preferences.km_to_go(state, victim) <= options[NEAR] and motion.is_moving(state, rules, victim)
    return (TO_STOP_A_WINNER if is_near else TO_ATTACK) + 1 + int(state.km[victim])


@rule
def keep_score(state: State, rules: RulesRecord, seat: int, card: int) -> int:
    """Return the score of keeping a card; longer distances have higher ones."""
    team = motion.team_of(rules, seat)
    if cards.is_distance(card):
        return 0 if preferences.is_useless_distance(state, rules, team, card) else cards.km_of(card)
    if cards.is_hazard(card):
        return KEEPS_HAZARD
    if cards.is_remedy(card):
        if preferences.has_in_reach(state, rules, seat, cards.safety_against(cards.hazard_of(card))):
            return 0
        keeps = KEEPS_ROLL if card == cards.ROLL else KEEPS_REMEDY
        return keeps // int(state.hand[seat, card])
    return KEEPS_SAFETY


class RacerAgent(CompiledAgent):
    """Distance above all; attacks only who is about to win, or when there is nothing to drive."""

    name = "racer"
    game = "millebornes"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        extends: bool = True,
        cards: Annotated[int, Between(0, 1_000)] = 45,
        near: Annotated[int, Between(0, 10_000)] = 200,
    ) -> None:
        """Nothing is drawn by chance.

        Args:
            table: the table to play at.
            seed: not used.
            extends: whether it ever calls an extension.
            cards: that must be left to draw for that.
            near: with so many km to go an opponent is about to win.
        """
        super().__init__(table, seed, (int(extends), cards, near))
