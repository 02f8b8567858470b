"""The end of a race: 003:34-36, 003:67, 003:178, 003:200-202; rulings W9, W12."""

from __future__ import annotations

from tests.each import each
from tests.race_support import DOUBLE, ESCAPE, EVENT_3, FLAT_2, GREEN, LINE, Race


def test_three_rainbow_jerseys_win_at_once() -> None:
    """003:34 and 003:67: at the line; nobody gets the 15 any more."""
    race = Race().energy(1, 20).jerseys(0, rainbow=2).set(rainbow_lap=1).land_on(LINE)
    assert race.is_over
    assert race.winners == [0]
    assert race.energies[1] == 20


def test_two_do_not() -> None:
    assert not Race().jerseys(0, rainbow=1).set(rainbow_lap=1).land_on(LINE).is_over


def test_the_jersey_at_the_line_comes_before_the_inner_track() -> None:
    """Ruling W25: the order of a turn."""
    race = Race().jerseys(2, rainbow=2).away(2, 18).set(rainbow_lap=1).land_on(LINE).do("pay")
    assert race.is_over
    assert race.state.ending == 1


def test_an_exchange_may_win() -> None:
    """003:67."""
    race = Race().jerseys(0, rainbow=2, green=2).land_on(GREEN).do("exchange green")
    assert race.is_over
    assert race.winners == [0]


def test_if_all_are_exhausted_the_most_rainbow_jerseys_win() -> None:
    """003:178: also who was exhausted first."""
    race = Race().jerseys(0, rainbow=1).jerseys(1, green=2, doubles=3)
    assert _exhaust(race).winners == [0]


def test_equal_rainbow_jerseys_the_most_green_ones() -> None:
    """003:178."""
    race = Race().jerseys(0, rainbow=1, doubles=3).jerseys(1, rainbow=1, green=1)
    assert _exhaust(race).winners == [1]


def test_equal_green_ones_the_most_polka_dot_ones() -> None:
    """003:178: jerseys, not cards."""
    race = Race().jerseys(0, doubles=2).jerseys(1, triples=2)
    assert _exhaust(race).winners == [1]


def test_all_equal_is_a_true_draw() -> None:
    """003:178."""
    race = Race().jerseys(0, triples=2).jerseys(1, doubles=3)
    assert _exhaust(race).winners == [0, 1]
    assert _exhaust(Race()).winners == [0, 1, 2]


def _exhaust(race: Race) -> Race:
    """Return a turn in which nobody can pay."""
    for seat in range(race.rules.players):
        race.energy(seat, 0).retired(seat, 6)
    race.land_on(FLAT_2)
    assert race.is_over
    assert race.state.ending == 3
    return race


def test_the_last_rider_who_is_exhausted_ends_the_race() -> None:
    """003:178: his jerseys alone do not make him the winner."""
    race = Race().order(2).set(out=[1, 1, 0, 0, 0, 0]).energy(0, 0).energy(1, 0)
    race.jerseys(1, green=1).energy(2, 1).retired(2, 6).land_on(EVENT_3)
    assert race.is_over
    assert race.winners == [1]


def test_after_the_last_turn_the_race_is_ranked() -> None:
    """Ruling W9."""
    race = Race(max_turns=100).jerseys(1, green=1).set(turn=98).land_on(LINE).next_turn()
    assert not race.is_over
    race.land_on(FLAT_2).do("pass", "pass", "pass").next_turn()
    assert race.is_over
    assert race.winners == [1]


@each("target", [2, 5])
def test_option_another_number_of_rainbow_jerseys(target: int) -> None:
    """003:200."""
    race = Race(target_rainbows=target).jerseys(0, rainbow=target - 2).set(rainbow_lap=1).land_on(LINE)
    assert not race.is_over
    race = Race(target_rainbows=target).jerseys(0, rainbow=target - 1).set(rainbow_lap=1).land_on(LINE)
    assert race.winners == [0]


def test_option_three_rainbow_jerseys_a_green_and_a_polka_dot_one() -> None:
    """003:200: whichever comes last wins."""
    options = {"also_green": 1, "also_polka": 1}
    race = Race(**options).jerseys(0, rainbow=3).land_on(GREEN)
    assert not race.is_over
    assert Race(**options).jerseys(0, rainbow=3, doubles=1).land_on(GREEN).winners == [0]
    assert Race(**options).jerseys(0, rainbow=3, green=1).land_on(DOUBLE).winners == [0]
    race = Race(**options).jerseys(0, rainbow=2, green=1, doubles=1).set(rainbow_lap=1).land_on(LINE)
    assert race.winners == [0]


def test_option_points_for_combativity_decide() -> None:
    """003:202: 3 for a rainbow jersey, 1 for a green one, 1 for three polka-dot ones."""
    race = Race(combativity=1).jerseys(0, rainbow=2).jerseys(1, rainbow=2, green=2, triples=2)
    race.set(rainbow_lap=1).land_on(LINE)
    assert race.is_over
    assert race.winners == [1]  # 9 points against 6 + 2 + 2
    race = Race(combativity=1).jerseys(0, rainbow=2).jerseys(1, rainbow=2, green=2)
    assert race.set(rainbow_lap=1).land_on(LINE).winners == [0]  # 9 points against 6 + 2


@each(("highest", "points"), [(6, 0), (7, 1), (12, 1), (13, 2)])
def test_option_an_escape_over_a_minute_gives_a_point_over_two_minutes_two(highest: int, points: int) -> None:
    """003:202: by the highest lead, when the escape is over."""
    race = Race(combativity=1).away(1, highest - 1).land_on(ESCAPE, yellow=1).do("pay", "escape").next_turn()
    assert race.state.escape_points[1] == 0
    race.land_on(LINE).do("give up")
    assert race.state.escape_points[1] == points


def test_option_the_highest_lead_counts_though_it_shrank() -> None:
    """003:202: "topt": 14 arrows at its highest, then 3, then 4."""
    race = Race(combativity=1).away(1, 14).set(lead=3).land_on(ESCAPE, yellow=1).do("pay", "escape")
    race.next_turn().land_on(LINE).do("give up")
    assert race.state.escape_points[1] == 2


def test_option_an_escape_under_way_counts() -> None:
    """Ruling W12: 9 + 2 points for jerseys and 2 for a lead of 14, against 9 + 4."""
    race = Race(combativity=1).jerseys(0, rainbow=2, green=2).away(0, 14).jerseys(1, rainbow=3, green=4)
    race.set(rainbow_lap=1).land_on(LINE).do("pay")
    assert race.is_over
    assert race.winners == [0, 1]


def test_option_the_inner_track_wins_whatever_the_points() -> None:
    """003:36."""
    race = Race(combativity=1).jerseys(0, green=9).away(1, 18).land_on(ESCAPE).do("pay", "escape")
    assert race.winners == [1]


def test_option_who_has_left_the_race_does_not_win_it_by_points() -> None:
    """003:178, "completely out of the game"; ruling W12."""
    race = Race(combativity=1).jerseys(0, rainbow=2).jerseys(2, rainbow=2, green=9).order(0, 1)
    race.retired(2, 6).energy(2, 0).state.out[2] = 1
    assert race.set(rainbow_lap=1).land_on(LINE).winners == [0]


def test_option_points_rank_a_race_in_which_all_are_exhausted() -> None:
    """003:202, the winner is then determined by the points; ruling W12: seats that have left it, too."""
    race = Race(players=2, combativity=1).jerseys(0, rainbow=1).jerseys(1, green=4).order(0)
    race.retired(1, 6).energy(1, 0).retired(0, 6).energy(0, 1).state.out[1] = 1
    race.land_on(FLAT_2)
    assert race.is_over
    assert race.winners == [1]  # 4 points against 3
