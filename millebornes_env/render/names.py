"""Names of players from the point of view of one seat: "you", "partner", "opponent 2".

Moves, tables and score sheets use the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

YOU: Final = "you"

_ROAD_LENGTH: Final = 40


@dataclass(frozen=True)
class Names:
    """The names of a table's players and teams, by offset: the number of seats to the left of the viewer.

    Attributes:
        players: seats at the table.
        teams: teams at the table.
    """

    players: int
    teams: int

    def seat(self, offset: int) -> str:
        """Return the name of a player: "you", "partner", "opponent", "opponent 2"."""
        if offset == 0:
            return YOU
        is_partner = offset % self.teams == 0
        alike = [other for other in range(1, self.players) if (other % self.teams == 0) == is_partner]
        name = "partner" if is_partner else "opponent"
        return name if len(alike) == 1 else f"{name} {alike.index(offset) + 1}"

    def team(self, offset: int) -> str:
        """Return the name of a team: its player's, or "your team", "opponents", "opponents 1 and 3"."""
        members = range(offset, self.players, self.teams)
        if len(members) == 1:
            return self.seat(offset)
        if offset == 0:
            return "your team"
        if self.teams == 2:
            return "opponents"
        return "opponents " + " and ".join(self.seat(member).split()[-1] for member in members)

    def all_teams(self) -> list[str]:
        """Return the names of all teams, the viewer's first."""
        return [self.team(offset) for offset in range(self.teams)]


def road(km: int, target: int) -> str:
    """Draw a road of 40 characters with the completed part, such as `[===>....]`."""
    done = min(_ROAD_LENGTH, _ROAD_LENGTH * km // max(target, 1))
    return f"[{'=' * done}>{'.' * (_ROAD_LENGTH - done)}]"


def is_plural(name: str) -> bool:
    """Return True if the name takes "are" and "have"."""
    return name == YOU or name.startswith("opponents")
