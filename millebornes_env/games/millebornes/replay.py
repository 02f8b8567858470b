"""A game from its plays: carried out one after the other, up to the first that the rules do not allow."""

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
    """Carry out the actions of one game as long as the rules allow them.

    Args:
        states: `STATE[1]`, the game; it stands before the refused action afterwards, or at the end.
        rules: the table's rules.
        actions: int64[K], ids of actions; NEXT_ROUND deals the next round of the match.
        seats: int32[K], overwritten as far as the game gets: who played, NO_SEAT where a round was dealt.

    Returns:
        The place of the first action that the rules do not allow, or K.
    """
    state = states[0]
    for place in range(len(actions)):
        action = int(actions[place])
        if int(state.phase) == ROUND_OVER:
            if action != NEXT_ROUND or is_match_over(state, rules):
                return place
            seats[place] = NO_SEAT
            start_next_round(state, rules)
        else:
            if not is_legal(state, rules, action):
                return place
            seats[place] = int(state.seat)
            step(state, rules, action)
    return len(actions)
