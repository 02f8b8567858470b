"""The record of one race: its fields, their shapes and what they mean.

A race is one record of `STATE`. The record holds everything, the order of the chance cards and the key of the
dice too, so that copying it copies the race.
"""

from __future__ import annotations

from typing import Annotated, Final, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.layout import record_dtype
from millebornes_env.games.wielerspel.rules import MAX_DECK, MAX_PLAYERS
from millebornes_env.games.wielerspel.squares import MAX_SQUARES

STATE_VERSION: Final = 1
"""Goes up when saved states of an older version can no longer be read."""

NO_SEAT: Final = -1
NO_CARD: Final = -1

# What the seat in `state.seat` has to decide.
RIDING: Final = 0
"""Nothing: the race goes on by itself. Never seen from outside."""
AWAY: Final = 1
"""The turn of an escaped rider begins: give up, or pay for the lead."""
EXCHANGE: Final = 2
"""Exchange jerseys for a rainbow jersey, or keep them."""
MUST_PAY: Final = 3
"""A payment is due that the energy does not cover: which servant retires?"""
MUST_RETIRE: Final = 4
"""A chance card takes a servant out of the race: which?"""
ESCAPING: Final = 5
"""Escape, or ride further away; or stay."""
BID: Final = 6
"""Bid for the effort square, or pass."""
MOVE: Final = 7
"""The auction is won and all servants are on the board: which of them moves?"""
RACE_OVER: Final = 8
"""Nothing: the race is over."""
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
NUM_PHASES: Final = len(PHASE_NAMES)

# How far a turn has come, in `state.stage`: the steps of `turn.py`, in their order.
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

# How the race ended, in `state.ending`.
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
    """One record of `STATE`, as the rules see it: its fields, with the type and shape of their numbers."""

    # The widest first, so that no field needs padding and equal races are equal bytes.
    # two 32-bit words: the race's own key; dice and lots are functions of it
    key: Annotated[npt.NDArray[np.int64], np.int64, 2]
    episode: Int32  # how many races this game has begun, minus one
    turn: Int32  # turns before the present one
    shuffles: Int32  # how often the chance deck was shuffled again
    # points for combativity of escapes that have ended
    escape_points: Annotated[Int16Array, np.int16, MAX_PLAYERS]
    # whose decision
    seat: Int8  # the seat that decides now
    phase: Int8  # what it decides: AWAY ... RACE_OVER
    stage: Int8  # how far the turn has come
    winner: Int8  # the seat that has won outright, or NO_SEAT
    ending: Int8  # how the race ended
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
    square: Int8  # where the rainbow rider is
    owner: Annotated[Int8Array, np.int8, MAX_SQUARES]  # the seat whose servant stands there, or NO_SEAT
    rainbow_lap: Int8  # 1: a rainbow jersey waits at the end of this lap
    no_supply: Int8  # 1: the no-supply card lies at the start
    # this turn
    roller: Int8  # the seat that led the race when the white die was rolled, or NO_SEAT before
    white: Int8  # the white die of this turn, or 0
    yellow: Int8  # the yellow die of this turn, or 0
    kind: Int8  # what the square is for this turn
    number: Int8  # what is printed on it
    card: Int8  # the chance card drawn in this turn, or NO_CARD
    holder: Int8  # whose servant stood on the effort square when it was reached, or NO_SEAT
    landed_on_line: Int8  # 1: the rainbow rider ended on the start square
    due: Int8  # energy that each seat of the queue pays, in PAYMENTS
    queue: Annotated[Int8Array, np.int8, MAX_PLAYERS]  # seats that pay or bid, in their order
    queue_next: Int8  # place of the next one
    queue_end: Int8  # one past the last
    highest_bid: Int8  # 0: nobody has bid
    highest_bidder: Int8  # a seat, or NO_SEAT
    # the chance cards
    deck_next: Int8  # where in `deck` the next card lies
    deck: Annotated[Int8Array, np.int8, MAX_DECK]  # card types in their order; NO_CARD where drawn


STATE: Final = record_dtype(State)
"""The structured dtype of one race, without padding."""
