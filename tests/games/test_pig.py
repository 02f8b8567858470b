"""The game of docs/environment/extend.md: a third game is a file and an entry, and plays on every face."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from millebornes_env import agents, millebornes_v0, vector_env
from millebornes_env.agents.compiled.agent import CompiledAgent
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.network import InputSpec
from millebornes_env.agents.policy.writing import save_policy_files
from millebornes_env.errors import AgentError, EditionError, IllegalActionError, OptionError
from millebornes_env.games.registry import Everything, register_game
from millebornes_env.testing import check_env
from tests.agents.policies import network
from tests.games.conftest import PAGE, entry, examples
from tests.patience import SECONDS_OF_A_HANG


def roll(state: Any, rules: Any, seat: int, memory: Any, options: Any, draw: int) -> int:
    return 0


# The page --------------------------------------------------------------------------------------------------


def test_the_examples_run_and_print_what_stands_below_them(
    pig: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"__name__": "page"}
    for example in examples()[1:]:
        exec(compile(example, "extend.md", "exec"), names)
        printed = capsys.readouterr().out
        assert ("print(" in example) == bool(printed)
        assert not printed or f"```\n{printed}```" in PAGE


def test_the_page_shows_what_a_missing_part_is_told(pig: ModuleType) -> None:
    env = vector_env(1, "pig")
    env.reset()
    with pytest.raises(OptionError) as told:
        env.render()
    assert f"```\n{told.value}\n```" in PAGE


# It plays --------------------------------------------------------------------------------------------------


def test_pig_is_played_by_its_rules(pig: ModuleType) -> None:
    """Each step is what the rules say, worked out here once more."""
    env = vector_env(40, "pig", players=3, seed=2)
    env.reset()
    ended = 0
    for _ in range(400):
        before = env.get_states()
        actions = env.sample_actions()
        step = env.step(actions)
        after = env.get_states()
        for game, action in enumerate(actions):
            seat, turn = int(before["seat"][game]), int(before["turn"][game])
            points = before["points"][game].copy()
            if step.terminations[game]:
                ended += 1
                assert action == pig.HOLD
                assert points[seat] + turn >= 100
                assert step.infos["final_winner"][game] == seat
                assert step.rewards[game].tolist() == [1.0 if one == seat else -0.5 for one in range(3)]
                assert not after["points"][game].any()
            elif action == pig.HOLD:
                points[seat] += turn
                assert after["points"][game].tolist() == points.tolist()
                assert (after["seat"][game], after["turn"][game]) == ((seat + 1) % 3, 0)
            else:
                gained = int(after["turn"][game]) - turn
                assert after["points"][game].tolist() == points.tolist()
                if after["turn"][game] == 0:
                    assert after["seat"][game] == (seat + 1) % 3
                else:
                    assert 2 <= gained <= 6
                    assert after["seat"][game] == seat
        mask = step.observations["action_mask"]
        mine = after["points"][np.arange(40), after["seat"]] + after["turn"]
        assert mask.tolist() == np.stack([mine < 100, after["turn"] > 0], axis=1).astype(int).tolist()
    assert ended > 20


def test_a_pickle_brings_the_game_along(pig: ModuleType, pig_file: Path, tmp_path: Path) -> None:
    """Another process imports `pig` as it reads the environment, and the file registers itself."""
    env = vector_env(2, "pig", seed=1)
    env.reset()
    (tmp_path / "env").write_bytes(pickle.dumps(env))
    program = (
        "import pickle, sys; env = pickle.loads(open(sys.argv[1], 'rb').read());"
        "print(env.game.name, env.legal_actions())"
    )
    paths = os.pathsep.join([str(pig_file.parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "env")],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_OF_A_HANG,
    )
    assert done.stdout == "pig {0: 'roll'}\n", done.stderr


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_it_is_checked_as_ours_are(pig: ModuleType, mode: str) -> None:
    check_env(vector_env(5, "pig", autoreset_mode=mode), steps=60)


# Options and what is against the rules ---------------------------------------------------------------------


def test_the_usual_episode_and_reward_are_the_games_first(pig: ModuleType) -> None:
    env = vector_env(1, "pig")
    assert (env.episode, env.reward, env.metadata["name"]) == ("game", "win", "pig_v0")
    ours = vector_env(1, episode="usual", reward="usual")
    assert (ours.episode, ours.reward, ours.metadata["name"]) == ("round", "points", "millebornes_v0")
    with pytest.raises(OptionError, match="episode is 'round'; it may be 'game'"):
        vector_env(1, "pig", episode="round")
    with pytest.raises(OptionError, match="reward is 'points'; it may be 'win'"):
        vector_env(1, "pig", reward="points")


@pytest.mark.parametrize("option", [{"observe_unseen": False}, {"observe_rules": True}, {"padded": True}])
def test_options_of_other_games_are_refused_by_name(pig: ModuleType, option: dict[str, bool]) -> None:
    name, value = next(iter(option.items()))
    with pytest.raises(OptionError, match=f"{name} is {value}; the game 'pig' has no such option"):
        vector_env(1, "pig", **option)


def test_tables_and_overrides_that_it_has_not(pig: ModuleType) -> None:
    with pytest.raises(
        OptionError, match="'pig' has no table for 9 players; it has: 2 players in 2 teams, 3"
    ):
        vector_env(1, "pig", players=9)
    with pytest.raises(OptionError, match="no table for 4 players in 2 teams"):
        vector_env(1, "pig", players=4, teams=2)
    with pytest.raises(EditionError, match=r"'pig\+goal=50': sheets of the game 'pig' have no rules"):
        vector_env(1, "pig+goal=50")


def test_an_illegal_action_is_told_in_its_words(pig: ModuleType) -> None:
    env = vector_env(2, "pig")
    env.reset(seed=0)
    with pytest.raises(IllegalActionError) as told:
        env.step([pig.ROLL, pig.HOLD])
    assert str(told.value) == (
        "game 1, player_0: 'hold' (action 1) is not legal: this turn has brought nothing yet. "
        "Legal now: roll (0)"
    )


# Parts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda env: env.render(), "no drawing of its table, which render needs"),
        (lambda env: env.describe(0), "no description of observations, which describe needs"),
        (lambda env: env.set_states(env.get_states()), "no audit of states, which set_states needs"),
        (
            lambda env: env.reset(options={"positions": "hand: roll"}),
            "no positions as text, which reset's option 'positions' needs",
        ),
    ],
    ids=["render", "describe", "set_states", "positions"],
)
def test_what_it_lacks_is_said_with_its_name(pig: ModuleType, call: Callable[[Any], Any], told: str) -> None:
    env = vector_env(3, "pig")
    env.reset(seed=1)
    before = env.get_states().tobytes()
    with pytest.raises(OptionError, match=f"the game 'pig' has {told}"):
        call(env)
    assert env.get_states().tobytes() == before
    env.step(env.sample_actions())


def test_parts_are_used_once_they_are_there(pig: ModuleType) -> None:
    def audit(states: Any, rules: Any) -> tuple[int, str] | None:
        wrong = np.flatnonzero(states["turn"] > rules.goal + 5)
        return (int(wrong[0]), "the turn is too long") if len(wrong) else None

    hooks = {
        "games.audit": audit,
        "render.draw": lambda state, rules: f"turn {state.turn}",
        "render.draw_end": lambda state, rules: f"won by {state.winner}",
        "render.describe": lambda row, sections, rules: f"{sections[0].name}: {row[0]}",
    }
    register_game(entry(pig, hooks=hooks))
    env = vector_env(3, "pig", seed=1)
    env.reset()
    env.step(env.sample_actions())
    states = env.get_states()
    turn = int(states["turn"][0])
    assert env.render() == f"turn {turn}"
    assert env.describe(int(env.agent_selection[0])) == f"turn: {turn}"
    other = vector_env(3, "pig")
    other.set_states(states)
    assert other.get_states().tobytes() == states.tobytes()
    states["turn"][2] = 120
    with pytest.raises(
        ValueError, match="states\\[2\\] is not a valid state for this table: the turn is too long"
    ):
        other.set_states(states)
    check_env(other, steps=40)


# Other faces -----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The base environment")
def test_it_passes_pettingzoos_own_tests(pig: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("pettingzoo.test.api_test")  # tests/envs/test_aec.py says why
    for name in ("env_obs_dicts", "env_obs_space", "env_all_zeros_obs"):
        monkeypatch.setattr(module, name, [*getattr(module, name), "pig_v0"])
    api_test(millebornes_v0.env("pig", players=3), num_cycles=100)
    seed_test(lambda: millebornes_v0.env("pig"), num_cycles=50)


def test_a_pettingzoo_game_to_its_end(pig: ModuleType) -> None:
    env = millebornes_v0.env("pig", players=3)
    assert env.metadata["name"] == "pig_v0"
    assert millebornes_v0.env.metadata["name"] == "millebornes_v0"
    env.reset(seed=3)
    for agent in env.agent_iter():
        observation, _, terminated, _, info = env.last()
        env.step(None if terminated else int(np.flatnonzero(observation["action_mask"])[-1]))
        if terminated:
            assert info["final_score"][info["final_winner"]] >= 100
            assert agent in env.possible_agents
    with pytest.raises(OptionError, match="the game 'pig' has no drawing of its table, which render needs"):
        millebornes_v0.env("pig", render_mode="ansi")


def test_it_is_learned_by_stable_baselines(pig: ModuleType) -> None:
    pytest.importorskip("stable_baselines3")
    from millebornes_env.envs.sb3 import SB3VecEnv  # noqa: PLC0415

    env = SB3VecEnv(6, edition="pig", players=3)
    observations, dones = env.reset(), 0
    for _ in range(200):
        assert env.observation_space.contains(observations[0])
        observations, rewards, done, infos = env.step(env.action_masks().argmax(axis=1))
        assert env.action_masks().any(axis=1).all()
        dones += int(done.sum())
        assert set(rewards[done].tolist()) <= {1.0, -0.5}
        assert all(("won" in info) == over for info, over in zip(infos, done, strict=True))
    assert dones


def test_random_plays_it_and_agents_of_another_game_say_so(pig: ModuleType) -> None:
    told = "'greedy' plays millebornes, not pig; agents that play it: random"
    for env in (vector_env(1, "pig"), millebornes_v0.env("pig")):
        with pytest.raises(AgentError, match=told):
            agents.load("greedy", env)
    env = vector_env(3, "pig", players=3, seed=2)
    observations, _ = env.reset()
    chosen = []
    for seed in (1, 1, 2):
        agent = agents.load("random", env, seed)
        turns = [agent.act(observations["observation"], observations["action_mask"]) for _ in range(40)]
        chosen.append(np.concatenate(turns).tolist())
    assert chosen[0] == chosen[1]
    assert set(chosen[0]) == {int(action) for action in observations["action_mask"][0].nonzero()[0]}
    with pytest.raises(AgentError, match=r"'random' needs action_masks in the game 'pig'"):
        agent.act(observations["observation"], None)  # type: ignore[arg-type]


def test_a_compiled_agent_says_that_nothing_reads_its_rows(pig: ModuleType) -> None:
    class Bold(CompiledAgent):
        name = "bold"
        rule = staticmethod(roll)

    env = vector_env(2, "pig")
    observations, _ = env.reset()
    told = "the game 'pig' has no decoder of observations, which the agent 'bold' needs"
    with pytest.raises(OptionError, match=told):
        Bold(agents.Table.of(env)).act(observations["observation"], observations["action_mask"])


@pytest.mark.parametrize("mode", ["best", "sample"])
def test_a_network_plays_it_from_the_observations_as_they_are(
    pig: ModuleType, mode: str, tmp_path: Path
) -> None:
    env = vector_env(400, "pig", players=3, seed=2)
    observations, _ = env.reset()
    spec = InputSpec(Everything(), features=False)
    save_policy_files(tmp_path / "run", network((4, 6, 2)), agents.Table.of(env), input_spec=spec)
    agent = agents.load(f"policy:{tmp_path / 'run'},mode={mode}", env, seed=1)
    assert isinstance(agent, PolicyAgent)
    for _ in range(30):
        rows, masks = observations["observation"], observations["action_mask"]
        actions, probabilities = agent.act(rows, masks), agent.probabilities(rows, masks)
        assert (masks[np.arange(400), actions] == 1).all()
        if mode == "best":
            assert np.array_equal(actions, probabilities.argmax(axis=1))
        else:
            assert (actions == pig.HOLD).mean() == pytest.approx(probabilities[:, pig.HOLD].mean(), abs=0.1)
        observations = env.step(actions if mode == "best" else env.sample_actions()).observations
