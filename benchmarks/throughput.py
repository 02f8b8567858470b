"""Measure the speed of the environment: `python -m benchmarks.throughput`.

One decision of one agent in one game is one step. A step is the rules, the legality check of
the action, the observation and the mask of the next decision, rewards, and the next episode where one ended;
the legal action is sampled uniformly from the mask. All settings are measured repeatedly in turns, and the
median is reported: figures are comparable within one run.

The same run also measures the card games of PettingZoo, RLCard, OpenSpiel and Pgx on one core, if installed
(extra `bench`); the gain of a second thread beside processes that keep the cores busy; and the time from
starting Python to the first step, with an empty and with a filled cache of compiled code.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import tyro
from tqdm import tqdm

from benchmarks.others import Case, Play, all_cases, one_core, play_aec
from benchmarks.results import (
    OUR_LIBRARY,
    Measurement,
    Row,
    Skipped,
    environment_info,
    format_rate,
    print_table,
    save_bar_chart,
    save_results,
)
from millebornes_env import __version__, agents, millebornes_v0, vector_env, wielerspel_v0
from millebornes_env._util.command_line import warn
from millebornes_env.arena.recording import Recording, record

BATCHES = (1, 64, 1024, 4096, 16_384)
THREADS = (1, 2)
VECTOR_NAME = "vector env, {threads} thread{s}"
AEC_NAME = "AEC, last() and masked sample"
RACE_AEC_NAME = "AEC of the race, last() and masked sample"
HISTORY_NAME = "vector env with history"
RULES_NAME = "vector env, rules shown"
MIXED_NAME = "vector env, variants-v1:train"
AGENTS = ("greedy", "champion")
PLAYERS_OF_THE_RACE = 4
ROUNDS_TO_RECORD = 5000
BUSY_PROCESSES = 2

_FIRST_STEP = """
import time; began = time.perf_counter()
import millebornes_env
env = millebornes_env.vector_env(64, seed=1)
env.reset()
env.step(env.sample_actions())
print(time.perf_counter() - began)
"""


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    seconds: float = 0.5
    """seconds that each setting plays in each round of the benchmark"""
    repeats: int = 7
    """rounds of the benchmark; the median is reported"""
    players: int = 2
    """seats at the table"""
    others: bool = True
    """also measure other libraries, if installed"""
    cold: bool = True
    """also measure the time to the first step with an empty cache (half a minute)"""
    out: Path = Path("benchmarks/results/throughput")
    """path of the .json and the .png file, without suffix"""


@dataclass
class Setting:
    """A setting to measure repeatedly."""

    case: Case
    play: Play
    threads: int
    rates: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def repeated(once: Callable[[], object], calls: int = 500, batch: int = 1) -> Play:
    """Return a function that plays `batch` decisions at a time, with `calls` between looks at the clock."""

    def play(seconds: float) -> int:
        decisions, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            for _ in range(calls):
                once()
            decisions += calls * batch
        return decisions

    return play


def vector_case(batch: int, threads: int, players: int, name: str = "", **options: Any) -> Case:
    """Build the vector environment with a batch size and thread count; `options` go to `vector_env`."""

    def build() -> Play:
        env = vector_env(batch, players=players, seed=1, num_threads=threads, **options)
        env.reset()
        actions = np.zeros(batch, np.int64)

        def once() -> None:
            env.sample_actions(actions)
            env.step(actions)

        return repeated(once, max(1, 20_000 // batch), batch)

    name = name or VECTOR_NAME.format(threads=threads, s="" if threads == 1 else "s")
    return Case(name, OUR_LIBRARY, (), build, batch)


def aec_case(name: str, make: Callable[[], Any]) -> Case:
    """Build an AEC environment, played with PettingZoo's documented loop as those of PettingZoo are."""
    return Case(name, OUR_LIBRARY, (), lambda: partial(play_aec, make()))


def gymnasium_case(opponent: str) -> Case:
    """Build the Gymnasium environment against an opponent; a learner's step is counted as one."""

    def build() -> Play:
        env: Any = gymnasium.make("millebornes/MilleBornes-v0", opponent=opponent)
        random = np.random.default_rng(1)
        mask = env.reset(seed=1)[1]["action_mask"]

        def once() -> None:
            nonlocal mask
            legal = mask.nonzero()[0]
            _, _, is_over, _, info = env.step(legal[int(random.random() * len(legal))])
            mask = (env.reset()[1] if is_over else info)["action_mask"]

        return repeated(once)

    return Case(f"Gymnasium, against {opponent}", OUR_LIBRARY, (), build)


def agent_case(name: str, players: int) -> Case:
    """Build an agent that chooses for one observation at a time."""

    def build() -> Play:
        env = vector_env(1, players=players, seed=1)
        observations, _ = env.reset()
        agent = agents.load(name, env)
        row, mask = observations["observation"][0], observations["action_mask"][0]
        return repeated(lambda: agent.act(row, mask))

    return Case(f"{name}.act, one row", OUR_LIBRARY, (), build)


def cores_for(threads: int) -> contextlib.AbstractContextManager[None]:
    """Return a context in which single-threaded settings are restricted to one core."""
    return one_core() if threads == 1 else contextlib.nullcontext()


def build_settings(args: Args) -> tuple[list[Setting], list[Skipped]]:
    """Build and warm up all settings; missing packages are skipped."""
    cases = [(vector_case(batch, threads, args.players), threads) for threads in THREADS for batch in BATCHES]
    cases.append((aec_case(AEC_NAME, lambda: millebornes_v0.env(players=args.players)), 1))
    cases.append((vector_case(4096, 1, args.players, HISTORY_NAME, history=True), 1))
    cases.append((vector_case(4096, 1, args.players, RULES_NAME, observe_rules=True), 1))
    cases.append((vector_case(4096, 1, args.players, MIXED_NAME, edition="variants-v1:train"), 1))
    cases += [(gymnasium_case("greedy"), 1), *((agent_case(name, args.players), 1) for name in AGENTS)]
    cases.append((aec_case(RACE_AEC_NAME, lambda: wielerspel_v0.env(players=PLAYERS_OF_THE_RACE)), 1))
    if args.others:
        cases += [(case, 1) for case in all_cases()]
    settings: list[Setting] = []
    skipped: list[Skipped] = []
    for case, threads in tqdm(cases, desc="building and warming up"):
        with cores_for(threads):
            try:
                play = case.build()
                play(0.2 * args.seconds)
            except Exception as error:
                if case.library == OUR_LIBRARY:
                    raise
                skipped.append(Skipped(f"{type(error).__name__}: {error}", case.name, case.library))
                continue
        settings.append(Setting(case, play, threads))
    return settings, skipped


def measure_in_turn(settings: list[Setting], seconds: float, repeats: int, *, is_pinned: bool = True) -> None:
    """Play every setting once, then every setting again, and so on.

    Args:
        settings: to be measured.
        seconds: of each in each round.
        repeats: rounds.
        is_pinned: what runs on one thread gets one core.
    """
    for _ in tqdm(range(repeats), desc="measuring in turn"):
        for setting in settings:
            with cores_for(setting.threads) if is_pinned else contextlib.nullcontext():
                cpu, start = time.process_time(), time.perf_counter()
                decisions = setting.play(seconds)
                wall = time.perf_counter() - start
                setting.seconds.append(wall)
                setting.rates.append(decisions / wall)
                setting.busy.append((time.process_time() - cpu) / wall)


def to_row(setting: Setting) -> Measurement:
    """The median of a setting's measurements, with their spread in the note."""
    case = setting.case
    version = importlib.metadata.version(case.packages[0]) if case.packages else __version__
    spread = f"{format_rate(min(setting.rates))} to {format_rate(max(setting.rates))}"
    notes = [case.note, spread, f"{statistics.median(setting.busy):.2f} cores busy"]
    return Measurement(
        name=case.name,
        library=case.library,
        version=version,
        batch=case.batch,
        agent_steps_per_second=statistics.median(setting.rates),
        seconds=sum(setting.seconds),
        note="; ".join(filter(None, notes)),
    )


def ratio_of(over: Setting, under: Setting) -> float:
    """Return the median over rounds of the ratio of two settings' rates in the same round."""
    return statistics.median(a / b for a, b in zip(over.rates, under.rates, strict=True))


def ratios(settings: list[Setting]) -> dict[str, float]:
    """Return the reported ratios of the measured settings, without those of libraries that are missing."""

    def find(name: str, library: str = OUR_LIBRARY, batch: int | None = None) -> Setting | None:
        for setting in settings:
            case = setting.case
            if case.library == library and case.name.startswith(name) and batch in (None, case.batch):
                return setting
        return None

    one, two = (find(VECTOR_NAME.format(threads=count, s=""), batch=4096) for count in (1, 2))
    wanted = {
        "2 threads / 1 thread, batch 4096": (two, one),
        "without history / with history, batch 4096": (one, find(HISTORY_NAME)),
        "variants-v1:train / parker with rules shown, batch 4096": (find(MIXED_NAME), find(RULES_NAME)),
    }
    for library, name in (("PettingZoo", "hanabi"), ("PettingZoo", "leduc"), ("RLCard", "uno")):
        wanted[f"batch 4096 on 1 thread / {library} {name}"] = (one, find(name, library))
    return {label: ratio_of(over, under) for label, (over, under) in wanted.items() if over and under}


def ratio_beside_busy_processes(args: Args) -> dict[str, float]:
    """Return the rate of two threads over that of one, while other processes use the cores."""
    settings = []
    for threads in (2, 1):
        case = vector_case(4096, threads, args.players)
        settings.append(Setting(case, case.build(), threads))
        settings[-1].play(0.2 * args.seconds)
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_PROCESSES)]
    try:
        measure_in_turn(settings, args.seconds, args.repeats, is_pinned=False)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    label = f"2 threads / 1 thread, batch 4096, beside {BUSY_PROCESSES} busy processes"
    return {label: ratio_of(*settings)}


def recording_rate() -> dict[str, float]:
    """Return the rounds that `record greedy random` plays and writes in a second of one core."""
    with tempfile.TemporaryDirectory() as folder, one_core():
        recording = Recording(agents=("greedy", "random"), rounds_per_file=ROUNDS_TO_RECORD)
        record(Path(folder) / "recording", recording, ROUNDS_TO_RECORD)  # loads all that is needed
        began = time.perf_counter()
        record(Path(folder) / "recording", recording, 2 * ROUNDS_TO_RECORD)
        return {"recorded rounds/s": ROUNDS_TO_RECORD / (time.perf_counter() - began)}


def time_to_first_step(args: Args) -> dict[str, float]:
    """Return the seconds from `import millebornes_env` to the end of the first step in a new process."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}

        def run() -> float:
            done = subprocess.run(
                [sys.executable, "-c", _FIRST_STEP],
                env=environment,
                check=True,
                capture_output=True,
                text=True,
            )
            return float(done.stdout)

        first = run()
        again = statistics.median(run() for _ in range(5))
    return {"import and first step, cold cache, s": first, "import and first step, second process, s": again}


def main() -> None:
    """Run the command line."""
    args = tyro.cli(Args, description=__doc__)
    settings, skipped = build_settings(args)
    measure_in_turn(settings, args.seconds, args.repeats)
    rows: list[Row] = [*(to_row(setting) for setting in settings), *skipped]
    figures = ratios(settings) | ratio_beside_busy_processes(args) | recording_rate()
    figures |= time_to_first_step(args) if args.cold else {}
    print_table(rows)
    for label, figure in figures.items():
        print(f"{label}: {figure:.2f}" if figure < 100 else f"{label}: {figure:,.0f}")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    info = {**environment_info(), "players": args.players, "repeats": args.repeats, "figures": figures}
    save_results(args.out.with_suffix(".json"), rows, info)
    no_picture = save_bar_chart(args.out.with_suffix(".png"), rows)
    warn(no_picture)
    written = [args.out.with_suffix(ending) for ending in (".json", ".png")[: 1 if no_picture else 2]]
    print(f"written: {', '.join(map(str, written))}")


if __name__ == "__main__":
    main()
