"""`policy`: a network computed by hand, and run folders that are not what they should be."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import RunFolderError, load
from agents.policy import PolicyAgent, describe_table, observation_scale
from agents.protocol import Table
from millebornes_env import VectorEnv, edition, vector_env
from millebornes_env.millebornes.determinize import redeal_hidden_cards
from millebornes_env.millebornes.rules import rules_record

safetensors = pytest.importorskip("safetensors.numpy")

SIZE, ACTIONS = 119, 42
"""Of observations and masks at the table for two."""

Layers = list[tuple[np.ndarray, np.ndarray]]


def write_run(folder: Path, env: VectorEnv, layers: Layers, activation: str = "tanh", **changes: Any) -> Path:
    """A run folder of this network; `changes` override entries of its description."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for number, (weight, bias) in enumerate(layers):
        tensors[f"layers.{number}.weight"] = weight.astype(np.float32)
        tensors[f"layers.{number}.bias"] = bias.astype(np.float32)
    safetensors.save_file(tensors, folder / "policy.safetensors")
    description = {
        "format": 1,
        **describe_table(Table.of(env)),
        "activation": activation,
        "num_layers": len(layers),
        **changes,
    }
    (folder / "policy.json").write_text(json.dumps(description), encoding="utf-8")
    return folder


def tiny(seed: int = 1, size: int = SIZE, actions: int = ACTIONS) -> Layers:
    random = np.random.default_rng(seed)
    shapes = [(8, size), (6, 8), (actions, 6)]
    return [(random.normal(size=shape), random.normal(size=shape[:1])) for shape in shapes]


def by_hand(layers: Layers, row: list[float], squash: Callable[[float], float]) -> list[float]:
    """What the network says about one row, number by number."""
    for depth, (weight, bias) in enumerate(layers):
        sums = [
            sum(w * x for w, x in zip(ws, row, strict=True)) + b for ws, b in zip(weight, bias, strict=True)
        ]
        row = sums if depth == len(layers) - 1 else [squash(value) for value in sums]
    return row


@pytest.fixture
def env() -> VectorEnv:
    return vector_env(1)


@pytest.fixture
def run(tmp_path: Path, env: VectorEnv) -> Path:
    return write_run(tmp_path / "run", env, tiny())


# What it plays.


@pytest.mark.parametrize(
    ("activation", "squash"), [("tanh", math.tanh), ("relu", lambda value: max(value, 0.0))]
)
def test_the_network_says_what_was_computed_by_hand(
    tmp_path: Path, activation: str, squash: Callable[[float], float]
) -> None:
    env = vector_env(6)
    agent = load(str(write_run(tmp_path / "run", env, tiny(), activation)), env)
    assert isinstance(agent, PolicyAgent)
    highs = [section.high for section in env.observation_sections for _ in range(section.size)]
    observations, _ = env.reset(seed=1)
    illegal_ones_liked_best = 0
    for _ in range(30):
        seen, masks = observations["observation"], observations["action_mask"]
        actions = agent.act(seen, masks)
        wanted = [
            by_hand(tiny(), [number / high for number, high in zip(row, highs, strict=True)], squash)
            for row in seen.tolist()
        ]
        assert agent.logits(seen) == pytest.approx(np.array(wanted), rel=1e-4, abs=1e-4)
        for game in range(6):
            legal = [action for action in range(ACTIONS) if masks[game, action]]
            assert actions[game] == max(legal, key=lambda action, scores=wanted[game]: scores[action])
            illegal_ones_liked_best += int(np.argmax(wanted[game])) not in legal
        observations = env.step(actions).observations
    assert illegal_ones_liked_best > 0


def test_the_scale_takes_every_number_to_at_most_1(env: VectorEnv) -> None:
    scale = observation_scale(Table.of(env))
    assert scale.dtype == np.float32
    assert scale * env.single_observation_space["observation"].high == pytest.approx(1.0)


def test_illegal_actions_are_never_played_however_much_they_are_liked(tmp_path: Path, env: VectorEnv) -> None:
    bias = np.linspace(-1e6, 1e6, ACTIONS)
    folder = write_run(tmp_path, env, [(np.zeros((ACTIONS, SIZE)), bias)])
    seen = np.zeros((ACTIONS, SIZE), np.int8)
    only = np.eye(ACTIONS, dtype=np.int8)
    for spec in (f"policy:{folder}", f"policy:{folder},mode=sample"):
        assert load(spec, env).act(seen, only).tolist() == list(range(ACTIONS))


def test_sampling_follows_the_softmax(tmp_path: Path, env: VectorEnv) -> None:
    """Three legal actions with the odds 1 : 2 : 5; another one, more probable than all, is illegal."""
    bias = np.full(ACTIONS, 9.0)
    bias[[3, 20, 41]] = np.log([1.0, 2.0, 5.0])
    folder = write_run(tmp_path, env, [(np.zeros((ACTIONS, SIZE)), bias)])
    masks = np.zeros((40_000, ACTIONS), np.int8)
    masks[:, [3, 20, 41]] = 1
    seen = np.zeros((40_000, SIZE), np.int8)
    drawn = load(f"policy:{folder},mode=sample", env, seed=1).act(seen, masks)
    counts = np.array([(drawn == action).sum() for action in (3, 20, 41)])
    assert counts.sum() == 40_000
    expected = np.array([5_000, 10_000, 25_000])
    assert ((counts - expected) ** 2 / expected).sum() < 13.82  # 2 degrees of freedom: once in 1,000
    again = load(f"policy:{folder},mode=sample", env, seed=1).act(seen, masks)
    assert np.array_equal(drawn, again)
    other = load(f"policy:{folder},mode=sample", env, seed=2).act(seen, masks)
    assert not np.array_equal(drawn, other)
    assert (load(f"policy:{folder},mode=best", env).act(seen, masks) == 41).all()


@pytest.mark.parametrize("mode", ["best", "sample"])
@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_a_policy_plays_legally_to_the_end(tmp_path: Path, players: int, mode: str) -> None:
    env = vector_env(8, players=players)
    layers = tiny(size=env.observation_sections[-1].stop, actions=int(env.single_action_space.n))
    agent = load(f"policy:{write_run(tmp_path, env, layers)},mode={mode}", env)
    observations, _ = env.reset(seed=1)
    ended = np.zeros(8, np.bool_)
    for _ in range(600):
        masks = observations["action_mask"]
        actions = agent.act(observations["observation"], masks)
        assert (masks[np.arange(8), actions] == 1).all()
        step = env.step(actions)
        ended |= step.terminations
        if ended.all():
            return
    raise AssertionError("the rounds do not end")


def test_a_policy_does_not_see_hidden_cards(run: Path) -> None:
    env = vector_env(30)
    agent = load(str(run), env)
    table, room = rules_record(env.rules)[0], np.zeros(106, np.int8)
    observations, _ = env.reset(seed=1)
    for step in range(40):
        actions = agent.act(observations["observation"], observations["action_mask"])
        states = env.get_states()
        redealt = states.copy()
        for game in range(30):
            redeal_hidden_cards(redealt[game], table, int(states["seat"][game]), step, game, room)
        assert redealt.tobytes() != states.tobytes()
        env.set_states(redealt)
        assert np.array_equal(agent.act(observations["observation"], observations["action_mask"]), actions)
        env.set_states(states)
        observations = env.step(actions).observations


def test_the_ways_to_name_a_run_folder(run: Path, env: VectorEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run.parent)
    seen, masks = np.ones((1, SIZE), np.int8), np.ones((1, ACTIONS), np.int8)
    played = set()
    for spec in (str(run), "run", "./run", "policy:run", "policy:folder=run", "policy:run,mode=best"):
        agent = load(spec, env)
        assert agent.name == spec
        played.add(int(agent.act(seen, masks)[0]))
    assert len(played) == 1


# What is wrong with a run folder.


def refusal(folder: Path, env: VectorEnv) -> str:
    with pytest.raises(RunFolderError) as refused:
        load(f"policy:{folder}", env)
    assert isinstance(refused.value, ValueError)
    assert str(folder) in str(refused.value)
    return str(refused.value)


def test_there_is_no_such_folder(tmp_path: Path, env: VectorEnv) -> None:
    message = refusal(tmp_path / "nothing", env)
    assert "there is no run folder" in message
    assert "python -m train." in message
    with pytest.raises(RunFolderError, match="there is no run folder"):
        load(str(tmp_path / "nothing"), env)


def test_the_folder_is_no_run_folder(tmp_path: Path, env: VectorEnv) -> None:
    message = refusal(tmp_path, env)
    assert "has no policy.json" in message
    assert "not a run folder" in message


@pytest.mark.parametrize("text", ["", "{", '{"format": 1', "[1, 2]", "null", "\x00\x01", "{'format': 1}"])
def test_the_description_is_damaged(run: Path, env: VectorEnv, text: str) -> None:
    (run / "policy.json").write_text(text, encoding="utf-8")
    message = refusal(run, env)
    assert "policy.json" in message
    assert "damaged" in message


def test_the_description_is_not_even_text(run: Path, env: VectorEnv) -> None:
    (run / "policy.json").write_bytes(b"\xff\xfe\x80\x81")
    assert "damaged" in refusal(run, env)


@pytest.mark.parametrize("missing", ["format", "edition", "players", "observation_size", "num_actions"])
def test_the_description_does_not_say_for_which_table(run: Path, env: VectorEnv, missing: str) -> None:
    path = run / "policy.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    del description[missing]
    path.write_text(json.dumps(description), encoding="utf-8")
    assert f"has {missing} None" in refusal(run, env)


@pytest.mark.parametrize("entry", ["activation", "num_layers"])
@pytest.mark.parametrize("value", ["missing", None, "many", "gelu", []])
def test_the_description_of_the_network_is_damaged(run: Path, env: VectorEnv, entry: str, value: Any) -> None:
    path = run / "policy.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    if value == "missing":
        del description[entry]
    else:
        description[entry] = value
    path.write_text(json.dumps(description), encoding="utf-8")
    message = refusal(run, env)
    assert "policy.json" in message
    assert "damaged" in message
    if value == "missing":
        assert repr(entry) in message


@pytest.mark.parametrize("content", [b"", b"nothing of the kind", None])
def test_the_weights_are_damaged(run: Path, env: VectorEnv, content: bytes | None) -> None:
    weights = run / "policy.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100] if content is None else content)
    message = refusal(run, env)
    assert "policy.safetensors" in message
    assert "damaged" in message


def test_the_weights_are_missing(run: Path, env: VectorEnv) -> None:
    (run / "policy.safetensors").unlink()
    message = refusal(run, env)
    assert "policy.safetensors" in message
    assert "missing" in message


def test_the_weights_have_fewer_layers_than_the_description(tmp_path: Path, env: VectorEnv) -> None:
    message = refusal(write_run(tmp_path, env, tiny(), num_layers=4), env)
    assert "layers.3.weight" in message


@pytest.mark.parametrize(
    "layers",
    [
        tiny(size=SIZE - 1),
        tiny(actions=ACTIONS + 5),
        [*tiny()[:1], *tiny()[2:]],
        [(weight, bias[:-1]) for weight, bias in tiny()],
        [(weight, bias[:, np.newaxis]) for weight, bias in tiny()],
        [(weight * np.nan, bias) for weight, bias in tiny()],
        [(weight, bias + np.inf) for weight, bias in tiny()],
        [],
    ],
    ids=[
        "narrow",
        "too many actions",
        "a layer left out",
        "short bias",
        "2-D bias",
        "NaN",
        "infinite",
        "none",
    ],
)
def test_the_weights_are_of_another_shape_or_no_numbers(
    tmp_path: Path, env: VectorEnv, layers: Layers
) -> None:
    assert "policy.safetensors" in refusal(write_run(tmp_path, env, layers), env)


@pytest.mark.parametrize(
    ("entry", "value", "needed"),
    [
        ("format", 2, 1),
        ("edition", "dujardin", "parker"),
        ("edition", "parker+max_200=4", "parker"),
        ("players", 4, 2),
        ("teams", 3, 2),
        ("observation_version", 0, 2),
        ("observation_size", 100, 119),
        ("num_actions", 47, 42),
    ],
)
def test_the_policy_is_for_something_else(
    tmp_path: Path, env: VectorEnv, entry: str, value: object, needed: object
) -> None:
    message = refusal(write_run(tmp_path, env, tiny(), **{entry: value}), env)
    assert f"has {entry} {value!r}, but {needed!r} is needed" in message
    assert "train another" in message


def test_a_policy_does_not_play_at_another_table(run: Path) -> None:
    for other in (
        vector_env(1, players=4),
        vector_env(1, edition("parker").replace(goal=1000)),
        vector_env(1, observe_unseen=False),
    ):
        refusal(run, other)


def test_an_unknown_option_of_a_policy(run: Path, env: VectorEnv) -> None:
    with pytest.raises(ValueError, match=r"unknown option 'temperature'.*folder, mode"):
        load(f"policy:{run},temperature=2", env)
    with pytest.raises(ValueError, match=r"mode is 'worst'.*'best' or 'sample'"):
        load(f"policy:{run},mode=worst", env)
