"""A rulebook for tests: a race with a die, in which each seat has a secret boost that it can use once.

Two to four seats; the first to reach the goal wins. In a turn a seat rolls the die or uses its boost.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from millebornes_env.engine.chance import random_below
from millebornes_env.engine.layout import Section
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.engine.open_game import (  # noqa: F401 - the rest of the rulebook
    REDEAL_ROOM,
    REWARDS,
    break_off,
    is_episode_over,
    is_round_over,
    rules_array,
    start_next_round,
    win_share,
    winner,
    write_rewards,
)
from millebornes_env.engine.rulebook import NO_TEAM

NAME: Final = "dice_race"
EPISODES: Final = ("race",)
MOST_SEATS: Final = 4
ROLL, BOOST = 0, 1

STATE: Final = np.dtype(
    [
        ("key", np.int64, (2,)),
        ("episode", np.int32),
        ("rolls", np.int32),
        ("km", np.int8, (MOST_SEATS,)),
        ("boost", np.int8, (MOST_SEATS,)),  # 1 to 3, or 0: used
        ("seat", np.int8),
        ("winner", np.int8),
        ("over", np.int8),
    ]
)


class Rules(NamedTuple):
    players: int
    teams: int
    goal: int = 20


class Spec(NamedTuple):
    boosts: int = 0


def action_count(rules: Rules, spec: Spec | None) -> int:
    return 2


def sections(rules: Rules, spec: Spec | None) -> tuple[Section, ...]:
    own = Section("boost", 0, 1, 3, "the own boost")
    return own, Section("km", 1, rules.players, 30, "from the own seat to the left")


def full_state_sections(rules: Rules, spec: Spec | None) -> tuple[Section, ...]:
    own, km = sections(rules, spec)
    return own, km, Section("boosts", km.stop, rules.players, 3, "of all seats")


def is_won_by_score(rules: Rules) -> bool:
    return True


@rule
def draw(state: Any, limit: int) -> int:
    state.rolls = int(state.rolls) + 1
    counter = int(state.episode) * 1000 + int(state.rolls)
    return 1 + random_below(int(state.key[0]), int(state.key[1]), counter, limit)


@rule
def start(state: Any, rules: Any) -> None:
    state.rolls = 0
    state.over = 0
    state.winner = NO_TEAM
    for seat in range(rules.players):
        state.km[seat] = 0
        state.boost[seat] = draw(state, 3)
    state.seat = draw(state, rules.players) - 1


@rule
def step(state: Any, rules: Any, action: int) -> None:
    seat = int(state.seat)
    if action == ROLL:
        far = draw(state, 6)
    else:
        far = 6 + int(state.boost[seat])
        state.boost[seat] = 0
    state.km[seat] = int(state.km[seat]) + far
    if int(state.km[seat]) >= rules.goal:
        state.winner = seat
        state.over = 1
    state.seat = (seat + 1) % rules.players


@rule
def is_legal(state: Any, rules: Any, action: int) -> bool:
    return action == ROLL or (action == BOOST and int(state.boost[int(state.seat)]) > 0)


@rule
def write_mask(state: Any, rules: Any, mask: Any) -> None:
    for action in range(2):
        mask[action] = 1 if int(state.over) == 0 and is_legal(state, rules, action) else 0


@rule
def write_observation(state: Any, rules: Any, seat: int, spec: Any, row: Any) -> None:
    row[0] = state.boost[seat]
    for place in range(rules.players):
        row[1 + place] = state.km[(seat + place) % rules.players]


@rule
def write_hidden(state: Any, rules: Any, seat: int, spec: Any, row: Any, at: int) -> None:
    for other in range(rules.players):
        row[at + other] = state.boost[other]


@rule
def redeal(state: Any, rules: Any, seat: int, key_0: int, key_1: int, scratch: Any) -> None:
    for other in range(rules.players):
        if other != seat and int(state.boost[other]) > 0:
            state.boost[other] = 1 + random_below(key_0, key_1, other, 3)


@rule
def final_score(state: Any, rules: Any, episode: int, team: int) -> int:
    return int(state.km[team])


def action_name(action: int, rules: Rules, seat: int | None) -> str:
    return ("roll", "use the boost")[action]


def reason_against(state: Any, rules: Rules, action: int) -> str:
    return "the boost has been used"
