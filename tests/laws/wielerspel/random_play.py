"""Audited play of the race (`testing.audited_play.PlayHooks`): how seats play, and what is counted."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.chance import random_below
from millebornes_env.engine.kernels import DISABLED, Settings
from millebornes_env.engine.laws import NO_VIOLATION
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.actions import (
    ESCAPE,
    EXCHANGE_GREEN,
    EXCHANGE_POLKA_DOT,
    FIRST_RETIRE_FROM,
    GIVE_UP,
    NUM_ACTIONS,
    PASS,
    PAY,
    RETIRE,
    STAY,
    bid_action,
    bid_of,
    is_move,
    is_retirement,
)
from millebornes_env.games.wielerspel.audit import message_of, violation_of
from millebornes_env.games.wielerspel.rules import MAX_PLAYERS
from millebornes_env.games.wielerspel.sections import DEFAULT_SPEC
from millebornes_env.games.wielerspel.state import BY_EXHAUSTION, BY_INNER_TRACK, BY_JERSEYS, BY_TURNS, State
from tests.laws.wielerspel import step_laws as laws

Int64Array = npt.NDArray[np.int64]

CHEAP: Final = 8
"""Highest bid of the sober styles, in energy."""

STYLES: Final = ("wild", "sober", "escaper", "miser", "spender")
"""Names of the styles, in the order of `WEIGHTS`."""
_NUM_STYLES: Final = len(STYLES)
_WILD: Final = STYLES.index("wild")
_SOBER: Final = STYLES.index("sober")
UNIFORM_BELOW: Final = 0
WORDS_PER_STEP: Final = 1
SCRATCH_SIZE: Final = 1
"""No law needs scratch space; no array may be empty."""


def _sober() -> Int64Array:
    """Retire no servant without need; bid low."""
    weights = np.ones(NUM_ACTIONS, np.int64)
    weights[RETIRE] = 0
    weights[FIRST_RETIRE_FROM : FIRST_RETIRE_FROM + (NUM_ACTIONS - FIRST_RETIRE_FROM) // 2] = 0
    weights[bid_action(CHEAP + 1) : FIRST_RETIRE_FROM] = 0
    weights[PASS] = CHEAP
    return weights


def _escaper() -> Int64Array:
    """Escape and ride on, and save energy for that."""
    weights = _sober()
    weights[[ESCAPE, PAY]] = 20
    weights[[STAY, GIVE_UP]] = 1
    weights[PASS] = 20 * CHEAP
    return weights


def _miser() -> Int64Array:
    """Neither bid nor escape."""
    weights = _sober()
    weights[bid_action(1) : FIRST_RETIRE_FROM] = 0
    weights[[ESCAPE, PAY]] = 0
    return weights


def _spender() -> Int64Array:
    """Bid as high as possible, and retire servants for more."""
    weights = np.ones(NUM_ACTIONS, np.int64)
    weights[bid_action(20) : FIRST_RETIRE_FROM] = 10
    weights[RETIRE] = 10
    weights[PASS] = 0
    return weights


WEIGHTS: Final = np.stack([np.ones(NUM_ACTIONS, np.int64), _sober(), _escaper(), _miser(), _spender()])
"""int64[styles, actions]."""
WEIGHTS.setflags(write=False)

COUNTS: Final = (
    *("games", "races", "steps", "escapes", "exchanges", "bids", "moves", "retirements", "shuffles"),
    *("by_jerseys", "by_inner_track", "by_exhaustion", "by_turns", "violations"),
)
_RACES, _STEPS, _ESCAPES, _EXCHANGES, _BIDS, _MOVES, _RETIREMENTS, _SHUFFLES = range(1, 9)
_BY_JERSEYS, _BY_INNER_TRACK, _BY_EXHAUSTION, _BY_TURNS = range(9, 13)


@rule
def settings_of(game: int) -> Settings:
    """Return the engine settings, the same for all games."""
    return Settings(0, 0, DISABLED, DEFAULT_SPEC, 0)


@rule
def record_violation(state: State, rules: Any, scratch: Int64Array) -> int:
    """Return the first law that a record breaks."""
    return violation_of(state, rules)


@rule
def deal_violation(state: State, rules: Any) -> int:
    """Return NO_VIOLATION: a start has no laws of its own."""
    return NO_VIOLATION


@rule
def sample_styles(styles: Int64Array, state: State, rules: Any, steps: int) -> None:
    """Sample the style of each seat; in one race of three all seats are wild, in one all are sober."""
    key_0, key_1 = int(state.key[1]), int(state.key[0]) ^ 1
    counter = int(state.episode) * (MAX_PLAYERS + 1)
    kind = random_below(key_0, key_1, counter, 3)
    for seat in range(rules.players):
        sampled = random_below(key_0, key_1, counter + 1 + seat, _NUM_STYLES)
        styles[seat] = kind if kind in (_WILD, _SOBER) else sampled


@rule
def count_step(counts: Int64Array, before: State, after: State, action: int) -> None:
    """Count a step and its events."""
    counts[_STEPS] += 1
    counts[_ESCAPES] += 1 if action == ESCAPE else 0
    counts[_EXCHANGES] += 1 if action in (EXCHANGE_GREEN, EXCHANGE_POLKA_DOT) else 0
    counts[_BIDS] += 1 if bid_of(action) > 0 else 0
    counts[_MOVES] += 1 if is_move(action) else 0
    counts[_RETIREMENTS] += 1 if is_retirement(action) else 0
    counts[_SHUFFLES] += int(after.shuffles) - int(before.shuffles)


@rule
def count_round(counts: Int64Array, state: State, rules: Any, episode: int, over: bool) -> None:
    """Count a finished race and how it ended."""
    ending = int(state.ending)
    counts[_RACES] += 1
    counts[_BY_JERSEYS] += 1 if ending == BY_JERSEYS else 0
    counts[_BY_INNER_TRACK] += 1 if ending == BY_INNER_TRACK else 0
    counts[_BY_EXHAUSTION] += 1 if ending == BY_EXHAUSTION else 0
    counts[_BY_TURNS] += 1 if ending == BY_TURNS else 0


__all__ = ["laws", "message_of", "rulebook"]
