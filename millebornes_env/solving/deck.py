"""Tables that can be solved (two players, few cards), and deck data for the walk."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.errors import SolvingError, shown
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.millebornes.deal import deal_round
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.games.millebornes.editions import edition as find_edition
from millebornes_env.games.millebornes.rules import Rules, RulesRecord, compiled_rules, rules_record
from millebornes_env.games.millebornes.state import StateArray, new_states
from millebornes_env.games.millebornes.turn import begin_turn

BITS: Final = 4
"""Bits per card type in a hand's code; the highest is unused, so that hands compare in one operation."""
MOST_COPIES: Final = (1 << (BITS - 1)) - 1
MOST_TYPES: Final = 14
"""Maximum number of card types: two action bits for each, and four more, must fit into 32 bits."""
MOST_CARDS: Final = 20

LARGEST: Final = 12
"""Largest number of cards of a solvable deck; `SolvingError` reports what a larger one would take."""
_NODES_OF_12: Final = 1.6e8
_GROWTH: Final = 7.0
"""Factor by which the number of information sets grows with each additional card."""
_NODES_PER_SECOND: Final = 4e6


class Deck(NamedTuple):
    """The deck as seen by compiled code; T types of cards."""

    cards: npt.NDArray[np.int64]  # [T] card ids
    copies: npt.NDArray[np.int64]  # [T] number of copies
    type_of: npt.NDArray[np.int64]  # [NUM_CARD_TYPES] index of a card's type, or -1
    ways: npt.NDArray[np.float64]  # [T, MOST_COPIES + 1] n! / r! for r undrawn copies of n
    pile: npt.NDArray[np.float64]  # [MOST_CARDS + 1] r! / N! for r undrawn cards of N


@dataclass(frozen=True)
class Solvable:
    """A table whose whole game tree can be walked.

    Attributes:
        sheet: the rule sheet.
        name: its label.
        rules: rules of the table.
        record: the rules for compiled code.
        deck: the deck for compiled code.
        root: `STATE[1]`, a dealt round in which seat 0 begins; the dealt cards are arbitrary.
        max_hands: maximum number of different hands of a seat at one node.
    """

    sheet: Edition
    name: str
    rules: Rules
    record: RulesRecord
    deck: Deck
    root: StateArray
    max_hands: int

    @property
    def cards(self) -> int:
        """Number of cards in the deck."""
        return sum(self.rules.deck)

    @property
    def max_depth(self) -> int:
        """An upper bound on the number of decisions of a round."""
        return 2 * self.cards + 8


def solvable(game: str | Path | Edition | Solvable, *, largest: int = LARGEST) -> Solvable:
    """Return the two-player table of a sheet, if it can be solved.

    Args:
        game: a sheet, its name such as `mini8`, or its path.
        largest: maximum number of cards.

    Raises:
        EditionError: the sheet does not exist.
        OptionError: the sheet has no table for two players.
        SolvingError: the game is too large (the message reports its size and the estimated time), or has a
            rule that depends on both hands.
    """
    if isinstance(game, Solvable):
        return game
    sheet = find_edition(game)
    rules = sheet.table(2)
    _check(sheet.label, rules, largest)
    return Solvable(
        sheet=sheet,
        name=sheet.label,
        rules=rules,
        record=compiled_rules(rules),
        deck=_deck(rules),
        root=for_kernels(_root(rules)),
        max_hands=_widest(rules),
    )


def _check(name: str, rules: Rules, largest: int) -> None:
    cards, types = sum(rules.deck), sum(copies > 0 for copies in rules.deck)
    if cards > largest:
        sets = _NODES_OF_12 * _GROWTH ** (cards - 12)
        raise SolvingError(
            f"{shown(name)} has {cards} cards and about {sets:.0e} information sets: walking it once would "
            f"take {_duration(sets / _NODES_PER_SECOND)} of one core; up to {largest} cards can be walked, "
            "such as the mini decks (millebornes_env.mini_decks() names them)"
        )
    if types > MOST_TYPES or max(rules.deck) > MOST_COPIES:
        raise SolvingError(
            f"{shown(name)} has {types} types of cards, with up to {max(rules.deck)} copies: the solver "
            f"supports {MOST_TYPES} types with {MOST_COPIES} copies"
        )
    if rules.end_when_stuck:
        raise SolvingError(
            f"{shown(name)}: with end_when_stuck, the end of a round depends on both hands, which the solver "
            "does not support; override it with end_when_stuck=0"
        )


def _duration(seconds: float) -> str:
    for unit, size in (("years", 3.15e7), ("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"


def _deck(rules: Rules) -> Deck:
    cards = [card for card, copies in enumerate(rules.deck) if copies]
    ways = np.zeros((len(cards), MOST_COPIES + 1))
    type_of = np.full(NUM_CARD_TYPES, -1)
    for index, card in enumerate(cards):
        type_of[card] = index
        for left in range(rules.deck[card] + 1):
            ways[index, left] = factorial(rules.deck[card]) / factorial(left)
    size = sum(rules.deck)
    pile = np.zeros(max(MOST_CARDS, size) + 1)
    for left in range(size + 1):
        pile[left] = factorial(left) / factorial(size)
    copies = np.array([rules.deck[card] for card in cards])
    return Deck(np.array(cards), copies, type_of, ways, pile)


def _root(rules: Rules) -> StateArray:
    """Return a dealt round in which seat 0 is to play."""
    states, record = new_states(1), rules_record(rules)
    states[0].dealer = 1
    plain(deal_round)(states[0], record)
    plain(begin_turn)(states[0], record, 0)
    return states


def _widest(rules: Rules) -> int:
    """Return the maximum, over hand sizes, of the number of different hands."""
    sizes = np.zeros(sum(rules.deck) + 1, np.int64)
    sizes[0] = 1
    for copies in rules.deck:
        more = sizes.copy()
        for held in range(1, copies + 1):
            more[held:] += sizes[: len(sizes) - held]
        sizes = more
    return int(sizes.max())
