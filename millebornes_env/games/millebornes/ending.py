"""Next turn, play without a draw pile, extension, and the dealer of the next round.

`turn.end_round` ends the round and scores it.
"""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.actions import around
from millebornes_env.games.millebornes.motion import team_of
from millebornes_env.games.millebornes.rules import PLAY_OUT, RulesRecord
from millebornes_env.games.millebornes.state import NO_SEAT, NO_TEAM, State


@rule
def next_seat(state: State, rules: RulesRecord, seat: int) -> int:
    """Return the seat whose turn follows that of `seat`, or NO_SEAT if the cards have run out.

    Rule: 004:5, turns go to the left; 004:35-37, with an empty draw pile until all hands are played out.
    Ruling E50: seats without cards are skipped.
    """
    if int(state.draw_pile) > 0:
        return around(seat + 1, rules.players)
    if not are_hands_played_out(state, rules):
        return NO_SEAT
    for steps in range(1, rules.players + 1):
        other = around(seat + steps, rules.players)
        if int(state.hand_count[other]) > 0:
            return other
    return NO_SEAT


@rule
def are_hands_played_out(state: State, rules: RulesRecord) -> bool:
    """Return True if play goes on when the draw pile is empty.

    Rule: 004:35-37 (yes); 000:219 (the round ends with the turn that took the last card).
    Ruling E34: 000:237 is the special rule for an extended round, in which all cards are played out.
    """
    if rules.when_pile_is_empty == PLAY_OUT:
        return True
    return rules.play_out_after_extension == 1 and int(state.extension_team) != NO_TEAM


@rule
def can_extend(state: State, rules: RulesRecord, seat: int) -> bool:
    """Return True if the seat may now demand to go on to the longer trip.

    Rule: US, rules for 2 or 3 players, C: who first reaches exactly the target, exactly at that time.
    Rulings: E44 (once in a round, before the next draw; not where the trip is long already), E45, E46. Where
    the finish need not be exact, who passes the target may demand it too, if the longer trip is not done yet.
    """
    if rules.extended_target == 0 or int(state.extension_team) != NO_TEAM:
        return False
    km = int(state.km[team_of(rules, seat)])
    return int(state.target) <= km < rules.extended_target


@rule
def play_extension(state: State, rules: RulesRecord, seat: int) -> None:
    """Go on to the longer trip, as though the round had always been for it (US C)."""
    state.extension_team = team_of(rules, seat)
    state.target = rules.extended_target


@rule
def next_dealer(state: State, rules: RulesRecord) -> int:
    """Return the dealer of the next round: the seat to the left (rules 1.1)."""
    return around(int(state.dealer) + 1, rules.players)
