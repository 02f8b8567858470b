"""The arena's counts for Mille Bornes, by role: every action, and the results of the rounds.

A round is counted once for each team. Partners share a role and are counted together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.statistics import (
    Counts,
    Statistic,
    chosen_per,
    chosen_percent,
    per,
    percent,
    quotient,
)
from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    FIRST_DISCARD,
    FIRST_FURTHER_HAZARD,
    PASS,
    around,
)
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    CARD_NAMES,
    DISTANCE_25,
    DISTANCE_200,
    DRIVING_ACE,
    END_OF_LIMIT,
    NUM_HAZARDS,
    NUM_SAFETIES,
    REPAIRS,
    RIGHT_OF_WAY,
    SPEED_LIMIT,
)
from millebornes_env.games.millebornes.motion import team_of
from millebornes_env.games.millebornes.rules import Rules, RulesRecord
from millebornes_env.games.millebornes.scoring import (
    blank_opponents,
    coups_fourres,
    round_score,
    safeties_laid,
)
from millebornes_env.games.millebornes.state import MAX_TEAMS, NO_TEAM, Int8Array, State
from millebornes_env.games.millebornes.winning import has_won_round, round_winner

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

ACTION_COUNTS: Final = FIRST_FURTHER_HAZARD + NUM_HAZARDS * (MAX_TEAMS - 2)
"""Number of actions: the first counts are the actions, by id."""

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
"""Names and meanings of the counts after the actions: each a number of rounds, or a sum over rounds."""

ROUND_COUNTS: Final = tuple(COUNT_MEANINGS)
NUM_COUNTERS: Final = ACTION_COUNTS + len(ROUND_COUNTS)


def index_of(name: str) -> int:
    """Return the index of a count in the counters."""
    return ACTION_COUNTS + ROUND_COUNTS.index(name)


(
    _ROUNDS,
    _STARTED,
    _ROUND_WINS,
    _ROUND_TIES,
    _POINTS,
    _POINTS_SQUARED,
    _TRIPS,
    _TRIPS_STARTING,
    _SAFE_TRIPS,
    _DELAYED,
    _SHUTOUTS,
    _SHUT_OUT,
    _CALLED,
    _WON,
    _SAFETIES,
    _COUPS,
    _ALL_SAFETIES,
    _TWO_HUNDREDS,
    _KM,
    _EPISODES,
    _EPISODE_WINS,
    _EPISODES_STARTED,
    _EPISODES_WON_STARTING,
    _POINTS_STARTING,
    _ROUND_WINS_STARTING,
    _EMPTY_PILE,
) = (index_of(name) for name in ROUND_COUNTS)


@rule
def count_action(
    state: State, rules: RulesRecord, action: int, role_of: Int8Array, counters: Int64Array
) -> None:
    """Count one action of a role."""
    counters[int(role_of[team_of(rules, int(state.seat))]), action] += 1


@seldom
def count_round(state: State, rules: RulesRecord, role_of: Int8Array, counters: Int64Array) -> None:
    """Count a finished and scored round for each team."""
    starter = team_of(rules, around(int(state.dealer) + 1, rules.players))
    best = round_winner(state, rules)
    for team in range(rules.teams):
        row = counters[int(role_of[team])]
        points = round_score(state, team)
        row[_ROUNDS] += 1
        row[_POINTS] += points
        row[_POINTS_SQUARED] += points * points
        row[_ROUND_WINS] += 1 if best == team else 0
        row[_ROUND_TIES] += 1 if best == NO_TEAM and has_won_round(state, rules, team) else 0
        row[_EMPTY_PILE] += 1 if int(state.draw_pile) == 0 else 0
        count_deeds(state, rules, team, row)
        if team == starter:
            row[_STARTED] += 1
            row[_POINTS_STARTING] += points
            row[_ROUND_WINS_STARTING] += 1 if best == team else 0
            row[_TRIPS_STARTING] += 1 if int(state.winner) == team else 0


@rule
def count_deeds(state: State, rules: RulesRecord, team: int, row: Int64Array) -> None:
    """Count the achievements of a team in the round."""
    won, caller = int(state.winner) == team, int(state.extension_team) == team
    blank = blank_opponents(state, rules, team)
    row[_TRIPS] += 1 if won else 0
    row[_SAFE_TRIPS] += 1 if won and int(state.tableau[team, DISTANCE_200]) == 0 else 0
    row[_DELAYED] += 1 if won and int(state.draw_pile) == 0 else 0
    row[_SHUTOUTS] += 1 if won and blank == rules.teams - 1 else 0
    row[_SHUT_OUT] += 1 if int(state.winner) != NO_TEAM and int(state.km[team]) == 0 else 0
    row[_CALLED] += 1 if caller else 0
    row[_WON] += 1 if caller and won else 0
    row[_SAFETIES] += safeties_laid(state, team)
    row[_COUPS] += coups_fourres(state, team)
    row[_ALL_SAFETIES] += 1 if safeties_laid(state, team) == NUM_SAFETIES else 0
    row[_TWO_HUNDREDS] += int(state.tableau[team, DISTANCE_200])
    row[_KM] += int(state.km[team])


@seldom
def count_episode(rules: RulesRecord, first: int, shares: Float64Array, counters: Int64Array) -> None:
    """Count a finished episode: the role that began it, and the sole winner, if any."""
    for role in range(rules.teams):
        counters[role, _EPISODES] += 1
        counters[role, _EPISODE_WINS] += 1 if shares[role] == 1.0 else 0
    counters[first, _EPISODES_STARTED] += 1
    counters[first, _EPISODES_WON_STARTING] += 1 if shares[first] == 1.0 else 0


def part_played(points: npt.NDArray[np.int32], rules: Rules) -> Float64Array:
    """Return the fraction of each match played: the leader's points over the goal."""
    parts: Float64Array = np.clip(points.max(axis=1) / rules.goal, 0.0, 0.99)
    return parts


# Statistics -----------------------------------------------------------------------------------------------


def hazard_actions(hazards: Iterable[int], opponents: Iterable[int] = range(3)) -> list[int]:
    """Return the actions that lay one of the hazards on one of the opponents (0: next to the left)."""
    cards = list(hazards)
    return [
        card if opponent == 0 else FIRST_FURTHER_HAZARD + (opponent - 1) * NUM_HAZARDS + card - ACCIDENT
        for opponent in opponents
        for card in cards
    ]


_DISTANCE_CARDS: Final = range(DISTANCE_25, DISTANCE_200 + 1)
_HAZARD_CARDS: Final = range(ACCIDENT, SPEED_LIMIT + 1)
_REMEDY_CARDS: Final = range(REPAIRS, END_OF_LIMIT + 1)
_SAFETY_CARDS: Final = range(DRIVING_ACE, RIGHT_OF_WAY + 1)
_KINDS: Final = (
    ("distances", _DISTANCE_CARDS),
    ("hazards", _HAZARD_CARDS),
    ("remedies", _REMEDY_CARDS),
    ("safeties", _SAFETY_CARDS),
)
_TARGETS: Final = ("next_team", "second_team", "third_team")


def _chosen_per_round(key: str, heading: str, actions: Iterable[int], unit: str) -> Statistic:
    return chosen_per(key, heading, f"{unit} per round", actions, "rounds")


def _points_spread(counts: Counts) -> float | None:
    """Return the standard deviation of a round's points (with n - 1)."""
    rounds, points = counts["rounds"], counts["points"]
    if rounds < 2:
        return None
    # In whole numbers as long as possible: the difference of two large floats would lose the spread.
    return math.sqrt(max(rounds * counts["points_squared"] - points * points, 0) / (rounds * (rounds - 1)))


def _when_not_starting(counts: Counts, total: str, starting: str) -> float | None:
    """Return the mean of a count over the rounds that another team began."""
    return quotient(counts[total] - counts[starting], counts["rounds"] - counts["started"])


def _starters_points(counts: Counts) -> float | None:
    """Return points per round when starting minus points per round when not starting."""
    own = quotient(counts["points_starting"], counts["started"])
    other = _when_not_starting(counts, "points", "points_starting")
    return None if own is None or other is None else own - other


def _trips_not_starting(counts: Counts) -> float | None:
    share = _when_not_starting(counts, "trips_completed", "trips_completed_starting")
    return None if share is None else 100 * share


STATISTICS: Final[tuple[Statistic, ...]] = (
    # Results
    per("points_per_round", "own points", "points per round", "points", "rounds"),
    Statistic("points_spread", "standard deviation of own points", "points", _points_spread),
    percent("rounds_won", "rounds won", "round_wins"),
    percent("rounds_tied", "rounds tied", "round_ties"),
    percent("trips_completed", "trip completed", "trips_completed"),
    per("km_per_round", "distance", "km per round", "km", "rounds"),
    percent("safe_trips", "safe trip", "safe_trips"),
    percent("delayed_actions", "delayed action", "delayed_actions"),
    percent("shutouts", "shut-out achieved", "shutouts"),
    percent("shut_out", "shut out by another", "shut_out"),
    percent("all_safeties", "all safeties", "all_safeties"),
    percent("empty_pile_rounds", "last card drawn", "empty_pile_rounds"),
    percent("extensions_called", "extension called", "extensions_called"),
    percent("extensions_won", "extension won", "extensions_won", "extensions_called", "those called"),
    # Choices
    _chosen_per_round("decisions", "decisions", range(ACTION_COUNTS), "decisions"),
    chosen_percent("extensions_taken", "extension called", [EXTEND], [EXTEND, FINISH], "the offers"),
    per("safeties_per_round", "safeties", "cards per round", "safeties", "rounds"),
    per("coups_fourres_per_round", "coups fourrés", "per round", "coups_fourres", "rounds"),
    chosen_percent(
        "coups_fourres_claimed",
        "coup fourré claimed",
        [CLAIM_COUP_FOURRE],
        [CLAIM_COUP_FOURRE, PASS],
        "the chances",
    ),
    per("two_hundreds_per_round", "200s", "cards per round", "two_hundreds", "rounds"),
    _chosen_per_round("distances", "distance cards laid", _DISTANCE_CARDS, "cards"),
    _chosen_per_round("remedies", "remedies laid", _REMEDY_CARDS, "cards"),
    _chosen_per_round("hazards", "hazards laid", hazard_actions(_HAZARD_CARDS), "cards"),
    *(
        _chosen_per_round(
            f"hazards_{CARD_NAMES[card].lower().replace(' ', '_')}",
            f"{CARD_NAMES[card]} laid",
            hazard_actions([card]),
            "cards",
        )
        for card in _HAZARD_CARDS
    ),
    *(
        chosen_percent(
            f"hazards_on_{target}",
            f"hazards on the {target.replace('_', ' ')} to the left",
            hazard_actions(_HAZARD_CARDS, [opponent]),
            hazard_actions(_HAZARD_CARDS),
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
    # Episodes, and starting
    per("rounds_per_episode", "rounds in an episode", "rounds", "rounds", "episodes"),
    percent("episodes_won", "episodes won", "episode_wins", "episodes", "episodes"),
    percent(
        "episodes_won_starting",
        "episodes won when beginning",
        "episodes_won_starting",
        "episodes_started",
        "episodes begun",
    ),
    Statistic("starters_advantage", "starter's advantage", "points per round", _starters_points),
    percent(
        "rounds_won_starting",
        "rounds won when starting",
        "round_wins_starting",
        "started",
        "rounds started",
    ),
    percent(
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
)
"""All statistics, in the order of the tables."""
