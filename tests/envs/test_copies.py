"""Copies go on alike and apart: states, clones, pickles; and threads, which change nothing."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.errors import StateError
from millebornes_env.games.millebornes.state import ROUND_OVER
from tests.envs.playing import TEAMS, choose, is_same_memory, look, rows, short_match, snapshot, started

tables = pytest.mark.parametrize("players", TEAMS)

Copy = Callable[[VectorEnv], VectorEnv]


def through_states(env: VectorEnv) -> VectorEnv:
    """Another environment of the same table, never reset, that was given the states only."""
    other = vector_env(
        env.num_envs,
        env.edition,
        players=env.players,
        episode=env.episode,
        autoreset_mode=env.metadata["autoreset_mode"],
    )
    other.set_states(env.get_states())
    return other


def unpickled(env: VectorEnv) -> VectorEnv:
    loaded = pickle.loads(pickle.dumps(env))
    assert isinstance(loaded, VectorEnv)
    return loaded


WHOLE_COPIES = [VectorEnv.clone, copy.deepcopy, unpickled]
COPIES = [*WHOLE_COPIES, through_states]

OPTIONS: list[dict[str, Any]] = [
    {"players": 2},
    {"players": 6, "autoreset_mode": "next_step"},
    {"players": 3, "episode": "match", "edition": short_match(600), "num_threads": 2},
]


def named(value: object) -> str:
    return " ".join(f"{name}={getattr(option, 'label', option)}" for name, option in dict(value).items())


def run(env: VectorEnv, steps: int) -> list[list[bytes]]:
    """The environment after each of so many steps."""
    after = []
    for _ in range(steps):
        env.step(choose(look(env)))
        after.append(snapshot(env))
    return after


@pytest.mark.parametrize("options", OPTIONS, ids=named)
@pytest.mark.parametrize("make_copy", COPIES)
def test_a_copy_goes_on_as_the_original_does(make_copy: Copy, options: dict[str, Any]) -> None:
    env = started(3, steps=40, **options)
    copied = make_copy(env)
    assert [rows(look(env), game) for game in range(3)] == [rows(look(copied), game) for game in range(3)]
    ended = 0
    for _ in range(300):
        actions = choose(look(env))
        ours, theirs = env.step(actions), copied.step(actions)
        ended += int(ours.terminations.sum())
        assert env.get_states().tobytes() == copied.get_states().tobytes()
        for mine, yours in zip(ours[1:4], theirs[1:4], strict=True):
            assert np.array_equal(mine, yours)
        for game in np.flatnonzero(ours.terminations):
            for name in ("final_obs", "final_score", "final_winner"):
                assert np.array_equal(ours.infos[name][game], theirs.infos[name][game])
        assert [rows(ours.observations, game) for game in range(3)] == [
            rows(theirs.observations, game) for game in range(3)
        ]
    assert ended > 2


@pytest.mark.parametrize("make_copy", COPIES)
def test_a_copy_and_its_original_do_not_touch_each_other(make_copy: Copy) -> None:
    env = started(3, steps=20)
    copied = make_copy(env)
    for active, idle in ((copied, env), (env, copied)):
        kept, before = snapshot(idle), snapshot(active)
        run(active, 60)
        assert snapshot(active) != before
        active.reset(seed=9)
        assert snapshot(idle) == kept


@pytest.mark.parametrize("make_copy", WHOLE_COPIES)
def test_a_whole_copy_returns_its_own_arrays(make_copy: Copy) -> None:
    env = started(3, steps=20)
    copied = make_copy(env)
    assert snapshot(copied) == snapshot(env)
    step = copied.step(choose(look(copied)))
    buffers = copied.games.buffers
    assert is_same_memory(step.observations["observation"], buffers.observation)
    assert is_same_memory(step.rewards, buffers.rewards)
    assert is_same_memory(step.infos["final_obs"], buffers.final_observation)
    assert step.infos["_final_obs"] is step.terminations
    assert is_same_memory(step.terminations, buffers.terminations)
    assert not any(
        np.shares_memory(ours, theirs) for ours, theirs in zip(env.games.buffers, buffers, strict=True)
    )


@pytest.mark.parametrize("make_copy", WHOLE_COPIES)
def test_a_whole_copy_samples_as_the_original_does(make_copy: Copy) -> None:
    env = started(16, steps=3)
    env.sample_actions()
    copied = make_copy(env)
    drawn = [env.sample_actions().tolist() for _ in range(3)]
    assert [copied.sample_actions().tolist() for _ in range(3)] == drawn


# States.


@tables
def test_states_take_a_game_back(players: int) -> None:
    env = started(3, players=players, steps=10)
    states = env.get_states()
    shown = [rows(look(env), game) for game in range(3)]
    first = run(env, 120)
    observations = env.set_states(states)
    assert [rows(observations, game) for game in range(3)] == shown
    assert not env.games.buffers.rewards.any()
    assert not env.games.buffers.terminations.any()
    states["deck"] = 0  # what was handed over is not looked at again
    second = run(env, 120)
    assert [after[0] for after in first] == [after[0] for after in second]


def test_many_continuations_of_one_position() -> None:
    """As search does: one game's state in every row."""
    env, search = started(1, steps=10), vector_env(16)
    legal = np.flatnonzero(look(env)["action_mask"][0])
    observations = search.set_states(np.repeat(env.get_states(), 16))
    assert np.array_equal(observations["observation"], np.repeat(look(env)["observation"], 16, axis=0))
    tried = np.resize(legal, 16)
    search.step(tried)
    after = search.get_states()
    for game, action in enumerate(tried):
        copied = env.clone()
        copied.step([action])
        assert after[game].tobytes() == copied.get_states()[0].tobytes()


@pytest.mark.parametrize(("ours", "theirs"), [(2, 6), (4, 6), (3, 4), (6, 2)])
def test_states_of_another_table_are_refused(ours: int, theirs: int) -> None:
    """They would be read as something else: this table does not have those seats, teams or cards."""
    env, other = started(2, players=ours, steps=5), started(2, players=theirs, steps=20)
    before = snapshot(env)
    with pytest.raises(StateError):
        env.set_states(other.get_states())
    assert snapshot(env) == before


# Threads.


@pytest.fixture
def few_games_are_worth_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share small batches among threads too, which would not be worth the time."""
    monkeypatch.setattr("millebornes_env.engine.batch.GAMES_WORTH_A_THREAD", 1)


def on_threads(num_envs: int, threads: int, **options: Any) -> VectorEnv:
    env = vector_env(num_envs, num_threads=threads, **options)
    assert env.games.num_threads == min(threads, num_envs) > 1
    return env


@pytest.mark.usefixtures("few_games_are_worth_a_thread")
@pytest.mark.parametrize(
    ("players", "mode"), [*((players, "same_step") for players in TEAMS), (2, "next_step"), (3, "disabled")]
)
def test_threads_change_no_result(players: int, mode: str) -> None:
    """A batch in the middle of its rounds, to the end of some."""
    alone = started(65, players=players)
    kept = [alone.get_states()]
    while not alone.step(choose(look(alone))).terminations.any():
        kept.append(alone.get_states())
    states = kept[-6]
    alone, shared = (
        make(65, players=players, autoreset_mode=mode)
        for make in (vector_env, partial(on_threads, threads=2))
    )
    alone.set_states(states)
    shared.set_states(states)
    ended = 0
    for _ in range(12):
        actions = choose(look(alone))
        actions[alone.games.states["phase"] == ROUND_OVER] = -1 if mode == "disabled" else 0
        ended += int(alone.step(actions).terminations.sum())
        shared.step(actions)
        assert snapshot(alone) == snapshot(shared)
    assert ended > 0


@pytest.mark.usefixtures("few_games_are_worth_a_thread")
@pytest.mark.parametrize("threads", [2, 3, 64])
def test_sampling_on_threads_changes_no_result(threads: int) -> None:
    alone, shared = started(7), on_threads(7, threads)
    shared.reset(seed=1)
    for _ in range(10):
        actions = alone.sample_actions()
        assert np.array_equal(shared.sample_actions(), actions)
        alone.step(actions)
        shared.step(actions)
        assert snapshot(alone) == snapshot(shared)


@pytest.mark.usefixtures("few_games_are_worth_a_thread")
@pytest.mark.parametrize("wrong", [[0], [6], [2, 5]])
def test_on_threads_an_illegal_action_stops_every_game_too(wrong: list[int]) -> None:
    env = on_threads(7, 2)
    env.reset(seed=1)
    run(env, 5)
    before = snapshot(env)
    actions = choose(look(env))
    actions[wrong] = 41
    with pytest.raises(ValueError, match=rf"^game {wrong[0]}, "):
        env.step(actions)
    assert snapshot(env) == before


@pytest.mark.usefixtures("few_games_are_worth_a_thread")
@pytest.mark.parametrize("make_copy", WHOLE_COPIES)
def test_the_copy_of_an_environment_on_threads_is_on_threads(make_copy: Copy) -> None:
    env = on_threads(5, 2)
    env.reset(seed=1)
    copied = make_copy(env)
    assert copied.games.num_threads == 2
    assert run(copied, 10) == run(env, 10)
    assert np.array_equal(copied.sample_actions(), env.sample_actions())
