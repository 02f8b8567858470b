"""Coup fourré: a hazard parried with its safety, out of turn.

Rule: US, "Coup fourré": at once, before anybody draws; the hazard goes to the discard pile and the
situation before it is restored; 300 points on top of the safety's 100; one card drawn to refill and one for
the turn that follows; then play goes on to the left, and those between lose their turn (rules 1.3).
"""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.cards import DRIVING_ACE, NO_CARD, safety_against
from millebornes_env.games.millebornes.deal import discard, draw_card, take_from_hand
from millebornes_env.games.millebornes.hazards import play_hazard
from millebornes_env.games.millebornes.motion import team_of
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.safeties import play_safety
from millebornes_env.games.millebornes.state import NO_SEAT, NO_TEAM, State


@rule
def seat_that_can_claim(state: State, rules: RulesRecord, team: int, hazard: int) -> int:
    """Return the seat of the attacked team that holds the safety against the hazard, or NO_SEAT.

    Rulings: E11, any member of the side may answer, and there is only one card of each safety; E13, nobody
    is asked who does not hold it; E62, only the attacked side may answer.
    """
    safety = safety_against(hazard)
    for seat in range(team, rules.players, rules.teams):
        if int(state.hand[seat, safety]) > 0:
            return seat
    return NO_SEAT


@rule
def can_claim(state: State, rules: RulesRecord, seat: int) -> bool:
    """Return True if the seat may answer the hazard that was just laid."""
    hazard = int(state.pending_hazard)
    if hazard == NO_CARD or team_of(rules, seat) != int(state.pending_team):
        return False
    return int(state.hand[seat, safety_against(hazard)]) > 0


@rule
def open_claim(state: State, seat: int, team: int, hazard: int) -> None:
    """Hold the hazard back, on no pile, until the team that it was laid against has answered."""
    state.pending_hazard = hazard
    state.pending_team = team
    state.attacker = seat


@rule
def close_claim(state: State) -> None:
    """Clear the pending hazard."""
    state.pending_hazard = NO_CARD
    state.pending_team = NO_TEAM
    state.attacker = NO_SEAT


@rule
def drop_pending_hazard(state: State) -> None:
    """Put a hazard that still waits for an answer on the discard pile: the round ends without one."""
    if int(state.pending_hazard) != NO_CARD:
        discard(state, int(state.pending_hazard))
        close_claim(state)


@rule
def play_claim(state: State, rules: RulesRecord, seat: int) -> None:
    """Parry: the hazard to the discard pile, the safety to the tableau, two cards drawn.

    Rulings: E7 (Right of Way takes what else it cures along; one bonus), E10 (the position before the
    hazard is restored: it never came to lie on a pile), E14 (draw what there is).
    """
    hazard, team = int(state.pending_hazard), int(state.pending_team)
    safety = safety_against(hazard)
    close_claim(state)
    discard(state, hazard)
    take_from_hand(state, seat, safety)
    play_safety(state, rules, team, safety)
    state.coup_fourre[team, safety - DRIVING_ACE] = 1
    draw_card(state, rules, seat)
    draw_card(state, rules, seat)


@rule
def play_pass(state: State) -> None:
    """Let the hazard stand: it is laid on its pile (E12: the safety may still be played later, for 100)."""
    hazard, team = int(state.pending_hazard), int(state.pending_team)
    close_claim(state)
    play_hazard(state, team, hazard)
