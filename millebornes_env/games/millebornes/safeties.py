"""Safeties: playing one, and what it cures."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.cards import (
    END_OF_LIMIT,
    NO_CARD,
    RIGHT_OF_WAY,
    SPEED_LIMIT,
    STOP,
    is_battle_hazard,
    safety_against,
)
from millebornes_env.games.millebornes.deal import discard_from_tableau, lay_on_tableau
from millebornes_env.games.millebornes.motion import is_limited
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import BY_HAZARD, BY_ROLL, HAZARD_AGAIN, State


@rule
def play_safety(state: State, rules: RulesRecord, team: int, safety: int) -> None:
    """Lay the safety and let it cure what it protects from.

    Rule: 004:17, at any time in the turn; 004:22, it corrects the corresponding hazard.
    """
    lay_on_tableau(state, team, safety)
    if safety == RIGHT_OF_WAY:
        remove_stop_and_limit(state, team)
    elif rules.roll_after_safety == 0:
        remove_cured_hazard(state, team, safety)


@rule
def remove_stop_and_limit(state: State, team: int) -> None:
    """Discard a Stop and a Speed Limit that show: the effect of Right of Way.

    Rule: 004:26, any Stop or Speed Limit showing is removed to the discard pile. Rulings: E3, E6, E7.
    """
    if int(state.battle[team]) == STOP:
        uncover_battle_pile(state, team)
    if is_limited(state, team):
        discard_from_tableau(state, team, SPEED_LIMIT)
        # What the limit lay on: a pile that was ever freed of a limit has an End of Limit on it.
        state.speed[team] = END_OF_LIMIT if int(state.tableau[team, END_OF_LIMIT]) > 0 else NO_CARD


@rule
def remove_cured_hazard(state: State, team: int, safety: int) -> None:
    """Take the hazard that the safety has cured to the discard pile, so that what lay under it shows.

    Ruling E22: so in the editions that ask for no Roll after a safety; in the others the hazard stays where
    it is, cancelled, and a Roll is laid on it (`motion.is_cured_by_safety`).
    """
    top = int(state.battle[team])
    if is_battle_hazard(top) and safety_against(top) == safety:
        uncover_battle_pile(state, team)


@rule
def uncover_battle_pile(state: State, team: int) -> None:
    """Take the hazard on top of the battle pile to the discard pile: the position before it is restored."""
    discard_from_tableau(state, team, int(state.battle[team]))
    state.battle[team] = state.battle_below[team]
    state.battle_below[team] = NO_CARD
    state.opening[team] = BY_HAZARD if int(state.opening[team]) == HAZARD_AGAIN else BY_ROLL
