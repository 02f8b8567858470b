"""Working out the positions: 003:79-103; rulings W6, W19."""

from __future__ import annotations

from tests.each import each
from tests.race_support import CHANCE, ESCAPE, EVENT_3, FLAT_2, GREEN, HEAD_WIND_3, LINE, SUPPLY, Race

UNOCCUPIED = [LINE, FLAT_2, SUPPLY, EVENT_3, GREEN]

# I. Nobody is away ------------------------------------------------------------------------------------------


@each("square", UNOCCUPIED)
def test_on_an_unoccupied_square_the_first_goes_last(square: int) -> None:
    """003:83: the others keep their order."""
    assert Race(players=4).order(3, 1, 0, 2).land_on(square).riders == [1, 0, 2, 3]


def test_a_chance_card_that_is_no_escape_is_an_unoccupied_square() -> None:
    """Ruling W19."""
    assert Race().deck("tail_wind 2").land_on(CHANCE).riders == [1, 2, 0]


def test_who_was_second_rolls_next() -> None:
    """003:83."""
    race = Race().land_on(LINE).next_turn().land_on(GREEN)
    assert race.cards(1) == {"green": 1}


def test_another_team_s_square_brings_its_leader_to_the_front() -> None:
    """003:87: the old leader is second, the others keep their order; he may escape."""
    race = Race(players=4).order(0, 1, 2, 3).servants(2, FLAT_2).land_on(FLAT_2)
    assert race.riders == [2, 0, 1, 3]
    assert race.decision == ("escape", 2)
    assert race.legal() == {"escape", "stay"}


@each("said", ["escape", "stay"])
def test_he_rolls_next_whether_he_escapes_or_not(said: str) -> None:
    """003:87."""
    race = Race().servants(2, FLAT_2).land_on(FLAT_2).do(said).next_turn().land_on(GREEN)
    if said == "escape":
        race.do("pay")
    assert race.cards(2) == {"green": 1}


@each("square", [FLAT_2, ESCAPE])
def test_on_his_own_or_an_escape_square_the_leader_may_escape(square: int) -> None:
    """003:90: he stays the leader if he does not, and all others keep their places."""
    race = Race().order(1, 0, 2).servants(1, FLAT_2).land_on(square)
    assert race.decision == ("escape", 1)
    race.do("stay")
    assert race.riders == [1, 0, 2]
    assert race.decision is None


def test_on_an_escape_square_nobody_else_may_escape() -> None:
    """003:51: only the leader of the peloton."""
    race = Race().order(1, 0, 2).land_on(ESCAPE)
    assert race.decision == ("escape", 1)
    assert race.do("escape").lead == (1, 1)


# II. A rider is away ----------------------------------------------------------------------------------------


@each("square", UNOCCUPIED)
def test_on_an_unoccupied_square_the_escaped_rider_loses_10_seconds(square: int) -> None:
    """003:95: the others keep their order."""
    race = Race().away(1, 5).land_on(square).do("pay")
    assert race.lead == (1, 4)
    assert race.riders == [0, 2]


def test_who_has_no_lead_left_is_caught_and_goes_last() -> None:
    """003:59 and 003:95: the first of the peloton rolls next."""
    race = Race().away(1, 1).land_on(LINE).do("pay")
    assert race.lead == (-1, 0)
    assert race.riders == [0, 2, 1]
    assert race.next_turn().land_on(GREEN).cards(0) == {"green": 1}


@each("yellow", [1, 4, 6])
def test_on_another_team_s_square_its_leader_pulls_the_peloton(yellow: int) -> None:
    """003:99: he goes to the front of the peloton, the lead shrinks by the yellow die; nobody may escape."""
    race = Race(players=4).order(0, 1, 2, 3).servants(2, FLAT_2).away(3, 7)
    race.land_on(FLAT_2, yellow=yellow).do("pay")
    assert race.riders == [2, 0, 1]
    assert race.lead == (3, 7 - yellow)
    assert race.decision is None
    assert race.energies == [58, 58, 60, 56]


@each("lead", [3, 4])
def test_the_yellow_die_may_bring_the_peloton_up_to_him(lead: int) -> None:
    """003:99 and 003:59: with no lead left he is last."""
    race = Race().servants(2, FLAT_2).away(1, lead).land_on(FLAT_2, yellow=4).do("pay")
    assert race.lead == (-1, 0)
    assert race.riders == [2, 0, 1]


def test_on_his_own_square_he_may_ride_further_away_for_its_value() -> None:
    """003:103: the yellow die; his team does not pay for the square, but for the escape (003:117)."""
    race = Race().servants(1, HEAD_WIND_3).away(1, 2).land_on(HEAD_WIND_3, yellow=5).do("pay")
    assert race.decision == ("escape", 1)
    assert race.energies == [57, 59, 57]
    assert race.do("escape").lead == (1, 7)
    assert race.energies == [57, 56, 57]


def test_on_an_escape_square_he_rides_further_away_for_nothing() -> None:
    """003:103 and 003:133."""
    race = Race().away(1, 2).land_on(ESCAPE, yellow=3).do("pay", "escape")
    assert race.lead == (1, 5)
    assert race.energies == [60, 59, 60]


@each("square", [HEAD_WIND_3, ESCAPE])
def test_he_may_keep_his_lead_as_it_is(square: int) -> None:
    """003:188: then he does not lose 10 seconds either."""
    race = Race().servants(1, HEAD_WIND_3).away(1, 2).land_on(square).do("pay", "stay")
    assert race.lead == (1, 2)


# The leader leaves the race (W6) ---------------------------------------------------------------------------


def test_if_the_first_leaves_the_race_nobody_else_is_moved_back() -> None:
    """Ruling W6, on an unoccupied square."""
    race = Race().energy(0, 2).retired(0, 6).land_on(EVENT_3)
    assert race.state.out[0] == 1
    assert race.riders == [1, 2]


def test_if_the_escaped_rider_leaves_the_race_nobody_is_moved_back() -> None:
    """Ruling W6."""
    race = Race().away(2, 9).energy(2, 4).retired(2, 6).land_on(EVENT_3).do("pay")
    assert race.lead == (-1, 0)
    assert race.riders == [0, 1]


def test_if_the_first_leaves_the_race_the_owner_goes_to_the_front() -> None:
    """Ruling W6: and may escape, as in 003:87."""
    race = Race(players=4).servants(2, FLAT_2).energy(0, 1).retired(0, 6).land_on(FLAT_2)
    assert race.riders == [2, 1, 3]
    assert race.decision == ("escape", 2)


def test_if_the_escaped_rider_leaves_the_race_the_owner_may_escape() -> None:
    """Ruling W6: nobody is away any more."""
    race = Race(players=4).servants(2, FLAT_2).away(0, 2).energy(0, 2).retired(0, 6)
    race.land_on(FLAT_2, yellow=6).do("pay")
    assert race.riders == [2, 1, 3]
    assert race.decision == ("escape", 2)
    assert race.do("escape").lead == (2, 6)
