"""The Stable-Baselines3 faces when something goes wrong: as before the call, or `reset()` is asked for.

An environment that goes on after an opponent failed would show the learner the opponent's hand and let it
play the opponent's turn.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from millebornes_env import vector_env
from millebornes_env.errors import (
    ActionError,
    ClosedError,
    ConcurrentCallError,
    IllegalActionError,
    OptionError,
    ResetNeededError,
    shown,
)
from tests.each import each
from tests.envs.playing import alone, refused, snapshot, uniform_policy, versus

if TYPE_CHECKING:
    from millebornes_env.envs.sb3 import OpponentVecEnv

ILLEGAL = 41  # finish a trip that nobody has completed


class OutOfOrderError(Exception):
    """An error that a user's opponent raises."""


def first_allowed(observations: Any, masks: Any) -> Any:
    return masks.argmax(axis=1)


class FailsLater:
    """Plays on, and in call number `good` fails."""

    def __init__(self, good: int, fault: Callable[[Any], Any]) -> None:
        self.good = good
        self.fault = fault
        self.is_repaired = False

    def __call__(self, observations: Any, masks: Any) -> Any:
        self.good -= 1
        actions = masks.argmax(axis=1)
        return actions if self.good >= 0 or self.is_repaired else self.fault(actions)


def raises(actions: Any) -> Any:
    raise OutOfOrderError


def with_first(value: int) -> Callable[[Any], Any]:
    def changed(actions: Any) -> Any:
        actions[0] = value
        return actions

    return changed


FAULTS: dict[str, tuple[Callable[[Any], Any], type[Exception]]] = {
    "raises": (raises, OutOfOrderError),
    "is interrupted": (lambda actions: _interrupt(), KeyboardInterrupt),
    "plays illegally": (with_first(ILLEGAL), IllegalActionError),
    "plays what there is not": (with_first(99), ActionError),
    "skips": (with_first(-1), ActionError),
    "returns floats": (lambda actions: actions.astype(np.float64), ActionError),
    "returns too many": (lambda actions: np.append(actions, 0), ActionError),
    "returns one for all": (lambda actions: actions[0], ActionError),
    "returns nothing": (lambda actions: None, ActionError),
    "returns ragged lists": (lambda actions: [[1], [2, 3]], ActionError),
}


def _interrupt() -> None:
    raise KeyboardInterrupt


def begun(opponents: Any, num_envs: int = 6, **options: Any) -> OpponentVecEnv:
    env = versus(vector_env(num_envs, **options), opponents)
    env.seed(1)
    env.reset()
    return env


def play(env: OpponentVecEnv, steps: int) -> list[Any]:
    return [env.step(env.action_masks().argmax(axis=1)) for _ in range(steps)]


# Opponents.


@pytest.mark.parametrize("fault", ["raises", "is interrupted", "plays illegally", "skips", "returns nothing"])
def test_after_an_opponent_failed_a_reset_is_needed(fault: str) -> None:
    wrong, error = FAULTS[fault]
    opponent = FailsLater(4, wrong)
    env = begun([opponent])
    actions = env.action_masks().argmax(axis=1)
    with pytest.raises(error):
        play(env, 100)
    opponent.is_repaired = True
    for use in (env.action_masks, lambda: env.step(actions), lambda: env.step_async(actions), env.step_wait):
        refused(ResetNeededError, ["opponent", "failed", "reset()"], use)
    refused(ResetNeededError, ["opponent", "failed"], env.env_method, "action_masks")

    env.seed(1)
    first = env.reset()
    other = begun([first_allowed])
    assert np.array_equal(first, other._observe())
    for ours, theirs in zip(play(env, 60), play(other, 60), strict=True):
        assert np.array_equal(ours[0], theirs[0])
        assert np.array_equal(ours[1], theirs[1])
        assert [info.get("episode", {}).get("l") for info in ours[3]] == [
            info.get("episode", {}).get("l") for info in theirs[3]
        ]


def test_after_an_opponent_failed_in_a_reset_another_is_needed() -> None:
    for wrong, error in FAULTS.values():
        opponent = FailsLater(0, wrong)
        env = versus(vector_env(6, seed=1), [first_allowed, opponent], seat=1)
        with pytest.raises(error):
            env.reset()
        refused(ResetNeededError, ["opponent", "failed", "reset()"], env.action_masks)
        opponent.is_repaired = True
        env.reset()
        play(env, 3)


def test_the_opponent_and_its_game_are_named() -> None:
    opponents = [first_allowed, FailsLater(0, with_first(ILLEGAL))]
    env = versus(vector_env(4, seed=1), opponents, seat=1)
    message = refused(IllegalActionError, ["opponent", "game 3, player_0", "not legal"], env.reset)
    assert "Legal now" in message
    env = versus(vector_env(4, seed=1), [first_allowed, FailsLater(0, with_first(-1))], seat=1)
    refused(ActionError, ["game 3, player_0", "-1", "must act"], env.reset)
    env = versus(
        vector_env(4, seed=1), [first_allowed, FailsLater(0, lambda actions: np.append(actions, 0))], seat=1
    )
    refused(ActionError, ["opponents[1] returned", "(2,)", "(1,)"], env.reset)


def test_an_opponent_that_steps_the_environment_is_told_not_to() -> None:
    def meddles(observations: Any, masks: Any) -> Any:
        env.step(masks.argmax(axis=1))

    env = versus(vector_env(2, seed=1), [meddles], seat=1)
    refused(ConcurrentCallError, ["step_async() was called", "callback"], env.reset)
    refused(ResetNeededError, ["opponents[0] failed"], env.action_masks)


def test_games_that_somebody_else_has_stepped() -> None:
    env = begun([first_allowed])
    while (env.games.agent_selection == env.seats).all():
        env.games.step(env.games.sample_actions())
    refused(ResetNeededError, ["by somebody else", "reset()"], env.action_masks)
    env.reset()
    play(env, 2)


# The learner's actions.


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        ([ILLEGAL] * 6, IllegalActionError),
        ([0, 0, 0, 0, 0, 99], ActionError),
        ([-1] * 6, ActionError),
        ([0.0] * 6, ActionError),
        ([0] * 5, ActionError),
    ],
    ids=shown,
)
def test_a_refused_action_changes_nothing_and_is_not_counted(actions: Any, error: type[ValueError]) -> None:
    env, same = begun([first_allowed]), begun([first_allowed])
    play(env, 3), play(same, 3)
    for _ in range(8):
        before = snapshot(env.games)
        legal = env.action_masks().argmax(axis=1)
        given = actions
        if error is ActionError and actions[-1] == 99:
            given = [*legal[:-1], 99]
        refused(error, [], env.step, given)
        assert snapshot(env.games) == before
    ended = 0
    for ours, theirs in zip(play(env, 150), play(same, 150), strict=True):
        for info, other in zip(ours[3], theirs[3], strict=True):
            assert info.get("episode", {}).get("l") == other.get("episode", {}).get("l")
            ended += "episode" in info
    assert ended > 0


# Threads and copies.


def test_a_second_thread_is_refused_while_an_opponent_thinks() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def thinks(observations: Any, masks: Any) -> Any:
        inside.set()
        assert go_on.wait(600)
        return masks.argmax(axis=1)

    env = versus(vector_env(2, seed=1), [thinks], seat=1)
    thread = threading.Thread(target=env.reset, daemon=True)
    thread.start()
    assert inside.wait(600)
    for name, use in {"reset": env.reset, "action_masks": env.action_masks}.items():
        refused(ConcurrentCallError, [f"{name}() was called"], use)
    go_on.set()
    thread.join(600)
    play(env, 2)


def test_a_copy_goes_on_as_the_original_does() -> None:
    env = begun([first_allowed])
    play(env, 5)
    copied = copy.deepcopy(env)
    for ours, theirs in zip(play(env, 30), play(copied, 30), strict=True):
        assert np.array_equal(ours[0], theirs[0])
        assert np.array_equal(ours[1], theirs[1])


# Constructors and the other methods.


ARGUMENTS: list[tuple[Callable[..., Any], type[ValueError], list[str]]] = [
    (lambda: versus(None, [first_allowed]), OptionError, ["games is", "vector_env"]),
    (lambda: alone("games"), OptionError, ["games is", "vector_env"]),
    (lambda: versus(vector_env(2), first_allowed), OptionError, ["opponents is", "list of functions"]),
    (lambda: versus(vector_env(2), []), OptionError, ["at least one opponent"]),
    (lambda: versus(vector_env(2), [first_allowed, 5]), OptionError, ["opponents[1]", "cannot be called"]),
    (
        lambda: versus(vector_env(2, autoreset_mode="disabled"), [first_allowed]),
        OptionError,
        ["SAME_STEP"],
    ),
    (lambda: alone(vector_env(2), sparring="greedy"), OptionError, ["sparring is", "list of functions"]),
    (lambda: alone(vector_env(2), sparring_share=0.5), OptionError, ["sparring"]),
    (
        lambda: alone(vector_env(2), sparring=[first_allowed], sparring_share=float("nan")),
        OptionError,
        ["sparring_share"],
    ),
    (lambda: alone(vector_env(2)).set_policy("greedy"), OptionError, ["policy is", "cannot be called"]),
    (lambda: versus(vector_env(2), [first_allowed], seat=2), OptionError, ["no seat 2", "0 to 1"]),
    (lambda: versus(vector_env(2), [first_allowed], seat="0"), OptionError, ["no seat '0'"]),
    (lambda: begun([first_allowed]).seed(-1), OptionError, ["seed is"]),
    (lambda: uniform_policy(1.5), OptionError, ["seed is"]),
    (
        lambda: begun([first_allowed]).env_method("action_masks", indices=6),
        OptionError,
        ["no game", "0 to 5"],
    ),
    (lambda: begun([first_allowed]).get_attr("seats", [0.5]), OptionError, ["no game"]),
    (lambda: begun([first_allowed]).step_wait(), ActionError, ["no actions", "step_async"]),
]


@each("call, error, words", ARGUMENTS)
def test_wrong_arguments(call: Callable[..., Any], error: type[ValueError], words: list[str]) -> None:
    refused(error, words, call)


def test_after_close() -> None:
    env = begun([first_allowed])
    actions = env.action_masks().argmax(axis=1)
    env.close()
    for use in (env.reset, env.action_masks, lambda: env.step(actions), env.render):
        refused(ClosedError, ["closed"], use)
