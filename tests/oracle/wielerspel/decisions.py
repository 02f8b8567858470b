"""The decisions that the race asks of the seats and of chance."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

NOBODY = -1


class Chance(Protocol):
    """The source of the lots, dice and cards of one game."""

    def order(self) -> list[int]:
        """Draws the order of the leaders in the peloton (003:28)."""

    def white(self, turn: int) -> int:
        """Rolls the white die of a turn (003:44)."""

    def yellow(self, turn: int) -> int:
        """Rolls the yellow die of a turn (003:45)."""

    def deck(self, shuffle_number: int) -> list[tuple[str, int]]:
        """Shuffles all chance cards (003:22); the first of the list is drawn first."""


@dataclass
class Decision:
    """A question to a seat.

    Attributes:
        seat: Who is asked.
        phase: What is asked: AWAY, EXCHANGE, MUST PAY, MUST RETIRE, ESCAPE, BID or MOVE.
        actions: The possible answers, two or more.
    """

    seat: int
    phase: str
    actions: list[str]


Steps = Generator[Decision, str, None]
"""A part of a turn: it stops at every decision, and is sent the answer."""


class RaceOver(Exception):  # noqa: N818 - it is no error: it ends the turn from wherever somebody has won.
    """The race is over; its argument is the list of the winners."""
