"""Error handling shared by all command lines: one sentence for an error, no traceback, standard exit codes.

`run_command` runs a command and takes care of signals that stop it and of standard streams that are closed,
full or no longer read:

    python -m millebornes_env editions | head -1    # ends quietly
    python -m millebornes_env editions > /dev/full  # error: standard output could not be written: ...
    python -m millebornes_env editions >&-          # error: standard output is closed: ...
    python -m train.selfplay 2>&-                   # trains; nobody is told
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

WRONG: Final = 2
"""Exit code: the command line, a file that it names, or a standard stream is not what it should be."""


def run_command(
    command: Callable[[], int | None], *, prints: bool = True, stopped: str = "interrupted"
) -> int:
    """Run a command, and turn what goes wrong into one sentence and an exit code.

    Args:
        command: does the work; returns its exit code, or None for 0.
        prints: whether the command is for what it prints: a closed standard output is then an error at once,
            not after hours.
        stopped: what to say after Ctrl-C, SIGTERM or SIGHUP: what was kept, and how to go on.

    Returns:
        The command's own exit code; 0 also where nobody reads on (`| head`); `WRONG` after an error; 128 and
        the signal's number after a signal, such as 130 after Ctrl-C.

    Raises:
        SystemExit: as `argparse` and tyro raise it, after what they printed was written out.
    """
    stdout_was_closed = sys.stdout is None
    open_closed_streams()
    if stdout_was_closed and prints:
        return complain("standard output is closed: nothing can be printed")
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
    except BrokenPipeError:  # `| head` has seen enough
        _give_up(sys.stdout)
        return 0
    except KeyboardInterrupt as stop:
        write_out(sys.stdout)
        return complain(stopped, exit_code_of(stop))
    except MemoryError as error:
        write_out(sys.stdout)
        return complain(f"there is not enough memory for what was asked ({sentence(error)}): ask for less")
    except (OSError, ValueError) as error:
        write_out(sys.stdout)
        return complain(sentence(error))
    write_out(sys.stdout)
    return exit_code or 0


def complain(message: str, exit_code: int = WRONG) -> int:
    """Print `error: ...` to standard error, in one line; a standard error that takes nothing is no error.

    Args:
        message: what is wrong.
        exit_code: what to return.
    """
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(f"error: {one_line(message)}", file=sys.stderr)
        write_out(sys.stderr)
    return exit_code


def warn(message: str) -> None:
    """Print `warning: ...` to standard error, in one line, if that takes it; nothing for an empty message."""
    if message:
        say(f"warning: {one_line(message)}")


def program() -> str:
    """Return the command as the user typed it: the console command, or Python's option -m."""
    return "millebornes" if Path(sys.argv[0]).stem == "millebornes" else "python -m millebornes_env"


def option_name(field: str) -> str:
    """A field of a dataclass of options as it is written on the command line."""
    return f"--{field.replace('_', '-')}"


def sentence(error: BaseException) -> str:
    """Return an error's message on one line; for an error of the operating system, the file and the reason.

    A `KeyError` says only the key, so its name is put before.
    """
    if isinstance(error, OSError) and error.strerror:
        files = " and ".join(
            file_name(name) for name in (error.filename, error.filename2) if name is not None
        )
        return f"{files or 'standard output could not be written'}: {error.strerror}"
    text = " ".join(str(error).split())
    return f"{type(error).__name__} {text}" if isinstance(error, KeyError) or not text else text


def say(line: str) -> None:
    """Print a line to stderr, if that takes it."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(" ".join(line.split()), file=sys.stderr)
        write_out(sys.stderr)


def one_line(text: str) -> str:
    """The text in one line; what does not print (a control character in a file's name) as an escape."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in " ".join(text.split())
    )


def open_closed_streams() -> None:
    """Put the null device in the place of standard streams that were closed when the program started.

    Otherwise the next file that is opened would get the stream's number, and what a library prints there.
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
            stream = open(number, mode_of_file, encoding="utf-8", closefd=False)  # noqa: SIM115 - for good
            setattr(sys, name, stream)


def write_out(stream: TextIO) -> None:
    """Flush a stream; if that fails, give it up, so that Python does not try again at the end."""
    try:
        stream.flush()
    except (OSError, ValueError):
        _give_up(stream)


def _give_up(stream: TextIO) -> None:
    """Let the rest of a stream's output go nowhere."""
    with contextlib.suppress(OSError, ValueError):  # a stream without a file below it
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        stream.flush()
