"""The record of one game: its fields, their shapes and meanings.

A game is one record of `STATE`, a batch of games an array of them. The record holds everything: cards,
scores and the key of future random numbers, so that copying it copies the game.
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
"""Increased when saved states of an older version can no longer be read."""

# The decision of `state.seat`.
PLAY: Final = 0
"""Lay or discard one card."""
CLAIM: Final = 1
"""A hazard was laid against the seat's team and it holds the safety: coup fourré, or let it stand."""
EXTENSION: Final = 2
"""The seat's card completed the short trip: go on to the long one, or finish."""
ROUND_OVER: Final = 3
"""None: the round is over and the score sheet filled in."""
PHASE_NAMES: Final = ("play", "claim", "extension", "round over")

# The first card of a battle pile, in `state.opening`.
BY_ROLL: Final = 0
"""The pile is empty, or began with a Roll, or its first card no longer matters."""
BY_HAZARD: Final = 1
"""The pile began with a hazard, and has at most its remedy on it."""
HAZARD_AGAIN: Final = 2
"""The pile began with a hazard, and has another hazard on its remedy."""

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
    """The fields of a record of `STATE`, with types and shapes."""

    # Widest fields first, so that there is no padding and equal games have equal bytes.
    # chance: random numbers are functions of these (chance.py)
    key: Annotated[npt.NDArray[np.int64], np.int64, 2]  # two 32-bit words: the game's own key
    episode: Int32  # index of the episode, from 0
    round_number: Int32  # index of the round in the match, from 0
    # scores, by team
    score: Annotated[Int16Array, np.int16, MAX_TEAMS]  # total of the match's finished rounds
    # the last finished round, line by line
    score_sheet: Annotated[Int16Array, np.int16, MAX_TEAMS, NUM_SCORE_LINES]
    # the trip
    km: Annotated[Int16Array, np.int16, MAX_TEAMS]  # sum of the distance pile
    target: Int16  # km to complete, now
    extension_team: Int8  # the team that called the extension, or NO_TEAM
    winner: Int8  # the team that completed the trip, or NO_TEAM
    # the decision
    seat: Int8  # the seat to act
    phase: Int8  # PLAY, CLAIM, EXTENSION or ROUND_OVER
    dealer: Int8  # the seat left of it starts the round
    # a hazard that waits for the attacked team's claim, not yet on a pile
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
    discard_pile: Annotated[Int8Array, np.int8, NUM_CARD_TYPES]  # count of each type
    # count of each type in hands and in the draw pile
    hidden: Annotated[Int8Array, np.int8, NUM_CARD_TYPES]
    hand_count: Annotated[Int8Array, np.int8, MAX_SEATS]  # cards in each hand
    hand: Annotated[Int8Array, np.int8, MAX_SEATS, NUM_CARD_TYPES]  # count of each type
    stream_next: Annotated[Int8Array, np.int8, MAX_SEATS]  # index in `deck` of the seat's next card
    stream_end: Annotated[Int8Array, np.int8, MAX_SEATS]  # one past the last card of the seat's stream
    # the seats' streams one after the other; NO_CARD for drawn cards
    deck: Annotated[Int8Array, np.int8, DECK_SIZE]


STATE: Final = record_dtype(State)
"""The structured dtype of one game."""


def new_states(num_games: int) -> StateArray:
    """Return `STATE[num_games]`, all zero; a `numpy.recarray`, so that plain Python reads `states[i].km`."""
    return np.zeros(num_games, dtype=STATE).view(np.recarray)
