"""Points, wins and variance reductions by hand, and the laws that hold for every sample."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from millebornes_env.arena.estimates import (
    corrected,
    luck_reduction,
    pair_shares,
    payoff_matrix,
    totals,
    variance_reduction,
)
from millebornes_env.arena.outcome import Outcome
from tests.arena.simulated import drawn, outcome_of

TWO_DEALS = outcome_of((0, 1), [[[300, 100], [200, 200]], [[0, 100], [500, 100]]], [[1, 1], [2, 4]])


def all_pairs(agents: int, deals: int, seed: int = 0) -> list[Outcome]:
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, 40, agents)
    return [drawn(lineup, strengths, deals, rng) for lineup in combinations(range(agents), 2)]


def with_luck(outcome: Outcome, spread: float, seed: int = 0) -> Outcome:
    """The same with luck that was counted, of that many points."""
    luck = np.random.default_rng(seed).normal(0, spread, outcome.points.shape)
    return outcome_of(outcome.lineup, np.round(outcome.points + luck), luck=luck)


def test_points_per_round_are_the_sum_of_points_over_the_sum_of_rounds() -> None:
    # Differences by deal: 200 + 0 in 2 rounds, -100 + 400 in 6; 500 / 8 = 62.5.
    payoff = payoff_matrix([TWO_DEALS], 2)
    assert payoff.points[0, 1] == 62.5
    # Residuals 200 - 2 * 62.5 = 75 and -75; standard error sqrt(2 / 1 * 2 * 75 ** 2) / 8.
    assert payoff.points_high[0, 1] == pytest.approx(62.5 + 1.96 * 150 / 8)
    assert payoff.lead_half[0, 1] == pytest.approx(1.96 * 150 / 8)
    assert payoff.wins[0, 1] == 0.625  # 1, 1/2, 0, 1
    assert (payoff.deals[1, 0], payoff.episodes[1, 0], payoff.rounds[1, 0]) == (2, 4, 8)


@pytest.mark.parametrize("seed", range(5))
def test_the_matrix_is_antisymmetric_to_the_last_bit(seed: int) -> None:
    payoff = payoff_matrix(all_pairs(5, 37, seed), 5)
    off = ~np.eye(5, dtype=bool)
    assert (payoff.points == -payoff.points.T)[off].all()
    assert (payoff.points_low == -payoff.points_high.T)[off].all()
    assert (payoff.wins + payoff.wins.T == 1)[off].all()
    assert (payoff.wins_low + payoff.wins_high.T == 1)[off].all()
    assert np.isnan(payoff.points[~off]).all()


def test_one_deal_has_no_interval() -> None:
    payoff = payoff_matrix([outcome_of((0, 1), [[[300, 100], [200, 200]]])], 2)
    assert payoff.points[0, 1] == 100
    assert np.isnan(payoff.points_low[0, 1])
    assert (payoff.wins_low[0, 1], payoff.wins_high[0, 1]) == (0, 1)


def test_who_has_not_met_has_no_value() -> None:
    payoff = payoff_matrix([TWO_DEALS], 3)
    assert np.isnan(payoff.points[0, 2])
    assert np.isnan(payoff.wins[2, 1])
    assert payoff.met.tolist() == [[False, True, False], [True, False, False], [False, False, False]]


def test_winning_all_is_not_certain() -> None:
    payoff = payoff_matrix([outcome_of((0, 1), np.tile([200, 0], (50, 2, 1)))], 2)
    assert payoff.wins[0, 1] == payoff.wins_high[0, 1] == 1
    assert payoff.wins_low[0, 1] == pytest.approx(0.025 ** (1 / 50))
    assert payoff.wins_high[1, 0] == pytest.approx(1 - 0.025 ** (1 / 50))


def test_faulty_lineups_are_left_out() -> None:
    payoff = payoff_matrix([TWO_DEALS, Outcome.faulty((0, 2), "raised")], 3)
    assert not payoff.met[0, 2]
    assert payoff.points[0, 1] == 62.5
    assert totals([Outcome.faulty((0, 1), "raised")], 2)[0].points is None


def test_at_a_table_of_three_the_better_of_two_wins_and_equals_share() -> None:
    outcome = outcome_of((0, 1, 2), [[[5, 1, 9], [5, 5, 0], [1, 2, 3]]])
    assert pair_shares(outcome, 0, 1).tolist() == [[1, 0.5, 0]]
    assert pair_shares(outcome, 2, 0).tolist() == [[1, 0, 1]]
    assert payoff_matrix([outcome], 3).points[0, 1] == (4 + 0 - 1) / 3


def test_where_no_points_are_counted_the_win_tells_who_was_better() -> None:
    outcome = outcome_of((0, 1, 2), np.zeros((1, 3, 3)))
    outcome.wins[0] = [[0, 1, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]
    assert pair_shares(outcome, 0, 1).tolist() == [[0, 0.5, 0.5]]
    assert pair_shares(outcome, 0, 2).tolist() == [[0.5, 1, 0.5]]
    assert pair_shares(outcome, 2, 1).tolist() == [[0, 0, 0.5]]


def test_a_sole_winner_wins_against_all_whatever_their_points() -> None:
    """The inner track ridden to its end wins the race, also with fewer jerseys (wielerspel.md)."""
    outcome = outcome_of((0, 1, 2), [[[1, 2, 0]] * 3])
    outcome.wins[0] = [1, 0, 0]
    assert pair_shares(outcome, 0, 1).tolist() == pair_shares(outcome, 0, 2).tolist() == [[1, 1, 1]]
    assert pair_shares(outcome, 1, 2).tolist() == [[1, 1, 1]]


def test_several_roles_of_an_agent_are_averaged() -> None:
    outcome = outcome_of((0, 0, 1), [[[6, 2, 3], [0, 0, 3], [8, 8, 8]]])
    # Its means are 4, 0 and 8.
    assert payoff_matrix([outcome], 2).points[0, 1] == (1 - 3 + 0) / 3
    assert pair_shares(outcome, 0, 1).tolist() == [[0.5, 0, 0.5]]
    assert pair_shares(outcome, 1, 0).tolist() == [[0.5, 1, 0.5]]


def test_lineups_that_share_deals_do_not_count_twice() -> None:
    # The same play at two tables tells no more than at one: half as many deals would be claimed as 2 * n.
    rng = np.random.default_rng(3)
    once = drawn((0, 1, 2), (0, 0, 0), 100, rng)
    again = replace(once, lineup=(0, 1, 3))
    both, one = payoff_matrix([once, again], 4), payoff_matrix([once], 4)
    assert both.points[0, 1] == pytest.approx(one.points[0, 1])
    assert both.lead_half[0, 1] == pytest.approx(one.lead_half[0, 1])


def test_intervals_of_points_cover() -> None:
    rng = np.random.default_rng(11)
    inside = 0
    for _ in range(200):
        payoff = payoff_matrix([drawn((0, 1), (30, 0), 60, rng)], 2)
        inside += bool(payoff.points_low[0, 1] <= 30 <= payoff.points_high[0, 1])
    assert 0.90 <= inside / 200 <= 0.99


def test_totals_weigh_every_lineup_the_same() -> None:
    near = outcome_of((0, 1), np.tile([10, 0], (90, 2, 1)))
    far = outcome_of((0, 2), np.tile([0, 30], (10, 2, 1)))
    total = totals([near, far], 3)[0]
    assert total.points.mean == pytest.approx(-10)
    assert total.wins.mean == pytest.approx(0.5)
    assert (total.even, total.deals, total.episodes, total.rounds) == (0.5, 100, 200, 200)


def test_totals_at_a_table_of_three_are_against_the_mean_of_the_others() -> None:
    outcome = outcome_of((0, 1, 2), [[[9, 0, 3]] * 3] * 2)
    points = [total.points.mean for total in totals([outcome], 3) if total.points is not None]
    assert points == [7.5, -6, -1.5]
    assert totals([outcome], 3)[0].even == pytest.approx(1 / 3)


def test_variance_reduction_by_hand() -> None:
    # d = [[200, 0], [-100, 400]]: variances by rotation 45,000 and 80,000; of the means (100, 150) 1,250.
    result = variance_reduction(TWO_DEALS)
    assert result.plain_variance == (45_000 + 80_000) / 2 / 2
    assert result.variance == 1_250
    assert result.ratio == 25


def test_duplicate_deals_of_identical_agents_end_exactly_even() -> None:
    rng = np.random.default_rng(2)
    seats = rng.integers(0, 900, (40, 1, 2))
    # Who sits in a team scores what its cards give: role i of rotation r is in team (i + r) % 2.
    outcome = outcome_of((0, 1), np.concatenate([seats, seats[:, :, ::-1]], axis=1))
    payoff = payoff_matrix([outcome], 2)
    assert (payoff.points[0, 1], payoff.points_low[0, 1], payoff.points_high[0, 1]) == (0, 0, 0)
    assert payoff.wins[0, 1] == 0.5
    result = variance_reduction(outcome)
    assert result.ratio is None
    assert result.variance == 0
    assert result.note == "all deals were tied"


def test_variance_reduction_is_what_the_cards_of_the_deal_were() -> None:
    rng = np.random.default_rng(4)
    # Difference of an episode: 2 * 100 ** 2 of the cards + 2 * 50 ** 2; the cards cancel.
    result = variance_reduction(drawn((0, 1), (50, 0), 20_000, rng))
    assert result.ratio == pytest.approx(5, rel=0.05)
    plain = variance_reduction(drawn((0, 1), (50, 0), 20_000, rng, spread_of_deal=0.0))
    assert plain.ratio == pytest.approx(1, abs=0.03)


def test_taking_luck_off_moves_no_mean_and_narrows() -> None:
    base = drawn((0, 1), (20, 0), 4000, np.random.default_rng(6))
    played = with_luck(base, 60.0, seed=7)
    left = corrected(played).points_per_round()
    assert left.mean == pytest.approx(payoff_matrix([base], 2).points[0, 1], abs=0.5)  # rounded points
    assert luck_reduction(played).ratio == pytest.approx(1 + 60**2 / 50**2, rel=0.1)
    assert luck_reduction(replace(played, luck=-played.luck)).ratio < 1  # type: ignore[operator]
    assert payoff_matrix([played], 2).points[0, 1] == pytest.approx(left.mean)


def test_rounding_errors_of_equal_agents_are_no_result() -> None:
    rng = np.random.default_rng(8)
    scores = rng.integers(0, 900, (40, 3)) + rng.normal(0, 50, (40, 3))
    turned = np.stack([np.roll(scores, -turn, axis=1) for turn in range(3)], axis=1)
    equal = outcome_of((0, 1, 2), np.zeros((40, 3, 3)), luck=-turned)
    for one, other in combinations(range(3), 2):
        assert not payoff_matrix([equal], 3).beats[one, other]
    left = corrected(equal).points_per_round()
    assert (left.mean, left.half_width) == (0, 0)
    whole = np.round(turned)
    result = luck_reduction(outcome_of((0, 1, 2), whole, luck=whole - turned))
    assert (result.ratio, result.note) == (None, "all deals ended with the same result")
