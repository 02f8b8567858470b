"""Measure the time until learners of other libraries beat `random`, for docs/environment/libraries.md.

    make works-with          # installs the libraries into .venv-works-with, then runs this
    python -m research.measurements.works_with --only torchrl
    .venv-ray/bin/python -m research.measurements.works_with --only rllib    # made by `make test-ray`

Each learner plays rounds for two at `parker` against `random`, or plays all seats, and is evaluated at
intervals in rounds of new deals against `random`. Evaluation and compiling do not count.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import train  # noqa: F401 - first: it says how PyTorch's threads wait  # isort: skip

import numpy as np
import tyro

from benchmarks.results import environment_info
from millebornes_env._util.command_line import run_command, say
from millebornes_env._util.files import write_json_atomically, write_text_atomically
from millebornes_env.errors import OptionError
from research.measurements.works_with.rounds import Act, Floats, Ints, Masks, share_won
from research.tables import Table

PAGE: Final = Path("docs/environment/libraries.md")
FIGURES: Final = Path("docs/benchmarks/works_with.json")
BEGIN, END = "<!-- table: python -m research.measurements.works_with --docs -->\n", "<!-- end of table -->\n"
_FIRST_LOOK: Final = 0.5
_NEXT_LOOK: Final = 1.3


@dataclass(frozen=True)
class Library:
    """A library with a learner.

    Attributes:
        title: name of the learner.
        package: name of the package for pip.
        module: name of the module that uses it.
        doors: functions of the module that create its environment, whose statements are counted.
    """

    title: str
    package: str
    module: str
    doors: tuple[str, ...] = ("make_env",)


LIBRARIES: Final = {
    "maskable_ppo": Library("MaskablePPO (Stable-Baselines3)", "sb3-contrib", "maskable_ppo"),
    "cleanrl": Library("CleanRL's way (PyTorch), `train/cleanrl_ppo.py`", "torch", "cleanrl_ppo"),
    "torchrl": Library("TorchRL's PPO", "torchrl", "torchrl_ppo"),
    "tianshou": Library("Tianshou's PPO", "tianshou", "tianshou_ppo"),
    "rllib": Library("RLlib's PPO", "ray", "rllib_ppo"),
    "openspiel": Library("OpenSpiel's PPO", "open_spiel", "openspiel_ppo", ("make_env", "time_steps")),
}


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    only: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """library to run; repeat it for several (default: all installed ones)"""
    seconds: float = 60.0
    """largest number of seconds of learning"""
    goal: float = 0.8
    """share of rounds to win"""
    rounds: int = 500
    """rounds of an evaluation"""
    seed: int = 1
    """seed of games and networks"""
    threads: int = 2
    """threads of PyTorch"""
    docs: bool = False
    """write the table into docs/environment/libraries.md"""


@dataclass(frozen=True)
class Row:
    """Measurements of one library.

    Attributes:
        library: its name in `LIBRARIES`.
        title: name of the learner.
        version: version of the package.
        lines: number of statements from the import to the environment.
        seconds: training time until the goal was reached, or in total.
        share_won: win rate afterwards.
        updates: number of updates until then.
    """

    library: str
    title: str
    version: str
    lines: int
    seconds: float
    share_won: float
    updates: int


def lines_of(library: Library) -> int:
    """Count the statements of the functions in `doors`, without docstrings; nothing is imported."""
    source = Path(__file__).with_name(f"{library.module}.py").read_text(encoding="utf-8")
    functions = [part for part in ast.parse(source).body if isinstance(part, ast.FunctionDef)]
    return sum(
        len(function.body) - (ast.get_docstring(function) is not None)
        for function in functions
        if function.name in library.doors
    )


def any_legal(observations: Floats, masks: Masks) -> Ints:
    """Return the first legal actions, to compile the evaluation."""
    chosen: Ints = masks.argmax(axis=1).astype(np.int64)
    return chosen


def measure(name: str, args: Args) -> Row:
    """Train with a library until the goal is reached or the time is over.

    Raises:
        ImportError: the library is not installed.
    """
    library = LIBRARIES[name]
    module: Any = importlib.import_module(f"research.measurements.works_with.{library.module}")
    learner: Iterator[Act] = module.learn(args.seed)
    next(learner)  # compiles
    share_won(any_legal, rounds=args.rounds, seed=args.seed)
    learner = module.learn(args.seed)
    seconds, share, updates, look = 0.0, 0.0, 0, _FIRST_LOOK
    while seconds < args.seconds and share < args.goal:
        began = time.perf_counter()
        act = next(learner)
        seconds += time.perf_counter() - began
        updates += 1
        if seconds >= min(look, args.seconds):
            share = share_won(act, rounds=args.rounds, seed=args.seed + updates)
            look *= _NEXT_LOOK
            say(f"{name}: {100 * share:.1f} % of {args.rounds} rounds after {seconds:.1f} s")
    learner.close()  # type: ignore[attr-defined] # it is a generator
    version = importlib.metadata.version(library.package).partition("+")[0]
    return Row(name, library.title, version, lines_of(library), seconds, share, updates)


def table(rows: list[Row], args: Args) -> str:
    """Return the rows as Markdown."""
    lines = []
    for row in rows:
        seconds = f"{row.seconds:.1f}" if row.share_won >= args.goal else f"not in {row.seconds:.0f}"
        lines.append((row.title, row.version, str(row.lines), seconds, f"{100 * row.share_won:.1f} %"))
    headings = ("library", "version", "lines", f"seconds to {100 * args.goal:.0f} %", "rounds won then")
    return Table(headings, lines, text_columns=2).markdown()


def write_docs(rows: list[Row], args: Args, load: tuple[float, float]) -> None:
    """Write the table to the page, and the figures to docs/benchmarks.

    Libraries that were not measured keep their rows: not all fit into one environment.
    """
    rows = with_older_rows(rows)
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    write_text_atomically(PAGE, f"{before}{BEGIN}\n{table(rows, args)}\n{END}{after}")
    content = {
        "environment": environment_info(),
        "load_average": load,
        "benchmark": {name: value for name, value in asdict(args).items() if name != "docs"},
        "rows": [asdict(row) for row in rows],
    }
    write_json_atomically(FIGURES, content)


def with_older_rows(rows: list[Row]) -> list[Row]:
    """Return the rows with those of other libraries on disk, in the order of `LIBRARIES`."""
    known = json.loads(FIGURES.read_text(encoding="utf-8"))["rows"] if FIGURES.exists() else []
    by_name = {row.library: row for row in (*(Row(**old) for old in known), *rows)}
    order = {name: index for index, name in enumerate(LIBRARIES)}
    return sorted(by_name.values(), key=lambda row: order.get(row.library, len(order)))


def check(args: Args) -> None:
    """Check the options.

    Raises:
        OptionError: a library is unknown, or a number is too small.
    """
    unknown = [name for name in args.only if name not in LIBRARIES]
    if unknown:
        raise OptionError(f"--only is {unknown[0]!r}; it must be one of {', '.join(LIBRARIES)}")
    if args.seconds <= 0 or args.rounds < 1 or args.threads < 1:
        raise OptionError("--seconds, --rounds and --threads must be above 0")


def load_average() -> float:
    """Return the load of the last minute; 0 where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def run(args: Args) -> None:
    """Measure, print, and write the docs on request."""
    import torch  # noqa: PLC0415 - after `train`

    check(args)
    torch.set_num_threads(args.threads)
    load, rows = load_average(), []
    for name in args.only or LIBRARIES:
        try:
            rows.append(measure(name, args))
        except ImportError as error:
            if args.only:
                raise OptionError(
                    f"{name} is not installed ({error}): `make works-with` installs it"
                ) from None
            say(f"{name}: left out, it is not installed ({error})")
    print(table(rows, args), end="")
    if args.docs:
        write_docs(rows, args, (load, load_average()))


if __name__ == "__main__":
    prog = "python -m research.measurements.works_with"
    sys.exit(run_command(lambda: run(tyro.cli(Args, prog=prog, description=__doc__))))
