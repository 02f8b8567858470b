"""When should the trip be extended?

    python -m research.extensions            # some minutes of two cores
    python -m research.extensions --quick

A team that completes 700 km may extend the trip to 1,000. Such decisions of the champion against itself are
rolled out both ways on the same redeals, for the gain of extending by the opponent's kilometres, the cards
left to draw, the kilometres in the own hand, and the score of the match. Two policies follow: extend where it
gains on a grid of the first two features, or of the first three. On other deals these policies, the
champion's own decisions and always extending are played against never extending; the champion makes all other
decisions, and each deal is played from both seats with the same cards.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from millebornes_env import vector_env
from millebornes_env.arena.match import agent_seed
from millebornes_env.errors import MilleBornesError
from millebornes_env.games.millebornes.actions import EXTEND, FINISH
from millebornes_env.games.millebornes.cards import KM as KM_OF_CARDS
from millebornes_env.games.millebornes.cards import NUM_DISTANCES
from millebornes_env.games.millebornes.state import EXTENSION, StateArray
from research.frame import OnProgress, Question, main
from research.intervals import Interval, mean_interval, over_seeds
from research.match_equity import UNIT, equity_after, is_extension, law_of_rounds
from research.parts import Part, Record
from research.pictures import plot_groups, styled
from research.positions import (
    BoolArray,
    Decisions,
    Float64Array,
    Player,
    RolloutOptions,
    find_decisions,
    player,
    roll_out,
)
from research.tables import Table
from research.tallies import NONE, Tally, grouped, interval, merged, over, tallied
from train.common.match_win_prob import equity_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FULL_DECK: Final = (
    "parker+copies_of_accident=3+copies_of_out_of_gas=3+copies_of_flat_tire=3+copies_of_stop=5"
    "+copies_of_speed_limit=4+points_extension_failed=0"
)
RULES: Final = {
    "101 cards, 200 for the others if it fails": "parker",
    "106 cards, no penalty": FULL_DECK,
}
"""Overrides of the rules, by their names in tables."""
KM: Final = (0, 25, 150, 300, 400, 500, 600)
"""Lower ends of the bands of the opponent's kilometres."""
CARDS: Final = (0, 10, 20, 30, 40, 50)
"""Lower ends of the bands of cards left to draw."""
HAND: Final = (0, 100, 175, 250, 325)
"""Lower ends of the bands of kilometres of all distance cards in the own hand."""
BANDS: Final = (KM, CARDS, HAND)
SCORES: Final = ((0, 0), (4000, 0), (0, 4000), (4200, 4200))
"""Match scores, own and the opponent's, at which the choice is evaluated."""
CHOICES: Final = {EXTEND: "extends", FINISH: "finishes"}
POLICIES: Final = ("always", "threshold", "threshold with hand", "agent")
FEWEST: Final = 10
"""Least number of decisions of a group in a table."""
AT_ONCE: Final = 2048
_ANOTHER_SEED: Final = 1 << 33
Results = Mapping[str, Sequence[Mapping[str, Any]]]
"""Results of all seeds, by rules."""
Bands = npt.NDArray[np.int64]
Grid = npt.NDArray[np.bool_]
Extends = Callable[[StateArray], BoolArray]
"""Function that returns True for the games at such decisions in which the seat extends."""


@dataclass(frozen=True)
class Args(RolloutOptions):
    """Options of the question."""

    agent: str = "champion:which=parker-2"
    """a compiled agent, which plays the rounds and the rollouts"""
    deals: int = 2_500
    """deals per seed for the comparison of policies, two rounds each"""


def parts(options: Args) -> list[Part]:
    """Return a part for each set of rules and seed."""
    config = {**options.rollouts(few=150), "deals": 500 if options.quick else options.deals}
    return [
        Part(f"rules-{number}-{seed}", seed, {"rules": name, **config})
        for number, name in enumerate(RULES)
        for seed in options.all_seeds
    ]


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Measure the surface of one seed, and compare the policies that follow from it."""
    config = part.config
    who = player(config["agent"], RULES[config["rules"]], part.seed)
    rules = who.table.rules
    if not rules.extended_target or not rules.count_points:
        raise MilleBornesError(f"{who.edition!r} has no extension that is worth points: take another sheet")
    result = find_decisions(who, is_extension, config["positions"], 2 * config["positions"], part.seed)
    points, equities = gains_of_extending(
        who, result, config, part.seed, lambda share: on_progress(share / 2)
    )
    bands = bands_of(result.states)
    labels = [[str(ends[band]) for band in indices] for ends, indices in zip(BANDS, bands, strict=True)]
    grids = {
        "threshold": threshold_grid(points, bands[:2]),
        "threshold with hand": threshold_grid(points, bands),
    }
    policies = {"always": always, **{name: by_threshold(grid) for name, grid in grids.items()}, "agent": None}
    compared = {}
    for number, (name, extends) in enumerate(policies.items(), 1):
        compared[name] = list(compare(who, extends, config["deals"], part.seed))
        on_progress(0.5 + number / (2 * len(policies)))
    return {
        "by_cards": tallied(labels[:2], points),
        "by_hand": tallied(labels[::2], points),
        "equities": {f"{own} : {other}": tallied(labels[:2], equities[own, other]) for own, other in SCORES},
        "by_choice": tallied([[CHOICES[choice] for choice in result.chosen.tolist()]], points),
        "grids": {name: grid.astype(int).tolist() for name, grid in grids.items()},
        "decisions_in_a_round": result.per_round,
        "over_never": compared,
    }


# The surface ------------------------------------------------------------------------------------------------


def gains_of_extending(
    who: Player, found: Decisions, config: Mapping[str, Any], seed: int, on_progress: OnProgress
) -> tuple[Float64Array, dict[tuple[int, int], Float64Array]]:
    """Estimate the gain of extending over finishing, in points, and in match wins at some scores.

    Returns:
        float64[N]; and the same for each of `SCORES`. The agent plays as at the score of its own match.
    """
    actions = np.tile(np.array([EXTEND, FINISH]), (len(found.states), 1))
    points = roll_out(who, found.states, actions, config["redeals"], seed, on_progress=on_progress)
    goal = who.table.rules.goal
    law = law_of_rounds(config["agent"], who.edition, config["deals"], seed)
    table = equity_table(law, -(-goal // UNIT))
    leads = (points[..., 0] - points[..., 1]).mean(axis=2)
    equities = {}
    for own, other in SCORES:
        chances = equity_after(table, goal, own + points[..., 0], other + points[..., 1]).mean(axis=2)
        equities[own, other] = chances[:, 0] - chances[:, 1]
    return leads[:, 0] - leads[:, 1], equities


def bands_of(states: StateArray) -> tuple[Bands, ...]:
    """Return the bands of the opponent's kilometres, the cards left and the kilometres in the own hand."""
    rows, seats = np.arange(len(states)), states["seat"]
    in_hand = states["hand"][rows, seats][:, :NUM_DISTANCES].astype(np.int64) @ KM_OF_CARDS
    numbers = (states["km"][rows, 1 - seats], states["draw_pile"], in_hand)
    return tuple(
        np.searchsorted(ends, result, side="right") - 1 for ends, result in zip(BANDS, numbers, strict=True)
    )


def threshold_grid(gains: Float64Array, bands: Sequence[Bands]) -> Grid:
    """Compute the bands in which extending wins more on average, with neighbours at half weight.

    Args:
        gains: float64[N], gains of extending.
        bands: one int64[N] or more, bands of the first of `BANDS`.

    Returns:
        A bool for each combination of bands; False without any data.
    """
    sums = np.zeros([len(ends) for ends in BANDS[: len(bands)]])
    np.add.at(sums, tuple(bands), gains)
    neighbours = [
        ndimage.convolve1d(sums, (0.5, 0.0, 0.5), axis=axis, mode="constant") for axis in range(sums.ndim)
    ]
    grid: Grid = sums + sum(neighbours) > 0
    return grid


# Policies against each other --------------------------------------------------------------------------------


def never(states: StateArray) -> BoolArray:
    """Never extend."""
    return np.zeros(len(states), np.bool_)


def always(states: StateArray) -> BoolArray:
    """Extend always."""
    return np.ones(len(states), np.bool_)


def by_threshold(grid: Grid) -> Extends:
    """Return the policy that extends in the bands of a `threshold_grid`."""
    return lambda states: grid[bands_of(states)[: grid.ndim]]


def compare(who: Player, one: Extends | None, deals: int, seed: int) -> tuple[float, float]:
    """Return points per round of a policy over never extending, and the half-width of the interval.

    Args:
        who: the player of all other decisions, in both seats.
        one: the policy; None: the player's own.
        deals: number of deals, two rounds each.
        seed: seed of the deals, which are not those of the surface.
    """
    leads = []
    for first in range(0, deals, AT_ONCE):
        count = min(AT_ONCE, deals - first)
        seeds = agent_seed(seed + _ANOTHER_SEED, first)
        pairs = [play_round(who, one, seat, count, seeds) for seat in (0, 1)]
        leads.append((pairs[0] + pairs[1]) / 2)
    result = mean_interval(np.concatenate(leads))
    return result.mean, result.half_width


def play_round(who: Player, one: Extends | None, seat: int, deals: int, seed: int) -> Float64Array:
    """Play rounds of a policy in a seat against never extending; return its leads, float64[deals]."""
    env = vector_env(deals, who.edition, players=2, episode="round", autoreset_mode="disabled")
    observations, _ = env.reset(seed=seed)
    live, leads = np.ones(deals, np.bool_), np.zeros(deals)
    while live.any():
        actions = who.agent.act(observations["observation"], observations["action_mask"])
        games = env.get_states()
        for side, extends in ((seat, one), (1 - seat, never)):
            asked = np.flatnonzero(live & (games["phase"] == EXTENSION) & (games["seat"] == side))
            if extends is not None and len(asked):
                actions[asked] = np.where(extends(games[asked]), EXTEND, FINISH)
        after = env.step(np.where(live, actions, -1))
        observations = after.observations
        ended = live & after.terminations
        points = after.infos["final_score"][ended]
        leads[ended] = points[:, seat] - points[:, 1 - seat]
        live &= ~ended
    return leads


# What was found ---------------------------------------------------------------------------------------------


def by_rules(records: Sequence[Record]) -> Results:
    """Return the results of all seeds, by rules."""
    by_name = grouped(records, lambda record: str(record.part.config["rules"]))
    return {name: [record.result for record in of_rules] for name, of_rules in by_name.items()}


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the table of policies, and the table of the surface for each set of rules."""
    results = by_rules(records)
    surfaces = []
    for name, seeds in results.items():
        by_cards, by_hand = (merged(one[key] for one in seeds) for key in ("by_cards", "by_hand"))
        surfaces.append(table_of_surface(f"by the cards left: {name}", by_cards, "cards", CARDS))
        surfaces.append(table_of_surface(f"by km in the own hand: {name}", by_hand, "km in hand", HAND))
    return [table_of_policies(results), *surfaces, table_of_scores(results)]


def over_never(seeds: Sequence[Mapping[str, Any]]) -> list[Interval]:
    """Return the points a round of each policy over never extending."""
    return [over_seeds([one["over_never"][name][0] for one in seeds]) for name in POLICIES]


def table_of_policies(results: Results) -> Table:
    """Build the table of points per round over never extending."""
    rows = []
    for name, seeds in results.items():
        chosen = merged(one["by_choice"] for one in seeds)
        extended = chosen.get((CHOICES[EXTEND],), NONE)[0] / over(chosen)[()][0]
        gains = [cell(chosen, CHOICES[choice]) for choice in (EXTEND, FINISH)]
        asked = np.mean([one["decisions_in_a_round"] for one in seeds])
        cells = (one.text("+.1f") for one in over_never(seeds))
        rows.append((name, f"{asked:.2f}", f"{100 * extended:.0f}", *gains, *cells))
    headings = ("decisions in a round", "agent extends, %", "a gain of, there", "and elsewhere")
    title = "What extending wins more, in points, and points a round of policies over never extending"
    return Table(("rules", *headings, *POLICIES), rows, title)


def table_of_surface(
    title: str, surface: Mapping[tuple[str, ...], Tally], what: str, columns: Sequence[int]
) -> Table:
    """Build the table of the gain of extending in points, by the opponent's km and a second feature."""
    rows = [(km_band(km), *(cell(surface, str(km), str(column)) for column in columns)) for km in KM]
    headings = ("opponent's km", *(f"{column}+ {what}" for column in columns))
    return Table(headings, rows, f"Extending - finishing, points, {title}")


def km_band(lower: int) -> str:
    """Return the name of a band of kilometres; the first band is 0 km."""
    return f"{lower}+" if lower else "0"


def known(surface: Mapping[tuple[str, ...], Tally], *labels: str) -> Interval | None:
    """Return a mean and its interval; None for few decisions."""
    tally = surface.get(labels, NONE)
    return interval(tally) if tally[0] >= FEWEST else None


def cell(surface: Mapping[tuple[str, ...], Tally], *labels: str) -> str:
    """Return the text of a mean and its interval; empty for few decisions."""
    mean = known(surface, *labels)
    return "" if mean is None else mean.text("+.0f")


def table_of_scores(results: Results) -> Table:
    """Build the table of the share of bands in which extending wins more matches, by score."""
    rows = []
    for name, seeds in results.items():
        cells = []
        for own, other in SCORES:
            surface = merged(one["equities"][f"{own} : {other}"] for one in seeds)
            good = sum(tally[0] for tally in surface.values() if tally[1] > 0)
            every = over(surface)[()]
            cells.append(f"{interval(every).text('+.1f', 100)}; {100 * good / every[0]:.0f}")
        rows.append((name, *cells))
    headings = ("rules", *(f"{own:,} : {other:,}" for own, other in SCORES))
    title = (
        "Extending - finishing in % of a match at a score; % of the decisions in bands in which it wins more"
    )
    return Table(headings, rows, title)


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot the surfaces of the first rules, and the points of the policies."""
    results = by_rules(records)
    name, seeds = next(iter(results.items()))
    by_cards, by_hand = (merged(one[key] for one in seeds) for key in ("by_cards", "by_hand"))
    every = figure.subplots(1, 3)
    plot_surface(figure, every[0], by_cards, "cards left to draw", CARDS)
    plot_surface(figure, every[1], by_hand, "km in the own hand", HAND)
    for axes, what in zip(every, ("cards left", "hand"), strict=False):
        axes.set_title(f"By the {what}: {name}", fontsize=9, loc="left")
    styled(every[2], "Over never extending", ylabel="points a round")
    bars = {name: over_never(seeds) for name, seeds in results.items()}
    plot_groups(every[2], [name.replace(" with", "\nwith") for name in POLICIES], bars, width=0.95)
    every[2].axhline(0, color="#555555", linewidth=0.8)
    every[2].legend(frameon=False, fontsize=7)


def plot_surface(
    figure: Figure, axes: Any, surface: Mapping[tuple[str, ...], Tally], what: str, columns: Sequence[int]
) -> None:
    """Plot the gain of extending as colours."""
    cells = [[known(surface, str(km), str(column)) for column in columns] for km in KM]
    values = [[np.nan if mean is None else mean.mean for mean in row] for row in cells]
    drawn = axes.imshow(values, origin="lower", cmap="RdBu", vmin=-500, vmax=500, aspect="auto")
    styled(axes, xlabel=what, ylabel="opponent's km")
    axes.grid(visible=False)
    axes.set_xticks(range(len(columns)), [f"{column}+" for column in columns])
    axes.set_yticks(range(len(KM)), [km_band(km) for km in KM])
    figure.colorbar(drawn, ax=axes, label="extending - finishing, points", extend="both")


QUESTION = Question(
    "extensions", "When should the trip be extended?", Args, parts, measure, tables, plot, size=(14.0, 4.2)
)

if __name__ == "__main__":
    sys.exit(main(QUESTION))
