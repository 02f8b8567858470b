"""A shared first place: who has won, and who has lost (rules 1.4; E53)."""

from __future__ import annotations

from millebornes_env.games.millebornes.winning import has_won_match, has_won_round
from tests.each import each
from tests.support import SAFETIES, Position

WITHOUT_POINTS = ("dujardin", "dujardin_2014")
without_points = each("name", WITHOUT_POINTS)


def at(name: str, km: tuple[int, ...], **rules: int) -> Position:
    """One seat for each team, so far along."""
    position = Position(players=len(km), edition=name, teams=len(km), **rules)
    for team, length in enumerate(km):
        position.km(team, length)
    return position


def round_winners(position: Position) -> list[int]:
    teams = range(position.rules.teams)
    return [team for team in teams if has_won_round(position.state, position.record, team)]


def match_winners(position: Position) -> list[int]:
    teams = range(position.rules.teams)
    return [team for team in teams if has_won_match(position.state, position.record, team)]


@without_points
@each(
    ("km", "winners"),
    [
        ((900, 900, 100), [0, 1]),
        ((100, 900, 900), [1, 2]),
        ((900, 100, 900), [0, 2]),
        ((900, 875, 100), [0]),
        ((500, 500, 500), [0, 1, 2]),
        ((500, 500), [0, 1]),
        ((25, 700, 700, 0), [1, 2]),
        ((700, 25, 700, 700), [0, 2, 3]),
        ((0, 0, 0, 0), [0, 1, 2, 3]),
    ],
)
def test_those_equally_near_share_the_win(name: str, km: tuple[int, ...], winners: list[int]) -> None:
    """The others have lost; a match is one round (rules 1.4; E53)."""
    position = at(name, km).run_out()
    assert round_winners(position) == match_winners(position) == winners
    alone = winners[0] if len(winners) == 1 else None
    assert (position.round_winner(), position.match_winner()) == (alone, alone)


@without_points
@each(("decide", "winners"), [(0, [0, 1, 2]), (1, [1, 2])])
def test_more_safeties_decide_who_shares(name: str, decide: int, winners: list[int]) -> None:
    """Even if safeties break ties, equal km with equal safeties are shared (E53)."""
    position = at(name, (500, 500, 500, 475), safeties_break_tie=decide)
    position.safety(1, "extra_tank").safety(2, "driving_ace").safety(3, "right_of_way", "puncture_proof")
    assert round_winners(position.run_out()) == winners


@without_points
def test_who_completes_the_trip_shares_with_nobody(name: str) -> None:
    """Others may be near, and have more safeties (001:32; E53)."""
    position = at(name, (500, 0, 500), safeties_break_tie=1).safety(0, *SAFETIES).finish_trip(1)
    assert round_winners(position) == match_winners(position) == [1]


@each(("km", "winners"), [((300, 300, 100), [0, 1]), ((300, 100, 0), [0]), ((0, 0, 0), [0, 1, 2])])
def test_a_round_with_points_is_shared_by_equal_points(km: tuple[int, ...], winners: list[int]) -> None:
    """The round, not the match, which goes on (rules 1.5; E52)."""
    position = at("parker", km).run_out()
    assert round_winners(position) == winners
    assert match_winners(position) == []


def test_a_match_with_points_is_never_shared() -> None:
    """Equal totals at the goal ask for another round (E52)."""
    for totals, winners in (((4700, 4700, 4900), []), ((4725, 4600, 4900), [0]), ((0, 0, 0), [])):
        position = at("parker", (300, 300, 100))
        for team, total in enumerate(totals):
            position.state.score[team] = total
        assert match_winners(position.run_out()) == winners
