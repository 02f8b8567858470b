"""The record of one game: its fields, their shapes and what they mean.

A game is one record of `STATE`, a batch of games an array of them. The record holds everything: cards,
scores and the random numbers to come, so that copying it copies the game.
"""

from __future__ import annotations

from typing import Annotated, Final, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.layout import record_dtype
from millebornes_env.games.millebornes.cards import DECK_SIZE, NUM_CARD_TYPES, NUM_SAFETIES

MAX_SEATS: Final = 8
MAX_TEAMS: Final = 4

STATE_VERSION: Final = 2
"""Goes up when saved states of an older version can no longer be read."""

# What the seat in `state.seat` has to decide.
PLAY: Final = 0
"""Lay or discard one card."""
CLAIM: Final = 1
"""A hazard was laid against the seat's team and it holds the safety: coup fourré, or let it stand."""
EXTENSION: Final = 2
"""The seat's card completed the short trip: go on to the long one, or finish."""
ROUND_OVER: Final = 3
"""Nothing: the round is over and the score sheet filled in."""
PHASE_NAMES: Final = ("play", "claim", "extension", "round over")

# How a battle pile began, in `state.opening`.
BY_ROLL: Final = 0
"""It is empty, or began with a Roll, or its beginning no longer matters."""
BY_HAZARD: Final = 1
"""A hazard began it, and at most its remedy lies on that."""
HAZARD_AGAIN: Final = 2
"""A hazard lies on the remedy of the hazard that began it."""

NO_TEAM: Final = -1
NO_SEAT: Final = -1

# The lines of the score sheet, in `state.score_sheet`.
SCORE_LINES: Final = (
    "distance",
    "safeties",
    "all_safeties",
    "coups_fourres",
    "trip_completed",
    "delayed_action",
    "safe_trip",
    "extension",
    "shutout",
)
NUM_SCORE_LINES: Final = len(SCORE_LINES)
(
    DISTANCE_LINE,
    SAFETIES_LINE,
    ALL_SAFETIES_LINE,
    COUPS_FOURRES_LINE,
    TRIP_COMPLETED_LINE,
    DELAYED_ACTION_LINE,
    SAFE_TRIP_LINE,
    EXTENSION_LINE,
    SHUTOUT_LINE,
) = range(NUM_SCORE_LINES)

Int8Array = npt.NDArray[np.int8]
Int16Array = npt.NDArray[np.int16]
StateArray = npt.NDArray[np.void]
"""An array of `STATE` records, one for each game."""

Int8 = Annotated[int, np.int8]
Int16 = Annotated[int, np.int16]
Int32 = Annotated[int, np.int32]


class State(Protocol):
    """One record of `STATE`, as the rules see it: its fields, with the type and shape of their numbers."""

    # The widest first, so that no field needs padding and equal games are equal bytes.
    # chance: random numbers are functions of these (chance.py)
    key: Annotated[npt.NDArray[np.int64], np.int64, 2]  # two 32-bit words: the game's own key
    episode: Int32  # how many episodes this game has begun, minus one
    round_number: Int32  # rounds of this match before the present one
    # scores, by team
    score: Annotated[Int16Array, np.int16, MAX_TEAMS]  # total of the match's finished rounds
    # the last finished round, line by line
    score_sheet: Annotated[Int16Array, np.int16, MAX_TEAMS, NUM_SCORE_LINES]
    # the trip
    km: Annotated[Int16Array, np.int16, MAX_TEAMS]  # sum of the distance pile
    target: Int16  # km to complete, now
    extension_team: Int8  # the team that called the extension, or NO_TEAM
    winner: Int8  # the team that completed the trip, or NO_TEAM
    # whose decision
    seat: Int8  # the seat that decides now
    phase: Int8  # PLAY, CLAIM, EXTENSION or ROUND_OVER
    dealer: Int8  # the seat left of it starts the round
    # a hazard that waits for the attacked team's claim: it lies on no pile yet
    pending_hazard: Int8  # card, or NO_CARD
    pending_team: Int8  # the team it was laid against, or NO_TEAM
    attacker: Int8  # the seat that laid it, or NO_SEAT
    # the tableaux, by team
    battle: Annotated[Int8Array, np.int8, MAX_TEAMS]  # top of the battle pile, or NO_CARD
    # the card under a hazard on top of the battle pile
    battle_below: Annotated[Int8Array, np.int8, MAX_TEAMS]
    speed: Annotated[Int8Array, np.int8, MAX_TEAMS]  # top of the speed pile, or NO_CARD
    # whether a hazard began the pile: one of the values above
    opening: Annotated[Int8Array, np.int8, MAX_TEAMS]
    # 1: that safety was claimed, not just played
    coup_fourre: Annotated[Int8Array, np.int8, MAX_TEAMS, NUM_SAFETIES]
    # cards in all piles of the team, covered ones too
    tableau: Annotated[Int8Array, np.int8, MAX_TEAMS, NUM_CARD_TYPES]
    # the other cards
    draw_pile: Int8  # cards left to draw
    discard_top: Int8  # last card discarded, or NO_CARD
    discard_pile: Annotated[Int8Array, np.int8, NUM_CARD_TYPES]  # how many of each type
    # how many of each type lie in hands and in the draw pile
    hidden: Annotated[Int8Array, np.int8, NUM_CARD_TYPES]
    hand_count: Annotated[Int8Array, np.int8, MAX_SEATS]  # cards in each hand
    hand: Annotated[Int8Array, np.int8, MAX_SEATS, NUM_CARD_TYPES]  # how many of each type
    stream_next: Annotated[Int8Array, np.int8, MAX_SEATS]  # where in `deck` the seat's next card lies
    stream_end: Annotated[Int8Array, np.int8, MAX_SEATS]  # one past the last card of the seat's stream
    # the seats' streams one after the other; NO_CARD where drawn
    deck: Annotated[Int8Array, np.int8, DECK_SIZE]


STATE: Final = record_dtype(State)
"""The structured dtype of one game."""


def new_states(num_games: int) -> StateArray:
    """Return an array of blank games, ready to be dealt.

    Args:
        num_games: how many.

    Returns:
        `STATE[num_games]`, all zero; a `numpy.recarray`, so that `states[i].km` works in plain Python too.
    """
    return np.zeros(num_games, dtype=STATE).view(np.recarray)
