"""Scoring a round: US, scoring; rules 1.5; rulings E37, E40, E42."""

from __future__ import annotations

from tests.each import each
from tests.support import PLAYERS, SAFETIES, Position


@each("km", [0, 25, 475, 675])
def test_each_side_scores_a_point_for_each_km(km: int) -> None:
    """As many points as the distance pile is long, arrived or not (US scoring; rules 1.5)."""
    position = Position().km(0, km).km(1, 300).run_out()
    assert position.points() == [km, 300]


@each(("count", "points"), [(0, 0), (1, 100), (2, 200), (3, 300)])
def test_each_safety_played_is_100(count: int, points: int) -> None:
    """Whoever arrived, and whichever they are (US scoring; rules 1.5)."""
    for safeties in (SAFETIES[:count], SAFETIES[4 - count :]):
        position = Position().safety(1, *safeties).run_out()
        assert position.points() == [0, points]


def test_a_safety_in_the_hand_is_worth_nothing() -> None:
    """It has to be laid (US scoring)."""
    position = Position("hand 1: stop", players=4).hand(0, *SAFETIES).finish_trip(3)
    assert "safeties" not in position.sheet(0)


def test_all_four_safeties_of_one_side_are_300_more() -> None:
    """On top of the 400 for the four (US scoring; rules 1.5)."""
    position = Position().safety(0, *SAFETIES).run_out()
    assert position.sheet(0) == {"safeties": 400, "all_safeties": 300}
    shared = Position(players=3).safety(0, *SAFETIES[:2]).safety(1, *SAFETIES[2:]).run_out()
    assert shared.points() == [200, 200, 0]


@each("count", [1, 2, 4])
def test_each_coup_fourre_is_300_more(count: int) -> None:
    """On top of the safety's own 100 (US scoring; rules 1.5)."""
    position = Position().safety(0, *SAFETIES[:count], coup=True).run_out()
    assert position.sheet(0)["coups_fourres"] == 300 * count
    assert position.sheet(0)["safeties"] == 100 * count
    assert position.sheet(1) == {}


@each("players", PLAYERS)
def test_the_trip_completed_is_400(players: int) -> None:
    """For the side that arrives, and for no other (US scoring; rules 1.5)."""
    position = Position(players=players)
    last = position.rules.teams - 1
    for team in range(last):
        position.km(team, 500 - 50 * team)
    position.km(last, 200, two_hundreds=1).finish_trip(last)
    assert position.sheet(last) == {"distance": position.target, "trip_completed": 400}
    assert position.points()[:last] == [500, 450][:last]


@each(("left", "bonus"), [(0, 300), (1, 0), (30, 0)])
def test_a_trip_completed_with_the_draw_pile_empty_is_300_more(left: int, bonus: int) -> None:
    """The delayed action: no card is left to draw when the last distance is laid (US scoring; rules 1.5)."""
    position = Position().draw_pile(left).km(1, 25).finish_trip(0)
    assert position.sheet(0).get("delayed_action", 0) == bonus
    assert "delayed_action" not in position.sheet(1)


def test_who_drew_the_last_card_himself_has_the_delayed_action() -> None:
    """It counts that the pile is empty when the finishing card is laid (E37)."""
    position = Position("battle 1: roll", "hand 0: stop", "stream 1: 25 ...").draw_pile(1).km(1, 675)
    position.do("discard stop", "play 25", "finish")
    assert position.sheet(1)["delayed_action"] == 300


def test_the_pile_that_runs_out_is_no_bonus_without_the_trip() -> None:
    """Nobody arrives, nobody has it (US scoring; E40)."""
    position = Position().km(0, 600).km(1, 500).run_out()
    assert position.points() == [600, 500]


@each(("two_hundreds", "bonus"), [(0, 300), (1, 0), (2, 0)])
def test_a_trip_completed_without_a_200_is_300_more(two_hundreds: int, bonus: int) -> None:
    """The safe trip: the winner has not laid a single 200 (US scoring; rules 1.5)."""
    position = Position().km(0, 200 * two_hundreds, two_hundreds=two_hundreds).km(1, 25).finish_trip(0)
    assert position.sheet(0).get("safe_trip", 0) == bonus
    assert "safe_trip" not in position.sheet(1)


def test_an_opponent_s_200_does_not_spoil_the_safe_trip() -> None:
    """Only the own distance pile is looked at (US scoring)."""
    position = Position().km(1, 400, two_hundreds=2).finish_trip(0)
    assert position.sheet(0)["safe_trip"] == 300


def test_a_trip_not_completed_is_no_safe_trip() -> None:
    """However long it was, without a 200 (E40)."""
    assert Position().km(0, 675).run_out().sheet(0) == {"distance": 675}


@each(
    ("players", "others", "bonus"),
    [
        *((2, (0,), 500), (2, (25,), 0), (4, (0,), 500), (4, (25,), 0)),
        *((3, (0, 0), 500), (3, (0, 25), 0), (3, (25, 0), 0), (3, (25, 25), 0), (6, (0, 0), 500)),
    ],
)
def test_a_shut_out_is_500_once(players: int, others: tuple[int, ...], bonus: int) -> None:
    """To the winner if all opponents are without a distance card, however many they are (E42; rules 1.5)."""
    position = Position(players=players)
    for team, km in enumerate(others, 1):
        position.km(team, km)
    position.finish_trip(0)
    assert position.sheet(0).get("shutout", 0) == bonus
    assert all("shutout" not in position.sheet(team) for team in range(1, len(others) + 1))


def test_no_shut_out_without_a_winner() -> None:
    """A team that does not arrive has shut nobody out (US scoring; E42)."""
    assert Position().km(0, 600).run_out().points() == [600, 0]


def test_a_round_with_everything() -> None:
    """All lines add up: 700, four safeties as coups, and every bonus of the short trip (US scoring)."""
    position = Position().safety(0, *SAFETIES, coup=True).draw_pile(0).finish_trip(0)
    assert position.sheet(0) == {
        "distance": 700,
        "safeties": 400,
        "all_safeties": 300,
        "coups_fourres": 1200,
        "trip_completed": 400,
        "delayed_action": 300,
        "safe_trip": 300,
        "shutout": 500,
    }
    assert position.points() == [4100, 0]


@each(("km", "winner"), [((300, 200, 0), 0), ((0, 25, 50), 2), ((50, 75, 75), None)])
def test_the_round_goes_to_the_side_with_most_points(km: tuple[int, ...], winner: int | None) -> None:
    """Points decide, not the arrival; two who share the lead share the round (US scoring)."""
    position = Position(players=3)
    for team, length in enumerate(km):
        position.km(team, length)
    assert position.run_out().round_winner() == winner


def test_the_loser_of_the_race_may_win_the_round() -> None:
    """700 + 400 against 675 + 700 + 1200 (US scoring)."""
    position = Position().km(0, 200, two_hundreds=1).km(1, 675).safety(1, *SAFETIES, coup=True).finish_trip(0)
    assert position.points() == [1100, 2575]
    assert (position.winner, position.round_winner()) == (0, 1)
