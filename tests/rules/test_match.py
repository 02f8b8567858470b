"""The match: US, winning the game; rules 1.1, 1.5; ruling E52 (the rest: `editions/test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.support import PLAYERS, Position


def after_round(*points: int) -> Position:
    """Return a match in which the teams have these totals after a round; two teams, or three."""
    position = Position(players=len(points))
    for team, total in enumerate(points):
        position.state.score[team] = total
    return position.run_out()


@each("players", PLAYERS)
def test_the_rounds_of_a_match_are_added_up(players: int) -> None:
    """Each side's total grows by what the round brought it (US, winning the game; rules 1.5)."""
    position = Position(players=players).km(0, 300).km(1, 450).run_out()
    assert position.totals()[:2] == [300, 450]
    position.next_round()
    assert position.totals()[:2] == [300, 450]
    position.empty_hands().km(0, 100).safety(1, "extra_tank").run_out()
    assert position.totals()[:2] == [400, 550]


def test_the_rounds_of_a_match_are_counted_from_0() -> None:
    """Each of them is one more, and the next match begins at 0 again (rules 1.1, 1.5)."""
    position = Position()
    numbers = [int(position.state.round_number)]
    numbers += [int(position.next_round().state.round_number) for _ in range(3)]
    assert numbers == [0, 1, 2, 3]
    position.games.start()
    assert position.state.round_number == 0


@each("total", [5000, 5005, 6000])
def test_who_reaches_5000_wins_the_match(total: int) -> None:
    """As soon as a round has brought a side there (US, winning the game; rules 1.5)."""
    assert after_round(total, 4995).match_winner() == 0
    assert after_round(0, total).match_winner() == 1


def test_below_5000_another_round_is_played() -> None:
    """However far one side leads (US, winning the game; rules 1.5)."""
    assert after_round(4995, 0).match_winner() is None
    assert after_round(0, 0).match_winner() is None


@each(("totals", "winner"), [((5100, 5250), 1), ((5300, 5000), 0), ((5000, 5100, 5200), 2)])
def test_if_several_pass_5000_in_one_round_the_higher_total_wins(
    totals: tuple[int, ...], winner: int
) -> None:
    """Not the one that arrived first or sits first (US, winning the game; E52)."""
    assert after_round(*totals).match_winner() == winner


@each("totals", [(5100, 5100), (5000, 5200, 5200), (5200, 5000, 5200)])
def test_with_equal_highest_totals_another_round_is_played(totals: tuple[int, ...]) -> None:
    """There is no winner until one side leads (E52)."""
    assert after_round(*totals).match_winner() is None


def test_an_equal_total_further_down_does_not_matter() -> None:
    """Only the highest one must be single (E52)."""
    assert after_round(5200, 5100, 5100).match_winner() == 0
    assert after_round(4000, 4000, 5000).match_winner() == 2


@each("players", PLAYERS)
def test_every_round_is_dealt_afresh(players: int) -> None:
    """All cards come back, are shuffled and dealt: bare tables, no discards, six cards (004:5; rules 1.1)."""
    position = Position(players=players, dealt=True)
    first = position.state.deck.tolist()
    position.empty_hands().battle(0, "roll", "stop").speed(1, "speed_limit").km(1, 400, two_hundreds=2)
    position.safety(0, "extra_tank", coup=True).run_out().next_round()
    assert (position.phase, position.winner) == ("play", None)
    for team in range(position.rules.teams):
        assert (position.battle_top(team), position.speed_top(team), position.km_of(team)) == (None, None, 0)
        assert not position.laid(team)
        assert not position.coups(team)
    assert not position.discards
    assert sorted(position.hand_sizes()) == [6] * (players - 1) + [7]
    assert position.state.deck.tolist() != first
    position.check()


def test_a_new_match_begins_without_points() -> None:
    """Points of the match before no longer count (US, winning the game)."""
    position = Position().km(0, 300).run_out()
    position.games.start()
    assert position.totals() == [0, 0]
    assert position.phase == "play"
