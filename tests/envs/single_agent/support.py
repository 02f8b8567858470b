"""Agents and a naive opponent loop, for the tests of the single-agent environments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env import VectorEnv, agents, vector_env

PARKER = "millebornes_env:millebornes/MilleBornes-v0"
RACE = "millebornes_env:millebornes/Wielerspel-v0"


class Asked:
    """Plays as a compiled agent does, but is no compiled function: it must be asked."""

    def __init__(self, name: str, env: VectorEnv) -> None:
        self.name = f"asked {name}"
        self.has_memory = True
        self.rows: list[int] = []
        self._agent: Any = agents.load(name, env)

    def act(self, observations: Any, action_masks: Any, slot_ids: Any) -> Any:
        self.rows.append(len(observations))
        return self._agent.act(observations, action_masks, slot_ids=slot_ids)


class Lowest:
    """The lowest legal action, or what it is told to do instead."""

    name = "lowest"

    def __init__(self) -> None:
        self.answer: Any = None

    def act(self, observations: Any, action_masks: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        lowest = np.asarray(action_masks).argmax(axis=1)
        return lowest if self.answer is None else self.answer(lowest)


def table(**options: Any) -> VectorEnv:
    """Return a table to load agents for."""
    return vector_env(1, **options)


def first_legal(mask: npt.NDArray[np.int8]) -> int:
    return int(mask.argmax())


def any_legal(mask: npt.NDArray[np.int8], turn: int) -> int:
    """A legal action, another one each turn, the same in every run."""
    legal = np.flatnonzero(mask)
    return int(legal[(turn * 7919) % len(legal)])


class Turn(NamedTuple):
    """A decision of the learner, and what it led to."""

    observation: npt.NDArray[np.int8]
    mask: npt.NDArray[np.int8]
    seat: int
    reward: float
    over: bool


def naive(seed: int, opponents: list[str], turns: int, **options: Any) -> Iterator[Turn]:
    """The learner's turns in game 0 of a `vector_env`, everything done by hand, one play at a time.

    Args:
        seed: of the games.
        opponents: compiled agents that draw nothing by chance, one for each other seat, to the left.
        turns: so many of the learner's.
        **options: of the table.
    """
    env = vector_env(1, autoreset_mode="disabled", **options)
    others = [agents.load(name, env) for name in opponents]
    observations, _ = env.reset(seed=seed)
    episode, earned, before = 0, 0.0, None
    for _ in range(100_000):
        learner = episode % env.players
        seat = int(observations["agent_selection"][0])
        if seat == learner:
            if before is not None:
                yield Turn(*before, earned, False)
                turns -= 1
            if turns == 0:
                return
            earned = 0.0
            row, mask = observations["observation"][0].copy(), observations["action_mask"][0].copy()
            before = (row, mask, learner)
            action = any_legal(mask, turns)
        else:
            other: Any = others[(seat - learner) % env.players - 1]
            rows, masks = observations["observation"], observations["action_mask"]
            action = int(other.act(rows, masks, slot_ids=np.array([seat]))[0])
        observations, rewards, over, _, _ = env.step([action])
        earned += float(rewards[0, learner])
        if over[0]:
            if before is not None:
                yield Turn(*before, earned, True)
                turns -= 1
            episode, before, earned = episode + 1, None, 0.0
            for other in others:
                other.forget()
            observations, _ = env.reset()
            if turns == 0:
                return
