"""Dujardin, Le Grand Classique of 2014 (FR14): what it says otherwise (the rest: `test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import at
from tests.support import BREAKDOWNS, CARDS, DISTANCES, SAFETIES, Position


def fr14(*lines: str, **options: int) -> Position:
    return at("dujardin_2014", *lines, **options)


# The six possibilities ------------------------------------------------------------------------------------


def test_possibility_1_a_green_light_to_start() -> None:
    """Nothing of one's own but the light and safeties can be laid before it (FR14 possibility 1)."""
    position = fr14().hand(0, *CARDS)
    assert position.plays() == {"roll", "speed_limit", *SAFETIES}
    assert position.do("play roll").turn(0).plays() == {"speed_limit", *SAFETIES, *DISTANCES}


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_the_variant_with_a_light_after_a_remedy(hazard: str, remedy: str, safety: str) -> None:
    """The sheet offers the older rule as a variant: an option here (FR14 variant; rules 1.5)."""
    position = fr14(f"battle 0: {hazard} on roll", f"hand 0: {remedy} roll 25", roll_after_remedy=1)
    position.do(f"play {remedy}").turn(0)
    assert position.plays() == {"roll"}
    assert position.do("play roll").turn(0).plays() == {"25"}


def test_possibility_6_a_discard() -> None:
    """Allowed always here; as an option only to who can lay nothing (FR14 possibility 6; rules 1.2)."""
    hand = ("roll", "stop")
    assert fr14().hand(0, *hand).legal() == {"play roll", "discard roll", "discard stop"}
    strict = fr14(discard_only_if_stuck=1)
    assert strict.hand(0, *hand).legal() == {"play roll"}
    assert strict.hand(0, "stop").legal() == {"discard stop"}


# What is decided for it -----------------------------------------------------------------------------------


def test_a_safety_cancels_a_hazard_on_a_remedy_and_shows_it_again() -> None:
    """The team was already rolling on the card beneath, without a light (E10, E22; FR14 possibility 4)."""
    position = fr14()
    position.battle(0, "roll", "accident", "repairs", "flat_tire").hand(0, "puncture_proof", *DISTANCES)
    assert not position.is_moving(0)
    position.do("play puncture_proof")
    assert (position.battle_top(0), position.plays()) == ("repairs", set(DISTANCES))


def test_a_breakdown_with_the_right_of_way_before_the_start() -> None:
    """A team hit in this way and cured by a safety is as before: no light, but driving (E2, E10)."""
    position = fr14("safeties 1: right_of_way", "hand 0: accident", "hand 1: driving_ace 25")
    position.do("play accident", "pass", "play driving_ace")
    assert (position.battle_top(1), position.can("play 25")) == (None, True)


def test_a_pile_without_distances_does_not_end_it() -> None:
    """Nobody can see that none is left in it (E54)."""
    rest = (("repairs", "spare_tire", "roll"), ("end_of_limit", "gasoline"))
    position = fr14("hand 0: stop", "hand 1: stop").draw_pile(5).draws(0, *rest[0]).draws(1, *rest[1])
    for left, seat in ((4, 1), (3, 0), (2, 1)):
        position.do("discard stop" if position.can("discard stop") else min(position.legal()))
        assert (position.phase, position.pile_size, position.seat) == ("play", left, seat)
    assert not set(DISTANCES) & {*position.hand_of(0), *position.hand_of(1)}
