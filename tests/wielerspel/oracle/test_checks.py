"""The checks of the specification, 4.12 (a) to (n), each with its lines of the rule text (003)."""

from __future__ import annotations

from tests.each import each
from tests.wielerspel.oracle.positions import (
    EVENT,
    FLAT,
    GREEN,
    START,
    SUPPLY,
    asked,
    do,
    energy,
    held,
    jerseys,
    landing,
    pass_all,
)


def test_a_never_more_than_60() -> None:
    """003:158: with 48 at the end of a lap one gets 12 instead of 15."""
    assert energy(landing(START, energy=[48, 44, 45])) == [60, 59, 60]


def test_b_unoccupied_effort_square() -> None:
    """003:83, 003:121, 003:184: all pay, the leader goes last, and so bids last."""
    game = landing(FLAT)
    assert energy(game) == [58, 58, 58]
    assert game.race_order() == [1, 2, 0]
    order = []
    while game.phase == "BID":
        order.append(game.seat)
        game.do("pass")
    assert order == [1, 2, 0]


def test_d_an_unoccupied_square_costs_ten_seconds() -> None:
    """003:95: with a lead of 3 one keeps 2."""
    game = do(landing(EVENT, escaped=2, lead=3), "pay")
    assert (game.escaped, game.lead) == (2, 2)


def test_d_caught() -> None:
    """003:59, 003:95: with a lead of 1 one is caught: last, and the first of the peloton rolls."""
    game = do(landing(EVENT, escaped=2, lead=1), "pay")
    assert (game.escaped, game.lead) == (-1, 0)
    assert game.race_order() == [0, 1, 2]


@each(("lead", "price"), [(1, 1), (5, 1), (6, 2), (8, 2), (12, 2), (13, 3), (14, 3), (18, 3)])
def test_f_price_of_the_lead(lead: int, price: int) -> None:
    """003:57: 1 below a minute, 2 up to two minutes, 3 above; 6 and 12 by ruling."""
    game = landing(START, escaped=0, lead=lead, energy=[20, 20, 20])
    assert game.legal() == ["give up", "pay"]
    assert energy(do(game, "pay"))[0] == 20 - price + 15


def test_g_giving_up() -> None:
    """003:63: pays nothing, goes last; the first of the peloton rolls and so pays for the roundabout."""
    game = landing(EVENT, escaped=1, lead=7)
    assert asked(game) == (1, "AWAY")
    do(game, "give up")
    assert energy(game) == [58, 60, 60]
    assert (game.escaped, game.lead) == (-1, 0)
    assert game.race_order() == [2, 1, 0]  # 0 led, and went last on an unoccupied square


def test_i_no_rainbow_lap_no_jersey() -> None:
    """003:75, 003:153: passing the line in an ordinary lap gives only energy."""
    game = pass_all(landing(FLAT, die=3, energy=[10, 10, 10]))
    assert energy(game) == [23, 23, 23]  # 15, less the 2 of the square
    assert held(game, "rainbow") == [0, 0, 0]
    assert not game.rainbow_lap


def test_j_supply_post() -> None:
    """003:143, 003:145: 5 for the leader, up to 60."""
    assert energy(landing(SUPPLY, energy=[58, 50, 50])) == [60, 50, 50]
    assert energy(landing(SUPPLY, energy=[50, 50, 50])) == [55, 50, 50]


def test_k_retiring_to_pay() -> None:
    """003:172, 003:178: who cannot pay retires a servant for 15."""
    game = landing(EVENT, energy=[1, 9, 9])
    assert energy(game) == [14, 9, 9]  # he had nobody on the board: there was nothing to decide
    assert (game.teams[0].off_board, game.teams[0].retired) == (5, 1)


def test_l_exhausted() -> None:
    """003:178: with no servant left he leaves the race."""
    game = landing(EVENT, energy=[1, 9, 9], off_board=[0, 6, 6], retired=[6, 0, 0])
    assert game.teams[0].out
    assert energy(game) == [0, 9, 9]
    assert game.race_order() == [1, 2]


def test_n_three_greens_for_a_rainbow() -> None:
    """003:67."""
    game = landing(GREEN, **jerseys(green=[2, 0, 0]))
    assert asked(game) == (0, "EXCHANGE")
    do(game, "exchange green")
    assert held(game, "green") == [0, 0, 0]
    assert held(game, "rainbow") == [1, 0, 0]
    assert game.stacks == {"rainbow": 11, "green": 12, "doubles": 12, "triples": 12}
