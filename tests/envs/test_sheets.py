"""Games that draw a rule sheet for each episode: splits, lists of sheets and functions."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, edition, vector_env
from millebornes_env.engine.kernels import Buffers
from millebornes_env.envs.aec import raw_env
from millebornes_env.envs.single_agent.vector import SingleAgentVectorEnv
from millebornes_env.errors import AgentError, EditionError, OptionError
from millebornes_env.games.millebornes.rules import rules_array

TRAIN = "variants-v1:train"
INSIDE = "variants-v1:test/inside"


def mixed(num_envs: int = 8, sheets: Any = TRAIN, **options: Any) -> VectorEnv:
    env = vector_env(num_envs, sheets, **{"seed": 5, **options})
    env.reset()
    return env


def sheets(env: VectorEnv) -> list[int]:
    numbers: list[int] = env.games.game_rules.sheet.tolist()
    return numbers


def test_each_episode_draws_a_sheet_by_the_key_of_its_game() -> None:
    few, many = mixed(8), mixed(600, num_threads=2)
    seen: list[set[int]] = [set() for _ in range(8)]
    for _ in range(400):
        assert sheets(few) == sheets(many)[:8]
        for game, number in enumerate(sheets(few)):
            seen[game].add(number)
        few.step(few.sample_actions())
        many.step(np.concatenate([few.games._actions, many.sample_actions()[8:]]))
    assert all(len(numbers) > 2 for numbers in seen)
    assert sheets(mixed(8, seed=6)) != sheets(mixed(8))


@pytest.mark.parametrize("options", [{}, {"players": 4}, {"players": 4, "teams": 4}, {"episode": "match"}])
def test_a_game_is_played_by_its_sheet_as_if_it_were_alone(options: dict[str, Any]) -> None:
    env = mixed(6, **options)
    alone: dict[tuple[int, int], VectorEnv] = {}
    for _ in range(250):
        before, numbers, actions = env.get_states(), sheets(env), env.sample_actions()
        step = env.step(actions)
        for game, number in enumerate(numbers):
            one = alone.get((game, number))
            if one is None:
                one = vector_env(
                    1, f"{TRAIN}/{number}", observe_rules=True, autoreset_mode="disabled", **options
                )
                alone[game, number] = one
            one.set_states(before[game : game + 1])
            own = one.step(actions[game : game + 1])
            assert (own.rewards[0] == step.rewards[game]).all()
            assert own.terminations[0] == step.terminations[game]
            if own.terminations[0]:
                assert (own.infos["final_obs"][0] == step.infos["final_obs"][game]).all()
                assert step.infos["final_sheet"][game] == number
            else:
                assert one.get_states()[0] == env.get_states()[game]
                for name in ("observation", "action_mask", "agent_selection"):
                    assert (own.observations[name][0] == step.observations[name][game]).all()
    assert len(alone) > 6


def test_observations_show_the_rules_of_the_game() -> None:
    env = mixed(20)
    shown = env.observe(0)[:, env.section("rules")]
    for game in range(20):
        rules = env.rules_of(game)
        assert shown[game].tolist() == list(rules.observed)
        assert env.games.game_rules.records[game].tobytes() == rules_array(rules)[0].tobytes()
        assert rules == edition(f"{TRAIN}/{sheets(env)[game]}").table(2)


def test_infos_name_the_sheets() -> None:
    env = mixed(4, INSIDE)
    before = sheets(env)
    while True:
        step = env.step(env.sample_actions())
        ended = step.terminations.copy()
        assert step.infos["_sheet"].all()
        assert step.infos["sheet"].tolist() == sheets(env)
        assert env.sheet(sheets(env)[0]).name == f"{INSIDE}/{sheets(env)[0]}"
        assert (step.infos["_final_sheet"] == ended).all()
        if ended.any():
            break
    assert step.infos["final_sheet"][ended].tolist() == np.array(before)[ended].tolist()
    assert "sheet" not in vector_env(2, "parker").reset()[1]


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_copies_and_restored_states_keep_the_sheets(mode: str) -> None:
    env = mixed(6, autoreset_mode=mode)
    for _ in range(30):
        env.step(env.sample_actions())
    restored = vector_env(6, TRAIN, seed=99, autoreset_mode=mode)
    restored.reset()
    restored.set_states(env.get_states())
    copies = [restored, env.clone(), pickle.loads(pickle.dumps(env))]
    for _ in range(150):
        actions = env.sample_actions()
        step = env.step(actions)
        for copied in copies:
            other = copied.step(actions)
            assert sheets(copied) == sheets(env)
            assert (other.observations["observation"] == step.observations["observation"]).all()
        if mode == "disabled" and step.terminations.any():
            mask = step.terminations.copy()
            for one in (env, *copies):
                one.reset(options={"reset_mask": mask})


def test_a_list_of_sheets_and_a_function_work_like_a_split() -> None:
    env = mixed(40, ["parker", "dutch", edition("dujardin+max_200=1")])
    assert set(sheets(env)) == {0, 1, 2}
    labels = ["parker", "dutch", "dujardin+max_200=1"]
    for game, number in enumerate(sheets(env)):
        assert env.rules_of(game) == edition(labels[number]).table(2)
    own = mixed(40, lambda number: edition(f"parker+hand_limit={4 + number % 3}"))
    assert {env_rules.hand_limit for env_rules in map(own.rules_of, range(40))} == {4, 5, 6}
    assert pickle.loads(pickle.dumps(env)).rules_of(3) == env.rules_of(3)


def test_a_list_of_one_sheet_is_played_by_its_rules() -> None:
    listed, alone = mixed(40, ["dutch"]), mixed(40, "dutch", observe_rules=True)
    copies = [listed.clone(), pickle.loads(pickle.dumps(listed))]
    for _ in range(300):
        actions = alone.sample_actions()
        wanted = alone.step(actions)
        for env in (listed, *copies):
            step = env.step(actions)
            assert (step.rewards == wanted.rewards).all()
            assert (env.get_states() == alone.get_states()).all()
    listed.set_states(listed.get_states())
    with pytest.raises(OptionError, match="such as edition='dutch'"):
        listed.reset(options={"positions": ["round"]})


@pytest.mark.parametrize("name", ["greedy", "holder", "attacker", "strategist", "champion:which=all-2"])
def test_agents_read_the_rules_from_the_observation(name: str) -> None:
    env = mixed(12, INSIDE, seed=2)
    agent = agents.load(name, env)
    alone: dict[int, Any] = {}
    for _ in range(60):
        rows, masks = env.games.buffers.observation, env.games.buffers.action_mask
        slots = np.arange(12) * 2 + env.agent_selection
        actions = agent.act(rows, masks, slots)
        for game, number in enumerate(sheets(env)):
            if number not in alone:
                alone[number] = agents.load(name, vector_env(1, f"{INSIDE}/{number}", observe_rules=True))
            own = alone[number].act(rows[game : game + 1], masks[game : game + 1], slots[game : game + 1])
            assert own[0] == actions[game], (number, env.describe(int(env.agent_selection[game]), game))
        env.step(actions)


def test_the_history_of_a_game_is_that_of_its_sheet() -> None:
    env = mixed(4, INSIDE, history=True, seed=3)
    alone = [vector_env(1, f"{INSIDE}/{number}", history=True, observe_rules=True) for number in sheets(env)]
    for game, one in enumerate(alone):
        one.reset()
        one.games.states["key"] = env.games.states["key"][game]
        one.games.states["episode"] = -1
        one.reset()
    for _ in range(40):
        actions = env.sample_actions()
        if env.step(actions).terminations.any():
            break
        for game, one in enumerate(alone):
            one.step(actions[game : game + 1])
            assert one.public_events() == env.public_events(game)
            for form in ("bytes", "text"):
                assert one.information_states(0, form=form)[0] == env.information_states(0, form=form)[game]


def test_gymnasium_and_pettingzoo_draw_sheets_too() -> None:
    single = gymnasium.make("millebornes/MilleBornes-v0", edition=TRAIN, opponent="greedy")
    drawn = set()
    for seed in range(6):
        _, info = single.reset(seed=seed)
        vector = single.unwrapped.games.vector
        assert info["sheet"] == sheets(vector)[0]
        drawn.add(info["sheet"])
        over = False
        while not over:
            action = int(np.flatnonzero(single.unwrapped.action_masks())[0])
            over = single.step(action)[2]
    assert len(drawn) == 6
    aec = raw_env(edition=TRAIN)
    aec.reset(seed=3)
    for _ in aec.agent_iter(300):
        observation, _, terminated, truncated, info = aec.last()
        assert info["sheet"] == sheets(aec.vector)[0]
        ended = terminated or truncated
        aec.step(None if ended else int(np.flatnonzero(observation["action_mask"])[0]))
    many = gymnasium.make_vec("millebornes/MilleBornes-v0", 16, edition=INSIDE, opponent="holder")
    _, infos = many.reset(seed=1)
    count = 0
    for _ in range(80):
        before = infos["sheet"]
        _, _, ended, _, infos = many.step(many.unwrapped.action_masks().argmax(axis=1))
        assert infos["sheet"].tolist() == sheets(many.unwrapped.games.vector)
        assert (infos["sheet"] == before)[~ended].all()
        assert (infos["final_info"]["sheet"] == before)[ended].all()
        count += int(ended.sum())
    assert count > 10


def test_shared_wins_follow_each_game_s_rules() -> None:
    env = mixed(64, ["parker", "parker+count_points=0"], seed=1)
    counted = 0
    for _ in range(300):
        step = env.step(env.sample_actions())
        shares = env.games.win_shares()
        assert (shares[step.terminations].sum(axis=1) == 1).all()
        assert not shares[~step.terminations].any()
        alone = step.infos["final_winner"][step.terminations]
        won = shares[step.terminations]
        assert (won[alone >= 0].argmax(axis=1) == alone[alone >= 0]).all()
        counted += len(alone)
    assert counted > 100


def test_an_illegal_action_is_explained_by_the_rules_of_its_game() -> None:
    env = mixed(3)
    actions = env.sample_actions()
    actions[1] = int(np.flatnonzero(env.games.buffers.action_mask[1] == 0)[0])
    with pytest.raises(Exception, match=r"game 1, player_.* is not legal"):
        env.step(actions)
    assert env.render(2)
    assert env.legal_actions(1)


def test_what_games_that_draw_sheets_cannot_do_is_said() -> None:
    with pytest.raises(EditionError, match=r"variants-v1:trian.*variants-v1:train"):
        vector_env(2, "variants-v1:trian")
    with pytest.raises(OptionError, match="the list of editions is empty"):
        vector_env(2, [])
    with pytest.raises(OptionError, match="several games"):
        vector_env(2, ["parker", "arc_en_ciel"])
    with pytest.raises(OptionError, match="5 players"):
        vector_env(2, TRAIN, players=5)
    with pytest.raises(OptionError, match="'mini8-v0' has no table for 4 players"):
        vector_env(2, ["parker", "mini8"], players=4)
    with pytest.raises(EditionError, match=r"17.*expected a sheet of the game"):
        vector_env(2, lambda number: 17)
    blind = mixed(2, observe_rules=False)
    with pytest.raises(AgentError, match="observe_rules=True"):
        agents.load("greedy", blind)
    with pytest.raises(OptionError, match=r"state\(\) has no common layout"):
        blind.state()
    with pytest.raises(OptionError, match="variants-v1:train/0"):
        blind.reset(options={"positions": ["round"]})
    with pytest.raises(OptionError, match="has no largest values of rules"):
        vector_env(2, ["arc_en_ciel"])


def test_the_full_state_has_one_layout() -> None:
    env = mixed(5)
    layout = env.state_sections
    assert env.state().shape == (5, layout[-1].stop)
    for game, number in enumerate(sheets(env)):
        one = vector_env(1, f"{TRAIN}/{number}", observe_rules=True)
        one.reset()
        one.set_states(env.get_states()[game : game + 1])
        assert (one.state()[0] == env.state()[game]).all()


def test_buffers_of_the_caller_receive_the_games() -> None:
    env = mixed(4)
    own = Buffers._make(np.zeros_like(array) for array in env.games.buffers)
    other = vector_env(4, TRAIN, seed=5, buffers=own)
    other.reset()
    assert (own.observation == env.games.buffers.observation).all()


def test_the_end_of_an_episode_has_its_own_sheet() -> None:
    """Also where the next episode ends within the same step, before the learner's first turn."""
    short = edition("parker").replace(extended_target=0, start_needs_roll=0)
    sheets_to_25 = [short.replace(target=target) for target in (25, 50, 75)]
    env = SingleAgentVectorEnv(16, "greedy", edition=sheets_to_25, autoreset_mode="same_step")
    _, infos = env.reset(seed=5)
    ends = 0
    for _ in range(40):
        before = infos["sheet"]
        _, _, ended, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        assert (infos["final_info"]["sheet"] == before)[ended].all()
        ends += int(ended.sum())
    assert ends > 100
