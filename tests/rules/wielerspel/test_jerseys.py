"""Exchanging jerseys: 003:67, 003:196; rulings W2, W3, W4."""

from __future__ import annotations

from tests.each import each
from tests.race_support import DOUBLE, GREEN, LINE, SUPPLY, TRIPLE, Race


def test_three_green_jerseys_are_worth_a_rainbow_jersey() -> None:
    """003:67."""
    race = Race().jerseys(0, green=2).land_on(GREEN)
    assert race.decision == ("exchange", 0)
    assert race.legal() == {"exchange green", "keep"}
    race.do("exchange green")
    assert race.cards(0) == {"rainbow": 1}
    assert race.state.stacks.tolist() == [11, 12, 12, 12]


def test_two_green_jerseys_are_not() -> None:
    assert Race().jerseys(0, green=1).land_on(GREEN).decision is None


def test_ten_polka_dot_jerseys_are_worth_a_rainbow_jersey() -> None:
    """003:67."""
    race = Race().jerseys(0, doubles=4).land_on(DOUBLE)
    assert race.legal() == {"exchange polka", "keep"}
    assert race.do("exchange polka").cards(0) == {"rainbow": 1}


def test_jerseys_of_the_two_kinds_are_not_added_up() -> None:
    """003:67: three green ones or ten polka-dot ones."""
    assert Race().jerseys(0, green=1, doubles=3).land_on(GREEN).decision is None


def test_jerseys_may_be_kept() -> None:
    """003:196."""
    race = Race().jerseys(0, green=2).land_on(GREEN).do("keep")
    assert race.cards(0) == {"green": 3}
    assert race.decision is None


@each(
    ("doubles", "triples", "left"),
    [
        (2, 2, {}),  # 10 exactly
        (4, 1, {}),  # 11: all, 1 is lost
        (0, 4, {}),  # 12: 2 are lost
        (5, 2, {"triples": 2}),  # 10 with five of two, though two and two would do as well
        (2, 3, {"triples": 1}),  # 10 of 13
        (1, 3, {}),  # 11
        (1, 4, {"triples": 1}),  # 11 of 14 rather than 12
        (4, 4, {"doubles": 2, "triples": 2}),
    ],
)
def test_the_exchange_takes_ten_polka_dots_or_the_least_above(
    doubles: int, triples: int, left: dict[str, int]
) -> None:
    """003:196, what is above ten is lost; ruling W3, the most cards of two."""
    race = Race().jerseys(0, doubles=doubles, triples=triples).land_on(SUPPLY)
    assert race.decision == ("exchange", 0)
    race.do("exchange polka")
    assert race.cards(0) == {"rainbow": 1} | left
    assert race.state.stacks.tolist() == [11, 12, 12 - left.get("doubles", 0), 12 - left.get("triples", 0)]


def test_the_race_leader_is_asked_as_his_turn_begins() -> None:
    """Ruling W2: before the white die; nobody else is."""
    race = Race().jerseys(0, green=3).jerseys(1, green=3).land_on(LINE)
    assert race.decision == ("exchange", 0)
    assert race.state.white == 0
    assert race.do("keep").decision is None


def test_he_is_asked_after_the_price_of_the_lead() -> None:
    """003:57, the price is paid as the turn begins; who gives up does not lead any more."""
    race = Race().jerseys(1, green=3).away(1, 3).land_on(LINE)
    assert race.decision == ("away", 1)
    assert race.do("pay").decision == ("exchange", 1)
    race = Race().jerseys(0, green=3).away(1, 3).land_on(LINE).do("give up")
    assert race.decision == ("exchange", 0)


def test_he_is_asked_again_as_long_as_he_can_exchange() -> None:
    """Ruling W2."""
    race = Race().jerseys(0, green=3, triples=4).land_on(LINE).do("exchange green")
    assert race.decision == ("exchange", 0)
    assert race.do("exchange polka").decision is None
    assert race.cards(0) == {"rainbow": 2}


def test_he_is_asked_when_he_has_gained_a_jersey_at_the_line() -> None:
    """Ruling W2: the rainbow jersey of the lap counts; a jersey handed in may make room on the stack."""
    race = Race().jerseys(0, green=3).set(rainbow_lap=1).land_on(LINE).do("keep")
    assert race.decision == ("exchange", 0)
    assert race.do("exchange green").cards(0) == {"rainbow": 2}
    assert race.energies == [60, 60, 60]


def test_after_a_jersey_of_a_square_he_is_asked_before_the_positions() -> None:
    """Ruling W2."""
    race = Race().jerseys(0, triples=3).land_on(TRIPLE)
    assert race.decision == ("exchange", 0)
    assert race.riders == [0, 1, 2]
    assert race.do("exchange polka").riders == [1, 2, 0]


def test_no_exchange_without_a_rainbow_card() -> None:
    """Ruling W4."""
    assert Race().jerseys(0, green=3).stack("rainbow", 0).land_on(LINE).decision is None


def test_no_exchange_after_nothing_was_gained() -> None:
    """Ruling W2: the set of green jerseys is empty; he was asked before the die."""
    race = Race().jerseys(0, green=3).stack("green", 0).land_on(GREEN).do("keep")
    assert race.decision is None
