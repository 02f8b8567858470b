"""The file of a session: one JSON object per line, each written immediately and never changed.

A killed process may leave an incomplete last line, which `Journal.lines` cuts off. If the disk is full, the
file is unchanged, and the decision counts as not made.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from millebornes_env.errors import JournalError

FORMAT: Final = 1
"""Version of the files; increased when older ones can no longer be read."""


def now() -> str:
    """Return the current UTC time to the millisecond, in the format of the lines."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Journal:
    """Appends lines to a file, which is opened for each line: thousands of sessions keep no files open.

    Attributes:
        path: path of the file, which only its owner may read.
    """

    def __init__(self, path: Path) -> None:
        """Set the path; the first line creates the file."""
        self.path = path

    def append(self, line: Mapping[str, Any], *, is_last: bool = False) -> None:
        """Write a line.

        Args:
            line: values that JSON can hold.
            is_last: this is the last line of a game: wait until it is on the disk.

        Raises:
            JournalError: writing failed; the file is unchanged.
        """
        content = (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()
        try:
            self._write(content, is_last)
        except OSError as error:
            raise JournalError(
                f"{self.path} could not be written ({error.strerror}): free some space there"
            ) from None

    def _write(self, content: bytes, is_last: bool) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(file).st_size
            try:
                if os.write(file, content) != len(content):
                    raise OSError(28, "No space left on device")
                if is_last:
                    os.fsync(file)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(file, size)
                raise
        finally:
            os.close(file)

    def lines(self) -> list[dict[str, Any]]:
        """Return the lines of the file; an incomplete last line, left by a killed process, is cut off.

        Raises:
            JournalError: the file cannot be read, or contains an invalid line.
        """
        try:
            content = self.path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            if len(whole) < len(content):
                os.truncate(self.path, len(whole))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror}") from None
        return parsed(whole, self.path)


def parsed(content: bytes, path: Path) -> list[dict[str, Any]]:
    """Parse the lines of a session's file; an incomplete last line is left out.

    Raises:
        JournalError: a line is not a JSON object.
    """
    result = []
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), 1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            raise JournalError(
                f"{path}: line {number} is damaged; repair it, or move the file away: its session then "
                "starts again"
            )
        result.append(entry)
    return result
