"""Framework of the research questions: the command line, the parts and their folder, and the output.

`research/README.md` shows how to write a question.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, TypeVar

import tyro
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.results import environment_info
from millebornes_env._util.command_line import option_name, run_command, say, warn
from millebornes_env._util.files import locked, new_figure, remove_drafts, save_picture, write_json_atomically
from millebornes_env._util.versions import versions
from millebornes_env.cli.console import progress_console, read_options
from millebornes_env.errors import MilleBornesError, MissingExtraError
from research.pages import write_blocks
from research.parts import Part, Parts, Record
from research.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS: Final = Path("results/research")
DOCS: Final = Path("docs")
PAGE: Final = Path("research/notes/questions.md")
LOCK_FILE: Final = "research.lock"
STOPPED: Final = "stopped; the same command continues with the unfinished part"
_NO_EFFECT: Final = ("out", "docs", "resume", "minutes", "dry_run")
"""Options on which no result depends."""

OnProgress = Callable[[float], None]
"""Callback that takes the completed share of a part, 0 to 1."""


def by_default(words: str) -> object:
    """Describe the default of an option in --help, if the value itself is not informative."""
    return tyro.conf.arg(help_behavior_hint=f"(default: {words})")


@dataclass(frozen=True)
class Options:
    """Options of every question; a question with more options derives from this class."""

    seed: int = 1
    """first seed"""
    seeds: int = 5
    """number of seeds, counted from the first"""
    quick: bool = False
    """a small run in a separate folder, to preview the output"""
    minutes: Annotated[float | None, by_default("no limit")] = None
    """start no part after this many minutes; the same command continues with the rest"""
    out: Annotated[Path | None, by_default("results/research/NAME")] = None
    """folder of the parts"""
    resume: bool = True
    """keep finished parts; --no-resume measures all of them again"""
    dry_run: bool = False
    """only report finished and remaining parts"""
    docs: bool = False
    """write figures, plot and the block of the page into docs"""

    @property
    def all_seeds(self) -> range:
        """The seeds."""
        return range(self.seed, self.seed + self.seeds)


OptionsT = TypeVar("OptionsT", bound=Options)


@dataclass(frozen=True)
class Question(Generic[OptionsT]):
    """A question with the functions that answer it.

    Attributes:
        name: name of its file in `research`, and of its folder, plot and block.
        title: the question in a sentence.
        options: the dataclass of its options.
        parts: returns the parts of the work, with unique names.
        measure: measures one part and calls its second argument with the completed share. The result, as JSON
            values, depends on the part alone. A `MissingExtraError` is reported, and the part is skipped.
        tables: builds tables from the records; there may be fewer records than parts.
        plot: plots the records; None: no plot.
        size: width and height of the plot in inches.
        page: page with the block of the question.
    """

    name: str
    title: str
    options: type[OptionsT]
    parts: Callable[[OptionsT], Sequence[Part]]
    measure: Callable[[Part, OnProgress], Mapping[str, Any]]
    tables: Callable[[Sequence[Record]], Sequence[Table]]
    plot: Callable[[Figure, Sequence[Record]], None] | None = None
    size: tuple[float, float] = (8.0, 4.5)
    page: Path = PAGE


def main(question: Question[Any], arguments: Sequence[str] | None = None) -> int:
    """Run the command line of a question.

    Args:
        question: the question.
        arguments: the command line; None: the arguments of the process.

    Returns:
        The exit status: 0; 2 if an option or a file is invalid; 128 plus the signal's number after a signal.
    """

    def command() -> None:
        about = getattr(question.measure, "__globals__", {}).get("__doc__") or question.title
        prog = f"python -m research.{question.name}"
        answer(question, read_options(question.options, prog, arguments, about))

    return run_command(command, stopped=STOPPED)


def answer(question: Question[OptionsT], options: OptionsT) -> list[Record]:
    """Measure the remaining parts, print the results, and write them to the docs on request.

    Args:
        question: the question.
        options: options of the command.

    Returns:
        The records of the finished parts.

    Raises:
        MilleBornesError: an option or a file is invalid.
        OSError: a file could not be read or written.
    """
    check(options)
    parts = list(question.parts(options))
    if twice := {part.name for part in parts if [other.name for other in parts].count(part.name) > 1}:
        raise MilleBornesError(
            f"two parts of {question.name} have the name {min(twice)!r}: give each its own name"
        )
    folder = options.out or RESULTS / (question.name + ("-quick" if options.quick else ""))
    parts = [dataclasses.replace(part, folder=folder) for part in parts]
    refusal = MilleBornesError(
        f"{str(folder)!r}: another process measures into this folder: wait for it, or give another --out"
    )
    with contextlib.nullcontext() if options.dry_run else locked(folder / LOCK_FILE, refusal):
        records = _measured(question, parts, Parts(folder), options)
    print(f"{question.title} ({len(records)} of {len(parts)} parts, {folder})")
    if options.dry_run:
        say_what_is_left({part.name for part in parts} - {record.part.name for record in records})
    if not records:
        return records
    tables = list(question.tables(records))
    for table in tables:
        table.print()
    if options.docs and not options.dry_run:
        write_docs(question, options, records, tables, len(parts))
    return records


def say_what_is_left(names: Iterable[str]) -> None:
    """Print the parts that are not measured yet, those that differ in their seed together."""
    left = Counter(re.sub(r"_seed_\d+$", "", name) for name in sorted(names))
    print(f"left: {', '.join(f'{name} ({count})' for name, count in left.items()) or 'nothing'}")


def check(options: Options) -> None:
    """Check the options of all questions.

    Raises:
        MilleBornesError: an option is out of range.
    """
    if options.seeds < 1:
        raise MilleBornesError(f"--seeds is {options.seeds}; it must be 1 or more")
    if options.minutes is not None and not options.minutes > 0:
        raise MilleBornesError(f"--minutes is {options.minutes}; it must be more than 0")


def command_of(question: Question[OptionsT], options: OptionsT) -> str:
    """Return the command that reproduces the results: options other than the defaults, without paths."""
    words = ["python", "-m", f"research.{question.name}"]
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if field.name in _NO_EFFECT or value == field.default:
            continue
        name = option_name(field.name)
        if isinstance(value, bool):
            words.append(name if value else option_name(f"no_{field.name}"))
        else:
            words += [name, *map(str, value if isinstance(value, list | tuple) else [value])]
    return shlex.join(words)


# Measuring --------------------------------------------------------------------------------------------------


def _measured(
    question: Question[OptionsT], parts: Sequence[Part], kept: Parts, options: OptionsT
) -> list[Record]:
    """Measure the parts within the limits of the options; return the records."""
    remove_drafts(kept.folder)
    result = {part.name: kept.read(part) if options.resume else None for part in parts}
    todo = [] if options.dry_run else [part for part in parts if result[part.name] is None]
    start = time.monotonic()
    with _progress_bar() as bar:
        task = bar.add_task(question.name, total=sum(part.weight for part in parts))
        bar.advance(task, sum(part.weight for part in parts if part not in todo))
        for part in todo:
            if options.minutes is not None and time.monotonic() - start > 60 * options.minutes:
                break
            bar.update(task, description=part.name)
            before = bar.tasks[task].completed
            try:
                record = _measure(question, part, options, _progress_callback(bar, task, part, before))
            except MissingExtraError as missing:
                say(f"{part.name} is skipped: {missing}")
            else:
                kept.save(record)
                result[part.name] = record
            bar.update(task, completed=before + part.weight)
    return [done for part in parts if (done := result[part.name]) is not None]


def _measure(question: Question[OptionsT], part: Part, options: OptionsT, on_progress: OnProgress) -> Record:
    """Measure one part and its time."""
    start, processor_start = time.monotonic(), time.process_time()
    result = question.measure(part, on_progress)
    about = {
        "command": command_of(question, options),
        "versions": versions(),
        "environment": environment_info(),
        "day": datetime.now(UTC).date().isoformat(),
    }
    seconds, processor_seconds = time.monotonic() - start, time.process_time() - processor_start
    return Record(part, result, seconds, processor_seconds, about)


def _progress_callback(bar: Progress, task: TaskID, part: Part, done: float) -> OnProgress:
    return lambda share: bar.update(task, completed=done + part.weight * min(max(share, 0.0), 1.0))


def _progress_bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=progress_console(),
        transient=True,
    )


# The docs ---------------------------------------------------------------------------------------------------


def write_docs(
    question: Question[OptionsT],
    options: OptionsT,
    records: Sequence[Record],
    tables: Sequence[Table],
    parts: int,
) -> None:
    """Write docs/research/NAME.json, docs/images/research_NAME.png and the block of the page.

    Raises:
        MilleBornesError: the page has no marks for the block.
        OSError: a file could not be written.
    """
    figures = DOCS / "research" / f"{question.name}.json"
    picture = DOCS / "images" / f"research_{question.name}.png"
    blocks = [table.markdown() for table in tables]
    written = f"{question.page} and {figures}"
    if (plot := question.plot) is not None:

        def draw() -> Figure:
            figure = new_figure(*question.size, layout="constrained")
            plot(figure, records)
            return figure

        no_picture = save_picture(picture, draw)
        warn(no_picture)
        written += "" if no_picture else f" and {picture}"
        blocks.append(f"![{question.title}]({_link(picture, question.page)})\n")
    run = _describe_run(question, options, records, parts)
    blocks.append(f"{run} [All figures]({_link(figures, question.page)}).\n")
    abouts = list({json.dumps(record.about): record.about for record in records}.values())
    content = {
        "question": question.title,
        "command": command_of(question, options),
        "parts": parts,
        "about": abouts,
        "records": [{**record.content(), "about": abouts.index(record.about)} for record in records],
        "tables": [dataclasses.asdict(table) for table in tables],
    }
    write_json_atomically(figures, content)
    write_blocks(question.page, question.name, {question.name: "\n".join(blocks)})
    print(f"wrote {written}")


def _link(target: Path, page: Path) -> str:
    """Return the path of a file as seen from the folder of a page."""
    return Path(os.path.relpath(target, page.parent)).as_posix()


def _describe_run(
    question: Question[OptionsT], options: OptionsT, records: Sequence[Record], parts: int
) -> str:
    """Return command, days, parts, seeds and processor time in a sentence."""
    seeds = sorted({record.part.seed for record in records})
    days = sorted({str(record.about["day"]) for record in records})
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    seconds = sum(record.processor_seconds for record in records)
    return (
        f"`{command_of(question, options)}`, {' to '.join(dict.fromkeys((days[0], days[-1])))}: "
        f"{len(records)} of {parts} parts, {which}, {seconds:,.0f} s of processor time."
    )
