"""Lots, dice and cards for the oracle's tests: from a seed, or as a test lays them out."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from tests.wielerspel.oracle.arc_en_ciel import Card


def whole_deck(sheet: dict[str, Any]) -> list[Card]:
    """Lists every card of the sheet's deck."""
    return [card for card, count in sheet["deck"] for _ in range(count)]


@dataclass
class Seeded:
    """Chance that gives the same answer to the same question, whatever has been asked before.

    Attributes:
        seed: Another seed, another game.
        players: The number of seats.
        sheet: Where the deck stands.
    """

    seed: int
    players: int
    sheet: dict[str, Any]

    def _stream(self, *key: object) -> random.Random:
        return random.Random(f"{self.seed} {key}")

    def order(self) -> list[int]:
        return self._stream("order").sample(range(self.players), self.players)

    def white(self, turn: int) -> int:
        return self._stream("white", turn).randint(1, 6)

    def yellow(self, turn: int) -> int:
        return self._stream("yellow", turn).randint(1, 6)

    def deck(self, shuffle_number: int) -> list[Card]:
        cards = whole_deck(self.sheet)
        self._stream("deck", shuffle_number).shuffle(cards)
        return cards


@dataclass
class Scripted:
    """Chance as a test lays it out; what is not laid out must not be asked for.

    Attributes:
        lots: The order of the peloton.
        whites: The white die of each turn.
        yellows: The yellow die by turn.
        decks: The cards of each shuffle.
    """

    lots: list[int]
    whites: list[int] = field(default_factory=list)
    yellows: dict[int, int] = field(default_factory=dict)
    decks: list[list[Card]] = field(default_factory=list)

    def order(self) -> list[int]:
        return list(self.lots)

    def white(self, turn: int) -> int:
        return self.whites[turn]

    def yellow(self, turn: int) -> int:
        return self.yellows[turn]

    def deck(self, shuffle_number: int) -> list[Card]:
        return list(self.decks[shuffle_number])
