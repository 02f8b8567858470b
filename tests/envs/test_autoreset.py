"""The end of an episode: SAME_STEP, NEXT_STEP, DISABLED and `reset_mask`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.envs.vector import Step
from millebornes_env.errors import CallError
from tests.each import each
from tests.envs.playing import (
    LIMIT,
    MODES,
    TEAMS,
    Episode,
    choose,
    episodes,
    look,
    rows,
    short_match,
    snapshot,
    started,
)

tables = pytest.mark.parametrize("players", TEAMS)


def play_to_an_end(env: VectorEnv) -> tuple[Step, int]:
    """Step until a game ends and another one does not; the step that did it, and which game."""
    for _ in range(LIMIT):
        step = env.step(choose(look(env)))
        if step.terminations.any():
            assert not step.terminations.all()
            return step, int(step.terminations.argmax())
    raise AssertionError("no game ends")


@pytest.mark.parametrize(
    ("players", "options"),
    [
        *((players, {}) for players in TEAMS),
        *((players, {"episode": "match", "edition": short_match(600)}) for players in TEAMS),
    ],
)
def test_the_episodes_are_the_same_in_all_modes(players: int, options: dict[str, Any]) -> None:
    played = [
        episodes(vector_env(3, players=players, autoreset_mode=mode, **options), 3, seed=players)
        for mode in MODES
    ]
    assert played[0] == played[1] == played[2]
    for game in played[0]:
        assert all(episode.decisions and episode.final_score for episode in game)
        deals = {episode.decisions[0][0] for episode in game}
        assert len(deals) == 3, "each episode has a deal of its own"


def test_the_games_of_a_batch_and_batches_of_other_sizes_do_not_depend_on_each_other() -> None:
    many = episodes(vector_env(7), 2)
    few = episodes(vector_env(2), 2)
    assert many[:2] == few
    assert many[0] != many[1]


@pytest.mark.parametrize("mode", MODES)
@tables
def test_the_finals_are_what_the_ended_game_shows(players: int, mode: str) -> None:
    env = started(5, players=players, autoreset_mode=mode)
    twin = started(5, players=players, autoreset_mode="disabled")  # its ended games can be looked at
    for _ in range(LIMIT):
        actions = choose(look(env))
        step = env.step(actions)
        twin.step(actions)
        if step.terminations.any():
            break
    infos = step.infos
    for name in ("final_obs", "final_score", "final_winner"):
        assert np.array_equal(infos["_" + name], step.terminations)
    for game in np.flatnonzero(step.terminations):
        ended = twin.games.states[game]
        for seat in range(players):
            assert np.array_equal(infos["final_obs"][game, seat], twin.observe(seat)[game])
        points = ended["score_sheet"][: TEAMS[players]].sum(axis=1)
        assert np.array_equal(infos["final_score"][game], points)
        best = np.flatnonzero(points == points.max())
        assert infos["final_winner"][game] == (best[0] if len(best) == 1 else -1)


def first_row_of_the_next_episode(game: int, ended: npt.NDArray[np.bool_]) -> tuple[bytes, bytes, int]:
    fresh = started(3)
    fresh.reset(options={"reset_mask": ended.copy()})
    return rows(look(fresh), game)


# SAME_STEP


def test_same_step_returns_the_first_decision_of_the_next_episode() -> None:
    env = started(3)
    step, game = play_to_an_end(env)
    assert rows(step.observations, game) == first_row_of_the_next_episode(game, step.terminations)
    assert step.rewards[game].any()
    assert env.games.states["episode"][game] == 1
    assert not np.array_equal(step.infos["final_obs"][game, 0], env.observe(0)[game])
    following = env.step(choose(step.observations))
    assert not following.terminations[game]
    assert not following.rewards[game].any()


# NEXT_STEP


def test_next_step_shows_the_end_and_offers_every_action() -> None:
    env = started(3, autoreset_mode="next_step")
    step, game = play_to_an_end(env)
    assert (step.observations["action_mask"][game] == 1).all()
    seat = env.agent_selection[game]
    assert np.array_equal(step.observations["observation"][game], step.infos["final_obs"][game, seat])
    others = np.flatnonzero(~step.terminations)
    assert not step.observations["action_mask"][others].all(axis=1).any()


@each("unused", [0, 99, -2, 10**9])
def test_next_step_begins_the_next_episode_whatever_the_action(unused: int) -> None:
    env = started(3, autoreset_mode="next_step")
    step, game = play_to_an_end(env)
    ended = step.terminations.copy()
    actions = choose(step.observations)
    actions[game] = unused
    step = env.step(actions)
    assert rows(step.observations, game) == first_row_of_the_next_episode(game, ended)
    assert not step.rewards[game].any()
    assert not step.terminations[game]
    assert not step.infos["_final_obs"][game]
    assert env.games.states["episode"][game] == 1


# DISABLED


def test_disabled_leaves_the_ended_game_as_it_is() -> None:
    env = started(3, autoreset_mode="disabled")
    step, game = play_to_an_end(env)
    assert not step.observations["action_mask"][game].any()
    seat = env.agent_selection[game]
    assert np.array_equal(step.observations["observation"][game], step.infos["final_obs"][game, seat])
    assert step.rewards[game].any()
    kept = env.get_states()[game].tobytes()
    for _ in range(3):
        actions = choose(look(env))
        actions[game] = -1
        step = env.step(actions)
        assert not step.rewards[game].any()
        assert not step.terminations[game]
        assert env.get_states()[game].tobytes() == kept


@pytest.mark.parametrize("illegal_action", ["error", "terminate"])
def test_disabled_refuses_a_step_of_an_ended_game(illegal_action: str) -> None:
    """Also where illegal actions end a game: a game that has ended is not begun anew by one."""
    env = started(3, autoreset_mode="disabled", illegal_action=illegal_action)
    step, game = play_to_an_end(env)
    actions = choose(step.observations)
    before = snapshot(env)
    with pytest.raises(CallError, match=rf"game {game} .*reset_mask.*-1"):
        env.step(actions)
    assert snapshot(env) == before


def test_disabled_games_are_restarted_where_the_mask_says() -> None:
    env = started(4, autoreset_mode="disabled")
    step, game = play_to_an_end(env)
    ended = step.terminations.copy()
    finals = {name: step.infos[name].copy() for name in ("final_obs", "final_score", "final_winner")}
    before, shown = env.get_states(), [rows(look(env), other) for other in range(4)]
    observations, infos = env.reset(options={"reset_mask": ended})
    after = env.get_states()
    for other in range(4):
        if ended[other]:
            assert after["episode"][other] == 1
            assert observations["action_mask"][other].any()
        else:
            assert after[other].tobytes() == before[other].tobytes()
            assert rows(observations, other) == shown[other]
    assert not env.games.buffers.terminations.any()
    assert not env.games.buffers.rewards.any()
    for name, kept in finals.items():
        assert np.array_equal(infos[name], kept)
    env.step(choose(observations))
    assert env.games.states["episode"][game] == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_mask_restarts_games_in_the_middle_too(mode: str) -> None:
    env = started(4, steps=15, autoreset_mode=mode)
    before = env.get_states()
    env.reset(options={"reset_mask": np.array([False, True, False, False])})
    after = env.get_states()
    assert after["episode"].tolist() == [0, 1, 0, 0]
    for game in (0, 2, 3):
        assert after[game].tobytes() == before[game].tobytes()
    env.reset(options={"reset_mask": np.zeros(4, np.bool_)})
    assert env.get_states().tobytes() == after.tobytes()


# `reset`


def test_the_same_seed_begins_the_same_episodes() -> None:
    env = vector_env(3)
    first = episodes(env, 2, seed=11)
    assert episodes(env, 2, seed=11) == first
    assert episodes(vector_env(3, seed=5), 2, seed=11) == first
    assert episodes(env, 2, seed=12) != first


def test_the_seed_of_the_constructor_is_that_of_the_first_reset() -> None:
    env, same = vector_env(3, seed=5), vector_env(3)
    env.reset()
    same.reset(seed=5)
    assert snapshot(env) == snapshot(same)


@pytest.mark.parametrize("mode", MODES)
def test_a_reset_without_a_seed_goes_on_to_the_next_episodes(mode: str) -> None:
    played: list[list[Episode]] = episodes(vector_env(3), 3, seed=1)
    env = vector_env(3, autoreset_mode=mode)
    env.reset(seed=1)
    for episode in range(3):
        for game in range(3):
            assert rows(look(env), game) == played[game][episode].decisions[0][0]
        env.step(choose(look(env)))
        observations, infos = env.reset()
        assert not infos["_final_obs"].any()
        assert observations["action_mask"].any(axis=1).all()
