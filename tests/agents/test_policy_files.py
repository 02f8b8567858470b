"""Run folders of policies: what `save_policy_files` writes can be played, what is wrong is told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, edition, vector_env
from millebornes_env.agents import load
from millebornes_env.agents.policy.agent import observation_scale
from millebornes_env.agents.policy.network import InputSpec
from millebornes_env.agents.policy.writing import fold_in_scale, save_policy_files
from millebornes_env.agents.protocol import Table
from millebornes_env.errors import AgentError
from millebornes_env.games.millebornes.sections import ObservationSpec
from tests.agents.policies import Layers, network, network_for, rows_by_state, safetensors, size_of, write_run
from tests.each import each

SIZE, ACTIONS = 119, 42
"""Of observations and masks at the table for two."""


def tiny(size: int = SIZE, actions: int = ACTIONS) -> Layers:
    return network((size, 8, 6, actions))


@pytest.fixture
def env() -> VectorEnv:
    return vector_env(1)


@pytest.fixture
def run(tmp_path: Path, env: VectorEnv) -> Path:
    return write_run(tmp_path / "run", env, tiny())


# What is saved ---------------------------------------------------------------------------------------------


def test_what_is_saved_can_be_played(tmp_path: Path, env: VectorEnv) -> None:
    shown = ObservationSpec(unseen=0, rules=1, padded=1)
    input_spec = InputSpec(shown, features=True)
    layers = network_for(env, (5,), shown, extra=1, features=True)
    table = Table.of(env)
    folder = tmp_path / "new" / "run"
    editions = ["parker", "dujardin"]
    save_policy_files(
        *(folder, layers, table),
        editions=editions,
        input_spec=input_spec,
        activation="tanh",
        value="win",
        more={"hours": 3},
    )
    agent = load(str(folder), env)
    assert (agent.input_spec, agent.value) == (input_spec, "win")
    for (weight, bias), (read_weight, read_bias) in zip(layers, agent.layers, strict=True):
        assert np.array_equal(weight, read_weight)
        assert np.array_equal(bias, read_bias)
    assert json.loads((folder / "policy.json").read_text(encoding="utf-8")) == {
        "hours": 3,
        "format": 2,
        "editions": editions,
        "players": 2,
        "teams": 2,
        "observation_version": table.observation_version,
        "num_inputs": size_of(env, shown, features=True),
        "num_actions": ACTIONS,
        "view": {"unseen": False, "rules": True, "padded": True},
        "features": True,
        "activation": "tanh",
        "num_layers": 2,
        "value": "win",
    }


def test_a_policy_plays_the_editions_that_it_was_trained_on(tmp_path: Path, env: VectorEnv) -> None:
    save_policy_files(tmp_path, tiny(), Table.of(env), editions=["parker", "dujardin"])
    for name in ("parker", "dujardin"):
        load(str(tmp_path), vector_env(1, name))
    words = r"trained on parker, dujardin without observing the rules: it cannot play 'parker\+goal=1000'"
    with pytest.raises(AgentError, match=words):
        load(str(tmp_path), vector_env(1, edition("parker").replace(goal=1000)))


def test_a_policy_of_padded_environments_knows_the_actions_of_all_tables(tmp_path: Path) -> None:
    env, shown = vector_env(4, padded=True), ObservationSpec(padded=1)
    assert int(env.single_action_space.n) == 52
    save_policy_files(
        tmp_path, network_for(env, (5,), shown), Table.of(env), input_spec=InputSpec(shown, features=False)
    )
    for other in (env, vector_env(4)):
        observations, _ = other.reset(seed=1)
        actions = load(str(tmp_path), other).act(observations["observation"], observations["action_mask"])
        assert (observations["action_mask"][np.arange(4), actions] == 1).all()


def test_a_scale_is_folded_into_the_first_layer(tmp_path: Path) -> None:
    env = vector_env(10)
    env.reset(seed=2)
    scale = observation_scale(Table.of(env))
    (weight, bias), *others = tiny()
    save_policy_files(tmp_path, fold_in_scale([(weight, bias), *others], scale), Table.of(env))
    agent = load(str(tmp_path), env)
    rows = rows_by_state(env, env.get_states(), ObservationSpec())
    numbers = rows * scale
    for weight, bias in tiny()[:-1]:
        numbers = np.maximum(numbers @ weight.T + bias, 0.0)
    weight, bias = tiny()[-1]
    assert agent.logits(rows) == pytest.approx(numbers @ weight.T + bias, rel=1e-4, abs=1e-4)


def test_what_could_not_be_played_is_not_saved(tmp_path: Path, env: VectorEnv) -> None:
    for layers, message in (
        (tiny(size=SIZE - 1), "layer of shape"),
        (tiny(actions=ACTIONS + 1), "43 outputs for 42 actions"),
        ([(weight * np.nan, bias) for weight, bias in tiny()], "not finite"),
    ):
        with pytest.raises(AgentError, match=message):
            save_policy_files(tmp_path / "run", layers, Table.of(env))
    with pytest.raises(ValueError, match="activation is 'gelu'; it may be 'tanh' or 'relu'"):
        save_policy_files(tmp_path / "run", tiny(), Table.of(env), activation="gelu")
    assert not (tmp_path / "run").exists()


# What is wrong with a run folder ---------------------------------------------------------------------------


def in_one_sentence(message: str, *words: str) -> None:
    assert len(message) < 1000
    assert "\n" not in message
    for word in words:
        assert word in message


def refusal(folder: Path, env: VectorEnv) -> str:
    with pytest.raises(AgentError) as refused:
        load(f"policy:{folder}", env)
    assert isinstance(refused.value, ValueError)
    assert str(folder) in str(refused.value)
    return str(refused.value)


def test_there_is_no_such_folder(tmp_path: Path, env: VectorEnv) -> None:
    in_one_sentence(refusal(tmp_path / "nothing", env), "there is no run folder", "python -m train.")
    in_one_sentence(refusal(tmp_path, env), "has no policy.json", "not a run folder")
    with pytest.raises(AgentError, match="there is no run folder"):
        load(str(tmp_path / "nothing"), env)
    for name in ("x" * 300, "x/" * 3000, "nul\0"):  # that no file can have
        for spec in (f"policy:{tmp_path}/{name}", f"{tmp_path}/{name}"):
            with pytest.raises(AgentError, match="there is no run folder") as refused:
                load(spec, env)
            in_one_sentence(str(refused.value))


@each(
    ("text", "words"),
    [
        *((text, "") for text in (b"", b'{"format": 2', b"[1, 2]", b"null", b"\xff\xfe\x80\x81")),
        *((text * 200_000, "nested too deep") for text in (b"[", b'{"a":')),
        (b"[" * 200_000 + b"]" * 200_000, "nested too deep"),
    ],
)
def test_the_description_is_damaged(run: Path, env: VectorEnv, text: bytes, words: str) -> None:
    (run / "policy.json").write_bytes(text)
    in_one_sentence(refusal(run, env), "policy.json", "damaged", words)


def with_entry(run: Path, entry: str, value: Any) -> Path:
    """The run folder with another value of an entry, or without the entry."""
    path = run / "policy.json"
    description = json.loads(path.read_text(encoding="utf-8")) | {entry: value}
    if value == "missing":
        del description[entry]
    path.write_text(json.dumps(description), encoding="utf-8")
    return run


@each(
    ("entry", "values"),
    [
        ("activation", ["missing", None, "gelu", []]),
        ("num_layers", ["missing", None, "many", 2.0, True, []]),
        ("value", ["missing", 3, []]),
        ("features", ["missing", None, 1, "yes"]),
        ("editions", ["missing", None, "parker", [3]]),
        ("view", ["missing", None, "all", {}, {"unseen": True}, {"unseen": 1, "rules": 0, "padded": 0}]),
    ],
)
def test_the_description_of_the_network_is_damaged(
    tmp_path: Path, env: VectorEnv, entry: str, values: list[Any]
) -> None:
    for value in values:
        run = with_entry(write_run(tmp_path, env, tiny()), entry, value)
        in_one_sentence(refusal(run, env), "policy.json", "damaged", repr(entry))


@each("content", [b"", b"nothing of the kind", "cut", "missing"])
def test_the_weights_are_damaged_or_missing(tmp_path: Path, env: VectorEnv, content: bytes | str) -> None:
    run = write_run(tmp_path, env, tiny())
    weights = run / "policy.safetensors"
    if content == "missing":
        weights.unlink()
    else:
        weights.write_bytes(weights.read_bytes()[:-100] if content == "cut" else content)
    in_one_sentence(refusal(run, env), "policy.safetensors", "missing" if content == "missing" else "damaged")


@each(
    ("layers", "words"),
    [
        (tiny(size=SIZE - 1), "policy.safetensors"),
        (tiny(actions=ACTIONS + 5), "policy.safetensors"),
        ([*tiny()[:1], *tiny()[2:]], "policy.safetensors"),
        ([(weight, bias[:-1]) for weight, bias in tiny()], "policy.safetensors"),
        ([(weight, bias[:, np.newaxis]) for weight, bias in tiny()], "policy.safetensors"),
        ([(weight * np.nan, bias) for weight, bias in tiny()], "not finite"),
        ([(weight, bias + np.inf) for weight, bias in tiny()], "not finite"),
        ([(weight, bias * np.nan) for weight, bias in tiny()], "not finite"),
        ([], "policy.safetensors"),
        (
            [(np.zeros((0, SIZE)), np.zeros(0)), (np.zeros((ACTIONS, 0)), np.zeros(ACTIONS))],
            "a layer of 0 units",
        ),
        (network((SIZE, 513, ACTIONS)), "a layer of 513 units: there may be 1 to 512"),
        (network((SIZE, 4, 4, 4, 4, 4, ACTIONS)), "has 6 layers; policies have 1 to 5"),
    ],
)
def test_the_weights_are_of_another_shape_or_no_numbers(
    tmp_path: Path, env: VectorEnv, layers: Layers, words: str
) -> None:
    assert words in refusal(write_run(tmp_path, env, layers), env)


@each(
    ("entry", "value", "words"),
    [
        ("players", 4, "has players 4, but this table needs 2"),
        ("teams", 3, "has teams 3, but this table needs 2"),
        ("observation_version", 0, "has observation_version 0, but this table needs 2"),
        ("num_inputs", 100, "has num_inputs 100, but this table needs 119"),
        ("num_actions", 47, "has num_actions 47, but this table needs 42 or 52"),
        ("num_layers", 4, "layers.3.weight"),
        *((("num_layers", count, f"has {count} layers; policies have 1 to 5")) for count in (-1, 0, 10**30)),
        *(("format", found, f"has format {found}, this version reads 2 and 3") for found in (1, 5, None)),
        *(("format", found, "has format ") for found in (2.0, [2], 10**4000, "x" * 100_000)),
        *(("players", found, "has players ") for found in (2.0, [[[2] * 100] * 100])),
        *(("num_inputs", found, "has num_inputs ") for found in (119.0, True)),
        *(("teams", 2.0, "has teams "), ("num_actions", 42.0, "has num_actions ")),
        ("observation_version", 2.0, "has observation_version "),
        *((entry, None, f"has {entry} None") for entry in ("players", "teams", "num_inputs", "num_actions")),
    ],
)
def test_the_policy_is_for_something_else(
    tmp_path: Path, env: VectorEnv, entry: str, value: object, words: str
) -> None:
    in_one_sentence(refusal(write_run(tmp_path, env, tiny(), **{entry: value}), env), words)


def test_the_value_must_have_its_row(tmp_path: Path, env: VectorEnv) -> None:
    load(str(write_run(tmp_path, env, tiny(actions=ACTIONS + 1), value="points")), env)
    for layers, value in ((tiny(), "points"), (tiny(actions=ACTIONS + 1), None)):
        message = refusal(write_run(tmp_path, env, layers, value=value), env)
        assert f"outputs for 42 actions with value {value!r}" in message


# Files made to harm ----------------------------------------------------------------------------------------


def test_a_description_that_is_huge(run: Path, env: VectorEnv) -> None:
    with (run / "policy.json").open("r+b") as file:
        file.truncate(1 << 40)
    in_one_sentence(refusal(run, env), "policy.json", "damaged", "larger than 1 MiB")


@pytest.mark.parametrize("name", ["policy.json", "policy.safetensors"])
@pytest.mark.parametrize("kind", ["folder", "symlink loop", "pipe", "device"])
def test_what_should_be_a_file_is_none(run: Path, env: VectorEnv, name: str, kind: str) -> None:
    path = run / name
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "symlink loop":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    in_one_sentence(refusal(run, env), name)


def test_a_long_list_of_editions_is_not_repeated(tmp_path: Path, env: VectorEnv) -> None:
    message = refusal(write_run(tmp_path, env, tiny(), editions=["x" * 5000] * 100), env)
    assert len(message) < 10_000
    assert "without observing the rules" in message


def with_weights(run: Path, change: Any) -> None:
    """Put other weights into a run folder; `change` makes them of the first layer's."""
    path = run / "policy.safetensors"
    tensors = safetensors.load_file(path)
    tensors["layers.0.weight"] = change(tensors["layers.0.weight"])
    safetensors.save_file(tensors, path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda weight: weight.astype(np.float64) * 0 + 1e300, "not finite in float32"),
        (lambda weight: weight * 0 + np.float32(1e38), "may become infinite"),
        (lambda weight: np.where(weight > 0, 1e38, -1e38).astype(np.float32), "may become infinite"),
        (lambda weight: weight.astype(np.int32), "layers.0.weight is of type int32"),
        (lambda weight: weight > 0, "layers.0.weight is of type bool"),
        (lambda weight: np.zeros((8, 1 << 20), np.float32), "a layer of shape (8, 1048576) follows"),
        (lambda weight: weight[np.newaxis], "a layer of shape (1, 8, 119) follows"),
    ],
    ids=["1e300", "1e38", "1e38 of both signs", "integers", "booleans", "wide", "3-D"],
)
def test_weights_that_cannot_be_played(run: Path, env: VectorEnv, change: Any, words: str) -> None:
    with_weights(run, change)
    in_one_sentence(refusal(run, env), "policy.safetensors", words)


def test_weights_of_other_floats_are_played_in_float32(run: Path, env: VectorEnv) -> None:
    with_weights(run, lambda weight: weight.astype(np.float64))
    agent = load(f"policy:{run}", env)
    assert [weight.dtype for weight, _ in agent.layers] == [np.float32] * 3
    assert np.array_equal(agent.layers[0][0], tiny()[0][0])
