"""The game of docs/environment/extend.md in the arena: played, counted and reported as ours are."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from millebornes_env import agents
from millebornes_env.arena import plain_counters
from millebornes_env.arena.behaviour import behaviour, counts_of
from millebornes_env.arena.evaluation import evaluate
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.cli.arena import main as play_arena
from millebornes_env.cli.evaluate import main as play_evaluation
from millebornes_env.errors import ArenaError, OptionError
from millebornes_env.games.registry import register_game
from tests.games.conftest import entry, examples


@pytest.fixture
def hold_at(pig: ModuleType, monkeypatch: pytest.MonkeyPatch) -> type:
    """Return the agent of the page, with the name that it has there."""
    names: dict[str, Any] = {}
    block = next(block for block in examples() if "class HoldAt" in block)
    exec(block.partition("agents.register")[0], names)
    agents.register("hold_at", names["HoldAt"])
    result: type = names["HoldAt"]
    return result


def test_it_is_even_and_the_same_for_every_number_of_threads(hold_at: type) -> None:
    """Eight seats: more than a table of ours has."""
    config = MatchConfig("pig", 8)
    outcome = play(["random"], config, 12)
    assert outcome.wins.sum(axis=1) == pytest.approx(1.0)
    one = play(["random"], MatchConfig("pig", 8, threads=1), 12)
    assert np.array_equal(outcome.wins, one.wins)
    assert (config.episode, config.episodes, outcome.game) == ("game", "games", "pig")


def test_what_every_game_counts(hold_at: type) -> None:
    outcome = play(["hold_at", "random"], MatchConfig("pig", 3), 20)
    count = {name: outcome.counters[:, plain_counters.index_of(name)] for name in plain_counters.COUNTS}
    assert (count["rounds"] == 60).all()
    assert (count["episodes"] == 60).all()
    assert count["decisions"].sum() == outcome.decisions.sum()
    assert count["episode_wins"].tolist() == (outcome.wins == 1).sum(axis=(0, 1)).tolist()
    assert count["episodes_started"].tolist() == [int((outcome.first == role).sum()) for role in range(3)]
    begun_and_won = [
        int(((outcome.first == role) & (outcome.wins[..., role] == 1)).sum()) for role in range(3)
    ]
    assert count["episodes_won_starting"].tolist() == begun_and_won
    known = behaviour(counts_of([outcome], 0))
    assert known["episodes_won"] == pytest.approx(100 * outcome.win_rate().mean)
    assert known["rounds_per_episode"] == 1


def test_evaluations_are_against_random_where_nobody_is_named(
    hold_at: type, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["hold_at", "--edition", "pig", "--players", "3", "--deals", "30", "--out", f"{tmp_path}/"]
    assert play_evaluation(command) == 0
    printed = capsys.readouterr().out
    assert "pig, 3 players, games" in printed
    assert "played 3 times with the same chance" in printed.replace("\n", " ")
    assert re.search(r"hold_at +│ random", printed)


def test_a_compiled_agent_needs_nothing_that_reads_observations(pig: ModuleType) -> None:
    names: dict[str, Any] = {"__name__": "page", "pig": pig, "agents": agents}
    block = next(block for block in examples() if "class FastHoldAt" in block)
    exec(block.partition("again =")[0], names)
    (row,) = evaluate("fast_hold_at", ["random"], MatchConfig("pig", 2), 40)
    assert row.win_rate.mean > 0.8


def test_the_command_of_the_page_runs(
    pig_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its module is imported for the name of the sheet, and registers itself."""
    sys.modules.pop("pig", None)
    monkeypatch.chdir(tmp_path)
    block = next(block for block in examples() if "class HoldAt" in block)
    Path("hold_at.py").write_text(block.partition("agents.register")[0])
    page = (Path(__file__).parents[2] / "docs" / "environment" / "extend.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^python -m millebornes_env arena (.*)$", page, re.MULTILINE)
    assert play_arena([*command.split(), "--deals", "6", "--out", "here"]) == 0
    assert "pig, 3 players, games" in capsys.readouterr().out
    result = json.loads(Path("here/arena.json").read_text())
    assert result["config"]["match"]["edition"] == "pig"
    assert [entrant["name"] for entrant in result["entrants"]][2] == "random"
    assert set(result["statistics"]) == {one.key for one in plain_counters.STATISTICS}


def test_a_module_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert play_evaluation(["random", "--edition", "pigg:pig"]) == 2
    told = capsys.readouterr().err
    assert "edition is 'pigg:pig': the module 'pigg' that should register its game cannot be imported" in told
    assert "No module named 'pigg'" in told


def test_a_part_that_lacks_something_is_told(pig: ModuleType) -> None:
    register_game(entry(pig, hooks={"arena.counts": pig}))
    with pytest.raises(
        OptionError, match=r"the hook 'arena.counts' of the game 'pig' is <.*> without NUM_COUNTERS"
    ):
        play(["random"], MatchConfig("pig"), 2)
    register_game(entry(pig, hooks={"arena.counts": 7}))
    with pytest.raises(OptionError, match=r"the hook 'arena.counts' of the game 'pig' is 7, no module"):
        play(["random"], MatchConfig("pig"), 2)


def test_what_it_has_not_is_refused(pig: ModuleType) -> None:
    with pytest.raises(ArenaError, match="episode is 'round'; it must be 'game'"):
        MatchConfig("pig", episode="round")
    with pytest.raises(OptionError, match="the game 'pig' has no value of luck, which aivat needs"):
        MatchConfig("pig", aivat=True)
