"""Games as text: exact both ways, replayed play by play, refused where they are damaged."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from millebornes_env import edition
from millebornes_env.errors import NotationError, OptionError, StateError
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.state import StateArray, new_states
from millebornes_env.notation import (
    NEXT_ROUND,
    Play,
    Record,
    read_action,
    read_record,
    record_of,
    replay,
    write_action,
    write_record,
)
from millebornes_env.notation.millebornes.positions import Position, read_position
from tests.each import each
from tests.notation.test_positions import TABLES, moves

POSITION = "battle 0: roll\nhand 0: 25 stop\nhand 1: roll 50\nstream 0: 50 ...\nstream 1: 75 ...\n"


def played(
    name: str, players: int, teams: int, seed: int, rounds: int = 2
) -> tuple[Record, list[StateArray]]:
    """A record of random play, made by `record_of`, and the states met on the way."""
    rules = edition(name).table(players, teams)
    met = [(states.copy(), action) for states, action in moves(rules, seed, rounds)]
    position = Position(edition(name), rules, met[0][0])
    return record_of(position, [action for _, action in met if action is not None]), [one for one, _ in met]


def record(*plays: str, position: str = POSITION) -> Record:
    return read_record(position + "plays:\n" + "\n".join(plays))


def refused(error: NotationError, *words: str) -> None:
    for word in words:
        assert word in str(error), str(error)


@each(("name", "players", "teams"), TABLES)
def test_every_action_survives(name: str, players: int, teams: int) -> None:
    rules = edition(name).table(players, teams)
    for seat in range(players):
        words = [write_action(action, rules, seat) for action in range(num_actions(teams))]
        assert len(set(words)) == len(words)
        assert [read_action(said, rules, seat) for said in words] == list(range(num_actions(teams)))


def test_actions_may_be_shorter() -> None:
    rules = edition("parker").table(2)
    assert read_action("Stop", rules, 0) == read_action("play stop against team 1", rules, 0) == 8
    assert read_action("  play   25 ", rules, 1) == 0


@each(
    ("text", "words"),
    [
        ("", ["no action ''", "The actions are: 25, 50, 75"]),
        ("rol", ["no action 'rol'", "Did you mean 'roll'?"]),
        ("discrad stop", ["Did you mean 'discard stop'?"]),
        ("discard", ["The actions are: discard 25, discard 50"]),
        ("25 50", ["The actions are: 25, 50, 75"]),
        ("stop", ["The actions are: stop against team 1, stop against team 2."]),
        ("stop against team 0", ["Did you mean 'stop against team 2'?"]),
        ("stop against team 1 now", ["Did you mean 'stop against team 1'?"]),
        (3, ["an action is text"]),
    ],
)
def test_words_that_are_no_action(text: str, words: list[str]) -> None:
    with pytest.raises(NotationError) as error:
        read_action(text, edition("parker").table(3), 0)
    refused(error.value, *words)


def test_actions_that_there_are_not() -> None:
    rules = edition("parker").table(2)
    with pytest.raises(NotationError, match="no action 42; they are 0 to 41"):
        write_action(42, rules, 0)
    with pytest.raises(NotationError, match="no seat 2"):
        write_action(0, rules, 2)
    with pytest.raises(NotationError, match="no seat 2"):
        read_action("25", rules, 2)


@each(("name", "players", "teams"), TABLES)
def test_a_game_survives_and_plays_again(name: str, players: int, teams: int) -> None:
    rounds = 2 if (players, teams) in {(2, 2), (4, 2)} else 1
    game, seen = played(name, players, teams, seed=players, rounds=rounds)
    text = write_record(game)
    result = read_record(text)
    assert result == game
    assert str(result) == text
    assert game.result is not None
    replayed = list(replay(result))
    assert len(replayed) == len(game.plays) + 1
    # A claim that is offered, and so on: every state between two decisions is the same.
    assert [states.tobytes() for states in replayed] == [states.tobytes() for states in seen]
    lines = text.splitlines()
    assert all(lines[number - 1].startswith(("seat", "next")) for number in result.lines)


@each(
    ("lines", "words"),
    [
        (["seat 0: 25", "seat 0 50"], ["line 8, 'seat 0 50'", "'seat 0: 25'"]),
        (["seat 0: 25", "# no play", "seat 5: 50"], ["line 9", "no seat 5"]),
        (["seat 0: 25", "next rund"], ["Did you mean 'next round'?"]),
        (["team 0: 25"], ["a play begins with the seat"]),
        (["seat: 25"], ["a play begins with the seat"]),
        (["seat 0: 26"], ["line 7, 'seat 0: 26'", "there is no action '26'"]),
        (["result: 0 0", "seat 0: 25"], ["line 8", "ends with its result"]),
        (["result: 0"], ["points of 2 teams; got 1"]),
        (["result: 0 x"], ["team 1's is 'x'"]),
        (["winner: 1"], ["other lines are 'next round', 'chance', 'result'"]),
    ],
)
def test_a_record_that_does_not_read(lines: list[str], words: list[str]) -> None:
    with pytest.raises(NotationError) as error:
        record(*lines)
    refused(error.value, *words)


def test_parts_in_the_wrong_place() -> None:
    with pytest.raises(NotationError, match=r"line 6.*the result must follow"):
        read_record(POSITION + "result: 0 0\nplays:\n")
    with pytest.raises(NotationError, match="each play needs its own line"):
        read_record(POSITION + "plays: seat 0: 25")
    for name, end in (("play", ""), ("moves", "\nseat 0: 25\nresult: 0 0")):
        with pytest.raises(NotationError, match=rf"line 6, '{name}: ': this line, .* must read 'plays:'"):
            read_record(f"{POSITION}{name}:\nseat 1: 25{end}")
    with pytest.raises(NotationError, match="the text is empty"):
        read_record("# nothing\n")
    with pytest.raises(NotationError, match=r"line 4, 'hand 2: "):
        read_record("\n\n\nhand 2: roll\nplays:\nseat 0: 25")
    with pytest.raises(NotationError, match="a record is text; got None"):
        read_record(None)  # type: ignore[arg-type]


@each(
    ("lines", "words"),
    [
        (["seat 1: 50"], ["line 7, 'seat 1: 50'", "seat 0 is to act", "25, discard 25, discard stop"]),
        (["seat 0: 50"], ["line 7, 'seat 0: 50'", "the hand holds no 50 km", "It may: 25,"]),
        (["seat 0: 25", "", "seat 1: 50"], ["line 9, 'seat 1: 50'", "do not allow it now: ", "It may: roll"]),
        (["seat 0: claim"], ["'seat 0: claim'", "do not allow it"]),
        (["next round"], ["round is not over", "seat 0 is to act"]),
        (["seat 0: 25", "result: 25 0"], ["the round is not over"]),
    ],
)
def test_a_record_that_does_not_play(lines: list[str], words: list[str]) -> None:
    result = record(*lines)
    with pytest.raises(NotationError) as error:
        list(replay(result))
    refused(error.value, *words)


def test_after_the_end() -> None:
    over = "to act: round over\nscores: 100 50\n"
    with pytest.raises(NotationError, match="'seat 0: 25': the round is over; in a match write 'next round'"):
        list(replay(record("seat 0: 25", position=over)))
    with pytest.raises(NotationError, match="result of the record is 100 60, and its plays lead to 100 50"):
        list(replay(record("result: 100 60", position=over)))
    *_, end = replay(record("next round", position=over))
    assert end["round_number"][0] == 1
    assert end["hand_count"][0].sum() == 13


def test_plays_that_no_text_was_read_for_are_counted() -> None:
    game = Record(read_position(POSITION), (Play(0, 0), Play(1, 1)))
    with pytest.raises(NotationError, match="play 2, 'seat 1: 50'"):
        list(replay(game))
    with pytest.raises(NotationError, match=r"play 2, 'seat 1: 50'.*the rules do not allow it now"):
        record_of(game.position, itertools.cycle([0, 1]))  # reading stops at the first illegal action
    with pytest.raises(NotationError, match="no action 99"):
        record_of(game.position, [99])
    with pytest.raises(NotationError, match="no action 99"):
        write_record(Record(game.position, (Play(0, 99),)))


def test_the_actions_of_a_record_s_own_plays_make_it_again() -> None:
    """The deal of the next round is among them; elsewhere it is refused."""
    game, _ = played("mini7", 2, 2, 1, rounds=3)
    assert NEXT_ROUND in [play.action for play in game.plays]
    assert record_of(game.position, [play.action for play in game.plays]) == game
    assert record_of(game.position, [play.action for play in game.plays if play.action >= 0]) == game
    with pytest.raises(NotationError, match="play 1, 'next round': the round is not over: seat 0 is to act"):
        record_of(read_position(POSITION), [NEXT_ROUND])


@each("action", [1.5, "0", None, True, -2, 10**30])
def test_what_is_no_action(action: object) -> None:
    """A float is not cut off to the action before it."""
    position = read_position(POSITION)
    for call in (
        lambda: record_of(position, [action]),  # type: ignore[list-item]
        lambda: write_action(action, position.rules, 0),  # type: ignore[arg-type]
        lambda: list(replay(Record(position, (Play(0, action),)))),  # type: ignore[arg-type]
    ):
        with pytest.raises(NotationError, match="there is no action"):
            call()
    assert record_of(position, [np.int32(0)]).plays == (Play(0, 0),)


def test_a_position_that_nobody_has_read_is_looked_at_first() -> None:
    """Compiled code takes the numbers of a record as they are."""
    position = read_position(POSITION)
    states = position.state.copy()
    states["seat"] = 100
    hostile = Position(position.edition, position.rules, states)
    for call in (lambda: record_of(hostile, [0]), lambda: list(replay(Record(hostile, (Play(0, 0),))))):
        with pytest.raises(NotationError, match="not valid at this table: seat is not one of 0 to 1"):
            call()
    with pytest.raises(OptionError, match="no table for 100 players"):
        record_of(Position(position.edition, position.rules._replace(players=100), position.state), [0])


@each("state", [None, 3, np.zeros(1), new_states(2), new_states(1)[0]])
def test_a_position_holds_one_record(state: Any) -> None:
    position = Position(edition("parker"), edition("parker").table(2), state)
    for call in (lambda: record_of(position, []), lambda: list(replay(Record(position, ())))):
        with pytest.raises(StateError, match="a position holds one record of its game"):
            call()
