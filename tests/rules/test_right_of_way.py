"""Right of Way: 004:26; rules 1.3; rulings E2 to E8, E25 (the rest: `editions/test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.support import BREAKDOWNS, HAZARDS, Position


def test_with_right_of_way_no_partner_needs_a_roll() -> None:
    """It holds for the team, whichever member laid it (004:26)."""
    position = Position("safeties 0: right_of_way", "to act: seat 2", "hand 2: 25", players=4)
    assert position.can("play 25")
    assert not position.turn(1).hand(1, "25").can("play 25")


def test_a_stop_that_shows_goes_to_the_discard_pile() -> None:
    """It does not stay where it lay: the Roll beneath shows again (004:26, E3)."""
    position = Position("battle 0: stop on roll", "hand 0: right_of_way").do("play right_of_way")
    assert position.discards == {"stop": 1}
    assert position.battle_top(0) == "roll"
    assert position.laid(0) == {"roll": 1, "right_of_way": 1}


def test_a_stop_that_was_just_laid_uncovers_the_roll_it_was_laid_on() -> None:
    """The same in play: not parried, and taken away in the next turn (004:26, E3)."""
    position = Position("battle 1: roll", "hand 0: stop", "hand 1: right_of_way")
    position.do("play stop", "pass", "play right_of_way")
    assert position.battle_top(1) == "roll"
    assert position.discards == {"stop": 1}


def test_a_stop_that_was_discarded_gives_no_immunity() -> None:
    """The pile is open to the hazards that Right of Way does not answer (E3)."""
    position = Position("battle 0: stop on roll", "hand 0: right_of_way roll", "hand 1: flat_tire")
    position.do("play right_of_way", "discard roll")
    assert position.can("play flat_tire")


@each("before", [(), ("speed_limit", "end_of_limit")])
def test_a_speed_limit_that_shows_goes_to_the_discard_pile(before: tuple[str, ...]) -> None:
    """The card beneath shows again (004:26, E6)."""
    position = Position("hand 0: right_of_way").speed(0, *before, "speed_limit").do("play right_of_way")
    assert position.discards == {"speed_limit": 1}
    assert position.speed_top(0) == (before[-1] if before else None)


def test_only_what_shows_is_discarded() -> None:
    """A Stop or Speed Limit that has been answered stays covered where it is (004:26)."""
    position = Position("hand 0: right_of_way")
    position.battle(0, "roll", "stop", "roll").speed(0, "speed_limit", "end_of_limit")
    position.do("play right_of_way")
    assert not position.discards
    assert (position.battle_top(0), position.speed_top(0)) == ("roll", "end_of_limit")


def test_right_of_way_leaves_the_opponents_as_they_are() -> None:
    """Their Stop and their limit stay (004:26)."""
    position = Position("battle 1: stop on roll", "speed 1: speed_limit", "hand 0: right_of_way")
    position.do("play right_of_way")
    assert (position.battle_top(1), position.speed_top(1)) == ("stop", "speed_limit")
    assert not position.discards


def test_with_right_of_way_one_is_still_vulnerable_to_other_hazards() -> None:
    """Accident, Out of Gas and Flat Tire can be laid and do stop the car (004:26)."""
    position = Position("battle 1: roll", "safeties 1: right_of_way").hand(0, *HAZARDS)
    assert position.plays() == {hazard for hazard, _, _ in BREAKDOWNS}
    position.hand(1, "25", "roll").do("play accident")
    assert not position.plays()


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_laid_on_a_hazard_that_a_safety_has_cured(hazard: str, remedy: str, safety: str) -> None:
    """No hazard holds the car any more, so it moves at once as after a remedy (E5, E24)."""
    position = Position(f"battle 0: {hazard} on roll", f"safeties 0: {safety}", "hand 0: right_of_way 25")
    assert not position.can("play 25")
    assert position.do("play right_of_way").can("play 25")


@each(
    ("pile", "may"),
    [
        ((), True),
        (("roll",), False),
        (("roll", "accident"), False),
        (("roll", "accident", "repairs"), True),
        (("roll", "accident", "repairs", "roll"), False),
    ],
)
def test_with_right_of_way_a_roll_goes_where_it_always_goes(pile: tuple[str, ...], may: bool) -> None:
    """On an empty pile or a remedy it may still be laid though nobody needs it; not on a Roll (E25)."""
    position = Position("safeties 0: right_of_way", "hand 0: roll").battle(0, *pile)
    assert position.can("play roll") == may
