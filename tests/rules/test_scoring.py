"""Scoring a round: US, scoring; rules 1.5; rulings E37, E40, E42 (the rest: `editions/test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.support import SAFETIES, Position


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


@each("count", [1, 2, 4])
def test_each_coup_fourre_is_300_more(count: int) -> None:
    """On top of the safety's own 100 (US scoring; rules 1.5)."""
    position = Position().safety(0, *SAFETIES[:count], coup=True).run_out()
    assert position.sheet(0)["coups_fourres"] == 300 * count
    assert position.sheet(0)["safeties"] == 100 * count
    assert position.sheet(1) == {}


def test_an_opponent_s_200_does_not_spoil_the_safe_trip() -> None:
    """Only the own distance pile is looked at (US scoring)."""
    position = Position().km(1, 400, two_hundreds=2).finish_trip(0)
    assert position.sheet(0)["safe_trip"] == 300


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
