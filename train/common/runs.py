"""The folder of a run of `train.selfplay`: what is written when, and how a killed run goes on.

    config.json             the resolved options, versions and seed
    policy.safetensors      the policy as it is (the EMA of the learner's weights), and
    policy.json             what it is for: together what `agents` plays
    best/                   the policy whose lower confidence bound against the gauntlet was highest
    checkpoint.safetensors  everything that training needs to go on, bit for bit
    learning_curve.png      ratings and win rates during training (and .json)
    tensorboard/            event files
    failed_batch.safetensors  rows whose loss became NaN or infinite, if that happened
    run.lock                held while a process writes here

Every file is written beside its place and renamed. Nothing is pickled.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import torch
from torch import Tensor, nn

from millebornes_env.arena.gauntlet import (
    GAUNTLET,
    Gauntlet,
    Point,
    curve_title,
    save_curve,
    seconds_to_next,
    warm_up,
)
from millebornes_env.arena.match import MatchConfig
from millebornes_env.files import write_json_atomically
from millebornes_env.versions import versions
from train.common.checkpoints import (
    CHECKPOINT_FILE,
    CONFIG_FILE,
    does_not_fit,
    read_progress,
    read_tensors,
    recorded_config,
    refuse_other_options,
    refuse_second_run,
    tensors_of_optimizer,
    tensors_to_optimizer,
    with_prefix,
    write_tensors,
)
from train.common.network import PRECISIONS, chosen_precision
from train.common.opponents import FixedAgent, Pool
from train.common.policy_files import save_policy_files
from train.common.progress import TrainingBar, per_second
from train.common.run_folder import RunFolder, cannot_write
from train.common.scalars import Scalars, started_wandb

if TYPE_CHECKING:
    from train.common.network import Precision
    from train.selfplay import Args, Trainer

CHECKPOINT_KIND: Final = "train.selfplay 2"
BEST_FOLDER: Final = "best"
FAILED_BATCH: Final = "failed_batch.safetensors"

_LOG_SECONDS: Final = 2.0

# What may differ between a run and its resumption.
_FREE_OPTIONS: Final = frozenset(
    ("run_dir", "resume", "eval_seconds", "eval_deals", "checkpoint_seconds", "wandb_project")
)
# Those by which a finished run is made longer: the schedules then differ from those of a longer run.
_LENGTHS: Final = frozenset(("total_timesteps", "minutes"))


def state_of(trainer: Trainer) -> dict[str, Tensor]:
    """All that learning depends on, as tensors by name; random numbers are functions of seed and counters."""
    modules: dict[str, nn.Module | None] = {
        "network": trainer.network,
        "average": trainer.ema_network,
        "oracle": trainer.oracle,
        "magnet": trainer.magnet,
    }
    tensors = {
        f"{name}.{key}": value
        for name, module in modules.items()
        if module is not None
        for key, value in module.state_dict().items()
    }
    tensors |= tensors_of_optimizer(trainer.optimizer)
    tensors["games"] = torch.from_numpy(trainer.games.save())
    if isinstance(trainer.opponents, FixedAgent):
        tensors["memories"] = torch.from_numpy(trainer.opponents.memories)
    if isinstance(trainer.opponents, Pool):
        for number, snapshot in enumerate(trainer.opponents.snapshots):
            tensors |= {f"pool.{number}.{name}": value for name, value in snapshot.items()}
    return tensors


def put_back(trainer: Trainer, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
    """Put a trainer where `state_of` found another of the same options.

    Raises:
        KeyError, TypeError, RuntimeError, ValueError: the tensors are of another run.
    """
    trainer.network.load_state_dict(with_prefix(tensors, "network."))
    trainer.ema_network.load_state_dict(with_prefix(tensors, "average."))
    if trainer.oracle is not None:
        trainer.oracle.load_state_dict(with_prefix(tensors, "oracle."))
    if trainer.magnet is not None:
        trainer.magnet.load_state_dict(with_prefix(tensors, "magnet."))
    tensors_to_optimizer(trainer.optimizer, tensors)
    trainer.games.put_back(tensors["games"].numpy())
    if isinstance(trainer.opponents, FixedAgent):
        trainer.opponents.memories[:] = tensors["memories"].numpy()
    if isinstance(trainer.opponents, Pool):
        numbers = range(progress["pool"])
        trainer.opponents.snapshots = [with_prefix(tensors, f"pool.{number}.") for number in numbers]
    trainer.updates, trainer.decisions = int(progress["updates"]), int(progress["decisions"])


def saved_config(args: Args) -> dict[str, Any]:
    """The options as JSON values, defaults that depend on others filled in."""
    values = dataclasses.asdict(args)
    values |= {"run_dir": str(args.run_dir), "hidden": args.layers, "editions": list(args.sheets)}
    values["precision"] = chosen_precision(args.precision)
    resolved: dict[str, Any] = json.loads(json.dumps(values))
    return resolved


def recorded_precision(args: Args) -> Precision | None:
    """What the run that is to go on was begun with, if the options leave the choice; else None.

    Raises:
        RunError: its checkpoint is damaged or of another version.
    """
    if args.precision != "auto" or not args.resume or not (args.run_dir / CHECKPOINT_FILE).exists():
        return None
    begun = recorded_config(args.run_dir, read_progress(args.run_dir, CHECKPOINT_KIND)).get("precision")
    recorded: Precision | None = begun if begun in PRECISIONS else None
    return recorded


class Run:
    """A run and its folder; used in a `with` block, which holds the lock and shows the progress bar.

    Attributes:
        curve: what was measured so far.
        problem: what could not be written the last time, or None.
    """

    def __init__(self, args: Args) -> None:
        """Look at the folder; nothing is written yet.

        Raises:
            RunError: it holds a run and `resume` was not asked for, or a run of other options.
        """
        self.args = args
        self.folder = args.run_dir
        self.curve: list[Point] = []
        self.problem: str | None = None
        self._best = -np.inf
        self._bar = TrainingBar()
        self._run_folder = RunFolder(self.folder)
        self._seconds_before = 0.0
        self._ended: float | None = None
        self._began = self._last_point = self._last_checkpoint = self._last_log = time.perf_counter()
        self._decisions_at_log = 0
        self._gauntlet: Gauntlet | None = None
        self._scalars: Scalars | None = None
        self._config: dict[str, Any] = {}
        refuse_second_run(self.folder, args.resume)

    def __enter__(self) -> Self:
        """Take the folder.

        Raises:
            RunError: another process is writing to it, or it cannot be written.
        """
        self._run_folder.__enter__()
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, error, trace)
        if self._scalars is not None:
            self._scalars.close()
        self._run_folder.__exit__(kind, error, trace)

    def warm_up(self, small: Trainer) -> None:
        """Compile what evaluations need, by evaluating a policy in small that nobody keeps."""
        if self.args.eval_seconds > 0:
            # A disk that takes no files is told of when something is to be kept.
            with contextlib.suppress(OSError), self._run_folder.scratch() as folder:
                self._save_policy(small, folder)
                warm_up(Path(folder), *self._gauntlet_options())

    def begin(self, trainer: Trainer) -> None:
        """Take up a run that was stopped, or begin a new one.

        Raises:
            RunError: the checkpoint is damaged, of another version or of other options, or the folder
                cannot be written.
        """
        self._config = {"args": saved_config(self.args), "versions": versions(), "command": sys.argv}
        if (self.folder / CHECKPOINT_FILE).exists():
            self._take_up(trainer)
        else:
            try:
                write_json_atomically(self.folder / CONFIG_FILE, self._config)
            except OSError as error:
                raise cannot_write(self.folder, error) from None
        wandb_run = None
        if self.args.wandb_project:
            name = self.args.run_dir.name
            wandb_run = started_wandb(self.args.wandb_project, name, saved_config(self.args))
        self._scalars = Scalars(self.folder / "tensorboard", trainer.decisions, wandb_run)
        if self.args.eval_seconds > 0:
            self._gauntlet = Gauntlet(*self._gauntlet_options(), self.args.eval_deals)
        self._began = self._last_log = self._last_checkpoint = self._last_point = time.perf_counter()
        self._decisions_at_log = trainer.decisions
        self._bar.begin()

    def _gauntlet_options(self) -> tuple[list[MatchConfig], list[str]]:
        """At which tables a policy is measured, and against whom."""
        configs = [table_config(self.args, edition) for edition in self.args.sheets]
        return configs, [self.args.opponent] if self.args.opponent else list(GAUNTLET)

    def _take_up(self, trainer: Trainer) -> None:
        progress, tensors = read_tensors(self.folder, CHECKPOINT_KIND)
        begun = recorded_config(self.folder, progress)
        refuse_other_options(self.folder, saved_config(self.args), begun, _FREE_OPTIONS | _LENGTHS)
        try:
            put_back(trainer, tensors, progress)
            self._seconds_before = float(progress["seconds"])
            self._best = float(progress["best"])
            self.curve = [Point.of(point) for point in progress["curve"]]
            for name in trainer.seconds:
                trainer.seconds[name] = float(progress["parts"][name])
        except (KeyError, TypeError, RuntimeError, ValueError, AttributeError) as error:
            raise does_not_fit(self.folder, error) from None

    @property
    def seconds(self) -> float:
        """Trained, those before a resume included, evaluations and checkpoints too; compiling is not."""
        now = time.perf_counter() if self._ended is None else self._ended
        return self._seconds_before + now - self._began

    def share(self, trainer: Trainer) -> float:
        """How much of the run is done, 0 to 1."""
        if self.args.minutes > 0:
            return min(self.seconds / (60.0 * self.args.minutes), 1.0)
        return min(trainer.decisions / self.args.total_timesteps, 1.0)

    def after_update(self, trainer: Trainer, statistics: dict[str, float]) -> None:
        """Log, evaluate and save, whatever it is time for."""
        now = time.perf_counter()
        if now - self._last_log >= _LOG_SECONDS:
            with contextlib.suppress(OSError):  # the next checkpoint tries again, and tells
                self._look_after_folder(trainer)
            self._log(trainer, statistics, now)
        self._bar.update(self.share(trainer), trainer.decisions, trainer.decisions / max(self.seconds, 1e-9))
        wait = seconds_to_next(self.args.eval_seconds, self.seconds)
        if self._gauntlet is not None and now - self._last_point >= wait:
            self._evaluate(trainer)
            self._last_point = time.perf_counter()
        if 0 < self.args.checkpoint_seconds <= now - self._last_checkpoint:
            self.save(trainer)
            self._last_checkpoint = time.perf_counter()

    def _log(self, trainer: Trainer, statistics: dict[str, float], now: float) -> None:
        rate = (trainer.decisions - self._decisions_at_log) / (now - self._last_log)
        shares = {f"time/share_{part}": share for part, share in self.time_shares(trainer).items()}
        learned = {f"train/{name}": value for name, value in statistics.items()}
        self._add_scalars({**learned, "time/decisions_per_second": rate, **shares}, trainer)
        self._last_log, self._decisions_at_log = now, trainer.decisions

    def _add_scalars(self, values: dict[str, float], trainer: Trainer) -> None:
        assert self._scalars is not None
        known = self._scalars.problem is not None
        self._scalars.add(values, trainer.decisions)
        if self._scalars.problem is not None and not known:
            self._bar.warn(
                f"TensorBoard's files cannot be written ({self._scalars.problem}); training goes on"
            )

    def _look_after_folder(self, trainer: Trainer) -> None:
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
        assert self._scalars is not None
        self._scalars.begin_anew(trainer.decisions)
        self._best = -np.inf  # that policy is gone
        write_json_atomically(self.folder / CONFIG_FILE, self._config)
        self._save_checkpoint(trainer)

    def time_shares(self, trainer: Trainer) -> dict[str, float]:
        """Where the time went, shares of all, 0 to 1; "other" is evaluation, saving and logging."""
        total = max(self.seconds, 1e-9)
        shares = {part: seconds / total for part, seconds in trainer.seconds.items()}
        return {**shares, "other": max(1.0 - sum(shares.values()), 0.0)}

    def _evaluate(self, trainer: Trainer) -> None:
        """Measure the policy as it is, and keep it if it is surely good."""
        assert self._gauntlet is not None
        try:
            self._look_after_folder(trainer)
            self._save_policy(trainer, self.folder)
        except OSError as error:
            self._report(error)
            return
        point = self._gauntlet.measure(self.folder, self.seconds, trainer.decisions)
        self.curve.append(point)
        self._bar.say(str(point))
        self._add_scalars(point.metrics(), trainer)
        if point.elo_low > self._best:
            self._best = point.elo_low
            try:
                self._save_policy(trainer, self.folder / BEST_FOLDER)
            except OSError as error:
                self._report(error)

    def _save_policy(self, trainer: Trainer, folder: Path) -> None:
        tables = trainer.games.tables
        save_policy_files(
            folder,
            trainer.ema_network.folded(),
            tables[0],
            editions=[table.edition for table in tables],
            input_spec=trainer.games.input_spec,
            value=self.args.reward,
            more={"trained_by": "train.selfplay", "decisions_trained": trainer.decisions},
        )

    def save(self, trainer: Trainer, failed_batch: dict[str, Tensor] | None = None) -> None:
        """Write policy, curve and checkpoint; a disk that cannot take them is reported, not fatal.

        Args:
            trainer: what is saved.
            failed_batch: rows whose loss became NaN or infinite.
        """
        try:
            self._look_after_folder(trainer)
            progress = self._save_checkpoint(trainer)
            self._save_policy(trainer, self.folder)
            title = curve_title("PPO", self.args.sheets, self.args.players, trainer.decisions)
            save_curve(self.curve, self.folder, title)
            if failed_batch is not None:
                write_tensors(self.folder / FAILED_BATCH, CHECKPOINT_KIND, failed_batch, progress)
            self.problem = None
        except OSError as error:
            self._report(error)

    def _save_checkpoint(self, trainer: Trainer) -> dict[str, Any]:
        """Write the checkpoint; returns what it says of itself."""
        progress = {
            "config": saved_config(self.args),
            "updates": trainer.updates,
            "decisions": trainer.decisions,
            "seconds": self.seconds,
            "parts": trainer.seconds,
            "best": self._best,
            "pool": len(trainer.opponents.snapshots) if isinstance(trainer.opponents, Pool) else 0,
            "curve": [dataclasses.asdict(point) for point in self.curve],
        }
        write_tensors(self.folder / CHECKPOINT_FILE, CHECKPOINT_KIND, state_of(trainer), progress)
        return progress

    def _report(self, error: OSError) -> None:
        self.problem = f"could not write to {str(self.folder)!r}: {error.strerror or error}"
        self._bar.warn(f"{self.problem}; training goes on, the next checkpoint will try again")

    def finish(self, trainer: Trainer) -> None:
        """The last point of the curve and the last checkpoint."""
        if self._gauntlet is not None:
            self._evaluate(trainer)
        self.save(trainer)
        self._ended = time.perf_counter()

    def report(self, trainer: Trainer) -> None:
        """Print where the time went."""
        rate = per_second(trainer.decisions / max(self.seconds, 1e-9))
        budget = ""
        if self.args.minutes == 0 and trainer.decisions > self.args.total_timesteps:
            budget = f" (a budget of {self.args.total_timesteps:,}, rounded up to whole rollouts)"
        print(
            f"{trainer.decisions:,} decisions{budget} in {self.seconds:.0f} s ({rate}), "
            f"{trainer.updates:,} updates; run folder: {self.folder}"
        )
        shares = ", ".join(f"{part} {100 * share:.0f} %" for part, share in self.time_shares(trainer).items())
        print(f"time: {shares}")


def table_config(args: Args, edition: str) -> MatchConfig:
    """The table as the arena plays it: in matches, if the sheet has them."""
    return MatchConfig(edition, args.players, episode=args.episode, seed=args.seed)
