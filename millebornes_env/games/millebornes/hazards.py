"""Hazards: the conditions for laying them against an opponent, and their effects."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.cards import NO_CARD, RIGHT_OF_WAY, ROLL, SPEED_LIMIT, safety_against
from millebornes_env.games.millebornes.deal import lay_on_tableau
from millebornes_env.games.millebornes.motion import has_safety, is_limited, is_moving, is_stopped_by_hazard
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import BY_HAZARD, HAZARD_AGAIN, State


@rule
def can_attack(state: State, rules: RulesRecord, team: int, hazard: int) -> bool:
    """Return True if the hazard may be laid against the team now."""
    return can_hazard_land(state, rules, team, hazard, can_be_attacked(state, rules, team))


@rule
def can_be_attacked(state: State, rules: RulesRecord, team: int) -> bool:
    """Return True if the team's battle pile is open to hazards.

    Rule: 004:16, on an opponent's Roll; 004:18, not unless the opponent is moving.
    Rule: 002:147, where the sheet says so, on an opponent's empty pile.
    Ruling E2: with Right of Way he moves, whatever shows.
    """
    if int(state.battle[team]) == NO_CARD and rules.hazard_opens_pile == 1:
        return True
    return is_moving(state, rules, team) and not is_safe_without_roll(state, rules, team)


@rule
def is_safe_without_roll(state: State, rules: RulesRecord, team: int) -> bool:
    """Return True if a moving team is safe because neither a Roll shows nor Right of Way is out.

    Ruling E55: only where the sentence "on a Feu Vert" is taken literally.
    """
    if rules.attack_needs_roll == 0:
        return False
    return int(state.battle[team]) != ROLL and not has_safety(state, team, RIGHT_OF_WAY)


@rule
def can_hazard_land(
    state: State, rules: RulesRecord, team: int, hazard: int, battle_pile_is_open: bool
) -> bool:
    """Return True if this hazard may be laid against the team.

    Rule: 004:16, unless he has played the corresponding safety; 004:18, a Speed Limit needs no open pile.
    Ruling: no Speed Limit on a Speed Limit (rules 1.2, E28). E29: where all hazards share one pile, none on
    another.
    """
    if has_safety(state, team, safety_against(hazard)):
        return False
    if hazard == SPEED_LIMIT:
        if rules.one_hazard_at_a_time == 1 and is_stopped_by_hazard(state, team):
            return False
        return not is_limited(state, team)
    if rules.one_hazard_at_a_time == 1 and is_limited(state, team):
        return False
    return battle_pile_is_open


@rule
def play_hazard(state: State, team: int, hazard: int) -> None:
    """Lay the hazard on the team's battle pile, a Speed Limit on its speed pile (004:7, 004:9)."""
    lay_on_tableau(state, team, hazard)
    if hazard == SPEED_LIMIT:
        state.speed[team] = hazard
        return
    below = int(state.battle[team])
    if below == NO_CARD:
        state.opening[team] = BY_HAZARD
    elif int(state.opening[team]) == BY_HAZARD:
        state.opening[team] = HAZARD_AGAIN
    state.battle_below[team] = below
    state.battle[team] = hazard
