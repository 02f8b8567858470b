"""The escape: 003:36, 003:51-63, 003:117; rulings W1, W11, W17, W18, W20."""

from __future__ import annotations

from tests.each import each
from tests.race_support import CHANCE, COBBLES_3, ESCAPE, FLAT_2, GREEN, LINE, Race


@each(("lead", "price"), [(1, 1), (5, 1), (6, 2), (7, 2), (12, 2), (13, 3), (18, 3)])
def test_the_lead_costs_1_2_or_3_energy_as_the_turn_begins(lead: int, price: int) -> None:
    """003:55, 003:57: under a minute, from one to two, over two; ruling W17: six arrows are not under."""
    race = Race().away(0, lead).land_on(LINE)
    assert race.decision == ("away", 0)
    assert race.legal() == {"give up", "pay"}
    race.do("pay")
    assert race.state.stage == 14  # before the next turn: the line has given 15
    assert race.energies[0] == 60
    assert Race().away(0, lead).land_on(GREEN).do("pay").energies[0] == 60 - price


def test_the_escaped_rider_rolls_the_white_die() -> None:
    """003:61."""
    assert Race().away(2, 3).land_on(GREEN).do("pay").cards(2) == {"green": 1}


def test_he_may_have_to_pay_more_in_the_same_turn() -> None:
    """003:61: for the square."""
    assert Race().away(2, 3).land_on(FLAT_2).do("pay").energies[2] == 57


def test_who_gives_up_pays_nothing_and_goes_last() -> None:
    """003:63: the first of the peloton rolls the white die in this turn."""
    race = Race().order(1, 0, 2).away(2, 9).land_on(GREEN).do("give up")
    assert race.lead == (-1, 0)
    assert race.cards(1) == {"green": 1}
    assert race.riders == [0, 2, 1]  # 1 has led on an unoccupied square
    assert race.energies == [60, 60, 60]


def test_an_escape_moves_by_the_yellow_die() -> None:
    """003:53."""
    for yellow in range(1, 7):
        race = Race().land_on(ESCAPE, yellow=yellow).do("escape")
        assert race.lead == (0, yellow)
        assert race.riders == [1, 2]


def test_an_escape_from_an_own_square_costs_its_value() -> None:
    """003:90 and 003:117."""
    race = Race().servants(0, COBBLES_3).land_on(COBBLES_3)
    assert race.energies == [60, 57, 57]
    assert race.do("escape").energies == [57, 57, 57]


def test_an_escape_from_an_escape_square_costs_nothing() -> None:
    """003:133."""
    assert Race().land_on(ESCAPE).do("escape").energies == [60, 60, 60]


def test_a_chance_card_may_allow_an_escape() -> None:
    """003:51, for the race leader, at no cost."""
    race = Race().deck("escape").land_on(CHANCE, yellow=6)
    assert race.decision == ("escape", 0)
    assert race.do("escape").lead == (0, 6)
    assert race.energies == [60, 60, 60]


def test_only_one_rider_can_be_away() -> None:
    """003:51: the owner of the square may not escape while another is away."""
    race = Race().servants(1, FLAT_2).away(0, 8).land_on(FLAT_2, yellow=1).do("pay")
    assert race.decision is None
    assert race.lead == (0, 7)


def test_who_lacks_the_energy_cannot_escape_until_a_servant_retires() -> None:
    """Ruling W20."""
    race = Race().servants(0, COBBLES_3).energy(0, 2).land_on(COBBLES_3)
    assert race.legal() == {"stay", "retire", f"retire {COBBLES_3}"}
    race.do("retire")
    assert race.decision == ("escape", 0)
    assert race.legal() == {"escape", "stay"}
    assert race.do("escape").energies[0] == 14


def test_exactly_the_energy_of_the_escape_is_enough() -> None:
    """003:90."""
    race = Race().servants(0, COBBLES_3).energy(0, 3).land_on(COBBLES_3)
    assert race.legal() == {"escape", "stay"}
    assert race.do("escape").energies[0] == 0


def test_the_servant_of_the_square_may_be_the_one_who_retires() -> None:
    """003:172: at any moment, on the board too; the leader may escape all the same, no auction follows."""
    race = Race().servants(0, COBBLES_3).retired(0, 5).energy(0, 0).land_on(COBBLES_3)
    assert race.do(f"retire {COBBLES_3}", "escape").lead == (0, 1)
    assert race.decision is None
    assert race.squares == {}


def test_who_can_pay_for_the_lead_is_not_offered_to_retire() -> None:
    """Ruling W1."""
    assert Race().away(0, 3).servants(0, 1).land_on(LINE).legal() == {"give up", "pay"}


def test_who_cannot_pay_for_the_lead_may_let_servants_retire_first() -> None:
    """Ruling W1: the same decision is asked again."""
    race = Race().away(0, 13).servants(0, 1).energy(0, 2).land_on(GREEN)
    assert race.legal() == {"give up", "retire", "retire 1"}
    race.do("retire 1")
    assert race.decision == ("away", 0)
    assert race.do("pay").energies[0] == 14


def test_who_can_do_nothing_but_give_up_is_not_asked() -> None:
    """Ruling W11."""
    race = Race().away(0, 13).energy(0, 2).retired(0, 6).land_on(GREEN)
    assert race.lead == (-1, 0)
    assert race.cards(1) == {"green": 1}


def test_who_can_do_nothing_but_stay_is_not_asked() -> None:
    """Ruling W11: where a servant gives 1 energy only, it may be too little when the last one has retired."""
    race = Race(retirement_energy=1).servants(0, COBBLES_3).energy(0, 0).retired(0, 5).land_on(COBBLES_3)
    assert race.legal() == {"stay", f"retire {COBBLES_3}"}
    race.do(f"retire {COBBLES_3}")
    assert race.decision is None
    assert race.lead == (-1, 0)
    assert race.riders == [0, 1, 2]


def test_beyond_the_inner_track_the_race_is_won() -> None:
    """003:36, more than three minutes; ruling W18: 18 arrows are three minutes, the END is the 19th."""
    race = Race().away(1, 15).land_on(ESCAPE, yellow=4).do("pay", "escape")
    assert race.is_over
    assert race.winners == [1]
    race = Race().away(1, 15).land_on(ESCAPE, yellow=3).do("pay", "escape")
    assert not race.is_over
    assert race.lead == (1, 18)


def test_the_end_of_the_inner_track_wins_whatever_jerseys_others_have() -> None:
    """003:36."""
    race = Race().jerseys(0, rainbow=2).away(1, 17).land_on(ESCAPE, yellow=6).do("pay", "escape")
    assert race.winners == [1]


def test_the_servant_on_the_very_square_may_retire_for_the_escape() -> None:
    """Ruling W26: who held the square as the turn began to work may escape; nobody buys it in this turn."""
    race = Race().servants(0, COBBLES_3).retired(0, 5).energy(0, 2).land_on(COBBLES_3, yellow=4)
    assert race.legal() == {"stay", f"retire {COBBLES_3}"}
    race.do(f"retire {COBBLES_3}", "escape")
    assert race.lead == (0, 4)
    assert race.energies[0] == 2 + 15 - 3
    assert race.decision is None
