"""`hoarder`: patience. Its hand is a store, and a safety laid in peace is a coup fourré given away.

It keeps every safety until it is attacked, even one that would lift the hazard on its pile, if a remedy in
hand does that as well. Only when at most `pile` cards are left to draw, or somebody threatens to finish, does
it lay them all. A Roll and a remedy for each hazard that may still come are its reserve, and what it gives
away it chooses with care, by counting what is still hidden.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.millebornes.preferences import (
    can_finish,
    claim_or_best_play,
    cures,
    fits,
    has_in_reach,
    hazards_to_come,
    is_threatened,
    is_too_late_to_limit,
    is_useless_distance,
    km_to_go,
    unseen_copies,
)
from millebornes_env.agents.options import Between
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.actions import card_of, is_discard, opponent_of, target_team
from millebornes_env.games.millebornes.cards import (
    END_OF_LIMIT,
    ROLL,
    SPEED_LIMIT,
    hazard_of,
    is_battle_hazard,
    is_distance,
    is_hazard,
    is_remedy,
    km_of,
    remedy_for,
    safety_against,
)
from millebornes_env.games.millebornes.motion import has_safety, is_limited, is_stopped_by_hazard, team_of
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import State

# Its options.
PILE: Final = 0
RESERVE: Final = 1

# What it likes best, from the top.
TO_SAVE_A_SAFETY: Final = 100_000
TO_FINISH: Final = 90_000
TO_BE_FREE: Final = 80_000
TO_BE_FREE_BY_SAFETY: Final = 70_000
TO_ATTACK: Final = 60_000
TO_DRIVE: Final = 50_000
UNWILLING: Final = -5_000

# What it keeps in its hand: gives away the least of these first.
KEEPS_ROLL: Final = 200
KEEPS_REMEDY: Final = 60  # for each of its hazards that is hidden
KEEPS_LIMIT_END: Final = 40
KEEPS_WHAT_IT_NEEDS_NOW: Final = 400
KEEPS_WHAT_FINISHES: Final = 300
KEEPS_HAZARD: Final = 40  # for each opponent that is not safe from it, the more the fewer its remedies are
KEEPS_SAFETY: Final = 10_000
MANY_COPIES: Final = 8


def choose(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """Choose the action that leaves the best supplied hand (see `agents.compiled.agent.Choose`)."""
    return claim_or_best_play(play_score, state, rules, seat, options)


@rule
def play_score(state: State, rules: RulesRecord, seat: int, action: int, options: Int64Array) -> int:
    """Return the score of a play or a discard."""
    team, card = team_of(rules, seat), card_of(action)
    if is_discard(action):
        return -keep_score(state, rules, seat, card, options)
    if is_distance(card):
        return TO_FINISH if fits(state, rules, team, card) else TO_DRIVE + km_of(card)
    if is_hazard(card):
        victim = target_team(rules.teams, team, opponent_of(action))
        return attack_score(state, seat, victim, card)
    if is_remedy(card):
        return TO_BE_FREE
    return safety_score(state, rules, seat, card, options)


@rule
def attack_score(state: State, seat: int, victim: int, hazard: int) -> int:
    """The foremost opponent first, and with the hazard whose remedies are fewest."""
    if hazard == SPEED_LIMIT and is_too_late_to_limit(state, victim):
        return UNWILLING
    rare = unseen_copies(state, seat, remedy_for(hazard))
    return TO_ATTACK + int(state.km[victim]) - rare - (MANY_COPIES if hazard == SPEED_LIMIT else 0)


# Safeties --------------------------------------------------------------------------------------------------


@rule
def safety_score(state: State, rules: RulesRecord, seat: int, safety: int, options: Int64Array) -> int:
    """Kept for the coup fourré, unless none can come any more, or too little time is left for it."""
    if can_finish(state, rules, seat) or is_threatened(state, rules, seat):
        return TO_SAVE_A_SAFETY
    if hazards_to_come(state, seat, safety) == 0 or int(state.draw_pile) <= options[PILE]:
        return TO_SAVE_A_SAFETY
    if cures(state, team_of(rules, seat), safety) and not has_remedy_at_hand(state, rules, seat, safety):
        return TO_BE_FREE_BY_SAFETY
    return UNWILLING


@rule
def has_remedy_at_hand(state: State, rules: RulesRecord, seat: int, safety: int) -> bool:
    """Return True if the hand holds a remedy for each hazard on the own piles that the safety answers."""
    team = team_of(rules, seat)
    top = int(state.battle[team])
    is_stopped = is_battle_hazard(top) and safety_against(top) == safety
    if is_stopped and int(state.hand[seat, remedy_for(top)]) == 0:
        return False
    if is_limited(state, team) and safety_against(SPEED_LIMIT) == safety:
        return int(state.hand[seat, END_OF_LIMIT]) > 0
    return True


# Giving away -----------------------------------------------------------------------------------------------


@rule
def keep_score(state: State, rules: RulesRecord, seat: int, card: int, options: Int64Array) -> int:
    """Return the score of keeping one copy of the card."""
    if is_distance(card):
        return distance_keep_score(state, rules, seat, card)
    if is_hazard(card):
        return hazard_keep_score(state, rules, seat, card)
    if is_remedy(card):
        score = remedy_keep_score(state, rules, seat, card)
        copies = int(state.hand[seat, card])
        return score if copies <= options[RESERVE] else score // (copies * copies)
    return KEEPS_SAFETY


@rule
def distance_keep_score(state: State, rules: RulesRecord, seat: int, card: int) -> int:
    """Nothing if it leads too far, much if it ends the trip."""
    team = team_of(rules, seat)
    if is_useless_distance(state, rules, team, card):
        return 0
    if km_of(card) == km_to_go(state, team):
        return KEEPS_WHAT_FINISHES
    return km_of(card) // 2


@rule
def hazard_keep_score(state: State, rules: RulesRecord, seat: int, hazard: int) -> int:
    """For each opponent whom it can still hurt; more, where few remedies for it are left."""
    team = team_of(rules, seat)
    rare = max(1, MANY_COPIES - unseen_copies(state, seat, remedy_for(hazard)))
    score = 0
    for other in range(rules.teams):
        if other == team or has_safety(state, other, safety_against(hazard)):
            continue
        if hazard != SPEED_LIMIT:
            score += KEEPS_HAZARD * min(rare, 2)
        elif not is_too_late_to_limit(state, other):
            score += KEEPS_HAZARD
    return score


@rule
def remedy_keep_score(state: State, rules: RulesRecord, seat: int, remedy: int) -> int:
    """By the hazards that may still come: none if a safety answers them, or if all have been seen."""
    team, hazard = team_of(rules, seat), hazard_of(remedy)
    if int(state.battle[team]) == hazard and is_stopped_by_hazard(state, team):
        return KEEPS_WHAT_IT_NEEDS_NOW
    if has_in_reach(state, rules, seat, safety_against(hazard)):
        return 0
    if remedy == ROLL:
        return KEEPS_ROLL
    if remedy == END_OF_LIMIT:
        if is_limited(state, team):
            return KEEPS_WHAT_IT_NEEDS_NOW
        return KEEPS_LIMIT_END * unseen_copies(state, seat, hazard)
    return KEEPS_REMEDY * unseen_copies(state, seat, hazard)


class HoarderAgent(CompiledAgent):
    """Keeps all safeties for coups fourrés, a reserve of remedies, and an eye on what is hidden."""

    name = "hoarder"
    game = "millebornes"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        pile: Annotated[int, Between(0, 1_000)] = 20,
        reserve: Annotated[int, Between(0, 1_000)] = 1,
    ) -> None:
        """Nothing is drawn by chance.

        Args:
            table: the table to play at.
            seed: not used.
            pile: safeties are laid when at most so many cards are left to draw.
            reserve: so many copies of each remedy are worth the same; further ones much less.
        """
        super().__init__(table, seed, (pile, reserve))
