"""The policies that come with the project: which plays where, by which names, and what is said elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, editions, vector_env
from millebornes_env.agents import load
from millebornes_env.agents.champion import PREFERRED, ChampionAgent, champion_for
from millebornes_env.agents.policy.network import InputSpec
from millebornes_env.agents.policy.writing import save_policy_files
from millebornes_env.agents.protocol import is_compiled
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.beliefs import NetworkBelief
from millebornes_env.agents.search.over import OVER_A_JUDGE, WITH_A_NETWORK
from millebornes_env.arena.evaluation import evaluate
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.tournament import entrants_of
from millebornes_env.errors import AgentError
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC, ObservationSpec
from millebornes_env.games.wielerspel.sections import ObservationSpec as RaceSpec
from tests.agents.policies import network, network_for, write_run
from tests.each import each

OF_ALL = ObservationSpec(rules=1, padded=1)


@pytest.fixture(autouse=True)
def champions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Champions that have learned nothing."""
    env = vector_env(1)
    folder = tmp_path / "champions"
    for number, (name, shown) in enumerate((("parker-2", DEFAULT_SPEC), ("all-2", OF_ALL))):
        layers = network_for(env, (8,), shown, extra=1, seed=number, features=True)
        editions = ["parker"] if name == "parker-2" else ["parker", "dujardin"]
        write_run(
            *(folder / name, env, layers), shown=shown, features=True, editions=editions, value="points"
        )
    monkeypatch.setattr("millebornes_env.agents.champion.CHAMPIONS", folder)
    monkeypatch.chdir(tmp_path)
    return folder


def editions_of(spec: str, env: VectorEnv) -> list[str]:
    agent = load(spec, env)
    assert isinstance(agent, ChampionAgent)
    editions: list[str] = agent.description["editions"]
    assert agent.name == spec
    assert is_compiled(agent)
    return editions


PARKER, ALL = ["parker"], ["parker", "dujardin"]
LIKE_BSD = "parker+roll_after_safety=0+points_extension_failed=0+discard_safeties=0+end_when_stuck=1"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("parker", PARKER),
        ("parker+goal=1000", PARKER),
        (LIKE_BSD, PARKER),
        ("dujardin_classic", PARKER),
        ("dutch+when_pile_is_empty=0", PARKER),
        ("winning_moves+hazard_opens_pile=0", PARKER),
        ("parker+when_pile_is_empty=1", ALL),
        ("parker+count_points=0", ALL),
        ("dutch", PARKER),
        ("dutch+play_out_after_extension=0", ALL),
        ("winning_moves", ALL),
        ("dujardin", ALL),
    ],
)
def test_each_table_for_two_has_the_champion_that_plays_better_there(name: str, expected: list[str]) -> None:
    env = vector_env(3, name, seed=1)
    assert editions_of("champion", env) == expected
    observations, _ = env.reset()
    mask = observations["action_mask"]
    chosen = load("champion", env).act(observations["observation"], mask)
    assert (mask[np.arange(3), chosen] == 1).all()


def test_which_champion_rules_prefer_can_be_said_before_they_are_known() -> None:
    """So the page's data say who plays for each answer; one that does not fit is passed over."""
    table = agents.Table.of(vector_env(1, "dujardin"))
    assert champion_for(table) == "all-2"
    result = [champion_for(table, preferred=name) for name in (*PREFERRED, "dutch-6-in-2")]
    assert result == ["all-2", "parker-2", "all-2"]


@pytest.mark.parametrize("name", ["parker", "parker+goal=1000", "dujardin"])
def test_the_champion_that_is_asked_for_plays_wherever_it_fits(name: str) -> None:
    env = vector_env(1, name)
    assert editions_of("champion:which=parker-2", env) == PARKER
    assert editions_of("champion:which=all-2", env) == ALL
    assert load("champion:mode=sample", env).name == "champion:mode=sample"


def test_a_table_without_a_champion_says_where_there_are_some() -> None:
    words = r"no champion for 3 players: 'all-2' and 'parker-2' play every edition with 2 players"
    for spec in ("champion", "champion:which=all-2", "champion+search"):
        with pytest.raises(AgentError, match=words):
            load(spec, vector_env(1, players=3))
    with pytest.raises(AgentError, match="no champion 'best'; there are all-2 and parker-2"):
        load("champion:which=best", vector_env(1))


def test_the_champion_of_another_game_is_found_by_its_description(champions: Path) -> None:
    words = "there is no champion of the game 'wielerspel' yet"
    with pytest.raises(AgentError, match=words):
        load("champion", vector_env(1, "arc_en_ciel", players=4))
    for name, seats, labels in (("first", 4, ["other"]), ("second", 4, ["arc_en_ciel"]), ("third", 5, ["x"])):
        env = vector_env(2, "arc_en_ciel", players=seats, seed=1)
        sizes = (int(env.single_observation_space["observation"].shape[0]), 4, 155)
        shown = InputSpec(RaceSpec(), features=False)
        table = agents.Table.of(env)
        save_policy_files(champions / name, network(sizes), table, input_spec=shown, editions=labels)
    for seats, expected in ((4, ["arc_en_ciel"]), (5, ["x"])):
        env = vector_env(2, "arc_en_ciel", players=seats, seed=1)
        assert editions_of("champion", env) == expected
        observations, _ = env.reset()
        chosen = load("champion", env).act(observations["observation"], observations["action_mask"])
        assert (observations["action_mask"][np.arange(2), chosen] == 1).all()
    env = vector_env(1, "arc_en_ciel", players=4)
    assert editions_of("champion:which=first", env) == ["other"]
    with pytest.raises(AgentError, match=r"no champion 'parker-2'; there are first and second and third"):
        load("champion:which=parker-2", env)
    words = "'third' does not play with 4 players: 'first' and 'second' play every edition with 4 players; "
    with pytest.raises(AgentError, match=words + "'third' plays every edition with 5 players"):
        load("champion:which=third", env)
    with pytest.raises(AgentError, match="no champion for 3 players: 'first' and 'second'"):
        load("champion", vector_env(1, "arc_en_ciel", players=3))


def settings(spec: str, env: VectorEnv) -> tuple[int, float, int]:
    agent = load(spec, env)
    assert isinstance(agent, SearchAgent)
    assert agent.name == spec
    searcher = agent._searcher(agent._starts)
    return searcher.rollouts, searcher.z, searcher.depth


def test_search_over_a_policy_that_judges_has_defaults_of_its_own(champions: Path) -> None:
    env = vector_env(1)
    usual = (OVER_A_JUDGE["rollouts"], OVER_A_JUDGE["z"], OVER_A_JUDGE["depth"])
    assert usual != settings("arnold+search", env) == settings("search:rollout=arnold", env) == (400, 2.0, 0)
    for spec in ("champion", "champion:which=all-2,mode=sample", "champions/all-2", "policy:champions/all-2"):
        assert settings(f"{spec}+search:belief=uniform", env) == usual
        assert settings(f"{spec}+search:rollouts=9,z=3", env) == (9, 3.0, OVER_A_JUDGE["depth"])
    assert settings("search:rollout=champion", env) == (400, 2.0, 0)
    write_run(champions / "mute", env, network_for(env))
    assert settings("champions/mute+search", env) == (400, 2.0, 0)


def belief_of(spec: str, env: VectorEnv) -> tuple[bool, int]:
    """Return True if the searcher has a network of beliefs, and its number of rollouts."""
    return isinstance(load(spec, env).belief, NetworkBelief), settings(spec, env)[0]


def test_where_a_network_knows_hidden_hands_search_over_a_policy_asks_it(champions: Path) -> None:
    env = vector_env(1)
    few, more = OVER_A_JUDGE["rollouts"], WITH_A_NETWORK["rollouts"]
    for spec in ("champion+search", "champions/all-2+search", "champion+search:belief=network"):
        assert belief_of(spec, env) == (True, more)
    assert belief_of("champion+search:rollouts=7", env) == (True, 7)
    assert belief_of("champion+search:belief=uniform", env) == (False, few)
    assert belief_of("champion+search:sees=hands", env) == (False, few)
    assert belief_of("strategist+search", env) == (False, 400)
    for edition in editions():
        assert belief_of("champion+search", vector_env(1, edition)) == (True, more)
    assert belief_of("champion+search", vector_env(1, "parker+hand_limit=7")) == (False, few)
    write_run(champions / "mute", env, network_for(env))
    assert belief_of("champions/mute+search", env) == (False, 400)


@each(
    ("spec", "error", "words"),
    [
        ("human+search", AgentError, "'human'; it must be one of the compiled agents"),
        ("+search", AgentError, r"no agent '\+search'"),
        ("arnold+search:rollout=holder", AgentError, "names its rollout agent twice"),
        ("arnold+search:z=-1", AgentError, "z is -1.0; it must be from 0 to 1,000,000,000"),
        ("runs/none+search", AgentError, "there is no run folder 'runs/none'"),
    ],
)
def test_what_cannot_be_searched_over_is_explained(spec: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        load(spec, vector_env(1))


def test_the_arena_and_the_evaluation_know_the_names() -> None:
    names = ["champion", "deep@champion+search:rollouts=4", "champions/all-2+search"]
    assert [entrant.name for entrant in entrants_of(names, MatchConfig())] == [names[0], "deep", names[2]]
    config = MatchConfig(episode="round")
    rows = evaluate("champion+search:rollouts=4,depth=3", ["champion", "champions/all-2"], config, 1)
    assert [row.opponent for row in rows] == ["champion", "champions/all-2"]
