"""Credit assignment: the rewards of each seat's own decisions in a rollout over `vector_env`.

In a turn-based game, each step of the environment is a decision of one seat, which decides again several
steps later. A transition therefore leads from a seat's decision to its next one or to the end of the episode,
and its reward is the sum of all rewards of the seat in between, including those that other seats cause.
Pairing the acting seat's reward with the next seat's observation, as in single-player games, credits
decisions with the actions of others (PettingZoo issue 1147).

Collect T steps of N games as in any training loop:

* `seats[t]`: the acting seats, `observations["agent_selection"]` before the step;
* `rewards[t]`: the rewards of all seats, from `step`;
* `terminations[t]`: the terminations, from `step`.

Then `transitions_of` computes the transitions and `advantages_of` the advantages, both in NumPy.
train/cleanrl_ppo.py uses them with PyTorch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.envs.arrays import array_of
from millebornes_env.errors import OptionError, shown


class Transitions(NamedTuple):
    """Transitions of the decisions in a rollout of T steps and N games.

    Attributes:
        rewards: float32[T, N] (float64 for float64 input), the acting seat's total reward from its decision
            to its next one or to the end of the episode.
        next_step: int64[T, N], step of the same seat's next decision in the episode; T if it is not in the
            rollout.
        ended: bool[T, N], True if the episode ended before the seat decided again, so that the value of the
            next state is 0.
        is_complete: bool[T, N], True if the whole transition lies in the rollout. A seat's last decision in
            an unfinished episode has no successor: its value bootstraps the seat's previous decision, and the
            loss must exclude it.
    """

    rewards: npt.NDArray[Any]
    next_step: npt.NDArray[np.int64]
    ended: npt.NDArray[np.bool_]
    is_complete: npt.NDArray[np.bool_]


def transitions_of(
    seats: npt.ArrayLike,
    rewards: npt.ArrayLike,
    terminations: npt.ArrayLike,
    decided: npt.ArrayLike | None = None,
) -> Transitions:
    """Return the transition of each decision in a rollout, for the seat that decided.

    Args:
        seats: integers [T, N], the acting seats.
        rewards: floats [T, N, S], rewards of all seats in the step.
        terminations: bool[T, N], True if the step ended the episode; the next step starts another one.
        decided: bool[T, N], False where no seat decided: games that were not stepped (SKIP), and steps in
            which `NEXT_STEP` begins an episode. None for True everywhere.

    Returns:
        The transitions, incomplete where no seat decided.

    Raises:
        OptionError: array shapes or dtypes do not match, or a seat has no column in the rewards.
    """
    acting, step_rewards, over = _checked_rollout(seats, rewards, terminations)
    steps, games = acting.shape
    acted = np.ones((steps, games), np.bool_)
    if decided is not None:
        acted = _checked("decided", decided, (steps, games), "b")
    # For each seat, looking back from the end: rewards until its next decision or the end of the episode, the
    # step of that decision, and True if one of the two is in the rollout.
    earned = np.zeros((games, step_rewards.shape[2]), step_rewards.dtype)
    following = np.full(earned.shape, steps, np.int64)
    is_known = np.zeros(earned.shape, np.bool_)
    rows = np.arange(games)
    result = Transitions(
        np.zeros((steps, games), step_rewards.dtype),
        np.full((steps, games), steps, np.int64),
        np.zeros((steps, games), np.bool_),
        np.zeros((steps, games), np.bool_),
    )
    for step in range(steps - 1, -1, -1):
        ends = over[step]
        earned[ends], following[ends], is_known[ends] = 0.0, steps, True
        earned += step_rewards[step]
        seat = acting[step]
        result.rewards[step] = earned[rows, seat]
        result.next_step[step] = following[rows, seat]
        result.is_complete[step] = is_known[rows, seat] & acted[step]
        mine = (rows[acted[step]], seat[acted[step]])
        earned[mine], following[mine], is_known[mine] = 0.0, step, True
    result.ended[:] = result.is_complete & (result.next_step == steps)
    return result


def advantages_of(
    transitions: Transitions, values: npt.ArrayLike, *, gamma: float = 1.0, gae_lambda: float = 0.95
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Estimate generalised advantages (GAE, Schulman et al. 2016) over each seat's own decisions.

    Args:
        transitions: transitions of the rollout.
        values: floats [T, N], critic values of the decisions, for the seats that decide.
        gamma: discount from a seat's decision to its next one.
        gae_lambda: lambda of GAE, from 1 (sum of observed rewards) to 0 (value of the next decision only).

    Returns:
        Advantages and returns (advantages plus values), [T, N], in the dtype of the rewards; 0 and the value
        where a transition is incomplete.

    Raises:
        OptionError: values of another shape, or `gamma` or `gae_lambda` outside 0 to 1.
    """
    coefficients: dict[str, object] = {"gamma": gamma, "gae_lambda": gae_lambda}
    for name, value in coefficients.items():
        if not isinstance(value, int | float | np.integer | np.floating) or not 0.0 <= value <= 1.0:
            raise OptionError(f"{name} is {shown(value)}; it must be a number from 0 to 1")
    gamma, gae_lambda = float(gamma), float(gae_lambda)
    steps, games = transitions.rewards.shape
    dtype = transitions.rewards.dtype
    known = _checked("values", values, (steps, games), "f").astype(dtype)
    # An extra row of zeros: the value after the end.
    later_values = np.concatenate([known, np.zeros((1, games), dtype)])
    advantages = np.zeros((steps + 1, games), dtype)
    rows = np.arange(games)
    for step in range(steps - 1, -1, -1):
        following = transitions.next_step[step]
        error = transitions.rewards[step] + gamma * later_values[following, rows] - known[step]
        estimate = error + gamma * gae_lambda * advantages[following, rows]
        advantages[step] = np.where(transitions.is_complete[step], estimate, 0.0)
    return advantages[:steps], advantages[:steps] + known


def _checked_rollout(
    seats: npt.ArrayLike, rewards: npt.ArrayLike, terminations: npt.ArrayLike
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return the arrays of a rollout; raise if their shapes or dtypes do not match."""
    floats = array_of("rewards", rewards, OptionError)
    if floats.ndim != 3 or floats.dtype.kind != "f" or 0 in floats.shape:
        raise OptionError(
            f"rewards are {floats.dtype}{list(floats.shape)}; they must be floats [T, N, S]: T steps of N "
            "games, a column for each seat, as step returns them"
        )
    shape, players = floats.shape[:2], floats.shape[2]
    acting = _checked("seats", seats, shape, "iu").astype(np.int64)
    if acting.min() < 0 or acting.max() >= players:
        wrong = int(acting[(acting < 0) | (acting >= players)][0])
        raise OptionError(f"there is no seat {wrong}; the rewards have a column for seats 0 to {players - 1}")
    return acting, floats, _checked("terminations", terminations, shape, "b")


def _checked(name: str, values: npt.ArrayLike, shape: tuple[int, ...], kinds: str) -> npt.NDArray[Any]:
    """Convert to an array [T, N] of the given kinds of dtypes."""
    words = {"iu": "whole numbers", "b": "bool", "f": "floats"}[kinds]
    result = array_of(name, values, OptionError)
    if result.shape != shape or result.dtype.kind not in kinds:
        raise OptionError(
            f"{name} are {result.dtype}{list(result.shape)}; they must be {words} {list(shape)}: a row for "
            "each step, a column for each game"
        )
    return result


__all__ = ["Transitions", "advantages_of", "transitions_of"]
