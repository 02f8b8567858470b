"""Files that are written whole or not at all.

What is written goes into a temporary file in the same folder, which takes the place of the old file in one
step: a reader, a full disk or a killed process never leaves half a file behind.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

_LONGEST_STEM = 200  # so that the temporary name stays below the 255 bytes of most file systems


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to, which takes the place of `path` at the end, or is removed after an error.

    Args:
        path: the file to replace; its folder is made if it is missing.

    Yields:
        The path of a file that does not exist yet, in the same folder.

    Raises:
        OSError: the folder cannot be made or written to, or the disk is full; `path` is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name[:_LONGEST_STEM]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())  # some disks say only now that they are full
        draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
