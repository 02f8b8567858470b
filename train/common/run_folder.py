"""The folder of a run while somebody trains in it: its lock, and what killed runs have left there."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from filelock import FileLock, Timeout

from millebornes_env.files import remove_drafts
from train.common.checkpoints import RunError

LOCK_FILE: Final = "run.lock"
_SCRATCH: Final = ".warm-up-"


class RunFolder:
    """Holds the lock of a run folder in a `with` block.

    Attributes:
        path: of the folder.
    """

    def __init__(self, path: Path) -> None:
        """Nothing is done to the folder yet."""
        self.path = path
        self._lock: FileLock | None = None
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
        self._release()

    def take(self) -> None:
        """Make the folder, if there is none, and take its lock.

        Raises:
            RunError: another process has it.
            OSError: it cannot be made or written to.
        """
        self._release()
        self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / LOCK_FILE)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise RunError(
                f"another process is training in {str(self.path)!r}: wait for it, or choose another --run-dir"
            ) from None
        self._lock = lock
        self._identity = self._found()

    def is_ours(self) -> bool:
        """Whether the folder is still the one that was taken: not removed, moved away or made anew."""
        return self._identity is not None and self._found() == self._identity

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder in it for files that nobody needs afterwards.

        Raises:
            OSError: it cannot be made.
        """
        with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=self.path) as folder:
            yield Path(folder)

    def _found(self) -> tuple[int, int] | None:
        """Which file the lock is, whatever its name."""
        try:
            found = (self.path / LOCK_FILE).stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
        self._lock = None


def cannot_write(folder: Path, error: OSError) -> RunError:
    """What to raise when a run cannot begin because its folder takes no files."""
    return RunError(
        f"the run folder {str(folder)!r} cannot be written ({error.strerror or error}): choose another "
        "--run-dir"
    )
