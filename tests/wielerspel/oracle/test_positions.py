"""The race positions, 003:79 to 003:103, escapes, and what an escaped rider decides."""

from __future__ import annotations

from tests.each import each
from tests.wielerspel.oracle.positions import (
    CHANCE,
    CLIMB,
    ESCAPE,
    EVENT,
    FLAT,
    GREEN,
    POLKA,
    START,
    SUPPLY,
    asked,
    do,
    energy,
    landing,
)

# I. Nobody is away -----------------------------------------------------------------------------------------


@each("square", [START, CHANCE, EVENT, SUPPLY, POLKA, GREEN])
def test_i_a_leader_goes_last(square: int) -> None:
    """003:83; whatever is neither owned nor an escape square is unoccupied (ruling)."""
    game = landing(square, players=4)
    assert game.race_order() == [1, 2, 3, 0]


@each("action", ["escape", "stay"])
def test_i_b_owner_goes_to_the_front(action: str) -> None:
    """003:87: the owner goes to the front, the old leader is second; the owner may escape."""
    game = landing(FLAT, players=4, owner={FLAT: 2}, yellow=4)
    assert energy(game) == [58, 58, 60, 58]  # 003:115
    assert game.race_order() == [2, 0, 1, 3]
    assert asked(game) == (2, "ESCAPE")
    assert game.legal() == ["escape", "stay"]
    do(game, action)
    assert game.over  # 003:119: an occupied square is not auctioned
    assert game.race_order() == [2, 0, 1, 3]
    if action == "escape":  # 003:53, 003:117
        assert (game.escaped, game.lead, game.peloton) == (2, 4, [0, 1, 3])
        assert energy(game) == [58, 58, 58, 58]
    else:
        assert (game.escaped, game.lead) == (-1, 0)
        assert energy(game) == [58, 58, 60, 58]


def test_i_c_own_square() -> None:
    """003:90: the leader may escape for the value of the square; the others keep their places."""
    game = landing(CLIMB, owner={CLIMB: 0}, yellow=6)
    assert asked(game) == (0, "ESCAPE")
    assert game.race_order() == [0, 1, 2]
    do(game, "escape")
    assert energy(game) == [56, 56, 56]
    assert (game.escaped, game.lead, game.peloton) == (0, 6, [1, 2])


def test_i_c_own_square_and_stay() -> None:
    """003:90: he stays the leader without paying."""
    game = do(landing(CLIMB, owner={CLIMB: 0}), "stay")
    assert energy(game) == [60, 56, 56]
    assert game.race_order() == [0, 1, 2]
    assert game.escaped == -1


@each(("square", "card"), [(ESCAPE, ("tail wind", 2)), (CHANCE, ("escape", 0))])
def test_i_c_escape_square_and_card(square: int, card: tuple[str, int]) -> None:
    """003:51, 003:133: only the leader may escape, at no cost, even with no energy."""
    game = landing(square, card=card, yellow=3, energy=[0, 9, 9])
    assert asked(game) == (0, "ESCAPE")
    do(game, "escape")
    assert energy(game) == [0, 9, 9]
    assert (game.escaped, game.lead) == (0, 3)


# II. Somebody is away --------------------------------------------------------------------------------------


def test_ii_a_unoccupied() -> None:
    """003:95: ten seconds less; the others keep their places."""
    game = do(landing(GREEN, escaped=0, lead=5), "pay")
    assert (game.escaped, game.lead, game.peloton) == (0, 4, [1, 2])
    assert game.teams[0].green == 1  # 003:73: he leads


@each(("die", "lead"), [(1, 3), (3, 1), (4, 0), (6, 0)])
def test_ii_b_owner_in_the_peloton_hunts(die: int, lead: int) -> None:
    """003:99: the owner goes to the front of the peloton and rolls; caught, the escaped rider is last."""
    game = do(landing(FLAT, escaped=0, lead=4, players=4, owner={FLAT: 3}, yellow=die), "pay")
    assert game.over  # nothing to decide: the hunt is free and not optional (ruling)
    assert energy(game) == [57, 58, 58, 60]
    assert game.lead == lead
    assert game.race_order() == ([0, 3, 1, 2] if lead else [3, 1, 2, 0])
    assert game.escaped == (0 if lead else -1)


@each(("square", "cost"), [(CLIMB, 4), (ESCAPE, 0)])
def test_ii_c_riding_further_ahead(square: int, cost: int) -> None:
    """003:103, 003:188: he may roll for the square's value, or keep his lead and lose nothing."""
    game = do(landing(square, escaped=0, lead=4, owner={CLIMB: 0}, yellow=5), "pay")
    assert asked(game) == (0, "ESCAPE")
    assert energy(game)[0] == 59
    do(game, "escape")
    assert (game.escaped, game.lead) == (0, 9)
    assert energy(game)[0] == 59 - cost
    game = do(landing(square, escaped=0, lead=4, owner={CLIMB: 0}), "pay", "stay")
    assert (game.escaped, game.lead) == (0, 4)
    assert energy(game)[0] == 59


def test_only_one_escape_at_a_time() -> None:
    """003:51: while somebody is away the owner of the square hunts him and is not asked whether to escape."""
    game = do(landing(FLAT, escaped=0, lead=9, owner={FLAT: 1}, yellow=1), "pay")
    assert (game.escaped, game.lead, game.over) == (0, 8, True)


def test_white_die_belongs_to_the_new_leader() -> None:
    """003:59: after a hunt that succeeded the first of the peloton pays for the next roundabout."""
    game = landing(FLAT, escaped=0, lead=1, owner={FLAT: 1}, yellow=1, options={"max_turns": 2})
    game.chance.whites.append(EVENT - FLAT)
    do(game, "pay")
    assert game.turn == 2
    assert energy(game) == [57, 58, 58]  # 1 was free on its own square and has paid 2 for the roundabout


# The price of an escape, and of staying away ---------------------------------------------------------------


def test_escape_that_cannot_be_paid() -> None:
    """Ruling: who lacks the energy retires a servant first, or stays."""
    game = landing(CLIMB, owner={CLIMB: 0, FLAT: 0}, energy=[3, 60, 60], yellow=2)
    assert game.legal() == ["stay", "retire", "retire 1", "retire 14"]
    do(game, "retire 1")
    assert energy(game)[0] == 18
    assert asked(game) == (0, "ESCAPE")
    assert game.legal() == ["escape", "stay"]
    do(game, "escape")
    assert energy(game)[0] == 14
    assert (game.escaped, game.lead) == (0, 2)


def test_servant_on_the_square_may_retire_for_the_escape() -> None:
    """003:172: any servant may retire; the right to escape was won when positions were worked out."""
    game = do(landing(CLIMB, owner={CLIMB: 0}, energy=[3, 60, 60], yellow=2), "retire 14", "escape")
    assert energy(game) == [14, 56, 56]
    assert game.owner[CLIMB] == -1
    assert game.over  # the square was occupied when the rainbow rider came: no auction


def test_staying_away_that_cannot_be_paid() -> None:
    """W1: retiring is offered while the price cannot be paid; then the same question again."""
    game = landing(GREEN, escaped=0, lead=14, energy=[2, 60, 60], owner={FLAT: 0})
    assert asked(game) == (0, "AWAY")
    assert game.legal() == ["give up", "retire", "retire 1"]
    do(game, "retire")
    assert energy(game)[0] == 17
    assert game.legal() == ["give up", "pay"]
    do(game, "pay")
    assert energy(game)[0] == 14
    assert game.lead == 13


def test_nothing_left_but_giving_up() -> None:
    """W11: with no energy and no servant he gives up without being asked."""
    game = landing(SUPPLY, escaped=0, lead=3, energy=[0, 40, 60], off_board=[0, 6, 6], retired=[6, 0, 0])
    assert game.over
    assert energy(game) == [0, 45, 60]
    assert game.race_order() == [2, 0, 1]


# W6: the leader has left the race --------------------------------------------------------------------------

LAST_BREATH = {"off_board": [0, 6, 6, 6], "retired": [6, 0, 0, 0]}


def test_w6_nobody_moves_back_for_a_leader_who_is_out() -> None:
    """The next takes his place and is not moved back."""
    game = landing(EVENT, players=4, energy=[1, 60, 60, 60], **LAST_BREATH)
    assert game.race_order() == [1, 2, 3]


def test_w6_on_an_owned_square() -> None:
    """The owner goes to the front and may escape, though the exhausted leader was away."""
    position = LAST_BREATH | {"off_board": [0, 6, 6, 5]}
    game = landing(
        CLIMB, players=4, energy=[2, 60, 60, 60], escaped=0, lead=5, owner={CLIMB: 3}, yellow=1, **position
    )
    do(game, "pay")
    assert game.teams[0].out
    assert game.race_order() == [3, 1, 2]
    assert asked(game) == (3, "ESCAPE")
    do(game, "escape")
    assert (game.escaped, game.lead, game.peloton) == (3, 1, [1, 2])


def test_w10_one_seat_rides_on() -> None:
    """Ruling: the last one races alone."""
    game = landing(FLAT, players=2, energy=[20, 0], out=[0, 1], off_board=[6, 0], retired=[0, 6], peloton=[0])
    assert asked(game) == (0, "BID")
    do(game, "bid 1")
    assert game.owner[FLAT] == 0
    assert game.race_order() == [0]
