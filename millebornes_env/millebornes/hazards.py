"""Hazards: what may be laid against an opponent, and laying it."""

from __future__ import annotations

from millebornes_env.compile import rule
from millebornes_env.millebornes.cards import NO_CARD, SPEED_LIMIT, safety_against
from millebornes_env.millebornes.deal import lay_on_tableau
from millebornes_env.millebornes.editions import Rules
from millebornes_env.millebornes.motion import has_safety, is_limited, is_moving
from millebornes_env.millebornes.state import State


@rule
def can_attack(state: State, rules: Rules, team: int, hazard: int) -> bool:
    """Whether the hazard may be laid against the team now."""
    return can_hazard_land(state, team, hazard, can_be_attacked(state, rules, team))


@rule
def can_be_attacked(state: State, rules: Rules, team: int) -> bool:
    """Whether the team's battle pile is open to hazards.

    Rule: 004:16, on an opponent's Roll; 004:18, not unless the opponent is moving.
    Ruling E2: with Right of Way he moves, whatever shows. E1: in one edition a hazard may begin a pile.
    """
    if is_moving(state, rules, team):
        return True
    return rules.hazard_opens_pile == 1 and int(state.battle[team]) == NO_CARD


@rule
def can_hazard_land(state: State, team: int, hazard: int, battle_pile_is_open: bool) -> bool:
    """Whether this hazard may be laid against the team.

    Rule: 004:16, unless he has played the corresponding safety; 004:18, a Speed Limit needs no open pile.
    Ruling: no Speed Limit on a Speed Limit (rules 1.2, E28).
    """
    if has_safety(state, team, safety_against(hazard)):
        return False
    if hazard == SPEED_LIMIT:
        return not is_limited(state, team)
    return battle_pile_is_open


@rule
def play_hazard(state: State, team: int, hazard: int) -> None:
    """Lay the hazard on the team's battle pile, a Speed Limit on its speed pile (004:7, 004:9)."""
    lay_on_tableau(state, team, hazard)
    if hazard == SPEED_LIMIT:
        state.speed[team] = hazard
        return
    below = int(state.battle[team])
    state.battle_below[team] = below
    state.opened_by_hazard[team] = 1 if below == NO_CARD else 0
    state.battle[team] = hazard
