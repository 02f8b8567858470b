"""`compare` prints one sentence of verdict, stops where it should, and refuses what cannot be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from millebornes_env.arena import evaluation
from millebornes_env.cli.compare import main
from tests.each import each


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_one_sentence_and_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["greedy", "random", "--deals", "40", "--episode", "round", "--out", "new/found.json"]) == 0
    sentence, table, wrote = capsys.readouterr().out.splitlines()
    assert sentence.startswith("greedy is better than random: +")
    assert sentence.endswith("40 deals.")
    assert (table, wrote) == ("(parker, 2 players; seed 1)", "wrote new/found.json")
    (result,) = json.loads(Path("new/found.json").read_text(encoding="utf-8"))["results"]
    assert (result["agent"], result["opponent"]) == ("greedy", "random")
    assert (result["num_deals"], result["verdict"]) == (40, sentence)
    assert result["points_per_round"]["low"] > 0


def test_without_points_by_wins(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["greedy", "random", "--deals", "40", "--edition", "dujardin", "--until", "ci<20%"]) == 0
    assert capsys.readouterr().out.startswith("greedy is better than random: wins ")


def test_ctrl_c_shows_what_is_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real, turns = evaluation.play, []

    def stops(*arguments: object, **options: object) -> object:
        turns.append(1)
        if len(turns) > 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(evaluation, "play", stops)
    assert main(["greedy", "random", "--deals", "400", "--episode", "round"]) == 130
    printed = capsys.readouterr()
    assert "greedy is better than random" in printed.out
    assert "32 deals." in printed.out
    assert printed.err == "error: stopped before all deals were played\n"


@each(
    ("arguments", "message"),
    [
        (["greedy", "greddy"], "there is no agent 'greddy'"),
        (["greedy", "holder", "--deals", "1"], "deals is 1; an interval needs 2 or more"),
        (["greedy", "holder", "--edition", "dujardin", "--until", "ci<10"], "give 'ci<1%'"),
        (["greedy", "search:rollout=greedy,sees=all"], "not allowed unless --allow-cheating is given"),
        (["greedy", "runs/none"], "there is no run folder 'runs/none'"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert message in line
