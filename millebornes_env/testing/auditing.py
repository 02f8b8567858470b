"""Tools for audited random play of any game: choice by weights, records of violations, the engine's step.

`audited_play` uses them for Mille Bornes, `audited_races` for the race.
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
"""Fields recorded for a violation."""
NO_ACTION: Final = -1
MOST_FOUND: Final = 8
"""Number of violations of a table that are recorded in full; all are counted."""

SAMPLE: Final = 64
"""Number of decisions for each one that tries a redeal and the engine's step."""
ROUNDING: Final = 1e-4
"""Tolerance for the sum of rewards, which should be 0."""


@rule
def total_weight(mask: Int8Array, weights: Int64Array) -> int:
    """Return the total weight of all legal actions."""
    total = 0
    for action in range(len(mask)):
        total += int(mask[action]) * int(weights[action])
    return total


@rule
def action_at(mask: Int8Array, weights: Int64Array, left: int) -> int:
    """Return the action for a number from 0 to the total weight - 1; each has as many as its weight."""
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
    """Record a violation.

    Args:
        found: int64[len(FOUND)], overwritten.
        saved: STATE[2], overwritten with the two records.
        before: the record before the step.
        after: the record after it.
        game: index of the game.
        step: number of the step.
        action: action of the seat, or NO_ACTION.
        violation: number of the violation.
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
    """Carry out an action as the engine does, with all its outputs; `buffers` are those of one game."""
    buffers.rewards[0, :] = 0.0
    buffers.terminations[0] = False
    apply_action(rulebook, state, rules, settings, action, buffers, 0)
    write_decision(rulebook, state, rules, settings, buffers, 0)


@rule
def finals_are_within_bounds(final_observations: Int8Array, players: int, high: Int8Array) -> bool:
    """Return True if the final observations, int8[S, D], are within the bounds of the sections."""
    outside = 0
    for seat in range(players):
        outside += 0 if is_within_bounds(final_observations[seat], high) else 1
    return outside == 0
