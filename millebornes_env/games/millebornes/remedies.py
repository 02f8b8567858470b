"""Remedies: the conditions for laying them, and their effects."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.cards import END_OF_LIMIT, NO_CARD, ROLL, STOP, hazard_of, is_remedy
from millebornes_env.games.millebornes.deal import lay_on_tableau
from millebornes_env.games.millebornes.motion import is_cured_by_safety, is_limited, is_stopped_by_hazard
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import BY_ROLL, HAZARD_AGAIN, State


@rule
def can_play_remedy(state: State, rules: RulesRecord, team: int, remedy: int) -> bool:
    """Return True if the team may lay the remedy on its own piles now.

    Rule: 004:14, on the corresponding hazard; 004:15, End of Limit on a Speed Limit; 004:18 for Roll.
    Rulings: E26 and E27, never without the hazard that it answers, nor on one that a safety has cancelled.
    """
    if remedy == END_OF_LIMIT:
        return is_limited(state, team)
    if remedy == ROLL:
        return can_play_roll(state, rules, team)
    return int(state.battle[team]) == hazard_of(remedy) and is_stopped_by_hazard(state, team)


@rule
def can_play_roll(state: State, rules: RulesRecord, team: int) -> bool:
    """Return True if the team may lay a Roll now.

    Rule: 004:18, if a Stop or a remedy is showing, or if the battle area is empty.
    Ruling E25: only there, also with Right of Way; E22: on a hazard cancelled by a safety as on a remedy.
    Where a sheet asks for no Roll at the start or after a remedy, none can be laid there (E25).
    """
    top = int(state.battle[team])
    if top == NO_CARD:
        return rules.start_needs_roll == 1
    if top == STOP:
        return True
    if is_cured_by_safety(state, team):
        return rules.roll_after_safety == 1
    return is_remedy(top) and top != ROLL and rules.roll_after_remedy == 1


@rule
def play_remedy(state: State, team: int, remedy: int) -> None:
    """Lay the remedy on the battle pile, an End of Limit on the speed pile (004:7, 004:9)."""
    lay_on_tableau(state, team, remedy)
    if remedy == END_OF_LIMIT:
        state.speed[team] = remedy
        return
    state.battle[team] = remedy
    state.battle_below[team] = NO_CARD
    if remedy == ROLL or int(state.opening[team]) == HAZARD_AGAIN:
        state.opening[team] = BY_ROLL
