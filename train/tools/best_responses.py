"""Train many best responses, one after the other: a queue of runs of `train.exploit`.

    python -m train.tools.best_responses --dry-run
    python -m train.tools.best_responses --leaderboard docs/agents/leaderboard
    timeout -s INT 3600 python -m train.tools.best_responses --only champion

The list (train/tools/best_responses.toml, or --list) names the agents, tables, budgets and seeds. A stopped
queue continues with the same command, even in the middle of a run. When all seeds of an entry are done, the
best one is measured again in other deals and that result is reported, because a maximum over seeds is biased.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import tyro
from rich.console import Console
from rich.table import Table

from millebornes_env._util.command_line import sentence
from millebornes_env._util.files import write_json_atomically
from millebornes_env.agents.champion import CHAMPIONS, champion_for
from millebornes_env.arena.learning_curve import Score
from millebornes_env.arena.match import MatchConfig
from millebornes_env.cli.leaderboard import POINTS, gain_of, measure_of
from millebornes_env.errors import MilleBornesError, shown
from train import exploit
from train.common.options import Precision, parse_options
from train.common.run_folder import CHECKPOINT_FILE, RESPONSE_FILE, RunError, read_progress
from train.common.runs import run_trainer
from train.selfplay import CHECKPOINT_KIND

LIST: Final = Path(__file__).with_suffix(".toml")
CHAMPION: Final = "champion"
"""Value of `start` for the weights of the table's champion."""

_LATER: Final = ("ent_coef", "num_epochs", "num_envs", "batch_size")  # missing in results before 2026-11-23
_NAMES: Final = {
    *("edition", "players", "opponent_teams", "total_timesteps", "start", "hidden", "deals"),
    *("learning_rate", *_LATER),
}
_WHAT: Final = (
    "agent",
    "seed",
    *sorted(_NAMES - {"start"}),
)  # `start` is a path, which depends on the machine
_SEED_OF_REPORT: Final = 1 << 32  # added to a run's seed: deals that did not select the best seed


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    list: Path = LIST
    """TOML file with the list of runs"""
    only: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """train against this agent only; repeat it for several"""
    runs: Path = Path("runs/best-responses")
    """folder of the runs"""
    leaderboard: Path | None = None
    """folder of the leaderboard (docs/agents/leaderboard) to write the results to as well"""
    dry_run: bool = False
    """only report finished and remaining runs"""
    precision: Precision = "auto"
    """data type of matrix products, as for train.exploit"""
    threads: int = 2
    """CPU threads"""


@dataclass(frozen=True)
class Entry:
    """The runs against one agent at one table; they differ only in the seed."""

    runs: tuple[exploit.Args, ...]

    @property
    def name(self) -> str:
        """Agent and table, such as "champion at parker, 2 players"."""
        return f"{self.runs[0].agent} at {self.runs[0].edition}, {self.runs[0].players} players"


# The list --------------------------------------------------------------------------------------------------


def read_list(args: Args) -> list[Entry]:
    """Read the entries of the list, one for each agent.

    Raises:
        RunError: the file is missing or invalid; the message names the entry.
    """
    try:
        content = tomllib.loads(args.list.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"the list {str(args.list)!r} cannot be read ({error}): give another --list") from None
    responses = content.get("responses")
    if not isinstance(responses, list) or not responses:
        raise RunError(f"{str(args.list)!r} has no [[responses]]: write one for each best response")
    entries = []
    for number, given in enumerate(responses, 1):
        try:
            entries += _entries_of(dict(given), args)
        except (MilleBornesError, KeyError, TypeError, ValueError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else sentence(error)
            raise RunError(f"{str(args.list)!r}, entry {number} of [[responses]]: {reason}") from None
    known = {entry.runs[0].agent for entry in entries}
    if unknown := [name for name in args.only if name not in known]:
        raise RunError(f"--only {unknown[0]}: the list names {', '.join(sorted(known))}")
    return [entry for entry in entries if not args.only or entry.runs[0].agent in args.only]


def _entries_of(given: dict[str, Any], args: Args) -> list[Entry]:
    agents, seeds = given.pop("agent"), given.pop("seeds")
    if unknown := sorted(set(given) - _NAMES):
        raise ValueError(f"there is no option {shown(unknown[0])}; there are {', '.join(sorted(_NAMES))}")
    if not isinstance(seeds, list) or not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(
            f"seeds is {shown(seeds)}; it must be a list of different numbers, such as [1, 2, 3]"
        )
    if "hidden" in given:
        given["hidden"] = tuple(given["hidden"])
    return [
        Entry(tuple(_run_of(agent, seed, given, args) for seed in seeds))
        for agent in (agents if isinstance(agents, list) else [agents])
    ]


def _run_of(agent: str, seed: int, given: Mapping[str, Any], args: Args) -> exploit.Args:
    """Build one run, checked as far as possible before it starts."""
    run = exploit.Args(
        agent=agent, seed=seed, resume=True, precision=args.precision, threads=args.threads, **given
    )
    table = MatchConfig(run.edition, run.players).table()
    if run.start == CHAMPION:
        run = dataclasses.replace(run, start=str(CHAMPIONS / champion_for(table)))
    return dataclasses.replace(run, run_dir=args.runs / f"{exploit.folder_name(run)}-seed-{seed}")


# Progress --------------------------------------------------------------------------------------------------


def result_of(run: exploit.Args) -> dict[str, Any] | None:
    """Return the result of a finished run, or None.

    Raises:
        RunError: its folder holds the result of another run, or a damaged one.
    """
    path = exploit.training_args(run).run_dir / RESPONSE_FILE
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        usual = {name: getattr(exploit.Args, name) for name in _LATER}
        kept = {**usual, **result["options"]}
        gain_of(result)  # raises if the gain is missing
        found = {name: kept[name] for name in _WHAT}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RunError(f"{str(path)!r} is damaged ({error!r}): remove it, and it is measured again") from None
    wanted = {name: getattr(run, name) for name in _WHAT}
    wanted["hidden"] = list(run.hidden)
    for name in _WHAT:
        if found[name] != wanted[name]:
            raise RunError(
                f"{str(path)!r} is the result of another run: its {name} is {shown(found[name])}, in the "
                f"list it is {shown(wanted[name])}; give other --runs, or remove that folder"
            )
    whole: dict[str, Any] = result
    return whole


def decisions_of(run: exploit.Args) -> int:
    """Return the number of decisions that a run has learned from, according to its checkpoint."""
    if result_of(run) is not None:
        return run.total_timesteps
    folder = exploit.training_args(run).run_dir
    if not (folder / CHECKPOINT_FILE).exists():
        return 0
    return min(int(read_progress(folder, CHECKPOINT_KIND)["decisions"]), run.total_timesteps)


def progress_table(entries: Sequence[Entry]) -> Table:
    """Return a table of finished and remaining runs, a row for each."""
    table = Table(title="Best responses", title_justify="left")
    for heading in ("against", "table", "seed", "decisions", "done, %", "points per round, or matches won"):
        table.add_column(heading, justify="left" if heading in ("against", "table") else "right")
    for entry in entries:
        for run in entry.runs:
            result = result_of(run)
            gain = "-" if result is None else _with_interval(result)
            done = 100 * decisions_of(run) / run.total_timesteps
            where = f"{run.edition}, {run.players} players"
            table.add_row(run.agent, where, str(run.seed), f"{run.total_timesteps:,}", f"{done:.0f}", gain)
    return table


def _with_interval(result: Mapping[str, Any]) -> str:
    gain, low, high = gain_of(result), result["low"], result["high"]
    if measure_of(result) == POINTS:
        return f"{gain:+.1f} ({low:+.1f} to {high:+.1f})"
    return f"{100 * gain:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


# Training --------------------------------------------------------------------------------------------------


def finish_run(run: exploit.Args) -> str | None:
    """Train one best response to its end, resuming it if needed; return a problem with its files, or None."""
    if result_of(run) is not None:
        return None
    start = time.perf_counter()
    response = exploit.respond(run)
    if response.score is None:
        return response.problem
    folder = exploit.training_args(run).run_dir
    write_json_atomically(folder / RESPONSE_FILE, described(run, response.score))
    words = exploit.in_words(run, response.score)
    print(f"seed {run.seed}: {words}, {time.perf_counter() - start:,.0f} s", flush=True)
    return None


def report(entry: Entry) -> dict[str, Any]:
    """Measure the best of the seeds again in other deals, and add the gains of all seeds."""
    results = [result for run in entry.runs if (result := result_of(run)) is not None]
    if len(results) == 1:
        return results[0]
    gains = [gain_of(result) for result in results]
    best = entry.runs[gains.index(max(gains))]
    again = dataclasses.replace(best, seed=best.seed + _SEED_OF_REPORT)
    score = exploit.gain(again, exploit.training_args(best).run_dir)
    seeds = {str(run.seed): gain for run, gain in zip(entry.runs, gains, strict=True)}
    result = described(best, score)
    return {**result, f"{measure_of(result)}_by_seed": seeds}


def described(run: exploit.Args, score: Score) -> dict[str, Any]:
    """Return a result as JSON values, with `start` as in the list: results are published, paths are not."""
    result = exploit.described(run, score)
    if Path(run.start).parent == CHAMPIONS:
        result["options"]["start"] = CHAMPION
    return result


def _finish(entry: Entry, args: Args) -> None:
    result = report(entry)
    unit = "points per round" if measure_of(result) == POINTS else "of the matches"
    print(f"{entry.name}: {_with_interval(result)} {unit}", flush=True)
    if args.leaderboard is not None:
        run = dataclasses.replace(entry.runs[0], leaderboard=args.leaderboard)
        print(f"wrote {exploit.keep(result, run)}", flush=True)


def main() -> int:
    """Run the command line; return the exit status."""
    return run_trainer(_command, "stopped; give the same command again to continue")


def _command() -> str | None:
    args = parse_options(Args, __doc__)
    entries = read_list(args)
    if not args.dry_run:
        for entry in entries:
            for run in entry.runs:
                left = run.total_timesteps - decisions_of(run)
                if left:
                    print(f"{entry.name}, seed {run.seed}: {left:,} decisions to go", flush=True)
                if (problem := finish_run(run)) is not None:
                    return problem
            _finish(entry, args)
    Console(width=None if sys.stdout.isatty() else 120).print(progress_table(entries))
    return None


if __name__ == "__main__":
    sys.exit(main())
