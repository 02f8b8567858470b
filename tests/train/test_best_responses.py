"""The queue of best responses goes on where it was stopped; the best seed is measured in deals of its own."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from millebornes_env.arena.learning_curve import Score
from millebornes_env.cli.leaderboard import LIST as LEADERBOARD
from millebornes_env.cli.leaderboard import RESPONSES_FILE, read_board, read_responses
from tests.each import each
from tests.train.short_runs import run_main
from train import exploit
from train.common.run_folder import RESPONSE_FILE, RunError
from train.tools import best_responses
from train.tools.best_responses import Args, Entry, decisions_of, read_list, result_of

TWO = """
[[responses]]
agent = ["random", "greedy"]
edition = "parker"
players = 2
total_timesteps = 1000
seeds = [1, 2]
hidden = [32]
deals = 20
"""


command = functools.partial(run_main, best_responses.main)


def written(tmp_path: Path, text: str = TWO) -> Args:
    path = tmp_path / "list.toml"
    path.write_text(text)
    return Args(list=path, runs=tmp_path / "runs", threads=1)


def finish(run: exploit.Args, points: float, **changed: Any) -> None:
    """Write what a run writes at its end."""
    options = {"agent": run.agent, "seed": run.seed, "edition": run.edition, "players": run.players}
    options |= {"opponent_teams": run.opponent_teams, "total_timesteps": run.total_timesteps}
    options |= {"hidden": list(run.hidden), "learning_rate": run.learning_rate, "deals": run.deals, **changed}
    result = {"points_per_round": points, "low": points - 1, "high": points + 1, "options": options}
    assert run.run_dir is not None
    run.run_dir.mkdir(parents=True, exist_ok=True)
    (run.run_dir / RESPONSE_FILE).write_text(json.dumps({**result, "decisions": run.total_timesteps}))


def score(points: float) -> Score:
    return Score(win_rate=0.5, win_error=0.01, points=points, points_error=2.0, matches=40)


def test_the_projects_list_has_what_the_leaderboard_names_at_two_tables() -> None:
    entries = read_list(Args())
    named = {(entry.runs[0].agent, entry.runs[0].edition, entry.runs[0].players) for entry in entries}
    assert len(named) == len(entries)
    for event in read_board(LEADERBOARD).events:
        match = event.config.match
        if match.edition == "parker" and match.players in (2, 4):
            assert {(agent, "parker", match.players) for agent in event.agents} <= named
    against_champion = next(entry for entry in entries if entry.runs[0].agent == "champion")
    assert [run.seed for run in against_champion.runs] == [1, 2, 3]
    assert against_champion.runs[0].total_timesteps >= 0.49 * 619e6
    assert Path(against_champion.runs[0].start).name == "parker-2"
    assert Path(against_champion.runs[0].start).is_dir()


@each(
    ("text", "complaint"),
    [
        ("[[responses", "cannot be read"),
        (TWO.replace("seeds = [1, 2]", ""), "entry 1 .*it lacks 'seeds'"),
        (TWO.replace("[1, 2]", "[1, 1]"), "seeds is .*different numbers"),
        (TWO + "decisions = 3", "there is no option 'decisions'"),
        (TWO.replace('"parker"', '"parkre"'), "Did you mean 'parker'"),
        (TWO + TWO.replace("[1, 2]", "[]"), "entry 2 .*seeds is"),
    ],
)
def test_a_list_that_is_none_is_refused_with_the_entry(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(RunError, match=complaint):
        read_list(written(tmp_path, text))


def test_a_finished_run_is_known_by_its_options(tmp_path: Path) -> None:
    run = read_list(written(tmp_path))[0].runs[0]
    assert result_of(run) is None
    assert decisions_of(run) == 0
    finish(run, 50.0)
    assert decisions_of(run) == 1000
    result = result_of(run)
    assert result is not None
    assert result["points_per_round"] == 50.0
    finish(run, 50.0, total_timesteps=2000)
    with pytest.raises(
        RunError, match="its total_timesteps is 2000, in the list it is 1000; give other --runs"
    ):
        result_of(run)
    assert run.run_dir is not None
    (run.run_dir / RESPONSE_FILE).write_text("{}")
    with pytest.raises(RunError, match="is damaged"):
        result_of(run)


def test_the_best_seed_is_measured_again_in_other_deals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (entry, _) = read_list(written(tmp_path))
    for run, points in zip(entry.runs, (10.0, 30.0), strict=True):
        finish(run, points)
    asked: list[tuple[int, Path]] = []

    def gain(args: exploit.Args, folder: Path) -> Score:
        asked.append((args.seed, folder))
        return score(25.0)

    monkeypatch.setattr(exploit, "gain", gain)
    result = best_responses.report(entry)
    ((seed, folder),) = asked
    assert seed not in (1, 2)
    assert folder == entry.runs[1].run_dir
    assert result["points_per_round"] == 25.0
    assert result["points_per_round_by_seed"] == {"1": 10.0, "2": 30.0}
    assert result["options"]["seed"] == 2
    assert str(tmp_path) not in json.dumps(result), "it is to be published"
    alone = Entry(entry.runs[:1])
    assert best_responses.report(alone)["points_per_round"] == 10.0
    assert len(asked) == 1


def test_where_no_points_are_counted_the_best_seed_is_the_one_that_wins_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TWO.replace('edition = "parker"', 'edition = "dujardin"')
    (entry, *_) = read_list(written(tmp_path, text))
    for run, won in zip(entry.runs, (0.51, 0.55), strict=True):
        finish(run, 0.0)
        assert run.run_dir is not None
        path = run.run_dir / RESPONSE_FILE
        result = json.loads(path.read_text())
        del result["points_per_round"]
        path.write_text(json.dumps({**result, "matches_won": won}))
    won_again = Score(win_rate=0.53, win_error=0.01, points=0.0, points_error=0.0, matches=400)
    monkeypatch.setattr(exploit, "gain", lambda _args, _folder: won_again)
    result = best_responses.report(entry)
    assert result["options"]["seed"] == 2
    assert result["matches_won_by_seed"] == {"1": 0.51, "2": 0.55}
    assert result["matches_won"] == 0.53
    assert best_responses._with_interval(result) == "53.0 % (51.0 to 55.0)"


def test_where_the_champion_lies_is_not_published(tmp_path: Path) -> None:
    text = TWO.replace("deals = 20", 'deals = 20\nstart = "champion"').replace("[32]", "[256, 128]")
    run = read_list(written(tmp_path, text))[0].runs[0]
    assert Path(run.start).is_absolute()
    result = best_responses.described(run, score(1.0))
    assert result["options"]["start"] == "champion"
    assert run.start not in json.dumps(result)


def test_what_is_left_is_trained_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    args = written(tmp_path)
    options = ["--list", str(args.list), "--runs", str(args.runs)]
    trained: list[tuple[str, int]] = []

    def respond(run: exploit.Args) -> exploit.Response:
        if len(trained) == 3:
            raise KeyboardInterrupt
        trained.append((run.agent, run.seed))
        assert run.run_dir is not None
        run.run_dir.mkdir(parents=True)
        return exploit.Response(None, score(float(run.seed)))

    monkeypatch.setattr(exploit, "respond", respond)
    monkeypatch.setattr(exploit, "gain", lambda args, folder: score(7.0))
    assert command(monkeypatch, *options, "--dry-run") == 0
    assert trained == []
    assert capsys.readouterr().out.count("random") == 2
    leaderboard = ["--leaderboard", str(tmp_path / "board")]
    assert command(monkeypatch, *options, *leaderboard) == 130
    assert "stopped; give the same command again to continue" in capsys.readouterr().err
    assert trained == [("random", 1), ("random", 2), ("greedy", 1)]
    kept = read_responses(tmp_path / "board" / "parker-2" / RESPONSES_FILE)
    assert {agent: one["points_per_round"] for agent, one in kept.items()} == {"random": 7.0}
    trained.clear()
    assert command(monkeypatch, *options, *leaderboard) == 0
    assert trained == [("greedy", 2)], "the others are done"
    assert "+7.0 (+3.1 to +10.9)" in capsys.readouterr().out
    assert set(read_responses(tmp_path / "board" / "parker-2" / RESPONSES_FILE)) == {"greedy", "random"}
