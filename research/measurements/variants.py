"""Freeze the splits of drawn rule sheets, solve the mini sheets, and play many sheets with every law checked.

    python -m research.measurements.variants                  # both files, in about five minutes
    python -m research.measurements.variants --check          # the same, compared with the files
    python -m research.measurements.variants --play 1000000   # random and greedy play, in about four minutes

A sheet of a split must be playable (`faults_of_play`, for a mini sheet `faults_of_mini`); those that are not
are left out when a split is frozen. docs/research/variants.md describes the splits.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tyro
from tqdm import tqdm

from millebornes_env._util.files import write_text_atomically
from millebornes_env.agents import make
from millebornes_env.agents.compiled.agent import MEMORY
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.arena.millebornes.counters import index_of
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import kernels_of, key_of_seed
from millebornes_env.engine.laws import NO_VIOLATION
from millebornes_env.engine.numba.compiling import call_at, for_kernels, kernel
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.errors import ConformanceError, OptionError
from millebornes_env.games.millebornes import rulebook, variants
from millebornes_env.games.millebornes.audit import SCRATCH_SIZE, violation_of
from millebornes_env.games.millebornes.cards import ACCIDENT, NUM_HAZARDS
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.games.millebornes.state import STATE
from millebornes_env.games.millebornes.variants import (
    DRAWN,
    FROZEN,
    MINI_TRAIN,
    TRAIN,
    drawn_split,
)
from millebornes_env.games.variants import Split
from millebornes_env.solving.cfr import Solver
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.minis import FILE as SOLVED
from millebornes_env.solving.minis import SolvedSheet, text_of_file
from millebornes_env.solving.values import Uniform, judge

SIZES: Final = {
    **{name: 200 for name, split in DRAWN.items() if split != TRAIN},
    "mini-variants-v1:train": 800,
}
"""Number of sheets of each frozen split."""

# Of a full sheet, in 200 rounds of `greedy` against itself with two players.
DEALS: Final = 100
LEAST_TRIPS: Final = 0.2
"""Rounds in which a trip is completed."""
LEAST_WON: Final = 0.2
"""Decided rounds that each seat wins."""
LEAST_HAZARDS: Final = 1.0
"""Hazards played in a round."""
LEAST_SAFETIES: Final = 0.25
"""Safeties played in a round."""

# Of a mini sheet, exactly.
LEAST_SETS: Final = 20
"""Information sets of each seat."""
MOST_SETS: Final = 300_000
"""Information sets of both seats."""
LEAST_LOSS: Final = 0.01
"""Exploitability of uniform play, divided by the range of the payoffs."""
SOLVED_TO: Final = 1e-6
"""Exploitability of the policy that gives the value, divided by the range of the payoffs."""
_ITERATIONS: Final = 32
_MOST_ITERATIONS: Final = 20_000

_SHEETS_OF_A_TASK: Final = 500
_MOST_DECISIONS: Final = 5_000
_ILLEGAL: Final = -2


@dataclass
class Args:
    """Freeze the splits, or check or play sheets."""

    check: bool = False
    """Compare with the files instead of writing them."""
    play: int = 0
    """Number of sheets to play instead, one round of two players each."""


# Playable sheets -------------------------------------------------------------------------------------------


def faults_of_play(name: str) -> list[str]:
    """Return the criteria that a full sheet fails; a round that never ends would be an error of the arena."""
    config = MatchConfig(edition=name, episode="round", seed=1, threads=1)
    outcome = play(["greedy", "greedy"], config, DEALS)
    counts = outcome.counters.sum(axis=0)
    rounds = counts[index_of("rounds")] / 2  # counted for each team
    won, won_starting = counts[index_of("round_wins")], counts[index_of("round_wins_starting")]
    hazards = counts[ACCIDENT : ACCIDENT + NUM_HAZARDS].sum()
    safeties = counts[index_of("safeties")]
    share = won_starting / max(won, 1)
    failed = {
        "trips": counts[index_of("trips_completed")] < LEAST_TRIPS * rounds,
        "fairness": not LEAST_WON <= share <= 1 - LEAST_WON,
        "hazards": hazards < LEAST_HAZARDS * rounds,
        "safeties": safeties < LEAST_SAFETIES * rounds,
    }
    return [criterion for criterion, is_failed in failed.items() if is_failed]


def solved_sheet(sheet: str | Edition) -> tuple[SolvedSheet | None, list[str]]:
    """Return the solution of a mini sheet, or None and the criteria that it fails."""
    game = solvable(sheet)
    uniform = judge(game, Uniform(), threads=1)
    sets = uniform.counts.infosets
    failed = {
        "no decision matters": uniform.counts.payoff_range == 0 or uniform.of_range < LEAST_LOSS,
        "too small": min(sets) < LEAST_SETS,
        "too large": sum(sets) > MOST_SETS,
    }
    faults = [criterion for criterion, is_failed in failed.items() if is_failed]
    if faults:
        return None, faults
    solver = Solver(game)
    judged = solver.judge()
    while judged.of_range > SOLVED_TO and solver.iteration < _MOST_ITERATIONS:
        solver.run(_ITERATIONS)
        judged = solver.judge()
    low, high = -judged.best[1], judged.best[0]
    if judged.of_range > SOLVED_TO:
        raise OptionError(f"{game.name} is solved to {judged.of_range:.1e} of its range only")
    return (
        SolvedSheet(
            value=round((low + high) / 2, 3),
            uniform=round(uniform.exploitability, 3),
            payoffs=(int(uniform.counts.lowest), int(uniform.counts.highest)),
            infosets=(int(sets[0]), int(sets[1])),
            decisions=int(uniform.counts.play_nodes),
        ),
        [],
    )


def frozen(
    name: str, size: int, examine: Callable[[str], tuple[Any, list[str]]]
) -> tuple[list[int], list[Any]]:
    """Return the first numbers whose sheets are playable, and what was found of each."""
    numbers: list[int] = []
    found: list[Any] = []
    rejected: Counter[str] = Counter()
    number = 0
    with tqdm(total=size, desc=name) as bar:
        while len(numbers) < size:
            result, faults = examine(f"{name}/{number}")
            rejected.update(faults)
            if not faults:
                numbers.append(number)
                found.append(result)
                bar.update()
            number += 1
    reasons = ", ".join(f"{count} {criterion}" for criterion, count in sorted(rejected.items()))
    print(f"{name}: {number - size} of {number} sheets left out ({reasons})")
    return numbers, found


def freeze(*, check: bool) -> None:
    """Write the numbers of the frozen splits and the solutions of the mini sheets, or compare them."""
    known = dict(variants.SPLITS)
    numbers: dict[str, list[int]] = {}
    solutions: dict[str, list[SolvedSheet]] = {}
    try:
        for name, size in SIZES.items():
            variants.SPLITS[name] = drawn_split(name, DRAWN[name])  # type: ignore[index] # restored below
            if DRAWN[name] >= MINI_TRAIN:
                numbers[name], solutions[name] = frozen(name, size, solved_sheet)
            else:
                numbers[name], _ = frozen(name, size, lambda sheet: (None, faults_of_play(sheet)))
        rejected = sum(bool(faults_of_play(f"variants-v1:train/{number}")) for number in range(1000))
        print(f"variants-v1:train: {rejected} of its first 1000 sheets would be left out")
    finally:
        variants.SPLITS.update(known)  # type: ignore[attr-defined] # a dict
    save(FROZEN, json.dumps(numbers) + "\n", check=check)
    save(SOLVED, text_of_file(solutions), check=check)


def save(path: Path, text: str, *, check: bool) -> None:
    """Write a file, or compare it; raise OptionError if it differs."""
    if check and path.read_text(encoding="utf-8") != text:
        raise OptionError(
            f"{path} is not what the sampler gives: a change of the sampler needs a new version"
        )
    if not check:
        write_text_atomically(path, text)
    print(f"{path}: {'as frozen' if check else 'written'}")


# Play ------------------------------------------------------------------------------------------------------


@kernel
def play_rounds(
    states: StateArray,
    rules: StateArray,
    choose: int,
    memory: npt.NDArray[np.int16],
    options: npt.NDArray[np.int64],
    scratch: npt.NDArray[np.int64],
    results: npt.NDArray[np.int64],
) -> None:
    """Play a round of each game and check the laws of every record.

    Args:
        states: `STATE[N]`, with their keys.
        rules: `RULES[N]`.
        choose: address of the agent's function.
        memory: int16[MEMORY], scratch.
        options: int64[MAX_OPTIONS], of the agent.
        scratch: int64[SCRATCH_SIZE].
        results: int64[4]: receives the number of decisions, the law that was broken, its game, and the
            number of rounds that did not end.
    """
    for game in range(len(states)):
        state, own = states[game], rules[game]
        rulebook.start(state, own)
        step = 0
        while not rulebook.is_round_over(state) and step < _MOST_DECISIONS:
            broken = violation_of(state, own, scratch)
            if broken != NO_VIOLATION:
                results[1], results[2] = broken, game
                return
            draw = random_word(int(state.key[0]), int(state.key[1]), step)
            memory[:] = 0
            action = call_at(choose, (state, own, int(state.seat), memory, options, draw))
            if not rulebook.is_legal(state, own, action):
                results[1], results[2] = _ILLEGAL, game
                return
            rulebook.step(state, own, action)
            step += 1
        broken = violation_of(state, own, scratch)
        if broken != NO_VIOLATION:
            results[1], results[2] = broken, game
            return
        results[0] += step
        results[3] += 1 if step == _MOST_DECISIONS else 0


def play_task(split: Split, first: int) -> dict[str, int]:
    """Play a round with each of some sheets, once by each agent, and return the decisions of each agent.

    Raises:
        ConformanceError: a law is broken, or a round does not end.
    """
    numbers = np.arange(first, first + _SHEETS_OF_A_TASK)
    rules = for_kernels(split.rules(numbers, 2, 2))
    config = MatchConfig(edition="parker")
    decisions: dict[str, int] = {}
    for name in ("random", "greedy"):
        agent: Any = make(name, config.table(), 0)
        states = for_kernels(np.zeros(len(numbers), STATE).view(np.recarray))
        kernels_of(rulebook).seed_games(states, first, *key_of_seed(1))
        results = np.zeros(4, np.int64)
        results[1] = NO_VIOLATION
        memory, scratch = np.zeros(MEMORY, np.int16), np.zeros(SCRATCH_SIZE, np.int64)
        play_rounds(states, rules, agent.address, memory, agent.options, scratch, results)
        if results[1] != NO_VIOLATION or results[3]:
            raise ConformanceError(
                f"{name} on {split.name}/{first + int(results[2])}: law {results[1]} is broken, or "
                f"{results[3]} rounds do not end"
            )
        decisions[name] = int(results[0])
    return decisions


def play_many(sheets: int) -> None:
    """Play a round with each of the first sheets of train and of the test splits' samplers."""
    splits = [drawn_split(name, split) for name, split in DRAWN.items() if split < MINI_TRAIN]
    tasks = [
        (splits[task % len(splits)], task // len(splits) * _SHEETS_OF_A_TASK)
        for task in range(-(-sheets // _SHEETS_OF_A_TASK))
    ]
    start, total = time.perf_counter(), Counter[str]()
    play_task(*tasks[0])  # compiles before the threads start
    with ThreadPoolExecutor(2) as pool, tqdm(total=len(tasks) * _SHEETS_OF_A_TASK, desc="sheets") as bar:
        for decisions in pool.map(lambda task: play_task(*task), tasks):
            total.update(decisions)
            bar.update(_SHEETS_OF_A_TASK)
    print(
        f"{len(tasks) * _SHEETS_OF_A_TASK:,} sheets of {len(splits)} splits, a round each: "
        + ", ".join(f"{name} {count:,} decisions" for name, count in total.items())
        + f"; no law broken, all rounds ended; {time.perf_counter() - start:.0f} s"
    )


def main(args: Args) -> None:
    """Freeze, check or play."""
    if args.play:
        play_many(args.play)
    else:
        freeze(check=args.check)


if __name__ == "__main__":
    main(tyro.cli(Args, prog="python -m research.measurements.variants"))
