"""The folder of a run: its files, its lock, and its checkpoint, one safetensors file with JSON metadata.

Every file is written under a temporary name and renamed, so that a killed run or a full disk leaves the last
complete one. Nothing is pickled.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from millebornes_env._util.command_line import option_name
from millebornes_env._util.files import identity_of, locked, remove_drafts, write_bytes_atomically
from millebornes_env.agents.policy.files import DESCRIPTION_FILE, WEIGHTS_FILE

CONFIG_FILE: Final = "config.json"
CHECKPOINT_FILE: Final = "checkpoint.safetensors"
BEST_FOLDER: Final = "best"
EVENTS_FOLDER: Final = "tensorboard"
FAILED_BATCH: Final = "failed_batch.safetensors"
RESPONSE_FILE: Final = "best_response.json"
LOCK_FILE: Final = "run.lock"

RUN_FILES: Final[dict[tuple[str, ...], str]] = {
    (CONFIG_FILE,): "the resolved options, versions, seed and command",
    (WEIGHTS_FILE, DESCRIPTION_FILE): (
        "the current policy: weights over the raw observation, and their metadata: editions, players, teams, "
        "view, features, activation, and what the value head predicts"
    ),
    (f"{BEST_FOLDER}/",): "the policy whose lower 95 % bound of the rating was highest",
    (CHECKPOINT_FILE,): (
        "everything needed to resume: weights, optimizer, counters, the curve; with `train.selfplay` also "
        "games and pool"
    ),
    ("learning_curve.png", "learning_curve.json"): (
        "rating and matches won against each evaluation opponent while training"
    ),
    (f"{EVENTS_FOLDER}/",): "event files: `tensorboard --logdir runs`",
    (FAILED_BATCH,): "only if a loss became NaN or infinite: the rows of that batch (`train.selfplay`)",
    (RESPONSE_FILE,): "only from `train.exploit`: what the best policy wins against the agent",
    (LOCK_FILE,): "locked by the process that trains here",
}
"""Names and contents of all files of a run folder; docs/agents/training.md shows them."""

_SCRATCH: Final = ".warm-up-"


class RunError(ValueError):
    """A run folder cannot be used; the message gives the reason and a remedy."""


class LossError(ArithmeticError):
    """A loss became NaN or infinite; the message names the update and the batch.

    Attributes:
        batch: the rows of the batch, as tensors by name; None if unknown.
    """

    def __init__(self, message: str, batch: dict[str, Tensor] | None = None) -> None:
        super().__init__(message)
        self.batch = batch


# The folder -------------------------------------------------------------------------------------------------


class RunFolder:
    """Lock of a run folder, held in a `with` block; before, the folder is not touched."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held = contextlib.ExitStack()
        self._identity: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        """Lock the folder, and remove unfinished files of killed runs.

        Raises:
            RunError: another process holds the lock, or the folder cannot be written.
        """
        try:
            self.acquire()
        except OSError as error:
            raise cannot_write(self.path, error) from None
        for folder in (self.path, *(path for path in self.path.iterdir() if path.is_dir())):
            remove_drafts(folder)
            if folder.name.startswith(_SCRATCH):
                shutil.rmtree(folder, ignore_errors=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def acquire(self) -> None:
        """Create the folder if it is missing, and acquire its lock.

        Raises:
            RunError: another process holds the lock.
            OSError: the folder cannot be created or written to.
        """
        self._held.close()
        refusal = RunError(
            f"another process is training in {str(self.path)!r}: wait for it, or choose another --run-dir"
        )
        self._held.enter_context(locked(self.path / LOCK_FILE, refusal))
        self._identity = identity_of(self.path / LOCK_FILE)

    def is_ours(self) -> bool:
        """Return True if the folder is still the locked one: not removed, moved or created again."""
        return self._identity is not None and identity_of(self.path / LOCK_FILE) == self._identity

    def scratch(self) -> tempfile.TemporaryDirectory[str]:
        """Create a temporary folder in the run folder, for a `with` block."""
        return tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=self.path)


def cannot_write(folder: Path, error: OSError) -> RunError:
    """Return the error of a run whose folder cannot be written."""
    return RunError(
        f"the run folder {str(folder)!r} cannot be written ({error.strerror or error}): choose another "
        "--run-dir"
    )


# Checkpoints ------------------------------------------------------------------------------------------------


def read_progress(folder: Path, kind: str) -> dict[str, Any]:
    """Read the progress in the checkpoint of a run folder, as passed to `write_tensors`, without tensors.

    Raises:
        RunError: the checkpoint is missing, damaged or of another kind.
    """
    path = folder / CHECKPOINT_FILE
    if not path.exists():
        raise RunError(f"there is no checkpoint in {str(folder)!r} to resume; choose another --run-dir")
    try:
        if not path.is_file():
            raise OSError("not a file")
        with safe_open(path, "pt") as file:
            progress = json.loads(file.metadata()["progress"])
            found = progress.pop("kind", "an unknown kind")
    except (
        *(OSError, SafetensorError, KeyError, TypeError, ValueError, AttributeError, RecursionError),
    ) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise RunError(
            f"the checkpoint {str(path)!r} is damaged ({reason}): restore it or choose another --run-dir"
        ) from None
    if found != kind:
        raise RunError(
            f"the checkpoint {str(path)!r} is of {found!r}, this script resumes {kind!r} only: choose "
            "another --run-dir"
        )
    return dict(progress)


def refuse_second_run(folder: Path, resume: bool) -> None:
    """Check that a folder has no run, unless it is to be resumed.

    Raises:
        RunError: the folder holds a run and `resume` is off.
    """
    has_checkpoint = (folder / CHECKPOINT_FILE).exists()
    if resume or not (has_checkpoint or (folder / CONFIG_FILE).exists()):
        return
    how = "continue it with" if has_checkpoint else "it has no checkpoint; start it again with"
    raise RunError(f"{str(folder)!r} already holds a run: {how} --resume, or choose another --run-dir")


def recorded_options(folder: Path, kind: str) -> dict[str, Any]:
    """Return the recorded options of the run in a folder; empty if it has no checkpoint.

    Raises:
        RunError: the checkpoint is damaged or of another kind.
    """
    if not (folder / CHECKPOINT_FILE).exists():
        return {}
    return recorded_config(folder, read_progress(folder, kind))


def recorded_config(folder: Path, progress: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a run from the progress of its checkpoint.

    Raises:
        RunError: the progress has no options.
    """
    config = progress.get("config")
    if not isinstance(config, dict):
        raise does_not_fit(folder, ValueError("its options are missing"))
    return dict(config)


def refuse_other_options(
    folder: Path, ours: Mapping[str, Any], theirs: Mapping[str, Any], free: Collection[str]
) -> None:
    """Check that a run is resumed with its own options, JSON values by name, except for free ones.

    Raises:
        RunError: an option differs; the message names it and both values.
    """
    for name, value in ours.items():
        recorded = theirs.get(name)
        if name not in free and value != recorded:
            raise RunError(
                f"the run in {str(folder)!r} was started with {name} {recorded!r}, now it is {value!r}: "
                f"give {option_name(name)} as before, or choose another --run-dir"
            )


def does_not_fit(folder: Path, error: Exception) -> RunError:
    """Return the error of a checkpoint whose contents belong to another network or other games."""
    return RunError(
        f"the checkpoint {str(folder / CHECKPOINT_FILE)!r} is damaged or of another network ({error}): "
        "restore it or choose another --run-dir"
    )


def write_tensors(path: Path, kind: str, tensors: Mapping[str, Tensor], progress: dict[str, Any]) -> None:
    """Write a checkpoint atomically: one safetensors file with JSON metadata.

    The kind is a name with a version, the progress has JSON values.

    Raises:
        OSError: the file could not be written.
    """
    contiguous = {name: value.detach().contiguous() for name, value in tensors.items()}
    head = {"progress": json.dumps({"kind": kind, **progress})}
    write_bytes_atomically(path, save(contiguous, head))


def read_tensors(folder: Path, kind: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read progress and tensors from the checkpoint of a run folder, as passed to `write_tensors`.

    Raises:
        RunError: as `read_progress`.
    """
    progress = read_progress(folder, kind)
    path = folder / CHECKPOINT_FILE
    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"the checkpoint {str(path)!r} is damaged ({error}): restore it or choose another --run-dir"
        ) from None
    return progress, tensors


def with_prefix(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names start with a prefix, by name without it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def tensors_of_optimizer(optimizer: torch.optim.Optimizer, of: str = "optimizer") -> dict[str, Tensor]:
    """Return the state of an optimizer by its name, parameter and field."""
    return {
        f"{of}.{parameter}.{name}": torch.as_tensor(value)
        for parameter, values in optimizer.state_dict()["state"].items()
        for name, value in values.items()
    }


def tensors_to_optimizer(
    optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor], of: str = "optimizer"
) -> None:
    """Restore the state of `tensors_of_optimizer`; other tensors are ignored."""
    state = optimizer.state_dict()
    values: dict[int, dict[str, Tensor]] = {}
    for name, tensor in with_prefix(tensors, f"{of}.").items():
        parameter, field = name.split(".")
        values.setdefault(int(parameter), {})[field] = tensor
    state["state"] = values
    optimizer.load_state_dict(state)
