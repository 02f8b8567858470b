"""Agent specs: any folder, options within their ranges, and errors in one sentence."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from millebornes_env import VectorEnv, agents, millebornes_v0, vector_env
from millebornes_env.agents import load
from millebornes_env.agents.options import defaults_of, ranges_of
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.specs import split_search
from millebornes_env.cli.evaluate import run_folder
from millebornes_env.errors import AgentError, MilleBornesError, OptionError, shown
from millebornes_env.play.terminal.cards import HumanAgent
from tests.agents.policies import network_for, write_run
from tests.each import each

HUGE = "9" * 20

NAMES = (
    *("lr=1e-3", "lr=1e-3,seed=2", "a,b", "mode=sample", "x,mode=best", "folder=x", "a:b", "two words"),
    *("Zoë 100 % [1] {2}", "a+b", "a;b", "champion", "rollouts=3,z=1", "-x", "été=1,b:c d"),
)


@pytest.fixture
def env() -> VectorEnv:
    return vector_env(1)


def test_a_run_folder_called_policy_is_found(
    tmp_path: Path, env: VectorEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AgentError, match=r"^the agent 'policy' needs a run folder: policy:FOLDER"):
        load("policy", env)
    assert run_folder("policy") is None
    folder = write_run(Path("policy"), env, network_for(env))
    for way in ("policy", "policy:policy", "policy:policy,mode=sample", "./policy", "policy+search"):
        assert load(way, env).name == way
        assert run_folder(way) in (folder, Path("./policy"))


@pytest.mark.parametrize("name", NAMES)
def test_a_run_folder_may_have_any_name(
    tmp_path: Path, env: VectorEnv, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write_run(Path("runs") / name, env, network_for(env))
    ways: tuple[Any, ...] = (folder, f"runs/{name}", f"policy:runs/{name}", f"policy:folder=runs/{name}")
    for way in ways:
        agent = load(way, env)
        assert isinstance(agent, PolicyAgent)
        assert agent.name == str(way)
        if isinstance(way, str):
            assert run_folder(way) == folder
    for spec in (f"policy:runs/{name},mode=sample", f"policy:mode=sample,folder=runs/{name}"):
        agent = load(spec, env)
        assert isinstance(agent, PolicyAgent)
        assert int(agent.options[2]) == 1
        assert run_folder(spec) == folder
    for spec in (f"runs/{name}+search:z=3", f"policy:runs/{name}+search:z=3"):
        agent = load(spec, env)
        assert isinstance(agent, SearchAgent)
        assert isinstance(agent.rollout_agent, PolicyAgent)
        assert split_search(spec)[1] == "z=3"
    for spec in (f"search:rollout=policy:runs/{name},z=3", f"search:z=3,rollout=runs/{name}"):
        agent = load(spec, env)
        assert isinstance(agent, SearchAgent)
        assert agent._searcher(agent._starts).z == 3.0


def test_what_is_wrong_with_a_policys_options_is_told(tmp_path: Path, env: VectorEnv) -> None:
    run = write_run(tmp_path / "run", env, network_for(env))
    for spec, words in (
        (f"policy:{run},speed=3", "unknown option 'speed'; the options are folder, mode"),
        (f"policy:{run},mode=best,mode=best", "the option mode is given twice"),
        (f"policy:{run},mode=worst", "mode is 'worst'; it may be 'best' or 'sample'"),
        ("champion:mode=", "mode is ''"),
        ("policy:runs/none,b=1", "there is no run folder 'runs/none,b=1'"),
    ):
        with pytest.raises(AgentError, match=words):
            load(spec, env)


@each(
    ("spec", "words"),
    [
        (f"holder:pile={HUGE}", f"the option pile is {HUGE}; it must be from 0 to 1,000"),
        ("holder:pile=-5", "'holder:pile=-5': the option pile is -5; it must be from 0 to 1,000"),
        (f"holder:pile={'9' * 5000}", r"the option pile is '9+\.\.\.9+'; it"),
        ("hoarder:pile=1,pile=2", "the option pile is given twice"),
        ("attacker:risk=101", "the option risk is 101; it must be from 0 to 100"),
        ("racer:extends=perhaps", "the option extends is 'perhaps'; it must be like True"),
        (f"search:rollouts={HUGE}", f"rollouts is {HUGE}; it must be from 2 to 1,000,000"),
        ("search:ms=1e300", "ms is 1e.300; it must be from 0 to 86,400,000"),
        ("search:z=inf", "z is inf"),
        ("arnold+search:z=1,z=2", "the option z is given twice"),
    ],
)
def test_options_that_cannot_be_are_refused_in_a_sentence(env: VectorEnv, spec: str, words: str) -> None:
    with pytest.raises(AgentError, match=words) as refused:
        load(spec, env)
    assert isinstance(refused.value, MilleBornesError)
    assert len(str(refused.value)) < 300
    assert "\n" not in str(refused.value)


def test_every_whole_number_that_an_agent_takes_has_a_range() -> None:
    for name, maker in agents.AGENTS.items():
        for option, default in defaults_of(maker).items():
            if isinstance(default, int) and not isinstance(default, bool):
                least, most = ranges_of(maker)[option]
                assert least <= default <= most, (name, option)


def test_agents_made_by_hand_refuse_the_same_options_in_the_same_sentence(env: VectorEnv) -> None:
    table, tried = agents.Table.of(env), 0
    for name, maker in agents.AGENTS.items():
        for option, bounds in ranges_of(maker).items():
            tried += 1
            for wrong in (bounds.least - 1, bounds.most + 1, "many"):
                words = (
                    f"^'{name}': the option {option} is {shown(wrong)}; it must be from {bounds.least:,} to"
                )
                with pytest.raises(AgentError, match=words):
                    maker(table, 0, **{option: wrong})
    assert tried > 8
    with pytest.raises(AgentError, match="'holder': the option pile is -1; it must be from 0 to 1,000"):
        agents.HolderAgent(table, 0, -1)
    with pytest.raises(TypeError, match="pole"):  # what a class does not take, Python says
        agents.HolderAgent(table, pole=3)  # type: ignore[call-arg]
    assert copy.deepcopy(agents.HolderAgent(table, pile=7)).options[0] == 7


def test_text_is_read_by_load_and_not_by_search(env: VectorEnv) -> None:
    table = agents.Table.of(env)
    assert isinstance(SearchAgent(table).rollout_agent, agents.StrategistAgent)
    for wrong in ("holder", RandomOfItsOwn(table), HumanAgent(table)):
        with pytest.raises(AgentError, match="it must be a compiled agent, such as"):
            SearchAgent(table, 0, wrong)  # type: ignore[arg-type]


class RandomOfItsOwn(agents.RandomAgent):
    """Its compiled function does not say what it does."""

    def act(self, *batch: Any) -> Any:
        return super().act(*batch)


@each("spec", [None, 3, 1.5, b"greedy", ["greedy"], {"name": "greedy"}, object, PolicyAgent])
def test_what_is_neither_name_nor_path_nor_agent_is_refused(env: VectorEnv, spec: Any) -> None:
    with pytest.raises(AgentError, match="is not an agent: expected the name of an agent, the path of a run"):
        load(spec, env)


def test_an_environment_of_one_learner_is_refused() -> None:
    given = gymnasium.make_vec("millebornes_env:millebornes/MilleBornes-v0")
    with pytest.raises(AgentError, match=r"made by vector_env\(.*, not SingleAgentVectorEnv\(.*opponent="):
        load("greedy", given)


@pytest.mark.parametrize("seed", ["x", 1.5, None, -1, 2**64, True, float("nan")])
def test_seeds_that_are_none_are_refused(env: VectorEnv, seed: Any) -> None:
    for spec in ("random", "human", "search"):
        with pytest.raises(OptionError, match="seed is"):
            load(spec, env, seed)
    assert load("random", env, 2**64 - 1).name == "random"


def test_random_specifications_raise_nothing_but_our_own(env: VectorEnv) -> None:
    pieces = [
        *agents.names("millebornes"),
        *(*":,=+;/.9é\0 ", "+search", "pile", "mode", "folder", "rollout", "-1"),
    ]
    pieces.remove("human")
    chance = random.Random(8)
    made = 0
    for _ in range(1500):
        spec = "".join(chance.choice(pieces) for _ in range(chance.randint(1, 6)))
        try:
            load(spec, env)
        except MilleBornesError:
            continue
        made += 1
    assert made > 20


def test_an_agent_is_handed_back_as_it_is(env: VectorEnv) -> None:
    for spec in ("greedy", "search", "human"):
        agent = load(spec, env)
        assert load(agent, env) is agent
        assert load(agent, millebornes_v0.raw_env()) is agent
        assert agents.name_of(agent) == spec
    assert agents.name_of(Path("runs/a,b")) == "runs/a,b"


def test_an_agent_of_another_table_is_refused(env: VectorEnv) -> None:
    for spec in ("greedy", "search"):
        agent = load(spec, env)
        for other in (vector_env(1, players=3), vector_env(1, "dutch"), vector_env(1, observe_rules=True)):
            with pytest.raises(AgentError, match=f"'{spec}' was made for parker, 2 players; this table"):
                load(agent, other)
