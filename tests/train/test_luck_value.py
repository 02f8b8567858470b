"""The value of luck is fitted to what positions came to, less the luck that came after them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.value_files import DESCRIPTION_FILE, WEIGHTS_FILE
from train import luck_value
from train.luck_value import Args, Draws, fit, lineups_of, scale_of

GAMES = np.arange(2)


def noted(values: list[list[float]], luck: list[list[float]]) -> Draws:
    """Two games, of which the second has a draw less."""
    draws = Draws(2)
    for number, (worth, so_far) in enumerate(zip(values, luck, strict=True)):
        games = GAMES if number < len(values) - 1 else GAMES[:1]
        draws.note(games, np.array(worth)[games], np.array(so_far)[games])
    return draws


def test_what_a_draw_came_to_is_the_end_less_the_luck_that_came_after() -> None:
    draws = noted([[0.5, 0.1], [0.2, 0.4], [0.9, 0.0]], [[0.1, 0.0], [0.3, -0.2], [0.6, 0.0]])
    assert draws.count.tolist() == [3, 2]
    returns = draws.returns(np.array([1.0, -1.0]), np.array([0.7, -0.1]), 1.0)
    assert returns[:3, 0] == pytest.approx([1.0 - 0.6, 1.0 - 0.4, 1.0 - 0.1])
    assert returns[:2, 1] == pytest.approx([-1.0 + 0.1, -1.0 - 0.1])


def test_with_a_decay_the_next_values_are_believed_too() -> None:
    draws = noted([[0.5, 0.1], [0.2, 0.4], [0.9, 0.0]], [[0.1, 0.0], [0.3, -0.2], [0.6, 0.0]])
    returns = draws.returns(np.array([1.0, -1.0]), np.array([0.7, -0.1]), 0.5)
    last = 1.0 - 0.7
    third = 0.5 * (0.9 - 0.6) + 0.5 * last
    second = 0.5 * (0.2 - 0.3) + 0.5 * third
    assert returns[:3, 0] == pytest.approx([0.1 + second, 0.3 + third, 0.6 + last])
    assert returns[1, 1] == pytest.approx(-0.2 + (-1.0 + 0.1))
    assert returns[0, 1] == pytest.approx(0.0 + 0.5 * (0.4 + 0.2) + 0.5 * (-0.9))


def test_without_decay_only_the_next_value_counts() -> None:
    draws = noted([[0.5, 0.1], [0.2, 0.4], [0.9, 0.0]], [[0.1, 0.0], [0.3, -0.2], [0.6, 0.0]])
    returns = draws.returns(np.array([1.0, -1.0]), np.array([0.7, -0.1]), 0.0)
    assert returns[0, 0] == pytest.approx(0.2 - (0.3 - 0.1), abs=1e-6)


def test_more_draws_than_there_was_room_for() -> None:
    draws = Draws(1)
    for number in range(300):
        draws.note(np.zeros(1, np.int64), np.array([number]), np.array([0.0]))
    assert draws.values[:300, 0].tolist() == list(range(300))


def test_everybody_plays_everybody() -> None:
    assert lineups_of(("a", "b", "c"), 2) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert lineups_of(("a", "b"), 3) == [("a", "a", "b"), ("a", "b", "b")]
    assert lineups_of(("a",), 2) == [("a", "a")]


def test_a_network_is_fitted_kept_and_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(luck_value, "_DEALS_AT_ONCE", 64)
    options = [
        "--agent",
        "greedy",
        "--agent",
        "holder",
        "--teacher",
        "",
        "--positions",
        "1500",
        "--stages",
        "2",
    ]
    options += ["--hidden", "16", "--second", "8", "--batch-size", "256", "--deals", "100"]
    monkeypatch.setattr("sys.argv", ["luck_value", "--out", str(tmp_path / "v"), *options])
    assert luck_value.main() == 0
    out = capsys.readouterr().out
    assert "stage 2 of 2: 1,500 positions" in out
    assert "greedy - holder: duplicate deals save " in out
    about = json.loads((tmp_path / "v" / DESCRIPTION_FILE).read_text())
    assert (about["players"], about["teams"], about["options"]["stages"]) == (2, 2, 2)
    assert str(tmp_path) not in json.dumps(about), "it is to be published"
    network = MatchConfig(aivat=True, luck_value=str(tmp_path / "v")).network()
    assert network is not None
    assert network.rows.shape[1] == 16
    more = ["--start", str(tmp_path / "v"), *options[:-2], "--deals", "60", "--hidden", "4"]
    monkeypatch.setattr("sys.argv", ["luck_value", "--out", str(tmp_path / "more"), *more])
    assert luck_value.main() == 0
    assert "stage 2 of 2: 1,500 positions" in capsys.readouterr().out
    further = MatchConfig(aivat=True, luck_value=str(tmp_path / "more")).network()
    assert further is not None
    assert further.rows.shape[1] == 16, "that of the network that it goes on from"
    monkeypatch.setattr("sys.argv", ["luck_value", "--out", str(tmp_path / "v"), *options])
    assert luck_value.main() == 2
    assert "already holds a value of luck: choose another --out" in capsys.readouterr().err


def test_the_same_options_give_the_same_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(luck_value, "_DEALS_AT_ONCE", 16)
    for name in ("one", "other"):
        fit(
            Args(
                out=tmp_path / name,
                agent=("greedy", "holder"),
                teacher="",
                positions=500,
                stages=1,
                hidden=8,
                second=4,
                batch_size=100,
                deals=50,
            )
        )
    assert (tmp_path / "one" / WEIGHTS_FILE).read_bytes() == (tmp_path / "other" / WEIGHTS_FILE).read_bytes()
    args = Args(out=tmp_path, agent=("greedy", "holder"), deals=50)
    network = MatchConfig(aivat=True, luck_value=str(tmp_path / "one")).network()
    assert network is not None
    doubled = network._replace(last=2 * network.last, last_bias=2 * network.last_bias)
    assert scale_of(args, doubled) == pytest.approx(scale_of(args, network) / 2, rel=1e-4)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--positions", "0"], "--positions is 0; it must be 1 or more"),
        (["--hidden", "513"], "--hidden is 513; the arena has room for 512 units"),
        (["--keep", "0"], "--keep is 0; nothing would be learned from"),
        (["--decay", "2"], "--decay is 2.0; it must lie in 0 to 1"),
        (["--players", "3"], "at a table of more than two teams, give --decay 1 --teacher ''"),
        (["--teacher", "greedy"], "it must be a policy that values positions in points"),
        (["--agent", "arnodl"], "Did you mean 'arnold'?"),
        (["--agent", "random+search"], "random+search: only games of compiled agents can be learned from"),
        (["--start", "nowhere"], "'nowhere' holds no value of luck"),
        (
            ["--edition", "arc_en_ciel", "--players", "4"],
            "has no value of luck, which train.luck_value needs",
        ),
    ],
)
def test_wrong_options_are_refused_with_a_sentence(
    options: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["luck_value", "--out", str(tmp_path / "v"), *options])
    assert luck_value.main() == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
    assert not (tmp_path / "v").exists()
