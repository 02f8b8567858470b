"""The elements of a game tree: positions, cards to be drawn, and the moves from each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

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

    __slots__ = ("actions", "holdings", "key", "moves", "payoffs", "player")

    def __init__(
        self, key: bytes, player: int, actions: tuple[int, ...], payoffs: tuple[float, ...], holdings: Any
    ) -> None:
        """Create the position from the engine's data of a record."""
        self.key = key
        self.player = player
        self.actions = actions
        self.payoffs = payoffs
        self.holdings: tuple[bytes, ...] = holdings
        self.moves: dict[int, Move] = {}


class Deal:
    """A chance node at which a card is drawn.

    Attributes:
        base: the game before the action that has cards drawn; at the root, before the deal.
        action: that action; None at the root.
        after: the record after it, with other cards; b"" at the root.
        draws: all draws to be made, hand after hand.
        hands: the hands that are complete.
        chosen: the cards of the next hand so far, in the order of their ids.
        outcomes: the possible cards with their probabilities.
    """

    __slots__ = ("action", "actions", "after", "base", "chosen", "draws", "hands", "moves", "outcomes")
    player: Final = CHANCE
    payoffs: Final[tuple[float, ...]] = ()

    def __init__(
        self,
        base: Position,
        action: int | None,
        after: bytes,
        draws: Sequence[Draw],
        counts: Sequence[int],
        hands: tuple[tuple[int, ...], ...] = (),
        chosen: tuple[int, ...] = (),
    ) -> None:
        """Create the node; `counts` is the number of copies of each card that can be drawn for this hand."""
        self.base = base
        self.action = action
        self.after = after
        self.draws = draws
        self.hands = hands
        self.chosen = chosen
        self.outcomes = next_of_set(counts, chosen, self.draw.size)
        self.actions = tuple(one.card for one in self.outcomes)
        self.moves: dict[int, Move] = {}

    @property
    def draw(self) -> Draw:
        """The draw of the current hand."""
        return self.draws[len(self.hands)]

    @property
    def holdings(self) -> tuple[bytes, ...]:
        """The cards that each seat held before the draw, as bytes."""
        return self.base.holdings


class Lot:
    """A chance node that draws the starting seat: every seat with the same probability."""

    __slots__ = ("actions", "base", "moves", "outcomes")
    player: Final = CHANCE
    payoffs: Final[tuple[float, ...]] = ()

    def __init__(self, base: Position, players: int) -> None:
        """Create the node from the table before the deal."""
        self.base = base
        self.outcomes = tuple(Outcome(seat, 1, players) for seat in range(players))
        self.actions = tuple(range(players))
        self.moves: dict[int, Move] = {}

    @property
    def holdings(self) -> tuple[bytes, ...]:
        """Empty holdings: nothing is dealt yet."""
        return self.base.holdings


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


__all__ = ["CHANCE", "OVER", "Deal", "Draw", "Event", "GameChance", "Lot", "Move", "Position", "Spot"]
