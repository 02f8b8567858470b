"""How agents play, in figures: what a game counts, by name, and the statistics that are made of its counts.

What is counted is a part of the game (`games.registry.Game.counts`): a module with the members of
`GameCounts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]


class GameCounts(Protocol):
    """What a module must have to count what is done in a game; `arena.plain_counters` is the smallest.

    The compiled functions are made by `engine.numba.compiling.rule` and `engine.numba.compiling.seldom`. A
    count is a sum over rounds or episodes, kept for each role: `counters` is int64[T, NUM_COUNTERS],
    `role_of` int8[T] the role that plays each team.
    """

    @property
    def NUM_COUNTERS(self) -> int:  # noqa: N802 - a constant of a module
        """How many counts there are."""

    @property
    def STATISTICS(self) -> Sequence[Statistic]:  # noqa: N802
        """What is made of them, in the order of the tables."""

    def index_of(self, name: str, /) -> int:
        """Where a count stands among the counters."""

    def part_played(self, points: npt.NDArray[np.int32], rules: Any, /) -> Float64Array:
        """How much of their episodes has been played, for a progress bar.

        Args:
            points: int32[N, T], so far, of episodes that go on.
            rules: the table's.

        Returns:
            float64[N], 0 to 1.
        """

    def count_action(self, state: Any, rules: Any, action: int, role_of: Any, counters: Any, /) -> None:
        """Count a legal action of `state.seat`; compiled, and called before it is carried out."""

    def count_round(self, state: Any, rules: Any, role_of: Any, counters: Any, /) -> None:
        """Count a finished round, from each team's side; compiled."""

    def count_episode(self, rules: Any, first: int, shares: Any, counters: Any, /) -> None:
        """Count a finished episode; compiled.

        `first` is the role that began it, `shares` float64[T] what each role has of the win.
        """


class GameLuck(Protocol):
    """The members of a module that values the luck in a game; `arena.luck.aivat` is one.

    Luck must have mean 0 however agents play: only then can it be subtracted from the points without bias.
    """

    def count_draws(self, batch: Any, rules: Any, game: int, action: int, /) -> None:
        """Add the luck of all that chance did in one step to `batch.luck[game]`, by role; compiled.

        `batch.states[game]` is the game after the step, `batch.before[0]` the game before it, which may be
        overwritten; `action` was carried out, and `batch.role_of[game]` is the role that plays each team.
        """


class Counts:
    """The counts of one agent, by name or by action."""

    def __init__(self, counters: Int64Array, counted: GameCounts) -> None:
        """Hold the counts.

        Args:
            counters: int64[NUM_COUNTERS].
            counted: the game's part that says what they are.
        """
        self._tallies = counters
        self.counted = counted

    def __getitem__(self, name: str) -> int:
        return int(self._tallies[self.counted.index_of(name)])

    def chosen(self, actions: Iterable[int]) -> int:
        """How often one of the actions was chosen, in a game whose first counts are the actions, by id."""
        return sum(int(self._tallies[action]) for action in actions)


@dataclass(frozen=True)
class Statistic:
    """One line of a table of behaviour.

    Attributes:
        key: its name in files.
        heading: its name in tables.
        unit: of its values.
        of: from the counts to the value, None where it is undefined (nothing to divide by).
    """

    key: str
    heading: str
    unit: str
    of: Callable[[Counts], float | None]


def quotient(above: float, below: float, scale: float = 1.0) -> float | None:
    """One number over another, times `scale`; None where there is nothing to divide by."""
    return None if below == 0 else scale * above / below


def per(key: str, heading: str, unit: str, above: str, below: str, scale: float = 1.0) -> Statistic:
    """One count over another."""
    return Statistic(key, heading, unit, lambda counts: quotient(counts[above], counts[below], scale))


def percent(key: str, heading: str, above: str, below: str = "rounds", of: str = "rounds") -> Statistic:
    """One count in per cent of another, which `of` names."""
    return per(key, heading, f"% of {of}", above, below, 100.0)
