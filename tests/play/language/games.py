"""Views for tests: from random play at tables of every kind, and the rare decisions from positions."""

from __future__ import annotations

import functools

import numpy as np

from millebornes_env import editions, vector_env
from millebornes_env.games.millebornes.editions import edition
from millebornes_env.notation import read_position
from millebornes_env.play.language import View, see, situation

TABLES = [(name, *table) for name in editions() for table in edition(name).tables]
"""Every table of every edition: (edition, players, teams)."""

RARE = (
    "battle 1: roll\nhand 0: 25 ...\nhand 1: right_of_way 2x25\npending: stop by seat 0 against team 1",
    "battle 0: roll\ndistance 0: 2x200 3x100\nto act: seat 0, extension\nhand 0: 2x25\nhand 1: 2x50",
)
"""Positions at `parker` with the decisions that random play seldom comes to."""


def played(
    name: str, players: int, teams: int, seed: int, plays: int
) -> tuple[object, list[tuple[int, int]]]:
    """An environment after some plays, which did not end the round, and the plays."""
    env = vector_env(1, name, players=players, teams=teams, autoreset_mode="disabled")
    env.reset(seed=seed)
    history: list[tuple[int, int]] = []
    for _ in range(plays):
        before = env.get_states()
        action = env.sample_actions()
        history.append((int(env.agent_selection[0]), int(action[0])))
        if env.step(action)[2][0]:
            env.set_states(before)
            history.pop()
            break
    return env, history


@functools.cache
def views() -> tuple[View, ...]:
    """One of each table and stage of the game, and the rare ones."""
    rng = np.random.default_rng(1)
    result = []
    for name, players, teams in TABLES:
        for seed in range(2):
            env, history = played(name, players, teams, seed, int(rng.integers(5, 60)))
            result.append(see(situation(env), history))
    return (*result, *(see(read_position(text)) for text in RARE))
