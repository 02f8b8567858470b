"""Weights rounded to 8 bits: what is written is played, in a quarter of the bytes, and damage is said."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from millebornes_env import vector_env
from millebornes_env._util.network_files import dequantize
from millebornes_env.agents import load
from millebornes_env.agents.policy.rounding import rounded
from millebornes_env.errors import AgentError
from tests.agents.policies import network, network_for, write_run
from train.tools import round_weights


@pytest.fixture
def run(tmp_path: Path) -> Path:
    env = vector_env(1)
    return write_run(tmp_path / "run", env, network_for(env, (32, 16)), "relu")


def command(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    """The exit code of `python -m train.tools.round_weights` with these words."""
    monkeypatch.setattr(sys, "argv", ["round_weights", *map(str, words)])
    return round_weights.main()


@pytest.mark.parametrize("levels", [127, 15, 1])
def test_a_weight_becomes_the_nearest_multiple_of_its_scale(levels: int) -> None:
    layers = network((30, 8, 5))
    layers[0][0][:, 3] = 0.0  # an input that is never there
    layers[0][0][:, 4] *= 1000.0  # another one that is small where it is
    for (weight, bias), layer, across in zip(layers, rounded(layers, levels), (0, 1), strict=True):
        played = dequantize(layer.numbers, layer.scale)
        assert layer.scale.shape == ((1, 30) if across == 0 else (5, 1))
        assert np.abs(layer.numbers).max() == levels
        assert (np.abs(played - weight) <= 0.501 * layer.scale).all()
        assert np.abs(played).max(axis=across) == pytest.approx(np.abs(weight).max(axis=across), rel=1e-5)
        assert (layer.bias == bias).all()


def test_what_was_rounded_is_played(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = tmp_path / "small"
    assert command(monkeypatch, run, "--out", small, "--decisions", "2000", "--deals", "16") == 0
    printed = capsys.readouterr().out
    assert "of the decisions change, the rounded one wins" in printed
    assert json.loads((small / "policy.json").read_text())["format"] == 3
    sizes = [(folder / "policy.safetensors").stat().st_size for folder in (small, run)]
    assert sizes[0] < 0.4 * sizes[1]
    tensors = load_file(small / "policy.safetensors")
    assert tensors["layers.1.weight"].dtype == np.int8
    env = vector_env(4, seed=1)
    agent = load(small, env)
    for number, (weight, bias) in enumerate(agent.layers):
        assert (weight == tensors[f"layers.{number}.weight"] * tensors[f"layers.{number}.scale"]).all()
        assert (bias == tensors[f"layers.{number}.bias"]).all()
    observations, _ = env.reset()
    agent.act(observations["observation"], observations["action_mask"])


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("layers.0.scale", lambda scale: scale.T.copy(), "the scale of layers.0.weight is of shape"),
        (
            "layers.1.scale",
            lambda scale: scale[:, :-1].copy(),
            "one scale for each row, or one for each column",
        ),
        ("layers.2.scale", lambda scale: scale * np.float32(np.nan), "not finite"),
        (
            "layers.2.bias",
            lambda bias: bias.astype(np.int8),
            "is of type int8; it may be float16, float32 or float64",
        ),
        ("layers.0.scale", lambda scale: None, "layers.0.scale"),
    ],
)
def test_rounded_weights_that_are_damaged(
    run: Path, tmp_path: Path, name: str, change: object, words: str
) -> None:
    assert callable(change)
    small = tmp_path / "small"
    round_weights.round_policy(run, small)
    tensors = load_file(small / "policy.safetensors")
    tensors[name] = change(tensors[name])
    save_file(
        {key: value for key, value in tensors.items() if value is not None}, small / "policy.safetensors"
    )
    with pytest.raises(AgentError, match=words):
        load(small, vector_env(1))
