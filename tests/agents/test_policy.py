"""`policy`: compiled play is what a hand and NumPy say, at every table, whatever it is shown."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.agents import load
from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.fingerprint import fingerprint
from millebornes_env.agents.millebornes import features
from millebornes_env.agents.millebornes.observation_reader import read_observation, starts_of
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.network import MAX_UNITS, forward_hidden, output
from millebornes_env.agents.protocol import Table, is_compiled
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.engine.numba.compiling import for_kernels, kernel
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.rules import RulesRecord, compiled_rules
from millebornes_env.games.millebornes.sections import ObservationSpec
from millebornes_env.games.millebornes.state import StateArray, new_states
from tests.agents.choosing import chosen_by_state
from tests.agents.policies import (
    Layers,
    network_for,
    positions,
    rows_by_state,
    size_of,
    values_of_network,
    write_run,
)
from tests.each import each

TABLES = [("parker", 2), ("dujardin", 2), ("parker", 3), ("parker", 4), ("winning_moves", 6)]
OBSERVATION_SPECS = [ObservationSpec(*flags) for flags in product((0, 1), repeat=3)]
USUAL, BLIND = ObservationSpec(), ObservationSpec(unseen=0)

at_tables = pytest.mark.parametrize(("name", "players"), TABLES)


@kernel
def outputs_of_network(
    states: StateArray, rules: RulesRecord, options: Int64Array, units: np.ndarray, outputs: np.ndarray
) -> None:
    """All outputs of the compiled network, for the seats that decide."""
    for game in range(len(states)):
        last = forward_hidden(
            rulebook, features, ObservationSpec, states[game], rules, int(states[game].seat), options, units
        )
        for number in range(outputs.shape[1]):
            outputs[game, number] = output(options, last, units, number)


def compiled_outputs(agent: PolicyAgent, env: VectorEnv, states: StateArray) -> np.ndarray:
    outputs = np.zeros((len(states), len(agent.layers[-1][1])), np.float32)
    units = np.full(2 * MAX_UNITS, 1e30, np.float32)  # what is left of other calls must not matter
    outputs_of_network(for_kernels(states), compiled_rules(env.rules), agent.options, units, outputs)
    return outputs


def policy(folder: Path, env: VectorEnv, layers: Layers, **said: object) -> PolicyAgent:
    """The agent of such a run folder; its `mode` and `seed` aside, `said` is what `write_run` takes."""
    mode, seed = said.pop("mode", "best"), said.pop("seed", 0)
    agent = load(f"policy:{write_run(folder, env, layers, **said)},mode={mode}", env, seed=seed)  # type: ignore[arg-type]
    return agent


def bias_only(env: VectorEnv, bias: np.ndarray) -> Layers:
    return [(np.zeros((len(bias), size_of(env)), np.float32), bias.astype(np.float32))]


def by_hand(layers: Layers, row: list[float], squash: Callable[[float], float]) -> list[float]:
    """Compute the network's outputs for one row, number by number."""
    for depth, (weight, bias) in enumerate(layers):
        sums = [
            sum(w * x for w, x in zip(ws, row, strict=True)) + b
            for ws, b in zip(weight.tolist(), bias.tolist(), strict=True)
        ]
        row = sums if depth == len(layers) - 1 else [squash(value) for value in sums]
    return row


# The network -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("activation", "squash"), [("tanh", math.tanh), ("relu", lambda value: max(value, 0.0))]
)
def test_the_network_says_what_was_computed_by_hand(
    tmp_path: Path, activation: str, squash: Callable[[float], float]
) -> None:
    env = vector_env(6)
    layers = network_for(env)
    agent = policy(tmp_path, env, layers, activation=activation)
    illegal_ones_liked_best = 0
    for states, masks in positions(env):
        rows = rows_by_state(env, states, USUAL)
        wanted = [by_hand(layers, row, squash) for row in rows.tolist()]
        assert agent.logits(rows) == pytest.approx(np.array(wanted), rel=1e-4, abs=1e-4)
        assert compiled_outputs(agent, env, states) == pytest.approx(np.array(wanted), rel=1e-4, abs=1e-4)
        for game, action in enumerate(chosen_by_state(agent, env.rules, states)):
            legal = [action for action in range(len(masks[game])) if masks[game, action]]
            assert action == max(legal, key=lambda action, scores=wanted[game]: scores[action])
            illegal_ones_liked_best += int(np.argmax(wanted[game])) not in legal
    assert illegal_ones_liked_best > 0


@each(
    ("hidden", "activation"),
    [
        ((), "relu"),
        ((1,), "relu"),
        ((7,), "tanh"),
        ((512,), "relu"),
        ((128, 128), "relu"),
        ((15, 17, 16, 3), "tanh"),
    ],
)
@at_tables
def test_the_compiled_network_says_what_numpy_says(
    tmp_path: Path, name: str, players: int, hidden: tuple[int, ...], activation: str
) -> None:
    env = vector_env(8, name, players=players, episode="match")
    layers = network_for(env, hidden, extra=1)
    agent = policy(tmp_path, env, layers, activation=activation, value="points")
    for states, masks in positions(env, every=9):
        rows = rows_by_state(env, states, USUAL)
        outputs = compiled_outputs(agent, env, states)
        assert outputs[:, :-1] == pytest.approx(agent.logits(rows), rel=1e-4, abs=1e-4)
        assert outputs[:, -1] == pytest.approx(agent.values(rows), rel=1e-4, abs=1e-4)
        values = np.zeros(8)
        values_of_network(for_kernels(states), compiled_rules(env.rules), agent.options, values)
        assert values == pytest.approx(outputs[:, -1])
        chosen = chosen_by_state(agent, env.rules, states)
        liked = np.where(masks != 0, agent.logits(rows), -np.inf)
        assert (masks[np.arange(8), chosen] == 1).all()
        assert liked[np.arange(8), chosen] == pytest.approx(liked.max(axis=1), rel=1e-4, abs=1e-4)


# What it sees ----------------------------------------------------------------------------------------------


@each("number", range(2 * len(OBSERVATION_SPECS)))
def test_it_looks_with_its_own_view(tmp_path: Path, number: int) -> None:
    """By NumPy on rows that show as much, from the games themselves, and from all kinds of observations."""
    shown, features = OBSERVATION_SPECS[number // 2], number % 2 == 1
    name, players = TABLES[number % len(TABLES)]
    env = vector_env(8, name, players=players, episode="match")
    layers = network_for(env, (16,), shown, features=features)
    agent = policy(tmp_path, env, layers, shown=shown, features=features)
    for states, masks in positions(env, every=15):
        logits = agent.logits(rows_by_state(env, states, shown, features))
        liked = np.where(masks != 0, logits, -np.inf).argmax(axis=1)
        assert np.array_equal(chosen_by_state(agent, env.rules, states), liked)
        for shows_rules, padded in ((False, False), (True, True)):
            other_env = vector_env(
                *(8, name), players=players, episode="match", observe_rules=shows_rules, padded=padded
            )
            other = load(str(tmp_path), other_env)
            observations = other_env.set_states(states)
            acted = other.act(observations["observation"], observations["action_mask"])
            assert np.array_equal(acted, liked)
            assert np.array_equal(
                other.inputs(observations["observation"]), rows_by_state(env, states, shown, features)
            )
            chances = other.probabilities(observations["observation"], observations["action_mask"])
            assert np.array_equal(chances.argmax(axis=1), liked)
            assert chances.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
            assert not chances[observations["action_mask"] == 0].any()


def test_who_does_not_look_at_unseen_cards_plays_where_they_are_not_shown(tmp_path: Path) -> None:
    env = vector_env(8, observe_unseen=False)
    agent = policy(tmp_path / "blind", env, network_for(env, shown=BLIND), shown=BLIND)
    for states, _ in positions(env, every=15):
        observations = env.set_states(states)
        acted = agent.act(observations["observation"], observations["action_mask"])
        assert np.array_equal(acted, chosen_by_state(agent, env.rules, states))
        read = for_kernels(new_states(1))[0]
        starts = starts_of(Table.of(env), counts_unseen=False)
        read_observation(observations["observation"][0], starts, compiled_rules(env.rules), read)
        assert np.array_equal(read["hidden"], read["hand"][0]), "unseen cards that nobody showed"
    seeing = write_run(tmp_path / "seeing", env, network_for(env))
    with pytest.raises(ValueError, match="observe_unseen=True"):
        load(str(seeing), env)


# Choosing --------------------------------------------------------------------------------------------------


@each("mode", ["best", "sample"])
@each("size", [0.0, 1.0, 1e6, 3e38])
def test_illegal_actions_are_never_played_however_much_they_are_liked(
    tmp_path: Path, size: float, mode: str
) -> None:
    env = vector_env(20)
    actions = int(env.single_action_space.n)
    for number, sign in enumerate((1, -1)):
        agent = policy(
            tmp_path / str(number), env, bias_only(env, np.linspace(-size, sign * size, actions)), mode=mode
        )
        for states, masks in positions(env):
            chosen = chosen_by_state(agent, env.rules, states, np.arange(20) << 27)
            assert (masks[np.arange(20), chosen] == 1).all()


@pytest.mark.parametrize("mode", ["best", "sample"])
def test_logits_that_overflow_are_played_legally(tmp_path: Path, mode: str) -> None:
    """Some are infinite, some NaN. Files with such weights are refused: here they change after loading."""
    env = vector_env(20)
    agent = policy(tmp_path, env, network_for(env, (40, 40)), activation="relu", mode=mode)
    with np.errstate(over="ignore"):
        agent._block *= np.float32(3e37)
    outputs = []
    for states, masks in positions(env):
        outputs.append(compiled_outputs(agent, env, states))
        chosen = chosen_by_state(agent, env.rules, states, np.arange(20) << 27)
        assert (masks[np.arange(20), chosen] == 1).all()
    assert not np.isfinite(np.array(outputs)).all()


def test_sampling_follows_the_softmax(tmp_path: Path) -> None:
    """Of the legal actions; those that are not legal are far more probable than all."""
    env = vector_env(1)
    states, masks = max(positions(env), key=lambda position: int(position[1].sum()))
    legal = np.flatnonzero(masks[0])
    assert len(legal) >= 5
    bias = np.full(masks.shape[1], 30.0)
    bias[legal] = 100.0 + np.log(np.arange(1, len(legal) + 1))
    agent = policy(tmp_path, env, bias_only(env, bias), mode="sample")
    draws = np.random.default_rng(1).integers(2**32, size=40_000)
    drawn = chosen_by_state(agent, env.rules, np.repeat(states, len(draws)), draws)
    counts = np.array([(drawn == action).sum() for action in legal])
    assert counts.sum() == len(draws)
    expected = len(draws) * np.arange(1, len(legal) + 1) / np.arange(1, len(legal) + 1).sum()
    degrees = len(legal) - 1
    assert ((counts - expected) ** 2 / expected).sum() < degrees + 4 * math.sqrt(2 * degrees) + 4
    ends = chosen_by_state(agent, env.rules, np.repeat(states, 2), np.array([0, 2**32 - 1]))
    assert ends.tolist() == [legal[0], legal[-1]]


# Ways to play ----------------------------------------------------------------------------------------------


def test_the_arena_plays_it_compiled_and_on_threads(tmp_path: Path) -> None:
    """The same on one thread and on three, and from copies whose originals are gone."""
    env = vector_env(1)
    spec = policy(tmp_path, env, network_for(env, (64, 64)), activation="relu", mode="sample", seed=3)
    assert is_compiled(spec)
    points = []
    for threads in (1, 3):
        config = MatchConfig(threads=threads, seed=5)
        points.append(play([spec, load("greedy", env)], config, 64).points)
    assert len(np.unique(points[0])) > 10
    assert np.array_equal(*points)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda agent: pickle.loads(pickle.dumps(agent))]
)
def test_a_copy_has_weights_of_its_own(tmp_path: Path, copied: Callable[[PolicyAgent], PolicyAgent]) -> None:
    env = vector_env(20)
    agent = policy(tmp_path, env, network_for(env))
    states, _ = positions(env)[5]
    chosen = chosen_by_state(agent, env.rules, states)
    other = copied(agent)
    assert other.options[0] != agent.options[0]
    other._block[:] = 0.0
    assert np.array_equal(chosen_by_state(agent, env.rules, states), chosen)


def test_a_fingerprint_changes_with_the_network(tmp_path: Path) -> None:
    env = vector_env(1)
    digits = {}
    for number, (seed, activation) in enumerate([(1, "relu"), (2, "relu"), (1, "tanh")]):
        agent = policy(tmp_path / str(number), env, network_for(env, seed=seed), activation=activation)
        digits[number] = fingerprint(agent, "policy")
    assert len(set(digits.values())) == len(digits)
    again = policy(tmp_path / "again", env, network_for(env, seed=1), activation="relu")
    assert fingerprint(again, "policy") == digits[0]
