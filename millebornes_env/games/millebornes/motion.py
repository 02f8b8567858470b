"""The definition of a moving team, on which hazards, remedies and distance cards all depend.

Ruling E1: "moving" is a matter of the top of the battle pile, of Right of Way, and of what the edition asks
for after a remedy. This one definition reproduces every edition.
"""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.actions import around
from millebornes_env.games.millebornes.cards import (
    DRIVING_ACE,
    NO_CARD,
    RIGHT_OF_WAY,
    ROLL,
    SPEED_LIMIT,
    is_battle_hazard,
    safety_against,
)
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import BY_HAZARD, State


@rule
def team_of(rules: RulesRecord, seat: int) -> int:
    """Return the team of a seat: teams alternate around the table, so partners sit opposite (rules 1.1)."""
    return around(seat, rules.teams)


@rule
def has_safety(state: State, team: int, safety: int) -> bool:
    """Return True if the team has laid that safety."""
    return int(state.tableau[team, safety]) > 0


@rule
def has_any_safety(state: State, team: int) -> bool:
    """Return True if the team has laid any safety."""
    for safety in range(DRIVING_ACE, RIGHT_OF_WAY + 1):
        if has_safety(state, team, safety):
            return True
    return False


@rule
def is_stopped_by_hazard(state: State, team: int) -> bool:
    """Return True if a hazard shows on the battle pile that no safety of the team has cancelled.

    Rule: 004:22, a safety corrects the corresponding hazard.
    """
    top = int(state.battle[team])
    return is_battle_hazard(top) and not has_safety(state, team, safety_against(top))


@rule
def is_cured_by_safety(state: State, team: int) -> bool:
    """Return True if the hazard that shows on the battle pile was cancelled by a safety.

    Ruling E22: such a hazard counts like a remedy: where `roll_after_safety` holds, a Roll is still needed.
    """
    top = int(state.battle[team])
    return is_battle_hazard(top) and has_safety(state, team, safety_against(top))


@rule
def is_moving(state: State, rules: RulesRecord, team: int) -> bool:
    """Return True if the team is rolling: it may lay distance cards, and be attacked.

    Rule: 004:13, a Roll must show; 004:20, after a remedy too; 004:22, after a safety too.
    Rule: 004:26, with Right of Way no Roll need show; other hazards still stop the team.
    Rulings: E1, E2, E4, E5, E24; E30 and E31 for the editions that start otherwise.
    """
    top = int(state.battle[team])
    if top == ROLL:
        return True
    if has_safety(state, team, RIGHT_OF_WAY):
        return not is_stopped_by_hazard(state, team)
    if top == NO_CARD:
        return is_moving_before_first_card(state, rules, team)
    if is_battle_hazard(top):
        return False
    if rules.roll_after_remedy == 0:
        return True
    return rules.opening_remedy_starts == 1 and int(state.opening[team]) == BY_HAZARD


@rule
def is_moving_before_first_card(state: State, rules: RulesRecord, team: int) -> bool:
    """Return True if a team with an empty battle pile moves.

    Rule: 004:13 (no); 001:11-12 (yes); E31 (in one edition, with any safety).
    """
    if rules.start_needs_roll == 0:
        return True
    return rules.any_safety_starts == 1 and has_any_safety(state, team)


@rule
def is_limited(state: State, team: int) -> bool:
    """Return True if the team's speed is limited: a Speed Limit shows.

    Rule: 004:24. Right of Way removes the card when it is laid and keeps others away (004:26).
    """
    return int(state.speed[team]) == SPEED_LIMIT
