"""The PettingZoo AEC environment: PettingZoo's own tests, and that it is one game of the vector engine."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from millebornes_env import millebornes_v0, vector_env
from millebornes_env.envs.aec import raw_env
from millebornes_env.errors import ActionError, CallError, IllegalActionError
from millebornes_env.games.millebornes.determinize import redeal_hidden_cards
from millebornes_env.games.millebornes.rules import rules_record
from tests.each import each
from tests.envs.playing import LIMIT, TEAMS, begun, choice, choose, look, short_match
from tests.pettingzoo_lists import enter

tables = pytest.mark.parametrize("players", TEAMS)
episodes = pytest.mark.parametrize("episode", ["round", "match"])

CLAIM = 38


def play(env: raw_env, steps: int) -> raw_env:
    for _ in range(steps):
        env.step(choice(env))
        assert not any(env.terminations.values())
    return env


def seat_of(agent: str) -> int:
    return int(agent.removeprefix("player_"))


def picture_of(env: raw_env) -> list[Any]:
    """All of the environment that a step can change."""
    return [
        env.vector.get_states().tobytes(),
        *(array.tobytes() for array in env.vector.games.buffers),
        *(dict(table) for table in (env.rewards, env._cumulative_rewards, env.terminations, env.infos)),
        list(env.agents),
        env.agent_selection,
    ]


# PettingZoo's own tests; every warning is an error (pyproject.toml).


@pytest.fixture
def known_to_pettingzoo(monkeypatch: pytest.MonkeyPatch) -> None:
    enter(monkeypatch, "millebornes_v0")


@pytest.mark.usefixtures("known_to_pettingzoo")
@pytest.mark.parametrize(("players", "episode"), [(2, "round"), (3, "match"), (4, "round"), (6, "match")])
def test_the_api(players: int, episode: str) -> None:
    env = millebornes_v0.env(players=players, episode=episode)
    api_test(env, num_cycles=120)


@pytest.mark.parametrize(("players", "episode"), [(2, "round"), (6, "match")])
def test_seeds(players: int, episode: str) -> None:
    cycles = 60
    seed_test(lambda: millebornes_v0.env(players=players, episode=episode), num_cycles=cycles)


def test_rendering() -> None:
    render_test(lambda render_mode: begun(render_mode=render_mode))


def test_pettingzoo_finds_it_by_its_name() -> None:
    env = pettingzoo.make("aec", "millebornes/millebornes-v0", players=3)
    assert isinstance(env.unwrapped, raw_env)
    env.reset(seed=1)
    assert env.agents == env.possible_agents == ["player_0", "player_1", "player_2"]
    assert str(env.unwrapped) == "millebornes_v0"


# One game of the vector engine.


def both(players: int, **options: Any) -> Iterator[tuple[raw_env, list[float], bool]]:
    """Play an episode in the AEC environment and in the vector engine; compare, and yield after each step."""
    env = millebornes_v0.env(players=players, **options)
    vector = vector_env(1, players=players, autoreset_mode="disabled", **options)
    env.reset(seed=5)
    vector.reset(seed=5)
    rewards, over = [0.0] * players, False
    for _ in range(LIMIT):
        seen = env.observe(env.agent_selection)
        assert seat_of(env.agent_selection) == vector.agent_selection[0]
        assert np.array_equal(seen["observation"], look(vector)["observation"][0])
        assert np.array_equal(seen["action_mask"], look(vector)["action_mask"][0])
        assert np.array_equal(env.state(), vector.state()[0])
        assert [env.rewards[agent] for agent in env.possible_agents] == rewards
        assert set(env.terminations.values()) == {over}
        assert not any(env.truncations.values())
        yield env, rewards, over
        if over:
            return
        action = choose(look(vector))
        env.step(int(action[0]))
        step = vector.step(action)
        rewards, over = step.rewards[0].tolist(), bool(step.terminations[0])
    raise AssertionError("the episode does not end")


@pytest.mark.parametrize(("players", "reward"), [(2, "points"), (3, "win"), (4, "win"), (6, "points")])
def test_a_round_is_that_of_the_vector_engine(players: int, reward: str) -> None:
    for step in both(players, reward=reward):
        env, rewards, over = step
        assert any(rewards) <= over
    infos = [env.infos[agent] for agent in env.possible_agents]
    assert len(infos) == players
    assert infos[0]["final_score"] == env.vector.games.buffers.final_score[0].tolist()
    assert infos[0]["final_winner"] == env.vector.games.buffers.final_winner[0]
    assert all(info == infos[0] for info in infos)


@tables
def test_a_match_is_that_of_the_vector_engine(players: int) -> None:
    paid = 0
    for step in both(players, episode="match", edition=short_match()):
        env, rewards, over = step
        paid += any(rewards) and not over
    assert paid > 0
    assert max(env.infos["player_0"]["final_score"]) >= 2500


# Rewards.


@pytest.mark.parametrize(("players", "episode"), [(2, "match"), (3, "match"), (6, "round")])
def test_each_agent_is_told_at_its_next_turn_what_it_got_since_its_last(players: int, episode: str) -> None:
    """`last()` sums up the rewards that the engine gave since the agent's own last action."""
    owed = dict.fromkeys(range(players), 0.0)
    told_on_the_way = 0
    for env, rewards, over in both(players, episode=episode, edition=short_match()):
        for seat, reward in enumerate(rewards):
            owed[seat] += reward
        agent = env.agent_selection
        assert env.last()[1] == pytest.approx(owed[seat_of(agent)])
        if not over:
            told_on_the_way += env.last()[1] != 0
            owed[seat_of(agent)] = 0.0  # it acts now, so it has been told
    told = set()
    while env.agents:
        agent = env.agent_selection
        observation, reward, terminated, truncated, info = env.last()
        assert (terminated, truncated) == (True, False)
        assert observation is not None
        assert not observation["action_mask"].any()
        assert reward == pytest.approx(owed[seat_of(agent)])
        assert set(info) == {"final_score", "final_winner"}
        told.add(agent)
        env.step(None)
        assert agent not in env.agents
        assert not any(env.rewards.values())
    assert told == set(env.possible_agents)
    assert any(owed.values())
    assert (told_on_the_way > 0) == (episode == "match")


def test_the_last_steps_take_no_action() -> None:
    *_, (env, _, over) = both(3)
    assert over
    agents = list(env.agents)
    with pytest.raises(ValueError, match="None"):
        env.step(0)
    assert env.agents == agents
    for _ in agents:
        env.step(None)
    with pytest.raises(CallError, match=r"over for all agents.*reset\(\)"):
        env.step(None)
    env.reset(seed=1)
    assert env.agents == env.possible_agents
    assert not any(env.terminations.values())
    assert all(info == {"final_score": [0] * 3, "final_winner": -1} for info in env.infos.values())


def test_a_reset_without_a_seed_goes_on_and_with_it_repeats() -> None:
    env = begun(seed=1)
    first = env.state()
    env.reset()
    second = env.state()
    assert not np.array_equal(first, second)
    env.reset(seed=1)
    assert np.array_equal(env.state(), first)
    env.reset()
    assert np.array_equal(env.state(), second)


@pytest.mark.parametrize("make_copy", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_as_the_original_does_and_apart_from_it(
    make_copy: Callable[[raw_env], raw_env],
) -> None:
    env = play(begun(players=3), 15)
    copied = make_copy(env)
    assert picture_of(copied) == picture_of(env)
    kept = picture_of(env)
    after = []
    for one in (copied, env):
        while not any(one.terminations.values()):
            one.step(choice(one))
        after.append(picture_of(one))
        if one is copied:
            assert picture_of(env) == kept
    assert after[0] == after[1]


# What goes wrong.


REFUSED_ACTIONS: list[tuple[type[Exception], Any, str]] = [
    (IllegalActionError, CLAIM, r"player_\d.*claim the coup fourré.*Legal now: "),
    (ActionError, 42, r"player_\d.*no action 42.*0 to 41"),
    (ActionError, 10**30, r"player_\d.*no action 1000000.*0 to 41"),
    (ActionError, None, r"player_\d.*None.*whole number"),
    (ActionError, 1.0, r"player_\d.*1\.0.*whole number"),
    (ActionError, np.array([True]), r"player_\d.*whole number"),
    (ActionError, np.array([19, 20]), r"player_\d.*whole number"),
]


def test_an_action_that_cannot_be_leaves_the_game_as_it_is() -> None:
    env = play(begun(), 9)
    before = picture_of(env)
    for error, action, words in REFUSED_ACTIONS:
        with pytest.raises(error, match=words):
            env.step(action)
        assert picture_of(env) == before
    play(env, 3)


@each("action", [CLAIM, 42, -1])
def test_an_illegal_action_can_end_the_episode_at_the_offenders_expense(action: int) -> None:
    env = play(begun(players=3, illegal_action="terminate"), 9)
    offender = env.agent_selection
    env.step(action)
    assert all(env.terminations.values())
    assert env.rewards == {agent: -1.0 if agent == offender else 0.0 for agent in env.agents}
    told = {}
    while env.agents:
        told[env.agent_selection] = env.last()[1]
        env.step(None)
    assert told == {agent: -1.0 if agent == offender else 0.0 for agent in env.possible_agents}


def test_before_the_first_reset_nobody_is_to_act() -> None:
    """PettingZoo's wrapper for the order of calls, which is not needed here, says so too."""
    env = millebornes_v0.env()
    with pytest.raises((CallError, AttributeError), match="reset"):
        env.last()
    with pytest.raises((CallError, AttributeError), match="reset"):
        _ = env.agent_selection


# What the others see.


@tables
def test_who_does_not_act_sees_its_own_cards_and_may_do_nothing(players: int) -> None:
    env = play(begun(players=players), 15)
    hands = env.vector.get_states()["hand"][0]
    for agent in env.possible_agents:
        seen = env.observe(agent)
        assert np.array_equal(seen["observation"][:19], hands[seat_of(agent)])
        assert seen["action_mask"].any() == (agent == env.agent_selection)
        assert seen["action_mask"].dtype == np.int8


@tables
def test_nobody_sees_the_cards_of_the_others(players: int) -> None:
    """Dealing those cards anew changes the full state, and not what the agent sees."""
    env = play(begun(players=players), 15)
    states = env.vector.get_states()
    before = env.state()
    for agent in env.possible_agents:
        seen = env.observe(agent)["observation"]
        redealt = states.copy()
        table = rules_record(env.vector.rules)
        redeal_hidden_cards(redealt[0], table, seat_of(agent), 1, 2, np.zeros(106, np.int8))
        assert not np.array_equal(redealt["hand"], states["hand"])
        env.vector.set_states(redealt)
        assert np.array_equal(env.observe(agent)["observation"], seen)
        assert not np.array_equal(env.state(), before)
        env.vector.set_states(states)
