"""Compare training speed: both learners of `train.selfplay`, and MaskablePPO, in one run.

    python -m benchmarks.training
    python -m benchmarks.training --docs     # writes docs/benchmarks/training.json and its picture too

Rates are decisions learned from, each counted once for all epochs, per second of playing, inference,
advantages and updates; without evaluation and files. `train.selfplay` learns from the decisions of all seats;
MaskablePPO from those of one seat of each game, while its policy plays the other seats by inference only
("played" counts those decisions too). Both have the same games, observations, features, number of weights,
optimizer, loss, epochs and threads. MaskablePPO is measured with several sizes of rollout and batch: "ratio"
is to the fastest of them, "default" to the rollout and the batch that it comes with (2,048 steps of 8 games,
64 decisions in a gradient step). "torch" is the ratio to `--learner torch` in its faster precision, with the
same games and batches.

Every contender is warmed up (which compiles), then all of them learn in turns, round after round; rates are
medians over the rounds, ratios are medians of the ratios within a round.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import tyro
from rich.console import Group
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from benchmarks.results import OTHER_COLOUR, OUR_COLOUR, PIPED_WIDTH, environment_info, format_rate
from benchmarks.trainers import (
    OURS,
    PARTS,
    THEIRS,
    Contender,
    Learner,
    Precision,
    Progress,
    Size,
    Trainer,
    Work,
    make,
    usual_options,
)
from millebornes_env._util.command_line import warn
from millebornes_env._util.files import new_figure, save_picture, write_json_atomically
from millebornes_env._util.versions import versions
from millebornes_env.cli.console import table_console
from millebornes_env.envs.options import USUAL

OUR_SIZES: Final = (Size(1024, 64, 1024), Size(4096, 64, 8192))
"""The defaults of `train.selfplay`, and a larger size."""
OUR_LEARNERS: Final[tuple[tuple[Learner, Precision], ...]] = (
    *(("torch", "float32"), ("torch", "bfloat16"), ("sparse", "float32")),
)
THEIR_DEFAULT: Final = Size(8, 2048, 64)
"""Steps and batch size are MaskablePPO's defaults; it has no default number of games."""
THEIR_SIZES: Final = (
    THEIR_DEFAULT,
    Size(256, 64, 2048),
    Size(1024, 64, 8192),
    Size(4096, 16, 8192),
)
"""Sizes of MaskablePPO; the fastest counts."""
TASKS: Final = (((128,), 2), ((256, 128), 2))
"""Hidden layers and epochs of the comparison: those of `make train`, and of the champions."""
PART_COLOURS: Final = dict(zip(PARTS, ("#6fb98a", "#9db4d0", "#2f5f9e", "#e3c878", "#d9d9d9"), strict=True))
HEADINGS: Final = (
    *("trainer", "network", "epochs", "games x steps", "batch", "learner"),
    *("learned", "torch", "ratio", "default", "played", "busy", "env", "infer", "adv", "update", "other"),
)
SMALLEST_LABEL: Final = 2.5
"""Per cent of the time below which the plot omits a figure."""
DOCS: Final = Path("docs")


@dataclass(frozen=True)
class Args:
    """Compare the training speed of train.selfplay and MaskablePPO on the same network."""

    rounds: int = 5
    """rounds of the benchmark; medians are reported"""
    seconds: float = 6.0
    """seconds of each contender in each round; a started rollout is completed"""
    edition: str = "parker"
    """rule sheet that is played"""
    players: int = 2
    """seats at the table"""
    episode: str = USUAL
    """unit of play, such as match or round; usual: the longest of the game"""
    threads: int = 2
    """CPU threads of PyTorch and of the games"""
    quick: bool = False
    """tiny rollouts, one for each contender and round: a functional test without valid figures"""
    out: Path = Path("benchmarks/results/training")
    """path of the .json and the .png file, without suffix"""
    docs: bool = False
    """write docs/benchmarks/training.json and docs/images/training.png instead"""

    @property
    def work(self) -> Work:
        """The task of both trainers."""
        episode = usual_options(self.edition, self.episode).chosen_episode
        return Work(self.edition, self.players, episode, self.threads)


@dataclass
class Runner:
    """A contender and its results; each list has an entry for each round."""

    contender: Contender
    trainer: Trainer
    learned: list[float] = field(default_factory=list)
    played: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    shares: list[dict[str, float]] = field(default_factory=list)

    def run(self, seconds: float) -> None:
        """Train for a number of seconds, at least one update, and record the results."""
        before, wall = self.trainer.progress(), 0.0
        cpu, began = time.process_time(), time.perf_counter()
        while wall == 0.0 or wall < seconds:
            self.trainer.update()
            wall = time.perf_counter() - began
        done = self.trainer.progress().since(before)
        self.learned.append(done.learned / wall)
        self.played.append(done.played / wall)
        self.busy.append((time.process_time() - cpu) / wall)
        self.shares.append(shares_of(done, wall))


@dataclass(frozen=True)
class Line:
    """Measurements of one contender.

    Attributes:
        contender: the trainer and its settings.
        threads: number of threads of PyTorch and of the games.
        parameters: number of trainable parameters.
        learned_per_second: decisions learned from per second, median.
        lowest: lowest rate of the rounds.
        highest: highest rate of the rounds.
        played_per_second: decisions played per second, those of opponents included, median.
        torch_ratio: ratio of decisions learned from to `--learner torch` in its faster precision, with
            the same network, epochs and size; None for MaskablePPO.
        ratio: ratio of decisions learned from to the fastest MaskablePPO with the same network and epochs.
        default_ratio: the same ratio to MaskablePPO with `THEIR_DEFAULT` sizes.
        played_ratio: ratio of decisions played to the fastest.
        cores_busy: CPU time over elapsed time, median; below the number of threads if other processes ran.
        reference: True for that fastest MaskablePPO.
        shares: mean share of the time by part.
    """

    contender: Contender
    threads: int
    parameters: int
    learned_per_second: float
    lowest: float
    highest: float
    played_per_second: float
    torch_ratio: float | None
    ratio: float
    default_ratio: float
    played_ratio: float
    cores_busy: float
    reference: bool
    shares: dict[str, float]


def shares_of(done: Progress, wall: float) -> dict[str, float]:
    """Return the shares of the elapsed time by part; the rest is "other"."""
    shares = {part: seconds / wall for part, seconds in done.seconds.items()}
    return {**shares, "other": max(1.0 - sum(shares.values()), 0.0)}


def contenders(quick: bool) -> list[Contender]:
    """Return all contenders, grouped by network and epochs."""
    result = []
    for hidden, epochs in TASKS:
        result += [
            Contender(OURS, hidden, epochs, size, precision, learner)
            for size in OUR_SIZES
            for learner, precision in OUR_LEARNERS
        ]
        result += [Contender(THEIRS, hidden, epochs, size) for size in THEIR_SIZES]
    return [replace(one, size=shrunk(one.size)) for one in result] if quick else result


def shrunk(size: Size) -> Size:
    """Return a minimal size."""
    return Size(max(size.games // 32, 2), min(size.steps, 64) // 4, max(size.batch // 64, 16))


def warmed_up(args: Args, bar: Bar) -> list[Runner]:
    """Create all trainers and run their first updates.

    Raises:
        ValueError: two compared trainers have different numbers of weights.
    """
    runners: list[Runner] = []
    parameters: dict[tuple[tuple[int, ...], int], int] = {}
    for contender in bar.track(contenders(args.quick), description="building and warming up"):
        trainer = make(contender, args.work)
        if parameters.setdefault(contender.task, trainer.parameters) != trainer.parameters:
            raise ValueError(
                f"{contender} has {trainer.parameters} weights, not {parameters[contender.task]}"
            )
        trainer.update()
        runners.append(Runner(contender, trainer))
    return runners


def measured(args: Args) -> list[Line]:
    """Train all contenders in turns."""
    with Bar(transient=True) as bar:
        runners = warmed_up(args, bar)
        turns = [runner for _ in range(args.rounds) for runner in runners]
        for runner in bar.track(turns, description=f"learning in turns, {args.rounds} rounds"):
            runner.run(0.0 if args.quick else args.seconds)
    return [line_of(runner, runners, args) for runner in runners]


def line_of(runner: Runner, runners: Sequence[Runner], args: Args) -> Line:
    """Compare a contender with the fastest MaskablePPO of the same network and epochs."""
    task = runner.contender.task
    theirs = [one for one in runners if one.contender.trainer == THEIRS and one.contender.task == task]
    reference = max(theirs, key=lambda one: statistics.median(one.learned))
    default = theirs[0]
    return Line(
        contender=runner.contender,
        threads=args.threads,
        parameters=runner.trainer.parameters,
        learned_per_second=statistics.median(runner.learned),
        lowest=min(runner.learned),
        highest=max(runner.learned),
        played_per_second=statistics.median(runner.played),
        torch_ratio=torch_ratio(runner, runners),
        ratio=median_ratio(runner.learned, reference.learned),
        default_ratio=median_ratio(runner.learned, default.learned),
        played_ratio=median_ratio(runner.played, reference.played),
        cores_busy=statistics.median(runner.busy),
        reference=runner is reference,
        shares={part: statistics.fmean(shares[part] for shares in runner.shares) for part in PARTS},
    )


def torch_ratio(runner: Runner, runners: Sequence[Runner]) -> float | None:
    """Compare our contender with the fastest of PyTorch with the same settings; None for others."""
    one = runner.contender
    if one.trainer != OURS:
        return None
    same = replace(one, learner="torch", precision="float32")
    by_torch = [other for other in runners if replace(other.contender, precision="float32") == same]
    if not by_torch:
        return None
    best = max(by_torch, key=lambda other: statistics.median(other.learned))
    return median_ratio(runner.learned, best.learned)


def median_ratio(over: Sequence[float], under: Sequence[float]) -> float:
    """Return the median over rounds of the ratio of two rates in the same round."""
    return statistics.median(a / b for a, b in zip(over, under, strict=True))


def table_of(lines: Sequence[Line], args: Args, load: str) -> Group:
    """Build the table of the lines, with common settings in the title and an explanation below.

    Args:
        lines: the measurements.
        args: options of the command.
        load: description of the machine's load.
    """
    played = f"{args.edition}, {args.players} players, {args.work.episode}; {args.threads} threads"
    table = Table(
        title=f"Decisions learned from per second: {played}",
        title_justify="left",
        header_style="bold",
    )
    for heading in HEADINGS:
        left = heading in {"trainer", "network", "learner"}
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    for place, line in enumerate(lines):
        style = "bold" if line.contender.trainer == OURS else "" if line.reference else "dim"
        last = place + 1 == len(lines) or lines[place + 1].contender.task != line.contender.task
        table.add_row(*cells(line), style=style, end_section=last)
    span = "one update" if args.quick else f"{args.seconds:g} s"
    notes = (
        f"ratio: to the fastest {THEIRS} with the same network and epochs, within a round of {span}; medians",
        f"of {args.rounds} rounds. default: to {THEIRS} with its default steps and batch, its first line.",
        f"torch: to {OURS} --learner torch in its faster precision, with the same games and batches.",
        "played: with the decisions of opponents. busy: cores. Shares of the time: environment, inference,",
        "advantages, update; other is mostly keeping the rollout.",
        f"{load}.",
    )
    return Group(table, *(Text(note) for note in notes))


def cells(line: Line) -> list[str]:
    """Return a row of the table."""
    one = line.contender
    return [
        one.trainer,
        one.network,
        str(one.epochs),
        str(one.size),
        f"{one.size.batch:,}",
        learner_name(one),
        format_rate(line.learned_per_second),
        "" if line.torch_ratio is None else f"{line.torch_ratio:.2f}",
        f"{line.ratio:.2f}",
        f"{line.default_ratio:.1f}",
        format_rate(line.played_per_second),
        f"{line.cores_busy:.2f}",
        *(f"{100 * line.shares[part]:.0f} %" for part in PARTS),
    ]


def surroundings() -> dict[str, Any]:
    """Describe the machine and the software."""
    import torch  # noqa: PLC0415 - after benchmarks.trainers, which sets how its threads wait

    return {
        **environment_info(),
        **versions(),
        "torch_cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "cpu_flags_bfloat16": bfloat16_flags(),
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY"),
    }


def load_average() -> str:
    """Return the load average of the last minute, or a note if the system does not report it."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def bfloat16_flags() -> list[str]:
    """Return the bfloat16 flags of the processor (Linux only)."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [flag for flag in ("avx512_bf16", "amx_bf16") if flag in text.split()]


def picture(lines: Sequence[Line]) -> Any:
    """Plot decisions learned from per second, and the shares of time."""
    figure = new_figure(13.5, 1.6 + 0.42 * len(lines), layout="constrained")
    rates, parts = figure.subplots(1, 2, width_ratios=(3, 2))
    plot_rates(rates, lines)
    plot_parts(parts, lines)
    for axes in (rates, parts):
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.set_xticks([])
        axes.spines[:].set_visible(False)
        axes.tick_params(axis="y", length=0, labelsize=8)
    return figure


def plot_rates(axes: Any, lines: Sequence[Line]) -> None:
    """Plot the speed of each contender."""
    ours = [line.contender.trainer == OURS for line in lines]
    bars = axes.barh(
        range(len(lines)),
        [line.learned_per_second for line in lines],
        0.7,
        color=[OUR_COLOUR if own else OTHER_COLOUR for own in ours],
    )
    labels = [f"{format_rate(line.learned_per_second)}, {line.ratio:.2f} x" for line in lines]
    axes.bar_label(bars, labels, padding=4, fontsize=8)
    axes.set_yticks(range(len(lines)), [bar_name(line) for line in lines])
    axes.set_xlim(0, 1.25 * max(line.learned_per_second for line in lines))
    title = f"Decisions learned from per second (x: to the fastest {THEIRS})"
    axes.set_title(title, fontsize=10, loc="left", fontweight="bold")


def plot_parts(axes: Any, lines: Sequence[Line]) -> None:
    """Plot the time of each contender by part."""
    done = [0.0] * len(lines)
    for part in PARTS:
        widths = [100 * line.shares[part] for line in lines]
        bars = axes.barh(range(len(lines)), widths, 0.7, left=done, color=PART_COLOURS[part], label=part)
        labels = [f"{width:.0f}" if width >= SMALLEST_LABEL else "" for width in widths]
        axes.bar_label(bars, labels, label_type="center", fontsize=8)
        done = [before + width for before, width in zip(done, widths, strict=True)]
    axes.set_yticks([])
    axes.set_xlim(0, 100)
    axes.set_title("Where the time goes, %", fontsize=10, loc="left", fontweight="bold")
    axes.legend(frameon=False, fontsize=8, ncols=len(PARTS), loc="upper center", bbox_to_anchor=(0.5, 0.0))


def learner_name(one: Contender) -> str:
    """Return the learner and its precision."""
    return f"{one.learner} {one.precision}"


def bar_name(line: Line) -> str:
    """Return the label of a bar."""
    one = line.contender
    epochs = f"{one.epochs} epoch" + ("s" if one.epochs > 1 else "")
    return (
        f"{one.trainer}, {one.network}, {epochs}, {learner_name(one)}\n{one.size}, batch {one.size.batch:,}"
    )


def main(args: Args) -> None:
    """Measure, print, and write."""
    began = time.perf_counter()
    before = load_average()
    lines = measured(args)
    after = load_average()
    load = (
        f"load average of the machine: {before} before, {after} at the end (this benchmark is {args.threads})"
    )
    table_console(PIPED_WIDTH).print(table_of(lines, args, load))
    json_path, png_path = args.out.with_suffix(".json"), args.out.with_suffix(".png")
    if args.docs:
        json_path, png_path = DOCS / "benchmarks" / "training.json", DOCS / "images" / "training.png"
    content = {
        "environment": surroundings(),
        "arguments": {**asdict(args), "episode": args.work.episode, "out": str(args.out)},
        "seconds": time.perf_counter() - began,
        "load": load,
        "lines": [asdict(line) for line in lines],
    }
    write_json_atomically(json_path, content)
    print(f"wrote {json_path} and {png_path}")
    warn(save_picture(png_path, lambda: picture(lines)))


if __name__ == "__main__":
    main(tyro.cli(Args, prog="python -m benchmarks.training"))
