"""The engine as a page calls it (`wasm_engine.js`), run by Node: its games and texts are Python's."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export.page_kernels import agents_of, table_of
from export.wasm import FOLDER
from millebornes_env import vector_env
from millebornes_env.agents import registry
from millebornes_env.games.millebornes.editions import edition, editions
from millebornes_env.notation import read_position, read_record, replay, write_position
from millebornes_env.play.web.table import CardTable
from tests.golden import trace
from tests.play.web.test_engine import ends

WEB = FOLDER.parent
SCRIPT = Path(__file__).with_name("in_node.mjs")
TABLES = [(name, *table) for name in editions() for table in edition(name).tables]

pytestmark = [
    pytest.mark.web,
    pytest.mark.usefixtures("host"),
    pytest.mark.skipif(
        shutil.which("node") is None, reason="Node, which runs the page's engine here, is missing"
    ),
]


def ask(*asked: tuple[str, Any]) -> list[Any]:
    """Return the engine's answer to each request."""
    done = subprocess.run(
        ["node", SCRIPT, WEB, FOLDER], input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    result: list[Any] = json.loads(done.stdout)
    return result


def answers(*calls: list[Any]) -> list[Any]:
    result: list[Any] = ask(("answers", calls))[0]
    return result


# Games and their texts -------------------------------------------------------------------------------------


def golden_record(lines: list[str]) -> str:
    """The text of a golden game."""
    first = next(number for number, line in enumerate(lines) if line.startswith("> "))
    plays = [line.removeprefix("> ") for line in lines if line.startswith("> ")]
    return "\n".join([*lines[:first], "plays:", *plays]) + "\n"


def test_every_position_of_the_golden_games_is_written_as_by_python() -> None:
    texts = []
    for name, players, teams in TABLES:
        file = trace.file_of(edition(name), players, teams)
        texts += [golden_record(lines) for _, lines in trace.rounds_in(file.read_text(encoding="utf-8"))]
    assert len(texts) >= 2 * len(TABLES)
    result = ask(*[("positions", {"text": text}) for text in texts])
    for text, positions in zip(texts, result, strict=True):
        record = read_record(text)
        sheet, rules = record.position.edition, record.position.rules
        expected = [write_position(one[0], sheet, rules, checked=False) for one in replay(record)]
        assert positions == expected


def test_the_page_is_told_what_python_tells_it() -> None:
    """In a golden game of each table: positions as seats see them, reasons, plays, the record."""
    here, asked = [], []
    for number, (name, players, teams) in enumerate(TABLES):
        file = trace.file_of(edition(name), players, teams)
        *_, (_, lines) = trace.rounds_in(file.read_text(encoding="utf-8"))
        text = {"text": golden_record(lines)}
        calls: list[list[Any]] = [["load", text]]
        last = len(read_record(text["text"]).plays)
        for place in (*range(0, last, 9), last):
            seat = [None, "all", *range(players)][place % (2 + players)]
            calls += [["goto", place], ["position", seat]]
            if place == 9 * (number % (last // 9)):
                for card, target in itertools.product(range(19), (None, *range(teams), "discard")):
                    calls.append(["why_not", {"card": card, "target_team": target}])
        calls += [["log"], ["record"], ["goto", 3], ["log"], ["record"]]
        table = CardTable()
        here.append([told_by(table, *call) for call in calls])
        asked.append(("answers", calls))
    for where, there, told in zip(TABLES, ask(*asked), here, strict=True):
        for one, other in zip(there, told, strict=True):
            assert one == other, where


def told_by(table: CardTable, message: str, *given: Any) -> Any:
    """The answer of the engine in Python, as the page receives it."""
    arguments = {"goto": "k", "position": "seat"}
    named = {arguments[message]: given[0]} if message in arguments else dict(*given)
    return json.loads(json.dumps(table.answer(message, named)))


def test_a_seed_deals_what_it_deals_here() -> None:
    for name, players, teams in (("parker", 2, 2), ("dutch", 6, 2), ("dujardin", 8, 4)):
        start = {"edition": name, "players": players, "teams": teams, "seed": 2**40 + 7}
        dealt, text = answers(["start", start], ["save"])
        assert dealt["players"] == players
        games = trace.dealt(edition(name), players, teams, 2**40 + 7)
        assert text["text"] == write_position(games.states[0], edition(name), games.rules)


def test_what_agents_play_in_the_page_is_a_game() -> None:
    """Python's rulebook plays the record again, and its agents would have chosen the same."""
    played = [("parker", "round"), ("dutch", "round"), ("dutch", "match")]
    starts = [{"edition": name, "players": 2, "seed": 3, "episode": episode} for name, episode in played]
    result = ask(*[("played", {"start": start, "agents": ["strategist", "champion"]}) for start in starts])
    for start, one in zip(starts, result, strict=True):
        record = read_record(one["text"])
        *_, end = replay(record)
        totals = [side["score"] for side in one["position"]["sides"]]
        assert totals == end["score"][0, :2].tolist()
        assert one["position"]["winners"]
        assert sum(play.action == -1 for play in record.plays) == one["position"]["round_number"]
        check_choices(record, start["edition"])


def check_choices(record: Any, name: str) -> None:
    """Every agent's choice in a record, by the agents of this machine from what their seats see."""
    env = vector_env(1, name, players=2)
    env.reset()
    agents = [registry.load(agent, env) for agent in ("strategist", "champion")]
    for play, state in zip(record.plays, replay(record), strict=False):
        if play.seat < 0:
            continue
        env.set_states(state)
        seat = play.seat
        rows, masks = env.observe(seat), np.asarray(env.games.buffers.action_mask)
        assert agents[seat % 2].act(rows, masks, np.array([seat]))[0] == play.action


OVERRIDDEN = [
    ("parker+hand_limit=7", 2, 2),
    ("parker+goal=1000+max_200=4+points_safe_trip=0", 4, 2),
    ("dutch+start_needs_roll=1+roll_after_safety=1", 6, 2),
    ("dujardin+count_points=1", 8, 4),
    ("mini8-v0+copies_of_25=6", 2, 2),
]


def test_every_agent_plays_at_every_table_and_by_overridden_rules() -> None:
    """Python's rulebook carries every play out."""
    asked: list[tuple[str, Any]] = []
    for name, players, teams in (*TABLES, *OVERRIDDEN):
        is_changed = "+" in name
        agents = ["greedy", "strategist"] if is_changed else [*agents_of(table_of(name, players, teams))]
        start = {"edition": name, "players": players, "teams": teams, "seed": 11}
        start["episode"] = "match" if is_changed else "round"
        asked += [("played", {"start": start, "agents": agents})]
        asked += [("answers", [["rules", name, players, teams]])]
    result = ask(*asked)
    for (name, players, teams), one, (rules,) in zip(
        (*TABLES, *OVERRIDDEN), result[::2], result[1::2], strict=True
    ):
        assert rules == CardTable().rules(name, players, teams)
        record = read_record(one["text"])
        assert record.position.edition.label == edition(name).label
        assert record.position.rules == edition(name).table(players, teams)
        assert len(list(replay(record))) == len(record.plays) + 1


def test_search_finds_what_it_finds_here() -> None:
    """Its redeals are drawn by another key; that it plays on, thinks and stops in time is what is asked."""
    start = {"edition": "parker", "seed": 5}
    _, thought, chosen, quick = answers(
        ["start", start],
        ["think", {"search": True}],
        ["choose", {"agent": "champion+search"}],
        ["choose", {"agent": "strategist+search", "ms": 5}],
    )
    legal = {one["action"] for one in thought["probabilities"]}
    assert sum(one["p"] for one in thought["probabilities"]) == pytest.approx(1)
    assert -1000 < thought["value"] < 1000
    assert {one["action"] for one in thought["search"]} <= legal
    assert thought["redeals"] > 0
    assert chosen["action"] in legal
    assert quick["action"] in legal


def test_ends_of_rounds_are_played_exactly() -> None:
    """As Python plays them, whatever the time; what the page compares are all actions, as elsewhere."""
    states = ends("parker", 12)
    sheet, rules = edition("parker"), edition("parker").table(2)
    texts = [write_position(state, sheet, rules, checked=False) for state in np.asarray(states)]
    ask_search = [
        ["choose", {"agent": "greedy+search"}],
        ["choose", {"agent": "greedy+search", "ms": 60_000}],
    ]
    asked = [("answers", [["load", {"text": text}], *ask_search]) for text in texts]
    compared = ("answers", [["load", {"text": texts[0]}], ["think", {"agent": "strategist", "search": True}]])
    *result, (_, thought) = ask(*asked, compared)
    search = registry.make("greedy+search", table_of("parker", 2, 2))
    chosen = search.act_on(states, states["seat"].astype(np.int32), np.arange(len(states)))  # type: ignore[attr-defined]
    assert [one[1]["action"] for one in result] == [one[2]["action"] for one in result] == chosen.tolist()
    assert all(one[2]["ms"] < 60_000 for one in result)
    assert len(thought["search"]) > 2


# Positions of one's own ------------------------------------------------------------------------------------

WRITTEN = {
    "completed": "battle 0: roll\nhand 0: 25 ...\nhand 1: right_of_way ...\n",
    "claim": "battle 1: roll\nhand 0: 25 ...\nhand 1: right_of_way 2x25\n"
    "pending: stop by seat 0 against team 1\n",
    "four": "table: 4 players in 2 teams\ndealer: 0\nbattle 0: stop on roll\n"
    "speed 1: speed_limit\nbattle 1: roll\ndistance 1: 4x25 2x100\nsafeties 1: extra_tank!\nhand 1: 50 75 "
    "2x stop ...\ndiscard pile: 3x25 stop\nstream 1: roll 200 ...\ncovered 1: stop roll\n",
    "empty": "edition: dutch\nstream 0: none\nstream 1: none\n"
    "hand 0: roll 25\nhand 1: 50\ndiscard pile: ...\n",
    "by key": "key: 12 34\nhand 0: stop ...   # a comment\n\nround: 3\nscores: 400 125\n",
}


def test_a_position_that_leaves_something_open_is_completed_alike() -> None:
    asked = [("answers", [["load", {"text": text}], ["save"]]) for text in WRITTEN.values()]
    for (name, text), (loaded, saved) in zip(WRITTEN.items(), ask(*asked), strict=True):
        assert loaded == {"positions": 1, "episode": "round"}, name
        position = read_position(text)
        assert saved["text"] == write_position(position.state[0], position.edition, position.rules), name


def test_a_damaged_text_is_refused_and_the_game_goes_on() -> None:
    table = [
        ("hand 0: 26", "Line 1, 'hand 0: 26': there is no card '26'"),
        ("hand 0: 25\nhand 0: 50", "Line 2, 'hand 0: 50': 'hand 0' is there already, in line 1"),
        ("hand 7: 25", "it must name a seat of the table"),
        ("nonsense", "there is no colon"),
        ("edition: parker+max_200=5", "These rules make no game: max_200 is 5: the deck holds 4 of them"),
        ("edition: parker+max_400=4", "There is no rule 'max_400' to override"),
        ("edition: monopoly", "There is no edition 'monopoly'"),
        ("table: 5 players in 5 teams", "has no table for 5 players in 5 teams"),
        ("hand 0: 20x200", "too many of a card"),
        ("hand 0: 25 ...\ndistance 0: 3x200 75", "The lines of this position are inconsistent"),
        ("hand 0: 25 ...\nplays:\nseat 0: 25", "Line 3, 'seat 0: 25': team 0 is not rolling"),
        ("hand 0: 25 ...\nplays:\nseat 1: 25", "seat 0 is to act"),
        ("hand 0: 25 ...\nplays:\nfly", "there is no colon"),
    ]
    begun = [["start", {"edition": "parker", "seed": 1}], ["save"]]
    asked = [("answers", [*begun, ["load", {"text": text}], ["save"]]) for text, _ in table]
    for (text, complaint), (_, before, refused, after) in zip(table, ask(*asked), strict=True):
        assert complaint in refused["error"], text
        assert refused["name"] == "EngineError", text
        assert after == before, text


# What a page asks ------------------------------------------------------------------------------------------


def test_the_catalogue_has_what_there_is() -> None:
    (catalogue,) = answers(["catalogue"])
    here = CardTable().catalogue()
    assert catalogue["editions"] == here["editions"]
    assert catalogue["agents"] == json.loads(json.dumps(here["agents"]))
    assert {one["name"].removesuffix("+search") for one in catalogue["agents"]} == {
        *agents_of(table_of("parker", 2, 2)),
        "champion",
    }


# Beliefs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [("dutch+hand_limit=7", 2, 2), ("dujardin", 6, 3)])
def test_where_no_network_knows_hidden_hands_they_are_as_probable_as_in_python(where: Any) -> None:
    name, players, teams = where
    calls: list[list[Any]] = [["start", {"edition": name, "players": players, "teams": teams, "seed": 9}]]
    table = CardTable()
    table.start(name, players, teams, seed=9)
    for _ in range(30):
        calls.append(["play", table.choose("strategist")["action"]])
        table.play(calls[-1][1])
    *_, thought = answers(*calls, ["think", {"agent": "strategist", "belief": True}])
    result = table.think("strategist", belief=True)["belief"]
    assert [one["seat"] for one in thought["belief"]] == [one["seat"] for one in result]
    for there, here in zip(thought["belief"], result, strict=True):
        np.testing.assert_allclose(there["p"], here["p"], atol=0.0002)


def test_without_points_the_champion_names_a_chance_to_win() -> None:
    _, thought = answers(["start", {"edition": "dujardin", "seed": 1}], ["think", {}])
    assert thought["value"] is None
    assert 0 < thought["win"] < 1


def test_what_was_taken_back_is_gone() -> None:
    start = ["start", {"edition": "parker", "seed": 4}]
    *_, undone, log, again = answers(start, ["play", 19], ["undo"], ["log"], ["undo"])
    assert (undone["at"], undone["plays"], log) == (0, 0, [])
    assert "There is no play to take back" in again["error"]


def test_refusals_say_what_to_do() -> None:
    result = answers(
        ["position"],
        ["start", {"edition": "parker", "episode": "season"}],
        ["start", {"edition": "parker", "seed": -1}],
        ["start", {"edition": "parker", "overrides": {"max_200": 5}}],
        ["start", {"edition": "parker", "players": 4, "teams": 2, "seed": 1}],
        ["choose", {"agent": "champion"}],
        ["choose", {"agent": "deep_blue"}],
        ["choose", {"agent": "greedy", "seat": 3}],
        ["goto", 5],
        ["play", 99],
    )
    said = [one.get("error") for one in result]
    assert said[4] is said[5] is None
    for number, words in {
        0: "No game has been started",
        1: "There is no episode 'season'; it is round or match",
        2: "A seed is a whole number",
        3: "max_200 is 5",
        6: "There is no agent 'deep_blue'; the agents are champion, strategist",
        7: "It is the turn of seat 0, not of seat 3",
        8: "There is no position 5: the game has 0 to 0",
        9: "there is no action 99",
    }.items():
        assert words in said[number]
    assert all(one["name"] == "EngineError" for one in result if "error" in one)
