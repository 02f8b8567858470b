"""Measure the value of hidden information to a player, and to a critic during learning.

    python -m research.information            # four minutes of processor time
    python -m research.information --quick

To a player: search that redeals hidden cards, search that sees the other hand, and search that also sees the
cards to come, each against its rollout agent. To a critic: PPO by self-play with a critic that sees what the
policy sees, and with one that also sees all hands and the cards to come (`--oracle` of train.selfplay): the
number of decisions that each needs to reach a level against a fixed opponent.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.search.beliefs import UNIFORM
from millebornes_env.arena.intervals import mean_interval
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.errors import MissingExtraError
from research.frame import OnProgress, Options, Question, main
from research.intervals import over_seeds
from research.parts import Part, Record
from research.pictures import COLOURS, half, plot_band, styled
from research.tables import Table
from research.tallies import grouped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEES: Final = {"what the seat sees": "", "the other hand": "hands", "all cards": "all"}
"""Cards that a searcher sees, and the value of its option `sees`."""
LEVELS: Final = 50
"""Step of the levels to be reached, in points per round."""
CRITICS: Final = {"what the policy sees": False, "all cards": True}
AT_ONCE: Final = 4
"""Deals between two steps of the progress bar."""


@dataclass(frozen=True)
class Args(Options):
    """Options of the question."""

    agent: str = "strategist"
    """compiled agent: rollout agent and opponent of search"""
    edition: str = "parker"
    """rule sheet"""
    deals: int = 60
    """deals of each searcher and seed, two rounds each"""
    decisions: int = 500_000
    """decisions that each policy learns from"""
    learners: int = 3
    """number of seeds of the policies, counted from the first"""
    opponent: str = "strategist"
    """opponent in the evaluation of policies"""


def parts(options: Args) -> list[Part]:
    """Return a part for each searcher and seed, and for each critic and seed."""
    deals = 4 if options.quick else options.deals
    games = {"agent": options.agent, "edition": options.edition, "deals": deals}
    learned = {
        "edition": options.edition,
        "decisions": 200_000 if options.quick else options.decisions,
        "opponent": options.opponent,
        "judged_on": 100 if options.quick else 1000,
    }
    seeds = options.all_seeds
    searchers = [
        Part(f"search-{number}-{seed}", seed, {"sees": sees, **games})
        for seed in seeds
        for number, sees in enumerate(SEES)
    ]
    learners = [
        Part(f"critic-{number}-{seed}", seed, {"critic": critic, **learned})
        for seed in seeds[: 1 if options.quick else options.learners]
        for number, critic in enumerate(CRITICS)
    ]
    return [*searchers, *learners]


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Measure the lead of a searcher, or the learning curve of a policy."""
    if "sees" in part.config:
        return of_searcher(part, on_progress)
    return of_learner(part, on_progress)


# To a player ------------------------------------------------------------------------------------------------


def of_searcher(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Measure the lead over the rollout agent in each deal, in points per round."""
    config, agent = part.config, part.config["agent"]
    sees = SEES[config["sees"]]
    searcher = f"{agent}+search:" + (f"sees={sees}" if sees else f"belief={UNIFORM}")
    table = MatchConfig(config["edition"], 2, episode="round", seed=part.seed)
    leads: list[float] = []
    for first in range(0, config["deals"], AT_ONCE):
        count = min(AT_ONCE, config["deals"] - first)
        outcome = play([searcher, agent], table, count, first_deal=first)
        leads += outcome.lead.mean(axis=1).tolist()
        on_progress((first + count) / config["deals"])
    return {"leads": leads}


# To a critic ------------------------------------------------------------------------------------------------


def of_learner(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Measure the learning curve of a policy.

    Raises:
        MissingExtraError: PyTorch is not installed.
    """
    try:
        from train.common.options import Args as TrainingArgs  # noqa: PLC0415 - PyTorch is an extra
        from train.selfplay import Trainer  # noqa: PLC0415 - PyTorch is an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError.of("learning by self-play", error, "train") from None
    config = part.config
    args = TrainingArgs(
        seed=part.seed, edition=(config["edition"],), total_timesteps=config["decisions"], num_envs=512,
        hidden=(64,), learner="torch", precision="float32", threads=2, oracle=CRITICS[config["critic"]],
    )  # fmt: skip
    trainer = Trainer(args)
    curve: list[tuple[int, float]] = []
    marks = sorted({round(config["decisions"] / 2 ** (half / 2)) for half in range(13)})
    with tempfile.TemporaryDirectory() as folder:
        while trainer.decisions < config["decisions"]:
            trainer.collect()
            trainer.learn(trainer.decisions / config["decisions"])
            if trainer.decisions >= marks[0]:
                marks = [mark for mark in marks if mark > trainer.decisions] or [2 * config["decisions"]]
                trainer.save_policy(Path(folder))
                curve.append((trainer.decisions, judged(Path(folder), config, part.seed)))
            on_progress(trainer.decisions / config["decisions"])
    return {"curve": curve}


def judged(folder: Path, config: Mapping[str, Any], seed: int) -> float:
    """Return points per round of a policy against the opponent."""
    table = MatchConfig(config["edition"], 2, episode="round", seed=seed)
    return float(play([folder, config["opponent"]], table, config["judged_on"]).lead.mean())


def level_of(records: Sequence[Record]) -> float:
    """Return the highest level that all policies reach, in points per round."""
    best = [max(lead for _, lead in record.result["curve"]) for record in records]
    return float(LEVELS * (min(best) // LEVELS))


def reached_at(curve: Sequence[tuple[int, float]], level: float) -> float | None:
    """Return the decisions at which the curve reaches a level, on a logarithmic scale; None: never."""
    decisions, leads = zip(*curve, strict=True)
    at = next((index for index, lead in enumerate(leads) if lead >= level), None)
    if at is None:
        return None
    between = slice(max(at - 1, 0), at + 1)
    return float(np.exp(np.interp(level, leads[between], np.log(decisions[between]))))


# What was found ---------------------------------------------------------------------------------------------


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the tables of searchers and of critics."""
    searchers, learners = leads_of(records), by_critic(records)
    return [
        *([table_of_searchers(searchers)] if searchers else []),
        *([table_of_critics(learners)] if learners else []),
    ]


def leads_of(records: Sequence[Record]) -> dict[str, npt.NDArray[np.float64]]:
    """Return the leads of each searcher, with all seeds concatenated."""
    searchers = [record for record in records if "leads" in record.result]
    by_name = grouped(searchers, lambda record: str(record.part.config["sees"]))
    return {
        name: np.concatenate([record.result["leads"] for record in of_name])
        for name, of_name in by_name.items()
    }


def by_critic(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the records of the policies, by critic."""
    learners = [record for record in records if "curve" in record.result]
    return grouped(learners, lambda record: str(record.part.config["critic"]))


def table_of_searchers(searchers: Mapping[str, npt.NDArray[np.float64]]) -> Table:
    """Build the table of the leads, and of the gains over the honest searcher on the same deals."""
    rows, honest = [], searchers.get(next(iter(SEES)))
    for sees, leads in searchers.items():
        more = ""
        if honest is not None and honest is not leads and len(honest) == len(leads):
            more = mean_interval(leads - honest).text("+.0f")
        rows.append((sees, f"{len(leads):,}", mean_interval(leads).text("+.0f"), more))
    headings = ("search sees", "deals", "points a round", "over seeing nothing hidden")
    return Table(headings, rows, "Search against the agent that it looks ahead with")


def table_of_critics(learners: Mapping[str, Sequence[Record]]) -> Table:
    """Build the table of decisions to the level, and of the final strength of the policies."""
    level = level_of([record for records in learners.values() for record in records])
    rows = []
    for critic, records in learners.items():
        result = [reached_at(record.result["curve"], level) for record in records]
        reached = over_seeds([one for one in result if one is not None])
        ends = over_seeds([record.result["curve"][-1][1] for record in records])
        seconds = over_seeds([record.processor_seconds for record in records])
        cells = reached.text(",.0f", 1e-3), ends.text("+.0f"), seconds.text(".0f")
        rows.append((critic, f"{len(records)}", *cells))
    opponent = next(iter(learners.values()))[0].part.config["opponent"]
    title = f"PPO: decisions to {level:+.0f} points a round against `{opponent}`"
    headings = ("critic sees", "seeds", "thousand decisions", "points a round at the end")
    return Table((*headings, "processor seconds"), rows, title)


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot the searchers as bars, and the learning curves."""
    left, right = figure.subplots(1, 2)
    result = {sees: mean_interval(leads) for sees, leads in leads_of(records).items()}
    styled(left, "Search, by what it sees", ylabel="points a round")
    heights, widths = [one.mean for one in result.values()], [half(one) for one in result.values()]
    left.bar(list(result), heights, yerr=widths, color=COLOURS[: len(result)], capsize=3)
    styled(right, "PPO, by what its critic sees", xlabel="thousand decisions", ylabel="points a round")
    right.set_xscale("log")
    for (critic, of_critic), colour in zip(by_critic(records).items(), COLOURS, strict=False):
        curves = [record.result["curve"] for record in of_critic]
        points = [over_seeds([curve[index][1] for curve in curves]) for index in range(min(map(len, curves)))]
        ends = [one.mean - half(one) for one in points], [one.mean + half(one) for one in points]
        across = [curves[0][index][0] for index in range(len(points))]
        plot_band(right, across, [one.mean for one in points], ends, critic, colour)
    learners = [record for records in by_critic(records).values() for record in records]
    if learners:
        right.axhline(level_of(learners), color="#555555", linewidth=0.8, linestyle=":")
        right.set_xticks(across, [f"{decisions / 1000:,.0f}" for decisions in across])
    right.minorticks_off()
    right.legend(frameon=False)


QUESTION = Question(
    "information", "What is hidden information worth?", Args, parts, measure, tables, plot, size=(10.0, 4.2)
)

if __name__ == "__main__":
    sys.exit(main(QUESTION))
