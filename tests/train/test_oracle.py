"""Inputs of the asymmetric critic, written out by hand, and of the networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from millebornes_env import vector_env
from millebornes_env.agents.policy.network import InputSpec
from millebornes_env.agents.policy.writing import save_policy_files
from millebornes_env.agents.protocol import Table
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from train.common.games import oracle_scale, oracle_size, write_oracle_rows
from train.common.network import common_scale, start_layers
from train.selfplay import PRECISIONS, Perceptron, actor_critic


def network_at(table: Table, hidden: tuple[int, ...]) -> Perceptron:
    return actor_critic(common_scale([table]), hidden, table.num_actions)


def test_the_oracle_sees_hands_and_how_soon_cards_come() -> None:
    players = 4
    env = vector_env(20, players=players, seed=4)
    env.reset()
    for _ in range(70):
        env.step(env.sample_actions())
    observations = env.games.buffers.observation
    size = observations.shape[1]
    streams = env.state_sections[-1].start
    rows = np.full((20, oracle_size(streams, players)), 99, np.int8)
    write_oracle_rows(env.state(), streams, players, rows)
    assert (rows[:, :size] == observations).all()
    for game, state in enumerate(env.get_states()):
        at = size
        for place in range(1, players):
            seat = (int(state["seat"]) + place) % players
            assert rows[game, at : at + NUM_CARD_TYPES].tolist() == state["hand"][seat].tolist()
            at += NUM_CARD_TYPES
        for place in range(players):
            seat = (int(state["seat"]) + place) % players
            expected, weight = np.zeros(NUM_CARD_TYPES), 100.0
            for card in state["deck"][state["stream_next"][seat] : state["stream_end"][seat]]:
                expected[card] = int(min(expected[card] + weight, 127.0))
                weight *= 0.9
            assert rows[game, at : at + NUM_CARD_TYPES].tolist() == expected.tolist()
            at += NUM_CARD_TYPES
        assert at == rows.shape[1]
    assert len(oracle_scale(common_scale([Table.of(env)]), players)) == rows.shape[1]


def test_the_scale_brings_all_numbers_to_one_or_less() -> None:
    tables = [Table.of(vector_env(1, name, observe_rules=True)) for name in ("parker", "dutch")]
    scale = common_scale(tables)
    for name in ("parker", "dutch"):
        env = vector_env(50, name, observe_rules=True, seed=1)
        env.reset()
        for _ in range(60):
            env.step(env.sample_actions())
            assert (env.games.buffers.observation * scale).max() <= 1.0


def test_a_new_policy_is_nearly_uniform_and_half_precision_nearly_the_same() -> None:
    torch.manual_seed(1)
    env = vector_env(30, seed=1)
    env.reset()
    network = network_at(Table.of(env), (64, 32))
    rows = torch.from_numpy(env.games.buffers.observation)
    exact = network(rows)
    assert exact[:, :-1].abs().max() < 0.1
    half = network(rows, PRECISIONS["bfloat16"])
    assert half.dtype == torch.float32
    assert (half - exact).abs().max() < 0.05
    assert (half - exact).abs().max() > 0


def test_learning_starts_from_the_weights_of_a_policy(tmp_path) -> None:  # type: ignore[no-untyped-def]
    env = vector_env(1)
    table, position = Table.of(env), env.games.buffers.observation
    torch.manual_seed(1)
    first, second = network_at(table, (16,)), network_at(table, (16,))
    save_policy_files(tmp_path, first.folded(), table, value="points")
    second.unfold(start_layers(str(tmp_path), table, position), str(tmp_path))
    rows = torch.randint(0, 5, (40, 119), dtype=torch.int8)
    assert torch.allclose(first(rows), second(rows), atol=1e-5)
    with pytest.raises(ValueError, match=r"has layers of .* the network to be trained has"):
        network_at(table, (17,)).unfold(start_layers(str(tmp_path), table, position), str(tmp_path))


def test_at_one_table_learning_starts_from_a_policy_that_sees_the_rules(tmp_path: Path) -> None:
    """The rules' contribution moves into the biases: all actions keep their probabilities."""
    seen = vector_env(40, players=4, observe_rules=True, seed=3)
    env = vector_env(40, players=4, seed=3)
    torch.manual_seed(1)
    first, second = network_at(Table.of(seen), (16,)), network_at(Table.of(env), (16,))
    torch.nn.init.normal_(first.linears[-1].weight)
    spec = InputSpec(seen.observation_spec, features=False)
    save_policy_files(tmp_path, first.folded(), Table.of(seen), input_spec=spec, value="points")
    env.reset()
    seen.reset()
    second.unfold(
        start_layers(str(tmp_path), Table.of(env), env.games.buffers.observation[:1]), str(tmp_path)
    )
    for _ in range(60):
        actions = env.sample_actions()
        env.step(actions)
        seen.step(actions)
    ours = second(torch.from_numpy(env.games.buffers.observation))
    theirs = first(torch.from_numpy(seen.games.buffers.observation))
    assert theirs.std() > 0.1
    assert torch.allclose(ours, theirs, atol=1e-4)
    third = network_at(Table.of(seen), (16,))
    third.unfold(
        start_layers(str(tmp_path), Table.of(seen), seen.games.buffers.observation[:1]), str(tmp_path)
    )
    assert torch.allclose(third(torch.from_numpy(seen.games.buffers.observation)), theirs, atol=1e-4)
