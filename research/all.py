"""All questions, one after the other: `python -m research.all`.

    python -m research.all --quick                 # see what each shows
    python -m research.all --docs                  # all of them, into the docs
    python -m research.all --only exploitability

A question that fails is said, and the others go on. Each question can be asked alone, with options of its
own: `python -m research.NAME --help`.
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
    """The options of the command line; all others of a question are its defaults."""

    only: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """answer this question only; give it once for each"""
    quick: bool = False
    """a small run of each"""
    minutes: float | None = None
    """minutes for each question: it begins no part after that; the same command goes on with the rest"""
    docs: bool = False
    """write figures, pictures and blocks into docs"""
    dry_run: bool = False
    """only say what is done and what is left"""


def question_of(name: str) -> Question[Any]:
    """A question by its name."""
    question: Question[Any] = importlib.import_module(f"research.{name}").QUESTION
    return question


def chosen(args: Args) -> tuple[str, ...]:
    """The names of the questions to be answered.

    Raises:
        MilleBornesError: there is no question of that name.
    """
    if unknown := [name for name in args.only if name not in QUESTIONS]:
        raise MilleBornesError(f"--only {shown(unknown[0])}: the questions are {', '.join(QUESTIONS)}")
    return args.only or QUESTIONS


def ask(args: Args) -> int:
    """Answer the questions; how many failed."""
    failed = 0
    for number, name in enumerate(names := chosen(args), 1):
        print(f"{number} of {len(names)}: {name}", flush=True)
        try:
            question = question_of(name)
            given = dataclasses.asdict(args)
            del given["only"]
            answer(question, question.options(**given))
        except (MilleBornesError, OSError, ValueError, ModuleNotFoundError) as error:
            failed += 1
            print_error(f"{name}: {sentence(error)}")
    return failed


def main() -> int:
    """The command line; returns the exit status."""
    return run_command(
        lambda: 2 if ask(read_options(Args, "python -m research.all", description=__doc__)) else 0,
        stopped=STOPPED,
    )


if __name__ == "__main__":
    sys.exit(main())
