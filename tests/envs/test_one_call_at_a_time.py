"""One environment serves one thread at a time: a second call is refused at once, and nothing is lost."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv
from millebornes_env.envs.aec import raw_env
from millebornes_env.errors import CallError
from tests.each import each
from tests.envs.playing import begun, choice, choose, look, refused, snapshot, started

LONG = 600.0
"""Seconds after which a thread that never returns fails a test instead of keeping everybody waiting."""


@contextmanager
def under_way(env: VectorEnv, call: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another thread is in the middle of a step of the environment, which ends with the block."""
    inside, go_on, errors = threading.Event(), threading.Event(), []
    games_step = env.games.step

    def slow_step(actions: Any) -> int:
        inside.set()
        assert go_on.wait(LONG)
        return games_step(actions)

    def run() -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)

    monkeypatch.setattr(env.games, "step", slow_step)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert inside.wait(LONG)
    try:
        yield
    finally:
        go_on.set()
        thread.join(LONG)
        monkeypatch.undo()
    assert not errors
    assert not thread.is_alive()


CALLS: dict[str, Callable[[VectorEnv], Any]] = {
    "step": lambda env: env.step(np.zeros(3, np.int64)),
    "reset": lambda env: env.reset(seed=1),
    "sample_actions": VectorEnv.sample_actions,
    "observe": lambda env: env.observe(0),
    "determinize": lambda env: env.determinize(0),
    "state": VectorEnv.state,
    "get_states": VectorEnv.get_states,
    "set_states": lambda env: env.set_states(env.games.states.copy()),
    "clone": VectorEnv.clone,
    "__deepcopy__": copy.deepcopy,
    "__getstate__": pickle.dumps,
    "render": VectorEnv.render,
    "rules_of": VectorEnv.rules_of,
    "describe": lambda env: env.describe(0),
    "legal_actions": VectorEnv.legal_actions,
}


@each("name", CALLS)
def test_a_call_in_the_middle_of_a_step_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    env, same = started(3, steps=4), started(3, steps=4)
    actions = choose(look(env))
    with under_way(env, lambda: env.step(actions), monkeypatch):
        refused(CallError, [f"{name}() was called", "another", "of its own"], lambda: CALLS[name](env))
    same.step(actions)
    assert snapshot(env) == snapshot(same), "the step that was under way is whole"
    env.step(choose(look(env)))


def test_every_public_method_that_looks_at_the_games_is_in_that_list() -> None:
    methods = {name for name, value in vars(VectorEnv).items() if callable(value) and name[0] != "_"}
    assert methods - set(CALLS) == {"close", "rules_by_game", "rules_of_sheet", "sheet"}


def test_an_error_gives_the_environment_back() -> None:
    env = started(2, steps=3)
    with pytest.raises(ValueError, match="shape"):
        env.step([1])
    done = threading.Event()

    def elsewhere() -> None:
        env.step(choose(look(env)))
        done.set()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(LONG)
    assert done.is_set()


@pytest.mark.parametrize(
    "make_copy", [VectorEnv.clone, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]
)
def test_a_copy_is_free_while_the_original_is_busy(
    make_copy: Callable[[VectorEnv], VectorEnv], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = started(3, steps=4)
    copied = make_copy(env)
    actions = choose(look(env))
    with under_way(env, lambda: env.step(actions), monkeypatch):
        copied.step(actions)
    assert snapshot(copied) == snapshot(env)


AEC_CALLS: dict[str, Callable[[raw_env], Any]] = {
    "step": lambda env: env.step(19),
    "reset": raw_env.reset,
    "last": raw_env.last,
    "observe": lambda env: env.observe("player_0"),
    "state": raw_env.state,
    "render": raw_env.render,
    "describe": lambda env: env.describe("player_0"),
}


@each("name", AEC_CALLS)
def test_a_call_in_the_middle_of_a_step_of_the_aec_environment(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    env, same = (begun(render_mode="ansi") for _ in range(2))
    action = choice(env)
    with under_way(env.vector, lambda: env.step(action), monkeypatch):
        refused(CallError, [f"{name}() was called"], lambda: AEC_CALLS[name](env))
    same.step(action)
    assert np.array_equal(env.state(), same.state())
    assert env.last()[1:] == same.last()[1:]
