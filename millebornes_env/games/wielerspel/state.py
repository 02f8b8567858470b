"""The record of one race: its fields, their shapes and meanings.

A race is one record of `STATE`. The record holds everything, including the order of the chance cards and the
key of the dice, so that copying it copies the race.
"""

from __future__ import annotations

from typing import Annotated, Final, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.layout import record_dtype
from millebornes_env.games.wielerspel.rules import MAX_DECK, MAX_PLAYERS
from millebornes_env.games.wielerspel.squares import MAX_SQUARES

STATE_VERSION: Final = 1
"""Increased when saved states of an older version can no longer be read."""

NO_SEAT: Final = -1
NO_CARD: Final = -1

# The decision of `state.seat`.
RIDING: Final = 0
"""None: the race goes on by itself. Never visible from outside."""
AWAY: Final = 1
"""The turn of an escaped rider begins: give up, or pay for the lead."""
EXCHANGE: Final = 2
"""Exchange jerseys for a rainbow jersey, or keep them."""
MUST_PAY: Final = 3
"""Choose a servant to retire, as the energy does not cover a payment."""
MUST_RETIRE: Final = 4
"""Choose a servant to retire because of a chance card."""
ESCAPING: Final = 5
"""Escape, or ride further away; or stay."""
BID: Final = 6
"""Bid for the effort square, or pass."""
MOVE: Final = 7
"""Choose a servant to move to the square won in the auction, as all are on the board."""
RACE_OVER: Final = 8
"""None: the race is over."""
PHASE_NAMES: Final = (
    "riding",
    "away",
    "exchange",
    "must pay",
    "must retire",
    "escape",
    "bid",
    "move",
    "race over",
)

# Stages of a turn, in `state.stage`: the steps of `turn.py`, in order.
TURN_BEGINS: Final = 0
JERSEYS_BEFORE_THE_DIE: Final = 1
WHITE_DIE: Final = 2
JERSEYS_AT_THE_LINE: Final = 3
SUPPLY_AT_THE_LINE: Final = 4
SQUARE: Final = 5
JERSEYS_AFTER_THE_SQUARE: Final = 6
PAYMENTS: Final = 7
RETIREMENT: Final = 8
POSITIONS: Final = 9
ESCAPE_CHOICE: Final = 10
AUCTION: Final = 11
BIDS: Final = 12
SERVANT: Final = 13
TURN_ENDS: Final = 14

# Endings of a race, in `state.ending`.
NOT_ENDED: Final = 0
BY_JERSEYS: Final = 1
BY_INNER_TRACK: Final = 2
BY_EXHAUSTION: Final = 3
BY_TURNS: Final = 4
BROKEN_OFF: Final = 5

# The sets of jerseys, the second index of `state.jerseys`.
RAINBOW: Final = 0
GREENS: Final = 1
DOUBLES: Final = 2
"""Polka-dot cards of two jerseys."""
TRIPLES: Final = 3
"""Polka-dot cards of three jerseys."""
NUM_SETS: Final = 4
SET_NAMES: Final = ("rainbow", "green", "doubles", "triples")

Int8Array = npt.NDArray[np.int8]
Int16Array = npt.NDArray[np.int16]

Int8 = Annotated[int, np.int8]
Int32 = Annotated[int, np.int32]


class State(Protocol):
    """The fields of a record of `STATE`, with types and shapes."""

    # Widest fields first, so that there is no padding and equal races have equal bytes.
    # two 32-bit words: the race's own key; dice and lots are functions of it
    key: Annotated[npt.NDArray[np.int64], np.int64, 2]
    episode: Int32  # index of the race, from 0
    turn: Int32  # index of the turn, from 0
    shuffles: Int32  # number of reshuffles of the chance deck
    # points for combativity of escapes that have ended
    escape_points: Annotated[Int16Array, np.int16, MAX_PLAYERS]
    # the decision
    seat: Int8  # the seat to act
    phase: Int8  # its decision: AWAY ... RACE_OVER
    stage: Int8  # stage of the turn
    winner: Int8  # the seat that has won outright, or NO_SEAT
    ending: Int8  # ending of the race
    # the inner track
    riders: Int8  # leaders in the peloton
    peloton: Annotated[Int8Array, np.int8, MAX_PLAYERS]  # their seats, first to last; NO_SEAT behind them
    escaped: Int8  # the seat whose leader is away, or NO_SEAT
    lead: Int8  # its lead in arrows of 10 s; 0: nobody is away
    highest_lead: Int8  # the highest lead of this escape
    out: Annotated[Int8Array, np.int8, MAX_PLAYERS]  # 1: the leader has left the race
    # the teams
    energy: Annotated[Int8Array, np.int8, MAX_PLAYERS]
    off_board: Annotated[Int8Array, np.int8, MAX_PLAYERS]  # servants who are neither on the board nor retired
    retired: Annotated[Int8Array, np.int8, MAX_PLAYERS]  # servants who have retired
    jerseys: Annotated[Int8Array, np.int8, MAX_PLAYERS, NUM_SETS]  # cards of each set
    stacks: Annotated[Int8Array, np.int8, NUM_SETS]  # cards left on the board
    # the outer track
    square: Int8  # square of the rainbow rider
    owner: Annotated[Int8Array, np.int8, MAX_SQUARES]  # the seat whose servant stands there, or NO_SEAT
    rainbow_lap: Int8  # 1: there is a rainbow jersey at the end of this lap
    no_supply: Int8  # 1: the no-supply card is at the start
    # this turn
    roller: Int8  # the seat that led the race when the white die was rolled, or NO_SEAT before
    white: Int8  # the white die of this turn, or 0
    yellow: Int8  # the yellow die of this turn, or 0
    kind: Int8  # kind of the square in this turn
    number: Int8  # number printed on it
    card: Int8  # the chance card drawn in this turn, or NO_CARD
    holder: Int8  # owner of the servant on the effort square when it was reached, or NO_SEAT
    landed_on_line: Int8  # 1: the rainbow rider ended on the start square
    due: Int8  # energy that each seat of the queue pays, in PAYMENTS
    queue: Annotated[Int8Array, np.int8, MAX_PLAYERS]  # seats that pay or bid, in their order
    queue_next: Int8  # index of the next seat
    queue_end: Int8  # one past the last
    highest_bid: Int8  # 0 without bids
    highest_bidder: Int8  # a seat, or NO_SEAT
    # the chance cards
    deck_next: Int8  # index in `deck` of the next card
    deck: Annotated[Int8Array, np.int8, MAX_DECK]  # card types in order; NO_CARD for drawn cards


STATE: Final = record_dtype(State)
"""The structured dtype of one race, without padding."""
