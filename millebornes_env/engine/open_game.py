"""Default members of `Rulebook` for games of one round, with nothing hidden and at most one winner.

The rulebook of such a game imports these names and defines the others: `NAME`, `STATE`, `action_count`,
`sections` (`full_state_sections` is the same function), `start`, `step`, `is_legal`, `write_mask`,
`write_observation`, `final_score`, `action_name` and `reason_against`; docs/environment/extend.md has an
example.
Besides the engine's fields, its record needs `over`, 1 when no seat is to act, and `winner`, a seat or
`NO_TEAM`. Its rules are a named tuple of ints.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.engine.rewards import reward_of_share
from millebornes_env.engine.rulebook import NO_TEAM

EPISODES: Final = ("game",)
REWARDS: Final = ("win",)

REDEAL_ROOM: Final = 1
"""Nothing is redealt, but an array must not be empty."""


def rules_array(rules: Any) -> npt.NDArray[np.void]:
    """Return a named tuple of ints as an array of one record."""
    return np.array([tuple(rules)], [(name, np.int64) for name in rules._fields]).view(np.recarray)


def is_won_by_score(rules: Any) -> bool:
    """Return False: the highest reward wins."""
    return False


@rule
def is_round_over(state: Any) -> bool:
    """Return True if the game is over."""
    return int(state.over) == 1


@rule
def is_episode_over(state: Any, rules: Any, episode: int) -> bool:
    """Return True: an episode is one game."""
    return True


@rule
def start_next_round(state: Any, rules: Any) -> None:
    """Do nothing; never called, since a game is one round."""


@rule
def break_off(state: Any) -> None:
    """End the game without a winner."""
    state.over = 1
    state.winner = NO_TEAM


@rule
def write_hidden(state: Any, rules: Any, seat: int, spec: Any, row: Any, at: int) -> None:
    """Do nothing: no information is hidden."""


@rule
def redeal(state: Any, rules: Any, seat: int, key_0: int, key_1: int, scratch: Any) -> None:
    """Do nothing: no information is hidden."""


@rule
def winner(state: Any, rules: Any, episode: int) -> int:
    """Return the winning seat, or `NO_TEAM`."""
    return int(state.winner)


@rule
def win_share(state: Any, rules: Any, episode: int, team: int) -> float:
    """Return 1 for the winner and 0 for others; 0 for all without a winner."""
    return 1.0 if team == int(state.winner) else 0.0


@rule
def write_rewards(state: Any, rules: Any, episode: int, reward: int, over: bool, row: Any) -> None:
    """Write 1 for the winner and split -1 among the others; write nothing without a winner."""
    for seat in range(rules.players):
        if int(state.winner) != NO_TEAM:
            row[seat] = reward_of_share(win_share(state, rules, episode, seat), rules.players)


__all__ = [
    "EPISODES",
    "REDEAL_ROOM",
    "REWARDS",
    "break_off",
    "is_episode_over",
    "is_round_over",
    "is_won_by_score",
    "redeal",
    "rules_array",
    "start_next_round",
    "win_share",
    "winner",
    "write_hidden",
    "write_rewards",
]
