"""Players that choose at random by weights, in styles so different that everything that can happen does."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    FIRST_DISCARD,
    FIRST_FURTHER_HAZARD,
    PASS,
    num_actions,
)
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    DRIVING_ACE,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    REPAIRS,
)
from millebornes_env.games.millebornes.state import MAX_TEAMS

Weights = npt.NDArray[np.int64]

STYLES: Final = ("uniform", "driver", "attacker", "hoarder", "idler", "finisher")
"""Their names, in the order of `WEIGHTS`."""
UNIFORM: Final = STYLES.index("uniform")
IDLER: Final = STYLES.index("idler")
FINISHER: Final = STYLES.index("finisher")


def _weights(*, distance: int, hazard: int, remedy: int, safety: int, discard: int = 1) -> Weights:
    """Weights of the kinds of cards to lay, and of all discards; questions are answered either way."""
    weights = np.ones(num_actions(MAX_TEAMS), np.int64)
    weights[:NUM_DISTANCES] = distance
    weights[ACCIDENT:REPAIRS] = hazard
    weights[FIRST_FURTHER_HAZARD:] = hazard
    weights[REPAIRS:DRIVING_ACE] = remedy
    weights[DRIVING_ACE:NUM_CARD_TYPES] = safety
    weights[FIRST_DISCARD:CLAIM_COUP_FOURRE] = discard
    return weights


def _driver() -> Weights:
    """Lays whatever brings it on, and discards last."""
    weights = _weights(distance=1000, hazard=10, remedy=1000, safety=100)
    weights[CLAIM_COUP_FOURRE] = 10
    return weights


def _attacker() -> Weights:
    """Lays hazards first."""
    return _weights(distance=30, hazard=1000, remedy=30, safety=10)


def _hoarder() -> Weights:
    """Waits with its safeties for a coup fourré."""
    weights = _weights(distance=100, hazard=10, remedy=100, safety=0, discard=10)
    weights[FIRST_DISCARD + DRIVING_ACE : CLAIM_COUP_FOURRE] = 0
    weights[PASS] = 0
    return weights


def _idler() -> Weights:
    """Only discards, so that the draw pile runs empty and others shut it out."""
    return _weights(distance=0, hazard=0, remedy=0, safety=0)


def _finisher() -> Weights:
    """Drives, keeps its distance cards, and always calls the extension."""
    weights = _weights(distance=10_000, hazard=1, remedy=10_000, safety=100, discard=10)
    weights[FIRST_DISCARD : FIRST_DISCARD + NUM_DISTANCES] = 0
    weights[EXTEND] = 1
    weights[FINISH] = 0
    return weights


WEIGHTS: Final = np.stack(
    [
        _weights(distance=1, hazard=1, remedy=1, safety=1),
        _driver(),
        _attacker(),
        _hoarder(),
        _idler(),
        _finisher(),
    ]
)
"""int64[styles, actions]: a legal action is chosen with a probability in proportion to its weight."""
WEIGHTS.setflags(write=False)
