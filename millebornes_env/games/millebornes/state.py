"""The record of one game: its fields, their shapes and what they mean.

A game is one record of `STATE`, a batch of games an array of them. The record holds everything: cards,
scores and the random numbers to come, so that copying it copies the game.
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

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

_FIELDS: Final = [
    # The widest first, so that no field needs padding and equal games are equal bytes.
    # chance: random numbers are functions of these (chance.py)
    ("key", np.int64, (2,)),  # two 32-bit words: the game's own key
    ("episode", np.int32),  # how many episodes this game has begun, minus one
    ("round_number", np.int32),  # rounds of this match before the present one
    # scores, by team
    ("score", np.int16, (MAX_TEAMS,)),  # total of the match's finished rounds
    ("score_sheet", np.int16, (MAX_TEAMS, NUM_SCORE_LINES)),  # the last finished round, line by line
    # the trip
    ("km", np.int16, (MAX_TEAMS,)),  # sum of the distance pile
    ("target", np.int16),  # km to complete, now
    ("extension_team", np.int8),  # the team that called the extension, or NO_TEAM
    ("winner", np.int8),  # the team that completed the trip, or NO_TEAM
    # whose decision
    ("seat", np.int8),  # the seat that decides now
    ("phase", np.int8),  # PLAY, CLAIM, EXTENSION or ROUND_OVER
    ("dealer", np.int8),  # the seat left of it starts the round
    # a hazard that waits for the attacked team's claim: it lies on no pile yet
    ("pending_hazard", np.int8),  # card, or NO_CARD
    ("pending_team", np.int8),  # the team it was laid against, or NO_TEAM
    ("attacker", np.int8),  # the seat that laid it, or NO_SEAT
    # the tableaux, by team
    ("battle", np.int8, (MAX_TEAMS,)),  # top of the battle pile, or NO_CARD
    ("battle_below", np.int8, (MAX_TEAMS,)),  # the card under a hazard on top of the battle pile
    ("speed", np.int8, (MAX_TEAMS,)),  # top of the speed pile, or NO_CARD
    ("opening", np.int8, (MAX_TEAMS,)),  # whether a hazard began the pile: one of the values above
    ("coup_fourre", np.int8, (MAX_TEAMS, NUM_SAFETIES)),  # 1: that safety was claimed, not just played
    ("tableau", np.int8, (MAX_TEAMS, NUM_CARD_TYPES)),  # cards in all piles of the team, covered ones too
    # the other cards
    ("draw_pile", np.int8),  # cards left to draw
    ("discard_top", np.int8),  # last card discarded, or NO_CARD
    ("discard_pile", np.int8, (NUM_CARD_TYPES,)),  # how many of each type
    ("hidden", np.int8, (NUM_CARD_TYPES,)),  # how many of each type lie in hands and in the draw pile
    ("hand_count", np.int8, (MAX_SEATS,)),  # cards in each hand
    ("hand", np.int8, (MAX_SEATS, NUM_CARD_TYPES)),  # how many of each type
    ("stream_next", np.int8, (MAX_SEATS,)),  # where in `deck` the seat's next card lies
    ("stream_end", np.int8, (MAX_SEATS,)),  # one past the last card of the seat's stream
    ("deck", np.int8, (DECK_SIZE,)),  # the seats' streams one after the other; NO_CARD where drawn
]

STATE: Final = np.dtype(_FIELDS, align=True)
"""The structured dtype of one game."""

Int8Array = npt.NDArray[np.int8]
Int16Array = npt.NDArray[np.int16]
StateArray = npt.NDArray[np.void]
"""An array of `STATE` records, one for each game."""


class State(Protocol):
    """One record of `STATE`, as the rules see it (for type checkers)."""

    key: npt.NDArray[np.int64]
    episode: int
    round_number: int
    seat: int
    phase: int
    dealer: int
    pending_hazard: int
    pending_team: int
    attacker: int
    target: int
    extension_team: int
    winner: int
    km: Int16Array
    battle: Int8Array
    battle_below: Int8Array
    speed: Int8Array
    opening: Int8Array
    coup_fourre: Int8Array
    tableau: Int8Array
    draw_pile: int
    discard_top: int
    discard_pile: Int8Array
    hidden: Int8Array
    hand_count: Int8Array
    hand: Int8Array
    stream_next: Int8Array
    stream_end: Int8Array
    deck: Int8Array
    score: Int16Array
    score_sheet: Int16Array


def new_states(num_games: int) -> StateArray:
    """An array of blank games, ready to be dealt.

    Args:
        num_games: how many.

    Returns:
        `STATE[num_games]`, all zero; a `numpy.recarray`, so that `states[i].km` works in plain Python too.
    """
    return np.zeros(num_games, dtype=STATE).view(np.recarray)
