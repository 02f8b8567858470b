"""Statistics of behaviour: a game's counts by name, and the statistics computed from them.

A game has them as its hook `arena.counts`: a module with the members of `GameCounts`.
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
    """The members of a module that counts events of a game; `arena.plain_counters` is the smallest.

    The compiled functions use `engine.numba.compiling.rule` and `engine.numba.compiling.seldom`. A count is a
    sum over rounds or episodes for each role: `counters` is int64[T, NUM_COUNTERS], and `role_of` is int8[T],
    the role of each team.
    """

    @property
    def NUM_COUNTERS(self) -> int:  # noqa: N802 - a constant of a module
        """Number of counts."""

    @property
    def STATISTICS(self) -> Sequence[Statistic]:  # noqa: N802
        """Statistics, in table order."""

    def index_of(self, name: str, /) -> int:
        """Return the index of a count in the counters."""

    def part_played(self, points: npt.NDArray[np.int32], rules: Any, /) -> Float64Array:
        """Return float64[N], the played fraction of running episodes, for a progress bar.

        `points` is int32[N, T], the points so far.
        """

    def count_action(self, state: Any, rules: Any, action: int, role_of: Any, counters: Any, /) -> None:
        """Count a legal action of `state.seat` before it is applied; compiled."""

    def count_round(self, state: Any, rules: Any, role_of: Any, counters: Any, /) -> None:
        """Count a finished round for each team; compiled."""

    def count_episode(self, rules: Any, first: int, shares: Any, counters: Any, /) -> None:
        """Count a finished episode; compiled.

        `first` is the role that began it, `shares` float64[T] each role's share of the win.
        """


class GameLuck(Protocol):
    """The members of a module that measures the luck in a game, such as `arena.luck.aivat`.

    Luck must have mean 0 however the agents play: only then can it be subtracted from the points without
    bias.
    """

    def count_draws(self, batch: Any, rules: Any, game: int, action: int, /) -> None:
        """Add the luck of all chance events of one step to `batch.luck[game]`, by role; compiled.

        `batch.states[game]` is the game after the step with `action`, and `batch.before[0]` the game before
        it, which may be overwritten.
        """


class Counts:
    """The counts of one agent, by name or by action."""

    def __init__(self, counters: Int64Array, counted: GameCounts) -> None:
        """Hold the counts, int64[NUM_COUNTERS], and the game's counting module."""
        self._tallies = counters
        self.counted = counted

    def __getitem__(self, name: str) -> int:
        return int(self._tallies[self.counted.index_of(name)])

    def chosen(self, actions: Iterable[int]) -> int:
        """Return how often one of the actions was chosen, in a game whose first counts are the actions."""
        return sum(int(self._tallies[action]) for action in actions)


@dataclass(frozen=True)
class Statistic:
    """One line of a table of behaviour.

    Attributes:
        key: name in files.
        heading: name in tables.
        unit: unit of the values.
        of: function from the counts to the value; None if undefined (nothing to divide by).
    """

    key: str
    heading: str
    unit: str
    of: Callable[[Counts], float | None]


def quotient(above: float, below: float, scale: float = 1.0) -> float | None:
    """Return `scale` * `above` / `below`, or None if there is nothing to divide by."""
    return None if below == 0 else scale * above / below


def per(key: str, heading: str, unit: str, above: str, below: str, scale: float = 1.0) -> Statistic:
    """Return a statistic that is one count over another."""
    return Statistic(key, heading, unit, lambda counts: quotient(counts[above], counts[below], scale))


def percent(key: str, heading: str, above: str, below: str = "rounds", of: str = "rounds") -> Statistic:
    """Return a statistic that is one count in percent of another; `of` names the latter."""
    return per(key, heading, f"% of {of}", above, below, 100.0)


def chosen_per(key: str, heading: str, unit: str, actions: Iterable[int], below: str) -> Statistic:
    """Return a statistic: how often some actions were chosen, divided by a count."""
    chosen = tuple(actions)
    return Statistic(key, heading, unit, lambda counts: quotient(counts.chosen(chosen), counts[below]))


def chosen_percent(
    key: str, heading: str, actions: Iterable[int], offered: Iterable[int], of: str
) -> Statistic:
    """Return a statistic that is some actions in percent of all actions `offered`; `of` names the latter."""
    chosen, every = tuple(actions), tuple(offered)
    return Statistic(
        key,
        heading,
        f"% of {of}",
        lambda counts: quotient(counts.chosen(chosen), counts.chosen(every), 100.0),
    )
