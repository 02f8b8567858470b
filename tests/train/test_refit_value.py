"""A value head is fitted anew: it foretells another reward, and the policy plays as before, bit for bit."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from millebornes_env import vector_env
from millebornes_env.agents import load
from millebornes_env.agents.champion import CHAMPIONS
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.search.agent import can_judge
from millebornes_env.arena.match import MatchConfig
from tests.agents.policies import network_for, write_run
from tests.train.short_runs import run_main
from train.tools import refit_value
from train.tools.refit_value import Decisions, fitted, measured, returns_of
from train.tools.round_weights import changed_decisions, round_policy

FEW = ["--decisions=20000", "--test-decisions=8000", "--num-envs=64", "--num-steps=200", "--ridge=0.01"]
command = functools.partial(run_main, refit_value.main)


def run_of(folder: Path, value: str | None = "points", rounding: str = "") -> Path:
    """A run folder of a policy of weights by chance."""
    env = vector_env(1)
    layers = network_for(env, (32, 16), extra=int(value is not None))
    run = write_run(folder / "run", env, layers, "relu", value=value)
    if not rounding:
        return run
    round_policy(run, folder / "small")
    if rounding == "columns":  # a file that others could write
        tensors = load_file(folder / "small/policy.safetensors")
        last = tensors["layers.2.weight"]
        tensors["layers.2.scale"] = np.linspace(0.01, 0.02, last.shape[1], dtype=np.float32)[np.newaxis]
        save_file(tensors, folder / "small/policy.safetensors")
    return folder / "small"


def policy(folder: Path) -> PolicyAgent:
    agent = load(folder, vector_env(1))
    assert isinstance(agent, PolicyAgent)
    return agent


@pytest.mark.parametrize(("value", "rounding"), [("win_prob", "rows"), ("points", "columns"), (None, "")])
def test_the_play_stays_to_the_bit(
    value: str | None,
    rounding: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run, out = run_of(tmp_path, value, rounding), tmp_path / "out"
    assert command(monkeypatch, run, "--out", out, *FEW) == 0
    printed = capsys.readouterr().out
    assert ("before (win_prob): mean squared error" in printed) == (value == "win_prob")
    assert "after (points): mean squared error" in printed
    old, new = policy(run), policy(out)
    actions = new.description["num_actions"]
    for (weight, bias), (theirs, their_bias) in zip(new.layers[:-1], old.layers[:-1], strict=True):
        assert weight.tobytes() == theirs.tobytes()
        assert bias.tobytes() == their_bias.tobytes()
    for ours, theirs in zip(new.layers[-1], old.layers[-1], strict=True):
        assert ours[:actions].tobytes() == theirs[:actions].tobytes()
    assert changed_decisions(run, out, MatchConfig(seed=3), 500) == 0.0
    told = new.description["value_fitted"]
    assert (new.value, told["value_before"]) == ("points", value)
    assert told["decisions"] >= 20_000
    assert can_judge(new, new.table)
    explained = told["explained_variance"]
    assert explained["after"] > 0.0
    assert explained["after"] > explained.get("before", 0.0)


def test_the_same_command_writes_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(tmp_path)
    for out in ("one", "two"):
        assert command(monkeypatch, run, "--out", tmp_path / out, *FEW, "--seed", "5") == 0
    for file in ("policy.json", "policy.safetensors"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_the_value_of_the_race(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Races have no points: the value foretells the win, and the play stays."""
    run, out = CHAMPIONS / "arc_en_ciel-4", tmp_path / "out"
    few = ["--decisions=6000", "--test-decisions=3000", "--ridge=1", "--num-envs=64", "--num-steps=250"]
    assert command(monkeypatch, run, "--out", out, *few) == 0
    old, new = (load_file(folder / "policy.safetensors") for folder in (run, out))
    assert old.keys() == new.keys()
    assert {name.split(".")[1] for name in old if (old[name] != new[name]).any()} == {"2"}
    told = json.loads((out / "policy.json").read_text())
    assert told["value"] == "win"
    assert told["value_fitted"]["explained_variance"]["after"] > 0.0
    assert changed_decisions(run, out, MatchConfig("arc_en_ciel", 4), 100) == 0.0


def test_returns_are_those_of_the_episode_to_who_decided() -> None:
    rewards = np.zeros((5, 1, 2), np.float32)
    rewards[:, 0] = [[0, 0], [1, -1], [0.5, -0.5], [0, 0], [4, -4]]
    dones = np.array([[False], [True], [False], [True], [False]])
    seats = np.array([[1], [0], [1], [0], [0]])
    returns, known = returns_of(rewards, seats, dones)
    assert returns[:4, 0].tolist() == [-1.0, 1.0, -0.5, 0.0]
    assert known[:, 0].tolist() == [True, True, True, True, False]


def test_a_linear_value_is_found() -> None:
    random = np.random.default_rng(1)
    units = random.normal(size=(4000, 6)).astype(np.float32) * [1, 10, 0.1, 1, 1, 1]
    units[:, 5] = 0.0  # never active
    returns = units @ [1.0, 0.2, -5.0, 0.0, 3.0, 7.0] - 2.0
    some = Decisions(units.astype(np.float32), returns, np.zeros(4000, np.int64))
    head, count = fitted(iter([some]), 0.0)
    assert count == 4000
    assert head.weight == pytest.approx([1.0, 0.2, -5.0, 0.0, 3.0, 0.0], abs=1e-3)
    assert head.bias == pytest.approx(-2.0, abs=1e-3)
    shrunk, _ = fitted(iter([some]), 1.0)
    assert np.abs(shrunk.weight).sum() < 0.6 * np.abs(head.weight).sum()


def test_what_a_value_explains() -> None:
    random = np.random.default_rng(2)
    values, noise = random.normal(size=8000), random.normal(size=8000)
    games = np.arange(8000) % 50
    one = measured(values, values + noise, games)
    assert one.squared_error == pytest.approx(1.0, abs=0.05)
    assert one.explained == pytest.approx(0.5, abs=5 * one.error)
    assert 0.002 < one.error < 0.02
    assert len(one.bins) == 5
    assert all(value == pytest.approx(came, abs=0.15) for value, came in one.bins)
    assert measured(values - 3, values, games).explained < 0.0
