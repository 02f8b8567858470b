"""Which learner is faster here: PyTorch's dense products, in float32 or bfloat16, or the sparse kernels.

It depends on the processor, on the widths of the layers and on the batches, so a new run measures it for a
second. The choice is written to the run's `config.json` and checkpoints, and a resumed run keeps it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

from train.common.checkpoints import recorded_options
from train.common.network import Precision, chosen_precision, has_fast_bfloat16
from train.common.selfplay_options import Args, LearnerName, why_dense
from train.common.sparse_network import ROOM

_ROUNDS: Final = 3


class Choice(NamedTuple):
    """Who learns, and in what precision its matrix products are."""

    learner: LearnerName
    precision: Precision


CHOICES: Final = (Choice("torch", "float32"), Choice("torch", "bfloat16"), Choice("sparse", "float32"))
"""All that there are; several processes tell each other the number of theirs."""


class Measured(Protocol):
    """A learner in small."""

    def collect(self) -> None:
        """Play a rollout."""

    def learn(self, share: float) -> object:
        """Learn from it."""


def as_begun(args: Args, kind: str) -> Args:
    """The options with the learner and the precision of the run that is gone on with, if there is one.

    Args:
        args: the options; what they say is kept.
        kind: of the checkpoints of these runs.

    Returns:
        The options; their learner is "auto" only for a new run in which several could learn.

    Raises:
        RunError: the checkpoint of the run is damaged or of another version.
    """
    begun = recorded_options(args.run_dir, kind) if args.resume else {}
    known = Choice(begun.get("learner", args.learner), begun.get("precision", args.precision))
    if known in CHOICES:
        args = replace(
            args,
            learner=known.learner if args.learner == "auto" else args.learner,
            precision=known.precision if args.precision == "auto" else args.precision,
        )
    if args.learner == "auto" and why_dense(args) is not None:
        args = replace(args, learner="torch")
    if args.learner == "torch":
        return replace(args, precision=chosen_precision(args.precision))
    return replace(args, precision="float32") if args.learner == "sparse" else args


def is_sparse(args: Args, num_inputs: int) -> bool:
    """Whether the sparse kernels learn; where nothing was chosen, they do if they can.

    Raises:
        ValueError: they are asked for and cannot.
    """
    if args.learner == "auto":
        return why_dense(args) is None and num_inputs <= ROOM
    if args.learner == "sparse" and num_inputs > ROOM:
        raise ValueError(
            f"--learner sparse takes rows of at most {ROOM} numbers, these have {num_inputs}: "
            "give --learner torch"
        )
    return args.learner == "sparse"


def choices(args: Args) -> list[Choice]:
    """The learners that could learn; bfloat16 only if it is asked for or the processor has it."""
    found = []
    for choice in CHOICES:
        is_asked = args.precision in ("auto", choice.precision) and args.learner in ("auto", choice.learner)
        is_fast = choice.precision == "float32" or args.precision != "auto" or has_fast_bfloat16()
        if is_asked and is_fast and (choice.learner == "torch" or why_dense(args) is None):
            found.append(choice)
    return found


def fastest(learners: Mapping[Choice, Measured], clock: Callable[[], float] = time.process_time) -> Choice:
    """Let learners play and learn in turns, and take the one that was fastest in its best round.

    Measured is the processor's time, not the clock's: who else uses the machine must not decide.

    Args:
        learners: one or more, of the same options otherwise.
        clock: seconds.
    """
    best = dict.fromkeys(learners, float("inf"))
    for number in range(1 + _ROUNDS):
        for choice, learner in learners.items():
            began = clock()
            learner.collect()
            learner.learn(0.0)
            if number > 0:  # the first round compiles
                best[choice] = min(best[choice], clock() - began)
    return min(best, key=lambda choice: best[choice])
