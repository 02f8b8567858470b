"""The game as OpenSpiel's: its own API tests, its solvers, its search; `make test-openspiel` installs it."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.openspiel
pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import policy as policies  # noqa: E402 - it is skipped where it is missing
from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import exploitability, ismcts, mcts  # noqa: E402
from open_spiel.python.algorithms.get_all_states import get_all_states  # noqa: E402

import millebornes_env.solving.openspiel  # noqa: E402, F401 - registers the game
from millebornes_env import vector_env  # noqa: E402
from millebornes_env.errors import SolvingError  # noqa: E402
from millebornes_env.solving import report  # noqa: E402
from millebornes_env.solving.cfr import Solver  # noqa: E402
from millebornes_env.solving.deck import solvable  # noqa: E402
from millebornes_env.solving.extensive import Tree  # noqa: E402
from millebornes_env.solving.extensive.export import export  # noqa: E402
from millebornes_env.solving.values import Uniform, judge  # noqa: E402
from tests.pages import section_of  # noqa: E402
from tests.solving.extensive.test_tree import FIVE  # noqa: E402

PAGE = "docs/environment/libraries.md"
FIVE_CARDS = "python_mille_bornes(edition=mini7,deck=2x50 roll stop right_of_way,rules=hand_limit:1)"
FOUR_CARDS = "python_mille_bornes(edition=mini7,deck=50 roll stop right_of_way,rules=hand_limit:1 target:50)"
NO_SAFETY = "python_mille_bornes(edition=mini8,deck=2x50 roll stop,rules=hand_limit:1)"
TABLES = [
    "python_mille_bornes",
    "python_mille_bornes(edition=mini7)",
    "python_mille_bornes(edition=mini7,key=compact,first=-1)",
    "python_mille_bornes(edition=dutch,players=4)",
    "python_mille_bornes(edition=winning_moves,reward=win,players=3)",
]


@cache
def five() -> Any:
    return pyspiel.load_game(FIVE_CARDS)


def random_states(game: Any, seed: int) -> list[Any]:
    """The states of a random game, chance nodes too."""
    generator, states = np.random.default_rng(seed), [game.new_initial_state()]
    while not states[-1].is_terminal():
        state = states[-1].clone()
        outcomes = state.chance_outcomes() if state.is_chance_node() else None
        chances = [p for _, p in outcomes] if outcomes else None
        state.apply_action(int(generator.choice(state.legal_actions(), p=chances)))
        states.append(state)
    return states


# The interface ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
def test_openspiel_finds_nothing_wrong_with_random_games(table: str) -> None:
    game = pyspiel.load_game(table)
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)


def api_tests() -> Any:
    """OpenSpiel's API tests, as a module."""
    name = "open_spiel.integration_tests.api_test"
    if name not in sys.modules:
        result = importlib.util.find_spec(name)
        assert result is not None
        assert result.loader is not None
        module = importlib.util.module_from_spec(result)
        sys.modules[name] = module
        result.loader.exec_module(module)
    return sys.modules[name]


def run_cases(case: type) -> None:
    import unittest  # noqa: PLC0415 - OpenSpiel's tests are of that kind

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.testsRun > 0
    assert [text for _, text in result.errors + result.failures] == []


@pytest.mark.parametrize("table", [FOUR_CARDS, NO_SAFETY])
def test_openspiels_tests_of_the_whole_tree_pass(table: str) -> None:
    """Legal actions, perfect recall of keys and tensors, payoffs that add up to nothing."""
    api = api_tests()
    game = pyspiel.load_game(table)
    nodes = list(game.new_initial_state().node.tree.nodes())
    kinds = [node.player for node in nodes]
    api.TOTAL_NUM_STATES[table] = (kinds.count(-1), sum(kind >= 0 for kind in kinds), kinds.count(-4))
    sets = {(node.player, node.key(node.player)) for node in nodes if node.player >= 0}
    api.PERFECT_RECALL_NUM_STATES[table] = len(sets)
    run_cases(type("Whole", (api.EnforceAPIOnFullTreeBase,), {"game": game, "game_name": table}))


@pytest.mark.parametrize("table", TABLES[:2])
def test_openspiels_tests_of_some_states_pass(table: str) -> None:
    api, game = api_tests(), pyspiel.load_game(table)
    run_cases(type("Some", (api.EnforceAPIOnPartialTreeBase,), {"game": game, "game_name": table}))


@pytest.mark.parametrize("form", ["registered", "efg"])
def test_learners_of_benchmarks_find_what_they_ask_for(form: str, tmp_path: Path) -> None:
    """IIG-RL-Benchmark loads a game by its name, checks its type, and makes environments of `str(game)`."""
    name = "python_mille_bornes(edition=mini8)"
    if form == "efg":
        export(Tree(FIVE), tmp_path / "five.efg")
        name = f"efg_game(filename={tmp_path / 'five.efg'})"
    game = pyspiel.load_game(str(pyspiel.load_game(name)))
    kind = game.get_type()
    assert (game.num_players(), kind.utility) == (2, pyspiel.GameType.Utility.ZERO_SUM)
    assert kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL
    assert kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    for seed in range(5):
        *states, end = random_states(game, seed)
        decisions = [state for state in states if not state.is_chance_node()]
        assert len(decisions) <= game.max_game_length()
        assert all(game.min_utility() <= payoff <= game.max_utility() for payoff in end.returns())
        for state in decisions:
            mask = state.legal_actions_mask()
            assert np.flatnonzero(mask).tolist() == state.legal_actions()
            assert len(mask) == game.num_distinct_actions()
            for seat in range(2):
                shown = state.information_state_tensor(seat)
                assert [len(shown)] == game.information_state_tensor_shape()
                if form == "registered":
                    assert len(state.observation_tensor(seat)) == game.observation_tensor_size()
    assert kind.provides_observation_tensor == (form == "registered")
    env = rl_environment.Environment(game, chance_event_sampler=rl_environment.ChanceEventSampler(seed=1))
    step = env.reset()
    while not step.last():
        seat = step.observations["current_player"]
        assert len(step.observations["info_state"][seat]) == env.observation_spec()["info_state"][0]
        step = env.step([step.observations["legal_actions"][seat][0]])


def test_information_states_are_those_of_the_environment() -> None:
    game = pyspiel.load_game("python_mille_bornes(edition=mini7)")
    env = vector_env(1, "mini7", history=True)
    env.reset(seed=3)
    while env.agent_selection[0] != 0:
        env.reset()
    state = game.new_initial_state()
    for seat in (0, 1):
        for card in np.arange(19).repeat(env.games.states["hand"][0][seat]):
            state.apply_action(card)
    for seat in (0, 1):
        assert state.information_state_string(seat) == env.information_states(seat, form="text")[0]
        tensor = env.information_states(seat, form="tensor")[0]
        assert (np.array(state.information_state_tensor(seat)) == tensor).all()
    assert state.legal_actions() == list(env.legal_actions())


def test_parameters_make_the_table() -> None:
    game = five()
    assert game.get_parameters()["deck"] == "2x50 roll stop right_of_way"
    assert game.new_initial_state().chance_outcomes()[0] == (1, pytest.approx(0.7))
    assert (game.num_players(), game.num_distinct_actions()) == (2, 42)
    assert game.max_utility() == -game.min_utility() == 2200
    assert pyspiel.load_game("python_mille_bornes(edition=dutch,players=4)").num_players() == 4
    for wrong in (
        "key=both",
        "edition=mini99",
        "deck=7x50 rolls",
        "rules=hand_limit",
        "players=5",
        "first=2",
    ):
        with pytest.raises(Exception, match=r"key is|no edition|no card|rules is|no table|first is"):
            pyspiel.load_game(f"python_mille_bornes({wrong})")


def test_the_neutral_name_is_the_same_game() -> None:
    game = pyspiel.load_game("python_road_trip(edition=roadtrip7)")
    other = pyspiel.load_game("python_mille_bornes(edition=mini7)")
    assert game.get_type().short_name == "python_road_trip"
    assert game.new_initial_state().chance_outcomes() == other.new_initial_state().chance_outcomes()
    assert str(pyspiel.load_game(str(game))) == str(game)


def test_a_state_is_copied_pickled_and_written_as_a_struct() -> None:
    game = five()
    for state in random_states(game, 2):
        again = game.deserialize_state(state.serialize())
        struct = json.loads(state.to_json())
        for other in (state.clone(), again, game.new_initial_state(struct)):
            assert other.history() == state.history() == struct["history"]
            assert str(other) == str(state) == struct["position"]
            assert other.returns() == state.returns()
        if not state.is_chance_node() and not state.is_terminal():
            seat = state.current_player()
            for action in state.legal_actions():
                as_struct = state.action_to_struct(seat, action)
                assert json.loads(as_struct.to_json())["name"] == state.action_to_string(seat, action)
                copied = state.clone()
                assert copied.apply_action_struct(as_struct).ok()
                assert copied.history() == [*state.history(), action]
            seen = json.loads(state.to_observation_struct(seat).to_json())
            assert seen["information_state"] == state.information_state_string(seat)
            assert sum(seen["observation"]["hand"]) > 0


# Its algorithms --------------------------------------------------------------------------------------------


def solved(game: Any, iterations: int = 200) -> tuple[float, float]:
    """The value of a game for seat 0 by CFR+ in C++, and the exploitability of its policy."""
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    value = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True, 0.0)[0]
    return value, pyspiel.exploitability(game, policy)


def test_its_cfr_finds_the_value_that_ours_finds() -> None:
    """OpenSpiel's CFR+ by both keys, and that of `millebornes_env.solving`, which walks another tree."""
    ours = Solver(solvable(FIVE))
    ours.run(300)
    for key in ("full", "compact"):
        result, exploitable = solved(pyspiel.load_game(FIVE_CARDS.replace("deck", f"key={key},deck")), 25)
        assert exploitable < 10.0
        assert result == pytest.approx(ours.judge().value, abs=5.0)


def test_a_policy_of_openspiel_is_evaluated_exactly() -> None:
    game = five()
    policy = policies.UniformRandomPolicy(game)
    found = report.exploitability(policy, game.tree.edition)
    assert found.points == pytest.approx(exploitability.exploitability(game, policy))
    assert found.points == pytest.approx(report.exploitability("random", game.tree.edition).points)
    with pytest.raises(
        SolvingError, match=r"the policy is of the game 'python_mille_bornes\(.*, not of mini8-v0"
    ):
        report.exploitability(policy, "mini8")
    with pytest.raises(SolvingError, match="convert a policy of OpenSpiel's C"):
        report.exploitability(pyspiel.UniformRandomPolicy(game), game.tree.edition)


def test_both_keys_have_the_same_best_responses() -> None:
    """By OpenSpiel's best responses, in Python and in C++, and by ours."""
    result = [judge(solvable(FIVE), Uniform()).exploitability]
    for key in ("full", "compact"):
        game = pyspiel.load_game(FIVE_CARDS.replace("deck", f"key={key},deck"))
        result.append(pyspiel.exploitability(game, pyspiel.UniformRandomPolicy(game)))
    result.append(exploitability.exploitability(five(), policies.UniformRandomPolicy(five())))
    assert result == pytest.approx([result[0]] * 4, abs=1e-9)


def test_outcome_and_external_sampling_run_on_it() -> None:
    game = five()
    before = pyspiel.exploitability(game, pyspiel.UniformRandomPolicy(game))
    solver = pyspiel.ExternalSamplingMCCFRSolver(game, 1)
    for _ in range(500):
        solver.run_iteration()
    assert pyspiel.exploitability(game, solver.average_policy()) < before / 2
    pyspiel.OutcomeSamplingMCCFRSolver(game).run_iteration()


def test_its_deep_cfr_learns() -> None:
    """In PyTorch, on four cards: a third of what random play gives away, or less."""
    pytest.importorskip("torch")
    from open_spiel.python.pytorch import deep_cfr  # noqa: PLC0415 - PyTorch is an extra

    game = pyspiel.load_game(FOUR_CARDS)
    np.random.seed(1)  # it samples by numpy's own generator
    solver = deep_cfr.DeepCFRSolver(
        game, (32,), (32,), num_iterations=4, num_traversals=10, learning_rate=1e-2, seed=1,
        batch_size_advantage=32, batch_size_strategy=32, memory_capacity=10_000,
        advantage_network_train_steps=50, policy_network_train_steps=200,
    )  # fmt: skip
    solver.solve()
    learned = policies.tabular_policy_from_callable(game, solver.action_probabilities)
    before = exploitability.exploitability(game, policies.UniformRandomPolicy(game))
    assert exploitability.exploitability(game, learned) < before / 3


def test_a_written_tree_has_the_same_value(tmp_path: Path) -> None:
    export(Tree(FIVE), tmp_path / "five.efg")
    read = pyspiel.load_efg_game((tmp_path / "five.efg").read_text(encoding="utf-8"))
    assert len(get_all_states(read, include_terminals=True, include_chance_states=True)) > 100
    for game in (five(), read):
        uniform = pyspiel.UniformRandomPolicy(game)
        assert pyspiel.exploitability(game, uniform) == pytest.approx(
            pyspiel.exploitability(five(), pyspiel.UniformRandomPolicy(five()))
        )
    assert solved(read, 10)[0] == pytest.approx(solved(five(), 10)[0], abs=1e-6)


def test_its_search_plays_with_our_redeals() -> None:
    """Information-set MCTS against random play, at a table that no tree holds."""
    for table in ("python_mille_bornes(edition=mini12)", "python_mille_bornes"):
        game = pyspiel.load_game(table)
        generator = np.random.RandomState(1)
        bot = ismcts.ISMCTSBot(
            game, mcts.RandomRolloutEvaluator(1, generator), 500.0, 6, random_state=generator
        )
        state, decisions = game.new_initial_state(), 0
        while decisions < 12 and not state.is_terminal():
            if state.is_chance_node():
                cards, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(generator.choice(cards, p=chances)))
                continue
            seat, decisions = state.current_player(), decisions + 1
            other = state.resample_from_infostate(seat, pyspiel.UniformProbabilitySampler(0.0, 1.0))
            assert other.information_state_string(seat) == state.information_state_string(seat)
            assert other.legal_actions() == state.legal_actions()
            action = bot.step(state)
            assert action in state.legal_actions()
            state.apply_action(int(action))


def test_the_examples_of_the_page_print_what_stands_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = section_of(PAGE, "OpenSpiel, and other solvers")
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(example, PAGE, "exec"), names)
        printed = capsys.readouterr().out
        assert not printed or f"```\n{printed}```" in text
