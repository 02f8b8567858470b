"""Error handling shared by all command lines: one sentence for an error, no traceback, standard exit codes.

`run_command` runs a command and takes care of signals that stop it and of standard streams that are closed,
full or no longer read:

    python -m millebornes_env editions | head -1    # ends quietly
    python -m millebornes_env editions > /dev/full  # error: standard output could not be written: ...
    python -m millebornes_env editions >&-          # error: standard output is closed: ...
    python -m train.selfplay 2>&-                   # trains without progress and error messages
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

from millebornes_env._util.signals import Stops, exit_code_of
from millebornes_env._util.texts import file_name

EXIT_ERROR: Final = 2
"""Exit code for an invalid command line, file or standard stream."""


def run_command(
    command: Callable[[], int | None], *, prints: bool = True, stopped: str = "interrupted"
) -> int:
    """Run a command; report errors as one sentence and an exit code.

    Args:
        command: function that does the work and returns its exit code, or None for 0.
        prints: the command exists to print: a closed standard output is then an error from the start, not
            after hours.
        stopped: message after Ctrl-C, SIGTERM or SIGHUP: what was saved, and how to resume.

    Returns:
        The command's own exit code; 0 also if the reader has closed the pipe (`| head`); `EXIT_ERROR` after
        an error; 128 plus the signal's number after a signal, such as 130 after Ctrl-C.

    Raises:
        SystemExit: from `argparse` or tyro, after their output was flushed.
    """
    stdout_was_closed = sys.stdout is None
    open_closed_streams()
    if stdout_was_closed and prints:
        return print_error("standard output is closed: nothing can be printed")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # an old code page prints caf\xe9, not a traceback
    exit_code: int | None
    try:
        with Stops():
            try:
                exit_code = command()
            except SystemExit:
                sys.stdout.flush()
                raise
            sys.stdout.flush()
    except BrokenPipeError:  # `| head` has closed the pipe
        _discard(sys.stdout)
        return 0
    except KeyboardInterrupt as stop:
        flush(sys.stdout)
        return print_error(stopped, exit_code_of(stop))
    except MemoryError as error:
        flush(sys.stdout)
        return print_error(f"there is not enough memory for what was asked ({sentence(error)}): ask for less")
    except (OSError, ValueError) as error:
        flush(sys.stdout)
        return print_error(sentence(error))
    flush(sys.stdout)
    return exit_code or 0


def print_error(message: str, exit_code: int = EXIT_ERROR) -> int:
    """Print `error: ...` to standard error, on one line, and return the exit code.

    A failing standard error is ignored.
    """
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(f"error: {one_line(message)}", file=sys.stderr)
        flush(sys.stderr)
    return exit_code


def warn(message: str) -> None:
    """Print `warning: ...` to standard error, on one line; nothing for an empty message."""
    if message:
        say(f"warning: {one_line(message)}")


def program() -> str:
    """Return the command as the user typed it: the console command, or Python's option -m."""
    return "millebornes" if Path(sys.argv[0]).stem == "millebornes" else "python -m millebornes_env"


def option_name(field: str) -> str:
    """Return the command-line option for a field of a dataclass of options."""
    return f"--{field.replace('_', '-')}"


def sentence(error: BaseException) -> str:
    """Return an error's message on one line; for an error of the operating system, the file and the reason.

    The message of a `KeyError` is only the key, so the name of the class is added.
    """
    if isinstance(error, OSError) and error.strerror:
        files = " and ".join(
            file_name(name) for name in (error.filename, error.filename2) if name is not None
        )
        return f"{files or 'standard output could not be written'}: {error.strerror}"
    text = " ".join(str(error).split())
    return f"{type(error).__name__} {text}" if isinstance(error, KeyError) or not text else text


def say(line: str) -> None:
    """Print a line to stderr, ignoring errors."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(" ".join(line.split()), file=sys.stderr)
        flush(sys.stderr)


def one_line(text: str) -> str:
    """Return the text on one line, with unprintable characters (as in a file's name) escaped."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in " ".join(text.split())
    )


def open_closed_streams() -> None:
    """Replace standard streams that were closed when the program started by the null device.

    Otherwise the next file that is opened would get the stream's number, and receive what libraries print.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, mode)
            if null != number:
                os.dup2(null, number)
                os.close(null)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode_of_file = "r" if name == "stdin" else "w"
            stream = open(number, mode_of_file, encoding="utf-8", closefd=False)  # noqa: SIM115 - stays open
            setattr(sys, name, stream)


def flush(stream: TextIO) -> None:
    """Flush a stream; if that fails, discard its output, so that Python does not try again at exit."""
    try:
        stream.flush()
    except (OSError, ValueError):
        _discard(stream)


def _discard(stream: TextIO) -> None:
    """Send the rest of a stream's output to the null device."""
    with contextlib.suppress(OSError, ValueError):  # a stream without a file below it
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        stream.flush()
