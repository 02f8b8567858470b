"""Credit assignment: the rewards of each seat's own decisions in a rollout over `vector_env`.

In a turn-based game, each step of the environment is the decision of one seat, and that seat decides again
several steps later. So a learner's transition begins at a seat's decision and ends at the same seat's next
one, or with the episode; its reward is the sum of all rewards of the seat in between, including those that
other seats cause. Pairing the mover's reward with the next player's observation, as in single-player games,
credits decisions with the actions of others (PettingZoo issue 1147).

Collect a rollout as in any loop, T steps of N games:

* `seats[t]`: `observations["agent_selection"]`, the deciding seats;
* `rewards[t]`: the rewards of all seats, from `step`;
* `terminations[t]`: the terminations from `step`.

`transitions_of` then returns the transitions, and `advantages_of` estimates advantages. All is NumPy;
train/cleanrl_ppo.py uses it with PyTorch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.envs.arrays import array_of
from millebornes_env.errors import OptionError, shown


class Transitions(NamedTuple):
    """The transitions of the decisions of a rollout; T steps, N games.

    Attributes:
        rewards: float32[T, N] (float64 if the rewards were), the sum of what the deciding seat got from its
            decision to its next one or to the end of the episode.
        next_step: int64[T, N], the step of the same seat's next decision in the episode; T where there is
            none in the rollout.
        ended: bool[T, N], True if the episode ended before the seat decided again; the value of the next
            state is then 0.
        is_complete: bool[T, N], True if the whole transition lies in the rollout. The last decision of a
            seat in an episode that goes on has no successor: its value is what the decision before it is
            bootstrapped by, and the loss must leave it out.
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
    """Return the transition of each decision of a rollout, for the seat that made it.

    Args:
        seats: integers [T, N], the deciding seats.
        rewards: floats [T, N, S], the rewards of each seat for the step.
        terminations: bool[T, N], True if the step ended the episode; the next step starts another one.
        decided: bool[T, N], False where nobody decided: where a game was not stepped (SKIP), and in the
            step in which `NEXT_STEP` begins an episode. None: True everywhere.

    Returns:
        The transitions; where nobody decided they are not complete.

    Raises:
        OptionError: arrays whose shapes or kinds do not fit; or a seat that the rewards have no column for.
    """
    who, paid, over = _checked_rollout(seats, rewards, terminations)
    steps, games = who.shape
    acted = np.ones((steps, games), np.bool_)
    if decided is not None:
        acted = _checked("decided", decided, (steps, games), "b")
    earned = np.zeros((games, paid.shape[2]), paid.dtype)  # from here to the seat's next decision, or the end
    following = np.full((games, paid.shape[2]), steps, np.int64)  # the step of that decision
    is_known = np.zeros((games, paid.shape[2]), np.bool_)  # whether there is one in the rollout, or the end
    rows = np.arange(games)
    result = Transitions(
        np.zeros((steps, games), paid.dtype),
        np.full((steps, games), steps, np.int64),
        np.zeros((steps, games), np.bool_),
        np.zeros((steps, games), np.bool_),
    )
    for step in range(steps - 1, -1, -1):
        ends = over[step]
        earned[ends], following[ends], is_known[ends] = 0.0, steps, True
        earned += paid[step]
        seat = who[step]
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
    """Estimate generalised advantages (Schulman et al. 2016) over each seat's own decisions.

    Args:
        transitions: of the rollout.
        values: floats [T, N], the critic's value of each decision, for the seat that made it.
        gamma: discount from a seat's decision to its next one.
        gae_lambda: of the estimator; 1 takes the sum of rewards as it was, 0 the next value alone.

    Returns:
        Advantages and returns (advantages plus values), of the dtype of the rewards, [T, N]; 0 and the value
        where a transition is not complete.

    Raises:
        OptionError: values of another shape; or a discount or a lambda that is not from 0 to 1.
    """
    coefficients: dict[str, object] = {"gamma": gamma, "gae_lambda": gae_lambda}
    for name, given in coefficients.items():
        if not isinstance(given, (int, float)) or not 0.0 <= given <= 1.0:
            raise OptionError(f"{name} is {shown(given)}; it must be a number from 0 to 1")
    steps, games = transitions.rewards.shape
    dtype = transitions.rewards.dtype
    known = _checked("values", values, (steps, games), "f").astype(dtype)
    # A row more, of zeros: what follows the end.
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
    """Return the arrays of a rollout if their shapes match; raise otherwise."""
    paid = array_of("rewards", rewards, OptionError)
    if paid.ndim != 3 or paid.dtype.kind != "f" or 0 in paid.shape:
        raise OptionError(
            f"rewards are {paid.dtype}{list(paid.shape)}; they must be floats [T, N, S]: T steps of N games, "
            "a column for each seat, as step returns them"
        )
    shape = (paid.shape[0], paid.shape[1])
    who = _checked("seats", seats, shape, "iu").astype(np.int64)
    if who.min() < 0 or who.max() >= paid.shape[2]:
        wrong = int(who[(who < 0) | (who >= paid.shape[2])][0])
        raise OptionError(
            f"there is no seat {wrong}; the rewards have a column for seats 0 to {paid.shape[2] - 1}"
        )
    return who, paid, _checked("terminations", terminations, shape, "b")


def _checked(name: str, given: npt.ArrayLike, shape: tuple[int, int], kinds: str) -> npt.NDArray[Any]:
    """Return one of the arrays [T, N], checked."""
    words = {"iu": "whole numbers", "b": "bool", "f": "floats"}[kinds]
    result = array_of(name, given, OptionError)
    if result.shape != shape or result.dtype.kind not in kinds:
        raise OptionError(
            f"{name} are {result.dtype}{list(result.shape)}; they must be {words} {list(shape)}: a row for "
            "each step, a column for each game"
        )
    return result


__all__ = ["Transitions", "advantages_of", "transitions_of"]
