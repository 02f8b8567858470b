"""Records of any game: the race with its dice and cards, a game of one's own, and files of several games."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from millebornes_env import edition, vector_env
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.errors import NotationError
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.course import course
from millebornes_env.games.wielerspel.dice import white_die
from millebornes_env.games.wielerspel.rules import rules_array
from millebornes_env.notation import (
    Position,
    Record,
    read_jsonl,
    read_record,
    record_of,
    replay,
    write_jsonl,
    write_record,
)
from tests.each import each
from tests.games.conftest import _games_and_agents_as_they_were, pig, pig_file  # noqa: F401 - fixtures
from tests.race_players import decisions, sober, step, wild

SHEET = edition("arc_en_ciel")


def raced(players: int = 4, seed: int = 1, sheet: Any = SHEET) -> tuple[Position, list[int], bytes]:
    """A race: its start, its actions and the bytes of its end."""
    actions: list[int] = []
    start: Any = None
    for state, action in decisions(sheet.table(players), seed, sober):
        start = state.copy().reshape(1).view(np.recarray) if start is None else start
        actions.append(action)
    return Position(sheet, sheet.table(players), start), actions[:-1], state.tobytes()


@pytest.fixture(scope="module")
def race() -> Record:
    return record_of(*raced()[:2])


def refused(text: str) -> str:
    with pytest.raises(NotationError) as caught:
        list(replay(read_record(text)))
    return str(caught.value)


def with_line(record: Record, old: str, new: str) -> str:
    """The text of a record with a line replaced where it stands first."""
    text = str(record)
    assert old in text
    return text.replace(old, new, 1)


# There and back --------------------------------------------------------------------------------------------


@each("players", [2, 3, 6])
def test_a_race_is_written_read_and_replayed_bit_by_bit(players: int) -> None:
    sheet = SHEET if players != 3 else SHEET.replace(target_rainbows=2, combativity=1)
    position, actions, end = raced(players, seed=players, sheet=sheet)
    record = record_of(position, actions)
    assert [play.action for play in record.plays] == actions
    again = read_record(str(record))
    assert again == record
    *states, last = replay(again)
    assert last.tobytes() == end
    assert states[0].tobytes() == position.state.tobytes()
    assert [int(state["seat"][0]) for state in states] == [play.seat for play in record.plays]
    score = plain(rulebook.final_score)
    record_of_rules = rules_array(position.rules)[0]
    assert record.result == tuple(score(last[0], record_of_rules, 0, seat) for seat in range(players))


def test_a_race_that_begins_with_a_deal_has_a_short_header(race: Record) -> None:
    lines = str(race).splitlines()
    assert lines[:4] == ["edition: arc_en_ciel", "table: 4 players", "key: 1 2", "plays:"]
    assert lines[4].startswith("chance: white ")
    assert lines[-2].startswith("result: ")
    assert lines[-1].startswith("winner: ")


def test_what_chance_brought_belongs_to_the_plays(race: Record) -> None:
    for changes in ({"plays": race.plays[:3]}, {"chance": race.chance[:3]}):
        with pytest.raises(NotationError, match=f"a record of {len(changes.get('plays', race.plays))} plays"):
            replace(race, **changes)
    cut = replace(race, plays=race.plays[:3], chance=race.chance[:4], result=None, winner=None)
    assert read_record(str(cut)) == cut


def sampled(name: str, players: int) -> tuple[Any, Record, dict[str, Any]]:
    """An environment after random play, the record of its game, and the last infos."""
    env = vector_env(1, name, players=players, autoreset_mode="disabled")
    env.reset(seed=3)
    start, actions = env.get_states(), []
    while (chosen := env.sample_actions())[0] >= 0:
        actions.append(int(chosen[0]))
        *_, infos = env.step(chosen)
    return env, record_of(Position(env.edition, env.rules, start), actions), infos


@each(("name", "players"), [("arc_en_ciel", 5), ("parker", 2)])
def test_an_environment_and_a_record_agree(name: str, players: int) -> None:
    env, record, infos = sampled(name, players)
    *_, end = replay(record)
    assert end.tobytes() == env.get_states().tobytes()
    assert record.result == tuple(infos["final_score"][0].tolist())
    assert record.winner == (infos["final_winner"][0] if name == "arc_en_ciel" else None)


# Dice and cards --------------------------------------------------------------------------------------------


@each("player", [sober, wild])
def test_a_step_stage_by_stage_is_the_same_step(player: Any) -> None:
    rules = SHEET.table(4)
    record = rules_array(rules)[0]
    for state, action in decisions(rules, 9, player):
        if action >= 0:
            one, other = (state.copy().reshape(1).view(np.recarray) for _ in range(2))
            step(one[0], record, action)
            for _ in course(other[0], rules, action):
                pass
            assert one.tobytes() == other.tobytes()


def test_the_dice_of_every_turn_are_there(race: Record) -> None:
    """Also those of turns in which nobody had anything to decide."""
    state = race.position.state[0]
    fallen = ", ".join(filter(None, race.chance)).split(", ")
    whites = [int(words.split()[1]) for words in fallen if words.startswith("white")]
    *_, end = replay(race)
    turns = int(end[0].turn) + (1 if int(end[0].white) else 0)
    assert whites == [int(plain(white_die)(state, turn)) for turn in range(turns)]
    assert {words.split()[0] for words in fallen} == {"white", "card", "yellow"}


def test_other_dice_than_the_record_says_are_refused(race: Record) -> None:
    first = race.chance[0].split()[1]
    other = "1" if first != "1" else "2"
    said = refused(with_line(race, f"chance: white {first}", f"chance: white {other}"))
    assert f"before the first play, chance is white {first}" in said
    assert f"the record has 'white {other}'" in said
    number = next(place for place, words in enumerate(race.chance) if "card" in words)
    line = f"chance: {race.chance[number]}"
    said = refused(with_line(race, line, line.replace("card ", "card no_")))
    assert "after line" in said
    assert race.chance[number] in said


# What cannot be --------------------------------------------------------------------------------------------


def play_line(record: Record, number: int) -> str:
    return [line for line in str(record).splitlines() if line.startswith("seat ")][number]


def test_a_play_that_the_rules_do_not_allow(race: Record) -> None:
    first = play_line(race, 0)
    seat = first.split(":")[0]
    said = refused(with_line(race, first, f"{seat}: escape"))
    assert said.startswith(f"line 6, '{seat}: escape': the rules do not allow it now: ")
    assert "the decision is 'bid'. It may: retire, pass, bid 1 to bid " in said


@each(
    ("new", "parts"),
    [
        ("seat 0: pas", ["line 6", "there is no action 'pas'. Did you mean 'pass'?"]),
        ("seat 0: xyz", ["The actions are: give up, pay, ", "bid 1 to bid 60"]),
        ("chance: white 1", ["two lines of chance in a row"]),
        ("winner: 4", ["there is no team 4"]),
        ("winner: 1\nseat 0: pass", ["the record ends with its result and its winner"]),
        ("winner: 1\nwinner: 2", ["the winner is there already"]),
        ("seat 0: action 999", ["there is no action 'action 999'"]),
    ],
)
def test_a_wrong_line_is_refused(race: Record, new: str, parts: list[str]) -> None:
    said = refused(with_line(race, play_line(race, 0), new))
    for part in parts:
        assert part in said


def test_a_wrong_end_is_refused(race: Record) -> None:
    said = refused(with_line(race, f"winner: {race.winner}", "winner: none"))
    assert "the winner of the record is nobody alone" in said
    assert "the race is over" in refused(str(race).replace("\nresult:", "\nseat 0: pass\nresult:"))


def test_actions_that_are_none_are_refused() -> None:
    position, actions, _ = raced()
    with pytest.raises(NotationError, match="the race is over"):
        record_of(position, [*actions, 5])
    with pytest.raises(NotationError, match="the actions of a game are their ids"):
        record_of(position, 5)  # type: ignore[arg-type]
    with pytest.raises(NotationError, match=r"a game begins with a notation\.Position; got str"):
        record_of("start", [])  # type: ignore[arg-type]


# Files -----------------------------------------------------------------------------------------------------

CARDS = "battle 0: roll\nhand 0: 25 ...\nhand 1: ...\nplays:\nseat 0: 25"


def test_a_file_may_hold_records_of_several_games(tmp_path: Path, race: Record) -> None:
    path = tmp_path / "games.jsonl"
    records = [race, read_record(CARDS), race]
    write_jsonl(path, records)
    assert list(read_jsonl(path)) == records
    first, second, _ = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    assert list(first) == ["wielerspel", "position", "plays", "result", "winner"]
    assert first["position"] == {"edition": "arc_en_ciel", "table": "4 players", "key": "1 2"}
    assert first["plays"][0].startswith("chance: white ")
    assert list(second) == ["millebornes", "position", "plays"]


@each(
    ("change", "message"),
    [
        ({"plays": ["seat 0: jump"]}, "play 1, 'seat 0: jump': there is no action 'jump'"),
        ({"position": {"edition": "arc_en_ciel", "rider": "50"}}, "the rider is 50"),
        (
            {"position": {"edition": "parker"}},
            "the record is of the game 'wielerspel', and the edition 'parker'",
        ),
        ({"winner": 4}, "there is no team 4"),
    ],
)
def test_a_damaged_line_is_refused(
    tmp_path: Path, race: Record, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "games.jsonl"
    write_jsonl(path, [race])
    entries = json.loads(path.read_text(encoding="utf-8")) | change
    path.write_text(json.dumps(entries) + "\n", encoding="utf-8")
    with pytest.raises(NotationError) as caught:
        list(read_jsonl(path))
    assert f"{path}, line 1: " in str(caught.value)
    assert message in str(caught.value)


# A game of one's own ---------------------------------------------------------------------------------------


@pytest.fixture
def pigs(pig: ModuleType) -> Iterator[Record]:  # noqa: F811 - the fixture
    yield sampled("pig", 3)[1]
    assert sys.modules["pig"] is pig


def test_a_registered_game_has_records(pigs: Record, tmp_path: Path) -> None:
    text = write_record(pigs)
    assert text.splitlines()[:2] == ["edition: pig", "table: 3 players"]
    assert read_record(text) == pigs
    assert max(pigs.result or ()) >= 100
    *_, end = replay(pigs)
    assert int(end[0].winner) == pigs.winner
    write_jsonl(tmp_path / "pig.jsonl", [pigs])
    assert list(read_jsonl(tmp_path / "pig.jsonl")) == [pigs]


def test_of_a_game_without_a_notation_only_the_beginning_is_written(pigs: Record) -> None:
    *_, end = replay(pigs)
    with pytest.raises(
        NotationError, match="the game 'pig' has no notation of positions: only the beginning"
    ):
        str(replace(pigs.position, state=end))
    with pytest.raises(NotationError, match="there is no line 'points'; positions of the game 'pig' are"):
        read_record("edition: pig\npoints: 5")
