"""Answers to the engine that suit many a game: one round, nothing hidden, at most one winner.

A rulebook of such a game imports them by name, and writes itself what is left of `Rulebook`: `NAME`, `STATE`,
`action_count`, `sections` (its `full_state_sections` is the same function), `start`, `step`, `is_legal`,
`write_mask`, `write_observation`, `final_score`, `action_name` and `reason_against`. docs/add_a_game.md has
one. Its record needs two fields more than the engine's own: `over`, 1 when nobody is to act, and `winner`, a
seat or `NO_TEAM`; its rules are a named tuple of ints.
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
"""Nothing is dealt anew; but no array may be empty."""


def rules_array(rules: Any) -> npt.NDArray[np.void]:
    """A named tuple of ints as an array of one record."""
    return np.array([tuple(rules)], [(name, np.int64) for name in rules._fields]).view(np.recarray)


def is_won_by_score(rules: Any) -> bool:
    """The rewards say who has won."""
    return False


@rule
def is_round_over(state: Any) -> bool:
    """Return True if the game is over."""
    return int(state.over) == 1


@rule
def is_episode_over(state: Any, rules: Any, episode: int) -> bool:
    """A game is a whole episode."""
    return True


@rule
def start_next_round(state: Any, rules: Any) -> None:
    """Never asked for: a game is one round."""


@rule
def break_off(state: Any) -> None:
    """End the game at once, without a winner."""
    state.over = 1
    state.winner = NO_TEAM


@rule
def write_hidden(state: Any, rules: Any, seat: int, spec: Any, row: Any, at: int) -> None:
    """Nothing is hidden."""


@rule
def redeal(state: Any, rules: Any, seat: int, key_0: int, key_1: int, room: Any) -> None:
    """Nothing is hidden, so the game can be no other one."""


@rule
def winner(state: Any, rules: Any, episode: int) -> int:
    """The seat that has won, or `NO_TEAM`."""
    return int(state.winner)


@rule
def win_share(state: Any, rules: Any, episode: int, team: int) -> float:
    """1 to the winner, 0 to the others, and to all where nobody has won."""
    return 1.0 if team == int(state.winner) else 0.0


@rule
def write_rewards(state: Any, rules: Any, episode: int, reward: int, over: bool, row: Any) -> None:
    """Write 1 to the winner and -1 shared by the others; nothing where nobody has won."""
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
