"""Answer all research questions, one after the other: `python -m research.all`.

    python -m research.all --quick                 # preview the output of each
    python -m research.all --docs                  # all of them, into the docs
    python -m research.all --only exploitability

A failed question is reported, and the others continue. Each question also has its own command with more
options: `python -m research.NAME --help`.
"""

from __future__ import annotations

import dataclasses
import importlib
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from millebornes_env._util.command_line import print_error, run_command, sentence
from millebornes_env.cli.console import read_options
from millebornes_env.errors import MilleBornesError, shown
from research.frame import STOPPED, Question, answer
from research.questions import QUESTIONS


@dataclass(frozen=True)
class Args:
    """The options of the command line; all other options of a question have their defaults."""

    only: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """answer this question only; repeat it for several"""
    quick: bool = False
    """a small run of each question"""
    minutes: float | None = None
    """minutes for each question, after which it starts no part; the same command continues with the rest"""
    docs: bool = False
    """write figures, plots and blocks into docs"""
    dry_run: bool = False
    """only report finished and remaining parts"""


def answer_all(args: Args) -> int:
    """Answer the questions; return the number of failures.

    Raises:
        MilleBornesError: there is no question with a given name.
    """
    if unknown := [name for name in args.only if name not in QUESTIONS]:
        raise MilleBornesError(f"--only {shown(unknown[0])}: the questions are {', '.join(QUESTIONS)}")
    names, failed = args.only or QUESTIONS, 0
    given = dataclasses.asdict(args)
    del given["only"]
    for number, name in enumerate(names, 1):
        print(f"{number} of {len(names)}: {name}", flush=True)
        try:
            question: Question[Any] = importlib.import_module(f"research.{name}").QUESTION
            answer(question, question.options(**given))
        except (OSError, ValueError, ModuleNotFoundError) as error:
            failed += 1
            print_error(f"{name}: {sentence(error)}")
    return failed


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(
        lambda: 2 if answer_all(read_options(Args, "python -m research.all", description=__doc__)) else 0,
        stopped=STOPPED,
    )


if __name__ == "__main__":
    sys.exit(main())
