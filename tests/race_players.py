"""Players for tests of the race: by chance, but not so wild that every race ends in exhaustion."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.actions import NUM_ACTIONS, PASS, RETIRE, bid_of, is_retirement
from millebornes_env.games.wielerspel.rules import Rules, rules_array
from millebornes_env.games.wielerspel.state import STATE

CHEAP = 8
"""The most that sober players add to the highest bid."""

start = plain(rulebook.start)
step = plain(rulebook.step)
write_mask = plain(rulebook.write_mask)
is_over = plain(rulebook.is_round_over)


def new_race(rules: Rules, seed: int) -> Any:
    """Return a race that has just begun: a record of `STATE`."""
    state = np.zeros(1, STATE).view(np.recarray)[0]
    state.key[:] = (seed, seed + 1)
    start(state, rules_array(rules)[0])
    return state


def legal_actions(state: Any, record: Any) -> list[int]:
    mask: npt.NDArray[np.int8] = np.zeros(NUM_ACTIONS, np.int8)
    write_mask(state, record, mask)
    return [int(action) for action in np.flatnonzero(mask)]


def wild(state: Any, legal: list[int], rng: random.Random) -> int:
    """Choose any legal action."""
    return rng.choice(legal)


def sober(state: Any, legal: list[int], rng: random.Random) -> int:
    """Bid little, retire no servant without need, and those beside the board first."""
    kept = [
        action
        for action in legal
        if not is_retirement(action) and bid_of(action) <= int(state.highest_bid) + CHEAP
    ]
    if PASS in kept and rng.random() < 0.5:
        return PASS
    if not kept:
        return RETIRE if RETIRE in legal else rng.choice(legal)
    return rng.choice(kept)


def decisions(rules: Rules, seed: int, player: Any = wild, most: int = 10**6) -> Iterator[tuple[Any, int]]:
    """Play a race: each position with the action that is about to be carried out; last the end, with -1."""
    record, rng = rules_array(rules)[0], random.Random(seed)
    state = new_race(rules, seed)
    for _ in range(most):
        if is_over(state):
            break
        action = player(state, legal_actions(state, record), rng)
        yield state, action
        step(state, record, action)
    yield state, -1
