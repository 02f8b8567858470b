"""Measure generalization across rules: `python -m research.variants`.

Networks learn by self-play on the sheets of `variants-v1:train`: the *generalist* sees the rules of its game,
the *blind* one does not, nor the features that follow from them. On sheets that they never met, they and the
agents of the package play against a *specialist*, a network of the same size that learned that sheet alone.
*few-shot* is the generalist after some more decisions on that sheet. docs/research/variants.md defines the
splits and the score: points per round lost to the specialist (sheets with points), and Elo (all sheets).

On the mini sheets nothing is played: a generalist of `mini-variants-v1:train`, and the agents, are evaluated
exactly on the 200 test sheets.

The networks are kept in the folder of the parts. All parts take about two hours of two cores.
"""

from __future__ import annotations

import re
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
from millebornes_env.arena.intervals import standard_error
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.errors import MilleBornesError
from millebornes_env.solving.minis import judge_sheets
from research.frame import OnProgress, Options, Question, main
from research.intervals import Interval, over_sheets
from research.parts import Part, Record
from research.pictures import COLOURS, styled
from research.tables import Table
from research.tallies import grouped
from research.transfer import AnyEdition, elo, trainer_of
from research.transfer import train as learn
from research.variance import points_of_deals
from train.selfplay import Args as TrainingArgs

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
SPECIALIST: Final = "specialist"
PLAY: Final = "play"
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
    agents: tuple[str, ...] = ()
    """your agents, to be measured too: run folders, or `my_file.py:Class`"""
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


def test_sheets(options: Args) -> dict[str, list[str]]:
    """Return the names of the sheets with a specialist, by split."""
    most = 1 if options.quick else options.sheets
    found = {name: split(f"{VERSION}:test/{name}") for name in SPLITS}
    return {
        name: [sheets.sheet(number).label for number in range(min(most, sheets.size))]
        for name, sheets in found.items()
    }


def parts(options: Args) -> list[Part]:
    """Return the parts in the order of what they need: networks, contestants, policies of the mini sheets.

    Raises:
        MilleBornesError: there is no sheet.
    """
    if options.sheets < 1:
        raise MilleBornesError(f"--sheets is {options.sheets}; it must be 1 or more")
    small, sheets = options.quick, test_sheets(options)
    learned, alone, more, mini = (
        {"hidden": 16 if small else options.hidden, "decisions": few if small else many}
        for few, many in (
            (40_000, options.decisions),
            (20_000, options.specialist),
            (10_000, options.few_shot),
            (20_000, options.mini),
        )
    )
    result = [
        Part(f"{kind}-{seed}", seed, {"kind": kind, **learned}, learned["decisions"] / 2e5)
        for kind in (GENERALIST, BLIND)
        for seed in options.all_seeds
    ]
    for name in [name for names in sheets.values() for name in names]:
        config = {"kind": SPECIALIST, "sheet": name, **alone}
        result.append(Part(place(name), options.seed, config, alone["decisions"] / 2e5))
    played = {"kind": PLAY, "sheets": sheets, "deals": 10 if small else options.deals}
    exact = {"kind": MINI, "sheets": 2 if small else 200}
    own = {re.sub(r"[^A-Za-z0-9_.=+-]+", "_", spec): spec for spec in options.agents}
    for name, spec in (AGENTS | own).items():
        result.append(Part(f"play-{name}", options.seed, {**played, "agent": name, "spec": spec}, 60.0))
        result.append(Part(f"mini-{name}", options.seed, {**exact, "agent": name, "spec": spec}, 10.0))
    for seed in options.all_seeds:
        result += [
            Part(f"play-{kind}-{seed}", seed, {**played, "agent": kind}, 60.0) for kind in (GENERALIST, BLIND)
        ]
        config = {**played, **more, "agent": FEW_SHOT}
        result.append(Part(f"play-{FEW_SHOT}-{seed}", seed, config, 60.0 + 66 * more["decisions"] / 2e5))
        config = {**exact, **mini, "agent": GENERALIST}
        result.append(Part(f"mini-{GENERALIST}-{seed}", seed, config, 10.0 + mini["decisions"] / 3e5))
    return result


def place(sheet: str) -> str:
    """Return the folder of the networks of a sheet, such as "inside-17" for "variants-v1:test/inside/17"."""
    return sheet.rpartition("test/")[2].replace("/", "-")


# Measuring --------------------------------------------------------------------------------------------------


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Train a network, play a contestant against all specialists, or evaluate a policy on the mini sheets."""
    kind = part.config["kind"]
    if kind == MINI:
        return measure_minis(part, on_progress)
    if kind == PLAY:
        return measure_play(part, on_progress)
    folder = part.folder / POLICIES / part.name
    if kind == SPECIALIST:
        return {"decisions": train(short_run(part, part.config["sheet"]), folder, on_progress)}
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
    decisions = learn(args, folder, on_progress)
    write_json_atomically(about, {"config": args.config(), "decisions": decisions, "versions": versions()})
    return decisions


def long_run(part: Part, edition: str, sees_rules: bool) -> TrainingArgs:
    """Return the options of a generalist."""
    is_small = part.config["decisions"] < 1_000_000
    return trainer_of(
        part,
        edition=(edition,),
        observe_rules=sees_rules,
        features=sees_rules,
        episode="round",
        total_timesteps=part.config["decisions"],
        num_envs=64 if is_small else 2048,
        batch_size=1024 if is_small else 2048,
        num_epochs=1,
        final_learning_rate=1e-5,
        ent_coef=0.01,
        final_ent_coef=0.0003,
    )


def short_run(part: Part, sheet: str, start: str = "") -> TrainingArgs:
    """Return the options of a specialist, or of a generalist that learns on at one sheet."""
    decisions = part.config["decisions"]
    return trainer_of(
        part,
        edition=(sheet,),
        episode="round",
        total_timesteps=decisions,
        num_envs=64 if decisions < 100_000 else 256 if start else 1024,
        start=start,
        learning_rate=3e-4 if start else 1e-3,
        final_learning_rate=1e-5,
        ent_coef=0.001 if start else 0.02,
    )


def measure_play(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Play a contestant against the specialist of each sheet, without further learning but for few-shot.

    Returns:
        For each split a list with a row for each sheet: mean points per round against the specialist, with
        their standard error over deals (None without points), and the share of the wins.
    """
    config = part.config
    total = sum(map(len, config["sheets"].values()))
    result: dict[str, list[dict[str, float | None]]] = {}
    for name, sheets in config["sheets"].items():
        result[name] = []
        for sheet in sheets:
            result[name].append(match(part, sheet, contestant_of(part, sheet)))
            on_progress(sum(map(len, result.values())) / total)
    return result


def contestant_of(part: Part, sheet: str) -> str | Path:
    """Return the specification of a contestant, or the folder of its network at a sheet."""
    config, policies = part.config, part.folder / POLICIES
    if "spec" in config:
        return str(config["spec"])
    if config["agent"] != FEW_SHOT:
        return policies / f"{config['agent']}-{part.seed}"
    folder = policies / f"{place(sheet)}-{FEW_SHOT}-{part.seed}"
    train(short_run(part, sheet, str(policies / f"{GENERALIST}-{part.seed}")), folder, lambda _: None)
    return folder


def match(part: Part, sheet: str, contestant: str | Path) -> dict[str, float | None]:
    """Play a contestant against the specialist of a sheet."""
    config = MatchConfig(sheet, episode="round", seed=part.seed, threads=1)
    table, specialist = config.table(), part.folder / POLICIES / place(sheet)
    against = AnyEdition(table, part.seed, str(specialist))
    agent = AnyEdition(table, part.seed, str(contestant)) if isinstance(contestant, Path) else contestant
    outcome = play([agent, against], config, part.config["deals"])
    points, won = points_of_deals(outcome), float(outcome.wins[..., 0].mean())
    if not config.has_points:
        return {"points": None, "error": None, "won": won}
    return {"points": float(points.mean()), "error": standard_error(points), "won": won}


def measure_minis(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Evaluate a policy exactly on the test sheets; percent of the payoff range for each."""
    sheets, spec = part.config["sheets"], part.config.get("spec")
    if spec is None:
        folder = part.folder / POLICIES / part.name
        train(long_run(part, "mini-variants-v1:train", True), folder, lambda share: on_progress(0.9 * share))
        spec = f"policy:{folder},mode=sample"
    return {"percent": [100 * one.of_range for one in judge_sheets(spec, count=sheets)]}


# What was found ---------------------------------------------------------------------------------------------


def by_agent(records: Sequence[Record], kind: str) -> dict[str, list[Record]]:
    """Return the records of a kind by contestant."""
    of_kind = [record for record in records if record.part.config["kind"] == kind]
    return grouped(of_kind, lambda record: str(record.part.config["agent"]))


def scores(records: Sequence[Record], unit: str) -> dict[str, dict[str, Interval]]:
    """Return the score of each contestant on each split.

    Args:
        records: the records.
        unit: "points": points per round lost to the specialist; "elo": Elo above the specialist.
    """
    result: dict[str, dict[str, Interval]] = {}
    for agent, of_seeds in by_agent(records, PLAY).items():
        rounds = 2.0 * of_seeds[0].part.config["deals"]
        result[agent] = {}
        for name in SPLITS:
            sheets = [*zip(*(record.result[name] for record in of_seeds), strict=True)]
            if unit == "elo":
                values = [[elo(one["won"], rounds) for one in sheet] for sheet in sheets]
            else:
                counted = [sheet for sheet in sheets if sheet[0]["points"] is not None]
                values = [[-one["points"] for one in sheet] for sheet in counted]
            if values:
                result[agent][name] = over_sheets(values)
    return result


def mini_scores(records: Sequence[Record]) -> dict[str, Interval]:
    """Return the exploitability of each policy on the test sheets in percent of the payoff range."""
    return {
        name: over_sheets(np.transpose([record.result["percent"] for record in of_seeds]))
        for name, of_seeds in by_agent(records, MINI).items()
    }


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the tables of points, Elo and mini sheets."""
    result = []
    for unit, title in (
        ("points", "points per round lost to the specialist, interquartile mean over sheets, ± 95 %"),
        ("elo", "Elo, the specialist's is 0"),
    ):
        rows = [
            (name, *(of_splits[one].text("+.0f") if one in of_splits else "" for one in SPLITS))
            for name, of_splits in scores(records, unit).items()
        ]
        if rows:
            result.append(Table(("policy", *(f"`test/{one}`" for one in SPLITS)), rows, title))
    minis = [(name, one.text(".2f")) for name, one in mini_scores(records).items()]
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
    Args, parts, measure, tables, plot, size=(10.0, 4.5),
    page=Path("docs/research/variants.md"),
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(QUESTION))
