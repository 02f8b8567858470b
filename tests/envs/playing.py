"""Helpers of this folder: tables, and a player that chooses from its observation alone."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.vector import AutoresetMode

from millebornes_env import Edition, VectorEnv, edition, millebornes_v0, vector_env
from millebornes_env.envs.aec import raw_env

TEAMS = {2: 2, 3: 3, 4: 2, 6: 3}
"""Seats at the tables of the parker edition, with the number of teams."""

MODES = ("same_step", "next_step", "disabled")
LIMIT = 20_000
"""Of steps in a loop that a broken rule could make endless."""

_WEIGHTS = np.random.default_rng(7).integers(1, 10_000, (200, 60))
_LIKING = np.where(np.isin(np.arange(60), np.arange(19, 38)), 0, 400)  # discards come last, but not always


def short_match(goal: int = 2500) -> Edition:
    """The parker edition with a goal that a few rounds reach."""
    return edition("parker").replace(goal=goal)


def choose(observations: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """A legal action for each row: a fixed function of the row, in whole numbers, so the same everywhere."""
    seen = observations["observation"].astype(np.int64)
    mask = observations["action_mask"]
    size, actions = seen.shape[1], mask.shape[1]
    scores = (seen @ _WEIGHTS[:size, :actions]) % 1009 + _LIKING[:actions]
    chosen: npt.NDArray[np.int64] = np.where(mask != 0, scores, -1).argmax(axis=1)
    return chosen


def begun(seed: int = 1, **options: Any) -> raw_env:
    """One game for PettingZoo that was reset."""
    env = millebornes_v0.env(**options)
    env.reset(seed=seed)
    return env


def choice(env: raw_env) -> int:
    """A legal action for the agent to act, by `choose`."""
    seen = env.observe(env.agent_selection)
    return int(choose({name: array[np.newaxis] for name, array in seen.items()})[0])


def started(num_envs: int = 4, seed: int = 1, steps: int = 0, **options: Any) -> VectorEnv:
    """An environment that was reset and stepped so often."""
    env = vector_env(num_envs, **options)
    observations, _ = env.reset(seed=seed)
    for _ in range(steps):
        observations = env.step(choose(observations)).observations
    return env


def look(env: VectorEnv) -> dict[str, npt.NDArray[Any]]:
    """The present observations: the environment's own arrays."""
    buffers = env.games.buffers
    return {
        "observation": buffers.observation,
        "action_mask": buffers.action_mask,
        "agent_selection": buffers.agent_selection,
    }


def rows(observations: Mapping[str, npt.NDArray[Any]], game: int) -> tuple[bytes, bytes, int]:
    """Return the observation of one game as values that can be compared and kept."""
    return (
        observations["observation"][game].tobytes(),
        observations["action_mask"][game].tobytes(),
        int(observations["agent_selection"][game]),
    )


def is_same_memory(array: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Return True if two arrays are the same view of the same memory."""
    return array.__array_interface__ == other.__array_interface__


def snapshot(env: VectorEnv) -> list[bytes]:
    """All of the environment that a step can change: the games and every buffer."""
    return [env.get_states().tobytes(), *(array.tobytes() for array in env.games.buffers)]


def refused(
    error: type[ValueError], words: list[str], call: Callable[..., Any], *args: Any, **kw: Any
) -> str:
    """Check that the call raises the error with all of the words; returns the message."""
    with pytest.raises(error) as caught:
        call(*args, **kw)
    assert type(caught.value) is error
    message = str(caught.value)
    for word in words:
        assert word in message, f"{word!r} is not in {message!r}"
    return message


@dataclass
class Episode:
    """The observations of one episode.

    Attributes:
        decisions: at each one the row shown (observation, mask, seat), the action and the rewards.
        final_obs: what each seat saw at the end.
        final_score: of each team.
        final_winner: team, or -1.
    """

    decisions: list[tuple[tuple[bytes, bytes, int], int, list[float]]] = field(default_factory=list)
    final_obs: bytes = b""
    final_score: list[int] = field(default_factory=list)
    final_winner: int = -2


def episodes(env: VectorEnv, count: int, seed: int = 1) -> list[list[Episode]]:
    """Play so many episodes in each game, restarting them as the environment's mode asks for."""
    mode = env.metadata["autoreset_mode"]
    observations, _ = env.reset(seed=seed)
    finished: list[list[Episode]] = [[] for _ in range(env.num_envs)]
    running = [Episode() for _ in range(env.num_envs)]
    begins = np.zeros(env.num_envs, np.bool_)  # NEXT_STEP: this step begins an episode
    for _ in range(LIMIT):
        actions = choose(observations)
        shown = [rows(observations, game) for game in range(env.num_envs)]
        observations, rewards, terminations, _, infos = env.step(actions)
        for game in np.flatnonzero(~begins):
            running[game].decisions.append((shown[game], int(actions[game]), rewards[game].tolist()))
            if terminations[game]:
                running[game].final_obs = infos["final_obs"][game].tobytes()
                running[game].final_score = infos["final_score"][game].tolist()
                running[game].final_winner = int(infos["final_winner"][game])
                finished[game].append(running[game])
                running[game] = Episode()
        if mode == AutoresetMode.NEXT_STEP:
            begins = terminations.copy()
        if mode == AutoresetMode.DISABLED and terminations.any():
            observations, _ = env.reset(options={"reset_mask": terminations})
        if min(map(len, finished)) >= count:
            return [played[:count] for played in finished]
    raise AssertionError("the episodes do not end")


def sb3(*given: Any, **options: Any) -> Any:
    """Make an `SB3VecEnv`; imported here, because it imports PyTorch, which would slow down collection."""
    return importlib.import_module("millebornes_env.envs.sb3").SB3VecEnv(*given, **options)
