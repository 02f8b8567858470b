"""The arena's command line: tables, files, pictures, and clear words about what is wrong."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import millebornes_env.arena.tournament
from millebornes_env import agents
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.tournament import TournamentConfig, entrants_of, opened
from millebornes_env.cli.arena import main
from millebornes_env.cli.leaderboard import LIST, read_board, short_name
from millebornes_env.cli.leaderboard import main as write_leaderboard
from millebornes_env.errors import ArenaError
from tests.each import each

QUICK = ["--deals", "40", "--episode", "round"]
FILES = ("arena.json", "payoff.png", "ratings.png", "report.md", "tournament.json", "tournament.lock")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error message for invalid arguments."""
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert not Path("results").exists()
    return printed.err


def test_everything_is_printed_and_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["greedy", "holder", "wild@random", *QUICK, "--out", "here", "--anchor", "holder"]) == 0
    printed = capsys.readouterr().out
    for text in (
        "Ratings",
        "wild",
        "Points per round",
        "Behaviour",
        "coups fourrés",
        "Duplicate deals, measured",
    ):
        assert text in printed
    assert sorted(path.name for path in Path("here").iterdir() if path.is_file()) == sorted(FILES)
    assert Path("here/payoff.png").read_bytes().startswith(b"\x89PNG")
    content = json.loads(Path("here/arena.json").read_text())
    assert content["agents"] == ["greedy", "holder", "wild"]
    assert content["entrants"][2]["spec"] == "random"
    assert len(content["entrants"][0]["fingerprint"]) == 16
    assert content["config"]["match"]["seed"] == 1
    assert "numba" in content["versions"]
    assert content["payoff"]["deals"][0][1] == 40
    assert content["ratings"]["elo"][1] == 0
    assert len(content["statistics"]) >= 20
    assert "greedy" in Path("here/report.md").read_text()


def test_of_two_agents_it_says_which_one_is_better(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["greedy", "wild@random", *QUICK, "--out", "by_points"]) == 0
    _, _, sentence, *_ = capsys.readouterr().out.splitlines()
    assert sentence.startswith("greedy is better than wild: +")
    assert sentence.endswith(", 40 deals.")
    assert main(["greedy", "random", "--deals", "40", "--edition", "dujardin", "--out", "by_wins"]) == 0
    assert "\ngreedy is better than random: wins " in capsys.readouterr().out
    assert main(["greedy", "random", "--deals", "1", "--out", "one"]) == 0
    assert "better" not in capsys.readouterr().out


def test_a_removed_folder_ends_the_tournament(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Results are printed but not written, so the same command starts again."""
    keep = millebornes_env.arena.tournament.keep_turn

    def removed(*given: Any) -> None:
        shutil.rmtree("here")
        keep(*given)

    monkeypatch.setattr(millebornes_env.arena.tournament, "keep_turn", removed)
    assert main(["greedy", "random", *QUICK, "--out", "here"]) == 2
    printed = capsys.readouterr()
    assert "Points per round" in printed.out
    assert printed.err.startswith(
        "error: 'here', or tournament.json in it, was removed while the tournament was"
    )
    assert not Path("here").exists()


def test_damaged_files_of_a_tournament_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["greedy", "random", *QUICK, "--out", "here"]) == 0
    config = TournamentConfig(MatchConfig(episode="round"), 40)
    entrants = entrants_of(["greedy", "random"], config.match)
    assert opened(entrants, config, Path("here")).outcomes
    for name in ("tournament.json", "lineups/000-001.npz"):
        path = Path("here") / name
        content = path.read_bytes()
        for damage in (b"", content[:-9], b"[" * 10**5, b"[]", content[::-1]):
            path.write_bytes(damage)
            with pytest.raises(ArenaError, match=f"here/{name}"):
                opened(entrants, config, Path("here"))
        path.write_bytes(content)


def test_the_same_command_gives_the_same_results_and_plays_nothing_anew(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["greedy", "random", *QUICK]
    assert main(command) == 0
    first = capsys.readouterr().out
    monkeypatch.delattr(millebornes_env.arena.tournament, "play")
    assert main(command) == 0
    assert capsys.readouterr().out == first
    assert len(list(Path("results/arena").iterdir())) == 1


def test_luck_plain_and_until(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["greedy", "holder", "--episode", "round", "--deals", "5000", "--until", "ci<60"]
    assert main([*command, "--aivat"]) == 0
    assert "Luck was subtracted from the points, measured" in capsys.readouterr().out
    assert main([*command, "--plain", "--out", "plain"]) == 0
    content = json.loads(Path("plain/arena.json").read_text())
    assert content["variance_reductions"] == []
    assert 100 <= content["payoff"]["deals"][0][1] < 5000


@each(
    ("arguments", "message"),
    [
        (["greedy"], "needs two agents or more; 1 given"),
        (["greedy", "greedy"], "two agents have the name 'greedy'"),
        (["greedy", "greddy"], "there is no agent 'greddy'; the agents are random, greedy"),
        (["greedy", "holder", "--deals", "0"], "deals is 0; it must be 1 or more"),
        (
            ["greedy", "search:rollout=greedy,sees=all", "--allow-cheating", "--aivat"],
            "luck cannot be measured",
        ),
        (["greedy", "holder", "--until", "soon"], "until is 'soon'; it may be 'ci<10'"),
        (["greedy", "holder", "--edition", "parkour"], "parkour"),
        (
            ["greedy", "holder", "--anchor", "arnold"],
            "the anchor 'arnold' does not play; there are greedy, holder",
        ),
        (["greedy", "runs/none"], "there is no run folder 'runs/none'"),
    ],
)
def test_what_makes_no_tournament_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused([*arguments, *QUICK[2:]], capsys)


def test_an_agent_that_peeks_must_be_admitted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Peeking(agents.RandomAgent):
        sees_hidden_cards = True

    monkeypatch.setitem(agents.AGENTS, "peeking", Peeking)
    assert "peeking sees hidden cards" in refused(["greedy", "peeking", *QUICK], capsys)
    assert main(["greedy", "peeking", *QUICK, "--allow-cheating"]) == 0


def test_faults_are_listed_and_the_rest_is_rated(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(agents.RandomAgent):
        def act(self, *batch: object) -> object:
            raise ZeroDivisionError("no luck")

    monkeypatch.setitem(agents.AGENTS, "failing", Failing)
    assert main(["greedy", "holder", "failing", *QUICK, "--out", "here"]) == 0
    printed = capsys.readouterr().out
    assert "Not played: greedy - failing: failing raised ZeroDivisionError: no luck (in deal" in printed
    assert len(json.loads(Path("here/arena.json").read_text())["faults"]) == 2
    assert main(["greedy", "failing", *QUICK]) == 2
    assert "nothing was played; the report says why" in capsys.readouterr().err


SMALL = """
agents = ["greedy", "holder", "random"]
anchor = "holder"
seed = 3

[[tables]]
edition = "parker"
players = 2
deals = 30

[[tables]]
edition = "dutch"
players = 3
guests = ["racer"]
deals = 10
"""


def test_the_leaderboard_is_written_by_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    Path("list.toml").write_text(SMALL)
    response = {"points_per_round": 87.4, "low": 80.0, "high": 94.8, "decisions": 20_000_000}
    Path("docs/agents/leaderboard/dutch-3").mkdir(parents=True)
    Path("docs/agents/leaderboard/dutch-3/best_responses.json").write_text(json.dumps({"racer": response}))
    assert write_leaderboard(["--list", "list.toml", "--out", "docs/agents", "--tournaments", "kept"]) == 0
    text = Path("docs/agents/leaderboard.md").read_text()
    assert "| agent | parker, 2 | dutch, 3 |" in text
    assert (
        "- **Parker Brothers and Winning Moves USA, 2 players, matches** (`parker`, 30 deals of every" in text
    )
    assert "| racer | - | +87 ± 7 (20 M) |" in text
    assert text.count("\n- alpha-rank") == 1, "what is said of all tables is said once"
    assert Path("docs/agents/leaderboard/ratings.png").stat().st_size > 500
    assert "![Ratings at all tables](leaderboard/ratings.png)" in text
    assert re.search(r"^\| racer \| - \| [+-][0-9,]+ \|$", text, re.MULTILINE), "it plays at one table only"
    for name in ("parker-2", "dutch-3"):
        for file in ("report.md", "arena.json"):
            assert f"leaderboard/{name}/{file}" in text
        for file in ("report.md", "arena.json", "ratings.png", "payoff.png"):
            assert (Path("docs/agents/leaderboard") / name / file).stat().st_size > 500


def test_the_projects_own_list_can_be_read() -> None:
    board = read_board(LIST)
    assert len(board.agents) >= 10
    assert {(event.config.match.edition, event.config.match.players) for event in board.events} >= {
        ("parker", players) for players in (2, 3, 4, 6)
    }


def test_the_folder_of_a_table_lies_within_the_given_folders() -> None:
    sheets = ("/home/me/mine.toml", "../mine.toml", "sheets/mine.toml")
    tables = [SimpleNamespace(edition=sheet, players=2, teams=None) for sheet in sheets]
    names = [short_name(table) for table in tables]  # type: ignore[arg-type]
    assert len(set(names)) == len(sheets)
    assert all(re.fullmatch(r"[-\w]*-mine-toml-[0-9a-f]{8}-2", name) for name in names)
    assert short_name(MatchConfig("parker+max_200=4", 4, 2)) == "parker+max_200=4-4-in-2"


@each("anchor", ["mine", "mine@holder"])
def test_a_renamed_agent_can_be_the_anchor(anchor: str) -> None:
    Path("list.toml").write_text(
        SMALL.replace('"holder", ', '"mine@holder", ').replace('"holder"', f'"{anchor}"')
    )
    assert read_board(Path("list.toml")).anchor == "mine"


@each(
    ("change", "message"),
    [
        (('anchor = "holder"', 'anchor = "arnold"'), "the anchor 'arnold' is not among the agents"),
        (("deals = 30", ""), "is not a list of agents and tables: KeyError('deals')"),
        (("agents =", "agents"), "is not TOML: Expected '=' after a key"),
        (('"random"', '"rondom"'), "there is no agent 'rondom'"),
        (("guests", "guest"), "table 2: there is no entry 'guest': correct or remove it; there are edition"),
        (("seed = 3", "seed = 3\naivat = true"), "there is no entry 'aivat'"),
        (('"random"]', "3]"), "agents is ['greedy', 'holder', 3]: it must be a list of texts"),
        (('["racer"]', '"racer"'), "table 2: guests is 'racer': it must be a list of texts"),
        (("seed = 3", "seed = 1.7"), "seed is 1.7: it must be a whole number"),
        (("deals = 30", "deals = 0"), "'list.toml': deals is 0; it must be 1 or more"),
        (("deals = 30", "deals = 4.9"), "table 1: deals is 4.9: it must be a whole number"),
    ],
)
def test_a_wrong_list_is_refused(
    change: tuple[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("list.toml").write_text(SMALL.replace(*change))
    assert write_leaderboard(["--list", "list.toml", "--tournaments", "kept"]) == 2
    assert message in capsys.readouterr().err
