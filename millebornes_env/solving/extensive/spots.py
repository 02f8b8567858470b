"""The elements of a game tree: positions, cards to be drawn, and the moves from each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env.solving.extensive.sets import Outcome, next_of_set

CHANCE: Final = -1
OVER: Final = -4
"""The player at a terminal node; CHANCE at a chance node (OpenSpiel's numbers)."""


class Draw(Protocol):
    """Cards that one seat draws at once."""

    @property
    def seat(self) -> int:
        """The seat that draws."""

    @property
    def size(self) -> int:
        """Number of cards drawn."""


class GameChance(Protocol):
    """The chance nodes of a game; `games.millebornes.chance_nodes` is one."""

    @property
    def OUTCOMES(self) -> Sequence[str]:  # noqa: N802 - a constant of a module
        """The names of the possible outcomes of one draw."""

    def take_back(self, state: Any, rules: Any, /) -> Sequence[Draw]:
        """Undo the deal of a record; return the draws that have to be dealt again."""

    def put_in_hand(self, state: Any, seat: int, cards: tuple[int, ...], /) -> None:
        """Deal a hand."""

    def put_in_order(self, state: Any, /) -> None:
        """Sort the cards that nobody knows yet, so that equivalent games are equal records."""

    def not_drawn(self, state: Any, /) -> npt.NDArray[np.int64]:
        """Return the number of undrawn copies of each outcome."""

    def in_hand(self, state: Any, seat: int, /) -> npt.NDArray[np.int8]:
        """Return the number of copies of each outcome that a seat holds."""

    def draw_that_follows(self, before: Any, after: Any, /) -> Draw:
        """Return the draw between two records."""

    def put_on_top(self, state: Any, after: Any, cards: tuple[int, ...], /) -> None:
        """Put these cards on top, so that the next action draws them."""

    def most_points(self, rules: Any, /) -> int:
        """Return an upper bound on the points that a seat can win or lose."""


@dataclass(slots=True, eq=False, repr=False)
class Position:
    """A game at which a seat is to act, or that is over.

    Attributes:
        key: the record, as bytes.
        player: the seat that is to act, or OVER.
        actions: its legal actions, in the order of the ids.
        payoffs: payoff of each seat at the end.
        holdings: the cards that each seat holds, as bytes.
        moves: the cached results of actions.
    """

    key: bytes
    player: int
    actions: tuple[int, ...]
    payoffs: tuple[float, ...]
    holdings: tuple[bytes, ...]
    moves: dict[int, Move] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class _Chance:
    """A chance node.

    Attributes:
        base: the game before the action that has cards drawn; at the root, before the deal.
        outcomes: the possible cards, or seats, with their probabilities.
        actions: their ids.
        moves: the cached results of actions.
    """

    base: Position
    outcomes: tuple[Outcome, ...] = field(init=False)
    actions: tuple[int, ...] = field(init=False)
    moves: dict[int, Move] = field(init=False, default_factory=dict)
    player: ClassVar = CHANCE
    payoffs: ClassVar[tuple[float, ...]] = ()

    @property
    def holdings(self) -> tuple[bytes, ...]:
        """The cards that each seat held before, as bytes."""
        return self.base.holdings


@dataclass(slots=True, eq=False, repr=False)
class Deal(_Chance):
    """A chance node at which a card is drawn.

    Attributes:
        action: the action that has cards drawn; None at the root.
        after: the record after it, with other cards; b"" at the root.
        draws: all draws to be made, hand after hand.
        hands: the hands that are complete.
        chosen: the cards of the next hand so far, in the order of their ids.
    """

    action: int | None
    after: bytes
    draws: Sequence[Draw]
    counts: InitVar[Sequence[int]]
    hands: tuple[tuple[int, ...], ...] = ()
    chosen: tuple[int, ...] = ()

    def __post_init__(self, counts: Sequence[int]) -> None:
        """List the outcomes; `counts` is the number of copies of each card that can be drawn."""
        self.outcomes = next_of_set(counts, self.chosen, self.draw.size)
        self.actions = tuple(one.card for one in self.outcomes)

    @property
    def draw(self) -> Draw:
        """The draw of the current hand."""
        return self.draws[len(self.hands)]


@dataclass(slots=True, eq=False, repr=False)
class Lot(_Chance):
    """A chance node that draws the starting seat: every seat with the same probability."""

    players: InitVar[int]

    def __post_init__(self, players: int) -> None:
        """List the seats."""
        self.outcomes = tuple(Outcome(seat, 1, players) for seat in range(players))
        self.actions = tuple(range(players))


Spot = Position | Deal | Lot


class Event(NamedTuple):
    """An event: its code, and the seat that sees it; None: everybody."""

    code: bytes
    seat: int | None


class Move(NamedTuple):
    """The result of an action or of a drawn card.

    Attributes:
        spot: the next spot.
        events: the events that the seats see.
    """

    spot: Spot
    events: tuple[Event, ...]
