"""The value of luck is fitted to what tells the branches of a draw apart."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from millebornes_env.arena.luck.value_files import FILES, layers_for
from millebornes_env.arena.match import MatchConfig
from tests.arena.test_aivat import random_layers
from tests.train.short_runs import run_main
from train.tools import luck_games, luck_value
from train.tools.luck_value import Args, LuckValue, fit, rounded, scale_of, scaled

command = functools.partial(run_main, luck_value.main)


def test_a_network_is_fitted_kept_and_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(luck_games, "_DEALS_PER_BATCH", 32)
    options = [
        "--agent=greedy",
        "--agent=holder",
        "--draws=1500",
        "--stages=2",
        "--batch-size=256",
        "--deals=100",
    ]
    units = ["--hidden", "16", "--second", "8"]
    assert command(monkeypatch, "--out", tmp_path / "v", *options, *units) == 0
    out = capsys.readouterr().out
    assert "stage 2 of 2: 1,500 draws" in out
    assert "greedy - holder: duplicate deals reduce the rounds needed by a factor of " in out
    about = json.loads((tmp_path / "v" / FILES.description_file).read_text())
    assert (about["players"], about["teams"], about["options"]["stages"]) == (2, 2, 2)
    assert str(tmp_path) not in json.dumps(about), "it is to be published"
    network = MatchConfig(aivat=True, luck_value=str(tmp_path / "v")).network()
    assert network is not None
    assert network.widths[1] == 16
    more = ["--start", tmp_path / "v", *options[:-1], "--deals=60"]
    assert command(monkeypatch, "--out", tmp_path / "more", *more) == 0
    assert "stage 2 of 2: 1,500 draws" in capsys.readouterr().out
    further = MatchConfig(aivat=True, luck_value=str(tmp_path / "more")).network()
    assert further is not None
    assert further.widths[1] == 16, "that of the network that it goes on from"
    about = json.loads((tmp_path / "more" / FILES.description_file).read_text())
    assert (about["options"]["hidden"], about["options"]["second"]) == (16, 8)
    assert [run["stages"] for run in about["begun_with"]] == [2]
    assert [run["hidden"] for run in luck_value.runs_of(tmp_path / "more")] == [16, 16]
    assert command(monkeypatch, "--out", tmp_path / "v", *options) == 2
    assert "already holds a value of luck: choose another --out" in capsys.readouterr().err


def test_the_same_options_give_the_same_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(luck_games, "_DEALS_PER_BATCH", 16)
    few = {"draws": 4000, "stages": 1, "hidden": 8, "second": 4, "batch_size": 100}
    args = Args(out=tmp_path, agent=("greedy", "holder"), deals=50, **few)  # type: ignore[arg-type]
    for name in ("one", "other"):
        fit(replace(args, out=tmp_path / name))
    one, other = ((tmp_path / name / FILES.weights_file).read_bytes() for name in ("one", "other"))
    assert one == other
    layers = layers_for(args.config.game, args.config.rules, str(tmp_path / "one"))
    assert scale_of(args, scaled(layers, 2.0)) == pytest.approx(scale_of(args, layers) / 2, rel=1e-4)


def test_a_network_that_knows_nothing_is_not_scaled_by_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(luck_value, "scale_of", lambda args, layers: -0.5)
    options = [
        "--agent=greedy",
        "--agent=holder",
        "--draws=64",
        "--batch-size=64",
        "--stages=1",
        "--hidden=4",
        "--second=2",
    ]
    assert command(monkeypatch, "--out", tmp_path / "v", *options) == 2
    assert "the best scale of its luck is -50 %. Continue with --start" in capsys.readouterr().err
    monkeypatch.setattr(luck_value, "scale_of", lambda args, layers: 1.0)
    monkeypatch.setattr(luck_value, "measure", lambda args: None)
    assert command(monkeypatch, "--out", tmp_path / "w", "--start", tmp_path / "v", *options) == 0
    path = tmp_path / "w" / FILES.description_file
    path.write_text(json.dumps(json.loads(path.read_text()) | {"scale": 0.0}))
    assert command(monkeypatch, "--out", tmp_path / "x", "--start", path.parent, *options) == 2
    assert "was scaled by 0.0: leave out --start" in capsys.readouterr().err


def test_units_are_added_without_a_change_of_the_values() -> None:
    torch.manual_seed(3)
    small = LuckValue(30, 6, 4)
    small.second.bias.data.fill_(0.3)  # so that they are not cut off
    wide = LuckValue(30, 9, 7)
    wide.load(small.layers())
    small.load(small.layers())
    ones = torch.randint(0, 30, (50, 8))
    moves = torch.randint(1, 30, (50, 3, luck_games.MOVED))
    assert small(ones, moves).std() > 0.01
    assert torch.allclose(wide(ones, moves), small(ones, moves), atol=1e-5)
    wide(ones, moves).square().mean().backward()
    added, outputs = wide.second.weight.grad, wide.last.weight.grad
    assert added is not None
    assert outputs is not None
    assert (added[:4, 6:] != 0).any(), "the added units of the first layer are learned"
    assert (outputs[0, 4:] != 0).any(), "and those of the second"


def test_weights_are_rounded_to_the_nearest_with_so_many_binary_places() -> None:
    weight = random_layers(2, 2)[0][0]
    (((kept, _),), ((few, _),)) = (rounded([(weight, weight[0])], bits) for bits in (10, 5))
    assert (kept == weight.astype(np.float16)).all()
    assert (np.abs(few - kept) <= np.abs(kept) * 2**-6 + 1e-6).all()
    mantissas = np.frexp(few)[0] * 2**6
    assert (mantissas == np.round(mantissas)).all()
    assert (few != kept).mean() > 0.9
