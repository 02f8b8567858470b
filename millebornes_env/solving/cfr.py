"""Predictive CFR+: the value of a game, and a policy close to an equilibrium.

Counterfactual regret minimisation with regret matching+ (Tammelin 2014), seats in turn, in which the regrets
of the last iteration are expected once more (Farina, Kroer and Sandholm 2021), and later policies weigh more
in the average: by the square of the iteration. On the mini decks it needs far fewer iterations than CFR+.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.errors import shown
from millebornes_env.files import replacing
from millebornes_env.solving.archives import name_of_game, read_archive
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.errors import CheckpointError, SolvingError
from millebornes_env.solving.passes import match_forward, meet, regret_backward, weights_of_reach
from millebornes_env.solving.tree import Grower, SeatTree, Tree
from millebornes_env.solving.values import WHOLE, Judgement, Weights, judge_tree

Float64Array = npt.NDArray[np.float64]
OnIteration = Callable[["Solver"], bool]
"""Called after each iteration; True: that is enough."""

CHECKPOINT_FORMAT: Final = 1
_ARRAYS: Final = ("regrets", "last", "average")


class Solver:
    """Solves a game, an iteration at a time.

    Attributes:
        tree: of the whole game.
        iteration: how many were carried out.
        seconds: that they took, those before a checkpoint too.
        predictive: whether the last regrets are expected once more; if not, this is plain CFR+.
    """

    def __init__(self, game: Solvable, *, predictive: bool = True) -> None:
        """Walk the game.

        Raises:
            SolvingError: its tree does not fit in memory.
        """
        if game.cards > WHOLE:
            raise SolvingError(
                f"{game.name} has {game.cards} cards: its tree does not fit in memory; games of up to "
                f"{WHOLE} cards can be solved, and policies for larger ones judged"
            )
        self.tree: Tree = Grower(game).whole()
        self.iteration = 0
        self.seconds = 0.0
        self.predictive = predictive
        self._seats = [_Learner(seat) for seat in self.tree.seats]
        for learner in self._seats:
            learner.match(0.0)

    def run(self, iterations: int, on_iteration: OnIteration | None = None) -> None:
        """Carry out so many iterations.

        Args:
            iterations: at most.
            on_iteration: called after each; True ends the run.
        """
        for _ in range(iterations):
            begun = time.perf_counter()
            self._iterate()
            self.seconds += time.perf_counter() - begun
            if on_iteration is not None and on_iteration(self):
                return

    def _iterate(self) -> None:
        self.iteration += 1
        for number, learner in enumerate(self._seats):
            other = self._seats[1 - number]
            own_ends, other_ends = self.tree.end_sequences[number], self.tree.end_sequences[1 - number]
            learner.gains[:] = 0.0
            sign = 1.0 if number == 0 else -1.0
            meet(own_ends, other_ends, self.tree.end_values, sign, other.reach, learner.gains)
            learner.learn(self.predictive)
            learner.match(float(self.iteration) ** (2 if self.predictive else 1))

    def weights(self) -> Weights:
        """The average policy: float64[size] for each seat, as `values.Policy.weights` returns them."""
        first, second = (learner.averaged() for learner in self._seats)
        return first, second

    def judge(self) -> Judgement:
        """How far the average policy is from an equilibrium."""
        return judge_tree(self.tree, self.weights(), f"CFR+, {self.iteration} iterations")

    # Checkpoints --------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write a checkpoint, whole or not at all.

        Raises:
            OSError: it could not be written.
        """
        arrays: dict[str, Any] = {
            f"{name}_{number}": getattr(learner, name)
            for number, learner in enumerate(self._seats)
            for name in _ARRAYS
        }
        about = {
            "format": CHECKPOINT_FORMAT,
            "iteration": self.iteration,
            "seconds": self.seconds,
            "predictive": self.predictive,
            "game": identity(self.tree),
        }
        with replacing(path) as draft, draft.open("wb") as file:
            np.savez(file, about=np.array(json.dumps(about)), **arrays)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint.

        Raises:
            CheckpointError: it is damaged, or of another game, or of the other algorithm.
            OSError: it could not be read.
        """
        try:
            about, arrays = read_archive(path)
        except ValueError as error:
            raise CheckpointError(f"{path} is no checkpoint of a solver, or damaged ({error})") from None
        self._check(path, about, arrays)
        for number, learner in enumerate(self._seats):
            for name in _ARRAYS:
                getattr(learner, name)[:] = arrays[f"{name}_{number}"]
            learner.match(0.0)
        self.iteration, self.seconds = int(about["iteration"]), float(about["seconds"])

    def _check(self, path: Path, about: dict[str, Any], arrays: dict[str, Any]) -> None:
        if about.get("format") != CHECKPOINT_FORMAT:
            raise CheckpointError(f"{path} is no checkpoint that this version can read; begin anew elsewhere")
        own = identity(self.tree)
        if about.get("game") != own:
            raise CheckpointError(
                f"{path} is a checkpoint of {shown(name_of_game(about))}, and not of {own['name']!r} with "
                "the same rules; give another file, or remove this one"
            )
        if about.get("predictive") != self.predictive:
            raise CheckpointError(f"{path} was made by the other variant of CFR+; give the same option")
        iteration, seconds = about.get("iteration"), about.get("seconds")
        if not isinstance(iteration, int) or iteration < 0 or not isinstance(seconds, float | int):
            raise CheckpointError(f"{path} is damaged: it does not say after how many iterations it was made")
        for number, learner in enumerate(self._seats):
            for name in _ARRAYS:
                array = arrays.get(f"{name}_{number}")
                if array is None or array.shape != getattr(learner, name).shape or array.dtype != np.float64:
                    raise CheckpointError(f"{path} is damaged: {name}_{number} is missing or of another size")
                if not np.isfinite(array).all():
                    raise CheckpointError(f"{path} is damaged: {name}_{number} holds what is no number")


def identity(tree: Tree) -> dict[str, Any]:
    """What tells one game from all others, as JSON values: its name, rules and size."""
    return {
        "name": tree.game.name,
        "rules": list(tree.game.rules),
        "counts": json.loads(json.dumps(asdict(tree.counts))),
        "sequences": [seat.size for seat in tree.seats],
    }


class _Learner:
    """What one seat has learned; arrays of float64[size]."""

    def __init__(self, seat: SeatTree) -> None:
        self._seat = seat
        self.regrets = np.zeros(seat.size)
        self.last = np.zeros(seat.size)
        self.average = np.zeros(seat.size)
        self.weights = np.ones(seat.size)
        self.reach = np.ones(seat.size)
        self.gains = np.zeros(seat.size)

    def match(self, weight: float) -> None:
        """Make the next policy, and add it to the average with this weight."""
        seat = self._seat
        match_forward(
            seat.operations,
            self.regrets, self.last, weight, self.weights, self.reach, self.average,
        )  # fmt: skip

    def learn(self, predictive: bool) -> None:
        """Add to the regrets, the gains at the ends being given."""
        seat = self._seat
        regret_backward(
            seat.operations,
            self.weights, self.gains, self.regrets, self.last,
        )  # fmt: skip
        if not predictive:
            self.last[:] = 0.0

    def averaged(self) -> Float64Array:
        """The average policy."""
        weights = np.ones(self._seat.size)
        weights_of_reach(self._seat.operations, self.average, weights)
        return weights
