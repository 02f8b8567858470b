"""Compare the speed of the largest and the smallest table: `python -m research.measurements.tables`.

Every edition at every table, the padded layout beside the plain one, and the race beside Mille Bornes: random
legal play on one core, all settings in turn, medians over the rounds (see `benchmarks.throughput` for what a
step is).
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

import tyro
from tqdm import tqdm

from benchmarks.results import environment_info, print_table, save_bar_chart, save_results
from benchmarks.throughput import Setting, cores_for, measure_in_turn, ratio_of, to_row, vector_case
from millebornes_env import edition, editions
from millebornes_env._util.command_line import warn
from millebornes_env.games.wielerspel.editions import edition as race_sheet
from millebornes_env.render.millebornes.editions import table_name

RACE = "arc_en_ciel"
PLAYERS_OF_THE_RACE = 4
"""Players at the table of the race in the comparison with the slowest table of Mille Bornes."""


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    batch: int = 4096
    """games in a batch"""
    seconds: float = 0.3
    """seconds that each table plays in each round of the benchmark"""
    repeats: int = 7
    """rounds of the benchmark; the median is reported"""
    out: Path = Path("benchmarks/results/tables")
    """path of the .json and the .png file, without suffix"""


def build_settings(args: Args) -> list[Setting]:
    """Return all tables of all editions, two with the padded layout and the rules, and those of the race."""
    tables = [(name, *table) for name in editions() for table in edition(name).tables]
    cases = [
        vector_case(args.batch, 1, players, f"{name} {table_name(players, teams)}", edition=name, teams=teams)
        for name, players, teams in tables
    ]
    cases += [
        vector_case(
            args.batch, 1, players, f"parker {players}, padded, with rules", padded=True, observe_rules=True
        )
        for players in (2, 6)
    ]
    cases += [
        vector_case(args.batch, 1, players, f"{RACE} {players}", edition=RACE)
        for players in race_sheet(RACE).players
    ]
    settings = []
    for case in tqdm(cases, desc="building and warming up"):
        with cores_for(1):
            play = case.build()
            play(0.1)
        settings.append(Setting(case, play, 1))
    return settings


def main() -> None:
    """Run the command line."""
    args = tyro.cli(Args, description=__doc__)
    settings = build_settings(args)
    measure_in_turn(settings, args.seconds, args.repeats)
    rows = [to_row(setting) for setting in settings]
    races = [setting for setting in settings if setting.case.name.startswith(RACE)]
    plain = [setting for setting in settings if "padded" not in setting.case.name and setting not in races]
    fastest, slowest = (pick(plain, key=lambda one: statistics.median(one.rates)) for pick in (max, min))
    ratio = ratio_of(fastest, slowest)
    print_table(rows)
    print(f"fastest / slowest table: {fastest.case.name} / {slowest.case.name} = {ratio:.2f}")
    figures = {f"{fastest.case.name} / {slowest.case.name}": ratio}
    race = next(one for one in races if one.case.name == f"{RACE} {PLAYERS_OF_THE_RACE}")
    label = f"{race.case.name} / {slowest.case.name}"
    figures[label] = ratio_of(race, slowest)
    print(f"race / slowest table: {label} = {figures[label]:.2f}")
    info = {**environment_info(), "batch": args.batch, "repeats": args.repeats, "figures": figures}
    save_results(args.out.with_suffix(".json"), rows, info)
    warn(save_bar_chart(args.out.with_suffix(".png"), rows, title="Steps per second by edition and table"))
    print(f"written: {args.out.with_suffix('.json')}, {args.out.with_suffix('.png')}")


if __name__ == "__main__":
    main()
