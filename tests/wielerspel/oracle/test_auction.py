"""The auction of an unoccupied effort square, 003:119 to 003:123."""

from __future__ import annotations

from tests.each import each
from tests.wielerspel.oracle.positions import FLAT, HEADWIND, asked, do, energy, landing, pass_all


def test_each_bid_is_higher_and_the_highest_pays() -> None:
    """003:121: in race order, each higher than the last; the highest bidder places a servant."""
    game = do(landing(FLAT, players=4), "bid 3")
    assert asked(game) == (2, "BID")
    assert game.legal() == [
        *["retire", "pass"],
        *[f"bid {amount}" for amount in range(4, 59)],  # 58 is all he has
    ]
    do(game, "pass", "bid 10", "pass")
    assert energy(game) == [58, 58, 58, 48]
    assert game.owner[FLAT] == 3
    assert game.teams[3].off_board == 5


def test_no_second_round() -> None:
    """Ruling: once round; who has been overbid is not asked again."""
    assert do(landing(FLAT), "bid 1", "bid 2", "bid 3").over


def test_nobody_bids() -> None:
    """Ruling: then the square stays free."""
    game = pass_all(landing(FLAT))
    assert game.owner[FLAT] == -1
    assert energy(game) == [58, 58, 58]


def test_escaped_rider_bids_first() -> None:
    """003:186: if he is not caught."""
    game = do(landing(FLAT, escaped=2, lead=3), "pay")
    assert asked(game) == (2, "BID")
    caught = do(landing(FLAT, escaped=2, lead=1), "pay", "pass", "pass")
    assert asked(caught) == (2, "BID")


def test_servant_works_from_the_next_turn_on() -> None:
    """003:121: in the turn of the auction the winner neither escapes nor gets his energy back."""
    game = do(landing(FLAT), "bid 5", "pass", "pass")
    assert energy(game) == [58, 53, 58]
    assert game.race_order() == [1, 2, 0]
    assert game.escaped == -1


def test_bids_from_one_to_all_energy() -> None:
    """Ruling: 1 is the least, one's energy after the payment the most."""
    game = landing(HEADWIND, energy=[60, 5, 60])
    assert game.legal() == ["retire", "pass", "bid 1", "bid 2"]


def test_retiring_before_a_bid() -> None:
    """W7: with less than 60 a seat may retire servants, off or on the board, and is asked again."""
    game = landing(FLAT, energy=[60, 5, 60], owner={HEADWIND: 1})
    do(game, "retire 4")
    assert asked(game) == (1, "BID")
    assert game.legal()[:2] == ["retire", "pass"]
    assert energy(game)[1] == 18
    assert game.owner[HEADWIND] == -1
    do(game, "bid 18", "pass", "pass")
    assert energy(game)[1] == 0
    assert game.owner[FLAT] == 1


def test_nobody_retires_with_full_energy() -> None:
    """W7: it would gain nothing."""
    game = do(landing(FLAT), "retire")
    assert energy(game) == [58, 60, 58]
    assert game.legal() == ["pass", *[f"bid {amount}" for amount in range(1, 61)]]


def test_last_servant_does_not_retire_for_a_bid() -> None:
    """W8: with one servant left there would be nobody to place."""
    game = landing(FLAT, energy=[60, 5, 60], off_board=[6, 1, 6], retired=[0, 5, 0])
    assert game.legal() == ["pass", "bid 1", "bid 2", "bid 3"]


@each("servants", [0, 1])
def test_who_cannot_bid_is_not_asked(servants: int) -> None:
    """Ruling: without a servant; W11: nor with one servant and no energy."""
    energies = [60, 30 if servants == 0 else 2, 60]
    game = landing(FLAT, energy=energies, off_board=[6, servants, 6], retired=[0, 6 - servants, 0])
    assert asked(game) == (2, "BID")


def test_full_energy_and_outbid() -> None:
    """W11: who could only pass is not asked."""
    game = landing(FLAT, energy=[2, 60, 60], off_board=[1, 6, 6], retired=[5, 0, 0])
    do(game, "bid 1", "pass")
    assert game.over
    assert game.owner[FLAT] == 1


def test_moving_a_servant() -> None:
    """003:123: with all servants on the board the winner moves one, of his choice."""
    owner = dict.fromkeys((2, HEADWIND, 5, 7, 9, 10), 1)
    game = do(landing(FLAT, owner=owner), "bid 5", "pass", "pass")
    assert asked(game) == (1, "MOVE")
    assert game.legal() == ["move 2", "move 4", "move 5", "move 7", "move 9", "move 10"]
    do(game, "move 9")
    assert (game.owner[9], game.owner[FLAT]) == (-1, 1)
    assert game.owner.count(1) == 6


def test_moving_the_only_servant() -> None:
    """W11: with one servant there is no choice."""
    game = landing(FLAT, owner={9: 1}, off_board=[6, 0, 6], retired=[0, 5, 0])
    do(game, "bid 5", "pass", "pass")
    assert game.over
    assert (game.owner[9], game.owner[FLAT]) == (-1, 1)


def test_no_choice_while_a_servant_is_off_the_board() -> None:
    """003:123: only who has all his servants on the board takes one away."""
    game = do(landing(FLAT, owner={9: 1}), "bid 5", "pass", "pass")
    assert game.over
    assert (game.owner[9], game.owner[FLAT], game.teams[1].off_board) == (1, 1, 4)


def test_exhausted_seats_do_not_bid() -> None:
    """003:178: who cannot pay for the square is out before the auction."""
    game = landing(FLAT, energy=[60, 1, 60], off_board=[6, 0, 6], retired=[0, 6, 0])
    assert asked(game) == (2, "BID")
    assert game.race_order() == [2, 0]
