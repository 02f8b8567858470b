"""Other ends of a race: the inner track, exhaustion, too many turns, points of combativity."""

from __future__ import annotations

import pytest

from tests.each import each
from tests.wielerspel.oracle.positions import (
    CLIMB,
    ESCAPE,
    EVENT,
    FLAT,
    GREEN,
    START,
    do,
    energy,
    jerseys,
    landing,
)
from tests.wielerspel.oracle.race import Race
from tests.wielerspel.oracle.team import Team

EXHAUSTED = {"off_board": [0, 0, 0], "retired": [6, 6, 6]}


@each(("lead", "wins"), [(12, False), (13, True), (17, True)])
def test_end_of_the_inner_track(lead: int, wins: bool) -> None:
    """003:36: more than three minutes (18 arrows) wins at once, whatever jerseys the others have."""
    game = landing(ESCAPE, escaped=1, lead=lead, yellow=6, **jerseys(rainbow=[2, 0, 2]))
    do(game, "pay", "escape")
    assert game.lead == lead + 6
    assert (game.turn == 0) == wins
    assert game.winners() == ([1] if wins else [0, 2])


def test_jersey_at_the_line_comes_before_the_escape() -> None:
    """Ruling on 4.3: in one turn the line is worked out before the positions."""
    options = {"board": [("start", 0), ("escape", 0)] + [("start", 0)] * 38}
    game = landing(1, die=2, rainbow_lap=1, escaped=0, lead=18, options=options, **jerseys(rainbow=[2, 0, 0]))
    assert do(game, "pay").winners() == [0]
    assert game.lead == 18


@each(
    ("position", "winners"),
    [
        (jerseys(rainbow=[0, 1, 0], green=[2, 0, 2]), [1]),
        (jerseys(rainbow=[1, 1, 0], green=[1, 2, 9], triples=[3, 0, 0]), [1]),
        (jerseys(green=[1, 1, 1], doubles=[1, 2, 0], triples=[0, 0, 1]), [1]),
        (jerseys(green=[1, 1, 0], doubles=[3, 0, 0], triples=[0, 2, 0]), [0, 1]),
        ({}, [0, 1, 2]),
        (jerseys(green=[0, 0, 2]), [2]),
    ],
)
def test_all_exhausted(position: dict[str, dict[str, list[int]]], winners: list[int]) -> None:
    """003:178: most rainbow, then green, then polka-dot jerseys, else a draw; the first to go out may win."""
    options = {"max_turns": 9}
    game = landing(FLAT, energy=[1, 1, 1], options=options, **EXHAUSTED, **position)
    assert game.over
    assert game.turn == 0
    assert all(team.out for team in game.teams)
    assert game.winners() == winners
    assert game.shares() == [1 / len(winners) if seat in winners else 0.0 for seat in range(3)]


def test_w9_turns_run_out() -> None:
    """W9: ranked as if all were exhausted, those who are out included."""
    position = {"energy": [60, 0, 60], "out": [0, 1, 0], "peloton": [0, 2]} | jerseys(green=[0, 1, 0])
    game = landing(EVENT, **position)
    assert game.turn == 1
    assert game.winners() == [1]


# Combativity -----------------------------------------------------------------------------------------------


def points(game: Race) -> list[int]:
    """Returns the points of the escapes."""
    return [team.escape_points for team in game.teams]


@each(("lead", "die", "earned"), [(1, 5, 0), (1, 6, 1), (6, 6, 1), (8, 5, 1), (12, 1, 1)])
def test_points_for_an_escape(lead: int, die: int, earned: int) -> None:
    """003:202: one above one minute, one more above two; each is earned once in an escape."""
    game = landing(ESCAPE, escaped=1, lead=lead, yellow=die)
    assert points(do(game, "pay", "escape")) == [0, earned, 0]


def test_points_are_earned_once_in_an_escape() -> None:
    """003:202: falling back below a minute and riding ahead again earns nothing new; another escape does."""
    board = [("start", 0)] + [("escape", 0)] * 39
    options = {"board": board, "max_turns": 4}
    game = landing(1, escaped=1, lead=2, yellow=6, owner={2: 2}, options=options)
    game.chance.whites += [1, 1, 1]
    game.chance.yellows |= {1: 6, 2: 6, 3: 6}
    do(game, "pay", "escape")  # 8: a point
    assert points(game) == [0, 1, 0]
    game.board[2] = ("effort", 1)
    do(game, "pay")  # 2 hunts: 8 - 6 = 2
    assert game.lead == 2
    do(game, "pay", "escape")  # 8 again
    assert points(game) == [0, 1, 0]
    do(game, "pay", "escape")  # 14
    assert points(game) == [0, 2, 0]


def test_another_escape_earns_again() -> None:
    """003:202: for every escape."""
    game = landing(ESCAPE, players=2, yellow=7, options={"max_turns": 3})
    game.chance.whites += [4, 5]  # a supply post, where 1 goes last, and an escape square
    game.chance.yellows[2] = 7
    do(game, "escape", "give up")
    assert points(game) == [1, 0]
    assert points(do(game, "escape")) == [2, 0]


def test_both_points_at_once() -> None:
    """003:202: an escape that jumps over both minutes earns both."""
    game = landing(ESCAPE, yellow=13)
    assert points(do(game, "escape")) == [2, 0, 0]


def test_points_for_jerseys() -> None:
    """003:202: 1 for a green jersey, 1 for three polka-dots, 3 for a rainbow jersey."""
    assert Team(60, 6, rainbow=2, green=2, doubles=1, triples=1, escape_points=4).combativity() == 13
    assert Team(60, 6, doubles=1).combativity() == 0


def test_most_points_win_when_the_target_is_reached() -> None:
    """003:202: the points decide, not who has the third rainbow jersey."""
    position = jerseys(rainbow=[2, 2, 0], green=[0, 2, 0]) | {"escape_points": [0, 3, 0]}
    options = {"combativity": 1, "max_turns": 9}
    game = landing(START, rainbow_lap=1, options=options, **position)
    assert game.over
    assert game.winners() == [1]  # 11 against 9


def test_equal_points_share() -> None:
    """Equal points: a draw."""
    position = jerseys(rainbow=[2, 2, 0]) | {"escape_points": [0, 3, 9], "out": [0, 0, 1], "peloton": [0, 1]}
    options = {"combativity": 1, "max_turns": 9}
    game = landing(START, rainbow_lap=1, options=options, **position)
    assert game.winners() == [0, 1]  # 9 each; 2 has 9 too, but has left the race (003:178)
    assert game.shares() == [0.5, 0.5, 0.0]


def test_points_do_not_outweigh_the_inner_track() -> None:
    """003:36: its end wins whatever else has been collected."""
    position = {"escape_points": [50, 0, 0], "escaped": 1, "lead": 18}
    game = landing(CLIMB, yellow=1, owner={CLIMB: 1}, options={"combativity": 1}, **position)
    assert do(game, "pay", "escape").winners() == [1]


def test_points_rank_an_exhausted_race() -> None:
    """003:202, W12: also when nobody reaches the target; seats that have left the race (003:178) included."""
    position = jerseys(rainbow=[1, 0], green=[0, 4]) | {"out": [0, 1], "peloton": [0], "energy": [1, 0]}
    position |= {"off_board": [0, 0], "retired": [6, 6]}
    assert landing(FLAT, players=2, **position).winners() == [0]
    assert landing(FLAT, players=2, options={"combativity": 1}, **position).winners() == [1]


def test_without_the_option_points_count_nothing() -> None:
    """003:34."""
    position = jerseys(rainbow=[2, 0, 0]) | {"escape_points": [0, 50, 0]}
    assert landing(START, rainbow_lap=1, **position).winners() == [0]


def test_nothing_can_be_done_after_the_end() -> None:
    game = landing(GREEN, **jerseys(green=[0, 0, 0]))
    assert (game.seat, game.phase, game.legal()) == (-1, "OVER", [])
    with pytest.raises(ValueError, match="cannot 'keep'"):
        game.do("keep")
    assert energy(game) == [60, 60, 60]
