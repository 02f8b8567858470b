"""Measure the gain of search per millisecond: `python -m research.scaling`.

Search looks one action ahead: it redeals the hidden cards repeatedly, and plays out each candidate action
with its rollout agent (docs/agents/agents.md). The variants differ in

    rollouts  redeals for each action, 10 to 300, with two ways to decide: *sure* plays another action only
              if its gain is some standard errors above 0 (`z`), *naive* plays the best mean (z=0)
    depth     decisions after which the policy's value replaces the rest of the round; by default 24, if the
              agent has such a value
    belief    hands drawn from the network of beliefs
    sees      a cheat: the other hand, or all cards
    searcher  ISMCTS, EPIMC or MDS instead (research/searchers), with the same redeals for each action

Each variant plays single rounds against its rollout agent, every deal from both seats, with luck correction
by AIVAT (except for cheats, which know the cards to come). Cost is processor time per decision on one core,
including decisions that need no search.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env import agents
from millebornes_env.agents.protocol import is_compiled
from millebornes_env.agents.search.agent import can_judge
from millebornes_env.agents.search.beliefs import UNIFORM
from millebornes_env.agents.search.over import OVER_A_JUDGE
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.errors import MilleBornesError, shown
from research.frame import OnProgress, Options, Question, main
from research.intervals import Interval, mean_interval
from research.measurements.search import Args as CostArgs
from research.measurements.search import cost_of, spec_of
from research.parts import Part, Record
from research.pictures import COLOURS, styled
from research.tables import Table
from research.tallies import grouped
from research.variance import points_of_deals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EDITION: Final = "parker"
NAIVE: Final = "naive"
SURE: Final = "sure"
OTHERS: Final = {"ISMCTS": "Ismcts", "EPIMC, 2 plies": "Epimc", "MDS": "Mds"}
"""Families of other searchers, and their classes."""

USUAL_ROLLOUTS: Final[int] = OVER_A_JUDGE["rollouts"]
"""Redeals of the variants that differ in another option."""

USUAL_DEPTH: Final[int] = OVER_A_JUDGE["depth"]
"""Default number of decisions after which the policy's value is used."""

COST_OF_DEPTH: Final = {24: 3, 4: 1, 12: 2, 0: 9}
"""Depths of search over a policy, with the approximate cost of a rollout (`Variant.cost`)."""

LINEAR: Final = 30.0
"""Points per round up to which the scale of the plot is linear."""

_DEALS_AT_ONCE: Final = 20
_FEWEST_DEALS: Final = 10
_COST_DECISIONS: Final = 150


@dataclass(frozen=True)
class Args(Options):
    """The options of the command line."""

    seeds: int = 1
    """number of seeds; intervals are over deals, so more seeds are more deals"""
    over: tuple[str, ...] = ("strategist", "champion")
    """rollout agents"""
    rollouts: tuple[int, ...] = (10, 30, 100, 300)
    """redeals for each action"""
    others: tuple[int, ...] = (30, 100)
    """redeals for each action of ISMCTS, EPIMC and MDS"""
    playouts: int = 14_000
    """deals of a variant times the cost of its rollouts; expensive variants play fewer deals"""
    most_deals: int = 1_000
    """largest number of deals of a variant"""


@dataclass(frozen=True)
class Variant:
    """A variant of search.

    Attributes:
        family: name of a group of variants that differ in one number.
        options: options of the searcher.
        rollouts: redeals for each action.
        cost: approximate cost of a rollout, in units of one to the end of a round by a rule-based agent.
        searcher: a class of `research.searchers.agents`; "": the package's search.
    """

    family: str
    options: str
    rollouts: int
    cost: int = 1
    searcher: str = ""


def searcher_of(over: str, searcher: str, *options: str) -> str:
    """Return the spec of a searcher over an agent, with uniform redeals by default."""
    if not searcher:
        is_told = any("belief=" in option or "sees=" in option for option in options)
        return spec_of(over, *options, *(() if is_told else (f"belief={UNIFORM}",)))
    rollout = over.replace(",", "+")
    return f"research.searchers.agents:{searcher}:{','.join(filter(None, (f'rollout={rollout}', *options)))}"


def variants(over: str, rollouts: Sequence[int], others: Sequence[int] = ()) -> list[Variant]:
    """Return all variants of search over an agent.

    Args:
        over: the agent.
        rollouts: redeals for each action.
        others: redeals for each action of other searchers.

    Raises:
        MilleBornesError: the agent cannot be a rollout agent.
    """
    table = MatchConfig(EDITION).table()
    agent = agents.make(over, table)
    if not is_compiled(agent):
        raise MilleBornesError(f"--over {shown(over)}: search needs a compiled agent, which it is not")
    judges = can_judge(agent, table)
    sure = 1 if judges else 2
    judged = f",depth={USUAL_DEPTH}" if judges else ""
    cost = COST_OF_DEPTH[USUAL_DEPTH] if judges else 1
    many, usual = USUAL_ROLLOUTS, f"rollouts={USUAL_ROLLOUTS},z={sure}"
    to_the_end = ",depth=0" if judges else ""  # one playout of each action says it all
    depths = {depth: dear for depth, dear in COST_OF_DEPTH.items() if judges and depth != USUAL_DEPTH}
    return [
        *(
            Variant(family, f"rollouts={number},z={z}{judged}", number, cost)
            for number in rollouts
            for family, z in ((NAIVE, 0), (SURE, sure))
        ),
        *(
            Variant(
                f"sure, depth {depth}" if depth else "sure, to the end", f"{usual},depth={depth}", many, dear
            )
            for depth, dear in depths.items()
        ),
        *(
            Variant(family, f"rollouts={number}{judged}", number, cost, searcher)
            for family, searcher in OTHERS.items()
            for number in others
        ),
        Variant("sure, belief", f"{usual}{judged},belief=network", many, cost),
        Variant("sees the other hand", f"{usual}{judged},sees=hands", many, cost),
        Variant("sees all cards", f"z={sure}{to_the_end},sees=all", 1, cost),
    ]


def parts(options: Args) -> list[Part]:
    """Return a part for each agent, variant and seed."""
    if not options.rollouts:
        raise MilleBornesError("--rollouts is empty: give numbers of 2 or more")
    for name, numbers in (("rollouts", options.rollouts), ("others", options.others)):
        if min(numbers, default=2) < 2:
            raise MilleBornesError(f"--{name} {' '.join(map(str, numbers))}: give numbers of 2 or more")
    rollouts = (10, 30) if options.quick else options.rollouts
    others = (10,) if options.quick else options.others
    result = []
    for index, over in enumerate(options.over):
        for number, variant in enumerate(variants(over, rollouts, others)):
            dear = variant.rollouts * variant.cost
            deals = max(_FEWEST_DEALS, min(options.most_deals, options.playouts // dear))
            config = {"over": over, **asdict(variant), "deals": _FEWEST_DEALS if options.quick else deals}
            del config["cost"]
            result += [
                Part(f"{index}-{number:02d}-{seed}", seed, config, float(config["deals"] * dear))
                for seed in options.all_seeds
            ]
    return result


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Play a variant against its rollout agent, and time its decisions."""
    over, text, deals = part.config["over"], part.config["options"], int(part.config["deals"])
    is_honest = "sees=" not in text
    config = MatchConfig(EDITION, episode="round", seed=part.seed, threads=1, aivat=is_honest)
    searcher = part.config["searcher"]
    pair = [searcher_of(over, searcher, text), over]  # on both cores; only the timing is of one
    points: list[float] = []
    for first in range(0, deals, _DEALS_AT_ONCE):
        outcome = play(pair, config, min(_DEALS_AT_ONCE, deals - first), first_deal=first)
        points += points_of_deals(outcome).tolist()
        on_progress(len(points) / deals)
    timed = CostArgs(options=text, seed=part.seed, decisions=_COST_DECISIONS)
    result: dict[str, Any] = {"points": points}
    if is_honest:  # a cheat is handed the games, which the timing does not do
        mean, high, playouts = cost_of(searcher_of(over, searcher, text, "threads=1"), over, timed)
        result |= {"ms": mean, "ms_95": high, "playouts": playouts}
    return result


# What was found ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gain:
    """Result of one variant.

    Attributes:
        over: the rollout agent.
        family: family of the variant.
        options: options of the searcher.
        deals: number of deals, two rounds each.
        points: mean points per round over that agent.
        ms: CPU time per decision in milliseconds; None if not timed.
    """

    over: str
    family: str
    options: str
    deals: int
    points: Interval
    ms: float | None


def gains(records: Sequence[Record]) -> list[Gain]:
    """Return a result for each variant, over all seeds."""
    result = []
    names = ("over", "family", "options")
    by_variant = grouped(records, lambda record: tuple(record.part.config[name] for name in names))
    for (over, family, options), of_variant in by_variant.items():
        points = np.concatenate([record.result["points"] for record in of_variant])
        times = [record.result["ms"] for record in of_variant if "ms" in record.result]
        ms = float(np.mean(times)) if times else None
        result.append(Gain(over, family, options, len(points), mean_interval(points), ms))
    return result


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the table of all variants."""
    rows = []
    for one in gains(records):
        ms = "" if one.ms is None else f"{one.ms:.2f}"
        points = one.points.text("+,.0f")
        rows.append((f"`{one.over}`", one.family, f"`{one.options}`", f"{one.deals:,}", points, ms))
    headings = ("over", "variant", "options", "deals", "points a round, ± 95 %", "ms for a decision")
    return [Table(headings, rows, text_columns=3)]


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot points against milliseconds, a panel for each rollout agent."""
    from matplotlib.ticker import LogLocator, NullFormatter  # noqa: PLC0415 - slow to import

    result = gains(records)
    overs = list(dict.fromkeys(one.over for one in result))
    colours = dict(zip(dict.fromkeys(one.family for one in result), COLOURS, strict=False))
    panels = figure.subplots(1, len(overs), sharey=True, squeeze=False)[0]
    labelled: dict[str, Any] = {}  # lines by family
    for axes, over in zip(panels, overs, strict=True):
        _draw_over(axes, [one for one in result if one.over == over], colours)
        styled(axes, f"Search over {over}", xscale="log", xlabel="ms for a decision, one core")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        labelled |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    panels[0].set_ylabel(f"points a round gained (linear within ±{LINEAR:.0f})")
    lines = [labelled[family] for family in colours]
    figure.legend(lines, list(colours), loc="outside lower center", ncols=5, frameon=False, fontsize=8)


def _draw_over(axes: Axes, found: Sequence[Gain], colours: Mapping[str, str]) -> None:
    for family in dict.fromkeys(one.family for one in found):
        of_family = [one for one in found if one.family == family]
        points = [one.points.mean for one in of_family]
        widths = [one.points.half_width for one in of_family]
        times = [one.ms for one in of_family if one.ms is not None]
        colour = colours[family]
        if len(times) < len(of_family):  # cheats: what hidden cards are worth, whatever it costs
            axes.axhline(points[0], color=colour, linestyle="--", linewidth=1.0, label=family)
            continue
        axes.errorbar(times, points, yerr=widths, fmt="o-", color=colour, capsize=2, label=family)
    axes.axhline(0, color="#777777", linewidth=0.8)
    axes.set_yscale("symlog", linthresh=LINEAR)


QUESTION: Final = Question(
    "scaling",
    "What does search gain by the millisecond?",
    Args, parts, measure, tables, plot, size=(11.0, 5.0),
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(QUESTION))
