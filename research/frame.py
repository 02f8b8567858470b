"""The frame of all questions: the command line, the parts and their folder, and the output.

`research/README.md` shows how a question is written.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
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
from research.pages import write_block
from research.parts import Part, Parts, Record
from research.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS: Final = Path("results/research")
DOCS: Final = Path("docs")
PAGE: Final = DOCS / "research.md"
LOCK_FILE: Final = "research.lock"
STOPPED: Final = "stopped; the same command goes on with the part that it was at"
_NOT_OF_THE_WORK: Final = ("out", "docs", "resume", "minutes", "dry_run")
"""Options on which no result depends."""

OnProgress = Callable[[float], None]
"""Called with the share of a part that is done, 0 to 1."""


def by_default(words: str) -> object:
    """Set the words for the default of an option in --help, if the value itself says nothing."""
    return tyro.conf.arg(help_behavior_hint=f"(default: {words})")


@dataclass(frozen=True)
class Options:
    """The options of every question; a question with more of them derives from this."""

    seed: int = 1
    """the first seed"""
    seeds: int = 5
    """how many seeds, one after the other"""
    quick: bool = False
    """a small run, in a folder of its own, to see what the question shows"""
    minutes: Annotated[float | None, by_default("no limit")] = None
    """begin no part after so many minutes; the same command goes on with the rest"""
    out: Annotated[Path | None, by_default("results/research/NAME")] = None
    """folder of the parts"""
    resume: bool = True
    """keep parts that are done; --no-resume measures all of them again"""
    dry_run: bool = False
    """only say what is done and what is left"""
    docs: bool = False
    """write figures, picture and the block of the page into docs"""

    @property
    def all_seeds(self) -> range:
        """The seeds."""
        return range(self.seed, self.seed + self.seeds)


OptionsT = TypeVar("OptionsT", bound=Options)


@dataclass(frozen=True)
class Question(Generic[OptionsT]):
    """A question, and how it is answered.

    Attributes:
        name: of its file in `research`, of its folder, its picture and its block.
        title: the question in a sentence.
        options: the dataclass of its options.
        parts: the parts of the work; their names differ.
        measure: measures one part; the result, as JSON values, may depend on nothing else. Calls what it is
            given with the share that is done. A `MissingExtraError` skips the part and says so.
        tables: what the records show; there may be fewer than parts.
        draw: draws the picture of the records; None: there is none.
        size: width and height of the picture in inches.
        page: on which its block stands.
    """

    name: str
    title: str
    options: type[OptionsT]
    parts: Callable[[OptionsT], Sequence[Part]]
    measure: Callable[[Part, OnProgress], Mapping[str, Any]]
    tables: Callable[[Sequence[Record]], Sequence[Table]]
    draw: Callable[[Figure, Sequence[Record]], None] | None = None
    size: tuple[float, float] = (8.0, 4.5)
    page: Path = PAGE


def main(question: Question[Any], arguments: Sequence[str] | None = None) -> int:
    """The command line of a question.

    Args:
        question: to be answered.
        arguments: of the command line; None: those of the process.

    Returns:
        The exit status: 0; 2 if an option or a file is not what it should be; 128 and the signal's number
        after a signal.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)

    def command() -> int:
        prog = f"python -m research.{question.name}"
        about = getattr(question.measure, "__globals__", {}).get("__doc__") or question.title
        answer(question, read_options(question.options, prog, given, about))
        return 0

    return run_command(command, stopped=STOPPED)


def answer(question: Question[OptionsT], options: OptionsT) -> list[Record]:
    """Measure what is not measured yet, print what was found, and write it if asked to.

    Args:
        question: to be answered.
        options: of the command.

    Returns:
        The records of the parts that are done.

    Raises:
        MilleBornesError: an option or a file is not what it should be.
        OSError: a file could not be read or written.
    """
    check(options)
    parts = list(question.parts(options))
    if twice := {part.name for part in parts if [other.name for other in parts].count(part.name) > 1}:
        raise MilleBornesError(
            f"two parts of {question.name} are called {min(twice)!r}: give each its own name"
        )
    folder = options.out or RESULTS / (question.name + ("-quick" if options.quick else ""))
    parts = [dataclasses.replace(part, folder=folder) for part in parts]
    refusal = MilleBornesError(
        f"{str(folder)!r}: another process measures into this folder: wait for it, or give another --out"
    )
    with contextlib.nullcontext() if options.dry_run else locked(folder / LOCK_FILE, refusal):
        records = _measured(question, parts, Parts(folder), options)
    print(f"{question.title} ({len(records)} of {len(parts)} parts, {folder})")
    if not records:
        return records
    tables = list(question.tables(records))
    for table in tables:
        table.print()
    if options.docs and not options.dry_run:
        write_docs(question, options, records, tables, len(parts))
    return records


def check(options: Options) -> None:
    """Refuse what makes no run.

    Raises:
        MilleBornesError: an option is out of range.
    """
    if options.seeds < 1:
        raise MilleBornesError(f"--seeds is {options.seeds}; there must be 1 or more")
    if options.minutes is not None and not options.minutes > 0:
        raise MilleBornesError(f"--minutes is {options.minutes}; it must be more than 0")


def command_of(question: Question[OptionsT], options: OptionsT) -> str:
    """The command that gives these results: the options that are not the defaults, without the paths."""
    words = ["python", "-m", f"research.{question.name}"]
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        if field.name in _NOT_OF_THE_WORK or value == default:
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
    """The records of the parts, as far as the options let them be measured."""
    remove_drafts(kept.folder)
    result = {part.name: kept.read(part) if options.resume else None for part in parts}
    todo = [] if options.dry_run else [part for part in parts if result[part.name] is None]
    begun = time.monotonic()
    with _progress_bar() as bar:
        task = bar.add_task(question.name, total=sum(part.weight for part in parts))
        bar.advance(task, sum(part.weight for part in parts if part not in todo))
        for part in todo:
            if options.minutes is not None and time.monotonic() - begun > 60 * options.minutes:
                break
            bar.update(task, description=part.name)
            before = bar.tasks[task].completed
            try:
                record = _measure(question, part, options, _teller(bar, task, part, before))
            except MissingExtraError as missing:
                say(f"{part.name} is skipped: {missing}")
            else:
                kept.keep(record)
                result[part.name] = record
            bar.update(task, completed=before + part.weight)
    return [done for part in parts if (done := result[part.name]) is not None]


def _measure(question: Question[OptionsT], part: Part, options: OptionsT, on_progress: OnProgress) -> Record:
    """One part, with the time that it took."""
    begun, spent = time.monotonic(), time.process_time()
    result = question.measure(part, on_progress)
    about = {
        "command": command_of(question, options),
        "versions": versions(),
        "environment": environment_info(),
        "day": datetime.now(UTC).date().isoformat(),
    }
    return Record(part, result, time.monotonic() - begun, time.process_time() - spent, about)


def _teller(bar: Progress, task: TaskID, part: Part, done: float) -> OnProgress:
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

    Args:
        question: that was answered.
        options: of the command.
        records: of the parts that are done.
        tables: of them.
        parts: how many parts there are.

    Raises:
        MilleBornesError: the page has no place for the block.
        OSError: a file could not be written.
    """
    figures = DOCS / "research" / f"{question.name}.json"
    picture = DOCS / "images" / f"research_{question.name}.png"
    blocks = [table.markdown() for table in tables]
    no_picture = ""
    if question.draw is not None:
        no_picture = save_picture(picture, lambda: _drawn(question, records))
        warn(no_picture)
        blocks.append(f"![{question.title}](images/{picture.name})\n")
    blocks.append(f"{_run_in_words(question, options, records, parts)} [All figures]({_link(figures)}).\n")
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
    write_block(question.page, question.name, "\n".join(blocks))
    print(
        f"wrote {question.page} and {figures}"
        + (f" and {picture}" if question.draw and not no_picture else "")
    )


def _drawn(question: Question[OptionsT], records: Sequence[Record]) -> Figure:
    figure = new_figure(*question.size, layout="constrained")
    if question.draw is not None:
        question.draw(figure, records)
    return figure


def _run_in_words(
    question: Question[OptionsT], options: OptionsT, records: Sequence[Record], parts: int
) -> str:
    """Describe the run."""
    seeds = sorted({record.part.seed for record in records})
    days = sorted({str(record.about["day"]) for record in records})
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    seconds = sum(record.processor_seconds for record in records)
    return (
        f"`{command_of(question, options)}`, {' to '.join(dict.fromkeys((days[0], days[-1])))}: "
        f"{len(records)} of {parts} parts, {which}, {seconds:,.0f} s of processor time."
    )


def _link(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()
