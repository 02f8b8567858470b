"""What the command lines of training and evaluation share: exit codes, complaints, a console for tables."""

from __future__ import annotations

import sys
from typing import Final

from rich.console import Console

COULD_NOT_WRITE: Final = 1
WRONG_ARGUMENTS: Final = 2
INTERRUPTED: Final = 130


def complain(exit_code: int, message: str) -> int:
    """Say on stderr what is wrong; the exit code."""
    print(f"error: {message}", file=sys.stderr)
    return exit_code


def one_line(error: Exception) -> str:
    """What an error says, its lines joined; a `KeyError` says only the key, so its name is put before."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__} {text}" if isinstance(error, KeyError) else text


def table_console(piped_width: int) -> Console:
    """Where tables are printed: as wide as the terminal, or of a fixed width into a file or a pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=piped_width)
