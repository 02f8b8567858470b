"""What a game tree is made of: positions, cards that are to be drawn, and what follows from each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env.solving.extensive.sets import Outcome, next_of_set

CHANCE: Final = -1
OVER: Final = -4
"""Who is to act at a node where no seat is (OpenSpiel's numbers)."""


class Draw(Protocol):
    """Cards that one seat draws at once."""

    @property
    def seat(self) -> int:
        """Who draws."""

    @property
    def size(self) -> int:
        """How many."""


class GameChance(Protocol):
    """The chance nodes of a game; `games.millebornes.chance_nodes` is one."""

    @property
    def OUTCOMES(self) -> Sequence[str]:  # noqa: N802 - a constant of a module
        """What can come of one draw, in words."""

    def take_back(self, state: Any, rules: Any, /) -> Sequence[Draw]:
        """Undo the deal of a record; what has to be dealt again, to whom."""

    def put_in_hand(self, state: Any, seat: int, cards: tuple[int, ...], /) -> None:
        """Deal a hand."""

    def put_in_order(self, state: Any, /) -> None:
        """Hold what nobody knows yet in one order, so that games that are alike are equal records."""

    def not_drawn(self, state: Any, /) -> npt.NDArray[np.int64]:
        """How often each outcome can still come."""

    def in_hand(self, state: Any, seat: int, /) -> npt.NDArray[np.int8]:
        """How often a seat holds each outcome."""

    def draw_that_follows(self, before: Any, after: Any, /) -> Draw:
        """What was drawn between two records."""

    def put_on_top(self, state: Any, after: Any, cards: tuple[int, ...], /) -> None:
        """Let the next action draw these cards."""

    def most_points(self, rules: Any, /) -> int:
        """More points than these nobody wins or loses."""


class Position:
    """A game at which a seat is to act, or that is over.

    Attributes:
        key: the record, as bytes.
        player: the seat that is to act, or OVER.
        actions: what it may do, in the order of the ids.
        payoffs: at the end, what each seat gets.
        holdings: what each seat holds, as bytes.
        moves: what was found to follow from actions: where they lead, and what is seen of it.
    """

    __slots__ = ("actions", "holdings", "key", "moves", "payoffs", "player")

    def __init__(
        self, key: bytes, player: int, actions: tuple[int, ...], payoffs: tuple[float, ...], holdings: Any
    ) -> None:
        """Take what the engine says of a record."""
        self.key = key
        self.player = player
        self.actions = actions
        self.payoffs = payoffs
        self.holdings: tuple[bytes, ...] = holdings
        self.moves: dict[int, Move] = {}


class Deal:
    """A card is to be drawn.

    Attributes:
        base: the game before the action that has cards drawn; at the root, before the deal.
        action: that action; None at the root.
        after: the record after it, with other cards; b"" at the root.
        draws: all that are to be drawn, hand after hand.
        hands: those that are complete.
        chosen: the cards of the next one, in the order of their ids.
        outcomes: which cards can come, and how probable they are.
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
        """Ask for the next card; `counts` is how many of each can be drawn for this hand."""
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
        """The hand that is being drawn."""
        return self.draws[len(self.hands)]

    @property
    def holdings(self) -> tuple[bytes, ...]:
        """What each seat held before."""
        return self.base.holdings


class Lot:
    """Who begins is to be drawn by lot: every seat with the same probability."""

    __slots__ = ("actions", "base", "moves", "outcomes")
    player: Final = CHANCE
    payoffs: Final[tuple[float, ...]] = ()

    def __init__(self, base: Position, players: int) -> None:
        """Take the table before the deal."""
        self.base = base
        self.outcomes = tuple(Outcome(seat, 1, players) for seat in range(players))
        self.actions = tuple(range(players))
        self.moves: dict[int, Move] = {}

    @property
    def holdings(self) -> tuple[bytes, ...]:
        """Nobody holds anything."""
        return self.base.holdings


Spot = Position | Deal | Lot


class Seen(NamedTuple):
    """An event: its code, and the seat that sees it; None: everybody."""

    code: bytes
    seat: int | None


class Move(NamedTuple):
    """What follows from an action, or from a card.

    Attributes:
        spot: where it leads.
        events: what is seen of it.
    """

    spot: Spot
    events: tuple[Seen, ...]


__all__ = ["CHANCE", "OVER", "Deal", "Draw", "GameChance", "Lot", "Move", "Position", "Seen", "Spot"]
