"""The end of every training script: one sentence for what went wrong, and an exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from millebornes_env._util.command_line import complain, run_command, sentence
from millebornes_env._util.signals import exit_code_of
from train.common.errors import LossError
from train.common.options import parse_options
from train.common.run_folder import CHECKPOINT_FILE

Options = TypeVar("Options")

LOSS_NOT_FINITE: Final = 1
"""Exit code: options and files are as they should be, but a loss became NaN or infinite."""


def run_training(
    options: type[Options],
    description: str | None,
    command: Callable[[Options], str | None],
    run_dir: Callable[[Options], Path],
) -> int:
    """Run the script of a trainer that keeps checkpoints.

    Args:
        options: the dataclass of the script's options.
        description: for --help.
        command: trains, with the options; returns what could not be written, if the last try failed.
        run_dir: returns the run folder; after a signal, --resume is offered only if it has a checkpoint.

    Returns:
        As `carry_out_training`.
    """

    def parsed_and_trained() -> int:
        args = parse_options(options, description)
        try:
            return _exit_code(lambda: command(args))
        except KeyboardInterrupt as stop:
            folder = run_dir(args)
            if (folder / CHECKPOINT_FILE).exists():
                end = "go on from the last checkpoint with the same command and --resume"
            else:
                end = f"there is no checkpoint in {str(folder)!r}, so --resume would begin again"
            return complain(f"stopped; {end}", exit_code_of(stop))

    return run_command(parsed_and_trained, prints=False)


def carry_out_training(command: Callable[[], str | None], stopped: str = "interrupted") -> int:
    """Run a training script, and turn what goes wrong into one sentence and an exit code.

    Args:
        command: trains; returns what could not be written, if the last try failed, else None.
        stopped: what to say after a signal.

    Returns:
        0; 2 if an option was wrong or something could not be written; `LOSS_NOT_FINITE`; 128 and the signal's
        number after a signal.
    """
    return run_command(lambda: _exit_code(command), prints=False, stopped=stopped)


def _exit_code(command: Callable[[], str | None]) -> int:
    try:
        problem = command()
    except LossError as error:
        return complain(sentence(error), LOSS_NOT_FINITE)
    return 0 if problem is None else complain(problem)
