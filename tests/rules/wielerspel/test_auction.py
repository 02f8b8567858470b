"""The auction: 003:119-123, 003:184-186; rulings W7, W8, W10, W11, W21."""

from __future__ import annotations

from tests.race_support import CLIMB_4, ESCAPE, FLAT_2, OTHER_FLAT_2, SUPPLY, Race


def test_only_effort_squares_that_nobody_holds_are_auctioned() -> None:
    """003:113 and 003:119."""
    assert Race().land_on(FLAT_2).decision == ("bid", 1)
    assert Race().land_on(SUPPLY).decision is None
    assert Race().land_on(ESCAPE).do("stay").decision is None
    assert Race().servants(0, FLAT_2).land_on(FLAT_2).do("stay").decision is None


def test_who_leads_after_the_positions_bids_first_and_the_others_in_race_order() -> None:
    """003:121; 003:184, who led before bids last."""
    race = Race(players=4).order(2, 0, 3, 1).land_on(FLAT_2)
    asked = []
    while race.decision is not None:
        asked.append(race.decision)
        race.do("pass")
    assert asked == [("bid", 0), ("bid", 3), ("bid", 1), ("bid", 2)]


def test_an_escaped_rider_who_is_not_caught_bids_first() -> None:
    """003:186."""
    race = Race().away(2, 5).land_on(FLAT_2).do("pay")
    assert race.decision == ("bid", 2)
    assert race.do("pass").decision == ("bid", 0)


def test_an_escaped_rider_who_is_caught_bids_last() -> None:
    """003:186."""
    race = Race().away(2, 1).land_on(FLAT_2).do("pay", "pass", "pass")
    assert race.decision == ("bid", 2)


def test_a_bid_must_be_higher_than_those_before() -> None:
    """003:121; ruling W21: at least 1, at most the own energy; passing is allowed."""
    race = Race().energy(1, 9).energy(2, 7).land_on(FLAT_2)
    bids = {f"bid {amount}" for amount in range(1, 8)}
    retirements = {"retire"}
    assert race.legal() == {"pass"} | bids | retirements
    race.do("bid 3")
    assert race.legal() == {"pass", "bid 4", "bid 5"} | retirements


def test_the_highest_bidder_pays_and_places_a_servant() -> None:
    """003:121."""
    race = Race().land_on(FLAT_2).do("bid 3", "bid 10", "pass")
    assert race.energies == [58, 58, 48]
    assert race.squares == {FLAT_2: 2}
    assert race.state.off_board.tolist()[:3] == [6, 6, 5]


def test_the_servant_works_from_the_next_turn_on() -> None:
    """003:121: nobody escapes or goes to the front in this one."""
    race = Race().land_on(FLAT_2).do("pass", "bid 1", "pass")
    assert race.riders == [1, 2, 0]
    assert race.decision is None
    assert race.next_turn().land_on(FLAT_2).decision == ("escape", 2)


def test_nobody_bids_and_the_square_stays_free() -> None:
    """Ruling W21."""
    race = Race().land_on(FLAT_2).do("pass", "pass", "pass")
    assert race.squares == {}
    assert race.decision is None


def test_each_seat_bids_once() -> None:
    """Ruling W21, after 003:184-186: bidding last is an advantage."""
    race = Race().land_on(FLAT_2).do("bid 1", "bid 2", "bid 3")
    assert race.decision is None
    assert race.squares == {FLAT_2: 0}


def test_who_has_all_servants_on_the_board_may_bid_and_moves_one() -> None:
    """003:123; ruling W21: the bidder chooses which."""
    race = Race().servants(1, 2, 4, 5, 7, 9, 10).land_on(FLAT_2).do("bid 2", "pass", "pass")
    assert race.decision == ("move", 1)
    assert race.legal() == {f"move {square}" for square in (2, 4, 5, 7, 9, 10)}
    race.do("move 7")
    assert race.squares == dict.fromkeys((1, 2, 4, 5, 9, 10), 1)
    assert race.decision is None


def test_an_only_servant_moves_by_himself() -> None:
    """003:123, with one servant left there is no choice."""
    race = Race().servants(1, OTHER_FLAT_2).retired(1, 5).land_on(FLAT_2).do("bid 2", "pass", "pass")
    assert race.squares == {FLAT_2: 1}


def test_who_has_no_servant_left_is_not_asked() -> None:
    """Ruling W21."""
    race = Race().retired(1, 6).land_on(FLAT_2)
    assert race.decision == ("bid", 2)


def test_servants_may_retire_for_a_higher_bid() -> None:
    """003:172; ruling W7: while the energy is below 60, and the same seat is asked again."""
    race = Race().servants(1, OTHER_FLAT_2).energy(1, 12).land_on(FLAT_2)
    assert {"retire", f"retire {OTHER_FLAT_2}"} <= race.legal()
    race.do("retire")
    assert race.decision == ("bid", 1)
    assert "bid 25" in race.legal()
    assert "bid 26" not in race.legal()


def test_nobody_retires_in_the_auction_with_60_energy() -> None:
    """Ruling W7: 60 is the most there is."""
    race = Race().energy(1, 50).land_on(CLIMB_4).do("retire")
    assert race.energies[1] == 60
    assert race.legal() == {"pass"} | {f"bid {amount}" for amount in range(1, 61)}


def test_the_last_servant_does_not_retire_in_the_auction() -> None:
    """Ruling W8."""
    race = Race().retired(1, 5).energy(1, 10).land_on(FLAT_2)
    assert race.decision == ("bid", 1)
    assert not any(name.startswith("retire") for name in race.legal())


def test_who_could_only_pass_is_not_asked() -> None:
    """Ruling W11: the highest bid is beyond the energy, and no servant may retire."""
    race = Race().energy(2, 9).retired(2, 5).land_on(FLAT_2).do("bid 7")
    assert race.decision == ("bid", 0)
    race = Race().energy(2, 9).land_on(FLAT_2).do("bid 7")
    assert race.legal() == {"pass", "retire"}


def test_the_last_rider_bids_alone() -> None:
    """Ruling W10."""
    race = Race().order(1).set(out=[1, 0, 1, 0, 0, 0]).energy(0, 0).energy(2, 0).land_on(FLAT_2)
    assert race.decision == ("bid", 1)
    assert race.do("bid 1").decision is None
    assert race.squares == {FLAT_2: 1}
