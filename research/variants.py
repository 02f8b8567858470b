"""Measure generalization across rules: `python -m research.variants`.

Networks learn by self-play on the sheets of `variants-v1:train`: the *generalist* sees the rules of its game,
the *blind* one does not, nor the features that follow from them. On sheets that they never met, they and the
agents of the package play against a *specialist*, a network of the same size that learned that sheet alone.
*few-shot* is the generalist after some more decisions on that sheet. docs/variants.md defines the splits and
the score: points per round lost to the specialist (sheets with points), and Elo (all sheets).

On the mini sheets nothing is played: a generalist of `mini-variants-v1:train`, and the agents, are evaluated
exactly on the 200 test sheets.

The networks are kept in the folder of the parts. All parts take about two hours of two cores.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env import split
from millebornes_env._util.files import write_json_atomically
from millebornes_env._util.texts import json_of_file
from millebornes_env._util.versions import versions
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.errors import MilleBornesError
from millebornes_env.solving.minis import judge_sheets
from research.frame import OnProgress, Options, Question, main
from research.intervals import Interval, over_sheets
from research.parts import Part, Record
from research.pictures import COLOURS, styled
from research.tables import Table
from research.transfer import AnyEdition, elo
from research.variance import points_of_deals
from train.selfplay import Args as TrainingArgs
from train.selfplay import Trainer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VERSION: Final = "variants-v1"
SPLITS: Final = ("inside", "combinations", "beyond", "printed")
AGENTS: Final = {
    "uniform": "random",
    "greedy": "greedy",
    "strategist": "strategist",
    "champion": "champion:which=all-2",
}
"""The agents of the package in the table."""
GENERALIST: Final = "generalist"
BLIND: Final = "blind"
FEW_SHOT: Final = "few-shot"
MINI: Final = "mini"
POLICIES: Final = "policies"
"""Folder of the trained networks, in the folder of the parts."""
TRAINING: Final = "training.json"
"""File beside a network with the options that it was trained with, so that a stopped part keeps it."""


@dataclass(frozen=True)
class Args(Options):
    """The options of the command line."""

    seeds: int = 3
    """number of seeds of each generalist"""
    sheets: int = 20
    """sheets of each split with a specialist (all six of the printed ones)"""
    decisions: int = 100_000_000
    """decisions that a generalist learns from"""
    specialist: int = 10_000_000
    """decisions that a specialist learns from"""
    few_shot: int = 1_000_000
    """further decisions of the generalist on a test sheet"""
    mini: int = 30_000_000
    """decisions that the generalist of the mini sheets learns from"""
    hidden: int = 128
    """units of the hidden layer of every network"""
    deals: int = 2_000
    """deals of each pair, two rounds each"""


def parts(options: Args) -> list[Part]:
    """Return a part for each generalist, each test sheet, and each policy of the mini sheets.

    Raises:
        MilleBornesError: there is no sheet.
    """
    if options.sheets < 1:
        raise MilleBornesError(f"--sheets is {options.sheets}; it must be 1 or more")
    small = options.quick
    shared = {"hidden": 16 if small else options.hidden}
    learned = {**shared, "decisions": 40_000 if small else options.decisions}
    seeds = list(options.all_seeds)
    result = [
        Part(f"{kind}-{seed}", seed, {"kind": kind, **learned}, learned["decisions"] / 2e5)
        for kind in (GENERALIST, BLIND)
        for seed in seeds
    ]
    played: dict[str, Any] = {
        **learned,
        "kind": "sheet",
        "seeds": seeds,
        "specialist": 20_000 if small else options.specialist,
        "few_shot": 10_000 if small else options.few_shot,
        "deals": 10 if small else options.deals,
    }
    weight = (played["specialist"] + len(seeds) * played["few_shot"]) / 2e5
    for name in SPLITS:
        sheets = split(f"{VERSION}:test/{name}")
        for number in range(min(sheets.size, 1 if small else options.sheets)):
            config = {**played, "split": name, "sheet": sheets.sheet(number).label}
            result.append(Part(f"{name}-{number:03d}", options.seed, config, weight))
    exact = {"kind": MINI, "sheets": 2 if small else 200}
    result += [Part(f"mini-{name}", options.seed, {**exact, "agent": name}, 10.0) for name in AGENTS]
    budget = 20_000 if small else options.mini
    for seed in seeds:
        config = {**shared, **exact, "agent": GENERALIST, "decisions": budget}
        result.append(Part(f"mini-{GENERALIST}-{seed}", seed, config, budget / 3e5))
    return result


# Measuring --------------------------------------------------------------------------------------------------


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Train a generalist; or train a specialist and play against it; or evaluate a policy on mini sheets."""
    kind = part.config["kind"]
    if kind == MINI:
        return measure_minis(part, on_progress)
    if kind == "sheet":
        return measure_sheet(part, on_progress)
    folder = part.folder / POLICIES / part.name
    return {"decisions": train(long_run(part, f"{VERSION}:train", kind == GENERALIST), folder, on_progress)}


def train(args: TrainingArgs, folder: Path, on_progress: OnProgress) -> int:
    """Learn by self-play, and write the policy, unless the folder has that of the same options.

    Returns:
        The number of decisions.
    """
    about = folder / TRAINING
    if about.is_file():
        kept = json_of_file(about, MilleBornesError)
        if kept["config"] == args.config():
            return int(kept["decisions"])
    trainer = Trainer(args)
    while trainer.decisions < args.total_timesteps:
        trainer.collect()
        trainer.learn(trainer.decisions / args.total_timesteps)
        on_progress(trainer.decisions / args.total_timesteps)
    trainer.save_policy(folder)
    content = {"config": args.config(), "decisions": trainer.decisions, "versions": versions()}
    write_json_atomically(about, content)
    return int(trainer.decisions)


def long_run(part: Part, edition: str, sees_rules: bool) -> TrainingArgs:
    """Return the options of a generalist."""
    is_small = part.config["decisions"] < 1_000_000
    return TrainingArgs(
        edition=(edition,),
        observe_rules=sees_rules,
        features=sees_rules,
        episode="round",
        hidden=(part.config["hidden"],),
        total_timesteps=part.config["decisions"],
        num_envs=64 if is_small else 2048,
        batch_size=1024 if is_small else 2048,
        num_epochs=1,
        final_learning_rate=1e-5,
        ent_coef=0.01,
        final_ent_coef=0.0003,
        learner="sparse",
        seed=part.seed,
        threads=1,
        eval_seconds=0.0,
    )


def short_run(part: Part, decisions: int, start: str = "") -> TrainingArgs:
    """Return the options of a specialist, or of a generalist that learns on at one sheet."""
    return TrainingArgs(
        edition=(part.config["sheet"],),
        episode="round",
        hidden=(part.config["hidden"],),
        total_timesteps=decisions,
        num_envs=64 if decisions < 100_000 else 256 if start else 1024,
        start=start,
        learning_rate=3e-4 if start else 1e-3,
        final_learning_rate=1e-5,
        ent_coef=0.001 if start else 0.02,
        learner="sparse",
        seed=part.seed,
        threads=1,
        eval_seconds=0.0,
    )


def measure_sheet(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Train the specialist of a sheet, and play all others against it.

    Returns:
        For each contestant mean points per round against the specialist with their standard error over deals
        (None without points), and its share of the wins.
    """
    config, policies = part.config, part.folder / POLICIES
    specialist = policies / part.name
    train(short_run(part, config["specialist"]), specialist, lambda share: on_progress(0.7 * share))
    contestants: dict[str, tuple[str, Path]] = {}
    for seed in config["seeds"]:
        start = policies / f"{GENERALIST}-{seed}"
        few = policies / f"{part.name}-{FEW_SHOT}-{seed}"
        train(short_run(part, config["few_shot"], str(start)), few, lambda _: None)
        contestants |= {f"{GENERALIST}-{seed}": ("", start), f"{FEW_SHOT}-{seed}": ("", few)}
        contestants[f"{BLIND}-{seed}"] = ("", policies / f"{BLIND}-{seed}")
    contestants |= {name: (spec, Path()) for name, spec in AGENTS.items()}
    match = MatchConfig(config["sheet"], episode="round", seed=part.seed, threads=1)
    against = AnyEdition(match.table(), part.seed, str(specialist))
    result: dict[str, Any] = {}
    for name, (spec, folder) in contestants.items():
        agent = spec or AnyEdition(match.table(), part.seed, str(folder))
        outcome = play([agent, against], match, config["deals"])
        points = points_of_deals(outcome)
        result[name] = {
            "points": float(points.mean()) if match.has_points else None,
            "error": float(points.std(ddof=1) / np.sqrt(len(points))) if match.has_points else None,
            "won": float(outcome.wins[..., 0].mean()),
        }
    on_progress(1.0)
    return result


def measure_minis(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Evaluate a policy exactly on the test sheets; percent of the payoff range for each."""
    name, sheets = part.config["agent"], part.config["sheets"]
    spec = AGENTS.get(name, "")
    if not spec:
        folder = part.folder / POLICIES / part.name
        train(long_run(part, "mini-variants-v1:train", True), folder, lambda share: on_progress(0.9 * share))
        spec = f"policy:{folder},mode=sample"
    return {"percent": [100 * one.of_range for one in judge_sheets(spec, count=sheets)]}


# What was found ---------------------------------------------------------------------------------------------


def contestants_of(records: Sequence[Record]) -> dict[str, list[str]]:
    """Return the names in the results of each contestant, one for each seed."""
    names = next((record.result for record in records if record.part.config["kind"] == "sheet"), {})
    result: dict[str, list[str]] = {}
    for name in (*AGENTS, BLIND, GENERALIST, FEW_SHOT):
        of_seeds = [one for one in names if one == name or one.rpartition("-")[0] == name]
        if of_seeds:
            result[name] = of_seeds
    return result


def scores(records: Sequence[Record], unit: str) -> dict[str, dict[str, Interval]]:
    """Return the score of each contestant on each split.

    Args:
        records: the records.
        unit: "points": points per round lost to the specialist; "elo": Elo above the specialist.
    """
    result: dict[str, dict[str, Interval]] = {}
    for name, of_seeds in contestants_of(records).items():
        result[name] = {}
        for one in SPLITS:
            found = [record for record in records if record.part.config.get("split") == one]
            rows = [[value_of(record, seed, unit) for seed in of_seeds] for record in found]
            known = [[value for value in row if value is not None] for row in rows if None not in row]
            if known:
                result[name][one] = over_sheets(known)
    return result


def value_of(record: Record, name: str, unit: str) -> float | None:
    """Return the points lost or the Elo of a contestant on the sheet of a record."""
    met = record.result[name]
    if unit == "elo":
        return elo(met["won"], 2.0 * record.part.config["deals"])
    return None if met["points"] is None else -float(met["points"])


def mini_scores(records: Sequence[Record]) -> dict[str, Interval]:
    """Return the exploitability of each policy on the test sheets in percent of the payoff range."""
    found: dict[str, list[list[float]]] = {}
    for record in records:
        if record.part.config["kind"] == MINI:
            found.setdefault(record.part.config["agent"], []).append(record.result["percent"])
    return {name: over_sheets(np.array(of_seeds).T) for name, of_seeds in found.items()}


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the tables of points, Elo and mini sheets."""
    result = []
    for unit, title, form in (
        ("points", "points per round lost to the specialist, interquartile mean over sheets, ± 95 %", "+.0f"),
        ("elo", "Elo, the specialist's is 0", "+.0f"),
    ):
        found = scores(records, unit)
        rows = tuple(
            (name, *(of_splits[one].text(form) if one in of_splits else "" for one in SPLITS))
            for name, of_splits in found.items()
        )
        if rows:
            result.append(Table(("policy", *(f"`test/{one}`" for one in SPLITS)), rows, title))
    minis = tuple((name, one.text(".2f")) for name, one in mini_scores(records).items())
    if minis:
        title = "exploitability on mini-variants-v1:test, % of the payoff range"
        result.append(Table(("policy", "interquartile mean over sheets, ± 95 %"), minis, title))
    return result


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot the points lost on each split, and the exploitability on the mini sheets."""
    left, right = figure.subplots(1, 2, width_ratios=(3, 1))
    found = scores(records, "points")
    for index, (name, of_splits) in enumerate(found.items()):
        at = [SPLITS.index(one) + (index - len(found) / 2) * 0.1 for one in of_splits]
        draw(left, at, list(of_splits.values()), name, COLOURS[index % len(COLOURS)])
    styled(left, "Points per round lost to the specialist")
    left.set_xticks(range(len(SPLITS)), SPLITS)
    left.axhline(0, color="#777777", linewidth=0.8)
    left.set_yscale("symlog", linthresh=30)
    left.legend(frameon=False, fontsize=8)
    minis = mini_scores(records)
    draw(right, list(range(len(minis))), list(minis.values()), "", COLOURS[0])
    styled(right, "Exploitability on minis, %", yscale="log")
    right.set_xticks(range(len(minis)), list(minis), rotation=30, fontsize=8)


def draw(axes: Any, at: Sequence[float], intervals: Sequence[Interval], name: str, colour: str) -> None:
    """Draw intervals at positions."""
    means, widths = [one.mean for one in intervals], [one.half_width for one in intervals]
    axes.errorbar(at, means, yerr=widths, fmt="o", capsize=2, color=colour, label=name)


QUESTION: Final = Question(
    "variants",
    "How well does a policy play rules that it never met?",
    Args,
    parts,
    measure,
    tables,
    plot,
    size=(10.0, 4.5),
    page=Path("docs/variants.md"),
)

if __name__ == "__main__":
    sys.exit(main(QUESTION))
