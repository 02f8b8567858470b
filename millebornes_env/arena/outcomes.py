"""What one lineup has played, deal by deal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.tallies import NUM_TALLIES


@dataclass(frozen=True)
class Outcome:
    """What one lineup has played; B deals, R rotations of each, T teams and roles.

    In rotation r, role i (the i-th of the lineup) sat in team (i + r) % T; R = T.

    Attributes:
        lineup: the number of the agent in each role; an agent may have more than one.
        points: int32[B, R, T], points of the role's team in the whole episode.
        wins: float64[B, R, T], 1 for the win of the episode, 1 / k to each of k that share it, else 0.
        rounds: int32[B, R], rounds of the episode.
        first: int8[B, R], the role that began the first round.
        tallies: int64[T, NUM_TALLIES], by role, summed over all episodes (`arena.tallies`).
        luck: float64[B, R, F, T], luck that was counted (`arena.luck`), or None.
        faults: what agents did wrong; with any, there is nothing else (B is 0).
    """

    lineup: tuple[int, ...]
    points: npt.NDArray[np.int32]
    wins: npt.NDArray[np.float64]
    rounds: npt.NDArray[np.int32]
    first: npt.NDArray[np.int8]
    tallies: npt.NDArray[np.int64]
    luck: npt.NDArray[np.float64] | None = None
    faults: tuple[str, ...] = ()

    @classmethod
    def faulty(cls, lineup: tuple[int, ...], fault: str) -> Outcome:
        """A lineup that could not be played to the end.

        Args:
            lineup: of agents.
            fault: what one of them did wrong.
        """
        teams = len(lineup)
        return cls(
            lineup=lineup,
            points=np.zeros((0, teams, teams), np.int32),
            wins=np.zeros((0, teams, teams)),
            rounds=np.zeros((0, teams), np.int32),
            first=np.zeros((0, teams), np.int8),
            tallies=np.zeros((teams, NUM_TALLIES), np.int64),
            faults=(fault,),
        )

    def followed_by(self, other: Outcome) -> Outcome:
        """Both one after the other: the same lineup, more deals."""
        luck = None
        if self.luck is not None and other.luck is not None:
            luck = np.concatenate([self.luck, other.luck])
        return Outcome(
            lineup=self.lineup,
            points=np.concatenate([self.points, other.points]),
            wins=np.concatenate([self.wins, other.wins]),
            rounds=np.concatenate([self.rounds, other.rounds]),
            first=np.concatenate([self.first, other.first]),
            tallies=self.tallies + other.tallies,
            luck=luck,
            faults=self.faults + other.faults,
        )

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything as arrays, for a file of data."""
        arrays: dict[str, npt.NDArray[Any]] = {
            name: getattr(self, name) for name in ("points", "wins", "rounds", "first", "tallies")
        }
        arrays["lineup"] = np.array(self.lineup, np.int64)
        arrays["faults"] = np.array("\n".join(self.faults))
        if self.luck is not None:
            arrays["luck"] = self.luck
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> Outcome:
        """Read back what `arrays` gave.

        Raises:
            KeyError: an array is missing.
        """
        faults = str(arrays["faults"])
        return cls(
            lineup=tuple(int(agent) for agent in arrays["lineup"]),
            points=arrays["points"],
            wins=arrays["wins"],
            rounds=arrays["rounds"],
            first=arrays["first"],
            tallies=arrays["tallies"],
            luck=arrays.get("luck"),
            faults=tuple(faults.split("\n")) if faults else (),
        )
