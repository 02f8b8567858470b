"""The public facts of a race, in one form for records and observations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.layout import Section
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel.chance_cards import cards_left
from millebornes_env.games.wielerspel.editions import edition, editions
from millebornes_env.games.wielerspel.observation import price_of_decision
from millebornes_env.games.wielerspel.rules import Rules, Square
from millebornes_env.games.wielerspel.squares import EFFORT, KIND_NAMES
from millebornes_env.games.wielerspel.state import BID, MUST_PAY, NO_SEAT, NUM_SETS, RACE_OVER, State

NO_PLACE = 0


@dataclass(frozen=True)
class Team:
    """One seat of the race.

    Attributes:
        place: rank in the race from 1, the leader; 0 if the team has left it.
        energy: the team's energy.
        beside: number of servants beside the board.
        on_board: number of servants on the board.
        retired: number of retired servants.
        jerseys: number of cards: rainbow, green, polka-dot cards of 2 and of 3.
    """

    place: int
    energy: int
    beside: int
    on_board: int
    retired: int
    jerseys: tuple[int, ...]

    @property
    def polka_dots(self) -> int:
        """Number of polka-dot jerseys on its cards."""
        return 2 * self.jerseys[2] + 3 * self.jerseys[3]


@dataclass(frozen=True)
class Facts:
    """The public facts of a race; seats of an observation are counted from the observer to the left.

    Attributes:
        phase: the decision.
        seat: the seat to act, or NO_SEAT when the race is over.
        price: energy that the decision costs.
        square: square of the rainbow rider.
        kind: kind of the square in this turn.
        number: number on the square or on the chance card.
        escaped: the seat that is away, or NO_SEAT.
        lead: its lead, in arrows.
        rainbow_lap: True if there is a rainbow jersey at the line.
        no_supply: True if there is no supply at the line.
        stacks: jersey cards left, as in `Team.jerseys`.
        cards_left: chance cards to draw before the next shuffle.
        highest_bid: the highest bid; 0 without bids.
        highest_bidder: a seat, or NO_SEAT.
        to_come: the seats that have yet to pay or bid, including the seat to act.
        owners: the seat that holds each square, or NO_SEAT.
        teams: the facts of each seat.
    """

    phase: int
    seat: int
    price: int
    square: int
    kind: int
    number: int
    escaped: int
    lead: int
    rainbow_lap: bool
    no_supply: bool
    stacks: tuple[int, ...]
    cards_left: int
    highest_bid: int
    highest_bidder: int
    to_come: frozenset[int]
    owners: tuple[int, ...]
    teams: tuple[Team, ...]

    @property
    def peloton(self) -> list[int]:
        """The seats in the peloton, first to last."""
        riding = [seat for seat, team in enumerate(self.teams) if team.place and seat != self.escaped]
        return sorted(riding, key=lambda seat: self.teams[seat].place)

    @property
    def out(self) -> list[int]:
        """The seats that have left the race."""
        return [seat for seat, team in enumerate(self.teams) if team.place == NO_PLACE]

    def squares_of(self, seat: int) -> list[int]:
        """Return the squares held by the seat's servants, or for NO_SEAT the free squares."""
        return [square for square, owner in enumerate(self.owners) if owner == seat]


def facts_of_state(state: State, rules: Rules) -> Facts:
    """Return the facts of a record of `STATE`."""
    phase, square = int(state.phase), int(state.square)
    escaped = int(state.escaped)
    order = [int(seat) for seat in state.peloton[: int(state.riders)]]
    order = order if escaped == NO_SEAT else [escaped, *order]
    owners = tuple(int(owner) for owner in state.owner[: rules.length])
    queued = state.queue[int(state.queue_next) : int(state.queue_end)] if phase in (MUST_PAY, BID) else ()
    teams = tuple(
        Team(
            place=order.index(seat) + 1 if seat in order else NO_PLACE,
            energy=int(state.energy[seat]),
            beside=int(state.off_board[seat]),
            on_board=owners.count(seat),
            retired=int(state.retired[seat]),
            jerseys=tuple(int(cards) for cards in state.jerseys[seat]),
        )
        for seat in range(rules.players)
    )
    return Facts(
        phase=phase,
        seat=NO_SEAT if phase == RACE_OVER else int(state.seat),
        price=int(plain(price_of_decision)(state, rules, phase)),
        square=square,
        kind=int(state.kind),
        number=int(state.number),
        escaped=escaped,
        lead=int(state.lead),
        rainbow_lap=bool(state.rainbow_lap),
        no_supply=bool(state.no_supply),
        stacks=tuple(int(cards) for cards in state.stacks),
        cards_left=int(plain(cards_left)(state)),
        highest_bid=int(state.highest_bid),
        highest_bidder=int(state.highest_bidder),
        to_come=frozenset(int(seat) for seat in queued),
        owners=owners,
        teams=teams,
    )


def facts_of_row(row: npt.NDArray[np.int8], sections: Sequence[Section], rules: Rules) -> Facts:
    """Return the facts of an observation, int8[D], with its layout, padded or not."""
    numbers = {section.name: row[section.start : section.stop].astype(np.int64) for section in sections}
    seats = len(numbers["to_act"])
    jerseys = numbers["jerseys"].reshape(seats, NUM_SETS)
    servants = numbers["servants"].reshape(seats, -1)[: rules.players, : rules.length]
    phases = numbers["phase"]
    teams = tuple(
        Team(
            place=int(numbers["place"][seat]),
            energy=int(numbers["energy"][seat]),
            beside=int(numbers["off_board"][seat]),
            on_board=int(servants[seat].sum()),
            retired=int(numbers["retired"][seat]),
            jerseys=tuple(int(cards) for cards in jerseys[seat]),
        )
        for seat in range(rules.players)
    )
    return Facts(
        phase=int(phases.argmax()) + 1 if phases.any() else RACE_OVER,
        seat=_first(numbers["to_act"]),
        price=int(numbers["price"][0]),
        square=int(numbers["square"][0]),
        kind=int(numbers["kind"].argmax()),
        number=int(numbers["number"][0]),
        escaped=_first(numbers["away"]),
        lead=int(numbers["lead"][0]),
        rainbow_lap=bool(numbers["rainbow_lap"][0]),
        no_supply=bool(numbers["no_supply"][0]),
        stacks=tuple(int(cards) for cards in numbers["stacks"]),
        cards_left=int(numbers["cards_left"].sum()),
        highest_bid=int(numbers["highest_bid"][0]),
        highest_bidder=_first(numbers["highest_bidder"]),
        to_come=frozenset(int(seat) for seat in np.flatnonzero(numbers["to_come"])),
        owners=tuple(_first(servants[:, square]) for square in range(rules.length)),
        teams=teams,
    )


def _first(flags: npt.NDArray[np.int64]) -> int:
    """Return the index of the 1, or NO_SEAT."""
    return int(flags.argmax()) if flags.any() else NO_SEAT


def names_of_squares(rules: Rules) -> list[str]:
    """Return the name of each square: its road if a shipped sheet names one, else its kind."""
    return [
        road or name_of_kind(square.kind)
        for road, square in zip(_roads(rules.board), rules.board, strict=True)
    ]


def _roads(board: tuple[Square, ...]) -> Sequence[str]:
    """Return the roads of a shipped sheet with this board, since rules have no roads; else empty names."""
    for name in editions():
        result = edition(name)
        if result.rules.board == board:
            return result.roads
    return [""] * len(board)


def name_of_kind(kind: int) -> str:
    """Return the name of a kind of square or card."""
    words = KIND_NAMES[kind].replace("_", " ")
    return f"{words}s" if words == "polka dot" else words


def square_in_words(square: int, rules: Rules) -> str:
    """Return a square with its name and number: "square 14 (climb 4)"."""
    number = rules.board[square].number
    return f"square {square} ({names_of_squares(rules)[square]}" + (f" {number})" if number else ")")


def free_effort_squares(facts: Facts, rules: Rules) -> list[int]:
    """Return the effort squares that can still be bought."""
    return [square for square in facts.squares_of(NO_SEAT) if rules.board[square].kind == EFFORT]
