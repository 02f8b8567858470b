"""The possessions of a seat: energy, servants that are not on the board, jerseys."""

from __future__ import annotations

from dataclasses import dataclass

JERSEYS = ("rainbow", "green", "doubles", "triples")
"""The four sets of cards (003:24): doubles and triples are polka-dot cards worth 2 and 3 jerseys (003:73)."""


@dataclass
class Team:
    """One leader with his servants.

    Attributes:
        energy: The energy of the leader (003:30).
        off_board: Servants that still ride with the team.
        retired: Servants that have left the race for good (003:172).
        rainbow: Rainbow jerseys.
        green: Green jerseys.
        doubles: Polka-dot cards that are worth two jerseys.
        triples: Polka-dot cards that are worth three.
        out: Whether the leader has left the race (003:178).
        escape_points: Points of combativity for escapes (003:202).
    """

    energy: int
    off_board: int
    retired: int = 0
    rainbow: int = 0
    green: int = 0
    doubles: int = 0
    triples: int = 0
    out: bool = False
    escape_points: int = 0

    def polka(self) -> int:
        """Counts the polka-dot jerseys; a card is worth two or three of them (003:73)."""
        return 2 * self.doubles + 3 * self.triples

    def combativity(self) -> int:
        """Counts the points of combativity (003:202): escapes, and the jerseys that the seat holds."""
        return self.escape_points + self.green + self.polka() // 3 + 3 * self.rainbow

    def rank(self) -> tuple[int, int, int]:
        """Returns what counts when all are exhausted: rainbow, then green, then polka-dots (003:178)."""
        return self.rainbow, self.green, self.polka()


def polka_set(doubles: int, triples: int, wanted: int) -> tuple[int, int] | None:
    """Chooses the polka-dot cards that are handed in for a rainbow jersey (003:67, W3).

    The text lets players wait until they can hand in exactly ten (003:196), so what is too much is lost.
    W3: the cards that add up to ten or the least above; of several such sets the one with the most doubles.

    Returns:
        The doubles and the triples to hand in, None if the cards do not suffice.
    """
    sets = [(d, t) for d in range(doubles + 1) for t in range(triples + 1) if 2 * d + 3 * t >= wanted]
    return min(sets, key=lambda cards: (2 * cards[0] + 3 * cards[1], -cards[0]), default=None)
