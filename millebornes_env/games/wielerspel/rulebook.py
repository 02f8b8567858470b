"""The race for the engine: the functions of `engine.rulebook.Rulebook`, implemented by the chapters.

An episode is one race, and a race is one round; rewards are paid at the end. Only this module and
`observation.py` use terms of reinforcement learning; the chapters do not.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.engine.rewards import reward_of_share
from millebornes_env.games.wielerspel import actions
from millebornes_env.games.wielerspel.determinize import redeal_hidden
from millebornes_env.games.wielerspel.legality import is_legal, write_mask
from millebornes_env.games.wielerspel.observation import (
    OBSERVATION_VERSION,
    write_cards_to_come,
    write_observation,
)
from millebornes_env.games.wielerspel.reasons import reason_against
from millebornes_env.games.wielerspel.rules import Rules, rules_array
from millebornes_env.games.wielerspel.sections import ObservationSpec, full_state_sections, sections
from millebornes_env.games.wielerspel.state import BROKEN_OFF, NO_SEAT, RACE_OVER, RAINBOW, STATE, State
from millebornes_env.games.wielerspel.turn import start_race, step
from millebornes_env.games.wielerspel.winning import combativity_points, end_race, has_won, race_winner

NAME: Final = "wielerspel"

EPISODES: Final = ("race",)
REWARDS: Final = ("win",)

REDEAL_ROOM: Final = 1
"""The cards are shuffled in place, but an array must not be empty."""

start = start_race
write_hidden = write_cards_to_come
redeal = redeal_hidden


@rule
def is_round_over(state: State) -> bool:
    """Return True if the race is over: no seat has to act."""
    return int(state.phase) == RACE_OVER


@rule
def is_episode_over(state: State, rules: Rules, episode: int) -> bool:
    """Return True: an episode is one race."""
    return True


@rule
def start_next_round(state: State, rules: Rules) -> None:
    """Do nothing; never called, since a race is one round."""


@rule
def break_off(state: State) -> None:
    """End the race in its current state, without a winner."""
    end_race(state, NO_SEAT, BROKEN_OFF)


def was_broken_off(state: State, rules: Rules) -> bool:
    """Return True if the race was broken off."""
    return int(state.phase) == RACE_OVER and int(state.ending) == BROKEN_OFF


@seldom
def write_rewards(
    state: State, rules: Rules, episode: int, reward: int, over: bool, row: npt.NDArray[np.float32]
) -> None:
    """Write the reward of each seat for a finished race, by its share of the win."""
    for seat in range(rules.players):
        row[seat] = reward_of_share(win_share(state, rules, episode, seat), rules.players)


@rule
def win_share(state: State, rules: Rules, episode: int, team: int) -> float:
    """Return the seat's share of the win of the finished race: 1, 1 / k if k seats share it, or 0."""
    if not has_won(state, rules, team):
        return 0.0
    winners = 0
    for other in range(rules.players):
        winners += 1 if has_won(state, rules, other) else 0
    return 1.0 / winners


@rule
def winner(state: State, rules: Rules, episode: int) -> int:
    """Return the seat that won the race alone, or NO_SEAT."""
    return race_winner(state, rules)


@rule
def final_score(state: State, rules: Rules, episode: int, team: int) -> int:
    """Return the seat's points for combativity if they decide the race, else its rainbow jerseys."""
    if rules.combativity == 1:
        return combativity_points(state, rules, team)
    return int(state.jerseys[team, RAINBOW])


def is_won_by_score(rules: Rules) -> bool:
    """Return False: the inner track wins without jerseys, and equal rainbow jerseys need not be a draw."""
    return False


def action_count(rules: Rules, spec: ObservationSpec | None) -> int:
    """Return the length of a mask, the same at every table."""
    return actions.NUM_ACTIONS


def action_name(action: int, rules: Rules, seat: int | None) -> str:
    """Name the action in words, the same for all seats."""
    return actions.action_name(action)


__all__ = [
    "EPISODES",
    "NAME",
    "OBSERVATION_VERSION",
    "REDEAL_ROOM",
    "REWARDS",
    "STATE",
    "ObservationSpec",
    "action_count",
    "action_name",
    "break_off",
    "final_score",
    "full_state_sections",
    "is_episode_over",
    "is_legal",
    "is_round_over",
    "is_won_by_score",
    "reason_against",
    "redeal",
    "rules_array",
    "sections",
    "start",
    "start_next_round",
    "step",
    "was_broken_off",
    "win_share",
    "winner",
    "write_hidden",
    "write_mask",
    "write_observation",
    "write_rewards",
]
