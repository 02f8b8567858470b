"""How agents play: statistics of what they did and what came of it, from the counts of `arena.counters`.

A round is counted once for each team, from its side; an agent's partners play as it does and are counted
with it. Where an agent had several roles or lineups, their counts are added up first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from millebornes_env.arena.counters import ACTION_COUNTS, NUM_COUNTERS, index_of
from millebornes_env.arena.estimates import Int64Array, played, roles_of
from millebornes_env.arena.outcome import Outcome
from millebornes_env.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    FIRST_DISCARD,
    FIRST_FURTHER_HAZARD,
    PASS,
)
from millebornes_env.millebornes.cards import (
    ACCIDENT,
    CARD_NAMES,
    DISTANCE_25,
    DISTANCE_200,
    DRIVING_ACE,
    END_OF_LIMIT,
    NUM_HAZARDS,
    REPAIRS,
    RIGHT_OF_WAY,
    SPEED_LIMIT,
)

COUNT_MEANINGS: Final = {
    "rounds": "rounds played",
    "started": "rounds that a seat of the team began",
    "round_wins": "rounds in which no other team had as many points",
    "round_ties": "rounds won together with others",
    "points": "points of all rounds",
    "points_squared": "squares of the points of each round, added up",
    "trips_completed": "rounds in which the team completed the trip",
    "trips_completed_starting": "of these, rounds that it began",
    "safe_trips": "trips completed without a 200",
    "delayed_actions": "trips completed after the last card was drawn",
    "shutouts": "trips completed with no km laid by any other team",
    "shut_out": "rounds without a km while another team completed the trip",
    "extensions_called": "rounds that the team extended",
    "extensions_won": "of these, trips completed",
    "safeties": "safeties laid, coups fourrés included",
    "coups_fourres": "coups fourrés",
    "all_safeties": "rounds with all safeties laid by the team",
    "two_hundreds": "200s laid",
    "km": "km laid",
    "episodes": "matches or rounds, whichever were the episodes",
    "episode_wins": "episodes won alone",
    "episodes_started": "episodes whose first round the team began",
    "episodes_won_starting": "of these, won alone",
    "points_starting": "points of the rounds that the team began",
    "round_wins_starting": "rounds won that the team began",
    "empty_pile_rounds": "rounds in which the last card was drawn",
}
"""What each of `arena.counters.ROUND_COUNTS` counts; before them come the actions chosen, by id."""


class Counts:
    """The counts of one agent, by name or by action."""

    def __init__(self, counters: Int64Array) -> None:
        """Hold the counts.

        Args:
            counters: int64[NUM_COUNTERS].
        """
        self._tallies = counters

    def __getitem__(self, name: str) -> int:
        return int(self._tallies[index_of(name)])

    def chosen(self, actions: Iterable[int]) -> int:
        """How often one of the actions was chosen."""
        return sum(int(self._tallies[action]) for action in actions)


@dataclass(frozen=True)
class Statistic:
    """One line of a table of behaviour.

    Attributes:
        key: its name in files.
        heading: its name in tables.
        unit: of its values.
        of: from the counts to the value, None where it is undefined (nothing to divide by).
    """

    key: str
    heading: str
    unit: str
    of: Callable[[Counts], float | None]


def counts_of(outcomes: Sequence[Outcome], agent: int) -> Counts:
    """Everything counted of an agent, over all its lineups and roles.

    Args:
        outcomes: of all lineups.
        agent: its number.
    """
    total = np.zeros(NUM_COUNTERS, np.int64)
    for outcome in played(outcomes):
        total += outcome.counters[roles_of(outcome, agent)].sum(axis=0)
    return Counts(total)


def behaviour(counts: Counts) -> dict[str, float | None]:
    """All statistics of an agent.

    Args:
        counts: from `counts_of`.

    Returns:
        Value by key, in the order of `STATISTICS`.
    """
    return {statistic.key: statistic.of(counts) for statistic in STATISTICS}


def hazard_actions(hazards: Iterable[int], opponents: Iterable[int] = range(3)) -> list[int]:
    """The actions that lay one of the hazards against one of the opponents.

    Args:
        hazards: card types.
        opponents: 0 the next team to the left, 1 the second, 2 the third.
    """
    cards = list(hazards)
    return [
        card if opponent == 0 else FIRST_FURTHER_HAZARD + (opponent - 1) * NUM_HAZARDS + card - ACCIDENT
        for opponent in opponents
        for card in cards
    ]


_DISTANCES: Final = range(DISTANCE_25, DISTANCE_200 + 1)
_HAZARDS: Final = range(ACCIDENT, SPEED_LIMIT + 1)
_REMEDIES: Final = range(REPAIRS, END_OF_LIMIT + 1)
_SAFETIES: Final = range(DRIVING_ACE, RIGHT_OF_WAY + 1)
_KINDS: Final = (
    ("distances", _DISTANCES),
    ("hazards", _HAZARDS),
    ("remedies", _REMEDIES),
    ("safeties", _SAFETIES),
)
_TARGETS: Final = ("next_team", "second_team", "third_team")


def _quotient(above: float, below: float, scale: float = 1.0) -> float | None:
    return None if below == 0 else scale * above / below


def _per(key: str, heading: str, unit: str, above: str, below: str, scale: float = 1.0) -> Statistic:
    """One count over another."""
    return Statistic(key, heading, unit, lambda counts: _quotient(counts[above], counts[below], scale))


def _percent(key: str, heading: str, above: str, below: str = "rounds", of: str = "rounds") -> Statistic:
    return _per(key, heading, f"% of {of}", above, below, 100.0)


def _chosen_per_round(key: str, heading: str, actions: Iterable[int], unit: str) -> Statistic:
    listed = tuple(actions)
    return Statistic(
        key,
        heading,
        f"{unit} per round",
        lambda counts: _quotient(counts.chosen(listed), counts["rounds"]),
    )


def _chosen_percent(
    key: str, heading: str, chosen: Iterable[int], offered: Iterable[int], of: str
) -> Statistic:
    taken, all_of_them = tuple(chosen), tuple(offered)
    return Statistic(
        key,
        heading,
        f"% of {of}",
        lambda counts: _quotient(counts.chosen(taken), counts.chosen(all_of_them), 100.0),
    )


def _points_spread(counts: Counts) -> float | None:
    """Standard deviation of the points of a round, with n - 1."""
    rounds, points = counts["rounds"], counts["points"]
    if rounds < 2:
        return None
    # In whole numbers as long as possible: the difference of two large floats would lose the spread.
    return math.sqrt(max(rounds * counts["points_squared"] - points * points, 0) / (rounds * (rounds - 1)))


def _when_not_starting(counts: Counts, total: str, starting: str) -> float | None:
    """The mean of a count over the rounds that another team began."""
    return _quotient(counts[total] - counts[starting], counts["rounds"] - counts["started"])


def _starters_points(counts: Counts) -> float | None:
    """Points per round when starting less those when not."""
    own = _quotient(counts["points_starting"], counts["started"])
    other = _when_not_starting(counts, "points", "points_starting")
    return None if own is None or other is None else own - other


def _trips_not_starting(counts: Counts) -> float | None:
    share = _when_not_starting(counts, "trips_completed", "trips_completed_starting")
    return None if share is None else 100 * share


def _results() -> list[Statistic]:
    """What came of the rounds."""
    return [
        _per("points_per_round", "own points", "points per round", "points", "rounds"),
        Statistic("points_spread", "standard deviation of own points", "points", _points_spread),
        _percent("rounds_won", "rounds won", "round_wins"),
        _percent("rounds_tied", "rounds tied", "round_ties"),
        _percent("trips_completed", "trip completed", "trips_completed"),
        _per("km_per_round", "distance", "km per round", "km", "rounds"),
        _percent("safe_trips", "safe trip", "safe_trips"),
        _percent("delayed_actions", "delayed action", "delayed_actions"),
        _percent("shutouts", "shut-out achieved", "shutouts"),
        _percent("shut_out", "shut out by another", "shut_out"),
        _percent("all_safeties", "all safeties", "all_safeties"),
        _percent("empty_pile_rounds", "last card drawn", "empty_pile_rounds"),
        _percent("extensions_called", "extension called", "extensions_called"),
        _percent("extensions_won", "extension won", "extensions_won", "extensions_called", "those called"),
    ]


def _play() -> list[Statistic]:
    """What was chosen."""
    return [
        _chosen_per_round("decisions", "decisions", range(ACTION_COUNTS), "decisions"),
        _chosen_percent("extensions_taken", "extension called", [EXTEND], [EXTEND, FINISH], "the offers"),
        _per("safeties_per_round", "safeties", "cards per round", "safeties", "rounds"),
        _per("coups_fourres_per_round", "coups fourrés", "per round", "coups_fourres", "rounds"),
        _chosen_percent(
            "coups_fourres_claimed",
            "coup fourré claimed",
            [CLAIM_COUP_FOURRE],
            [CLAIM_COUP_FOURRE, PASS],
            "the chances",
        ),
        _per("two_hundreds_per_round", "200s", "cards per round", "two_hundreds", "rounds"),
        _chosen_per_round("distances", "distance cards laid", _DISTANCES, "cards"),
        _chosen_per_round("remedies", "remedies laid", _REMEDIES, "cards"),
        _chosen_per_round("hazards", "hazards laid", hazard_actions(_HAZARDS), "cards"),
        *(
            _chosen_per_round(
                f"hazards_{CARD_NAMES[card].lower().replace(' ', '_')}",
                f"{CARD_NAMES[card]} laid",
                hazard_actions([card]),
                "cards",
            )
            for card in _HAZARDS
        ),
        *(
            _chosen_percent(
                f"hazards_on_{target}",
                f"hazards on the {target.replace('_', ' ')} to the left",
                hazard_actions(_HAZARDS, [opponent]),
                hazard_actions(_HAZARDS),
                "hazards laid",
            )
            for opponent, target in enumerate(_TARGETS)
        ),
        _chosen_per_round("discards", "discards", range(FIRST_DISCARD, CLAIM_COUP_FOURRE), "cards"),
        *(
            _chosen_per_round(
                f"discards_{kind}", f"{kind} discarded", (FIRST_DISCARD + card for card in cards), "cards"
            )
            for kind, cards in _KINDS
        ),
    ]


def _episodes() -> list[Statistic]:
    """Whole episodes, and what it is worth to begin."""
    return [
        _per("rounds_per_episode", "rounds in an episode", "rounds", "rounds", "episodes"),
        _percent("episodes_won", "episodes won", "episode_wins", "episodes", "episodes"),
        _percent(
            "episodes_won_starting",
            "episodes won when beginning",
            "episodes_won_starting",
            "episodes_started",
            "episodes begun",
        ),
        Statistic("starters_advantage", "starter's advantage", "points per round", _starters_points),
        _percent(
            "rounds_won_starting",
            "rounds won when starting",
            "round_wins_starting",
            "started",
            "rounds started",
        ),
        _percent(
            "trips_completed_starting",
            "trip completed when starting",
            "trips_completed_starting",
            "started",
            "rounds started",
        ),
        Statistic(
            "trips_completed_not_starting",
            "trip completed when another starts",
            "% of other rounds",
            _trips_not_starting,
        ),
    ]


STATISTICS: Final[tuple[Statistic, ...]] = (*_results(), *_play(), *_episodes())
"""All statistics, in the order of the tables."""
