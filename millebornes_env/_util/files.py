"""Files that are written whole or not at all.

What is written goes into a temporary file in the same folder, which takes the place of the old file in one
step: a reader, a full disk or a killed process never leaves half a file behind.
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
_OLD_SECONDS = 3600.0  # nobody writes for that long at one file
_being_written: set[str] = set()  # names of drafts


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to, which takes the place of `path` at the end, or is removed after an error.

    Args:
        path: the file to replace; its folder is made if it is missing.

    Yields:
        The path of a file that does not exist yet, in the same folder.

    Raises:
        OSError: the folder cannot be made or written to, the disk is full, or `path` is a device, a pipe or a
            folder; `path` is as it was. The error names the file, which the operating system does not say of
            a full disk.
    """
    check_replaceable(path)
    draft = path.with_name(f".{path.name[:_LONGEST_STEM]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    _being_written.add(draft.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())  # some disks say only now that they are full
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
    """Refuse what no file may take the place of: root could replace /dev/null, for all programs.

    Raises:
        OSError: there is something at `path` that is no regular file.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is a device or a pipe, and no file can take its place", str(path))


def remove_drafts(folder: Path) -> list[Path]:
    """Remove what killed processes left of files that they were writing (`replacing`).

    A draft goes if the process that its name tells of is gone, or if it is an hour old: numbers of processes
    are given again.

    Args:
        folder: to be looked through, not the folders in it; there need not be such a folder.

    Returns:
        What was removed.
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
    """Return True if no process writes to a draft; one with our own number is an earlier process's."""
    if draft.is_symlink() or not draft.is_file():
        return False
    if process == os.getpid() or time.time() - draft.stat().st_mtime > _OLD_SECONDS:
        return True
    return not _is_running(process)


def _is_running(process: int) -> bool:
    if os.name == "nt":
        return True  # where asking by a signal would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return process < 1 << 31
    return True


def check_writable(path: Path) -> None:
    """Find out before the work, not after it.

    Raises:
        OSError: the folder takes no file, or there is something at the path that no file can replace.
    """
    check_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    trial = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # the user gave no other name


@contextlib.contextmanager
def locked(path: Path, refusal: Exception) -> Iterator[None]:
    """Hold a lock file, so that only one process writes to what it stands for.

    Args:
        path: the lock file, which stays; its folder is made if it is missing.
        refusal: the error if another process, or another thread of this one, holds it.

    Raises:
        OSError: the file cannot be made.
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
    """Write a file whole or not at all.

    Args:
        path: the file to write; its folder is made if it is missing.
        content: all of it.

    Raises:
        OSError: it could not be written; the old file, if there was one, is as it was.
    """
    with replacing(path) as draft:
        draft.write_bytes(content)


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text file (UTF-8, line ends as given) whole or not at all; see `write_bytes_atomically`."""
    write_bytes_atomically(path, text.encode("utf-8"))


def write_json_atomically(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON for people and programs whole or not at all; see `write_bytes_atomically`.

    Raises:
        OSError: it could not be written.
        ValueError: a number is not finite, which JSON cannot hold.
    """
    write_text_atomically(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, which another file of the same name differs in; None: it is gone."""
    try:
        result = path.stat()
    except OSError:
        return None
    return result.st_dev, result.st_ino


# Pictures ---------------------------------------------------------------------------------------------------


def load_matplotlib() -> None:
    """Import Matplotlib, whatever MPLBACKEND says: a backend that is not installed makes its import fail.

    Notebook kernels hand their own backend on to the processes that they start. Figures need none: they are
    drawn by the canvas of their file's format (Agg for PNG).

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
        with contextlib.suppress(Exception):  # the user's own choice, for windows of theirs
            matplotlib.rcParams["backend"] = backend


def new_figure(width: float, height: float, **options: Any) -> Figure:
    """Make an empty Matplotlib figure that needs no backend and no pyplot.

    Args:
        width: in inches.
        height: in inches.
        options: as `matplotlib.figure.Figure` takes them, such as `layout="constrained"`.

    Raises:
        ImportError: Matplotlib is not installed.
    """
    load_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    return Figure(figsize=(width, height), **options)


def save_picture(path: Path, draw: Callable[[], Figure]) -> str:
    """Draw a figure and write it; a failure costs the picture and nothing else.

    Args:
        path: the file to write, in the format that its suffix names (PNG without one).
        draw: makes the figure.

    Returns:
        "" if the picture was written; else a sentence that says why not, for a warning.
    """
    try:
        save_figure_atomically(draw(), path)
    except ModuleNotFoundError as error:
        return f"no picture {path}: {error.name} is not installed (pip install 'millebornes-env[arena]')"
    except OSError as error:
        return f"could not write the picture {path} ({error.strerror or error})"
    except Exception as error:  # whatever fonts, styles and backends of the user's make of it
        return (
            f"no picture {path}: drawing it failed ({type(error).__name__}: {' '.join(str(error).split())})"
        )
    return ""


def save_figure_atomically(figure: Figure, path: Path, *, dots_per_inch: int = 150) -> None:
    """Write a Matplotlib figure whole or not at all; see `write_bytes_atomically`.

    Args:
        figure: what to draw.
        path: the file to write, in the format that its suffix names (PNG without one).
        dots_per_inch: resolution, in pixels for each inch of the figure's size.

    Raises:
        OSError: it could not be written.
    """
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lstrip(".") or "png", dpi=dots_per_inch)
    write_bytes_atomically(path, content.getvalue())
