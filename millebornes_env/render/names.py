"""Names of players from one seat: "you", "partner", "opponent", and numbers to the left.

There is one set of names, for moves, table and score sheet, as one seat sees the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

YOU: Final = "you"


@dataclass(frozen=True)
class Names:
    """The names of a table's players and teams; indices count to the left of one seat.

    Attributes:
        players: seats at the table.
        teams: teams at the table.
    """

    players: int
    teams: int

    def seat(self, place: int) -> str:
        """Of one player: "you", "partner", "opponent", "opponent 2"."""
        if place == 0:
            return YOU
        is_partner = place % self.teams == 0
        alike = [other for other in range(1, self.players) if (other % self.teams == 0) == is_partner]
        name = "partner" if is_partner else "opponent"
        return name if len(alike) == 1 else f"{name} {alike.index(place) + 1}"

    def team(self, place: int) -> str:
        """Of one team: its player's name, or "your team", "opponents", "opponents 1 and 3"."""
        members = range(place, self.players, self.teams)
        if len(members) == 1:
            return self.seat(place)
        if place == 0:
            return "your team"
        if self.teams == 2:
            return "opponents"
        return "opponents " + " and ".join(self.seat(member).split()[-1] for member in members)

    def all_teams(self) -> list[str]:
        """Of all teams, the own first."""
        return [self.team(place) for place in range(self.teams)]


def is_plural(name: str) -> bool:
    """Return True if the name takes "are" and "have"."""
    return name == YOU or name.startswith("opponents")
