"""The strength of champions is measured as the page says, and refused where nothing could come of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import champions
from benchmarks.champions import Line, lines_of, markdown, write_docs
from millebornes_env import agents
from millebornes_env.arena.match import MatchConfig
from research.measurements import cross_play
from tests.each import each


def line(table: tuple[str, int, int], against: str, share: float) -> Line:
    return Line(*table, "mine", against, 100, 1 / table[2], share, 0.01, None, None)


def test_one_opponent_among_greedy_agents_and_the_other_way_around() -> None:
    table = ("dujardin", 3, 3)
    one = champions.measured(table, "random", champions.Args(agent="greedy", deals=40))
    assert (one.agent, one.against, one.matches, one.points) == ("greedy", "random", 120, None)
    assert one.share > 0.8
    assert one.errors_above_even > 5
    turned = champions.measured(table, "random", champions.Args(agent="greedy", deals=40, turned=True))
    assert (turned.agent, turned.against) == ("random", "greedy")
    assert turned.share < 0.2


def test_lines_of_other_tables_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(champions, "JSON_FILE", tmp_path / "champions.json")
    monkeypatch.setattr(champions, "PICTURE", tmp_path / "champions.png")
    parker, dutch = ("parker", 4, 2), ("dutch", 3, 3)
    write_docs([line(parker, "arnold", 0.5), line(dutch, "arnold", 0.4)], champions.Args())
    write_docs([line(parker, "arnold", 0.6), line(parker, "greedy", 0.7)], champions.Args())
    result = lines_of(json.loads((tmp_path / "champions.json").read_text(encoding="utf-8")))
    shares = {(one.table, one.against): one.share for one in result}
    assert shares == {
        ("dutch 3", "arnold"): 0.4,
        ("parker 4:2", "arnold"): 0.6,
        ("parker 4:2", "greedy"): 0.7,
    }
    assert (tmp_path / "champions.png").stat().st_size > 1000
    assert markdown(result).splitlines() == [
        "| table | champion | even, % | against `arnold`, % | against `greedy`, % |",
        "| --- | --- | --: | --: | --: |",
        "| `dutch` 3 | `mine` | 33.3 | 40.0 (1.0) |  |",
        "| `parker` 4:2 | `mine` | 50.0 | 60.0 (1.0) | 70.0 (1.0) |",
    ]


@each(
    ("words", "complaint"),
    [
        (["--table", "parker"], "--table 'parker' is no table: name the edition, the players"),
        (["--docs", "--turned"], "leave out --turned and --agent"),
        (["--table", "parker:5"], "'parker' has no table for 5 players"),
    ],
)
def test_what_cannot_be_measured(
    words: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["champions", *words])
    assert champions.main() == 2
    assert complaint in capsys.readouterr().err


def test_a_partner_of_the_same_kind_loses_nothing_and_a_random_one_much() -> None:
    config = MatchConfig("parker", 4, 2, episode="round", seed=1)
    greedy, chance = (agents.make(name, config.table()) for name in ("greedy", "random"))
    assert cross_play.cross_play(greedy, greedy, config, 60).tolist() == pytest.approx([0.0] * 60)
    worse = cross_play.cross_play(greedy, chance, config, 60)
    assert worse.mean() < -3 * worse.std(ddof=1) / 60**0.5
