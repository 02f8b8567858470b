"""A run of any trainer: logging, evaluation, checkpoints, resumption, and the exit code of its command."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Protocol, Self, TypeVar

import numpy as np
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter
from torch import Tensor

from millebornes_env._util.command_line import print_error, run_command, sentence
from millebornes_env._util.files import write_json_atomically
from millebornes_env._util.signals import Stopped, Stops, exit_code_of
from millebornes_env._util.versions import versions
from millebornes_env.arena.learning_curve import (
    EvalOpponents,
    Point,
    curve_title,
    save_curve,
    seconds_to_next,
    warm_up,
)
from millebornes_env.arena.match import MatchConfig
from millebornes_env.cli.console import progress_console
from millebornes_env.errors import SolvingError
from millebornes_env.games.variants import Split
from millebornes_env.solving.report import ExploitabilityCurve
from millebornes_env.solving.values import SMALL
from train.common.options import TrainingOptions, parse_options
from train.common.run_folder import (
    BEST_FOLDER,
    CHECKPOINT_FILE,
    CONFIG_FILE,
    EVENTS_FOLDER,
    FAILED_BATCH,
    LossError,
    RunError,
    RunFolder,
    cannot_write,
    does_not_fit,
    read_tensors,
    recorded_options,
    refuse_other_options,
    refuse_second_run,
    write_tensors,
)

Options = TypeVar("Options")

LOSS_NOT_FINITE: Final = 1
"""Exit code: options and files are valid, but a loss became NaN or infinite."""

EXPLOITABILITY: Final = "exploitability"
"""Name of the curve of exploitability in the run folder, without suffix."""
_PLAYERS_OF_SMALL_DECKS: Final = 2
_FILE_VERSION: Final = "brain.Event:2"
_LOG_SECONDS: Final = 2.0


class Learner(Protocol):
    """The learner of a run: `Trainer` of train.selfplay, `LibraryLearner` of train.common.libraries."""

    @property
    def decisions(self) -> int:
        """Number of decisions learned from so far."""

    @property
    def seconds(self) -> Mapping[str, float]:
        """Seconds of each part of the work, by name; empty if they are not measured."""

    def save_policy(self, folder: Path) -> None:
        """Write the policy in the format that agents play; raise an `OSError` if a file cannot be written."""

    def checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return all that learning depends on: tensors and JSON values, by name."""

    def restore(self, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        """Continue from the result of `checkpoint`.

        Raises:
            KeyError, TypeError, RuntimeError, ValueError, AttributeError: it is of another learner.
        """


class Run:
    """A run and its folder; used in a `with` block, which holds the lock and shows the progress bar.

    Attributes:
        curve: the evaluations so far.
        problem: message about the last write if it failed, else None.
    """

    def __init__(self, args: TrainingOptions, kind: str, algorithm: str) -> None:
        """Check the folder; nothing is written yet.

        Only checkpoints of the kind are resumed, a name with a version. The algorithm is named in the plot.

        Raises:
            RunError: the folder holds a run and `resume` is off.
        """
        self.args = args
        self.folder = args.run_dir
        self.curve: list[Point] = []
        self.problem: str | None = None
        self._no_plot = ""
        self._kind = kind
        self._algorithm = algorithm
        self._best = -np.inf
        self._bar = TrainingBar()
        self._run_folder = RunFolder(self.folder)
        self._closing = contextlib.ExitStack()
        self._seconds_before = 0.0
        self._ended: float | None = None
        self._started = self._last_point = self._last_checkpoint = self._last_log = time.perf_counter()
        self._decisions_at_log = 0
        self._config: dict[str, Any] = {}
        self._eval_opponents: EvalOpponents | None = None
        self._exploitability: ExploitabilityCurve | None = None
        self._is_running = False  # `begin` sets the following, too
        self._learner: Learner
        self._scalars: Scalars
        refuse_second_run(self.folder, args.resume)

    def __enter__(self) -> Self:
        """Lock the folder.

        Raises:
            RunError: another process holds the lock, the folder cannot be written, or it holds a run with
                other options or a damaged one.
        """
        with contextlib.ExitStack() as opened:
            opened.enter_context(self._run_folder)
            self._refuse_other_options()
            opened.enter_context(self._bar)
            self._closing = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = self._ended or time.perf_counter()
        self._closing.close()

    def _refuse_other_options(self) -> None:
        recorded = recorded_options(self.folder, self._kind)
        if recorded:
            recorded = {**type(self.args)().config(), **recorded}  # some options may be newer than the run
            refuse_other_options(self.folder, self.args.config(), recorded, self.args.free)

    def warm_up(self, learner: Learner) -> None:
        """Compile all that evaluations need, by a small evaluation whose result is dropped."""
        if self.args.eval_seconds > 0:
            # A full disk is reported when a file is to be kept.
            with contextlib.suppress(OSError), self._run_folder.scratch() as folder:
                learner.save_policy(Path(folder))
                warm_up(Path(folder), self._tables(), self.args.eval_opponents)

    def begin(self, learner: Learner) -> None:
        """Resume a stopped run, whose learner's state is restored, or start a new one; start the clock.

        Raises:
            RunError: the checkpoint is damaged or of another network, or the folder cannot be written.
        """
        self._learner = learner
        self._config = {"args": self.args.config(), "versions": versions(), "command": sys.argv}
        if (self.folder / CHECKPOINT_FILE).exists():
            self._restore_checkpoint()
        else:
            try:
                write_json_atomically(self.folder / CONFIG_FILE, self._config)
            except OSError as error:
                raise cannot_write(self.folder, error) from None
        wandb_run = None
        if self.args.wandb_project:
            wandb_run = start_wandb(self.args.wandb_project, self.folder.name, self.args.config())
        self._scalars = Scalars(self.folder / EVENTS_FOLDER, learner.decisions, wandb_run)
        self._closing.callback(self._scalars.close)
        if self.args.eval_seconds > 0:
            self._eval_opponents = EvalOpponents(
                self._tables(), self.args.eval_opponents, self.args.eval_deals
            )
            self._exploitability = self._curve_of_small_deck()
        self._started = self._last_log = self._last_checkpoint = self._last_point = time.perf_counter()
        self._decisions_at_log = learner.decisions
        self._is_running = True
        self._bar.begin()

    def _tables(self) -> list[MatchConfig]:
        """Return the tables of an evaluation."""
        args, episode = self.args, self.args.chosen_episode
        return [
            MatchConfig(name, args.players, args.teams, episode=episode, seed=args.seed)
            for name in args.sheets
        ]

    def _curve_of_small_deck(self) -> ExploitabilityCurve | None:
        """Return the curve of exploitability, if the only sheet is a deck that is evaluated in a second."""
        table = self._tables()[0]
        find, is_alone = self.args.game.find_hook("solving.solvable"), len(self.args.sheets) == 1
        is_drawn = isinstance(table.sheets, Split)
        if find is None or not is_alone or is_drawn or table.players != _PLAYERS_OF_SMALL_DECKS:
            return None
        try:
            deck = find(table.sheets, largest=SMALL)
        except SolvingError:
            return None
        return ExploitabilityCurve(deck, every=1, out=self.folder / EXPLOITABILITY)

    def _restore_checkpoint(self) -> None:
        progress, tensors = read_tensors(self.folder, self._kind)
        try:
            self._learner.restore(tensors, progress)
            self._seconds_before = float(progress["seconds"])
            self._best = float(progress["best"])
            self.curve = [Point.of(point) for point in progress["curve"]]
        except RunError:
            raise
        except (KeyError, TypeError, RuntimeError, ValueError, AttributeError) as error:
            raise does_not_fit(self.folder, error) from None

    @property
    def seconds(self) -> float:
        """Duration of training in seconds, with evaluations, checkpoints and earlier parts of a resumed run.

        Compiling does not count.
        """
        now = time.perf_counter() if self._ended is None else self._ended
        return self._seconds_before + now - self._started

    @property
    def share(self) -> float:
        """Completed share of the run, 0 to 1; 0 before `begin`."""
        if not self._is_running:
            return 0.0
        if self.args.minutes > 0:
            return min(self.seconds / (60.0 * self.args.minutes), 1.0)
        return min(self._learner.decisions / self.args.total_timesteps, 1.0)

    def train(self, stops: Stops, update: Callable[[float], Mapping[str, float]]) -> None:
        """Update until the budget is spent; a signal waits for the end of the update.

        An update plays and learns, given the completed share of the run, and returns statistics by name.

        Raises:
            LossError: from an update; the batch was saved, if it is known.
            Stopped: a signal; a checkpoint was written, unless an update was stopped halfway.
        """
        try:
            while (share := self.share) < 1.0:
                with stops.deferred():
                    try:
                        statistics = update(share)
                    except LossError as error:
                        if error.batch is not None:
                            self.save(error.batch)
                        raise
                self.after_update({f"train/{name}": value for name, value in statistics.items()})
            self.finish()
        except Stopped as stop:
            if not stop.half_done:
                self.save()
            raise

    def after_update(self, statistics: Mapping[str, float] | None = None) -> None:
        """Log statistics by name (docs/agents/training.md), unless None; evaluate and save when due."""
        now = time.perf_counter()
        if now - self._last_log >= _LOG_SECONDS:
            with contextlib.suppress(OSError):  # the next checkpoint tries again and reports the error
                self._check_folder()
            if statistics is not None:
                rate = (self._learner.decisions - self._decisions_at_log) / (now - self._last_log)
                shares = {f"time/share_{part}": share for part, share in self.time_shares().items()}
                self.add_scalars({**statistics, "time/decisions_per_second": rate, **shares})
            self._last_log, self._decisions_at_log = now, self._learner.decisions
        self.show_progress()
        wait = seconds_to_next(self.args.eval_seconds, self.seconds)
        if self._eval_opponents is not None and now - self._last_point >= wait:
            self._evaluate()
            self._last_point = time.perf_counter()
        if 0 < self.args.checkpoint_seconds <= now - self._last_checkpoint:
            self.save(last=False)
            self._last_checkpoint = time.perf_counter()

    def show_progress(self) -> None:
        """Update the progress bar."""
        decisions = self._learner.decisions
        self._bar.show(self.share, decisions, decisions / max(self.seconds, 1e-9))

    def add_scalars(self, values: Mapping[str, float]) -> None:
        """Log values at the current timestep; print a warning the first time that this fails."""
        known = self._scalars.problem is not None
        self._scalars.add(values, self._learner.decisions)
        if self._scalars.problem is not None and not known:
            self._bar.warn(
                f"TensorBoard's files cannot be written ({self._scalars.problem}); training continues"
            )

    def _check_folder(self) -> None:
        """Create the folder again if it was removed, so that the run is not lost.

        Raises:
            RunError: another process trains there now.
            OSError: the folder cannot be created.
        """
        if self._run_folder.is_ours():
            return
        self._run_folder.acquire()
        self._bar.warn(
            f"the run folder {str(self.folder)!r} was removed: it is created again, and training continues"
        )
        self._scalars.start_new_file(self._learner.decisions)
        self._best = -np.inf  # that policy is gone
        write_json_atomically(self.folder / CONFIG_FILE, self._config)
        self._save_checkpoint()

    def time_shares(self) -> dict[str, float]:
        """Return the share of each part in the time; "other" is evaluation, saving and logging."""
        total = max(self.seconds, 1e-9)
        shares = {part: seconds / total for part, seconds in self._learner.seconds.items()}
        return {**shares, "other": max(1.0 - sum(shares.values()), 0.0)}

    def _evaluate(self) -> None:
        """Evaluate the policy; save it as the best if its lower confidence bound is the highest so far."""
        assert self._eval_opponents is not None
        try:
            self._check_folder()
            self._learner.save_policy(self.folder)
        except OSError as error:
            self._report(error)
            return
        point = self._eval_opponents.measure(self.folder, self.seconds, self._learner.decisions)
        self.curve.append(point)
        self._bar.say(str(point))
        self.add_scalars(point.metrics())
        if self._exploitability is not None:
            percent = self._exploitability(self._learner.decisions, f"policy:{self.folder},mode=sample")
            if percent is not None:  # else there was no update since the last evaluation
                self.add_scalars({"eval/exploitability_percent": percent})
                self._bar.say(f"exploitability: {percent:.3g} % of the payoff range")
        if point.elo_low > self._best:
            self._best = point.elo_low
            try:
                self._learner.save_policy(self.folder / BEST_FOLDER)
            except OSError as error:
                self._report(error)

    def save(self, failed_batch: Mapping[str, Tensor] | None = None, *, last: bool = True) -> None:
        """Write policy, curve, checkpoint and rows whose loss failed; a failure to write is not fatal."""
        try:
            self._check_folder()
            progress = self._save_checkpoint()
            self._learner.save_policy(self.folder)
            args, decisions = self.args, self._learner.decisions
            title = curve_title(self._algorithm, args.sheets, args.players, decisions)
            no_plot = save_curve(self.curve, self.folder, title)
            if no_plot != self._no_plot:  # once, not at each checkpoint
                self._no_plot = no_plot
                if no_plot:
                    self._bar.warn(no_plot)
            if failed_batch is not None:
                write_tensors(self.folder / FAILED_BATCH, self._kind, failed_batch, progress)
            self.problem = None
        except OSError as error:
            self._report(error, last=last)

    def _save_checkpoint(self) -> dict[str, Any]:
        """Write the checkpoint; return its progress."""
        tensors, described = self._learner.checkpoint()
        progress = {
            "config": self.args.config(),
            **described,
            "seconds": self.seconds,
            "best": self._best,
            "curve": [dataclasses.asdict(point) for point in self.curve],
        }
        write_tensors(self.folder / CHECKPOINT_FILE, self._kind, tensors, progress)
        return progress

    def _report(self, error: OSError, *, last: bool = False) -> None:
        self.problem = f"could not write to {str(self.folder)!r}: {error.strerror or error}"
        more = "" if last else "; training continues, the next checkpoint will try again"
        self._bar.warn(f"{self.problem}{more}")

    def finish(self, *, evaluate: bool = True) -> None:
        """Write the last checkpoint, after the last point of the curve; without that after a signal."""
        if evaluate and self._eval_opponents is not None:
            self._evaluate()
        self.save()
        self._ended = time.perf_counter()

    def summary(self) -> str:
        """Return decisions, seconds and their rate, for the last line of a command."""
        decisions, budget = self._learner.decisions, ""
        if self.args.minutes == 0 and decisions > self.args.total_timesteps:
            budget = f" (a budget of {self.args.total_timesteps:,}, rounded up to whole rollouts)"
        rate = per_second(decisions / max(self.seconds, 1e-9))
        return f"{decisions:,} decisions{budget} in {self.seconds:.0f} s ({rate})"


# The command ------------------------------------------------------------------------------------------------


def run_training(
    options: type[Options],
    description: str | None,
    command: Callable[[Options], str | None],
    run_dir: Callable[[Options], Path],
) -> int:
    """Run the script of a trainer that keeps checkpoints; return the exit code, as `run_trainer`.

    Args:
        options: the dataclass of the script's options.
        description: for --help.
        command: trains with the options; returns a message if the last write failed, else None.
        run_dir: returns the run folder; after a signal, --resume is offered only if it has a checkpoint.
    """

    def parse_and_train() -> int:
        args = parse_options(options, description)
        try:
            return _exit_code(lambda: command(args))
        except KeyboardInterrupt as stop:
            folder = run_dir(args)
            end = f"there is no checkpoint in {str(folder)!r}, so --resume would start again"
            if (folder / CHECKPOINT_FILE).exists():
                end = "continue from the last checkpoint with the same command and --resume"
            return print_error(f"stopped; {end}", exit_code_of(stop))

    return run_command(parse_and_train, prints=False)


def run_trainer(command: Callable[[], str | None], stopped: str = "interrupted") -> int:
    """Run a training script, which returns a message if its last write failed; report errors in a sentence.

    Returns:
        0; 2 if an option was invalid or a file could not be written; `LOSS_NOT_FINITE`; 128 plus the signal's
        number after a signal, with the message `stopped`.
    """
    return run_command(lambda: _exit_code(command), prints=False, stopped=stopped)


def _exit_code(command: Callable[[], str | None]) -> int:
    try:
        problem = command()
    except LossError as error:
        return print_error(sentence(error), LOSS_NOT_FINITE)
    return 0 if problem is None else print_error(problem)


# The progress bar -------------------------------------------------------------------------------------------


@contextlib.contextmanager
def timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Add the duration of a `with` block to the seconds of a part."""
    start = time.perf_counter()
    yield
    seconds[part] += time.perf_counter() - start


def per_second(rate: float) -> str:
    """Format a rate with three digits, as "278/s", "12.3 k/s", "464 k/s" or "1.25 M/s"."""
    if rate < 999.5:
        return f"{rate:.0f}/s" if rate >= 9.95 else f"{rate:.1f}/s"
    value, unit = (rate / 1e3, "k/s") if rate < 999_500 else (rate / 1e6, "M/s")
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"


class TrainingBar(Progress):
    """Progress bar with elapsed and remaining time, decisions and their rate; lines are printed above it."""

    def __init__(self) -> None:
        super().__init__(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[facts]}"),
            console=progress_console(),
            redirect_stdout=False,
        )
        self._training = self.add_task("training", total=1.0, facts="compiling ...")

    def begin(self) -> None:
        """Reset the time after compiling, when training starts."""
        self.reset(self._training, total=1.0, facts="")

    def show(self, share: float, decisions: int, rate: float) -> None:
        """Show the completed share (0 to 1), the decisions learned from and their rate per second."""
        facts = f"{decisions / 1e6:.2f} M decisions, {per_second(rate)}"
        self.update(self._training, completed=share, facts=facts)

    def say(self, line: str, label: str = "") -> None:
        """Print a line above the bar, such as a point of the learning curve."""
        self.console.print(f"{label}{escape(line)}", highlight=False, soft_wrap=True)

    def warn(self, message: str) -> None:
        """Print a warning above the bar."""
        self.say(message, "[bold red]warning:[/] ")


# Scalars ----------------------------------------------------------------------------------------------------


class Scalars:
    """TensorBoard event files, written in the caller's thread; the thread of PyTorch's writer loses errors.

    Attributes:
        problem: the error of the last write, or None; after an error the next values start a new file.
    """

    def __init__(self, folder: Path, step: int, wandb_run: Any = None) -> None:
        """Create a writer for a folder; nothing is written yet.

        Older values from `step` on are invalid: a killed run may have logged them. The same is logged to a
        run of Weights & Biases, if there is one.
        """
        self.problem: OSError | None = None
        self._folder = folder
        self._first_step = step
        self._wandb = wandb_run
        self._file: BinaryIO | None = None

    def add(self, values: Mapping[str, float], step: int) -> None:
        """Write values by name; if this fails, they are dropped."""
        summary = Summary(
            value=[Summary.Value(tag=name, simple_value=float(n)) for name, n in values.items()]
        )
        try:
            self._write(Event(wall_time=time.time(), step=step, summary=summary))
            self.problem = None
        except OSError as error:
            self.problem = error
            self.start_new_file(step)
        if self._wandb is not None:
            self._wandb.log(dict(values), step=step)

    def start_new_file(self, step: int) -> None:
        """Write the next values to a new file, because the old one is gone or failed."""
        self.close()
        self._first_step = step

    def close(self) -> None:
        """Close the file; an error is kept in `problem`."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self.problem = error
        self._file = None

    def _write(self, event: Event) -> None:
        events = [event]
        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            seconds, rest = divmod(
                time.time_ns(), 10**9
            )  # TensorBoard reads files in the order of their names
            name = f"events.out.tfevents.{seconds:010d}.{socket.gethostname()}.{os.getpid()}.{rest:09d}"
            self._file = (self._folder / name).open("xb")
            now, start = time.time(), SessionLog(status=SessionLog.START)
            events.insert(0, Event(wall_time=now, step=self._first_step, session_log=start))
            events.insert(0, Event(wall_time=now, file_version=_FILE_VERSION))
        for one in events:
            RecordWriter(self._file).write(one.SerializeToString())
        self._file.flush()


def start_wandb(project: str, name: str, config: Mapping[str, Any]) -> Any:
    """Start a run of Weights & Biases, which must be installed."""
    return importlib.import_module("wandb").init(project=project, name=name, config=dict(config))
