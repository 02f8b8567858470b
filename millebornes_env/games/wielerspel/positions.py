"""Working out the positions in the race (003:79-103)."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.escape import lose_lead, roll_yellow_die
from millebornes_env.games.wielerspel.peloton import (
    is_anybody_away,
    play_to_the_back,
    play_to_the_front,
    race_leader,
)
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import ESCAPE
from millebornes_env.games.wielerspel.state import NO_SEAT, State


@seldom
def work_out_positions(state: State, rules: Rules) -> int:
    """Move the leaders, and return the seat that may escape or ride further away now, or NO_SEAT.

    I, nobody is away. A, an unoccupied square: the first goes last (003:83). B, another team's square: its
    leader goes to the front and may escape (003:87). C, the own square or an escape square: the first may
    escape (003:90).
    II, a rider is away. A: he loses 10 seconds (003:95). 2, another team's square: its leader goes to the
    front of the peloton, and the rider loses what the yellow die shows (003:99). 3, his own square or an
    escape square: he may ride further away (003:103, 003:188).
    Ruling W6: where the race leader has just left the race, the next rider counts as the leader; what differs
    then is in `pass_unoccupied_square`.
    """
    leader = race_leader(state)
    if int(state.kind) == ESCAPE or int(state.holder) == leader:
        return leader
    if int(state.holder) == NO_SEAT:
        pass_unoccupied_square(state, rules, leader)
        return NO_SEAT
    holder = int(state.holder)
    play_to_the_front(state, holder)
    if is_anybody_away(state):
        lose_lead(state, rules, roll_yellow_die(state))
        return NO_SEAT
    return holder


@rule
def pass_unoccupied_square(state: State, rules: Rules, leader: int) -> None:
    """Let the race leader lose his place, or 10 seconds of his lead (003:83, 003:95).

    Ruling W19: "unoccupied" is every square that is neither an escape square nor held by a servant.
    Ruling W6: if the race leader has just left the race, nobody else is moved back.
    """
    if int(state.out[int(state.roller)]) == 1:
        return
    if is_anybody_away(state):
        lose_lead(state, rules, 1)
    else:
        play_to_the_back(state, leader)
