"""Audited play of Mille Bornes (`testing.audited_play.PlayHooks`): how teams play, and what is counted.

The styles differ so much that everything that can happen does. Games with an odd index play matches, the
others rounds; every fourth pair of games is paid by wins.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.chance import random_below
from millebornes_env.engine.kernels import DISABLED, Settings
from millebornes_env.engine.laws import NO_VIOLATION, require
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    FIRST_DISCARD,
    FIRST_FURTHER_HAZARD,
    PASS,
    num_actions,
)
from millebornes_env.games.millebornes.audit import SCRATCH_SIZE, message_of
from millebornes_env.games.millebornes.audit import violation_of as record_violation
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    DRIVING_ACE,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    REPAIRS,
)
from millebornes_env.games.millebornes.ending import are_hands_played_out
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.scoring import blank_opponents
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC
from millebornes_env.games.millebornes.state import MAX_TEAMS, NO_TEAM, State
from millebornes_env.testing.millebornes import step_laws as laws

Weights = npt.NDArray[np.int64]

STYLES: Final = ("uniform", "driver", "attacker", "hoarder", "idler", "finisher")
"""Names of the styles, in the order of `WEIGHTS`."""
_NUM_STYLES: Final = len(STYLES)
_IDLER: Final = STYLES.index("idler")
_FINISHER: Final = STYLES.index("finisher")
UNIFORM_BELOW: Final = round(0.1 * 2**32)
WORDS_PER_STEP: Final = 2
_LONE_DRIVER: Final = 8
"""Number of rounds for each one in which all teams but one idle."""


def _weights(
    *,
    distance: int,
    hazard: int,
    remedy: int,
    safety: int,
    discard: int = 1,
    kept: range = range(0),
    claim: int = 1,
    refused: int | None = None,
) -> Weights:
    """Weight cards to lay by their kinds, all discards but those of cards `kept` alike, and answers.

    Both answers to a question have weight 1, except for a claim and for an answer that is `refused`.
    """
    weights = np.ones(num_actions(MAX_TEAMS), np.int64)
    weights[:NUM_DISTANCES] = distance
    weights[ACCIDENT:REPAIRS] = hazard
    weights[FIRST_FURTHER_HAZARD:] = hazard
    weights[REPAIRS:DRIVING_ACE] = remedy
    weights[DRIVING_ACE:NUM_CARD_TYPES] = safety
    weights[FIRST_DISCARD:CLAIM_COUP_FOURRE] = discard
    weights[[FIRST_DISCARD + card for card in kept]] = 0
    weights[CLAIM_COUP_FOURRE] = claim
    if refused is not None:
        weights[refused] = 0
    return weights


_SAFETIES: Final = range(DRIVING_ACE, NUM_CARD_TYPES)

WEIGHTS: Final = np.stack(
    [
        _weights(distance=1, hazard=1, remedy=1, safety=1),
        # prefers all cards that help to drive, and discards last
        _weights(distance=1000, hazard=10, remedy=1000, safety=100, claim=10),
        # lays hazards first
        _weights(distance=30, hazard=1000, remedy=30, safety=10),
        # keeps safeties for a coup fourré
        _weights(distance=100, hazard=10, remedy=100, safety=0, discard=10, kept=_SAFETIES, refused=PASS),
        # discards only, so that the draw pile runs empty and others score a shut-out
        _weights(distance=0, hazard=0, remedy=0, safety=0),
        # drives, keeps distance cards, and always calls the extension
        _weights(
            distance=10_000,
            hazard=1,
            remedy=10_000,
            safety=100,
            discard=10,
            kept=range(NUM_DISTANCES),
            refused=FINISH,
        ),
    ]
)
"""int64[styles, actions], for the largest number of teams."""
WEIGHTS.setflags(write=False)

COUNTS: Final = (
    *("games", "rounds", "matches", "steps", "claims", "extensions"),
    *("empty_piles", "play_outs", "shutouts", "violations"),
)
_ROUNDS, _MATCHES, _STEPS, _CLAIMS, _EXTENSIONS, _EMPTY, _PLAY_OUTS, _SHUTOUTS = range(1, 9)


@rule
def settings_of(game: int) -> Settings:
    """Return the engine settings of the game with this index."""
    reward = rulebook.WIN if (game >> 1) & 3 == 3 else rulebook.POINTS
    return Settings(game & 1, reward, DISABLED, DEFAULT_SPEC, 0)


@rule
def deal_violation(state: State, rules: RulesRecord) -> int:
    """Return WRONG_DEAL if the round was not dealt as the rules say."""
    return require(NO_VIOLATION, laws.WRONG_DEAL, laws.is_freshly_dealt(state, rules))


@rule
def sample_styles(styles: npt.NDArray[np.int64], state: State, rules: RulesRecord, steps: int) -> None:
    """Sample the style of each team; in one round of eight all teams but one idle, and are shut out."""
    key_0, key_1 = int(state.key[1]), int(state.key[0]) ^ 1
    counter = steps * (MAX_TEAMS + 1)
    for team in range(rules.teams):
        styles[team] = random_below(key_0, key_1, counter + team, _NUM_STYLES)
    chosen = random_below(key_0, key_1, counter + MAX_TEAMS, rules.teams * _LONE_DRIVER)
    if chosen < rules.teams:
        for team in range(rules.teams):
            styles[team] = _FINISHER if team == chosen else _IDLER


@rule
def count_step(counts: npt.NDArray[np.int64], before: State, after: State, action: int) -> None:
    """Count a step and its events."""
    counts[_STEPS] += 1
    counts[_CLAIMS] += 1 if action == CLAIM_COUP_FOURRE else 0
    counts[_EXTENSIONS] += 1 if action == EXTEND else 0
    counts[_EMPTY] += 1 if int(before.draw_pile) > 0 and int(after.draw_pile) == 0 else 0


@rule
def count_round(
    counts: npt.NDArray[np.int64], state: State, rules: RulesRecord, episode: int, over: bool
) -> None:
    """Count a finished round and how it ended; it is a shut-out if no opponent of the winner has any km."""
    winner = int(state.winner)
    counts[_ROUNDS] += 1
    counts[_MATCHES] += 1 if over and episode == rulebook.MATCH else 0
    if winner == NO_TEAM:
        counts[_PLAY_OUTS] += 1 if are_hands_played_out(state, rules) else 0
    elif blank_opponents(state, rules, winner) == rules.teams - 1:
        counts[_SHUTOUTS] += 1


__all__ = ["SCRATCH_SIZE", "laws", "message_of", "record_violation", "rulebook"]
