"""The file of a session: one JSON object a line, written whole and at once, never changed again.

A process that is killed leaves whole lines and perhaps the beginning of one, which `Journal.lines` cuts off.
A disk that is full leaves the file as it was: what is not written down was not played.
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
"""Of the lines; goes up when files of before can no longer be read."""


def now() -> str:
    """The time as lines have it: UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Journal:
    """Appends lines to a file, which it opens for each anew: thousands of sessions keep no files open.

    Attributes:
        path: of the file; who may read it is its owner.
    """

    def __init__(self, path: Path) -> None:
        """Name the file; it is made by the first line."""
        self.path = path

    def append(self, line: Mapping[str, Any], *, is_last: bool = False) -> None:
        """Write a line.

        Args:
            line: what JSON knows.
            is_last: of a game: wait until the disk has it.

        Raises:
            JournalError: it could not be written; the file is as it was.
        """
        content = (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()
        try:
            self._write(content, is_last)
        except OSError as error:
            raise JournalError(
                f"{self.path} could not be written ({error.strerror}): make room there"
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
            JournalError: the file cannot be read, or holds what we did not write.
        """
        try:
            whole = self._without_torn_line()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror}") from None
        return parsed(whole, self.path)

    def _without_torn_line(self) -> bytes:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        return whole


def parsed(content: bytes, path: Path) -> list[dict[str, Any]]:
    """The lines of a session's file; one without its end is left out.

    Raises:
        JournalError: a line is not JSON, or no object.
    """
    found = []
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), 1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            raise JournalError(
                f"{path}: line {number} is damaged; repair it, or move the file away: its session then "
                "begins anew"
            )
        found.append(entry)
    return found


__all__ = ["FORMAT", "Journal", "now", "parsed"]
