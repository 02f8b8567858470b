"""The analysis of a tournament: all reported figures, computed from the outcomes of its lineups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from millebornes_env.arena.behaviour import behaviour, counted_in, counts_of
from millebornes_env.arena.estimates import (
    Measure,
    Payoff,
    Total,
    VarianceReduction,
    luck_reduction,
    payoff_matrix,
    played,
    totals,
    variance_reduction,
)
from millebornes_env.arena.match_config import plural
from millebornes_env.arena.outcome import Lineup, Outcome
from millebornes_env.arena.ratings import REPLICATES, AlphaRank, Ratings, alpha_rank, cycles, ratings
from millebornes_env.arena.statistics import Statistic
from millebornes_env.arena.tournament import Tournament
from millebornes_env.games.registry import game as find_game


@dataclass(frozen=True)
class Analysis:
    """All reported figures of a tournament; agents are numbered as in `names`.

    Attributes:
        names: of the agents.
        payoff: every agent against every other.
        totals: every agent against the field.
        ratings: Elo points.
        alpha: alpha-rank masses.
        cycles: triples of agents that beat each other in a cycle.
        behaviour: the statistics of each agent, by key.
        statistics: the statistics, in table order.
        variance_reductions: variance reduction by duplicate deals, by lineup; empty for plain deals.
        luck_reductions: further reduction by AIVAT, by lineup; empty without AIVAT.
        faults: lineups that could not be completed, with the fault.
        episodes: word for the episodes, in the plural.
        rounds: word for the rounds, in the plural.
        plain: True for plain deals.
    """

    names: tuple[str, ...]
    payoff: Payoff
    totals: list[Total]
    ratings: Ratings
    alpha: AlphaRank
    cycles: list[tuple[int, int, int]]
    behaviour: list[dict[str, float | None]]
    statistics: tuple[Statistic, ...]
    variance_reductions: dict[Lineup, VarianceReduction]
    luck_reductions: dict[Lineup, VarianceReduction]
    faults: list[tuple[Lineup, str]]
    episodes: str = "episodes"
    rounds: str = "rounds"
    plain: bool = False


def analyse_tournament(tournament: Tournament, anchor: str | None = None) -> Analysis:
    """Analyse the games of a tournament.

    Args:
        tournament: the tournament, complete or not.
        anchor: name of the agent whose rating is 0; None: the mean is 0.
    """
    match = tournament.config.match
    return analyse(
        tournament.names,
        [tournament.outcomes[lineup] for lineup in sorted(tournament.outcomes)],
        anchor=None if anchor is None else tournament.names.index(anchor),
        seed=match.seed,
        measure="points" if match.has_points else "wins",
        plain=match.plain,
    )


def analyse(
    names: Sequence[str],
    outcomes: Sequence[Outcome],
    *,
    anchor: int | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
    measure: Measure = "points",
    plain: bool = False,
) -> Analysis:
    """Analyse the outcomes of all lineups.

    Args:
        names: unique names of the agents, by number.
        outcomes: outcomes of all lineups.
        anchor: number of the agent whose rating is 0; None: the mean is 0.
        replicates: bootstrap replicates for the ratings' intervals.
        seed: seed of the bootstrap.
        measure: "points", or "wins" for editions without points.
        plain: True if the deals were plain, so that duplicate deals saved nothing.

    Raises:
        ArenaError: there is no such anchor.
    """
    agents, valid = len(names), played(outcomes)
    payoff = payoff_matrix(valid, agents, measure)
    return Analysis(
        names=tuple(names),
        payoff=payoff,
        totals=totals(valid, agents),
        ratings=ratings(valid, agents, anchor=anchor, replicates=replicates, seed=seed),
        alpha=alpha_rank(payoff),
        cycles=cycles(payoff),
        behaviour=[behaviour(counts_of(outcomes, agent)) for agent in range(agents)],
        statistics=tuple(counted_in(outcomes).STATISTICS),
        variance_reductions={
            outcome.lineup: variance_reduction(outcome, measure) for outcome in valid if not plain
        },
        luck_reductions={one.lineup: luck_reduction(one) for one in valid if one.luck is not None},
        faults=[(outcome.lineup, fault) for outcome in outcomes for fault in outcome.faults],
        **_words(outcomes),
        plain=plain,
    )


def _words(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Return the game's own words for episodes and rounds if it has a single kind of episode."""
    kinds = find_game(outcomes[0].game).module().EPISODES if outcomes else ()
    return dict.fromkeys(("episodes", "rounds"), plural(kinds[0])) if len(kinds) == 1 else {}
