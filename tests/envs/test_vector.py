"""`vector_env`: shapes, spaces, the contract of `reset` and `step`, and what else can be looked at."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.engine.batch import Buffers, new_buffers
from millebornes_env.games.millebornes import rulebook
from tests.envs.playing import TEAMS, choose, is_same_memory, look, snapshot, started

NUM_ACTIONS = {2: 42, 3: 47, 4: 42, 6: 47}
NUMBERS_SEEN = {2: 100, 3: 126, 4: 104, 6: 132}
"""In an observation without the counts of unseen cards, of which there are 19."""

tables = pytest.mark.parametrize("players", TEAMS)


def section(env: VectorEnv, name: str) -> slice:
    result = [part for part in env.state_sections if part.name == name]
    assert len(result) == 1
    return slice(result[0].start, result[0].stop)


@pytest.mark.parametrize(
    ("players", "observe_unseen"), [(2, True), (2, False), (3, True), (4, False), (6, True)]
)
def test_shapes_and_dtypes(players: int, observe_unseen: bool) -> None:
    env = vector_env(5, players=players, observe_unseen=observe_unseen)
    numbers, actions, teams = (
        NUMBERS_SEEN[players] + 19 * observe_unseen,
        NUM_ACTIONS[players],
        TEAMS[players],
    )
    wanted = {
        "observation": ((5, numbers), np.int8),
        "action_mask": ((5, actions), np.int8),
        "agent_selection": ((5,), np.int32),
    }
    observations, _ = env.reset(seed=1)
    assert {name: (array.shape, array.dtype) for name, array in observations.items()} == wanted
    step = env.step(env.sample_actions())
    assert {name: (array.shape, array.dtype) for name, array in step.observations.items()} == wanted
    assert (step.rewards.shape, step.rewards.dtype) == ((5, players), np.float32)
    assert (step.terminations.shape, step.terminations.dtype) == ((5,), np.bool_)
    assert (step.truncations.shape, step.truncations.dtype) == ((5,), np.bool_)
    assert {name: (array.shape, array.dtype) for name, array in step.infos.items()} == {
        "final_score": ((5, teams), np.int16),
        "_final_score": ((5,), np.bool_),
        "final_winner": ((5,), np.int8),
        "_final_winner": ((5,), np.bool_),
        "final_obs": ((5, players, numbers), np.int8),
        "_final_obs": ((5,), np.bool_),
    }
    assert env.observation_sections[-1].stop == numbers
    assert (env.num_envs, env.players, env.teams) == (5, players, teams)
    assert env.possible_agents == [f"player_{seat}" for seat in range(players)]


@pytest.mark.parametrize(
    ("players", "mode", "episode"),
    [
        (2, "same_step", "round"),
        (3, "next_step", "round"),
        (4, "disabled", "round"),
        (6, "same_step", "match"),
    ],
)
def test_whatever_is_shown_lies_in_the_spaces(players: int, mode: str, episode: str) -> None:
    env = started(6, players=players, autoreset_mode=mode, episode=episode)
    single, batch = env.single_observation_space, env.observation_space
    step = env.step(choose(look(env)))
    ended = 0
    for _ in range(350):
        assert step.observations in batch
        for game in range(env.num_envs):
            row = {name: array[game] for name, array in step.observations.items()}
            assert row in single
        for game in np.flatnonzero(step.terminations):
            ended += 1
            for seen in step.infos["final_obs"][game]:
                assert seen in single["observation"]
        actions = choose(step.observations)
        assert actions in env.action_space
        if mode == "disabled":
            actions[env.games.states["phase"] == 3] = -1
        step = env.step(actions)
    if episode == "round":
        assert ended >= 6


def test_the_best_scores_that_can_be_lie_in_the_space_too() -> None:
    env = started(1, players=6, episode="match")
    states = env.get_states()
    states["score"][:, : env.teams] = 12_000
    assert env.set_states(states) in env.observation_space


def test_a_step_moves_on_every_game_but_those_with_the_action_minus_1() -> None:
    env = started(4, steps=5)
    before = env.get_states()
    actions = choose(look(env))
    actions[[1, 3]] = -1
    env.step(actions)
    after = env.get_states()
    changed = [before[game].tobytes() != after[game].tobytes() for game in range(4)]
    assert changed == [True, False, True, False]


def test_actions_may_be_a_list_or_any_kind_of_whole_numbers() -> None:
    env = started(4, steps=5)
    given = choose(look(env))
    wider = np.repeat(given, 2)
    results = []
    for actions in (
        given.tolist(),
        tuple(given.tolist()),
        given.astype(np.int8),
        given.astype(np.uint64),
        wider[::2],
    ):
        copy = env.clone()
        copy.step(actions)
        results.append(snapshot(copy))
    env.step(given)
    assert all(result == snapshot(env) for result in results)


def test_the_same_arrays_are_returned_by_every_call() -> None:
    env = vector_env(4)
    observations, infos = env.reset(seed=1)
    arrays = [*observations.values(), *infos.values()]
    first = env.step(env.sample_actions())
    assert first.observations is observations
    assert first.infos is infos
    for _ in range(3):
        step = env.step(env.sample_actions())
        assert all(now is then for now, then in zip(step, first, strict=True))
        again, same = env.reset()
        now = [*again.values(), *same.values()]
        assert all(one is other for one, other in zip(now, arrays, strict=True))


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_steps_leave_nothing_behind_in_memory(mode: str) -> None:
    env = started(16, autoreset_mode=mode)
    actions = np.zeros(16, np.int64)

    def run(steps: int) -> None:
        for _ in range(steps):
            env.sample_actions(out=actions)
            env.step(actions)

    run(50)
    tracemalloc.start()
    try:
        run(50)
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        run(1_000)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 2_000  # an object left behind by every step would be 16,000
    assert peak - before < 5_000  # one observation batch alone has 1,872 bytes, one set of final_obs 3,744


def test_the_spaces_of_all_games_take_no_memory_until_they_are_asked_for() -> None:
    env = vector_env(4096, seed=1)
    assert "observation_space" not in vars(env.clone())
    assert env.observation_space["observation"].shape == env.reset()[0]["observation"].shape
    assert env.observation_space is env.observation_space
    assert env.clone().observation_space == env.observation_space
    assert env.clone().observation_space is not env.observation_space


# Buffers of the caller.


def buffers_for(env: VectorEnv) -> Buffers:
    return new_buffers(rulebook, env.num_envs, env.rules, env.settings)


@tables
def test_steps_write_into_the_buffers_of_the_caller(players: int) -> None:
    usual = started(3, players=players)
    buffers = buffers_for(usual)
    env = vector_env(3, players=players, buffers=buffers)
    observations, infos = env.reset(seed=1)
    assert is_same_memory(observations["observation"], buffers.observation)
    assert is_same_memory(observations["action_mask"], buffers.action_mask)
    assert is_same_memory(observations["agent_selection"], buffers.agent_selection)
    assert is_same_memory(infos["final_obs"], buffers.final_observation)
    assert is_same_memory(infos["final_score"], buffers.final_score)
    assert is_same_memory(infos["final_winner"], buffers.final_winner)
    ended = 0
    for _ in range(250):
        actions = choose(look(usual))
        step = env.step(actions)
        usual.step(actions)
        assert is_same_memory(step.rewards, buffers.rewards)
        assert is_same_memory(step.terminations, buffers.terminations)
        assert is_same_memory(step.truncations, buffers.truncations)
        assert [array.tobytes() for array in buffers] == [array.tobytes() for array in usual.games.buffers]
        ended += int(buffers.terminations.sum())
    assert ended > 0


# What else can be looked at.


@tables
def test_the_full_state_holds_the_hidden_hands_and_the_cards_to_come(players: int) -> None:
    env = started(4, players=players, steps=30)
    states, everything = env.get_states(), env.state()
    assert everything.dtype == np.int8
    assert everything.shape == (4, env.state_sections[-1].stop)
    numbers = NUMBERS_SEEN[players] + 19
    assert np.array_equal(everything[:, :numbers], look(env)["observation"])
    for game in range(4):
        first = int(states["seat"][game])
        others = [states["hand"][game, (first + place) % players] for place in range(1, players)]
        assert np.concatenate(others).any()
        assert np.array_equal(everything[game, section(env, "other_hands")], np.concatenate(others))
        to_come = everything[game, section(env, "streams")]
        assert np.count_nonzero(to_come) == states["draw_pile"][game] > 0
        for card in range(19):
            hidden = sum(int(hand[card]) for hand in others) + int((to_come == card + 1).sum())
            assert hidden == everything[game, section(env, "unseen")][card]


@tables
def test_a_seat_that_does_not_decide_can_look_as_well(players: int) -> None:
    env = started(4, players=players, steps=25)
    states, before = env.get_states(), snapshot(env)
    for seat in range(players):
        seen = env.observe(seat)
        assert seen.dtype == np.int8
        assert np.array_equal(seen[:, section(env, "hand")], states["hand"][:, seat])
        acting = (env.agent_selection - seat) % players
        assert np.array_equal(seen[:, section(env, "to_act")].argmax(axis=1), acting)
    mixed = env.observe([0, 1, 0, 1])
    assert np.array_equal(mixed[::2], env.observe(0)[::2])
    assert np.array_equal(mixed[1::2], env.observe(1)[1::2])
    assert snapshot(env) == before


def test_sampled_actions_are_a_function_of_the_seed_and_the_call() -> None:
    def calls(env: VectorEnv) -> list[list[int]]:
        return [env.sample_actions().tolist() for _ in range(3)]

    env, same, other = started(64, seed=3), started(64, seed=3), started(64, seed=4)
    drawn = calls(env)
    assert drawn == calls(same)
    assert drawn != calls(other)
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]
    env.reset(seed=3)
    assert calls(env) == drawn
