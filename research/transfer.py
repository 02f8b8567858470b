"""Measure the transfer of policies to other editions: `python -m research.transfer`.

For each edition for two players a small network learns that edition alone by `train.selfplay`, and a network
that sees the rules learns all editions: once from as many decisions as each specialist, and once from as many
as all specialists together. Every network then plays duplicate matches at every edition against the
specialist of that edition, without further learning.

The loss to the specialist is given in Elo: 0 is equal, -70 wins 40 % of the matches. The specialists do not
see the rules; at another edition they play as at their own, restricted to legal plays.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

import numpy as np

from millebornes_env import edition, editions
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.arena.intervals import standard_error
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.errors import MilleBornesError, shown
from research.frame import OnProgress, Options, Question, by_default, main
from research.intervals import Interval, of_error, over_seeds
from research.parts import Part, Record
from research.pictures import styled
from research.tables import Table
from train.selfplay import Args as TrainingArgs
from train.selfplay import Trainer, check

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL: Final = "all, as many decisions"
ALL_LONGER: Final = "all, as many for each edition"
MEAN: Final = "mean"
"""Name of the mean over all other editions."""

ELO_OF_ODDS: Final = 400.0
"""Elo difference for odds of ten to one."""

FEWEST_SEEDS: Final = 3
"""Least number of seeds for a bootstrap over seeds."""


@dataclass(frozen=True)
class Args(Options):
    """The options of the command line."""

    seeds: int = 3
    """number of seeds, for networks, training games and deals"""
    editions: Annotated[tuple[str, ...], by_default("all that two can play")] = ()
    """rule sheets"""
    decisions: int = 1_000_000
    """decisions that each specialist learns from"""
    hidden: int = 64
    """units of the hidden layer of a network"""
    num_envs: int = 128
    """number of parallel games during learning"""
    deals: int = 300
    """deals of each pair; two matches each"""


class AnyEdition(PolicyAgent):
    """A policy that plays by rules that it does not see and was not trained on."""

    any_edition: ClassVar[bool] = True


def parts(options: Args) -> list[Part]:
    """Return a part for each seed; the networks of a seed play each other.

    Raises:
        MilleBornesError: there are fewer than two editions, or duplicates.
        ValueError: an edition, a network or a number of games is invalid.
    """
    names = options.editions or tuple(name for name in editions() if (2, 2) in edition(name).tables)
    if len(set(names)) != len(names) or len(names) < 2:
        raise MilleBornesError(f"--editions {shown(' '.join(names))}: give two or more, each once")
    decisions, deals = (20_000, 20) if options.quick else (options.decisions, options.deals)
    config = {
        "editions": list(names),
        "decisions": decisions,
        "hidden": options.hidden,
        "num_envs": options.num_envs,
        "deals": deals,
    }
    result = [Part(f"seed-{seed}", seed, config) for seed in options.all_seeds]
    check(training_args(result[0], names, decisions))
    return result


# Measuring --------------------------------------------------------------------------------------------------


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Train the networks of a seed, and play matches between them.

    Returns:
        For each network its decisions, and for each edition the share of matches won against the specialist
        with its standard error over deals.
    """
    names: tuple[str, ...] = tuple(part.config["editions"])
    decisions = int(part.config["decisions"])
    work: dict[str, tuple[tuple[str, ...], int]] = {name: ((name,), decisions) for name in names}
    work |= {ALL: (names, decisions), ALL_LONGER: (names, decisions * len(names))}
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as kept:
        folders = {name: Path(kept) / str(number) for number, name in enumerate(work)}
        total, done = sum(budget for _, budget in work.values()), 0
        for name, (sheets, budget) in work.items():
            learned = train(training_args(part, sheets, budget), folders[name])
            result[name] = {"decisions": learned, "played": {}}
            done += budget
            on_progress(0.9 * done / total)
        for number, name in enumerate(names):
            for network in result:
                if network != name:
                    result[network]["played"][name] = match(folders[network], folders[name], name, part)
            on_progress(0.9 + 0.1 * (number + 1) / len(names))
    return result


def train(args: TrainingArgs, folder: Path, on_progress: OnProgress = lambda _: None) -> int:
    """Learn by self-play, in whole rollouts, and write the policy; return the number of decisions."""
    trainer = Trainer(args)
    while trainer.decisions < args.total_timesteps:
        trainer.collect()
        trainer.learn(trainer.decisions / args.total_timesteps)
        on_progress(trainer.decisions / args.total_timesteps)
    trainer.save_policy(folder)
    return trainer.decisions


def training_args(part: Part, sheets: tuple[str, ...], decisions: int) -> TrainingArgs:
    """Return the options of the trainer; with several sheets, the network sees the rules."""
    return trainer_of(
        part,
        edition=sheets,
        total_timesteps=decisions,
        observe_rules=len(sheets) > 1,
        num_envs=part.config["num_envs"],
        learning_rate=2e-3,
    )


def trainer_of(part: Part, **options: Any) -> TrainingArgs:
    """Return options of the trainer with the size of the network and the seed of a part."""
    return TrainingArgs(
        hidden=(part.config["hidden"],),
        learner="sparse",
        seed=part.seed,
        threads=1,
        eval_seconds=0.0,
        **options,
    )


def match(one: Path, other: Path, name: str, part: Part) -> dict[str, float]:
    """Return the share of matches won by one policy against another at an edition, and its standard error."""
    config = MatchConfig(name, 2, seed=part.seed, threads=1)
    agents = [AnyEdition(config.table(), part.seed, str(folder)) for folder in (one, other)]
    shares = play(agents, config, int(part.config["deals"])).wins[..., 0].mean(axis=1)
    return {"share": float(shares.mean()), "error": standard_error(shares)}


# What was found ---------------------------------------------------------------------------------------------


def elo(share: float, matches: float) -> float:
    """Return the Elo difference for a share of matches, with half a win and half a loss added."""
    added = (share * matches + 0.5) / (matches + 1.0)
    return ELO_OF_ODDS * math.log10(added / (1.0 - added))


def matrix(records: Sequence[Record]) -> dict[str, dict[str, Interval]]:
    """Return the Elo of each network against the specialists (0 against itself), and their `MEAN`."""
    matches = 2.0 * float(records[0].part.config["deals"])
    result: dict[str, dict[str, Interval]] = {}
    for network in records[0].result:
        played = [record.result[network]["played"] for record in records]
        result[network] = {name: _elo([[one[name]] for one in played], matches) for name in played[0]}
        result[network].setdefault(network, Interval(0.0, 0.0, 0.0))
        result[network][MEAN] = _elo([list(one.values()) for one in played], matches)
    return result


def _elo(met: Sequence[Sequence[Mapping[str, float]]], matches: float) -> Interval:
    """Return the mean Elo of some matches of each seed.

    The interval is over deals, or the bootstrap over seeds if there are enough seeds and it is wider: few
    seeds can agree by chance better than their deals allow.
    """
    each = [float(np.mean([elo(one["share"], matches) for one in of_seed])) for of_seed in met]
    mean = float(np.mean(each))
    slope = ELO_OF_ODDS / math.log(10.0)
    every = [one for of_seed in met for one in of_seed]
    errors = [slope * one["error"] / max(one["share"] * (1 - one["share"]), 1e-3) for one in every]
    by_deals = of_error(mean, math.hypot(*errors) / len(errors))
    if len(each) < FEWEST_SEEDS:
        return by_deals
    by_seeds = over_seeds(each)
    return max(by_deals, by_seeds, key=lambda interval: interval.half_width)


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the matrix with the average of each network at other editions."""
    result = matrix(records)
    names = records[0].part.config["editions"]
    rows = []
    for network, by_edition in result.items():
        cells = ["-" if name == network else by_edition[name].text("+.0f") for name in names]
        rows.append((network, *cells, by_edition[MEAN].text("+.0f")))
    decisions = records[0].part.config["decisions"]
    title = f"Elo against the specialist of the edition, ± 95 %; {decisions:,} decisions for each specialist"
    return [Table(("learned", *names, MEAN), rows, title)]


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot the matrix as a heat map."""
    result = matrix(records)
    names = records[0].part.config["editions"]
    values = np.array([[by_edition[name].mean for name in names] for by_edition in result.values()])
    reach = float(np.abs(values).max()) or 1.0
    axes = styled(figure.add_subplot(), "Elo against the specialist", xlabel="played", ylabel="learned")
    axes.grid(visible=False)
    image = axes.imshow(values, cmap="RdBu", vmin=-reach, vmax=reach, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        text = "home" if list(result)[row] == names[column] else f"{value:+.0f}"
        colour = "white" if abs(value) > 0.6 * reach else "black"
        axes.text(column, row, text, ha="center", va="center", fontsize=9, color=colour)
    axes.set_xticks(range(len(names)), names, rotation=20, fontsize=8)
    axes.set_yticks(range(len(result)), list(result), fontsize=8)
    figure.colorbar(image, ax=axes, label="Elo")


QUESTION: Final = Question(
    "transfer",
    "What does a policy learn for other editions?",
    Args, parts, measure, tables, plot, size=(9.0, 5.5),
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(QUESTION))
