"""Answers of the page's engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from millebornes_env.errors import MilleBornesError
from millebornes_env.games import millebornes
from millebornes_env.games.registry import mini_decks
from millebornes_env.notation import read_record
from millebornes_env.play.web.table import MESSAGES, CardTable

COUP_FOURRE = """
dealer: 0
battle 0: roll
battle 1: roll
hand 0: right_of_way 25 50 75 100 200
hand 1: stop 25 50 75 100 200 roll
"""


def finished(table: CardTable, **game: Any) -> dict[str, Any]:
    """A round of the first legal actions."""
    position = table.start("parker", seed=1, **game)
    while not position["over"]:
        position = table.play(position["legal"][0]["action"])
    return position


def test_all_answers_are_json(table: CardTable) -> None:
    table.start("parker", seed=1)
    arguments: dict[str, dict[str, Any]] = {
        "rules": {"edition": "dutch", "players": 4},
        "start": {"edition": "parker", "players": 3},
        "load": {"text": COUP_FOURRE},
        "goto": {"k": 0},
        "position": {"seat": 0},
        "play": {"action": 8},
        "why_not": {"card": 0},
        "choose": {"agent": "greedy"},
        "think": {"agent": "champion", "belief": True},
    }
    for message in MESSAGES:
        answer = table.answer(message, arguments.get(message, {}))
        assert json.loads(json.dumps(answer)) == answer, message


def test_the_catalogue_has_every_table(table: CardTable) -> None:
    result = table.catalogue()
    tables = [
        (one["name"], size["players"], size["teams"]) for one in result["editions"] for size in one["tables"]
    ]
    minis = [one["name"] for one in result["editions"] if one["is_mini"]]
    assert minis == list(mini_decks())
    assert (len(result["editions"]) - len(minis), len(tables) - len(minis), len(result["cards"])) == (
        6,
        28,
        19,
    )
    for edition, players, teams in tables:
        assert table.start(edition, players, teams)["players"] == players
        assert len(table.rules(edition, players, teams)) > 40


def test_hidden_hands_stay_hidden(table: CardTable) -> None:
    table.start("parker", 4, seed=1)
    hands = [[one["hand"] is None for one in table.position(seat)["seats"]] for seat in (2, None, "all")]
    assert hands == [[True, True, False, True], [True] * 4, [False] * 4]
    assert all(one["hand_size"] == len(one["hand"]) for one in table.position("all")["seats"])


def test_a_round_its_sheet_and_its_record(table: CardTable) -> None:
    position = finished(table)
    assert position["match_over"]
    assert position["legal"] == []
    assert position["sheet"][-1]["points"] == [side["score"] for side in position["sides"]]
    assert len(position["winners"]) == 1
    text = table.record()["text"]
    again = CardTable()
    assert again.load(text)["positions"] == position["plays"] + 1
    assert again.goto(position["plays"]) == position | {"edition": "parker"}
    assert str(read_record(text)) == text


def test_a_match_goes_on(table: CardTable) -> None:
    position = finished(table, episode="match")
    assert [one["kind"] for one in position["legal"]] == ["next_round"]
    position = table.play(position["legal"][0]["action"])
    assert (position["round_number"], position["over"]) == (1, False)
    assert table.log()[-1]["notation"] == "next round"
    again = CardTable()
    again.load(table.record()["text"])
    assert again.goto(position["at"])["episode"] == "match"
    assert table.undo()["over"]


def test_playing_on_from_an_earlier_position(table: CardTable) -> None:
    for _ in range(3):
        position = table.position() if table._game else table.start("parker", seed=1)
        table.play(position["legal"][0]["action"])
    table.goto(1)
    assert (table.position()["at"], table.position()["plays"]) == (1, 3)
    other = table.position()["legal"][-1]["action"]
    assert table.play(other)["plays"] == 2
    assert table.log()[-1]["action"] == other


def test_a_coup_fourre(table: CardTable) -> None:
    table.load(COUP_FOURRE)
    position = table.play(8)
    assert (position["asks"], position["to_act"]) == ("coup_fourre", 0)
    assert position["pending"] == {"card": 8, "team": 0, "by": 1}
    assert [one["kind"] for one in position["legal"]] == ["claim", "refuse"]
    claimed = table.play(position["legal"][0]["action"])
    assert claimed["sides"][0]["safeties"] == [{"card": 18, "coup_fourre": True}]


def test_why_a_card_cannot_be_laid(table: CardTable) -> None:
    table.load("hand 0: 100 stop gasoline right_of_way 25 roll\ndistance 0: 3x25\nbattle 0: stop on roll")
    reasons = [
        table.why_not(3)["reason"],
        table.why_not(8, 1)["reason"],
        table.why_not(8, 0)["reason"],
        table.why_not(11, 1)["reason"],
        table.why_not(11, 0)["reason"],
        table.why_not(13, 0)["reason"],
    ]
    assert reasons == [
        "team 0 is not rolling",
        "team 1 is not rolling",
        "Stop is played on another team's side of the table",
        "Gasoline is played on the own side of the table",
        "no Out of gas stops team 0",
        None,
    ]


def test_agents_choose_what_is_legal(table: CardTable) -> None:
    position = table.start("winning_moves", seed=3)
    names = [one["name"] for one in table.catalogue()["agents"] if "search" not in one["name"]]
    assert "champion" in names
    assert len(names) > 8
    for name in names:
        assert table.choose(name)["action"] in [one["action"] for one in position["legal"]]


def test_what_the_champion_thinks(table: CardTable) -> None:
    position = table.start("parker", seed=1)
    thought = table.think(search=True)
    legal = {one["action"] for one in position["legal"]}
    assert {one["action"] for one in thought["probabilities"]} == legal
    assert sum(one["p"] for one in thought["probabilities"]) == pytest.approx(1, abs=0.01)
    assert abs(thought["value"]) < 2_000
    assert {one["action"] for one in thought["search"]} <= legal
    assert len(thought["search"]) > 1


def test_the_strategist_judges_where_there_is_no_champion(table: CardTable) -> None:
    position = table.start("parker", 6, 3, seed=1)
    thought = table.think("strategist", search=True, belief=True)
    assert thought["probabilities"] == [{"action": table.choose("strategist")["action"], "p": 1.0}]
    laid = {one["action"] for one in position["legal"] if one["kind"] == "play"}
    assert laid <= {one["action"] for one in thought["search"]}
    assert [one["seat"] for one in thought["belief"]] == [
        seat for seat in range(6) if seat != position["to_act"]
    ]


def test_rules_of_ones_own(table: CardTable) -> None:
    label = "parker+hand_limit=7+max_200=4"
    position = table.start(label, 3, seed=1)
    assert position["edition"] == label
    assert sorted(one["hand_size"] for one in position["seats"]) == [7, 7, 8]
    changed = {one["field"]: one for one in table.rules(label, 3) if one["number"] != one["usual"]}
    assert {name: (one["usual"], one["number"]) for name, one in changed.items()} == {
        "hand_limit": (6, 7),
        "max_200": (2, 4),
    }
    assert changed["hand_limit"]["limits"] == {"least": 1, "most": 105, "step": 1}
    again = CardTable()
    again.load(table.save()["text"])
    assert again.position("all")["seats"] == table.position("all")["seats"]


def test_the_edition_of_the_command_line_may_be_changed_too(tmp_path: Path) -> None:
    sheet = Path(millebornes.__file__).with_name("sheets") / "parker.toml"
    own = tmp_path / "mine.toml"
    own.write_text(
        sheet.read_text(encoding="utf-8").replace('name = "parker"', 'name = "mine"'), encoding="utf-8"
    )
    table = CardTable({"edition": str(own)})
    assert table.catalogue()["editions"][0]["name"] == table.catalogue()["usual"]["edition"] == "mine"
    edition = table.start("mine+hand_limit=5", seed=1)["edition"]
    assert edition == "mine+hand_limit=5"
    assert min(one["hand_size"] for one in table.position()["seats"]) == 5
    changed = [one["field"] for one in table.rules(edition, 2) if one["number"] != one["usual"]]
    assert changed == ["hand_limit"]
    seats = table.position("all")["seats"]
    table.load(table.record()["text"])
    assert table.position("all")["seats"] == seats
    table.start(edition)
    assert "mine" not in [one["name"] for one in CardTable({"edition": "mini8"}).catalogue()["editions"]]


def test_what_makes_no_sense(table: CardTable) -> None:
    table.load("dealer: 1\nhand 0: 25 ...\nkey: 1 1")
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("shuffle", {}, "no message 'shuffle'"),
        ("start", {"edition": "parker+hand_limit=70"}, "must leave some to draw"),
        ("rules", {"edition": "/etc/passwd+hand_limit=5", "players": 2}, "there is no edition"),
        ("_agent", {"name": "random"}, "no message '_agent'"),
        ("play", {}, "missing a required argument: 'action'"),
        ("play", {"action": -1}, "no round can be dealt now: the round is not over"),
        ("goto", {"k": 99}, "there is no position 99"),
        ("undo", {}, "there is no play to take back"),
        ("position", {"seat": 7}, "there is no seat 7"),
        ("choose", {"agent": "os:system"}, "there is no agent 'os:system'"),
        ("choose", {"agent": "greedy", "seat": 1}, "it is the turn of seat 0"),
        ("think", {"agent": "greedy"}, "the champion can"),
        ("start", {"edition": "parker", "seed": 2**64}, "seed must be a whole number from 0 to"),
        ("load", {"text": 5}, "is text"),
        ("load", {"text": "hand 0: 25 ...\nplays:\nseat 0: 26"}, "line 3"),
        ("load", {"text": "edition: arc_en_ciel\ntable: 3 players"}, "play it on the terminal"),
        ("play", {"action": 10**30}, "action must be a whole number"),
        ("start", {"edition": "parker", "overrides": "hand_limit=5"}, "overrides are rules by name"),
    ]
    for message, arguments, words in wrong:
        with pytest.raises(MilleBornesError) as refused:
            table.answer(message, arguments)
        assert words in str(refused.value)
