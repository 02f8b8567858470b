"""Ratings on the Elo scale with bootstrap intervals, cycles, and alpha-rank masses.

The model is Bradley and Terry's: the odds of winning are the ratio of two strengths. It is fitted by `choix`
(I-LSR: Maystre and Grossglauser, "Fast and accurate inference of Plackett-Luce models", NIPS 2015).
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.estimates import Int64Array, Payoff, pair_shares, played
from millebornes_env.arena.intervals import Float64Array
from millebornes_env.arena.outcome import Outcome
from millebornes_env.errors import ArenaError

ELO: Final = 400 / math.log(10)
"""Elo points for a factor of e in the odds: 400 are odds of 10 to 1."""

PRIOR_WINS: Final = 0.5
"""Wins added for every agent over every other (Jeffreys' prior), as if each pair had shared one episode.

Keeps ratings finite if an agent won everything or two agents never met; negligible after hundreds of
episodes.
"""

REPLICATES: Final = 200
_ENDS: Final = (2.5, 97.5)  # percentiles
_MOST_ITERATIONS: Final = 1000  # tens are usual


@dataclass(frozen=True)
class Ratings:
    """Ratings of k agents, in Elo points.

    Attributes:
        elo: float64[k].
        low: float64[k], lower end of the 95 % interval; NaN: unbounded (`open_ends`).
        high: float64[k], upper end; NaN: unbounded.
        groups: int64[k]; ratings of different groups, which never met, cannot be compared.
        anchor: the agent whose rating is 0 by definition; None: the mean of the largest bounded group is 0.
    """

    elo: Float64Array
    low: Float64Array
    high: Float64Array
    groups: Int64Array
    anchor: int | None = None

    def order(self) -> list[int]:
        """Return the agents from the best to the worst; ties by number."""
        return [int(agent) for agent in np.argsort(-self.elo, kind="stable")]

    @property
    def num_groups(self) -> int:
        """Number of groups; 1 if all agents are connected by games."""
        return len(np.unique(self.groups))


@dataclass(frozen=True)
class AlphaRank:
    """Share of the time that an evolving population plays like each agent.

    Attributes:
        masses: float64[k], sum 1; None: not computed, see `note`.
        note: explanation.
    """

    masses: Float64Array | None
    note: str


def ratings(
    outcomes: Sequence[Outcome],
    agents: int,
    *,
    anchor: int | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Ratings:
    """Rate all agents.

    The intervals are percentiles of a bootstrap: deals are resampled, each with all its rotations and in all
    lineups at once (lineups share the cards of a deal), and the prior's wins come from the Gamma distribution
    with their mean, so that a spread of 0 (all won) does not claim certainty.

    Args:
        outcomes: outcomes of all lineups.
        agents: number of agents, k.
        anchor: agent whose rating is 0; None: the mean is 0 over the largest group of agents that beat each
            other, directly or in a cycle (without agents that lost all their games).
        replicates: bootstrap replicates.
        seed: seed of the bootstrap.

    Raises:
        ArenaError: there is no such anchor.
    """
    if anchor is not None and not 0 <= anchor < agents:
        raise ArenaError(f"the anchor is agent {anchor}; there are the agents 0 to {agents - 1}")
    wins = win_matrix(outcomes, agents)
    zero = _bounded_together(wins) if anchor is None else np.array([anchor])
    if anchor is None and len(zero) == 1:
        zero = np.arange(agents)
    elo = _less_mean_of(zero, bradley_terry(wins))
    rng = np.random.default_rng(seed)
    drawn = np.empty((replicates, agents))
    for replicate, resampled in enumerate(_resampled_wins(outcomes, agents, replicates, rng)):
        prior = rng.gamma(PRIOR_WINS, size=(agents, agents))
        drawn[replicate] = _less_mean_of(zero, bradley_terry(resampled, prior, elo))
    low, high = np.percentile(drawn, _ENDS, axis=0)
    without_low, without_high = open_ends(wins, zero)
    low[without_low], high[without_high] = np.nan, np.nan
    if anchor is not None:
        low[anchor] = high[anchor] = 0.0
    return Ratings(elo, low, high, _components(wins + wins.T, "weak"), anchor)


def win_matrix(outcomes: Sequence[Outcome], agents: int) -> Float64Array:
    """Return float64[k, k], the episodes that each agent (row) won against each other (`pair_shares`)."""
    wins = np.zeros(agents * agents)
    for outcome in played(outcomes):
        indices, by_deal = _wins_by_deal(outcome, agents)
        wins[indices] += by_deal.sum(axis=0)
    return wins.reshape(agents, agents)


def bradley_terry(
    wins: Float64Array, prior: Float64Array | float = PRIOR_WINS, start: Float64Array | None = None
) -> Float64Array:
    """Return the Elo ratings for some wins, float64[k] with mean 0.

    Args:
        wins: float64[k, k], wins of each row over each column.
        prior: wins to add, a number or float64[k, k].
        start: float64[k], initial ratings of the search.
    """
    import choix  # noqa: PLC0415 - needed only for ratings

    if len(wins) < 2:
        return np.zeros(len(wins))
    regularised = wins + prior
    np.fill_diagonal(regularised, 0.0)
    strengths = choix.ilsr_pairwise_dense(
        regularised, initial_params=None if start is None else start / ELO, max_iter=_MOST_ITERATIONS
    )
    elo: Float64Array = (strengths - strengths.mean()) * ELO
    return elo


def open_ends(wins: Float64Array, zero: Int64Array) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the agents whose ratings have no lower end, and those without an upper end, both bool[k].

    An agent is bounded below by a chain of wins from it to each agent of the zero (it beat one that beat one
    that ...), and above by a chain from each of these to it. Without such a chain it could be any amount
    weaker, or stronger.

    Args:
        wins: float64[k, k].
        zero: agents whose mean rating is 0.
    """
    chain = (wins > 0) | np.eye(len(wins), dtype=bool)
    for middle in range(len(wins)):
        chain |= chain[:, [middle]] & chain[[middle]]
    without_low: npt.NDArray[np.bool_] = np.logical_not(chain[:, zero].all(axis=1))
    without_high: npt.NDArray[np.bool_] = np.logical_not(chain[zero].all(axis=0))
    return without_low, without_high


def cycles(payoff: Payoff) -> list[tuple[int, int, int]]:
    """Return the triples (a, b, c) of agents that beat each other in a cycle, by whole 95 % intervals.

    Each begins with its lowest number, and they are in order.
    """
    beats = payoff.beats  # False for pairs that have not met
    return [
        (first, second, third)
        for first, *rest in combinations(range(len(beats)), 3)
        for second, third in permutations(rest)
        if beats[first, second] and beats[second, third] and beats[third, first]
    ]


def alpha_rank(payoff: Payoff) -> AlphaRank:
    """Compute the stationary masses of alpha-rank with infinite alpha, by OpenSpiel.

    Infinite alpha uses only who beats whom; differences whose 95 % interval contains 0 are ignored, so that
    noise does not decide. It is meant for tables of two teams; with more, the points of two agents against
    each other in all lineups are taken as a game of two.
    """
    pairs = ~np.eye(len(payoff.points), dtype=bool)
    if not payoff.met[pairs].all():
        return AlphaRank(None, "alpha-rank needs games between all pairs of agents; some have not met")
    try:
        alpharank = importlib.import_module("open_spiel.python.egt.alpharank")
    except ImportError:
        return AlphaRank(None, "alpha-rank needs OpenSpiel: pip install 'millebornes-env[openspiel]'")
    sure = payoff.beats | payoff.beats.T
    table = np.where(sure & pairs, payoff.lead, 0.0)
    masses = np.asarray(alpharank.compute([table], use_inf_alpha=True)[2], np.float64)
    return AlphaRank(
        masses, "alpha-rank: infinite alpha, differences within their 95 % interval count as none"
    )


def _wins_by_deal(outcome: Outcome, agents: int) -> tuple[Int64Array, Float64Array]:
    """Return the wins in a lineup: indices in the flattened matrix, int64[P], and float64[B, P]."""
    indices, wins = [], []
    for one, other in combinations(sorted(set(outcome.lineup)), 2):
        shares = pair_shares(outcome, one, other)
        indices += [one * agents + other, other * agents + one]
        wins += [shares.sum(axis=1), (1 - shares).sum(axis=1)]
    columns = np.stack(wins, axis=1) if wins else np.zeros((len(outcome.points), 0))
    return np.array(indices, np.int64), columns


def _resampled_wins(
    outcomes: Sequence[Outcome], agents: int, replicates: int, rng: np.random.Generator
) -> Float64Array:
    """Return float64[replicates, k, k], the wins of deals sampled with replacement."""
    parts = [_wins_by_deal(outcome, agents) for outcome in played(outcomes)]
    deals = max((len(by_deal) for _, by_deal in parts), default=0)
    resampled = np.zeros((replicates, agents * agents))
    for replicate in range(replicates if deals else 0):
        times = np.bincount(rng.integers(deals, size=deals), minlength=deals).astype(np.float64)
        for indices, by_deal in parts:
            resampled[replicate, indices] += times[: len(by_deal)] @ by_deal
    return resampled.reshape(replicates, agents, agents)


def _bounded_together(wins: Float64Array) -> Int64Array:
    """Return the largest group of agents whose differences are bounded on both sides."""
    groups = _components(wins, "strong")
    return np.flatnonzero(groups == np.bincount(groups).argmax()).astype(np.int64)


def _less_mean_of(zero: Int64Array, elo: Float64Array) -> Float64Array:
    """Shift ratings so that the mean of some agents is 0."""
    shifted: Float64Array = elo - elo[zero].mean()
    return shifted


def _components(matrix: Float64Array, connection: str) -> Int64Array:
    """Return the connected component of each agent; positive entries are edges."""
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - slow to import, comes with choix

    groups: Int64Array = connected_components(matrix > 0, connection=connection)[1].astype(np.int64)
    return groups
