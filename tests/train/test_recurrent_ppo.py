"""`train.recurrent_ppo`: memories that are a seat's own, in training, in play and in exact evaluations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from millebornes_env import agents, vector_env
from millebornes_env.agents.fingerprint import fingerprint
from millebornes_env.agents.policy.memory import MemoryAgent
from millebornes_env.cli.arena import main as arena
from millebornes_env.errors import AgentError
from millebornes_env.solving import exploitability
from tests.each import each
from train import recurrent_ppo
from train.recurrent_ppo import Args, Learner, log_probs_of, sequences_of, train

SMALL = "mini7+copies_of_roll=1+copies_of_stop=1"
memories = pytest.mark.parametrize("memory", ["gru", "attention"])


def options(memory: str, folder: Path = Path("unused"), **changes: Any) -> Args:
    few = {"num_envs": 12, "num_steps": 24, "batch_size": 96, "hidden": (16,), "window": 4, "threads": 1}
    few |= {"edition": "mini8", "episode": "round", "total_timesteps": 2000, "eval_seconds": 0.0}
    return Args(run_dir=folder, memory=memory, **{**few, **changes})  # type: ignore[arg-type]


def after_two_rollouts(memory: str, **changes: Any) -> Learner:
    """A learner with random weights that makes a difference, whose games are in the middle of rounds."""
    learner = Learner(options(memory, **changes))
    with torch.no_grad():
        for weights in learner.network.parameters():
            weights.add_(0.3 * torch.randn(weights.shape))
    for number in (1, 2):
        learner.games.collect(learner.network, learner._rollout, torch.Generator().manual_seed(number))
    return learner


def log_probs_by_row(learner: Learner) -> npt.NDArray[np.float32]:
    """Log probabilities of the actions taken, from the sequences of the loss, float32[T, N]."""
    data, _ = learner._data()
    with torch.no_grad():
        outputs, _ = learner.network(data.rows, data.is_new, data.memory)
    found = log_probs_of(outputs[..., :-1], data.masks).gather(2, data.actions[..., None])[..., 0]
    players, seats = learner.games.env.players, learner._rollout.seats
    rows, lengths = recurrent_ppo.sequences_of(seats, players)
    result = np.full(seats.shape, np.nan, np.float32)
    for sequence, length in enumerate(lengths):
        result[rows[sequence, :length], sequence // players] = found[sequence, :length].numpy()
    return result


def with_other_rows(learner: Learner, seat: int) -> npt.NDArray[np.bool_]:
    """Put other observations into the rows of a seat; return which rows they are."""
    rollout, rng = learner._rollout, np.random.default_rng(3)
    own = rollout.seats == seat
    rollout.observations[own] = rng.permutation(rollout.observations[own])
    return own


@memories
@pytest.mark.parametrize("edition", ["mini8", "parker"])
def test_learning_sees_what_playing_saw(memory: str, edition: str) -> None:
    """Each action has the probability in the sequences of the loss with which it was sampled."""
    learner = after_two_rollouts(memory, edition=edition, episode="match" if edition == "parker" else "round")
    assert learner._rollout.memories.abs().sum() > 0
    assert log_probs_by_row(learner) == pytest.approx(learner._rollout.log_probs, abs=2e-4)


@memories
def test_a_seat_remembers_nothing_that_others_saw(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = after_two_rollouts(memory)
    before = log_probs_by_row(learner)
    changed = with_other_rows(learner, 1)
    after = log_probs_by_row(learner)
    assert (before[~changed] == after[~changed]).all()
    assert (before[changed] != after[changed]).mean() > 0.2

    def leaky(seats: npt.NDArray[np.int32], players: int) -> Any:
        return sequences_of(np.zeros_like(seats), players)  # all seats of a game are one

    monkeypatch.setattr(recurrent_ppo, "sequences_of", leaky)
    learner = after_two_rollouts(memory)
    before = log_probs_by_row(learner)
    changed = with_other_rows(learner, 1)
    assert not (before[~changed] == log_probs_by_row(learner)[~changed]).all()  # the check would notice


@memories
def test_a_new_round_forgets_the_one_before(memory: str) -> None:
    learner = after_two_rollouts(memory)
    data, _ = learner._data()
    network = learner.network
    with torch.no_grad():
        begun = data.is_new[:, 3]
        assert 0 < begun.sum() < len(begun)
        whole, _ = network(data.rows[:, :5], data.is_new[:, :5], data.memory)
        fresh, _ = network(data.rows[:, 3:5], data.is_new[:, 3:5], torch.zeros_like(data.memory))
    assert torch.allclose(whole[begun, 3], fresh[begun, 0], atol=1e-5)
    assert not torch.allclose(whole[~begun, 3], fresh[~begun, 0], atol=1e-2)


@memories
def test_the_agent_plays_the_network(memory: str, tmp_path: Path) -> None:
    """In NumPy, with its own way to notice a new round, it takes the most probable action of each row."""
    learner = after_two_rollouts(memory)
    learner.ema_network.load_state_dict(learner.network.state_dict())
    learner.save_policy(tmp_path)
    env = vector_env(12, "mini8", players=2)
    agent: Any = agents.load(f"policy:{tmp_path}", env)
    assert isinstance(agent, MemoryAgent)
    before = fingerprint(agent, "policy")
    agent.network.arrays["head.bias"][0] += 1
    assert fingerprint(agent, "policy") != before
    agent.network.arrays["head.bias"][0] -= 1
    games = recurrent_ppo.Games(learner.args, learner.network.memory.size, 5)
    rollout = learner._rollout
    games.collect(learner.network, rollout, torch.Generator().manual_seed(1))
    data, _ = learner._data()
    with torch.no_grad():
        outputs, _ = learner.network(data.rows, data.is_new, data.memory)
    best = outputs[..., :-1].masked_fill(data.masks == 0, -torch.inf).argmax(dim=2).numpy()
    rows, lengths = sequences_of(rollout.seats, 2)
    expected = np.full(rollout.seats.shape, -1)
    for sequence, length in enumerate(lengths):
        expected[rows[sequence, :length], sequence // 2] = best[sequence, :length]
    slots = np.arange(12) * 2
    chosen = [
        agent.act(rollout.observations[step], rollout.masks[step], slots + rollout.seats[step])
        for step in range(len(rollout.seats))
    ]
    assert (np.array(chosen) == expected).mean() > 0.999  # float32 in another order


@memories
def test_rows_of_one_slot_are_taken_in_order(memory: str, tmp_path: Path) -> None:
    learner = after_two_rollouts(memory)
    learner.save_policy(tmp_path)
    env, rollout = vector_env(1, "mini8", players=2), learner._rollout
    own = np.flatnonzero(rollout.seats[:, 0] == 0)[:6]
    rows, masks = rollout.observations[own, 0], rollout.masks[own, 0]
    one, other = (agents.load(f"policy:{tmp_path}", env) for _ in range(2))
    assert isinstance(one, MemoryAgent)
    assert isinstance(other, MemoryAgent)
    together = one.act(rows, masks, np.zeros(len(own), np.int64))
    for at in range(len(own)):
        assert other.act(rows[at], masks[at], 0) == together[at]
    assert (one._memories == other._memories).all()
    one.forget_slots(np.array([0, 7]))
    assert not one._memories[0].any()
    assert one.act(rows[0], masks[0], 0) == together[0]


def test_all_bits_of_a_seed_count(tmp_path: Path) -> None:
    learner = after_two_rollouts("gru")
    learner.save_policy(tmp_path)
    env = vector_env(50, "mini8", players=2)
    see, _ = env.reset(seed=1)
    played = []
    for seed in (1, 1, 1 + 2**32):
        agent: Any = agents.load(f"policy:{tmp_path},mode=sample", env, seed=seed)
        played.append(agent.act(see["observation"], see["action_mask"]).tolist())
    assert played[0] == played[1] != played[2]


@memories
def test_a_network_that_ignores_its_memory_is_evaluated_as_one_without(memory: str, tmp_path: Path) -> None:
    learner = after_two_rollouts(memory, edition=SMALL)
    network = learner.ema_network
    network.load_state_dict(learner.network.state_dict())
    learner.save_policy(tmp_path)
    remembering = exploitability(f"policy:{tmp_path},mode=sample", SMALL)
    with torch.no_grad():
        network.head.weight[:, 16:] = 0.0
    learner.save_policy(tmp_path)

    def without(rows: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
        with torch.no_grad():
            encoded = torch.relu(network.encode(torch.from_numpy(rows).float() * network.scale))
            logits = encoded @ network.head.weight[:-1, :16].T + network.head.bias[:-1]
        return log_probs_of(logits, torch.from_numpy(masks)).exp().double().numpy() * (masks > 0)

    found, expected = exploitability(f"policy:{tmp_path},mode=sample", SMALL), exploitability(without, SMALL)
    assert found.percent == pytest.approx(expected.percent, rel=1e-4)
    assert remembering.percent != pytest.approx(expected.percent, rel=1e-3)


@memories
def test_a_run_learns_and_goes_on(memory: str, tmp_path: Path) -> None:
    args = options(memory, tmp_path / "run", edition=SMALL, total_timesteps=8000, learning_rate=1e-2)
    before = exploitability("random", SMALL).percent
    train(args)
    assert exploitability(f"policy:{args.run_dir},mode=sample", SMALL).percent < 0.8 * before
    train(options(memory, args.run_dir, edition=SMALL, total_timesteps=9000, learning_rate=1e-2, resume=True))
    described = json.loads((args.run_dir / "policy.json").read_text(encoding="utf-8"))
    assert described["decisions_trained"] >= 9000
    assert described["memory"] == memory


def test_commands_take_the_table_from_a_run_with_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Learner(options("gru")).save_policy(tmp_path / "run")
    assert arena(["run", "random", "--deals", "20", "--episode", "round"]) in (0, None)
    assert "Mini deck of 8 cards, 2 players" in capsys.readouterr().out


def test_the_same_seed_learns_the_same() -> None:
    learners = [Learner(options("gru")) for _ in range(2)]
    for _ in range(2):
        first, second = (learner.update(0.5) for learner in learners)
        assert first == second
    weights = [learner.network.state_dict() for learner in learners]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


@each(
    ("change", "words"),
    [
        ({"memory": "lstm"}, "memory is 'lstm'"),
        ({"units": 17}, "has the shape"),
        ({"window": 0}, "window is 0"),
        ({"editions": ["parker"]}, "was trained on parker"),
        ({"num_inputs": 7}, "has num_inputs 7, but this table needs 119"),
        ({"format": 5}, "has format 5"),
    ],
)
def test_a_folder_that_cannot_be_played_says_why(
    change: dict[str, Any], words: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("run")
    Learner(options("gru")).save_policy(folder)
    file = folder / "policy.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(AgentError, match=words):
        agents.load(f"policy:{folder}", vector_env(1, "mini8", players=2))


def test_minibatches_are_whole_games() -> None:
    learner = Learner(options("gru", num_envs=4, num_steps=32, batch_size=8))
    assert np.isfinite(list(learner.update(0.5).values())).all()
    with pytest.raises(ValueError, match="no seat decides twice in --num-steps 1"):
        Learner(options("gru", num_envs=2, num_steps=1)).update(0.5)


def test_a_network_reads_only_the_observations_that_it_learned_from(tmp_path: Path) -> None:
    Learner(options("gru")).save_policy(tmp_path)
    with pytest.raises(AgentError, match=r"reads 119 numbers.*leave out observe_rules"):
        agents.load(f"policy:{tmp_path}", vector_env(1, "mini8", observe_rules=True))


def test_options_that_are_wrong_say_so() -> None:
    for wrong, words in (
        ({"hidden": (8, 8)}, "--hidden is given 2 times"),
        ({"window": 0}, "--window is 0"),
        ({"window": 300}, "--window is 300: agents remember at most 256"),
        ({"edition": "variants-v1:train"}, "networks with memory learn at one table"),
        ({"device": "abacus"}, "--device abacus cannot be used"),
    ):
        with pytest.raises(ValueError, match=words):
            recurrent_ppo.check(options("gru", **wrong))
