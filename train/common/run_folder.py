"""The folder of a run: which files it holds, its lock, and what killed runs have left there.

Every file is written beside its place and renamed, so that a killed run or a full disk leaves the last
complete one. Nothing is pickled.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from millebornes_env._util.files import identity_of, locked, remove_drafts
from millebornes_env.agents.policy.files import DESCRIPTION_FILE, WEIGHTS_FILE
from train.common.errors import RunError

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
        "rating and matches won against each agent of the gauntlet while training"
    ),
    (f"{EVENTS_FOLDER}/",): "event files: `tensorboard --logdir runs`",
    (FAILED_BATCH,): "only if a loss became NaN or infinite: the rows of that batch (`train.selfplay`)",
    (RESPONSE_FILE,): "only from `train.exploit`: what the best policy wins against the agent",
    (LOCK_FILE,): "locked by the process that trains here",
}
"""Names and contents of all files of a run folder; docs/training.md shows them."""

_SCRATCH: Final = ".warm-up-"


class RunFolder:
    """Holds the lock of a run folder in a `with` block.

    Attributes:
        path: the run folder.
    """

    def __init__(self, path: Path) -> None:
        """Nothing is done to the folder yet."""
        self.path = path
        self._held = contextlib.ExitStack()
        self._identity: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        """Take the folder, and remove what killed runs left half written.

        Raises:
            RunError: another process is writing to it, or it cannot be written.
        """
        try:
            self.take()
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

    def take(self) -> None:
        """Make the folder, if there is none, and take its lock.

        Raises:
            RunError: another process has it.
            OSError: it cannot be made or written to.
        """
        self._held.close()
        refusal = RunError(
            f"another process is training in {str(self.path)!r}: wait for it, or choose another --run-dir"
        )
        self._held.enter_context(locked(self.path / LOCK_FILE, refusal))
        self._identity = identity_of(self.path / LOCK_FILE)

    def is_ours(self) -> bool:
        """True if the folder is still the one that was taken: not removed, moved away or made anew."""
        return self._identity is not None and identity_of(self.path / LOCK_FILE) == self._identity

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder in it for files that nobody needs afterwards.

        Raises:
            OSError: it cannot be made.
        """
        with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=self.path) as folder:
            yield Path(folder)


def cannot_write(folder: Path, error: OSError) -> RunError:
    """The error of a run that cannot begin because its folder takes no files."""
    return RunError(
        f"the run folder {str(folder)!r} cannot be written ({error.strerror or error}): choose another "
        "--run-dir"
    )
