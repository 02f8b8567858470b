"""Right of Way: 004:26; rules 1.3; rulings E2 to E8, E25."""

from __future__ import annotations

import pytest

from tests.support import BREAKDOWNS, DISTANCES, HAZARDS, Position


def test_right_of_way_remedies_a_stop() -> None:
    """A stopped player who lays it may go on in the same turn (004:26)."""
    position = Position().battle(0, "ROLL", "STOP").hand(0, "RIGHT_OF_WAY", "DISTANCE_100")
    assert not position.can("play DISTANCE_100")
    assert position.do("play RIGHT_OF_WAY").can("play DISTANCE_100")


def test_right_of_way_remedies_a_speed_limit() -> None:
    """A limited player who lays it may play the long cards at once (004:26)."""
    position = Position().battle(0, "ROLL").speed(0, "SPEED_LIMIT").hand(0, "RIGHT_OF_WAY", "DISTANCE_200")
    assert not position.can("play DISTANCE_200")
    assert position.do("play RIGHT_OF_WAY").can("play DISTANCE_200")


def test_right_of_way_protects_from_stop_and_speed_limit() -> None:
    """Neither can be laid against it any more (004:26)."""
    position = Position().battle(1, "ROLL").safety(1, "RIGHT_OF_WAY").hand(0, "STOP", "SPEED_LIMIT")
    assert not position.plays()


def test_with_right_of_way_no_roll_is_needed_to_start() -> None:
    """With an empty battle area distances may be laid (004:26; rules 1.3)."""
    position = Position().hand(0, "RIGHT_OF_WAY", *DISTANCES)
    assert not position.plays() & set(DISTANCES)
    assert position.do("play RIGHT_OF_WAY").plays() >= set(DISTANCES)


def test_with_right_of_way_no_partner_needs_a_roll() -> None:
    """It holds for the team, whichever member laid it (004:26)."""
    position = Position(4).safety(0, "RIGHT_OF_WAY").turn(2).hand(2, "DISTANCE_25")
    assert position.can("play DISTANCE_25")
    assert not position.turn(1).hand(1, "DISTANCE_25").can("play DISTANCE_25")


@pytest.mark.parametrize("safety", ["DRIVING_ACE", "EXTRA_TANK", "PUNCTURE_PROOF"])
def test_no_other_safety_replaces_a_roll(safety: str) -> None:
    """Only this one does (004:26)."""
    assert not Position().safety(0, safety).hand(0, "DISTANCE_25").plays()


def test_a_stop_that_shows_goes_to_the_discard_pile() -> None:
    """It does not stay where it lay: the Roll beneath shows again (004:26, E3)."""
    position = Position().battle(0, "ROLL", "STOP").hand(0, "RIGHT_OF_WAY").do("play RIGHT_OF_WAY")
    assert position.discards == {"STOP": 1}
    assert position.battle_top(0) == "ROLL"
    assert position.laid(0) == {"ROLL": 1, "RIGHT_OF_WAY": 1}


def test_a_stop_that_was_just_laid_uncovers_the_roll_it_was_laid_on() -> None:
    """The same in play: not parried, and taken away in the next turn (004:26, E3)."""
    position = Position().battle(1, "ROLL").hand(0, "STOP").hand(1, "RIGHT_OF_WAY")
    position.do("play STOP", "pass", "play RIGHT_OF_WAY")
    assert position.battle_top(1) == "ROLL"
    assert position.discards == {"STOP": 1}


def test_a_stop_that_was_discarded_gives_no_immunity() -> None:
    """The pile is open to the hazards that Right of Way does not answer (E3)."""
    position = Position().battle(0, "ROLL", "STOP").hand(0, "RIGHT_OF_WAY", "ROLL")
    position.hand(1, "FLAT_TIRE").do("play RIGHT_OF_WAY", "discard ROLL")
    assert position.can("play FLAT_TIRE")


@pytest.mark.parametrize("before", [(), ("SPEED_LIMIT", "END_OF_LIMIT")], ids="-".join)
def test_a_speed_limit_that_shows_goes_to_the_discard_pile(before: tuple[str, ...]) -> None:
    """What it lay on shows again (004:26, E6)."""
    position = Position().speed(0, *before, "SPEED_LIMIT").hand(0, "RIGHT_OF_WAY").do("play RIGHT_OF_WAY")
    assert position.discards == {"SPEED_LIMIT": 1}
    assert position.speed_top(0) == (before[-1] if before else None)


def test_only_what_shows_is_discarded() -> None:
    """A Stop or Speed Limit that has been answered stays covered where it is (004:26)."""
    position = Position().battle(0, "ROLL", "STOP", "ROLL").speed(0, "SPEED_LIMIT", "END_OF_LIMIT")
    position.hand(0, "RIGHT_OF_WAY").do("play RIGHT_OF_WAY")
    assert not position.discards
    assert (position.battle_top(0), position.speed_top(0)) == ("ROLL", "END_OF_LIMIT")


def test_right_of_way_leaves_the_opponents_as_they_are() -> None:
    """Their Stop and their limit stay (004:26)."""
    position = Position().battle(1, "ROLL", "STOP").speed(1, "SPEED_LIMIT").hand(0, "RIGHT_OF_WAY")
    position.do("play RIGHT_OF_WAY")
    assert (position.battle_top(1), position.speed_top(1)) == ("STOP", "SPEED_LIMIT")
    assert not position.discards


def test_with_right_of_way_one_is_still_vulnerable_to_other_hazards() -> None:
    """Accident, Out of Gas and Flat Tire can be laid and do stop the car (004:26)."""
    position = Position().battle(1, "ROLL").safety(1, "RIGHT_OF_WAY").hand(0, *HAZARDS)
    assert position.plays() == {hazard for hazard, _, _ in BREAKDOWNS}
    position.hand(1, "DISTANCE_25", "ROLL").do("play ACCIDENT")
    assert not position.plays()


def test_right_of_way_is_open_to_attack_on_an_empty_battle_pile() -> None:
    """He moves without a Roll, so he can be stopped without one (E2)."""
    position = Position().safety(1, "RIGHT_OF_WAY").hand(0, *HAZARDS)
    assert position.plays() == {hazard for hazard, _, _ in BREAKDOWNS}


@pytest.mark.parametrize(("hazard", "remedy", "_safety"), BREAKDOWNS)
def test_right_of_way_is_open_to_attack_on_a_remedy(hazard: str, remedy: str, _safety: str) -> None:
    """The last remedy is enough to move on, and enough to be hit (004:26, E1; rules 1.2)."""
    position = Position().battle(1, "ROLL", hazard, remedy).safety(1, "RIGHT_OF_WAY").hand(0, *HAZARDS)
    assert position.plays() == {hazard for hazard, _, _ in BREAKDOWNS}


@pytest.mark.parametrize(("hazard", "remedy", "_safety"), BREAKDOWNS)
def test_a_breakdown_stays_when_right_of_way_is_laid(hazard: str, remedy: str, _safety: str) -> None:
    """It needs its own remedy; after that the car moves at once, without a Roll (E4; rules 1.3)."""
    position = Position().battle(0, "ROLL", hazard).hand(0, "RIGHT_OF_WAY", remedy, "DISTANCE_25", "ROLL")
    position.do("play RIGHT_OF_WAY")
    assert position.battle_top(0) == hazard
    assert not position.discards
    assert position.plays() == {remedy}
    position.do(f"play {remedy}").turn(0)
    assert position.can("play DISTANCE_25")


@pytest.mark.parametrize(("hazard", "remedy", "_safety"), BREAKDOWNS)
def test_laid_on_a_remedy_that_waits_for_its_roll(hazard: str, remedy: str, _safety: str) -> None:
    """The car moves at once (E5)."""
    position = Position().battle(0, "ROLL", hazard, remedy).hand(0, "RIGHT_OF_WAY", "DISTANCE_25")
    assert not position.can("play DISTANCE_25")
    assert position.do("play RIGHT_OF_WAY").can("play DISTANCE_25")


@pytest.mark.parametrize(("hazard", "_remedy", "safety"), BREAKDOWNS)
def test_laid_on_a_hazard_that_a_safety_has_cured(hazard: str, _remedy: str, safety: str) -> None:
    """No hazard holds the car any more, so it moves at once as after a remedy (E5, E24)."""
    position = Position().battle(0, "ROLL", hazard).safety(0, safety).hand(0, "RIGHT_OF_WAY", "DISTANCE_25")
    assert not position.can("play DISTANCE_25")
    assert position.do("play RIGHT_OF_WAY").can("play DISTANCE_25")


@pytest.mark.parametrize(
    ("pile", "may"),
    [
        ((), True),
        (("ROLL",), False),
        (("ROLL", "ACCIDENT"), False),
        (("ROLL", "ACCIDENT", "REPAIRS"), True),
        (("ROLL", "ACCIDENT", "REPAIRS", "ROLL"), False),
    ],
    ids=["empty", "Roll", "hazard", "remedy", "Roll again"],
)
def test_with_right_of_way_a_roll_goes_where_it_always_goes(pile: tuple[str, ...], may: bool) -> None:
    """On an empty pile or a remedy it may still be laid though nobody needs it; not on a Roll (E25)."""
    position = Position().battle(0, *pile).safety(0, "RIGHT_OF_WAY").hand(0, "ROLL")
    assert position.can("play ROLL") == may


def test_stop_and_limit_are_both_taken_away() -> None:
    """Where both show, one card clears both (E6, 004:26)."""
    position = Position().battle(0, "ROLL", "STOP").speed(0, "SPEED_LIMIT").hand(0, "RIGHT_OF_WAY")
    assert position.do("play RIGHT_OF_WAY").discards == {"STOP": 1, "SPEED_LIMIT": 1}
