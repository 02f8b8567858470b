"""The start line: 003:71-75, 003:153-158; rulings W4, W5."""

from __future__ import annotations

from tests.each import each
from tests.race_support import LINE, Race


@each("square", [LINE, 1])
def test_the_end_of_a_lap_gives_15_energy_to_everybody(square: int) -> None:
    """003:153: landed on or passed; then the effort square is paid."""
    race = Race().energy(0, 20).energy(1, 0).energy(2, 30).land_on(square, white=3)
    value = 0 if square == LINE else 2
    assert race.energies == [35 - value, 15 - value, 45 - value]


def test_nobody_ever_has_more_than_60_energy() -> None:
    """003:158: with 48 he gets 12 in place of 15."""
    assert Race().energy(0, 48).energy(1, 45).energy(2, 46).land_on(LINE).energies == [60, 60, 60]


def test_no_supply_at_the_end_of_the_lap_if_the_card_lies_there() -> None:
    """003:155; it is taken away at the line, so that the next lap gives 15 again."""
    race = Race().set(no_supply=1).energy(0, 20).land_on(LINE)
    assert race.energies[0] == 20
    assert race.state.no_supply == 0
    assert race.next_turn().land_on(LINE).energies[0] == 35


def test_a_leader_who_has_left_the_race_gains_nothing() -> None:
    race = Race().order(0, 1).energy(2, 0).set(out=[0, 0, 1, 0, 0, 0])
    assert race.land_on(LINE).energies == [60, 60, 0]


def test_landing_on_the_start_square_makes_the_next_lap_a_rainbow_lap() -> None:
    """003:75."""
    race = Race().land_on(LINE)
    assert race.state.rainbow_lap == 1
    assert race.cards(0) == {}


def test_passing_it_does_not() -> None:
    """003:75."""
    assert Race().land_on(LINE + 12, white=1).state.rainbow_lap == 0
    assert Race().land_on(1, white=2).state.rainbow_lap == 0


@each("white", [1, 2])
def test_in_a_rainbow_lap_the_race_leader_wins_a_rainbow_jersey(white: int) -> None:
    """003:71 and 003:75: who leads when the rainbow rider lands on the line or passes it."""
    race = Race().order(1, 0, 2).set(rainbow_lap=1).land_on(white - 1, white=white)
    assert race.cards(1) == {"rainbow": 1}
    assert race.cards(0) == race.cards(2) == {}
    assert race.state.stacks[0] == 11


def test_the_escaped_rider_leads_the_race() -> None:
    """003:49 and 003:71."""
    race = Race().away(2, 4).set(rainbow_lap=1).set(square=39)
    race.land_on(LINE).do("pay")
    assert race.cards(2) == {"rainbow": 1}


def test_after_a_rainbow_lap_comes_an_ordinary_one() -> None:
    """003:75, passed only."""
    assert Race().set(rainbow_lap=1).land_on(1, white=2).state.rainbow_lap == 0


def test_two_rainbow_laps_may_follow_each_other() -> None:
    """003:75: landed exactly again."""
    race = Race().set(rainbow_lap=1).land_on(LINE)
    assert race.state.rainbow_lap == 1
    assert race.cards(0) == {"rainbow": 1}


def test_without_a_rainbow_card_nothing_is_won() -> None:
    """Rulings W4 and W5: the lap is a rainbow lap all the same."""
    race = Race().stack("rainbow", 0).set(rainbow_lap=1).land_on(LINE)
    assert race.cards(0) == {}
    assert race.state.rainbow_lap == 1


def test_the_start_is_an_unoccupied_square() -> None:
    """Ruling W19: the first of the peloton goes last."""
    assert Race().land_on(LINE).riders == [1, 2, 0]
