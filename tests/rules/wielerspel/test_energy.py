"""Payments, retirement, exhaustion: 003:115, 003:172-178; ruling W22."""

from __future__ import annotations

from tests.race_support import CHANCE, CLIMB_4, EVENT_3, FLAT_2, GREEN, LINE, Race


def test_a_servant_who_retires_gives_15_energy() -> None:
    """003:172: from beside the board or from the board; he never comes back."""
    race = Race().servants(0, 9, 10).energy(0, 1).land_on(EVENT_3)
    assert race.decision == ("must pay", 0)
    assert race.legal() == {"retire", "retire 9", "retire 10"}
    race.do("retire 10")
    assert race.energies[0] == 13
    assert race.squares == {9: 0}
    assert race.servants_left(0) == 5
    assert race.state.off_board[0] == 4


def test_a_retirement_never_gives_beyond_60() -> None:
    """003:158."""
    race = Race().energy(1, 55).land_on(FLAT_2)
    assert race.do("retire").energies[1] == 60


def test_who_can_pay_is_not_asked() -> None:
    """Forced payments are no decisions."""
    race = Race().energy(0, 3).servants(0, 9).land_on(EVENT_3)
    assert race.decision is None
    assert race.energies[0] == 0


def test_servants_who_are_all_beside_the_board_retire_by_themselves() -> None:
    """There is nothing to choose."""
    race = Race().energy(0, 1).land_on(EVENT_3)
    assert race.decision is None
    assert race.energies[0] == 13
    assert race.servants_left(0) == 5


def test_an_only_servant_on_the_board_retires_by_himself() -> None:
    race = Race().servants(0, 9).retired(0, 5).energy(0, 1).land_on(EVENT_3)
    assert race.decision is None
    assert race.energies[0] == 13
    assert race.squares == {}


def test_servants_retire_until_the_payment_can_be_made() -> None:
    """003:178, asked again and again."""
    race = Race(retirement_energy=1).servants(0, 9).energy(0, 0).land_on(EVENT_3)
    for _ in range(3):
        assert race.decision == ("must pay", 0)
        race.do("retire")
    assert race.energies[0] == 0
    assert race.servants_left(0) == 3


def test_payments_are_made_in_race_order() -> None:
    """The race leader first, then the peloton."""
    race = Race(players=4).order(2, 0, 3).away(1, 9)
    for seat in range(4):
        race.energy(seat, 3).servants(seat, 10 * seat + 1)
    race.land_on(CLIMB_4).do("pay")
    asked = []
    while race.decision is not None and race.decision[0] == "must pay":
        asked.append(race.decision[1])
        race.do("retire")
    assert asked == [1, 2, 0, 3]


def test_who_has_no_servant_left_and_too_little_energy_is_out() -> None:
    """003:178; ruling W22: his energy is gone, his jerseys stay."""
    race = Race().jerseys(1, green=2).retired(1, 6).energy(1, 1).land_on(FLAT_2)
    assert race.riders == [2, 0]
    assert race.state.out.tolist()[:3] == [0, 1, 0]
    assert race.energies == [58, 0, 58]
    assert race.cards(1) == {"green": 2}
    assert race.decision == ("bid", 2)


def test_exactly_enough_energy_is_enough() -> None:
    """003:178: only who must pay more than he has."""
    race = Race().retired(1, 6).energy(1, 2).land_on(FLAT_2)
    assert race.riders == [1, 2, 0]
    assert race.energies[1] == 0


def test_the_last_servants_retire_and_it_is_still_too_little() -> None:
    """003:178: the leader leaves the race when all of them have."""
    race = Race(retirement_energy=1).retired(0, 5).energy(0, 0).land_on(EVENT_3)
    assert race.state.out[0] == 1
    assert race.servants_left(0) == 0
    assert race.riders == [1, 2]


def test_an_escaped_rider_who_is_out_is_not_away_any_more() -> None:
    race = Race().away(0, 9).retired(0, 6).energy(0, 3).land_on(EVENT_3).do("pay")
    assert race.lead == (-1, 0)
    assert race.riders == [1, 2]
    assert race.next_turn().land_on(GREEN).cards(1) == {"green": 1}


def test_one_rider_left_rides_on() -> None:
    """Ruling W10."""
    race = Race().retired(0, 6).retired(1, 6).energy(0, 1).energy(1, 1).land_on(FLAT_2)
    assert race.riders == [2]
    assert race.decision == ("bid", 2)
    race.do("pass").next_turn().land_on(LINE)
    assert race.riders == [2]
    assert not race.is_over


def test_the_card_takes_one_of_the_race_leader_s_servants() -> None:
    """003:174; ruling W23: he gains 15, and chooses which."""
    race = Race().order(1, 0, 2).servants(1, 9).energy(1, 20).deck("forced_retirement").land_on(CHANCE)
    assert race.decision == ("must retire", 1)
    assert race.legal() == {"retire", "retire 9"}
    assert race.do("retire 9").energies[1] == 35
    assert race.riders == [0, 2, 1]


def test_the_card_needs_no_decision_without_a_choice() -> None:
    """Ruling W23."""
    race = Race().energy(0, 20).deck("forced_retirement").land_on(CHANCE)
    assert race.decision is None
    assert race.energies[0] == 35
    assert race.servants_left(0) == 5


def test_the_card_does_nothing_without_a_servant() -> None:
    """Ruling W23."""
    race = Race().retired(0, 6).energy(0, 20).deck("forced_retirement").land_on(CHANCE)
    assert race.energies[0] == 20
    assert race.riders == [1, 2, 0]
