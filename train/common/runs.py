"""A run of any trainer: when it logs, evaluates and saves, and how a stopped one goes on."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

import numpy as np
from torch import Tensor

from millebornes_env._util.files import write_json_atomically
from millebornes_env._util.versions import versions
from millebornes_env.arena.gauntlet import Gauntlet, Point, curve_title, save_curve, seconds_to_next, warm_up
from millebornes_env.arena.match import MatchConfig
from train.common.checkpoints import (
    does_not_fit,
    read_tensors,
    recorded_options,
    refuse_other_options,
    refuse_second_run,
    write_tensors,
)
from train.common.errors import RunError
from train.common.options import TrainingOptions
from train.common.progress import TrainingBar, per_second
from train.common.run_folder import (
    BEST_FOLDER,
    CHECKPOINT_FILE,
    CONFIG_FILE,
    EVENTS_FOLDER,
    FAILED_BATCH,
    RunFolder,
    cannot_write,
)
from train.common.scalars import Scalars, started_wandb

_LOG_SECONDS: Final = 2.0


class Learner(Protocol):
    """The learner of a run: `Trainer` in train.selfplay, `Learner` in train.maskable_ppo."""

    @property
    def decisions(self) -> int:
        """Learned from so far."""

    @property
    def seconds(self) -> Mapping[str, float]:
        """Seconds of each part of the work, by name; empty if they are not measured."""

    def save_policy(self, folder: Path) -> None:
        """Write the policy as agents play it.

        Raises:
            OSError: it could not be written.
        """

    def checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """All that learning depends on: tensors and JSON values, by name."""

    def restore(self, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        """Go on from what `checkpoint` returned.

        Raises:
            KeyError, TypeError, RuntimeError, ValueError, AttributeError: it is of another learner.
        """


class Run:
    """A run and its folder; used in a `with` block, which holds the lock and shows the progress bar.

    Attributes:
        curve: the evaluations so far.
        problem: what could not be written the last time, or None.
    """

    def __init__(self, args: TrainingOptions, kind: str, algorithm: str) -> None:
        """Look at the folder; nothing is written yet.

        Args:
            args: the options of the run.
            kind: of its checkpoints, a name with a version: others are refused.
            algorithm: name of the learning algorithm, for the picture.

        Raises:
            RunError: the folder holds a run and `resume` was not asked for.
        """
        self.args = args
        self.folder = args.run_dir
        self.curve: list[Point] = []
        self.problem: str | None = None
        self._no_picture = ""
        self._kind = kind
        self._algorithm = algorithm
        self._best = -np.inf
        self._bar = TrainingBar()
        self._run_folder = RunFolder(self.folder)
        self._closing = contextlib.ExitStack()
        self._seconds_before = 0.0
        self._ended: float | None = None
        self._began = self._last_point = self._last_checkpoint = self._last_log = time.perf_counter()
        self._decisions_at_log = 0
        self._config: dict[str, Any] = {}
        self._gauntlet: Gauntlet | None = None
        self._has_begun = False  # and with it there are:
        self._learner: Learner
        self._scalars: Scalars
        refuse_second_run(self.folder, args.resume)

    def __enter__(self) -> Self:
        """Take the folder.

        Raises:
            RunError: another process is writing to it, it cannot be written, or it holds a run that was begun
                with other options, or a damaged one.
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
        begun = recorded_options(self.folder, self._kind)
        if begun:
            begun = {**type(self.args)().config(), **begun}  # some options may be newer than the run
            refuse_other_options(self.folder, self.args.config(), begun, self.args.free)

    def warm_up(self, learner: Learner) -> None:
        """Compile what evaluations need, by a small evaluation of the policy whose result is dropped."""
        if self.args.eval_seconds > 0:
            # A disk that takes no files is told of when something is to be kept.
            with contextlib.suppress(OSError), self._run_folder.scratch() as folder:
                learner.save_policy(folder)
                warm_up(folder, self._tables(), self.args.gauntlet)

    def begin(self, learner: Learner) -> None:
        """Take up a run that was stopped, or begin a new one; from here on the clock runs.

        Args:
            learner: who learns; a stopped run puts it where it was.

        Raises:
            RunError: the checkpoint is damaged or of another network, or the folder cannot be written.
        """
        self._learner = learner
        self._config = {"args": self.args.config(), "versions": versions(), "command": sys.argv}
        if (self.folder / CHECKPOINT_FILE).exists():
            self._take_up()
        else:
            try:
                write_json_atomically(self.folder / CONFIG_FILE, self._config)
            except OSError as error:
                raise cannot_write(self.folder, error) from None
        wandb_run = None
        if self.args.wandb_project:
            wandb_run = started_wandb(self.args.wandb_project, self.folder.name, self.args.config())
        self._scalars = Scalars(self.folder / EVENTS_FOLDER, learner.decisions, wandb_run)
        self._closing.callback(self._scalars.close)
        if self.args.eval_seconds > 0:
            self._gauntlet = Gauntlet(self._tables(), self.args.gauntlet, self.args.eval_deals)
        self._began = self._last_log = self._last_checkpoint = self._last_point = time.perf_counter()
        self._decisions_at_log = learner.decisions
        self._has_begun = True
        self._bar.begin()

    def _tables(self) -> list[MatchConfig]:
        """The tables of an evaluation."""
        args = self.args
        episode = args.chosen_episode
        return [
            MatchConfig(name, args.players, args.teams, episode=episode, seed=args.seed)
            for name in args.sheets
        ]

    def _take_up(self) -> None:
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
        """Trained, those before a resume included, evaluations and checkpoints too; compiling is not."""
        now = time.perf_counter() if self._ended is None else self._ended
        return self._seconds_before + now - self._began

    @property
    def share(self) -> float:
        """The part of the run that is done, 0 to 1; 0 before it has begun."""
        if not self._has_begun:
            return 0.0
        if self.args.minutes > 0:
            return min(self.seconds / (60.0 * self.args.minutes), 1.0)
        return min(self._learner.decisions / self.args.total_timesteps, 1.0)

    def after_update(self, statistics: Mapping[str, float] | None = None) -> None:
        """Log, evaluate and save, whatever it is time for.

        Args:
            statistics: of the update, by the names of docs/training.md; None: they are logged elsewhere.
        """
        now = time.perf_counter()
        if now - self._last_log >= _LOG_SECONDS:
            with contextlib.suppress(OSError):  # the next checkpoint tries again, and tells
                self._look_after_folder()
            if statistics is not None:
                self._log(statistics, now)
            self._last_log, self._decisions_at_log = now, self._learner.decisions
        self.show_progress()
        wait = seconds_to_next(self.args.eval_seconds, self.seconds)
        if self._gauntlet is not None and now - self._last_point >= wait:
            self._evaluate()
            self._last_point = time.perf_counter()
        if 0 < self.args.checkpoint_seconds <= now - self._last_checkpoint:
            self.save(last=False)
            self._last_checkpoint = time.perf_counter()

    def show_progress(self) -> None:
        """Move the progress bar."""
        decisions = self._learner.decisions
        self._bar.update(self.share, decisions, decisions / max(self.seconds, 1e-9))

    def add_scalars(self, values: Mapping[str, float]) -> None:
        """Log numbers at the present timestep; the first time that this goes wrong, a warning is shown."""
        known = self._scalars.problem is not None
        self._scalars.add(values, self._learner.decisions)
        if self._scalars.problem is not None and not known:
            self._bar.warn(
                f"TensorBoard's files cannot be written ({self._scalars.problem}); training goes on"
            )

    def _log(self, statistics: Mapping[str, float], now: float) -> None:
        rate = (self._learner.decisions - self._decisions_at_log) / (now - self._last_log)
        shares = {f"time/share_{part}": share for part, share in self.time_shares().items()}
        self.add_scalars({**statistics, "time/decisions_per_second": rate, **shares})

    def _look_after_folder(self) -> None:
        """Make the folder anew if somebody has removed it: what is learned is not to be lost with it.

        Raises:
            RunError: another process trains there now.
            OSError: it cannot be made.
        """
        if self._run_folder.is_ours():
            return
        self._run_folder.take()
        self._bar.warn(
            f"the run folder {str(self.folder)!r} was removed: it is made anew, and training goes on"
        )
        self._scalars.begin_anew(self._learner.decisions)
        self._best = -np.inf  # that policy is gone
        write_json_atomically(self.folder / CONFIG_FILE, self._config)
        self._save_checkpoint()

    def time_shares(self) -> dict[str, float]:
        """The time of each part of the work, as a share of all; "other" is evaluation, saving and logging."""
        total = max(self.seconds, 1e-9)
        shares = {part: seconds / total for part, seconds in self._learner.seconds.items()}
        return {**shares, "other": max(1.0 - sum(shares.values()), 0.0)}

    def _evaluate(self) -> None:
        """Measure the policy as it is, and keep it if it is surely good."""
        assert self._gauntlet is not None
        try:
            self._look_after_folder()
            self._learner.save_policy(self.folder)
        except OSError as error:
            self._report(error)
            return
        point = self._gauntlet.measure(self.folder, self.seconds, self._learner.decisions)
        self.curve.append(point)
        self._bar.say(str(point))
        self.add_scalars(point.metrics())
        if point.elo_low > self._best:
            self._best = point.elo_low
            try:
                self._learner.save_policy(self.folder / BEST_FOLDER)
            except OSError as error:
                self._report(error)

    def save(self, failed_batch: Mapping[str, Tensor] | None = None, *, last: bool = True) -> None:
        """Write policy, curve and checkpoint; a disk that cannot take them is reported, not fatal.

        Args:
            failed_batch: rows whose loss became NaN or infinite.
            last: whether the run ends now.
        """
        try:
            self._look_after_folder()
            progress = self._save_checkpoint()
            self._learner.save_policy(self.folder)
            args, decisions = self.args, self._learner.decisions
            title = curve_title(self._algorithm, args.sheets, args.players, decisions)
            no_picture = save_curve(self.curve, self.folder, title)
            if no_picture != self._no_picture:  # once, not at each checkpoint
                self._no_picture = no_picture
                if no_picture:
                    self._bar.warn(no_picture)
            if failed_batch is not None:
                write_tensors(self.folder / FAILED_BATCH, self._kind, failed_batch, progress)
            self.problem = None
        except OSError as error:
            self._report(error, last=last)

    def _save_checkpoint(self) -> dict[str, Any]:
        """Write the checkpoint; returns what it says of itself."""
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
        more = "" if last else "; training goes on, the next checkpoint will try again"
        self._bar.warn(f"{self.problem}{more}")

    def finish(self, *, evaluate: bool = True) -> None:
        """Write the last checkpoint.

        Args:
            evaluate: add the last point of the curve before; False after a signal.
        """
        if evaluate and self._gauntlet is not None:
            self._evaluate()
        self.save()
        self._ended = time.perf_counter()

    def summary(self) -> str:
        """Decisions, seconds and their rate, for the last line of a command."""
        decisions = self._learner.decisions
        budget = ""
        if self.args.minutes == 0 and decisions > self.args.total_timesteps:
            budget = f" (a budget of {self.args.total_timesteps:,}, rounded up to whole rollouts)"
        rate = per_second(decisions / max(self.seconds, 1e-9))
        return f"{decisions:,} decisions{budget} in {self.seconds:.0f} s ({rate})"
