"""The extension: US, rules for 2 or 3 players, C; rules 1.1, 1.5; rulings E38, E39, E41, E44 to E47, E49.

The rest is in `editions/test_all*.py`.
"""

from __future__ import annotations

from tests.each import each
from tests.support import DISTANCES, Position


def at_700(players: int = 2) -> Position:
    """Team 0 has just reached 700."""
    return Position("battle 0: roll", "hand 0: 50 stop", players=players).km(0, 650).do("play 50")


def test_it_is_called_exactly_at_700_at_once() -> None:
    """Nothing is offered at 675, and the call comes before the next one draws (US C; E44)."""
    position = Position("battle 0: roll", "hand 0: 25").km(0, 650).do("play 25")
    assert position.phase == "play"
    position = Position("battle 0: roll", "hand 0: 25").km(0, 675)
    pile = position.pile_size
    position.do("play 25")
    assert (position.phase, position.pile_size, position.hand_sizes()) == ("extension", pile, [0, 0])


@each(("players", "following"), [(2, 1), (3, 1), (6, 1)])
def test_with_the_extension_the_trip_is_1000_for_all(players: int, following: int) -> None:
    """Play goes on to the left, and nobody has arrived yet (US C; E44)."""
    position = at_700(players).do("extend")
    assert (position.target, position.caller, position.winner) == (1000, 0, None)
    assert (position.phase, position.seat) == ("play", following)
    assert position.hand_sizes()[following] == 1


def test_the_caller_drives_on_beyond_700() -> None:
    """As though the race had been over 1000 from the start (US C)."""
    position = at_700().do("extend").turn(0).hand(0, *DISTANCES)
    assert position.plays() == set(DISTANCES)
    assert position.do("play 100").km_of(0) == 800


def test_without_the_extension_the_round_is_over() -> None:
    """He has completed the trip of 700 (US C)."""
    position = at_700().do("finish")
    assert (position.phase, position.winner, position.caller, position.target) == ("round over", 0, None, 700)


def test_passing_700_later_earns_nothing() -> None:
    """The 400 are for the trip to 1000 now (E49)."""
    position = Position().extended_by(0).km(0, 800).km(1, 700).run_out()
    assert position.sheet(1) == {"distance": 700, "extension": 200}
    assert position.sheet(0) == {"distance": 800}


@each("players", [3, 6])
def test_each_opponent_of_a_caller_who_does_not_arrive_gets_200(players: int) -> None:
    """Not shared between them (E47)."""
    position = Position(players=players).extended_by(2).km(0, 300).km(2, 900).run_out()
    assert position.points() == [500, 200, 900]


def test_an_extension_may_be_called_with_nothing_left_to_draw() -> None:
    """No text forbids it; the cards in hand are played out (E45)."""
    position = Position("battle 0: roll", "hand 0: 25", "hand 1: stop").draw_pile(0).km(0, 675)
    position.do("play 25")
    assert position.legal() == {"extend", "finish"}
    assert position.do("extend", "discard stop").points() == [700, 200]


def test_an_extension_called_with_no_card_left_at_all_has_failed_at_once() -> None:
    """Pointless, but offered (E45)."""
    position = Position("battle 0: roll", "hand 0: 25").draw_pile(0).km(0, 675)
    position.do("play 25", "extend")
    assert (position.phase, position.winner) == ("round over", None)
    assert position.points() == [700, 200]


def test_the_next_round_begins_with_the_short_trip_again() -> None:
    """An extension holds for its round (US C; E44)."""
    position = at_700().do("extend").run_out().next_round()
    assert (position.target, position.caller) == (700, None)
