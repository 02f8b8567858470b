"""The end of every training script: one sentence for what went wrong, and an exit code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from millebornes_env.command_line import carry_out, complain, sentence
from train.common.errors import LossError

LOSS_NOT_FINITE: Final = 1
"""Exit code: options and files are as they should be, but a loss became NaN or infinite."""


def carry_out_training(
    command: Callable[[], str | None], stopped: str = "stopped; go on with the same command and --resume"
) -> int:
    """Run a training script, and turn what goes wrong into one sentence and an exit code.

    Args:
        command: trains; returns what could not be written, if the last try failed, else None.
        stopped: what to say after a signal.

    Returns:
        0; 2 if an option was wrong or something could not be written; `LOSS_NOT_FINITE`; 128 and the signal's
        number after a signal.
    """

    def carried_out() -> int:
        try:
            problem = command()
        except LossError as error:
            return complain(sentence(error), LOSS_NOT_FINITE)
        return 0 if problem is None else complain(problem)

    return carry_out(carried_out, prints=False, stopped=stopped)
