"""Estimates from played deals: points and wins of every pair with intervals, and variance reduction.

Outcomes with faults hold no deals and are ignored. A deal number means the same cards in every lineup, so
deals of different lineups are not independent: estimates over several lineups first sum up each deal, and
then take the spread over deals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.intervals import (
    Float64Array,
    Interval,
    mean_of_ratios,
    mean_of_shares,
    ratio_interval,
    share_interval,
    sum_by_deal,
)
from millebornes_env.arena.outcome import Outcome

Int64Array = npt.NDArray[np.int64]
Measure = Literal["points", "wins"]

ROUNDING = 1e-12
"""Variances below this fraction of the plain variance are rounding errors."""

FEWEST_DEALS_TO_COMPARE = 2
"""Fewest deals with a variance."""


@dataclass(frozen=True)
class Payoff:
    """The results of every agent (row) against every other (column); k agents.

    NaN for pairs that have not met, on the diagonal, and for the ends of points after a single deal. With
    three teams or more, the lineups with all third agents are pooled.

    Attributes:
        points: float64[k, k], points per round of the row's team minus the column's; antisymmetric.
        points_low: float64[k, k], lower end of the 95 % interval.
        points_high: float64[k, k], upper end.
        wins: float64[k, k], share of the episodes won, 0 to 1 (`pair_shares`); it and its transpose sum to 1.
        wins_low: float64[k, k], lower end of the 95 % interval.
        wins_high: float64[k, k], upper end.
        deals: int64[k, k], deals with both, counted separately for each lineup.
        episodes: int64[k, k], matches or rounds.
        rounds: int64[k, k].
        measure: "points", or "wins" for editions without points.
    """

    points: Float64Array
    points_low: Float64Array
    points_high: Float64Array
    wins: Float64Array
    wins_low: Float64Array
    wins_high: Float64Array
    deals: Int64Array
    episodes: Int64Array
    rounds: Int64Array
    measure: Measure = "points"

    @property
    def lead(self) -> Float64Array:
        """float64[k, k], lead of the row: points per round, or the share won minus one half."""
        return self.points if self.measure == "points" else self.wins - 0.5

    @property
    def lead_half(self) -> Float64Array:
        """float64[k, k], from the lead to the farther end of its 95 % interval."""
        half: Float64Array
        if self.measure == "points":
            half = (self.points_high - self.points_low) / 2
        else:
            half = np.maximum(self.wins_high - self.wins, self.wins - self.wins_low)
        return half

    @property
    def beats(self) -> npt.NDArray[np.bool_]:
        """bool[k, k], True where the whole 95 % interval of the lead lies above 0."""
        return self.points_low > 0 if self.measure == "points" else self.wins_low > 0.5

    @property
    def met(self) -> npt.NDArray[np.bool_]:
        """bool[k, k], True where the two have played at one table."""
        return self.deals > 0


@dataclass(frozen=True)
class Total:
    """One agent against the field, every lineup weighing the same.

    Attributes:
        agent: number of the agent.
        points: points per round of its team minus the mean of the other agents' teams; None: never played.
        wins: share of the episodes that its team won, 0 to 1; None: never played.
        even: share of the wins among equals, 1 / teams; None: never played.
        deals: number of deals, counted separately for each lineup.
        episodes: number of episodes.
        rounds: number of rounds.
    """

    agent: int
    points: Interval | None
    wins: Interval | None
    even: float | None
    deals: int
    episodes: int
    rounds: int


@dataclass(frozen=True)
class VarianceReduction:
    """Factor of episodes that the plainer method needs for the same precision.

    Attributes:
        ratio: plain_variance / variance; None: undefined, see `note`.
        plain_variance: variance of the plainer estimate for one deal; None: undefined.
        variance: variance of the better estimate for one deal; None: undefined.
        note: explanation of an undefined ratio; else empty.
    """

    ratio: float | None
    plain_variance: float | None
    variance: float | None
    note: str = ""


def payoff_matrix(
    outcomes: Sequence[Outcome],
    agents: int,
    measure: Measure = "points",
) -> Payoff:
    """Estimate every agent against every other, by points less luck if it was measured.

    Args:
        outcomes: outcomes of all lineups.
        agents: number of agents, k.
        measure: "points", or "wins" for editions without points.
    """
    real = {name: np.full((agents, agents), np.nan) for name in _REAL_FIELDS}
    counted = np.zeros((3, agents, agents), np.int64)
    for one, other in combinations(range(agents), 2):
        met = [outcome for outcome in played(outcomes) if {one, other} <= set(outcome.lineup)]
        if not met:
            continue
        differences = [_pair_differences(outcome, one, other) for outcome in met]
        rounds = [outcome.rounds_of_deals() for outcome in met]
        points = ratio_interval(sum_by_deal(differences), sum_by_deal(rounds))
        wins = _pair_wins(met, one, other)
        for name, value in zip(_REAL_FIELDS, (*points, *wins), strict=True):
            real[name][one, other] = np.nan if value is None else value
        counted[:, one, other] = counted[:, other, one] = _counts(met)
    _mirror(real)
    deals, episodes, total_rounds = counted
    return Payoff(**real, deals=deals, episodes=episodes, rounds=total_rounds, measure=measure)


_REAL_FIELDS = ("points", "points_low", "points_high", "wins", "wins_low", "wins_high")


def _mirror(real: dict[str, Float64Array]) -> None:
    """Fill the lower triangles from the upper ones, so that antisymmetry is exact."""
    below = np.tril_indices(len(real["points"]), -1)
    for name, source in (("points", "points"), ("points_low", "points_high"), ("points_high", "points_low")):
        real[name][below] = -real[source].T[below]
    for name, source in (("wins", "wins"), ("wins_low", "wins_high"), ("wins_high", "wins_low")):
        real[name][below] = 1 - real[source].T[below]


def totals(outcomes: Sequence[Outcome], agents: int) -> list[Total]:
    """Estimate every agent against the field, by agent number; arguments as for `payoff_matrix`.

    Averages the means of the lineups: in a pooled mean, close lineups would weigh more as they are played
    longer.
    """
    return [_total(played(outcomes), agent) for agent in range(agents)]


def _total(outcomes: Sequence[Outcome], agent: int) -> Total:
    own = [outcome for outcome in outcomes if agent in outcome.lineup and len(set(outcome.lineup)) > 1]
    if not own:
        return Total(agent, None, None, None, 0, 0, 0)
    differences, wins = [], []
    for outcome in own:
        roles = roles_of(outcome, agent)
        others = [role for role in range(len(outcome.lineup)) if role not in roles]
        differences.append((_differences(outcome, roles, others), outcome.rounds_of_deals()))
        shares = outcome.wins[:, :, roles].mean(axis=(1, 2))
        wins.append((shares, np.ones(len(shares))))
    teams = len(own[0].lineup)
    return Total(agent, mean_of_ratios(differences), mean_of_shares(wins), 1 / teams, *_counts(own))


def half_width(outcome: Outcome, measure: Measure) -> float:
    """Return the widest half-width of the 95 % intervals of a lineup's pairs.

    Args:
        outcome: outcome of one lineup.
        measure: "points" (per round) or "wins" (share of the episodes, 0 to 1).

    Returns:
        Points per round or a share; infinite if there is no interval yet.
    """
    widest = 0.0
    if not played([outcome]):
        return math.inf
    for one, other in combinations(sorted(set(outcome.lineup)), 2):
        if measure == "points":
            differences = _pair_differences(outcome, one, other)
            interval = ratio_interval(differences, outcome.rounds_of_deals())
        else:
            interval = _pair_wins([outcome], one, other)
        widest = max(widest, interval.half_width)
    return widest


# Variance reduction ---------------------------------------------------------------------------------------


def variance_reduction(outcome: Outcome, measure: Measure = "points") -> VarianceReduction:
    """Measure the variance reduction by duplicate deals, compared with plain deals.

    With d[b, r] the points of role 0 minus the mean of the other roles in rotation r of deal b:

        plain variance     = mean over r of var over b of d[b, r], divided by R
        duplicate variance = var over b of (mean over r of d[b, r])
        ratio              = plain variance / duplicate variance

    All variances are with n - 1. The first is that of a mean of R episodes with independent cards. Each
    rotation has its own mean subtracted, because plain deals played in turns from every seat would not suffer
    from the advantage of a seat either.

    Args:
        outcome: outcome of one lineup.
        measure: "points", or "wins": d is then the share of the win.
    """
    if len(outcome.points) < FEWEST_DEALS_TO_COMPARE:
        return VarianceReduction(None, None, None, "fewer than two deals have no spread")
    own = outcome.lead if measure == "points" else outcome.wins[..., 0]
    plain = float(own.var(axis=0, ddof=1).mean()) / own.shape[1]
    variance = float(own.mean(axis=1).var(ddof=1))
    if variance < ROUNDING * plain:  # shares of a third do not add up to 1 exactly
        variance = 0.0
    even = 0.0 if measure == "points" else 1 / len(outcome.lineup)
    is_tied = bool(np.allclose(own.mean(axis=1), even))
    return _ratio_of_variances(
        plain, variance, "all deals were tied" if is_tied else "all deals ended with the same result"
    )


def corrected(outcome: Outcome) -> Outcome:
    """Return the outcome with points as float64, less luck if that was measured.

    Luck has mean 0 however the agents play, so the mean stays the same; a good network reduces the spread.
    """
    if outcome.luck is None:
        return outcome
    points: npt.NDArray[Any] = outcome.points - outcome.luck
    return replace(outcome, points=points, luck=None)


def luck_reduction(outcome: Outcome) -> VarianceReduction:
    """Measure the variance reduction by AIVAT, on top of duplicate deals; below 1 it does harm."""
    if len(outcome.points) < FEWEST_DEALS_TO_COMPARE:
        return VarianceReduction(None, None, None, "fewer than two deals have no spread")
    before, after = (float(one.lead.mean(axis=1).var(ddof=1)) for one in (outcome, corrected(outcome)))
    rounding = ROUNDING * float(outcome.lead.var(axis=0, ddof=1).mean())
    if before <= rounding:
        return VarianceReduction(None, before, after, "all deals ended with the same result")
    after = 0.0 if after < rounding else after
    return _ratio_of_variances(before, after, "the luck of the draw explains every deal")


def _ratio_of_variances(plain: float, better: float, why_zero: str) -> VarianceReduction:
    if better == 0.0:
        return VarianceReduction(None, plain, better, why_zero)
    return VarianceReduction(plain / better, plain, better)


# Parts ----------------------------------------------------------------------------------------------------


def played(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes with deals and without faults."""
    return [outcome for outcome in outcomes if len(outcome.points) and not outcome.faults]


def roles_of(outcome: Outcome, agent: int) -> list[int]:
    """Return the agent's roles in the lineup."""
    return [role for role, number in enumerate(outcome.lineup) if number == agent]


def _pair_differences(outcome: Outcome, one: int, other: int) -> Float64Array:
    """Return float64[B], one agent's points minus another's; those of an agent are the mean of its roles."""
    return _differences(outcome, roles_of(outcome, one), roles_of(outcome, other))


def pair_shares(outcome: Outcome, one: int, other: int) -> Float64Array:
    """Return float64[B, R], the share of each episode that one agent won against another.

    At a table of two teams this is the share of the win. With more teams, the agent with the larger share of
    the win wins against the other; where both have the same (a third team won), the one with more points,
    else each gets one half. With several roles it is the mean over all pairs of roles.
    """
    if len(outcome.lineup) == 2:
        return outcome.wins[:, :, roles_of(outcome, one)[0]]
    pairs = list(product(roles_of(outcome, one), roles_of(outcome, other)))
    shares: Float64Array = np.zeros(outcome.points.shape[:2])
    for role, rival in pairs:
        won = np.sign(outcome.wins[:, :, role] - outcome.wins[:, :, rival])
        ahead = np.sign(outcome.points[:, :, role] - outcome.points[:, :, rival])
        shares += (1 + np.where(won == 0, ahead, won)) / 2
    return shares / len(pairs)


def _pair_wins(outcomes: Sequence[Outcome], one: int, other: int) -> Interval:
    """Return the share of the episodes won with its interval; all deals have equal weight."""
    shares = [pair_shares(outcome, one, other) for outcome in outcomes]
    won = sum_by_deal([share.sum(axis=1) for share in shares])
    episodes = sum_by_deal([np.full(len(share), float(share.shape[1])) for share in shares])
    return share_interval(won / episodes)


def _differences(outcome: Outcome, ours: list[int], theirs: list[int]) -> Float64Array:
    """Return float64[B], points of some roles minus others, less luck, summed over the rotations."""
    points = corrected(outcome).points
    difference = points[:, :, ours].mean(axis=2) - points[:, :, theirs].mean(axis=2)
    total: Float64Array = difference.sum(axis=1)
    return total


def _counts(outcomes: Sequence[Outcome]) -> tuple[int, int, int]:
    """Count the deals, episodes and rounds."""
    return (
        sum(len(outcome.points) for outcome in outcomes),
        sum(outcome.rounds.size for outcome in outcomes),
        sum(int(outcome.rounds.sum()) for outcome in outcomes),
    )
