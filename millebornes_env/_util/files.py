"""Atomic writing of files: whole or not at all.

The content is written to a temporary file in the same folder, which then replaces the old file in one step:
a full disk or a killed process never leaves half a file behind, and readers never see one.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from millebornes_env.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LONGEST_STEM = 200  # so that the temporary name stays below the 255 bytes of most file systems
_DRAFT = re.compile(r"\..+\.(\d{1,10})-[0-9a-f]{8}\.tmp", re.DOTALL)
_OLD_SECONDS = 3600.0  # no file takes that long to write
_being_written: set[str] = set()  # names of drafts


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to; the file replaces `path` at the end, or is removed after an error.

    Args:
        path: the file to replace; its folder is created if it is missing.

    Yields:
        The path of a file that does not exist yet, in the same folder.

    Raises:
        OSError: the folder cannot be created or written to, the disk is full, or `path` is a device, a pipe
            or a folder; `path` is unchanged. The error names the file, which the operating system does not do
            for a full disk.
    """
    check_replaceable(path)
    draft = path.with_name(f".{path.name[:_LONGEST_STEM]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    _being_written.add(draft.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())  # some disks report only now that they are full
        draft.replace(path)
    except OSError as error:
        if error.strerror and (error.filename is None or Path(os.fsdecode(error.filename)) == draft):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        _being_written.discard(draft.name)


def check_replaceable(path: Path) -> None:
    """Raise OSError if `path` is not a regular file: root could replace /dev/null for all programs."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is a device or a pipe, which cannot be replaced", str(path))


def remove_drafts(folder: Path) -> list[Path]:
    """Remove temporary files of `replacing` that killed processes have left.

    A draft is removed if the process in its name has ended, or if it is an hour old, since process ids are
    reused.

    Args:
        folder: folder to search, without its subfolders; it need not exist.

    Returns:
        The removed files.
    """
    removed = []
    with contextlib.suppress(OSError):
        for draft in sorted(folder.iterdir()):
            match = _DRAFT.fullmatch(draft.name)
            if match and draft.name not in _being_written and _is_abandoned(draft, int(match[1])):
                draft.unlink()
                removed.append(draft)
    return removed


def _is_abandoned(draft: Path, process: int) -> bool:
    """Return True if no process writes to a draft; one with our own process id is from an earlier process."""
    if draft.is_symlink() or not draft.is_file():
        return False
    if process == os.getpid() or time.time() - draft.stat().st_mtime > _OLD_SECONDS:
        return True
    return not _is_running(process)


def _is_running(process: int) -> bool:
    if os.name == "nt":
        return True  # there, signal 0 would end the process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return process < 1 << 31
    return True


def check_writable(path: Path) -> None:
    """Raise OSError, before long work, if a file cannot be written."""
    check_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    trial = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # the name that the user knows


@contextlib.contextmanager
def locked(path: Path, refusal: Exception) -> Iterator[None]:
    """Hold a lock file, so that only one process writes to what it protects.

    Args:
        path: the lock file, which is never removed; its folder is created if it is missing.
        refusal: the error if another process, or another thread of this one, holds it.

    Raises:
        OSError: the file cannot be created.
        MissingExtraError: filelock is not installed.
    """
    try:
        from filelock import FileLock, Timeout  # noqa: PLC0415 - an extra: only what writes for long needs it
    except ModuleNotFoundError as error:
        raise MissingExtraError.of("a folder that several processes may write to", error, "arena") from None
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise refusal from None
    try:
        yield
    finally:
        lock.release()


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, with its folder; after an OSError an old file is unchanged."""
    with replacing(path) as draft:
        draft.write_bytes(content)


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text file (UTF-8, line ends as given) whole or not at all; see `write_bytes_atomically`."""
    write_bytes_atomically(path, text.encode("utf-8"))


def write_json_atomically(path: Path, content: Mapping[str, Any]) -> None:
    """Write indented JSON whole or not at all; raise ValueError for numbers that are not finite."""
    write_text_atomically(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, which tell it from a later file of the same name; None: missing."""
    try:
        result = path.stat()
    except OSError:
        return None
    return result.st_dev, result.st_ino


# Pictures ---------------------------------------------------------------------------------------------------


def load_matplotlib() -> None:
    """Import Matplotlib without MPLBACKEND, since a backend that is not installed makes the import fail.

    Notebook kernels pass their own backend to the processes that they start. Saving figures needs none: the
    canvas of the file's format (Agg for PNG) renders them.

    Raises:
        ImportError: Matplotlib is not installed.
    """
    if "matplotlib" in sys.modules:
        return
    backend = os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib  # noqa: PLC0415 - takes a second, and is needed at the end only
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    if backend is not None:
        with contextlib.suppress(Exception):  # the user's choice, for interactive windows
            matplotlib.rcParams["backend"] = backend


def new_figure(width: float, height: float, **options: Any) -> Figure:
    """Create an empty Matplotlib figure, sized in inches, that needs no backend and no pyplot."""
    load_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    return Figure(figsize=(width, height), **options)


def save_picture(path: Path, plot: Callable[[], Figure]) -> str:
    """Plot a figure and write it; errors are returned, not raised.

    Args:
        path: the file to write, in the format that its suffix names (PNG without one).
        plot: function that creates the figure.

    Returns:
        "" if the picture was written, else the reason why not, for a warning.
    """
    try:
        save_figure_atomically(plot(), path)
    except ModuleNotFoundError as error:
        return f"no picture {path}: {error.name} is not installed (pip install 'millebornes-env[arena]')"
    except OSError as error:
        return f"could not write the picture {path} ({error.strerror or error})"
    except Exception as error:  # such as the user's fonts, styles and backends
        return (
            f"no picture {path}: plotting it failed ({type(error).__name__}: {' '.join(str(error).split())})"
        )
    return ""


def save_figure_atomically(figure: Figure, path: Path) -> None:
    """Write a Matplotlib figure whole or not at all, in the format of its suffix (PNG without one)."""
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lstrip(".") or "png", dpi=150)
    write_bytes_atomically(path, content.getvalue())
