"""Replay of one game's actions, up to the first illegal one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import kernel
from millebornes_env.engine.rulebook import NEXT_ROUND
from millebornes_env.games.millebornes.legality import is_legal
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import NO_SEAT, ROUND_OVER, StateArray
from millebornes_env.games.millebornes.turn import start_next_round, step
from millebornes_env.games.millebornes.winning import is_match_over


@kernel
def play_until_refused(
    states: StateArray, rules: RulesRecord, actions: npt.NDArray[np.int64], seats: npt.NDArray[np.int32]
) -> int:
    """Apply the actions of one game up to the first illegal one.

    Args:
        states: `STATE[1]`, the game, changed in place.
        rules: the table's rules.
        actions: int64[K], action ids; NEXT_ROUND deals the next round of the match.
        seats: int32[K], overwritten with the seat of each action applied, NO_SEAT for a deal.

    Returns:
        The index of the first illegal action, or K.
    """
    state = states[0]
    for index in range(len(actions)):
        action = int(actions[index])
        if int(state.phase) == ROUND_OVER:
            if action != NEXT_ROUND or is_match_over(state, rules):
                return index
            seats[index] = NO_SEAT
            start_next_round(state, rules)
        else:
            if not is_legal(state, rules, action):
                return index
            seats[index] = int(state.seat)
            step(state, rules, action)
    return len(actions)
