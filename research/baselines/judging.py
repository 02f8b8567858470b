"""Exact evaluation of policies during learning: exploitability against decisions and seconds."""

from __future__ import annotations

import functools
import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from millebornes_env._util.files import write_bytes_atomically
from millebornes_env.solving.deck import Solvable, solvable
from millebornes_env.solving.tree import Grower, Tree
from millebornes_env.solving.values import (
    SMALL,
    WHOLE,
    Judgement,
    Policy,
    Weights,
    judge,
    judge_tree,
)

POINTS: Final = 8
"""Number of evaluations on a small deck, each after twice as many decisions as the one before."""
POINTS_OF_LARGE: Final = 4
"""Number of evaluations on larger decks; trees that do not fit into memory are evaluated once, at the end."""


@functools.cache
def small_tree(deck: str) -> Tree:
    """Build the tree of a deck of up to 8 cards, with keys and states to query agents."""
    return Grower(solvable(deck)).whole(keys=True, states=True)


def is_small(game: Solvable) -> bool:
    """Return True if the policies of the deck are kept, as weights of its whole tree."""
    return game.cards <= SMALL


def marks(game: Solvable, samples: int) -> list[int]:
    """Return the numbers of decisions after which a learner is evaluated; the last is the end."""
    points = POINTS if is_small(game) else POINTS_OF_LARGE if game.cards <= WHOLE else 1
    result = [samples // 2 ** (points - 1 - point) for point in range(points)]
    return sorted({mark for mark in result if mark > 0})


def part_name(method: str, deck: str, seed: int) -> str:
    """Return the name of the part of a method, a deck and a seed, and of its files."""
    return f"{method}_on_{deck}_seed_{seed}"


@dataclass
class Task:
    """A run of a method on a deck with a seed.

    Attributes:
        game: the deck.
        seed: seed of all random numbers.
        samples: budget of decisions.
        folder: folder of the records; policies are saved in a subfolder.
        name: name of the part.
        deck: name of the deck in the plan.
        on_progress: callback that takes the completed share.
        curve: the evaluations so far, as JSON values.
        seconds: processor time of learning, without evaluations.
        final: the last evaluated policy of a small deck.
    """

    game: Solvable
    seed: int
    samples: int
    folder: Path
    name: str
    deck: str
    on_progress: Callable[[float], None]
    curve: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    final: Weights | None = None

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Add the processor time of a `with` block to `seconds`."""
        start = time.process_time()
        yield
        self.seconds += time.process_time() - start

    def marks(self) -> Iterator[int]:
        """Yield the numbers of decisions of the next evaluations."""
        for mark in marks(self.game, self.samples):
            if not self.curve or self.curve[-1]["samples"] < mark:
                yield mark

    def judge(self, samples: int, policy: Policy) -> Judgement:
        """Evaluate a policy after a number of decisions."""
        if not is_small(self.game):
            return self._note(samples, judge(self.game, policy, threads=1))
        tree = small_tree(self.game.name)
        return self.judge_table(samples, tree, policy.weights(tree))

    def judge_table(self, samples: int, tree: Tree, weights: Weights) -> Judgement:
        """Evaluate the weights of a policy on the whole tree."""
        if is_small(self.game):
            self.final = weights
        return self._note(samples, judge_tree(tree, weights))

    def _note(self, samples: int, found: Judgement) -> Judgement:
        """Add an evaluation to the curve."""
        self.curve.append(
            {
                "samples": samples,
                "seconds": self.seconds,
                "exploitability": found.exploitability,
                "percent": 100 * found.of_range,
                "value": found.value,
                "best": list(found.best),
            }
        )
        self.on_progress(min(samples / self.samples, 1.0) if self.samples else 1.0)
        return found

    def save_policy(self) -> None:
        """Write the last policy of a small deck: float32 weights of the sequences of each seat."""
        if self.final is None:
            return
        content = io.BytesIO()
        first, second = (table.astype(np.float32) for table in self.final)
        np.savez_compressed(content, seat_0=first, seat_1=second)
        write_bytes_atomically(policy_path(self.folder, self.name), content.getvalue())


def policy_path(folder: Path, name: str) -> Path:
    """Return the path of the policy of a part."""
    return folder / "policies" / f"{name}.npz"
