"""What every command here owes its user: one sentence for an error, no traceback, the usual exit codes.

`carry_out` runs a command, and takes care of signals that stop it and of standard streams that are closed,
full or no longer read. It is what `millebornes_env.command_line` is, for commands that run for hours:

    python -m train.evaluate greedy | head -1     # ends quietly
    python -m train.evaluate greedy > /dev/full   # error: standard output could not be written: No space ...
    python -m train.selfplay 2>&-                 # trains; nobody is told
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from typing import Any, TextIO

from rich.console import Console

from millebornes_env.command_line import WRONG, complain, open_closed_streams, write_out
from train.stopping import Stops, exit_code_of


def carry_out(command: Callable[[], int], *, prints: bool = True, stopped: str = "stopped") -> int:
    """Run a command, and turn what goes wrong into one sentence and an exit code.

    Args:
        command: does the work; returns its exit code.
        prints: whether the command is for what it prints: a closed standard output is then an error at once,
            not after hours.
        stopped: what to say after Ctrl-C, SIGTERM or SIGHUP: what was kept, and how to go on.

    Returns:
        The command's own exit code; 0 also where nobody reads on (`| head`); `WRONG` after an error; 128 and
        the signal's number after a signal, such as 130 after Ctrl-C.

    Raises:
        SystemExit: as tyro raises it, after what it printed was written out.
    """
    is_closed = sys.stdout is None
    open_closed_streams()
    if is_closed and prints:
        return complain("standard output is closed: nothing can be printed")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # as `millebornes_env.command_line` does
    try:
        with Stops():
            try:
                exit_code = command()
            except SystemExit:
                sys.stdout.flush()
                raise
            sys.stdout.flush()
    except KeyboardInterrupt as stop:
        exit_code = complain(stopped, exit_code_of(stop))
    except BrokenPipeError:  # `| head` has seen enough
        exit_code = 0
    except MemoryError as error:
        exit_code = complain(
            f"there is not enough memory for what was asked ({one_line(error)}): ask for less"
        )
    except (OSError, ValueError) as error:
        exit_code = complain(sentence(error))
    write_out(sys.stdout)
    return exit_code


def say(line: str) -> None:
    """Print a line to stderr, if that takes it."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(" ".join(line.split()), file=sys.stderr)
        write_out(sys.stderr)


def sentence(error: Exception) -> str:
    """What an error says to a user: of the operating system's, the file and the reason."""
    if isinstance(error, OSError) and error.strerror:
        names = [repr(str(name)) for name in (error.filename, error.filename2) if name is not None]
        if not names:  # errors of files name them, see `replacing`
            return f"standard output could not be written: {error.strerror}"
        return f"{' and '.join(names)} could not be read or written: {error.strerror}"
    return one_line(error)


def one_line(error: Exception) -> str:
    """What an error says, its lines joined; a `KeyError` says only the key, so its name is put before."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__} {text}" if isinstance(error, KeyError) or not text else text


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


__all__ = ["WRONG", "carry_out", "complain", "one_line", "progress_console", "say", "table_console"]
