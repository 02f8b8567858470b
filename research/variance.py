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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env.arena.estimates import corrected
from millebornes_env.arena.intervals import NORMAL_QUANTILE, Float64Array
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.arena.outcome import Outcome
from millebornes_env.errors import MilleBornesError, shown
from research.frame import OnProgress, Options, Question, main
from research.parts import Part, Record
from research.pictures import COLOURS, styled
from research.tables import Table
from research.watching import CommonPile, play_watched

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
        played(config["pair"], table, config["cards"], 0, _WARM_UP)
        start = time.process_time()
        outcome = played(config["pair"], table, config["cards"], 0, deals)
        result[luck] = {**spread(points_of_deals(outcome)), "seconds": time.process_time() - start}
        on_progress((number + 1) / len(LUCK))
    return {"rotations": plain.rules.teams, "luck": result}


def played(pair: Sequence[str], config: MatchConfig, cards: str, first_deal: int, deals: int) -> Outcome:
    """Play rounds of a pair with a way of dealing.

    Args:
        pair: the two agents.
        config: the table.
        cards: the way of dealing.
        first_deal: index of the first deal.
        deals: number of deals.
    """
    outcome: Outcome | None = None
    for first in range(first_deal, first_deal + deals, _DEALS_PER_BATCH):
        count = min(_DEALS_PER_BATCH, first_deal + deals - first)
        if cards == SAME_ORDER:
            new = play_watched(pair, config, count, CommonPile(), first_deal=first)
        else:
            new = play(pair, config, count, first_deal=first)
        outcome = new if outcome is None else outcome.followed_by(new)
    assert outcome is not None, "there is a deal or more"
    return outcome


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

    def saved(self, plain: Way) -> tuple[float, float]:
        """Return the factor of rounds saved over another way, and half the width of its 95 % interval."""
        ratio = plain.rounds / self.rounds
        errors = [way.rounds_error / way.rounds for way in (self, plain)]
        return ratio, NORMAL_QUANTILE * ratio * math.hypot(*errors) if self is not plain else 0.0


def ways(records: Sequence[Record]) -> list[Way]:
    """Return the results in the records, over all seeds."""
    by_way: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        pair = _BETWEEN.join(record.part.config["pair"])
        by_way.setdefault((pair, record.part.config["cards"]), []).append(record)
    return [_way(pair, cards, luck, result) for (pair, cards), result in by_way.items() for luck in LUCK]


def _way(pair: str, cards: str, luck: str, records: Sequence[Record]) -> Way:
    result: list[Mapping[str, float]] = [record.result["luck"][luck] for record in records]
    rotations = int(records[0].result["rotations"])
    deals = sum(int(record.part.config["deals"]) for record in records)
    rounds = rotations / PRECISION**2
    needed = rounds * _mean(result, "variance")
    return Way(
        pair=pair,
        cards=cards,
        luck=luck,
        mean=_mean(result, "mean"),
        error=_error(result, "error"),
        rounds=needed,
        rounds_error=rounds * _error(result, "variance_error"),
        seconds=needed / (rotations * deals) * sum(one["seconds"] for one in result),
    )


def _mean(found: Sequence[Mapping[str, float]], name: str) -> float:
    return float(np.mean([one[name] for one in found]))


def _error(found: Sequence[Mapping[str, float]], name: str) -> float:
    return math.hypot(*(one[name] for one in found)) / len(found)


def tables(records: Sequence[Record]) -> list[Table]:
    """Build a table for each pair."""
    result = ways(records)
    return [_table(pair, result) for pair in dict.fromkeys(way.pair for way in result)]


def _table(pair: str, found: Sequence[Way]) -> Table:
    of_pair = [way for way in found if way.pair == pair]
    plain = next((way for way in of_pair if (way.cards, way.luck) == (PLAIN, NOTHING)), None)
    rows = []
    for way in of_pair:
        saved = "" if plain is None else f"{way.saved(plain)[0]:.2f}x ± {way.saved(plain)[1]:.2f}"
        needed = f"{way.rounds:,.0f} ± {NORMAL_QUANTILE * way.rounds_error:,.0f}"
        mean = f"{way.mean:+.1f} ± {way.error:.1f}"
        rows.append((way.cards, way.luck, mean, needed, saved, f"{way.seconds:.2f}"))
    headings = (
        *("cards", "taken off", "points a round, ± standard error"),
        *(f"rounds to a standard error of {PRECISION:.0f}", "saved", "processor seconds for them"),
    )
    return Table(headings, tuple(rows), f"{pair.replace(_BETWEEN, ' against ')}", text_columns=2)


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot the needed rounds as bars, a panel for each pair."""
    result = ways(records)
    pairs = list(dict.fromkeys(way.pair for way in result))
    panels = figure.subplots(1, len(pairs), sharey=True, squeeze=False)[0]
    for axes, pair in zip(panels, pairs, strict=True):
        _plot_pair(axes, [way for way in result if way.pair == pair])
        styled(axes, pair, yscale="log")
        axes.grid(axis="x", visible=False)
    panels[0].set_ylabel(f"rounds to a standard error of {PRECISION:.0f} points")
    panels[-1].legend(title="taken off", frameon=False, loc="upper right")


def _plot_pair(axes: Axes, found: Sequence[Way]) -> None:
    width = 0.8 / len(LUCK)
    cards = list(dict.fromkeys(way.cards for way in found))
    for number, luck in enumerate(LUCK):
        bars = [way for way in found if way.luck == luck]
        heights = axes.bar(
            [index + (number - 0.5) * width for index in range(len(bars))],
            [way.rounds for way in bars],
            width,
            yerr=[NORMAL_QUANTILE * way.rounds_error for way in bars],
            color=COLOURS[number],
            label=luck,
            capsize=2,
        )
        axes.bar_label(heights, [f"{way.rounds:,.0f}" for way in bars], fontsize=7, padding=2)
    axes.set_xticks(range(len(cards)), cards)


QUESTION: Final = Question(
    "variance",
    "How many deals does a result take?",
    Args,
    parts,
    measure,
    tables,
    plot,
    size=(10.0, 4.5),
)

if __name__ == "__main__":
    sys.exit(main(QUESTION))
