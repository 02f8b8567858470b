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
from millebornes_env.arena.intervals import NORMAL_QUANTILE
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.errors import MilleBornesError, shown
from research.frame import OnProgress, Options, Question, by_default, main
from research.intervals import Interval, over_seeds
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

_TWO: Final = 2


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
    names = options.editions or tuple(name for name in editions() if (_TWO, _TWO) in edition(name).tables)
    if len(set(names)) != len(names) or len(names) < _TWO:
        raise MilleBornesError(f"--editions {shown(' '.join(names))}: give two or more, each once")
    decisions, deals = (20_000, 20) if options.quick else (options.decisions, options.deals)
    check(training_args(names, decisions, options.hidden, options.num_envs, options.seed))
    config = {
        "editions": list(names),
        "decisions": decisions,
        "hidden": options.hidden,
        "num_envs": options.num_envs,
        "deals": deals,
    }
    return [Part(f"seed-{seed}", seed, config) for seed in options.all_seeds]


# Measuring --------------------------------------------------------------------------------------------------


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Train the networks of a seed, and play matches between them.

    Returns:
        For each network its decisions, and for each edition the share of matches won against the specialist
        with its standard error over deals.
    """
    names: list[str] = part.config["editions"]
    decisions = int(part.config["decisions"])
    work: list[tuple[str, tuple[str, ...], int]] = [(name, (name,), decisions) for name in names]
    work += [(ALL, tuple(names), decisions), (ALL_LONGER, tuple(names), decisions * len(names))]
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as kept:
        folders = {}
        total, done = sum(budget for _, _, budget in work), 0
        for number, (name, sheets, budget) in enumerate(work):
            folders[name] = Path(kept) / str(number)
            learned = train(sheets, budget, part, folders[name])
            result[name] = {"decisions": learned, "played": {}}
            done += budget
            on_progress(0.9 * done / total)
        for number, name in enumerate(names):
            for network in result:
                if network != name:
                    result[network]["played"][name] = match(folders[network], folders[name], name, part)
            on_progress(0.9 + 0.1 * (number + 1) / len(names))
    return result


def train(sheets: tuple[str, ...], decisions: int, part: Part, folder: Path) -> int:
    """Learn by self-play, and write the policy; return the number of decisions.

    Args:
        sheets: editions; with several, the network sees the rules.
        decisions: decisions to learn from, rounded up to whole rollouts.
        part: the part, with the size of the network and the seed.
        folder: folder for the policy.
    """
    config = part.config
    trainer = Trainer(training_args(sheets, decisions, config["hidden"], config["num_envs"], part.seed))
    while trainer.decisions < decisions:
        trainer.collect()
        trainer.learn(trainer.decisions / decisions)
    trainer.save_policy(folder)
    return trainer.decisions


def training_args(
    sheets: tuple[str, ...], decisions: int, hidden: int, num_envs: int, seed: int
) -> TrainingArgs:
    """Return the options of the trainer."""
    return TrainingArgs(
        edition=sheets,
        observe_rules=len(sheets) > 1,
        hidden=(hidden,),
        num_envs=num_envs,
        total_timesteps=decisions,
        learning_rate=2e-3,
        learner="sparse",
        seed=seed,
        threads=1,
        eval_seconds=0.0,
    )


def match(one: Path, other: Path, name: str, part: Part) -> dict[str, float]:
    """Return the share of matches won by one policy against another at an edition, and its standard error."""
    config = MatchConfig(name, _TWO, seed=part.seed, threads=1)
    agents = [AnyEdition(config.table(), part.seed, str(folder)) for folder in (one, other)]
    shares = play(agents, config, int(part.config["deals"])).wins[..., 0].mean(axis=1)
    return {"share": float(shares.mean()), "error": float(shares.std(ddof=1) / math.sqrt(len(shares)))}


# What was found ---------------------------------------------------------------------------------------------


def elo(share: float, matches: float) -> float:
    """Return the Elo difference for a share of matches, with half a win and half a loss added."""
    added = (share * matches + 0.5) / (matches + 1.0)
    return ELO_OF_ODDS * math.log10(added / (1.0 - added))


def matrix(records: Sequence[Record]) -> dict[str, dict[str, Interval]]:
    """Return the Elo of each network against the specialists, by network and edition, with `MEAN`."""
    matches = 2.0 * float(records[0].part.config["deals"])
    result: dict[str, dict[str, Interval]] = {}
    for network in records[0].result:
        result[network] = {}
        for name in records[0].part.config["editions"]:
            if name == network:
                result[network][name] = Interval(0.0, 0.0, 0.0)
            else:
                met = [[record.result[network]["played"][name]] for record in records]
                result[network][name] = _elo(met, matches)
        away = [list(record.result[network]["played"].values()) for record in records]
        result[network][MEAN] = _elo(away, matches)
    return result


def _elo(met: Sequence[Sequence[Mapping[str, float]]], matches: float) -> Interval:
    """Return the mean Elo of some matches of each seed.

    The interval is over deals, or the bootstrap over seeds if there are enough seeds and it is wider: few
    seeds can agree by chance better than their deals allow.
    """
    each = [float(np.mean([elo(one["share"], matches) for one in of_seed])) for of_seed in met]
    mean = float(np.mean(each))
    slope = ELO_OF_ODDS / math.log(10.0)
    errors = [
        slope * one["error"] / max(one["share"] * (1 - one["share"]), 1e-3)
        for of_seed in met
        for one in of_seed
    ]
    half = NORMAL_QUANTILE * math.hypot(*errors) / len(errors)
    by_deals = Interval(mean, mean - half, mean + half)
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
    return [Table(("learned", *names, MEAN), tuple(rows), title)]


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
        home = list(result)[row] == names[column]
        text = "home" if home else f"{value:+.0f}"
        colour = "white" if abs(value) > 0.6 * reach else "black"
        axes.text(column, row, text, ha="center", va="center", fontsize=9, color=colour)
    axes.set_xticks(range(len(names)), names, rotation=20, fontsize=8)
    axes.set_yticks(range(len(result)), list(result), fontsize=8)
    figure.colorbar(image, ax=axes, label="Elo")


QUESTION: Final = Question(
    "transfer",
    "What does a policy learn for other editions?",
    Args,
    parts,
    measure,
    tables,
    plot,
    size=(9.0, 5.5),
)

if __name__ == "__main__":
    sys.exit(main(QUESTION))
