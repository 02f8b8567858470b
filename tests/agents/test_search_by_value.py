"""Search that lets a policy judge positions: whose value it is, when it is asked; and that it is honest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.agents.compiled.agent import MEMORY
from millebornes_env.agents.millebornes import features
from millebornes_env.agents.policy.network import network_value
from millebornes_env.agents.protocol import Table, sees_hidden_cards
from millebornes_env.agents.registry import rollout_agent
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.hidden_cards import no_hands
from millebornes_env.agents.search.kernels import (
    Decisions,
    begin_decisions,
    judged_value,
    read_states,
    search_on,
)
from millebornes_env.engine.numba.compiling import for_kernels, kernel
from millebornes_env.errors import AgentError
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.rules import compiled_rules
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC, ObservationSpec, sections
from millebornes_env.games.millebornes.state import StateArray
from tests.agents.policies import Layers, network_for, size_of, write_run
from tests.agents.test_search import positions, redealt, seats_of
from tests.support import Position

DISTANCE_25, DISTANCE_100, DISCARD_25, DISCARD_100 = 0, 3, 19, 22
GAMES = 12


def judging(env: VectorEnv, folder: Path, layers: Layers | None = None, **said: Any) -> str:
    """A policy that judges positions, by the network given or by chance."""
    layers = network_for(env, (16,), extra=1) if layers is None else layers
    said = {"activation": "relu", "value": "points", "editions": [env.edition.label]} | said
    return f"policy:{write_run(folder, env, layers, **said)}"


@kernel
def values_of_first_seat(states: StateArray, rules: Any, options: np.ndarray, values: np.ndarray) -> None:
    for game in range(len(states)):
        values[game] = network_value(rulebook, features, ObservationSpec, states[game], rules, 0, options)


def searcher(env: VectorEnv, rollout: str, seed: int = 3, **options: Any) -> SearchAgent:
    options = {"rollouts": 8, "z": 0.0, "depth": 4} | options
    table = Table.of(env)
    return SearchAgent(table, seed, rollout_agent(rollout, table, seed), **options)


def choices(env: VectorEnv, states: StateArray, rollout: str, **options: Any) -> np.ndarray:
    agent = searcher(env, rollout, **options)
    return agent.act_on(states, seats_of(states), np.arange(len(states)))


def searched(env: VectorEnv, states: StateArray, rollout: str, **options: Any) -> Decisions:
    """Decisions after all their redeals."""
    agent = searcher(env, rollout, **options)
    kernel_of = agent._searcher(agent._default_starts)
    decisions = agent._new_decisions(len(states))
    row = np.zeros(agent._default_size, np.int8)
    read_states(kernel_of, agent._rules, for_kernels(states), seats_of(states), row, decisions.roots)
    memories, taken = np.zeros((len(states), MEMORY), np.int16), np.zeros(len(states), np.int64)
    begin_decisions(kernel_of, agent._rules, np.arange(len(states)), memories, taken, decisions)
    for number in range(len(states)):
        search_on(kernel_of, agent._rules, decisions, number, 1 << 40, no_hands())
    return decisions


def test_it_sees_no_hidden_cards(tmp_path: Path) -> None:
    env = vector_env(GAMES)
    rollout = judging(env, tmp_path)
    assert not sees_hidden_cards(searcher(env, rollout))
    for steps in (5, 40):
        states = positions(env, steps)
        others = redealt(env, states, steps)
        assert states.tobytes() != others.tobytes()
        assert np.array_equal(choices(env, states, rollout), choices(env, others, rollout))


def test_with_a_depth_that_no_round_has_it_is_search_to_the_end(tmp_path: Path) -> None:
    env = vector_env(GAMES)
    rollout = judging(env, tmp_path)
    states = positions(env, 30)[:4]
    to_the_end, deep, cut_off = (
        searched(env, states, rollout, depth=depth, rollouts=3) for depth in (0, 4000, 4)
    )
    for field in ("base", "tried", "num_tried", "gains", "squares", "redeals", "playouts"):
        assert np.array_equal(getattr(to_the_end, field), getattr(deep, field)), field
    assert not np.array_equal(to_the_end.gains, cut_off.gains)


def test_a_round_that_ends_first_counts_its_points(tmp_path: Path) -> None:
    """With few cards left all rounds end within the depth; with a smaller depth none of them is the same."""
    env = vector_env(1)
    layers = network_for(env, (16,), extra=1)
    position = Position("battle 0: roll", "battle 1: roll", "hand 0: 25 100 roll", "hand 1: 25 roll")
    position.draw_pile(1)
    states = position.games.states
    rollout = judging(env, tmp_path, layers)
    to_the_end, deep, cut_off = (searched(env, states, rollout, depth=depth) for depth in (0, 12, 1))
    assert np.array_equal(to_the_end.gains, deep.gains)
    assert not np.array_equal(to_the_end.gains, cut_off.gains)


def network_that_counts(env: VectorEnv, of_own: float, of_others: float, favourite: int) -> Layers:
    """Chooses `favourite` where it is legal; its value: weights of the own distance and of the other's.

    It knows nothing of a seat that is not to decide.
    """
    size, actions = size_of(env), int(env.single_action_space.n)
    at = {section.name: section.start for section in sections(env.rules, DEFAULT_SPEC)}
    hidden = np.zeros((2, size)), np.zeros(2)
    hidden[0][0, at["km"]] = hidden[0][1, at["km"] + 1] = 1.0
    hidden[0][:, at["to_act"] + 1] = -1000.0
    last = np.zeros((actions + 1, 2)), np.zeros(actions + 1)
    last[0][actions] = of_own, of_others
    last[1][favourite] = 1.0
    return [hidden, last]


def choice_of(tmp_path: Path, layers: Layers, depth: int) -> int:
    """Of a seat that may lay 25 or 100 km, while the other one can only discard."""
    env = vector_env(1)
    position = Position(
        "battle 0: roll", "battle 1: stop", "hand 0: 25 100 4x gasoline", "hand 1: 6x repairs"
    )
    position.km(0, 100).km(1, 100)
    states = position.games.states
    rollout = judging(env, tmp_path / f"{depth}", layers)
    return int(choices(env, states, rollout, depth=depth, rollouts=40, sees="hands")[0])


def test_it_is_judged_when_the_own_seat_is_to_decide_and_for_its_team(tmp_path: Path) -> None:
    """After one decision, the other's, it is; after two it is not, so the own second play counts as well."""
    env = vector_env(1)
    lead = network_that_counts(env, 0.1, -0.1, DISCARD_25)
    assert choice_of(tmp_path, lead, 1) == DISTANCE_100
    assert choice_of(tmp_path, lead, 2) == DISTANCE_25  # which it would discard; the 100 it lays next
    lag = network_that_counts(env, -0.1, 0.1, DISTANCE_100)
    assert choice_of(tmp_path / "lag", lag, 1) not in {DISTANCE_25, DISTANCE_100}
    assert choice_of(tmp_path / "lag", lag, 2) == DISCARD_100


@pytest.mark.parametrize("depth", [1, 2])
def test_a_value_of_nothing_changes_nothing(tmp_path: Path, depth: int) -> None:
    env = vector_env(1)
    for favourite in (DISCARD_25, DISTANCE_25):
        layers = network_that_counts(env, 0.0, 0.0, favourite)
        assert choice_of(tmp_path / f"{favourite}", layers, depth) == favourite


@pytest.mark.parametrize(("name", "unit"), [("parker", 1000.0), ("dujardin", 1.0)])
def test_a_judgement_is_in_the_unit_of_a_round(tmp_path: Path, name: str, unit: float) -> None:
    """Of a round without points: 1 for a win, as of its reward."""
    env = vector_env(GAMES, name)
    agent = searcher(env, judging(env, tmp_path)).rollout_agent
    rules = compiled_rules(env.rules)
    states = for_kernels(positions(env, 30))
    values = np.zeros(len(states))
    values_of_first_seat(states, rules, agent.options, values)
    for state, value in zip(states, values.tolist(), strict=True):
        assert judged_value(state, rules, agent.options) == unit * value != 0.0


def test_only_who_can_judge_is_asked(tmp_path: Path) -> None:
    words = "depth needs a rollout agent that can evaluate positions.*cannot at this table: omit depth"
    env = vector_env(1)
    mute = f"policy:{write_run(tmp_path / 'mute', env, network_for(env))}"
    winner = judging(env, tmp_path / "winner", value="win")
    for rollout in ("arnold", mute, winner):
        with pytest.raises(AgentError, match=words):
            searcher(env, rollout)
        searcher(env, rollout, depth=0)
    three, pointless = vector_env(1, players=3), vector_env(1, "dujardin", players=3)
    searcher(three, judging(three, tmp_path / "three"))
    with pytest.raises(AgentError, match=words):
        searcher(pointless, judging(pointless, tmp_path / "pointless"))
    with pytest.raises(AgentError, match="depth is -1; it must be from 0 to 4,096"):
        searcher(env, "arnold", depth=-1)
