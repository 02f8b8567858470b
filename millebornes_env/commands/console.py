"""Where commands print tables and show progress."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, TextIO

from rich.console import Console


def table_console(piped_width: int) -> Console:
    """Where tables are printed: as wide as the terminal, or of a fixed width into a file or a pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=piped_width)


def progress_console() -> Console:
    """Where progress is shown: stderr; what cannot be shown is no error."""
    return Console(file=_Forgiving(sys.stderr), force_jupyter=False)  # type: ignore[arg-type]


class _Forgiving:
    """A stream that swallows what its file does not take: nobody stops hours of work for a progress bar."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what can be written."""
        if self._stream is not None:
            with contextlib.suppress(OSError, ValueError):
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand it on, if that goes."""
        if self._stream is not None:
            with contextlib.suppress(OSError, ValueError):
                self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
