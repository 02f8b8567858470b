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
from millebornes_env.agents.registry import load
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from tests.train.short_runs import short
from train.common.games import new_rollout, oracle_scale, oracle_size, write_oracle_rows
from train.common.network import common_scale, start_layers
from train.selfplay import (
    PRECISIONS,
    Perceptron,
    Trainer,
    actor_critic,
    columns_of,
    expected_values,
    write_advantages,
)


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


# Q-boosting ------------------------------------------------------------------------------------------------


def test_targets_of_q_boosting_by_hand() -> None:
    """Seat 0 decides, seat 1 twice, seat 0 again; then a new round begins with seat 1."""
    masks = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1], [1, 0, 1]], np.int8)
    odds = np.array([[1, 3, 9], [9, 1, 1], [1, 9, 9], [1, 1, 2], [3, 9, 1]])
    logits = np.append(np.log(odds), np.full((5, 1), 99.0), axis=1).astype(np.float32)
    critic = np.array([[4, 8, -99], [-99, 2, 6], [5, -99, -99], [0, 4, 2], [4, -99, 8]], np.float32)
    actions = np.array([0, 2, 0, 1, 2])
    values = expected_values(critic, logits, masks)
    assert values.tolist() == pytest.approx([7, 4, 5, 2, 5])  # (4 + 3 * 8) / 4, (2 + 6) / 2, 5, ...
    rollout = new_rollout(5, 1, 1, 3, 2)
    rollout.seats[:, 0] = [0, 1, 1, 0, 1]
    rollout.values[:, 0] = values
    rollout.action_values[:, :1] = np.take_along_axis(critic, columns_of(actions, critic), axis=1)
    assert rollout.action_values[:, 0].tolist() == [4, 6, 5, 4, 8]
    rollout.rewards[:, 0] = [[1, -1], [2, -2], [3, -3], [6, -6], [0, 0]]
    rollout.dones[3] = True
    write_advantages(rollout, np.zeros((1, 4, 2), np.float32), 1.0, 0.5, 1)
    # Seat 0: the last error is 6 - 4 = 2; before, rewards 1 + 2 + 3 and V 2 less Q 4, and half of that 2: 5.
    # Seat 1: -3 - 6 - 5 = -14 at the third row; at the second -2 + 5 - 6 - 7 = -10.
    returns, advantages = rollout.returns[:, 0], rollout.advantages[:, 0]
    assert returns[:4].tolist() == pytest.approx([4 + 5, 6 - 10, 5 - 14, 4 + 2])
    assert advantages[:4].tolist() == pytest.approx([9 - 7, -4 - 4, -9 - 5, 6 - 2])
    assert rollout.loss_mask[:, 0].tolist() == [True, True, True, True, False]  # nothing follows the last one


def test_an_exact_critic_leaves_no_noise_of_own_actions() -> None:
    """Of two own decisions in a row the second doesn't change the advantage of the first."""
    advantages = []
    for second in (0, 1):
        rollout = new_rollout(2, 1, 1, 2, 1)
        rollout.values[:, 0] = [10, 10]
        rollout.action_values[:, 0] = [10, (0, 20)[second]]
        rollout.rewards[1, 0, 0] = (0, 20)[second]
        rollout.dones[1] = True
        write_advantages(rollout, np.zeros((1, 4, 1), np.float32), 1.0, 0.95, 1)
        advantages.append(rollout.advantages[:, 0].tolist())
    assert advantages == [[0, -10], [0, 10]]


@pytest.mark.parametrize("learner", ["torch", "sparse"])
def test_the_q_critic_learns_and_acting_needs_no_hidden_cards(tmp_path: Path, learner: str) -> None:
    """With other hidden cards the critic's inputs differ, and the policy plays the same."""
    options = {"oracle": True, "q_boosting": True, "pool_share": 0.0, "learner": learner}
    trainer = Trainer(short(tmp_path, edition=("mini8",), **options))
    trainer.collect()
    losses = [trainer.learn(0.0)["oracle_loss"] for _ in range(20)]  # from the same targets
    assert losses[-1] < 0.7 * losses[0]
    assert (trainer.flat.values != trainer.flat.action_values).any()

    games, rollout, (part, _) = trainer.games, trainer._rollout, trainer.games.parts[0]
    critic = np.zeros((2, games.num_games, games.oracle_size), np.int8)
    acted = []
    for number in range(2):
        games.write_decisions(rollout, 0)
        games.write_oracle_rows(critic[number])
        acted.append(trainer._policy.act(rollout.observations[0], rollout.masks[0], (1, 2)))
        part.load_states(part.env.determinize(part.env.agent_selection, seed=5))
    assert (critic[0] != critic[1]).any()
    for one, other in zip(*acted, strict=True):
        assert (one == other).all()
    trainer.save_policy(tmp_path / "policy")
    assert len(load(f"policy:{tmp_path / 'policy'}", vector_env(1, "mini8")).layers) == 2  # the policy's
