"""Measure the value of a lead in a match, and the gain of a player who uses it.

    python -m research.match_equity            # ten minutes of processor time
    python -m research.match_equity --quick

A match is a chain of rounds. From the points of many rounds of the champion against itself the chance to win
the match follows for every score, going backwards from the goal on a grid of 25 points. Then decisions out
of matches are rolled out: all actions, and those that may be better than the champion's again on more
redeals. One player chooses by points, the other by the chance to win the match, by the same rollouts; each
does what the champion does unless a gain is sure. Where the two differ, fresh redeals say what the second
wins more, so that no choice is judged by the luck that it was made by; that is added up over the decisions
of a match.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.errors import MilleBornesError
from millebornes_env.games.millebornes.actions import FIRST_DISCARD
from millebornes_env.games.millebornes.cards import DRIVING_ACE, RIGHT_OF_WAY
from millebornes_env.games.millebornes.state import EXTENSION, StateArray
from research.frame import OnProgress, Question, main
from research.intervals import over_seeds
from research.parts import Part, Record
from research.pictures import styled
from research.positions import (
    NOTHING,
    BoolArray,
    Decisions,
    Float64Array,
    Player,
    Points,
    RolloutOptions,
    find_decisions,
    player,
    roll_out,
)
from research.tables import Table
from train.common.match_win_prob import equity_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNIT: Final = 25
"""Points between two scores of the table; all points of a round are multiples of it."""
SHOWN: Final = 250
"""Points between two recorded scores."""
MAYBE: Final = 1.0
"""Standard errors above 0 from which a gain is estimated again."""
LOOKING: Final = 8
"""Factor of redeals for the second estimate."""
SURE: Final = 2.0
"""Standard errors above 0 from which a gain replaces the agent's own choice."""
JUDGING: Final = 16
"""Factor of redeals for the value of a choice."""
_ANOTHER_SEED: Final = 1 << 32
KINDS: Final = ("extension or not", "all other decisions")


@dataclass(frozen=True)
class Args(RolloutOptions):
    """Options of the question."""

    edition: str = "parker"
    """rule sheet, one that counts points"""
    deals: int = 20_000
    """deals per seed to estimate the table (two rounds each)"""
    positions: int = 4_000
    """decisions of each kind per seed"""
    redeals: int = 64
    """redeals of each decision for the choice"""


def parts(options: Args) -> list[Part]:
    """Return a part for each seed."""
    config = {
        "edition": options.edition,
        "deals": 500 if options.quick else options.deals,
        **options.rollouts(few=40),
    }
    return [Part(f"seed-{seed}", seed, config) for seed in options.all_seeds]


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Compute the table of a seed, and the gain from using it."""
    config = part.config
    who = player(config["agent"], config["edition"], part.seed)
    rules = who.table.rules
    if rules.count_points == 0:
        raise MilleBornesError(
            f"{config['edition']!r} counts no points: a match is won by rounds, take another sheet"
        )
    law = law_of_rounds(config["agent"], config["edition"], config["deals"], part.seed)
    table = equity_table(law, -(-rules.goal // UNIT))
    count = config["positions"]
    gains = {}
    matches = max(count // 3, 1)
    wanted = (is_extension, lambda states: ~is_extension(states))
    for number, (kind, is_wanted) in enumerate(zip(KINDS, wanted, strict=True)):

        def report(share: float, before: int = number) -> None:
            on_progress((before + share) / len(KINDS))

        result = find_decisions(who, is_wanted, count, matches, part.seed, episode="match")
        gains[kind] = gain_of_knowing(who, result, table, config["redeals"], part.seed, report)
        gains[kind]["decisions_in_a_match"] = result.met / matches
    every = SHOWN // UNIT
    return {
        "table": np.round(table[::every, ::every], 4).tolist(),
        "hundred": np.round(hundred_more(table)[::every, ::every], 5).tolist(),
        "rounds": int(law.sum()),
        "rounds_in_a_match": rounds_in_a_match(law, rules.goal),
        "gains": gains,
    }


# The table --------------------------------------------------------------------------------------------------


def law_of_rounds(agent: str, edition: str, deals: int, seed: int) -> Float64Array:
    """Estimate the joint distribution of points in a round between equal players.

    Args:
        agent: the agent in both seats.
        edition: an edition that counts points.
        deals: number of deals, two rounds each with seats exchanged.
        seed: seed of the deals.

    Returns:
        float64[P, P], symmetric; rows are own points in steps of `UNIT`, columns the other's.
    """
    points = play([agent, agent], MatchConfig(edition, 2, episode="round", seed=seed), deals).points
    steps = np.maximum(np.rint(points.reshape(-1, 2) / UNIT).astype(np.int64), 0)
    size = int(steps.max()) + 1
    law = np.zeros((size, size))
    np.add.at(law, (steps[:, 0], steps[:, 1]), 1.0)
    return law + law.T


def equity_after(
    table: Float64Array, goal: int, own: npt.NDArray[Any], other: npt.NDArray[Any]
) -> Float64Array:
    """Return the probability of winning after a round: from the table, or 0, 0.5 or 1 at the end."""
    last = len(table) - 1
    rows, columns = (np.clip(np.rint(points / UNIT).astype(np.int64), 0, last) for points in (own, other))
    decided = (np.sign(own - other) + 1.0) / 2.0
    chances: Float64Array = np.where((own >= goal) | (other >= goal), decided, table[rows, columns])
    return chances


def hundred_more(table: Float64Array) -> Float64Array:
    """Return the value of 100 more points at each score, in match wins."""
    steps = 100 // UNIT
    return np.vstack([table[steps:], np.ones((steps, len(table)))]) - table


def rounds_in_a_match(law: Float64Array, goal: int) -> float:
    """Return the expected number of rounds of a match from 0 to 0."""
    size, reach = -(-goal // UNIT), len(law)
    chances = law / law.sum()
    left = np.zeros((size + reach, size + reach))
    for own in range(size - 1, -1, -1):
        for other in range(size - 1, -1, -1):
            later = left[own : own + reach, other : other + reach]
            left[own, other] = (1.0 + float((chances * later).sum())) / (1.0 - chances[0, 0])
    return float(left[0, 0])


# The gain ---------------------------------------------------------------------------------------------------


def is_extension(states: StateArray) -> BoolArray:
    """Return True for states in which a seat decides on extending the trip."""
    asked: BoolArray = states["phase"] == EXTENSION
    return asked


def gain_of_knowing(
    who: Player, found: Decisions, table: Float64Array, redeals: int, seed: int, on_progress: OnProgress
) -> dict[str, Any]:
    """Estimate the gain of choosing by the chance to win the match over choosing by points.

    Args:
        who: the player that continues the games, and whose action is the default.
        found: decisions from matches.
        table: result of `train.common.match_win_prob.equity_table`.
        redeals: number of redeals of each decision.
        seed: seed of the redeals.
        on_progress: called with the progress.

    Returns:
        `gain`: mean over all decisions, in match wins; `differ`: share of decisions with different choices.
    """

    def choices(
        found: Decisions, actions: Int64Array, points: Points, z: float
    ) -> tuple[Int64Array, Int64Array]:
        leads = (points[..., 0] - points[..., 1]).astype(np.float64)
        there = actions != NOTHING
        return chosen_by(leads, there, z), chosen_by(equity_of(who, found, table, points), there, z)

    actions = worth_trying(who, found)
    points = roll_out(who, found.states, actions, redeals, seed, on_progress=on_progress)
    first = np.stack(choices(found, actions, points, MAYBE))
    rows = np.flatnonzero((first != 0).any(axis=0))
    maybe, few = found.at(rows), actions[rows]
    three = np.stack([few[:, 0], *(few[np.arange(len(rows)), indices[rows]] for indices in first)], axis=1)
    again = roll_out(who, maybe.states, three, LOOKING * redeals, seed + _ANOTHER_SEED)
    by_points, by_equity = (
        three[np.arange(len(rows)), index] for index in choices(maybe, three, again, SURE)
    )
    differ = np.flatnonzero(by_points != by_equity)
    pairs = np.stack([by_equity[differ], by_points[differ]], axis=1)
    judged = roll_out(who, maybe.at(differ).states, pairs, JUDGING * redeals, seed + 2 * _ANOTHER_SEED)
    chances = equity_of(who, maybe.at(differ), table, judged).mean(axis=2)
    gain = float((chances[:, 0] - chances[:, 1]).sum()) / len(actions)
    return {"gain": gain, "differ": len(differ) / len(actions), "decisions": len(actions)}


def equity_of(who: Player, found: Decisions, table: Float64Array, points: Points) -> Float64Array:
    """Return the probability of winning the match after each rollout, float64[N, A, R]."""
    own, other = (
        found.of(team, "score")[:, np.newaxis, np.newaxis] + points[..., side]
        for side, team in enumerate((found.own, found.other))
    )
    return equity_after(table, who.table.rules.goal, own, other)


def worth_trying(who: Player, found: Decisions) -> Int64Array:
    """Return the agent's own choice and all other legal actions but discards of safeties, int64[N, A]."""
    _, masks = who.shown(found.states)
    masks[:, FIRST_DISCARD + DRIVING_ACE : FIRST_DISCARD + RIGHT_OF_WAY + 1] = 0
    masks[np.arange(len(masks)), found.chosen] = 0
    others = [np.flatnonzero(mask) for mask in masks]
    actions = np.full((len(masks), 1 + max(map(len, others))), NOTHING, np.int64)
    actions[:, 0] = found.chosen
    for row, legal in zip(actions, others, strict=True):
        row[1 : 1 + len(legal)] = legal
    return actions


def chosen_by(values: Float64Array, there: BoolArray, z: float) -> Int64Array:
    """Return the index of the action with the highest significant mean gain over the first one, else 0.

    Args:
        values: float64[N, A, R], on the same redeals.
        there: bool[N, A], True for existing actions.
        z: standard errors by which the gain must exceed 0.
    """
    gains = values - values[:, :1]
    means = gains.mean(axis=2)
    errors = gains.std(axis=2, ddof=1) / np.sqrt(gains.shape[2])
    means = np.where(there & (means > z * errors), means, 0.0)
    best: Int64Array = means.argmax(axis=1)
    return best


# Results ----------------------------------------------------------------------------------------------------


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the tables of win probabilities by score and of gains."""
    results = [record.result for record in records]
    rows = [gains_row(kind, [kind], results) for kind in KINDS]
    rows.append(gains_row("a match", KINDS, results))
    headings = ("decisions", "in a match", "choices differ, %", "matches won more, %")
    title = "Choosing by equity instead of by points, a decision at a time"
    return [table_of_scores(results), Table(headings, rows, title)]


def table_of_scores(results: Sequence[Mapping[str, Any]]) -> Table:
    """Build the table of the win probability and of the value of 100 more points at some scores."""
    chances, hundreds = (np.array([one[name] for one in results]) for name in ("table", "hundred"))
    shown = [(own, 0) for own in (0, 1000, 2000, 3000, 4000)]
    shown += [(2500, 2500), (4500, 4000), (4500, 4500), (0, 4500)]
    rows = []
    for own, other in shown:
        row, column = own // SHOWN, other // SHOWN
        if max(row, column) < chances.shape[1]:
            chance, hundred = (over_seeds(values[:, row, column]) for values in (chances, hundreds))
            rows.append((f"{own:,} : {other:,}", chance.text(".1f", 100), hundred.text("+.2f", 100)))
    rounds = np.mean([one["rounds_in_a_match"] for one in results])
    headings = ("score", "chance to win, %", "100 points more, %")
    return Table(headings, rows, f"Match equity; a match takes {rounds:.2f} rounds")


def gains_row(label: str, kinds: Sequence[str], results: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return a row of gains summed over the decisions of a match."""
    many, differ, gains = (
        np.array([[one["gains"][kind][name] for kind in kinds] for one in results])
        for name in ("decisions_in_a_match", "differ", "gain")
    )
    won = over_seeds((many * gains).sum(axis=1)).text("+.2f", 100)
    return (label, f"{many.sum(axis=1).mean():.1f}", f"{100 * np.average(differ, weights=many):.1f}", won)


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot the win probability and the value of 100 more points, by both scores."""
    results = [record.result for record in records]
    both = figure.subplots(1, 2)
    shown = (("table", "chance to win, %"), ("hundred", "100 points more are worth, % of a match"))
    for axes, (name, title) in zip(both, shown, strict=True):
        values = 100 * np.mean([one[name] for one in results], axis=0)
        last = SHOWN * len(values) - SHOWN // 2
        image = axes.imshow(
            values, origin="lower", cmap="RdYlBu_r" if name == "table" else "YlOrRd",
            extent=(-SHOWN // 2, last, -SHOWN // 2, last),
        )  # fmt: skip
        styled(axes, title, xlabel="the other's points", ylabel="own points")
        axes.grid(visible=False)
        figure.colorbar(image, ax=axes, shrink=0.85)


QUESTION = Question(
    "match_equity",
    "What is a lead worth in a match, and what does a player gain who knows?",
    Args, parts, measure, tables, plot, size=(10.0, 4.5),
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(QUESTION))
