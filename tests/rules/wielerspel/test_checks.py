"""The checks of the specification (4.12), by their letters; (c), (e), (h), (k) and (m) are not in it."""

from __future__ import annotations

from tests.each import each
from tests.race_support import FLAT_2, GREEN, LINE, SUPPLY, Race


def test_a_48_energy_and_15_are_60() -> None:
    """003:158."""
    assert Race().energy(0, 48).land_on(LINE).energies[0] == 60


def test_b_an_unoccupied_effort_square_of_2() -> None:
    """003:83, 003:121, 003:184: all pay 2; the order is P2 P3 P1; P2 bids first, P1 last."""
    race = Race().land_on(FLAT_2)
    assert race.energies == [58, 58, 58]
    assert race.riders == [1, 2, 0]
    assert race.decision == ("bid", 1)
    assert race.do("pass", "pass").decision == ("bid", 0)


def test_d_a_lead_on_an_unoccupied_square() -> None:
    """003:95: 3 becomes 2; 1 is caught, goes last, and the first of the peloton rolls."""
    assert Race().away(1, 3).land_on(LINE).do("pay").lead == (1, 2)
    race = Race().away(1, 1).land_on(LINE).do("pay")
    assert race.riders == [0, 2, 1]
    assert race.next_turn().land_on(SUPPLY).state.roller == 0


@each(("lead", "price"), [(5, 1), (8, 2), (14, 3)])
def test_f_the_price_of_a_lead(lead: int, price: int) -> None:
    """003:57."""
    assert Race().away(1, lead).land_on(GREEN).do("pay").energies[1] == 60 - price


def test_g_the_escaped_rider_gives_up() -> None:
    """003:63: he pays nothing and is last; the first of the peloton rolls."""
    race = Race().away(1, 8).land_on(SUPPLY).do("give up")
    assert race.energies[1] == 60
    assert race.state.roller == 0
    assert race.riders == [2, 1, 0]  # after the positions: 0 has led on an unoccupied square


def test_i_passing_the_start_in_an_ordinary_lap() -> None:
    """003:75, 003:153: 15 energy and nothing else."""
    race = Race().energy(0, 10).land_on(1, white=4)
    assert race.energies[0] == 10 + 15 - 2
    assert race.cards(0) == {}
    assert race.state.rainbow_lap == 0


def test_j_supply_at_58_energy() -> None:
    """003:145."""
    assert Race().energy(0, 58).land_on(SUPPLY).energies[0] == 60


def test_l_a_payment_with_no_energy_and_no_servant_left() -> None:
    """003:178."""
    race = Race().retired(2, 6).energy(2, 0).land_on(FLAT_2)
    assert race.state.out[2] == 1
    assert race.riders == [1, 0]


def test_n_three_green_jerseys_become_a_rainbow_jersey() -> None:
    """003:67."""
    assert Race().jerseys(0, green=2).land_on(GREEN).do("exchange green").cards(0) == {"rainbow": 1}
