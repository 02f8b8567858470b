"""`train.cleanrl_ppo`: one file that learns, with the credit of `millebornes_env.envs.rollout`."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

from millebornes_env import vector_env
from tests.each import each
from tests.train.short_runs import run_main
from train import cleanrl_ppo
from train.cleanrl_ppo import Agent, Args, Rollout, evaluate, masked, train

SHORT = ["--num-envs=8", "--num-steps=8", "--total-timesteps=100", "--hidden=8", "--eval-matches=4"]
run = functools.partial(run_main, cleanrl_ppo.main)


def test_illegal_actions_have_no_probability() -> None:
    mask = torch.tensor([[1, 0, 1, 0]], dtype=torch.int8)
    policy = masked(torch.tensor([[0.0, 9.0, 0.0, 9.0]]), mask)
    assert policy.probs.tolist() == [[0.5, 0.0, 0.5, 0.0]]
    assert policy.entropy().item() == pytest.approx(np.log(2))


def test_a_rollout_keeps_what_the_next_step_overwrites() -> None:
    env = vector_env(4, seed=1)
    env.reset()
    first = env.games.buffers.observation.copy()
    rollout = Rollout(env, 5)
    rollout.collect(env, Agent(env, 8))
    assert (rollout.observations[0] == first).all()
    assert (rollout.observations[1] != first).any()
    chosen = np.take_along_axis(rollout.masks, rollout.actions[:, :, np.newaxis], axis=2)
    assert chosen.all()


def test_it_learns() -> None:
    """Untrained it wins half of the matches against `random` and none against `greedy`."""
    args = Args(num_envs=128, total_timesteps=50_000, hidden=64, threads=1, eval_matches=100)
    agent = train(args)
    assert evaluate(agent, args) > 0.8
    assert evaluate(agent, replace(args, eval_opponent="greedy")) > 0.2


def test_the_command_trains_evaluates_and_keeps_the_weights(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "new" / "weights.safetensors"
    assert run(monkeypatch, *SHORT, "--players", "3", "--edition", "dujardin", "--out", str(out)) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(" decisions")[0] for line in told[:-1]] == ["64", "128"]
    assert told[-1].startswith("won ")
    saved = safetensors.torch.load(out.read_bytes())
    assert {"scale", "actor.0.weight", "critic.4.bias"} <= set(saved)


@each(
    ("words", "told"),
    [
        (("--edition", "parkr"), "Did you mean 'parker'"),
        (("--num-envs", "0"), "num_envs is 0; it must be 1 or more"),
        (("--num-minibatches", "100"), "a rollout has 64 decisions; num_minibatches is 100"),
    ],
)
def test_a_wrong_option_is_one_sentence(
    words: Any, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *SHORT, *words) == 2
    error = capsys.readouterr().err
    assert told in error
    assert len(error.splitlines()) == 1
