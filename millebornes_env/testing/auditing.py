"""What random play with every law checked needs in any game: choice by weights, notes, the engine's own step.

`audited_play` plays Mille Bornes by it, `audited_races` the race.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.kernels import Buffers, Settings, apply_action, write_decision
from millebornes_env.engine.laws import is_within_bounds
from millebornes_env.engine.numba.compiling import rule, rule_of_rules
from millebornes_env.engine.rulebook import Rulebook, State

Int8Array = npt.NDArray[np.int8]
Int64Array = npt.NDArray[np.int64]
StateArray = npt.NDArray[np.void]

FOUND: Final = ("game", "step", "seat", "action", "violation")
"""What is noted of a violation."""
NO_ACTION: Final = -1
MOST_FOUND: Final = 8
"""Violations of a table that are noted in full; all are counted."""

SAMPLE: Final = 64
"""A redeal and the engine's step are tried at one decision of so many."""
ROUNDING: Final = 1e-4
"""By how much rewards may miss a sum of 0."""


@rule
def total_weight(mask: Int8Array, weights: Int64Array) -> int:
    """The weights of all legal actions together."""
    total = 0
    for action in range(len(mask)):
        total += int(mask[action]) * int(weights[action])
    return total


@rule
def action_at(mask: Int8Array, weights: Int64Array, left: int) -> int:
    """The action that a number from 0 to the total weight - 1 falls on: as many do as its weight says."""
    action = -1
    while left >= 0:
        action += 1
        left -= int(mask[action]) * int(weights[action])
    return action


@rule
def note(
    found: Int64Array,
    saved: StateArray,
    before: State,
    after: State,
    game: int,
    step: int,
    action: int,
    violation: int,
) -> None:
    """Note a violation.

    Args:
        found: int64[len(FOUND)], overwritten.
        saved: STATE[2], overwritten with the two records.
        before: the record before the step.
        after: the record after it.
        game: which.
        step: how many it was played.
        action: what the seat did, or NO_ACTION.
        violation: its number.
    """
    found[0] = game
    found[1] = step
    found[2] = before.seat
    found[3] = action
    found[4] = violation
    saved[0] = before
    saved[1] = after


@rule_of_rules
def step_by_engine(
    rulebook: Rulebook, state: State, rules: Any, settings: Settings, action: int, buffers: Buffers
) -> None:
    """Carry out an action as the engine does, with all that it writes; `buffers` are those of one game."""
    buffers.rewards[0, :] = 0.0
    buffers.terminations[0] = False
    apply_action(rulebook, state, rules, settings, action, buffers, 0)
    write_decision(rulebook, state, rules, settings, buffers, 0)


@rule
def finals_are_within_bounds(final_observations: Int8Array, players: int, high: Int8Array) -> bool:
    """What the seats see at the end of an episode, int8[S, D], lies within the bounds of the sections."""
    outside = 0
    for seat in range(players):
        outside += 0 if is_within_bounds(final_observations[seat], high) else 1
    return outside == 0
