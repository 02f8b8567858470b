"""The extension: US, rules for 2 or 3 players, C; rules 1.1, 1.5; rulings E38, E39, E41, E44 to E47, E49."""

from __future__ import annotations

from tests.each import each
from tests.support import DISTANCES, Position


def at_700(players: int = 2, seat: int = 0, *, two_hundreds: int = 0) -> Position:
    """Return the seat's team has just reached 700."""
    team = seat % Position(players=players).rules.teams
    position = Position(players=players)
    position.turn(seat).battle(team, "roll").km(team, 650, two_hundreds=two_hundreds)
    return position.hand(seat, "50", "stop").do("play 50")


@each(("players", "seat"), [(2, 0), (2, 1), (3, 2), (6, 4)])
def test_who_reaches_700_may_call_an_extension(players: int, seat: int) -> None:
    """With 2, 3 and 6 players: extend, or finish, and nothing else (US C; E44; rules 1.1)."""
    position = at_700(players, seat)
    assert (position.phase, position.seat) == ("extension", seat)
    assert position.legal() == {"extend", "finish"}


def test_where_the_race_is_over_1000_there_is_no_extension() -> None:
    """Two pairs: at 700 the trip simply goes on, at 1000 it ends (E44; rules 1.1)."""
    position = Position("battle 0: roll", "hand 0: 25", players=4).km(0, 675).do("play 25")
    assert (position.phase, position.seat) == ("play", 1)
    assert position.finish_trip(0).phase == "round over"


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


def test_the_extended_trip_ends_at_1000() -> None:
    """And is completed there, for 400 and another 200 (US C; rules 1.5)."""
    position = Position("battle 0: roll", "hand 0: 25").extended_by(0).km(0, 975).km(1, 50)
    position.do("play 25")
    assert (position.phase, position.winner) == ("round over", 0)
    assert position.sheet(0) == {"distance": 1000, "trip_completed": 400, "safe_trip": 300, "extension": 200}
    assert position.sheet(1) == {"distance": 50}


def test_there_is_one_extension_in_a_round() -> None:
    """Neither another team at 700 nor the winner at 1000 is asked again (E44, E49)."""
    position = Position("battle 1: roll", "to act: seat 1", "hand 1: 25").extended_by(0).km(0, 700).km(1, 675)
    position.do("play 25")
    assert (position.phase, position.seat, position.winner) == ("play", 0, None)


def test_passing_700_later_earns_nothing() -> None:
    """The 400 are for the trip to 1000 now (E49)."""
    position = Position().extended_by(0).km(0, 800).km(1, 700).run_out()
    assert position.sheet(1) == {"distance": 700, "extension": 200}
    assert position.sheet(0) == {"distance": 800}


def test_a_caller_who_does_not_arrive_gives_200_to_his_opponent() -> None:
    """He loses the 400 that he had in hand as well (US C; rules 1.5; E47)."""
    position = Position().extended_by(1).km(0, 300).km(1, 975).run_out()
    assert position.points() == [300 + 200, 975]


@each("players", [3, 6])
def test_each_opponent_of_a_caller_who_does_not_arrive_gets_200(players: int) -> None:
    """Not shared between them (E47)."""
    position = Position(players=players).extended_by(2).km(0, 300).km(2, 900).run_out()
    assert position.points() == [500, 200, 900]


def test_another_team_may_complete_the_extended_trip() -> None:
    """It gets the 400, and like every opponent of the caller the 200 (E47)."""
    position = Position("battle 1: roll", "to act: seat 1", "hand 1: 25", players=3)
    position.extended_by(2).km(0, 300).km(1, 0).km(2, 900)
    position.km(1, 975, two_hundreds=1).do("play 25")
    assert position.winner == 1
    assert position.points() == [300 + 200, 1000 + 400 + 200, 900]


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


def test_an_extension_in_the_extra_play_of_a_safety() -> None:
    """The same offer; then play goes on to the left (E46)."""
    position = Position("battle 0: roll", "hand 0: extra_tank 25", players=3).km(0, 675)
    position.do("play extra_tank", "play 25")
    assert position.legal() == {"extend", "finish"}
    assert position.do("extend").seat == 1


def test_an_extension_in_the_extra_play_of_a_coup_fourre() -> None:
    """The same offer; then play goes on to the left of the one who answered (E46)."""
    position = Position("battle 2: roll", "hand 0: flat_tire", "hand 2: puncture_proof 25", players=3)
    position.km(2, 675).do("play flat_tire against team 2", "claim", "play 25")
    assert (position.phase, position.seat) == ("extension", 2)
    assert position.do("extend").seat == 0


def test_the_delayed_action_of_an_extended_trip_is_judged_at_its_end() -> None:
    """At 700 there were cards to draw, at 1000 there are none: 300 (E38)."""
    position = at_700().do("extend").turn(0).draw_pile(0).km(1, 25).finish_trip(0)
    assert position.sheet(0)["delayed_action"] == 300
    position = at_700().do("extend").turn(0).km(1, 25).finish_trip(0)
    assert "delayed_action" not in position.sheet(0)


@each(("two_hundreds", "bonus"), [(0, 300), (1, 0)])
def test_a_safe_trip_with_extension_is_safe_all_the_way(two_hundreds: int, bonus: int) -> None:
    """A 200 laid before or after the call spoils it (E39)."""
    position = at_700(two_hundreds=two_hundreds).do("extend").finish_trip(0)
    assert position.sheet(0).get("safe_trip", 0) == bonus


@each(("km", "bonus"), [(0, 500), (25, 0)])
def test_the_shut_out_with_extension_is_judged_at_the_end(km: int, bonus: int) -> None:
    """An opponent who starts after the call is not shut out any more (E41)."""
    position = at_700().do("extend").km(1, km).finish_trip(0)
    assert position.sheet(0).get("shutout", 0) == bonus


def test_the_next_round_begins_with_the_short_trip_again() -> None:
    """An extension holds for its round (US C; E44)."""
    position = at_700().do("extend").run_out().next_round()
    assert (position.target, position.caller) == (700, None)
