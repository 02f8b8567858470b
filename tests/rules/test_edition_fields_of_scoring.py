"""The effect of overriding each field of `Rules` that concerns scoring.

The docstring of a test begins with the field that it is about; `test_edition_fields.py` has the others.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.each import each
from tests.support import SAFETIES, Position


@each(("km", "winner"), [((300, 350, 0), 1), ((300, 300, 0), None)])
def test_count_points(km: tuple[int, ...], winner: int | None) -> None:
    """count_points: with 0 there is no score, and the nearest to the goal wins; two as near share it."""
    position = Position(players=3, count_points=0).safety(0, *SAFETIES)
    for team, length in enumerate(km):
        position.km(team, length)
    position.run_out()
    assert position.points() == [0, 0, 0] == position.totals()
    assert position.round_winner() == winner


@each(("decide", "winner"), [(0, None), (1, 1)])
def test_safeties_break_tie(decide: int, winner: int | None) -> None:
    """safeties_break_tie: with 1 more safeties decide between two as near, never before a kilometre (E53)."""
    rules = {"count_points": 0, "safeties_break_tie": decide}
    position = Position("safeties 1: extra_tank", players=3, **rules).km(0, 300).km(1, 300).run_out()
    assert position.round_winner() == winner == position.match_winner()
    position = Position(players=3, **rules).km(0, 325).km(1, 300).safety(1, *SAFETIES).run_out()
    assert position.round_winner() == 0


def all_safeties(position: Position) -> Position:
    return position.safety(0, *SAFETIES, coup=True).run_out()


def bare_win(position: Position) -> Position:
    return position.draw_pile(0).finish_trip(0)


def extended_win(position: Position) -> Position:
    return position.extended_by(0).finish_trip(0)


@each(
    ("field", "line", "play", "points"),
    [
        ("points_per_safety", "safeties", all_safeties, 4 * 7),
        ("points_all_safeties", "all_safeties", all_safeties, 7),
        ("points_per_coup_fourre", "coups_fourres", all_safeties, 4 * 7),
        ("points_trip_completed", "trip_completed", bare_win, 7),
        ("points_delayed_action", "delayed_action", bare_win, 7),
        ("points_safe_trip", "safe_trip", bare_win, 7),
        ("points_shutout", "shutout", bare_win, 7),
        ("points_extension", "extension", extended_win, 7),
    ],
)
def test_points(field: str, line: str, play: Callable[[Position], Position], points: int) -> None:
    """points_...: what one line of the score sheet brings, and nothing else."""
    usual = play(Position())
    other = play(Position(**{field: 7}))
    assert other.sheet(0)[line] == points != usual.sheet(0)[line]
    assert other.sheet(0) | {line: 0} == usual.sheet(0) | {line: 0}
    assert other.sheet(1) == usual.sheet(1)


def test_points_extension_failed() -> None:
    """points_extension_failed: to each opponent of a caller who does not arrive."""
    position = Position(players=3, points_extension_failed=7).extended_by(1).run_out()
    assert position.points() == [7, 0, 7]


def test_failed_extension_forfeits_bonuses() -> None:
    """failed_extension_forfeits_bonuses: with 1 the caller who fails scores his km and nothing else (E48)."""
    for forfeits, points in ((0, 900 + 400), (1, 900)):
        position = Position(
            "safeties 0: extra_tank!", "safeties 1: driving_ace!", failed_extension_forfeits_bonuses=forfeits
        )
        position.extended_by(0).km(0, 900).km(1, 50).run_out()
        assert position.points() == [points, 50 + 400 + 200]


def test_an_extension_that_succeeds_forfeits_nothing() -> None:
    """failed_extension_forfeits_bonuses: with 1, who completes the longer trip scores as ever (E48)."""
    position = Position("safeties 0: extra_tank", failed_extension_forfeits_bonuses=1).extended_by(0)
    usual = Position("safeties 0: extra_tank").extended_by(0)
    assert position.finish_trip(0).sheet(0) == usual.finish_trip(0).sheet(0)
    assert position.sheet(0)["safeties"] == 100


@each(
    ("km", "points"),
    [
        ((300, 0, 0), [1000, 0, 0]),
        ((300, 200, 0), [500, 500, 0]),
        ((300, 200, 100), [0, 0, 0]),
        ((0, 0, 0), [0, 0, 0]),
    ],
)
def test_shutout_for(km: tuple[int, ...], points: list[int]) -> None:
    """shutout_for: with 1 each team that has distances gets 500 for each blank one, won or not (E42, E43)."""
    position = Position(players=3, shutout_for=1)
    for team, length in enumerate(km):
        position.km(team, length)
    position.run_out()
    assert [position.sheet(team).get("shutout", 0) for team in range(3)] == points


def test_goal() -> None:
    """goal: the total that decides the match, if no other team has as many (E52)."""
    position = Position(goal=600).km(0, 575).run_out()
    assert position.match_winner() is None
    position.next_round().empty_hands().km(0, 25).run_out()
    assert position.match_winner() == 0
    position.next_round().empty_hands().km(1, 600).run_out()
    assert (position.totals(), position.match_winner()) == ([600, 600], None)
