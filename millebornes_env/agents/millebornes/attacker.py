"""`attacker`: nobody passes. Hazards first, and the opponent who is most dangerous is hit first.

As long as anybody can be stopped it stops him; of its hazards it lays the one whose remedy is rarest among
the hidden cards. Its own car it starts and drives in between. Hazards are the last cards that it gives away:
it keeps them for the moment when somebody drives again, unless all opponents are safe from them. It wastes
no Speed Limit on a car that stands, nor on one that is nearly there.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.millebornes.preferences import (
    can_finish,
    cards_held_by,
    cards_unseen,
    claim_or_best_play,
    could_finish,
    cures,
    fits,
    has_in_reach,
    hazards_to_come,
    is_threatened,
    is_too_late_to_limit,
    is_useless_distance,
    unseen_copies,
)
from millebornes_env.agents.options import Between
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.actions import card_of, is_discard, opponent_of, target_team
from millebornes_env.games.millebornes.cards import (
    ROLL,
    SPEED_LIMIT,
    hazard_of,
    is_distance,
    is_hazard,
    is_remedy,
    km_of,
    remedy_for,
    safety_against,
)
from millebornes_env.games.millebornes.motion import has_safety, is_moving, team_of
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.scoring import safeties_laid
from millebornes_env.games.millebornes.state import State

# Its options.
RISK: Final = 0
PILE: Final = 1

# What it likes best, from the top.
TO_LAY_THE_LAST_SAFETIES: Final = 110_000
TO_FINISH: Final = 100_000
TO_BE_FREE_AT_ONCE: Final = 90_000
TO_ATTACK: Final = 80_000  # and on top how dangerous the victim is
TO_GET_GOING: Final = 60_000
TO_SLOW_DOWN: Final = 50_000
TO_DRIVE: Final = 40_000
TO_LAY_A_SAFETY: Final = 30_000
UNWILLING: Final = -400

# Who is dangerous.
WHO_COULD_FINISH: Final = 2000
EACH_SAFETY: Final = 100
RARITY: Final = 16  # copies of a remedy are fewer

# What it keeps in its hand: gives away the least of these first.
KEEPS_HAZARD: Final = 300
KEEPS_LIMIT: Final = 90
KEEPS_ROLL: Final = 220
KEEPS_REMEDY: Final = 45  # for each of its hazards that is hidden
KEEPS_SAFETY: Final = 10_000


def choose(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """Choose the action that hurts most (see `agents.compiled.agent.Choose`)."""
    return claim_or_best_play(play_score, state, rules, seat, options)


@rule
def play_score(state: State, rules: RulesRecord, seat: int, action: int, options: Int64Array) -> int:
    """Return the score of a play or a discard."""
    team, card = team_of(rules, seat), card_of(action)
    if is_discard(action):
        return -keep_score(state, rules, seat, card)
    if is_distance(card):
        return TO_FINISH if fits(state, rules, team, card) else TO_DRIVE + km_of(card)
    if is_hazard(card):
        victim = target_team(rules.teams, team, opponent_of(action))
        if is_too_risky(state, rules, seat, victim, card, options):
            return UNWILLING
        return attack_score(state, rules, seat, victim, card)
    if is_remedy(card):
        return TO_GET_GOING
    return safety_score(state, rules, seat, card, options)


# Attacking -------------------------------------------------------------------------------------------------


@rule
def attack_score(state: State, rules: RulesRecord, seat: int, victim: int, hazard: int) -> int:
    """The most dangerous victim first, then the hazard that is hardest to get rid of."""
    worst = danger(state, rules, seat, victim)
    if hazard != SPEED_LIMIT:
        return TO_ATTACK + RARITY * worst + RARITY - unseen_copies(state, seat, remedy_for(hazard))
    if is_too_late_to_limit(state, victim) or not is_moving(state, rules, victim):
        return UNWILLING
    return TO_SLOW_DOWN + worst


@rule
def danger(state: State, rules: RulesRecord, seat: int, victim: int) -> int:
    """Return an opponent's danger, in units of 25 km: its km, its safeties, and whether it could finish."""
    km = int(state.km[victim]) + EACH_SAFETY * safeties_laid(state, victim)
    if could_finish(state, rules, seat, victim):
        km += WHO_COULD_FINISH
    return km // 25


@rule
def is_too_risky(
    state: State, rules: RulesRecord, seat: int, victim: int, hazard: int, options: Int64Array
) -> bool:
    """Return True if the probability of a coup fourré exceeds the limit."""
    if unseen_copies(state, seat, safety_against(hazard)) == 0:
        return False
    return 100 * cards_held_by(state, rules, victim) > int(options[RISK]) * cards_unseen(state, rules, seat)


# The rest --------------------------------------------------------------------------------------------------


@rule
def safety_score(state: State, rules: RulesRecord, seat: int, safety: int, options: Int64Array) -> int:
    """At once if it frees the car; else kept as a trap, until the pile is low or the round about to end."""
    if cures(state, team_of(rules, seat), safety):
        return TO_BE_FREE_AT_ONCE
    if can_finish(state, rules, seat) or is_threatened(state, rules, seat):
        return TO_LAY_THE_LAST_SAFETIES
    if hazards_to_come(state, seat, safety) == 0 or int(state.draw_pile) <= options[PILE]:
        return TO_LAY_A_SAFETY
    return UNWILLING


@rule
def keep_score(state: State, rules: RulesRecord, seat: int, card: int) -> int:
    """Return the score of keeping a card; hazards have the highest."""
    if is_distance(card):
        team = team_of(rules, seat)
        return 0 if is_useless_distance(state, rules, team, card) else km_of(card) // 2
    if is_hazard(card):
        return hazard_keep_score(state, rules, seat, card)
    if is_remedy(card):
        if has_in_reach(state, rules, seat, safety_against(hazard_of(card))):
            return 0
        needed = KEEPS_ROLL if card == ROLL else KEEPS_REMEDY * unseen_copies(state, seat, hazard_of(card))
        return needed // int(state.hand[seat, card])
    return KEEPS_SAFETY


@rule
def hazard_keep_score(state: State, rules: RulesRecord, seat: int, hazard: int) -> int:
    """Nothing if no opponent can be hurt by it any more."""
    team = team_of(rules, seat)
    for other in range(rules.teams):
        if other == team or has_safety(state, other, safety_against(hazard)):
            continue
        if hazard != SPEED_LIMIT:
            return KEEPS_HAZARD
        if not is_too_late_to_limit(state, other):
            return KEEPS_LIMIT
    return 0


class AttackerAgent(CompiledAgent):
    """Hazards first, against the most dangerous opponent; keeps them for who drives."""

    name = "attacker"
    game = "millebornes"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        risk: Annotated[int, Between(0, 100)] = 100,
        pile: Annotated[int, Between(0, 1_000)] = 30,
    ) -> None:
        """Nothing is drawn by chance.

        Args:
            table: the table to play at.
            seed: not used.
            risk: it attacks if a coup fourré is at most so probable, in percent.
            pile: safeties are laid when at most so many cards are left to draw.
        """
        super().__init__(table, seed, (risk, pile))
