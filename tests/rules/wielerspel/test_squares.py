"""Gains and costs of squares: 003:73, 003:107-117, 003:143-162."""

from __future__ import annotations

from tests.each import each
from tests.race_support import (
    CLIMB_4,
    DOUBLE,
    EVENT_2,
    EVENT_3,
    FLAT_2,
    GREEN,
    HEAD_WIND_3,
    SUPPLY,
    TRIPLE,
    Race,
)


def test_there_are_22_effort_squares_and_they_are_the_majority() -> None:
    """003:109."""
    board = Race().rules.board
    efforts = [place for place in board if place.kind == 1]
    assert len(efforts) == 22 > len(board) / 2


@each(("square", "value"), [(FLAT_2, 2), (HEAD_WIND_3, 3), (CLIMB_4, 4)])
def test_all_pay_the_value_of_an_unoccupied_effort_square(square: int, value: int) -> None:
    """003:115 and 003:119: before it is auctioned."""
    race = Race().land_on(square)
    assert race.energies == [60 - value] * 3
    assert race.decision == ("bid", 1)


def test_the_team_whose_servant_is_there_does_not_pay() -> None:
    """003:115."""
    race = Race().servants(1, CLIMB_4).land_on(CLIMB_4)
    assert race.energies == [56, 60, 56]


def test_who_has_left_the_race_does_not_pay() -> None:
    race = Race().order(0, 1).energy(2, 0).set(out=[0, 0, 1, 0, 0, 0]).land_on(CLIMB_4)
    assert race.energies == [56, 56, 0]


def test_a_supply_post_gives_5_to_the_race_leader() -> None:
    """003:143: to who has rolled the white die, before the positions are worked out."""
    race = Race().order(1, 0, 2).energy(1, 30).energy(0, 30).land_on(SUPPLY)
    assert race.energies == [30, 35, 60]
    assert race.riders == [0, 2, 1]


def test_a_supply_post_never_gives_beyond_60() -> None:
    """003:145."""
    assert Race().energy(0, 58).land_on(SUPPLY).energies[0] == 60


@each(("square", "number"), [(EVENT_2, 2), (EVENT_3, 3)])
def test_an_event_costs_the_race_leader_its_number(square: int, number: int) -> None:
    """003:162: who has rolled the white die, before the positions are worked out."""
    race = Race().order(2, 1, 0).land_on(square)
    assert race.energies == [60, 60, 60 - number]
    assert race.riders == [1, 0, 2]


def test_the_race_leader_takes_a_green_jersey() -> None:
    """003:73."""
    race = Race().order(1, 0, 2).land_on(GREEN)
    assert race.cards(1) == {"green": 1}
    assert race.riders == [0, 2, 1]


@each(("square", "name", "dots"), [(DOUBLE, "doubles", 2), (TRIPLE, "triples", 3)])
def test_the_two_polka_dot_squares_give_two_and_three_jerseys(square: int, name: str, dots: int) -> None:
    """003:73."""
    race = Race().land_on(square)
    assert race.cards(0) == {name: 1}
    assert race.polka_dots(0) == dots


def test_passing_a_jersey_square_gives_nothing() -> None:
    """003:73."""
    race = Race().land_on(GREEN + 1, white=2)
    assert race.cards(0) == {}


def test_an_empty_set_gives_nothing() -> None:
    """Ruling W4."""
    race = Race().stack("green", 0).land_on(GREEN)
    assert race.cards(0) == {}
    assert race.decision is None
