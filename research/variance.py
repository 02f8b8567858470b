"""Measure the number of deals needed for a result, by the way of dealing and of luck correction.

    python -m research.variance
    python -m research.variance --pairs "champion vs strategist" --deals 50_000

Three ways to deal, each with points as they are and with AIVAT:

    plain        every round has its own cards
    same order   both rounds of a deal have the same deck in the same order, and all seats draw from one pile
    streams      both rounds have the same deck, and each seat draws from its own part: an extra turn does
                 not shift the cards of others (as in the arena)

    nothing      points as they are
    AIVAT        minus the value of each drawn card according to the shipped network

No correction changes the expected result, as the table shows.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env.arena.estimates import corrected
from millebornes_env.arena.intervals import NORMAL_QUANTILE, Float64Array
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.arena.outcome import Outcome
from millebornes_env.errors import MilleBornesError, shown
from research.frame import OnProgress, Options, Question, main
from research.intervals import Interval, of_error
from research.parts import Part, Record
from research.pictures import plot_groups, styled
from research.tables import Table
from research.tallies import grouped
from research.watching import CommonPile, play_watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRECISION: Final = 10.0
"""Target standard error, in points per round."""

PLAIN, SAME_ORDER, STREAMS = "plain", "same order", "streams"
CARDS: Final = (PLAIN, SAME_ORDER, STREAMS)
NOTHING, AIVAT = "nothing", "AIVAT"
LUCK: Final = (NOTHING, AIVAT)

_DEALS_PER_BATCH: Final = 2_000
_WARM_UP: Final = 16
_BETWEEN: Final = " vs "


@dataclass(frozen=True)
class Args(Options):
    """The options of the command line."""

    seeds: int = 1
    """number of seeds; intervals are over deals, so more seeds are more deals"""
    pairs: tuple[str, ...] = ("champion vs arnold", "holder:pile=40 vs holder:pile=200")
    """pairs of agents, `A vs B` each"""
    edition: str = "parker"
    """rule sheet, played by two"""
    deals: int = 10_000
    """deals of each pair and way of dealing, two rounds each with seats exchanged"""


def pair_of(text: str) -> tuple[str, str]:
    """Parse the two agents of an option.

    Raises:
        MilleBornesError: the text is not a pair.
    """
    one, result, other = text.partition(_BETWEEN)
    if not (result and one.strip() and other.strip()):
        raise MilleBornesError(f"--pairs {shown(text)} is not a pair, such as 'champion vs arnold'")
    return one.strip(), other.strip()


def parts(options: Args) -> list[Part]:
    """Return a part for each pair, way of dealing and seed.

    Raises:
        MilleBornesError: a pair or the number of deals is invalid.
        ArenaError: the edition counts no points, or there is no value network for its table.
    """
    config = MatchConfig(options.edition, 2, episode="round", aivat=True)
    config.refuse_luck_without_points()
    config.network()
    deals = 200 if options.quick else options.deals
    if deals < _WARM_UP:
        raise MilleBornesError(f"--deals is {deals}; a spread needs {_WARM_UP} or more")
    return [
        Part(
            f"pair{number}-{cards.replace(' ', '-')}-{seed}",
            seed,
            {"pair": list(pair_of(pair)), "cards": cards, "edition": options.edition, "deals": deals},
        )
        for number, pair in enumerate(options.pairs, 1)
        for cards in CARDS
        for seed in options.all_seeds
    ]


# Measuring --------------------------------------------------------------------------------------------------


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Play the pair's deals once with each treatment of luck."""
    config, deals = part.config, int(part.config["deals"])
    plain = MatchConfig(
        config["edition"], 2, episode="round", seed=part.seed, threads=1, plain=config["cards"] == PLAIN
    )
    result: dict[str, Any] = {}
    for number, luck in enumerate(LUCK):
        table = replace(plain, aivat=luck == AIVAT)
        played(config["pair"], table, config["cards"], _WARM_UP)
        start = time.process_time()
        outcome = played(config["pair"], table, config["cards"], deals)
        result[luck] = {**spread(points_of_deals(outcome)), "seconds": time.process_time() - start}
        on_progress((number + 1) / len(LUCK))
    return {"rotations": plain.rules.teams, "luck": result}


def played(pair: Sequence[str], config: MatchConfig, cards: str, deals: int) -> Outcome:
    """Play rounds of a pair with a way of dealing."""
    outcomes = []
    for first in range(0, deals, _DEALS_PER_BATCH):
        count = min(_DEALS_PER_BATCH, deals - first)
        if cards == SAME_ORDER:
            outcomes.append(play_watched(pair, config, count, CommonPile(), first_deal=first))
        else:
            outcomes.append(play(pair, config, count, first_deal=first))
    return Outcome.joined(outcomes)


def points_of_deals(outcome: Outcome) -> Float64Array:
    """Return points per round of the first agent over the other, float64[B], minus luck if it was counted."""
    deals: Float64Array = corrected(outcome).lead.mean(axis=1)
    return deals


def spread(deals: Float64Array) -> dict[str, float]:
    """Return mean and variance of deals, float64[B], and the standard errors of both.

    The error of the variance uses the fourth moment, as points have longer tails than a normal distribution.
    """
    away = deals - deals.mean()
    variance = float(deals.var(ddof=1))
    fourth = float((away**4).mean())
    return {
        "mean": float(deals.mean()),
        "error": math.sqrt(variance / len(deals)),
        "variance": variance,
        "variance_error": math.sqrt(max(fourth - variance**2, 0.0) / len(deals)),
    }


# Results ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    """A way of dealing and of luck correction, for one pair.

    Attributes:
        pair: the two agents.
        cards: the way of dealing.
        luck: the luck correction.
        mean: points per round of the first agent over the other.
        error: standard error of `mean`.
        rounds: rounds needed for a standard error of `PRECISION`.
        rounds_error: standard error of `rounds`.
        seconds: processor time of these rounds.
    """

    pair: str
    cards: str
    luck: str
    mean: float
    error: float
    rounds: float
    rounds_error: float
    seconds: float

    @property
    def needed(self) -> Interval:
        """The rounds with their 95 % interval."""
        return of_error(self.rounds, self.rounds_error)

    def saved(self, plain: Way) -> tuple[float, float]:
        """Return the factor of rounds saved over another way, and half the width of its 95 % interval."""
        ratio = plain.rounds / self.rounds
        errors = [way.rounds_error / way.rounds for way in (self, plain)]
        return ratio, NORMAL_QUANTILE * ratio * math.hypot(*errors) if self is not plain else 0.0


def ways(records: Sequence[Record]) -> list[Way]:
    """Return the results in the records, over all seeds."""
    by_way = grouped(
        records, lambda record: (_BETWEEN.join(record.part.config["pair"]), record.part.config["cards"])
    )
    return [_way(pair, cards, luck, result) for (pair, cards), result in by_way.items() for luck in LUCK]


def _way(pair: str, cards: str, luck: str, records: Sequence[Record]) -> Way:
    found = [record.result["luck"][luck] for record in records]
    mean, variance = (float(np.mean([one[name] for one in found])) for name in ("mean", "variance"))
    error, variance_error = (
        math.hypot(*(one[name] for one in found)) / len(found) for name in ("error", "variance_error")
    )
    rotations = int(records[0].result["rotations"])
    played_rounds = rotations * sum(int(record.part.config["deals"]) for record in records)
    rounds = rotations / PRECISION**2 * variance
    seconds = rounds / played_rounds * sum(one["seconds"] for one in found)
    return Way(pair, cards, luck, mean, error, rounds, rotations / PRECISION**2 * variance_error, seconds)


def by_pair(records: Sequence[Record]) -> dict[str, list[Way]]:
    """Return the results of each pair."""
    result: dict[str, list[Way]] = {}
    for way in ways(records):
        result.setdefault(way.pair, []).append(way)
    return result


def tables(records: Sequence[Record]) -> list[Table]:
    """Build a table for each pair."""
    return [_table(pair, found) for pair, found in by_pair(records).items()]


def _table(pair: str, found: Sequence[Way]) -> Table:
    plain = next((way for way in found if (way.cards, way.luck) == (PLAIN, NOTHING)), None)
    rows = []
    for way in found:
        saved = "" if plain is None else f"{way.saved(plain)[0]:.2f}x ± {way.saved(plain)[1]:.2f}"
        mean = f"{way.mean:+.1f} ± {way.error:.1f}"
        rows.append((way.cards, way.luck, mean, way.needed.text(",.0f"), saved, f"{way.seconds:.2f}"))
    headings = (
        *("cards", "taken off", "points a round, ± standard error"),
        *(f"rounds to a standard error of {PRECISION:.0f}", "saved", "processor seconds for them"),
    )
    return Table(headings, rows, pair.replace(_BETWEEN, " against "), text_columns=2)


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot the needed rounds as bars, a panel for each pair."""
    pairs = by_pair(records)
    panels = figure.subplots(1, len(pairs), sharey=True, squeeze=False)[0]
    for axes, (pair, found) in zip(panels, pairs.items(), strict=True):
        bars = {luck: [way.needed for way in found if way.luck == luck] for luck in LUCK}
        shown = plot_groups(axes, list(dict.fromkeys(way.cards for way in found)), bars)
        for heights, of_luck in zip(shown, bars.values(), strict=True):
            axes.bar_label(heights, [f"{one.mean:,.0f}" for one in of_luck], fontsize=7, padding=2)
        styled(axes, pair, yscale="log")
        axes.grid(axis="x", visible=False)
    panels[0].set_ylabel(f"rounds to a standard error of {PRECISION:.0f} points")
    panels[-1].legend(title="taken off", frameon=False, loc="upper right")


QUESTION: Final = Question(
    "variance", "How many deals does a result take?", Args, parts, measure, tables, plot, size=(10.0, 4.5)
)

if __name__ == "__main__":
    sys.exit(main(QUESTION))
