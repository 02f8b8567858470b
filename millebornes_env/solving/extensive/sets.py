"""Drawing a set of cards, one card after the other, so that each set comes up in one order only."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, gcd
from typing import NamedTuple


class Outcome(NamedTuple):
    """A possible outcome of a draw.

    Attributes:
        card: the card type.
        numerator: numerator of its probability.
        denominator: denominator of its probability, in lowest terms.
    """

    card: int
    numerator: int
    denominator: int

    @property
    def probability(self) -> float:
        """The probability of the outcome."""
        return self.numerator / self.denominator


def next_of_set(counts: Sequence[int], chosen: Sequence[int], size: int) -> tuple[Outcome, ...]:
    """Return the possible next cards of a set of `size` cards, by id; all sets are equally probable.

    A set of one is a card of the multiset. Of a larger one, this is the probability of the next lowest card,
    given the lower ones, `chosen`: so each hand is one path in a tree, and not one for each order of its
    cards. `counts` is the number of copies of each card before the draw.
    """
    above = [sum(counts[card + 1 :]) for card in range(len(counts))]
    missing = size - len(chosen)

    def sets_with(card: int, copies: int, others: int) -> int:
        """Count sets with at least `copies` of the card as the highest so far, and `others` more cards."""
        more = range(others + 1)
        return sum(comb(counts[card], copies + i) * comb(above[card], others - i) for i in more)

    weights = {}
    highest = chosen[-1] if chosen else -1
    held = list(chosen).count(highest)
    if chosen:
        weights[highest] = sets_with(highest, held + 1, missing - 1)
    closed = comb(counts[highest], held) if chosen else 1
    for card in range(highest + 1, len(counts)):
        weights[card] = closed * sets_with(card, 1, missing - 1)
    total = sum(weights.values())
    outcomes = []
    for card, weight in weights.items():
        if weight:
            common = gcd(weight, total)
            outcomes.append(Outcome(card, weight // common, total // common))
    return tuple(outcomes)
