"""Compare the speed of the Gymnasium environments, whose other seats are played by agents, with `vector_env`.

    python -m research.measurements.single_agent

Learners play at random. Everything runs on one thread; rates are per second of CPU time, so that other work
of the machine counts little, in turns, medians of the repeats. A decision is one of any seat, an opponent's
too; `vector_env`'s are all at random, which costs nothing but the draw.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from millebornes_env import agents, vector_env
from millebornes_env.engine.sampling import sample_range

ENV_ID = "millebornes_env:millebornes/MilleBornes-v0"


@dataclass
class Args:
    """Measure the environments of Gymnasium."""

    opponent: str = "greedy"
    """who plays the other seats"""
    num_envs: int = 1024
    """games in a batch"""
    steps: int = 300
    """of a batch in each measurement"""
    repeats: int = 7
    """of each measurement; the median counts"""


def rate_of(work: Callable[[], int]) -> float:
    """Return the result of the work per second of CPU time."""
    start = time.process_time()
    done = work()
    return done / (time.process_time() - start)


def of_vector_env(args: Args) -> Callable[[], int]:
    """Decisions of `vector_env`, all at random."""
    env = vector_env(args.num_envs, seed=1)
    env.reset()
    actions = np.zeros(args.num_envs, np.int64)

    def work() -> int:
        for _ in range(args.steps):
            env.step(env.sample_actions(actions))
        return args.steps * args.num_envs

    return work


def of_vector_env_asked(args: Args) -> Callable[[], int]:
    """Decisions of `vector_env`, every second seat asked by `act` in a loop of the caller's."""
    env = vector_env(args.num_envs, seed=1)
    agent = agents.load(args.opponent, env)
    env.reset()
    seat, shown = np.arange(args.num_envs) % 2, env.games.buffers

    def work() -> int:
        for _ in range(args.steps):
            actions = env.sample_actions()
            rows = np.flatnonzero(env.agent_selection != seat)
            asked: Any = agent
            actions[rows] = asked.act(shown.observation[rows], shown.action_mask[rows], slot_ids=rows)
            env.step(actions)
        return args.steps * args.num_envs

    return work


def of_make_vec(args: Args) -> Callable[[], int]:
    """Decisions of `gymnasium.make_vec`, learners' and opponents'."""
    env: Any = gymnasium.make_vec(ENV_ID, num_envs=args.num_envs, opponent=args.opponent)
    infos = env.reset(seed=1)[1]
    actions = np.zeros(args.num_envs, np.int64)
    scratch = np.zeros(env.single_action_space.n + 1, np.int64)
    choices, sampled = env.games.learners.each["choices"], 0

    def work() -> int:
        nonlocal infos, sampled
        decisions = 0
        for _ in range(args.steps):
            sampled += 1
            sample_range(infos["action_mask"], actions, scratch, 0, args.num_envs, 1, 0, sampled)
            before = choices.copy()
            over, _, infos = env.step(actions)[2:]
            # Not counted: what opponents decided in an episode after the learner's last decision.
            decisions += args.num_envs + int(np.where(over, choices, choices - before).sum())
        return decisions

    return work


def of_make(args: Args) -> Callable[[], int]:
    """The learner's steps in `gymnasium.make`, with the wrappers that it adds."""
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
    """Medians by what was measured."""
    works = {
        "vector_env, all at random: decisions": of_vector_env(args),
        f"vector_env, {args.opponent} asked by act(): decisions": of_vector_env_asked(args),
        f"make_vec against {args.opponent}: decisions": of_make_vec(args),
        f"make against {args.opponent}: the learner's steps": of_make(args),
    }
    for work in works.values():
        work()  # compiles
    rates: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(args.repeats):
        for name, work in works.items():
            rates[name].append(rate_of(work))
    return {name: statistics.median(result) for name, result in rates.items()}


def main() -> None:
    """Measure and print."""
    args = tyro.cli(Args, prog="python -m research.measurements.single_agent", description=__doc__)
    table = Table("measured", "per second", "of vector_env")
    rates = measure(args)
    first = next(iter(rates.values()))
    for name, rate in rates.items():
        table.add_row(name, f"{rate:,.0f}", f"{rate / first:.2f}" if "decisions" in name else "")
    Console().print(table)


if __name__ == "__main__":
    main()
