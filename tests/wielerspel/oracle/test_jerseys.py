"""Jerseys: how they are won, exchanged and run out; 003:65 to 003:75, 003:196."""

from __future__ import annotations

from typing import Any

from tests.each import each
from tests.wielerspel.oracle.positions import (
    EVENT,
    FLAT,
    GREEN,
    POLKA,
    POLKA_3,
    START,
    asked,
    do,
    energy,
    held,
    jerseys,
    landing,
    pass_all,
)
from tests.wielerspel.oracle.team import polka_set

# Winning them ----------------------------------------------------------------------------------------------


@each(("square", "kind"), [(GREEN, "green"), (POLKA, "doubles"), (POLKA_3, "triples")])
def test_landing_wins_a_jersey(square: int, kind: str) -> None:
    """003:73: the leader takes a card; the first polka-dot square is worth two jerseys, the second three."""
    game = landing(square)
    assert held(game, kind) == [1, 0, 0]
    assert game.stacks[kind] == 11
    assert game.teams[0].polka() == {GREEN: 0, POLKA: 2, POLKA_3: 3}[square]
    assert game.race_order() == [1, 2, 0]  # 003:83


def test_passing_wins_nothing() -> None:
    """003:73: who passes a jersey square wins nothing."""
    game = pass_all(landing(GREEN + 1, die=2))
    assert held(game, "green") == [0, 0, 0]


def test_escaped_rider_wins_it() -> None:
    """003:71: the head of the race is the escaped rider."""
    game = do(landing(GREEN, escaped=2, lead=3), "pay")
    assert held(game, "green") == [0, 0, 1]


@each(("square", "kind"), [(GREEN, "green"), (POLKA, "doubles"), (POLKA_3, "triples")])
def test_empty_stack(square: int, kind: str) -> None:
    """Ruling: nothing is awarded, and so nothing can be exchanged."""
    stacks = {"rainbow": 12, "green": 12, "doubles": 12, "triples": 12} | {kind: 0}
    position = {"jerseys": {"green": [3, 0, 0]}, "stacks": stacks}
    game = do(landing(square, **position), "keep")  # at the start of the turn
    assert game.over
    assert game.stacks == stacks
    assert held(game, "green") == [3, 0, 0]


# The rainbow lap -------------------------------------------------------------------------------------------


@each("rainbow_lap", [0, 1])
def test_landing_on_the_line_begins_a_rainbow_lap(rainbow_lap: int) -> None:
    """003:75: the next lap is a rainbow lap, also directly after another."""
    game = landing(START, rainbow_lap=rainbow_lap)
    assert game.rainbow_lap
    assert held(game, "rainbow") == [rainbow_lap, 0, 0]


def test_passing_the_line_ends_a_rainbow_lap() -> None:
    """003:75: passing is enough to win; the next lap is an ordinary one."""
    game = landing(EVENT, die=6 + 1, rainbow_lap=1)
    assert held(game, "rainbow") == [1, 0, 0]
    assert not game.rainbow_lap


def test_rainbow_lap_goes_on_until_the_line() -> None:
    """003:75."""
    assert landing(EVENT, rainbow_lap=1).rainbow_lap


def test_roller_takes_the_rainbow_jersey() -> None:
    """003:75: who leads when the rider passes, before the square moves him back."""
    game = pass_all(landing(FLAT, die=2, rainbow_lap=1))
    assert held(game, "rainbow") == [1, 0, 0]
    assert game.race_order() == [1, 2, 0]


def test_no_rainbow_jersey_left() -> None:
    """W4, W5: nobody gets one; the lap after landing on the line is a rainbow lap all the same."""
    game = landing(START, players=6, rainbow_lap=1, **jerseys(rainbow=[2] * 6))
    assert game.over
    assert held(game, "rainbow") == [2] * 6
    assert game.rainbow_lap


# Exchanges -------------------------------------------------------------------------------------------------


@each(
    ("doubles", "triples", "handed_in"),
    [
        (5, 0, (5, 0)),
        (2, 2, (2, 2)),
        (5, 2, (5, 0)),  # of two sets worth ten the one with the most doubles
        (1, 3, (1, 3)),  # 11
        (4, 1, (4, 1)),  # 11
        (0, 4, (0, 4)),  # 12
        (1, 4, (1, 3)),  # 11 is less than 14
        (2, 4, (2, 2)),
        (4, 3, (2, 2)),  # ten before eleven
        (12, 12, (5, 0)),
        (0, 3, None),
        (3, 1, None),
        (0, 0, None),
    ],
)
def test_w3_cards_handed_in(doubles: int, triples: int, handed_in: tuple[int, int] | None) -> None:
    """W3: ten if possible, else the least above; of equal sets the one with the most doubles."""
    assert polka_set(doubles, triples, 10) == handed_in


def test_polka_dots_for_a_rainbow() -> None:
    """003:67: ten polka-dot jerseys; the cards go back to their stacks."""
    game = landing(POLKA_3, **jerseys(doubles=[3, 0, 0], triples=[1, 0, 0]))
    assert game.legal() == ["exchange polka", "keep"]
    assert game.stacks == {"rainbow": 12, "green": 12, "doubles": 9, "triples": 10}
    do(game, "exchange polka")
    assert [held(game, kind)[0] for kind in ("rainbow", "doubles", "triples")] == [1, 1, 0]
    assert game.stacks == {"rainbow": 11, "green": 12, "doubles": 11, "triples": 12}


def test_keeping_polka_dots() -> None:
    """003:196: one may wait, with what one has."""
    game = do(landing(POLKA, **jerseys(doubles=[4, 0, 0])), "keep")
    assert game.over
    assert held(game, "doubles") == [5, 0, 0]


def test_asked_again_as_long_as_possible() -> None:
    """W2: after an exchange the question comes again, until nothing can be exchanged."""
    game = landing(GREEN, **jerseys(green=[3, 0, 0], triples=[4, 0, 0]))
    assert game.legal() == ["exchange green", "exchange polka", "keep"]
    do(game, "exchange green")
    assert asked(game) == (0, "EXCHANGE")
    assert game.legal() == ["exchange polka", "keep"]
    assert game.square == GREEN - 1  # still before the white die
    do(game, "exchange polka")
    assert game.over
    assert held(game, "rainbow") == [2, 0, 0]
    assert held(game, "green") == [1, 0, 0]


def test_asked_at_the_start_of_ones_turn() -> None:
    """W2: the race leader is asked before the white die, and only he."""
    game = landing(EVENT, **jerseys(green=[3, 3, 3]))
    assert asked(game) == (0, "EXCHANGE")
    assert game.square == EVENT - 1
    do(game, "exchange green")
    assert game.over
    assert held(game, "rainbow") == [1, 0, 0]


def test_who_has_given_up_his_escape_is_not_asked() -> None:
    """W2: the race leader is who rolls: after giving up the first of the peloton."""
    game = landing(EVENT, escaped=2, lead=4, **jerseys(green=[3, 0, 3]))
    assert asked(game) == (2, "AWAY")
    do(game, "give up")
    assert asked(game) == (0, "EXCHANGE")


def test_asked_after_a_rainbow_jersey() -> None:
    """W2: he has gained a jersey; the 15 units come after it."""
    game = landing(START, rainbow_lap=1, energy=[1, 2, 3], **jerseys(green=[3, 0, 0]))
    do(game, "keep")
    assert asked(game) == (0, "EXCHANGE")
    assert energy(game) == [1, 2, 3]
    assert game.square == START
    do(game, "exchange green")
    assert held(game, "rainbow") == [2, 0, 0]
    assert energy(game) == [16, 17, 18]


def test_exchange_needs_a_rainbow_jersey_in_the_stack() -> None:
    """Ruling: else it is refused until one comes back; with none possible nobody is asked."""
    game = landing(GREEN, players=6, **jerseys(rainbow=[2] * 6, green=[2, 0, 0, 0, 0, 0]))
    assert game.over
    assert held(game, "green")[0] == 3


# Winning with them -----------------------------------------------------------------------------------------


def won(game: Any, *seats: int) -> bool:
    return game.over and game.winners() == list(seats)


def test_third_rainbow_jersey_wins_at_the_line() -> None:
    """003:34: at once; nobody gets energy any more."""
    game = landing(START, rainbow_lap=1, energy=[1, 2, 3], **jerseys(rainbow=[2, 2, 2]))
    assert won(game, 0)
    assert game.shares() == [1.0, 0.0, 0.0]
    assert energy(game) == [1, 2, 3]
    assert game.turn == 0


def test_third_rainbow_jersey_wins_by_an_exchange() -> None:
    """003:67, W3."""
    game = do(landing(EVENT, **jerseys(rainbow=[2, 0, 0], green=[3, 0, 0])), "exchange green")
    assert won(game, 0)
    assert game.square == EVENT - 1
    game = do(landing(POLKA_3, **jerseys(rainbow=[0, 2, 0], triples=[0, 3, 0]), peloton=[1, 0, 2]))
    assert won(do(game, "exchange polka"), 1)


def test_five_rainbow_jerseys() -> None:
    """003:200."""
    options = {"target_rainbows": 5}
    game = landing(START, rainbow_lap=1, options=options, **jerseys(rainbow=[3, 0, 0]))
    assert game.turn == 1
    game = landing(START, rainbow_lap=1, options=options, **jerseys(rainbow=[4, 0, 0]))
    assert (game.turn, game.winners()) == (0, [0])


@each(
    ("also", "wins"),
    [
        ({}, False),
        ({"green": [1, 0, 0]}, False),
        ({"doubles": [1, 0, 0]}, False),
        ({"green": [1, 0, 0], "doubles": [1, 0, 0]}, True),
    ],
)
def test_rainbow_and_a_green_and_a_polka_dot(also: dict[str, list[int]], wins: bool) -> None:
    """003:200: three rainbow jerseys, a green one and a polka-dot one."""
    options = {"also_green": 1, "also_polka": 1}
    game = landing(START, rainbow_lap=1, options=options, **jerseys(rainbow=[2, 0, 0], **also))
    assert (game.turn == 0) == wins


def test_last_missing_jersey_may_be_a_green_one() -> None:
    """003:200: at any moment: who has the rest wins with the green jersey."""
    options = {"also_green": 1, "also_polka": 1}
    game = landing(GREEN, options=options, **jerseys(rainbow=[3, 0, 0], triples=[1, 0, 0]))
    assert (game.turn, game.winners()) == (0, [0])
