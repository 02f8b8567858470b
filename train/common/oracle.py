"""The input of the oracle critic: the row of the deciding seat, all other hands, and the cards to come.

A critic is needed while learning only, so it may see what no player does: how lucky a seat will be explains
most of what a round is worth, and is no merit of its actions. The cards to come are shown by how soon they
come: 100 for a seat's next card of a type, a tenth less for each card before it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env import VectorEnv
from millebornes_env.engine.numba.compiling import kernel
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from train.common.errors import RunError

Int8Array = npt.NDArray[np.int8]

SOONEST: Final = 100.0
LATER: Final = 0.9
MOST: Final = 127.0
HANDS_SCALE: Final = 0.5
SOON_SCALE: Final = 0.01


STREAMS: Final = "streams"
"""The section of a full state that shows the cards to come; in the game of such cards, that is."""


def streams_in(env: VectorEnv) -> int:
    """Return the offset of the streams in a full state, after the observation and the other hands.

    Raises:
        RunError: the game has neither hands nor streams of cards.
    """
    for section in env.state_sections:
        if section.name == STREAMS:
            return section.start
    raise RunError(
        f"--oracle shows a critic all hands and the cards that each seat will draw; the game "
        f"{env.game.name!r} has none: leave it out"
    )


def oracle_size(streams: int, players: int) -> int:
    """The length of a row.

    Args:
        streams: where the streams start in a full state (`VectorEnv.state_sections`).
        players: S.
    """
    return streams + players * NUM_CARD_TYPES


def oracle_scale(scale: npt.NDArray[np.float32], players: int) -> npt.NDArray[np.float32]:
    """The scale of a row, from the scale of an observation."""
    hands = np.full((players - 1) * NUM_CARD_TYPES, HANDS_SCALE, np.float32)
    soon = np.full(players * NUM_CARD_TYPES, SOON_SCALE, np.float32)
    return np.concatenate([scale, hands, soon])


@kernel
def write_oracle_rows(full: Int8Array, streams: int, players: int, rows: Int8Array) -> None:
    """Write the critic's rows.

    Args:
        full: int8[N, K], of `VectorEnv.state`: observation, other hands, streams.
        streams: where the streams start in it.
        players: S.
        rows: int8[N, oracle_size], overwritten.
    """
    length = (full.shape[1] - streams) // players
    for game in range(len(full)):
        row, everything = rows[game], full[game]
        for column in range(streams):
            row[column] = everything[column]
        for column in range(streams, len(row)):
            row[column] = 0
        for seat in range(players):
            first, weight = streams + seat * NUM_CARD_TYPES, SOONEST
            for column in range(streams + seat * length, streams + (seat + 1) * length):
                card = int(everything[column]) - 1
                if card < 0:
                    break
                row[first + card] = int(min(row[first + card] + weight, MOST))
                weight *= LATER
