"""Outcomes that nobody played: written out by hand, or drawn with known strengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.millebornes.counters import NUM_COUNTERS, index_of
from millebornes_env.arena.outcome import Outcome


def outcome_of(
    lineup: tuple[int, ...],
    points: object,
    rounds: object = None,
    luck: npt.NDArray[np.float64] | None = None,
) -> Outcome:
    """The episodes with those points; those who have most share the win, and role 0 always begins."""
    array = np.array(points, np.int32)
    best = array == array.max(axis=2, keepdims=True)
    return Outcome(
        lineup=lineup,
        points=array,
        wins=best / best.sum(axis=2, keepdims=True),
        rounds=np.ones(array.shape[:2], np.int32) if rounds is None else np.array(rounds, np.int32),
        decisions=np.full(array.shape[:2], 100, np.int32),
        first=np.zeros(array.shape[:2], np.int8),
        counters=np.zeros((len(lineup), NUM_COUNTERS), np.int64),
        luck=luck,
    )


def drawn(
    lineup: tuple[int, ...],
    strengths: Sequence[float],
    deals: int,
    rng: np.random.Generator,
    spread_of_deal: float = 100.0,
) -> Outcome:
    """Episodes of 1 round: strength, luck of the place (the same in all rotations), luck of the episode."""
    teams = len(lineup)
    cards = rng.normal(0, spread_of_deal, (deals, teams))
    team_of = (np.arange(teams)[np.newaxis] + np.arange(teams)[:, np.newaxis]) % teams  # [rotation, role]
    points = np.array([strengths[agent] for agent in lineup]) + cards[:, team_of]
    return outcome_of(lineup, np.round(points + rng.normal(0, 50, points.shape)))


def same(one: Outcome, other: Outcome) -> bool:
    """Return True if all arrays of the outcomes are equal."""
    arrays = ("points", "wins", "rounds", "decisions", "first", "counters")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)


def won_by_odds(one: int, other: int, elo: Sequence[float], deals: int, rng: np.random.Generator) -> Outcome:
    """Episodes of two that each are won with the chance of the Bradley-Terry model."""
    chance = 1 / (1 + 10 ** ((elo[other] - elo[one]) / 400))
    won = rng.random((deals, 2)) < chance
    return outcome_of((one, other), np.stack([won, ~won], axis=2))


def with_counters(outcome: Outcome, role: int, **counts: int) -> Outcome:
    """The same with some counts of a role."""
    for name, count in counts.items():
        outcome.counters[role, index_of(name)] = count
    return outcome
