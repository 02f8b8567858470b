"""The results of one lineup, deal by deal, and the estimates for the agent in role 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.intervals import (
    Float64Array,
    Interval,
    mean_interval,
    ratio_interval,
    share_interval,
)
from millebornes_env.games.registry import DEFAULT_GAME

Lineup = tuple[int, ...]
"""Numbers of the agents, one for each team of the table; the index is the agent's role."""


@dataclass(frozen=True)
class Outcome:
    """The results of one lineup; B deals, R rotations of each, T teams and roles.

    In rotation r, role i (the i-th of the lineup) sat in team (i + r) % T; R = T.

    Attributes:
        lineup: number of the agent in each role; an agent may have several roles.
        points: int32[B, R, T], points of the role's team in the whole episode.
        wins: float64[B, R, T], 1 for a sole win, 1 / k for a win shared by k teams, else 0.
        rounds: int32[B, R], rounds of the episode.
        decisions: int32[B, R], actions of all seats in the episode.
        first: int8[B, R], role that began the first round.
        counters: int64[T, NUM_COUNTERS], the game's counts (hook `arena.counts`) by role, over all
            episodes.
        luck: float64[B, R, T], points due to luck by AIVAT (`MatchConfig.aivat`); None: not measured.
        faults: faults of the agents; if there are any, B is 0.
        game: name of the game.
    """

    lineup: Lineup
    points: npt.NDArray[np.int32]
    wins: npt.NDArray[np.float64]
    rounds: npt.NDArray[np.int32]
    decisions: npt.NDArray[np.int32]
    first: npt.NDArray[np.int8]
    counters: npt.NDArray[np.int64]
    luck: npt.NDArray[np.float64] | None = None
    faults: tuple[str, ...] = ()
    game: str = DEFAULT_GAME

    @property
    def num_deals(self) -> int:
        """Number of deals, B."""
        return len(self.points)

    @property
    def lead(self) -> Float64Array:
        """float64[B, R], points of role 0 in each episode minus the mean of the other roles."""
        return own_less_others(self.points.astype(np.float64))

    def win_rate(self) -> Interval:
        """Return role 0's share of the wins, 0 to 1; a win shared by k teams counts 1 / k."""
        return share_interval(self.wins[..., 0].mean(axis=1))

    def points_per_episode(self) -> Interval:
        """Return role 0's lead in points per episode."""
        return mean_interval(self.lead.mean(axis=1))

    def points_per_round(self) -> Interval:
        """Return role 0's lead in points per round."""
        return ratio_interval(self.lead.sum(axis=1), self.rounds_of_deals())

    def rounds_of_deals(self) -> Float64Array:
        """Return float64[B], the rounds in all rotations of each deal."""
        rounds: Float64Array = self.rounds.sum(axis=1, dtype=np.float64)
        return rounds

    @classmethod
    def faulty(cls, lineup: Lineup, fault: str, game: str = DEFAULT_GAME) -> Outcome:
        """Return the outcome of a lineup that an agent's fault has stopped."""
        teams = len(lineup)
        return cls(
            lineup=lineup,
            points=np.zeros((0, teams, teams), np.int32),
            wins=np.zeros((0, teams, teams)),
            rounds=np.zeros((0, teams), np.int32),
            decisions=np.zeros((0, teams), np.int32),
            first=np.zeros((0, teams), np.int8),
            counters=np.zeros((teams, 0), np.int64),
            faults=(fault,),
            game=game,
        )

    @classmethod
    def joined(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """Return the deals of one or more outcomes of the same lineup as one outcome."""
        by_deal: dict[str, Any] = {
            name: np.concatenate([getattr(outcome, name) for outcome in outcomes]) for name in _BY_DEAL
        }
        measured = [outcome.luck for outcome in outcomes if outcome.luck is not None]
        luck = np.concatenate(measured) if len(measured) == len(outcomes) else None
        counters = np.sum([outcome.counters for outcome in outcomes], axis=0)
        faults = tuple(fault for outcome in outcomes for fault in outcome.faults)
        return replace(outcomes[0], **by_deal, counters=counters, luck=luck, faults=faults)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all fields as arrays, to be saved."""
        arrays: dict[str, npt.NDArray[Any]] = {name: getattr(self, name) for name in (*_BY_DEAL, "counters")}
        arrays["lineup"] = np.array(self.lineup, np.int64)
        arrays["faults"] = np.array("\n".join(self.faults))
        arrays["game"] = np.array(self.game)
        if self.luck is not None:
            arrays["luck"] = self.luck
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> Outcome:
        """Restore an outcome from `arrays`.

        Raises:
            KeyError: an array is missing.
        """
        return cls(
            lineup=tuple(arrays["lineup"].tolist()),
            **{name: arrays[name] for name in (*_BY_DEAL, "counters")},
            luck=arrays.get("luck"),
            faults=tuple(filter(None, str(arrays["faults"]).split("\n"))),
            game=str(arrays["game"]),
        )


_BY_DEAL: Final = ("points", "wins", "rounds", "decisions", "first")
"""Fields with a row for each deal, `luck` apart."""


def own_less_others(by_role: Float64Array) -> Float64Array:
    """Return role 0 (of the last axis) minus the mean of the other roles."""
    difference: Float64Array = by_role[..., 0] - by_role[..., 1:].mean(axis=-1)
    return difference
