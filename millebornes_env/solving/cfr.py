"""Predictive CFR+: the value of a game, and a policy close to an equilibrium.

Counterfactual regret minimisation with regret matching+ (Tammelin 2014) and alternating updates, with the
last iteration's regrets as predictions (Farina, Kroer and Sandholm 2021). Later policies weigh more in the
average: by a high power of the iteration, so that the last tenth of a run dominates. The usual square needs
ten to twenty times as many iterations to reach 1e-6 points on the mini decks. `Solver.polish` continues on
the pruned game (`pruning`), which gives the last digits of large games.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from millebornes_env.errors import SolvingError
from millebornes_env.solving.checkpoints import identity_of, read_checkpoint, write_checkpoint
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.passes import match_forward, meet, regret_backward, weights_of_reach
from millebornes_env.solving.pruning import PrunedGame
from millebornes_env.solving.tree import Grower, SeatTree, Tree
from millebornes_env.solving.values import WHOLE, Judgement, Weights, judge_tree

Float64Array = npt.NDArray[np.float64]

POWER: Final = 16.0
"""Exponent of the iteration in the weight of its policy in the average; 1 in plain CFR+."""
LEARNED: Final = ("regrets", "last", "average")
"""Names of the arrays that each seat keeps between iterations, also in checkpoints."""
_WORK: Final = 0.25
"""Fraction of the work of the iterations on the whole game that polishing may take."""
_MOST_POLISHING: Final = 50_000
_FIRST_CHECK: Final = 256
_CHECK_RATIO: Final = 1.25
_BELOW: Final = 0.2
"""Target for a pruned game, relative to the requested NashConv: restoring it costs some accuracy."""


@dataclass(frozen=True)
class Polished:
    """A policy found on the pruned game and restored to the whole one.

    Attributes:
        judgement: its evaluation in the whole game.
        iterations: number of iterations on the pruned game.
        pruned: the pruned game.
        weights: the policy on the pruned game.
    """

    judgement: Judgement
    iterations: int
    pruned: PrunedGame
    weights: Weights


class Solver:
    """Solver of a game whose whole tree is kept in memory.

    Attributes:
        tree: the tree of the whole game.
        game: the game to solve.
        counts: the size of the game.
        iteration: number of completed iterations.
        seconds: their total time, including iterations before a checkpoint.
        predictive: True for predictive CFR+; False for plain CFR+.
        is_half_done: True if an iteration was interrupted, so that the solver cannot continue.
    """

    def __init__(self, game: Solvable, *, predictive: bool = True, tree: Tree | None = None) -> None:
        """Walk the game, unless its tree is given.

        Raises:
            SolvingError: its tree is too large to keep in memory.
        """
        if tree is None and game.cards > WHOLE:
            raise SolvingError(
                f"{game.name} has {game.cards} cards: its tree is too large to keep in memory; solve games "
                f"of more than {WHOLE} cards in parts (cfr_in_parts.SolverInParts)"
            )
        self.game, self.predictive = game, predictive
        self.tree = tree or Grower(game).whole()
        self.counts = self.tree.counts
        self.iteration = 0
        self.seconds = 0.0
        self.is_half_done = False
        self._seats = [Learner(seat) for seat in self.tree.seats]
        self._update_policies()

    def run(self, iterations: int, on_iteration: Callable[[Self], bool] | None = None) -> None:
        """Run the given number of iterations, or until `on_iteration`, called after each, returns True."""
        for _ in range(iterations):
            start = time.perf_counter()
            self._iterate()
            self.seconds += time.perf_counter() - start
            if on_iteration is not None and on_iteration(self):
                return

    def _iterate(self) -> None:
        self.is_half_done = True
        self.iteration += 1
        for seat in (0, 1):
            self._learn(seat)
        self.is_half_done = False

    def weight(self, iteration: int) -> float:
        """Return the weight of the policies of an iteration in the average."""
        return math.pow(iteration, POWER if self.predictive else 1.0)

    def judge(self) -> Judgement:
        """Return the distance of the average policy from an equilibrium."""
        return self._judge_weights(f"CFR+, {self.iteration} iterations", self._average_policy)

    def polish(self, nash_conv: float) -> Polished:
        """Continue on the pruned game to a NashConv in points, without changing the learned arrays.

        It takes at most a quarter of the time of the iterations so far.
        """
        pruned = PrunedGame(self._pieces(), self._average_policy)
        small = Solver(self.game, predictive=self.predictive, tree=pruned.tree)
        small.load_regrets(pruned, self._learned)
        share = sum(seat.size for seat in pruned.tree.seats) / sum(self._sequences())
        next_check = _FIRST_CHECK

        def is_enough(solver: Solver) -> bool:
            nonlocal next_check
            if solver.iteration < next_check:
                return False
            next_check = int(next_check * _CHECK_RATIO)
            return solver.judge().nash_conv <= _BELOW * nash_conv

        small.run(min(_MOST_POLISHING, int(_WORK * self.iteration / share)), is_enough)
        result = small.weights()
        name = f"CFR+, {self.iteration} iterations and {small.iteration} on the pruned game"
        judged = self._judge_weights(name, lambda at: pruned.restore(at, self._average_policy(at), result))
        return Polished(judged, small.iteration, pruned, result)

    def load_regrets(self, pruned: PrunedGame, learned: Callable[[int, str], list[Float64Array]]) -> None:
        """Start from the regrets of the whole game, from which this solver's tree was pruned.

        `learned` returns the arrays of the whole game for a seat and a name of `LEARNED`.
        """
        for number, learner in enumerate(self._seats):
            learner.regrets[:] = pruned.select(number, learned(number, "regrets"))
            learner.last[:] = pruned.select(number, learned(number, "last"))
        self._update_policies()

    def _learn(self, number: int) -> None:
        learner, other = self._seats[number], self._seats[1 - number]
        own_ends, other_ends = self.tree.end_sequences[number], self.tree.end_sequences[1 - number]
        learner.gains[:] = 0.0
        sign = 1.0 if number == 0 else -1.0
        meet(own_ends, other_ends, self.tree.end_values, sign, other.reach, learner.gains)
        self._learn_branches(number)
        learner.learn(self.predictive)
        learner.match(self.weight(self.iteration))

    def weights(self) -> Weights:
        """Return the average policy, float64[size] for each seat (`values.Policy.weights`)."""
        first, second = (learner.average_policy() for learner in self._seats)
        return first, second

    def polished_weights(self, polished: Polished) -> Weights:
        """Return the policy found by polishing, in the format of `weights`."""
        return polished.pruned.restore(0, self.weights(), polished.weights)

    # Of a trunk, with its branches --------------------------------------------------------------------------

    def _learn_branches(self, number: int) -> None:
        """Update one seat in the branches, and add its gains there to those of the trunk."""

    def _pieces(self) -> Sequence[Tree]:
        """Return the whole tree, or the trunk and all branches."""
        return [self.tree]

    def _average_policy(self, at: int) -> Weights:
        """Return the average policy on the piece with this index."""
        return self.weights()

    def _learned(self, seat: int, name: str) -> list[Float64Array]:
        """Return the arrays of a seat for each piece; `name` is one of `LEARNED`."""
        return [getattr(self._seats[seat], name)]

    def _judge_weights(self, name: str, weights: Callable[[int], Weights]) -> Judgement:
        """Evaluate a policy, given its weights on each piece."""
        return judge_tree(self.tree, weights(0), name)

    # Checkpoints --------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write a checkpoint atomically.

        Raises:
            OSError: the file could not be written.
        """
        about = {
            "iteration": self.iteration,
            "seconds": self.seconds,
            "predictive": self.predictive,
            "game": identity_of(self.game, self.counts, self._sequences()),
        }
        write_checkpoint(path, about, self._arrays())

    def load(self, path: Path) -> None:
        """Continue from a checkpoint.

        Raises:
            SolvingError: the file is damaged, or of another game or algorithm; the solver is then reset.
            OSError: the file could not be read; the solver is then reset.
        """
        own = identity_of(self.game, self.counts, self._sequences())
        arrays = self._arrays()
        try:
            about = read_checkpoint(path, own, arrays, predictive=self.predictive)
        except (SolvingError, OSError):
            self.iteration, self.seconds = 0, 0.0
            for array in arrays.values():
                array[:] = 0.0
            self._update_policies()
            raise
        self.iteration, self.seconds = int(about["iteration"]), float(about["seconds"])
        self._update_policies()

    def _arrays(self) -> dict[str, Float64Array]:
        """Return the learned arrays by their names in checkpoints."""
        return {
            f"{name}_{number}": getattr(learner, name)
            for number, learner in enumerate(self._seats)
            for name in LEARNED
        }

    def _sequences(self) -> list[int]:
        """Return the number of sequences of each seat, which is the size of its arrays."""
        return [seat.size for seat in self.tree.seats]

    def _update_policies(self) -> None:
        for learner in self._seats:
            learner.match(0.0)


class Learner:
    """The regrets and policies of one seat; arrays of float64[size]."""

    def __init__(self, seat: SeatTree) -> None:
        self._seat = seat
        self.regrets = np.zeros(seat.size)
        self.last = np.zeros(seat.size)
        self.average = np.zeros(seat.size)
        self.weights = np.ones(seat.size)
        self.reach = np.ones(seat.size)
        self.gains = np.zeros(seat.size)

    def match(self, weight: float) -> None:
        """Compute the next policy, and add it to the average with this weight."""
        seat = self._seat
        match_forward(
            seat.operations,
            self.regrets, self.last, weight, self.weights, self.reach, self.average,
        )  # fmt: skip

    def learn(self, predictive: bool) -> None:
        """Update the regrets from the gains at the ends."""
        seat = self._seat
        regret_backward(
            seat.operations,
            self.weights, self.gains, self.regrets, self.last,
        )  # fmt: skip
        if not predictive:
            self.last[:] = 0.0

    def average_policy(self) -> Float64Array:
        """Return the average policy."""
        weights = np.ones(self._seat.size)
        weights_of_reach(self._seat.operations, self.average, weights)
        return weights
