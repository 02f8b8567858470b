"""Compare the speed of the Gymnasium environments with built-in opponents with that of `vector_env`.

    python -m research.measurements.single_agent

Learners play at random. Everything runs on one thread, in turns; rates are per second of CPU time, so that
other processes have little effect, and medians of the repeats. Decisions of all seats count, including
opponents; in `vector_env` all are random, which costs only a random number.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import tyro

from millebornes_env import agents, vector_env
from millebornes_env.engine.action_sets import ints_for, write_set_of_mask
from millebornes_env.engine.numba.compiling import kernel
from millebornes_env.engine.sampling import sample_range
from research.tables import Table

ENV_ID = "millebornes_env:millebornes/MilleBornes-v0"


@dataclass
class Args:
    """Measure the environments of Gymnasium."""

    opponent: str = "greedy"
    """agent in the other seats"""
    num_envs: int = 1024
    """games in a batch"""
    steps: int = 300
    """steps of a batch in each measurement"""
    repeats: int = 7
    """repeats of each measurement; the median is reported"""


def of_vector_env(args: Args, *, asks: bool) -> Callable[[], int]:
    """Measure random decisions of `vector_env`; if it asks, with `act` for every second seat."""
    env = vector_env(args.num_envs, seed=1)
    agent: Any = agents.load(args.opponent, env)
    env.reset()
    seat, shown = np.arange(args.num_envs) % 2, env.games.buffers
    actions = np.zeros(args.num_envs, np.int64)

    def work() -> int:
        for _ in range(args.steps):
            env.sample_actions(actions)
            if asks:
                rows = np.flatnonzero(env.agent_selection != seat)
                actions[rows] = agent.act(shown.observation[rows], shown.action_mask[rows], slot_ids=rows)
            env.step(actions)
        return args.steps * args.num_envs

    return work


@kernel
def write_sets(masks: npt.NDArray[np.int8], legal: npt.NDArray[np.int64]) -> None:
    """Write the masks as sets."""
    for row in range(len(masks)):
        write_set_of_mask(masks[row], legal[row])


def of_make_vec(args: Args) -> Callable[[], int]:
    """Measure decisions of `gymnasium.make_vec`, of learners and opponents."""
    env: Any = gymnasium.make_vec(ENV_ID, num_envs=args.num_envs, opponent=args.opponent)
    infos = env.reset(seed=1)[1]
    actions = np.zeros(args.num_envs, np.int64)
    legal = np.zeros((args.num_envs, ints_for(env.single_action_space.n)), np.int64)
    choices, sampled = env.games.learners.each["choices"], 0

    def work() -> int:
        nonlocal infos, sampled
        decisions = 0
        for _ in range(args.steps):
            sampled += 1
            write_sets(infos["action_mask"], legal)
            sample_range(legal, actions, 0, args.num_envs, 1, 0, sampled)
            before = choices.copy()
            over, _, infos = env.step(actions)[2:]
            # Not counted: what opponents decided in an episode after the learner's last decision.
            decisions += args.num_envs + int(np.where(over, choices, choices - before).sum())
        return decisions

    return work


def of_make(args: Args) -> Callable[[], int]:
    """Measure the learner's steps in `gymnasium.make`, with its wrappers."""
    env: Any = gymnasium.make(ENV_ID, opponent=args.opponent)
    info = env.reset(seed=1)[1]

    def work() -> int:
        nonlocal info
        for _ in range(10 * args.steps):
            _, _, over, _, info = env.step(info["action_mask"].argmax())
            if over:
                _, info = env.reset()
        return 10 * args.steps

    return work


def measure(args: Args) -> dict[str, float]:
    """Return the median of each measurement, per second of CPU time."""
    works = {
        "vector_env, all at random: decisions": of_vector_env(args, asks=False),
        f"vector_env, {args.opponent} asked by act(): decisions": of_vector_env(args, asks=True),
        f"make_vec against {args.opponent}: decisions": of_make_vec(args),
        f"make against {args.opponent}: the learner's steps": of_make(args),
    }
    for work in works.values():
        work()  # compiles
    rates: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(args.repeats):
        for name, work in works.items():
            start = time.process_time()
            done = work()
            rates[name].append(done / (time.process_time() - start))
    return {name: statistics.median(result) for name, result in rates.items()}


def main() -> None:
    """Measure and print."""
    args = tyro.cli(Args, prog="python -m research.measurements.single_agent", description=__doc__)
    rates = measure(args)
    first = next(iter(rates.values()))
    rows = [
        (name, f"{rate:,.0f}", f"{rate / first:.2f}" if "decisions" in name else "")
        for name, rate in rates.items()
    ]
    Table(("measured", "per second", "of vector_env"), rows).print()


if __name__ == "__main__":
    main()
