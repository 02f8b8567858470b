"""The network that foretells hands: what it is shown in training, that it learns, what is refused."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from millebornes_env import agents, vector_env
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.beliefs import NetworkBelief
from millebornes_env.agents.search.hand_files import FILES, hand_network_for
from millebornes_env.agents.search.hand_network import OUTPUTS, new_posterior, weigh
from millebornes_env.arena.dealing import compiled_rules, dealt_batch, loops_of, settings_of
from millebornes_env.arena.match import MatchConfig
from millebornes_env.errors import AgentError
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from tests.agents.test_network_belief import shown
from tests.train.short_runs import run_main
from train.tools import belief
from train.tools.belief import Args, fit, minibatches
from train.tools.hand_games import collect, played_rounds
from train.tools.hand_model import log_weights

command = functools.partial(run_main, belief.main)


def config() -> MatchConfig:
    return MatchConfig(episode="round", seed=3, threads=1)


def short(out: Path, **changes: object) -> Args:
    """Options of a small network."""
    options: dict[str, Any] = {"decisions": 3_000, "test_decisions": 1_500, "epochs": 3, "batch_size": 8}
    units = {"units": 12, "memory": 12, "hidden": 24, "components": 2}
    return Args(out=out, agent=("greedy", "random"), **{**options, **units, **changes})


def test_training_shows_what_search_reads() -> None:
    """The record of a round and what a searcher remembers of it give the same numbers, at every decision.

    Where a searcher cannot tell in which order several plays came, it takes the first reading.
    """
    names = ("strategist", "arnold")
    result = played_rounds(config(), names, (0, 1), 2)
    table = config().table()
    players = [agents.make(name, table, 1) for name in names]
    watchers = [agents.make("strategist+search:belief=network", table, 1) for _ in range(2)]
    rules, batch, loops = compiled_rules(config()), dealt_batch(config(), 0, 2), loops_of(config())
    loops.begin_games(batch, rules)
    actions = np.zeros(len(batch.states), np.int64)
    read: dict[int, list[tuple[np.ndarray, ...]]] = {one: [] for one in range(2 * len(batch.states))}
    while batch.live.any():
        for role, player in enumerate(players):
            loops.choose_for_role(batch, rules, player.address, player.options, role, actions)
        for game in np.flatnonzero(batch.live):
            seat = int(batch.states["seat"][game])
            watcher = watchers[seat]
            assert isinstance(watcher, SearchAgent)
            here = batch.states[game : game + 1], np.array([seat], np.int32), np.array([game])
            read[2 * game + seat].append(shown(watcher.known(*here)[0]))
            watcher.note(*here, actions[game : game + 1])
        loops.apply_actions(batch, rules, settings_of(config()), actions)
    compared = 0
    for one, moments in read.items():
        rows = np.flatnonzero(result.rounds == one)
        assert len(rows) == len(moments)
        for row, (events, now, unseen) in zip(rows, moments, strict=True):
            start = result.starts[one]
            assert np.array_equal(result.events[start : start + result.seen[row]], events)
            assert np.array_equal(result.now[row], now)
            assert np.array_equal(result.unseen[row], unseen)
            compared += len(events)
    assert compared > 1_000


def test_the_loss_is_the_exact_logarithm() -> None:
    random = np.random.default_rng(2)
    outputs = random.normal(0, 2, (5, 3 * OUTPUTS)).astype(np.float32)
    unseen = random.integers(0, 6, (5, NUM_CARD_TYPES))
    truth = np.zeros_like(unseen)
    for row, size in enumerate((6, 6, 5, 1, 0)):
        cards = random.permutation(np.repeat(np.arange(NUM_CARD_TYPES), unseen[row]))[:size]
        truth[row] = np.bincount(cards, minlength=NUM_CARD_TYPES)
    logs = log_weights(*(torch.from_numpy(one) for one in (outputs, unseen, truth))).numpy()
    for row in range(5):
        posterior = new_posterior(outputs[row], unseen[row].astype(np.int64), int(truth[row].sum()))
        weights = np.zeros(1)
        weigh(posterior, truth[row].astype(np.int8)[None, None], 0, weights)
        assert logs[row] == pytest.approx(math.log(weights[0]), abs=1e-3)


def test_forgotten_plays_take_their_decisions_with_them() -> None:
    result = collect(config(), ("greedy",), 500, 5, deals=4)
    whole = [chosen for _, chosen in minibatches(result, 4, None)]
    assert sorted(np.concatenate(whole).tolist()) == list(range(result.decisions))
    for some, chosen in minibatches(result, 4, np.random.default_rng(1), 1.0):
        assert len(chosen) == len(some.seen)
        assert int(some.seen.min()) >= 0
        assert (some.seen.numpy() <= result.seen[chosen]).all()


def test_it_learns_and_does_so_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = short(tmp_path / "one")
    bits = fit(args)
    assert bits["parker"]["greedy"][0] > 0.2
    again = fit(replace(args, out=tmp_path / "two"))
    assert again == bits
    weights = [(tmp_path / name / FILES.weights_file).read_bytes() for name in ("one", "two")]
    assert weights[0] == weights[1]
    about = json.loads((tmp_path / "one" / FILES.description_file).read_text())
    assert about["editions"] == ["parker"]
    assert about["options"]["decisions"] == 3_000
    assert about["bits"]["parker"]["greedy"]["mean"] == pytest.approx(bits["parker"]["greedy"][0], abs=1e-4)
    assert "torch" in about["versions"]
    assert "epoch 3 of 3" in capsys.readouterr().out
    env = vector_env(1)
    agent = agents.load(f"greedy+search:belief={tmp_path / 'one'}", env)
    assert isinstance(agent, SearchAgent)
    assert isinstance(agent.belief, NetworkBelief)
    assert agent.belief.network.kept.shape == (36, 12)


def test_it_goes_on_from_a_network_with_its_units(tmp_path: Path) -> None:
    fit(short(tmp_path / "one"))
    more = short(tmp_path / "two", start=tmp_path / "one", units=8, memory=8, epochs=1, seed=2)
    before = hand_network_for(config().table(), str(tmp_path / "one"))
    begun = belief.new_model(more).weights()
    assert all(np.array_equal(one, other) for one, other in zip(before, begun, strict=True))
    fit(more)
    about = json.loads((tmp_path / "two" / FILES.description_file).read_text())
    assert about["options"]["units"] == about["options"]["memory"] == 12
    assert about["begun_with"]["options"]["seed"] == 1


def test_it_goes_on_from_the_network_of_another_sheet(tmp_path: Path) -> None:
    fit(short(tmp_path / "one"))
    more = short(tmp_path / "two", start=tmp_path / "one", edition=("dutch",), learning_rate=1e-9, epochs=1)
    fit(more)
    one, two = (
        hand_network_for(MatchConfig(name).table(), str(tmp_path / folder))
        for name, folder in (("parker", "one"), ("dutch", "two"))
    )
    assert all(map(np.array_equal, one, two))
    (tmp_path / "one" / FILES.weights_file).write_bytes(b"")
    with pytest.raises(AgentError, match="damaged"):
        belief.new_model(more)


def test_a_loss_that_is_none_is_refused_and_nothing_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = [
        "--agent=random",
        "--decisions=300",
        "--test-decisions=100",
        "--batch-size=2",
        "--learning-rate=1e30",
    ]
    assert command(monkeypatch, "--out", tmp_path / "new", *few) == 2
    assert "a lower --learning-rate may help" in capsys.readouterr().err
    assert not (tmp_path / "new" / FILES.weights_file).exists()


def test_a_folder_that_holds_one_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / FILES.description_file).write_text("{}")
    assert command(monkeypatch, "--out", tmp_path) == 2
    assert "already holds a belief" in capsys.readouterr().err
    assert (tmp_path / FILES.description_file).read_text() == "{}"


def test_one_network_learns_several_sheets_and_is_rounded_as_asked(tmp_path: Path) -> None:
    sheets = ("dutch", "dujardin")
    bits = fit(short(tmp_path / "one", edition=sheets, decisions=6_000, bits=4))
    assert all(bits[sheet]["greedy"][0] > 0.2 for sheet in sheets)
    about = json.loads((tmp_path / "one" / FILES.description_file).read_text())
    assert (
        about["editions"] == about["options"]["edition"] == list(bits) == list(about["bits"]) == list(sheets)
    )
    one, other = (hand_network_for(MatchConfig(sheet).table(), str(tmp_path / "one")) for sheet in sheets)
    assert all(map(np.array_equal, one, other))
    words = np.concatenate([array.astype(np.float16).ravel() for array in one]).view(np.uint16)
    assert not (words & 0b111111).any()
    assert len(np.unique(words & 0b1111000000)) == 16


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--bits", "11"], "--bits is 11; it must be from 1 to 10"),
        (["--edition=parker", "--edition", "arc_en_ciel"], "'arc_en_ciel'; only Mille Bornes has beliefs"),
    ],
)
def test_wrong_options_are_named(
    options: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command(monkeypatch, "--out", tmp_path / "new", *options) == 2
    assert words in capsys.readouterr().err
