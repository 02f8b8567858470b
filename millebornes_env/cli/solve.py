"""Solve a mini deck, or measure how far agents are from an equilibrium on it.

python -m millebornes_env solve mini8                       # value of the game, a policy near an equilibrium
python -m millebornes_env solve mini10 --checkpoint mini10.npz --minutes 10
python -m millebornes_env solve mini8 random greedy arnold  # exploitability of each agent
python -m millebornes_env solve mini8 model.zip             # of one, with the decisions that cost most
python -m millebornes_env solve mini12 --count              # size of the game
python -m millebornes_env solve mini12 --checkpoint mini12.npz --json mini12.json  # bounds of its value
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from millebornes_env._util.command_line import program, run_command, say
from millebornes_env._util.files import check_writable, locked, write_json_atomically
from millebornes_env._util.signals import Stops
from millebornes_env.cli.editions import with_its_game
from millebornes_env.errors import OptionError, SolvingError
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as game_of
from millebornes_env.solving.cfr import Polished, Solver
from millebornes_env.solving.cfr_in_parts import solver_of
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.policies import write_policy
from millebornes_env.solving.tree import Counts
from millebornes_env.solving.values import WHOLE, Judgement, count_nodes

_REPORT_SECONDS: Final = 2.0
_SAVE_SECONDS: Final = 60.0
_SAVE_RATIO: Final = 20.0
"""Least ratio of the time between checkpoints to the time it takes to write one."""
_CHECK_RATIO: Final = 1.25
"""Growth of the iterations between computations of NashConv, each of which costs one or two iterations."""
_FIRST_POLISHING: Final = 64
"""Iterations before the first polishing of the pruned game; then they double."""
DEFAULT_UNTIL: Final = {100_000: 0.0001, 10_000_000: 0.001}
"""Default --until by the largest number of decisions; these games take seconds."""
_UNTIL_OF_LARGE: Final = 0.1
_MINUTES: Final = 60.0
"""Default --minutes."""
_MOST_DIGITS: Final = 7
_TOO_FAR: Final = 20.0
"""Logarithm of a number of iterations that takes too long to report."""
HEADINGS: Final = (
    "policy",
    "exploitability",
    "of the payoff range",
    "value (seat 0)",
    "best response (seat 0)",
    "best response (seat 1)",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (None: the arguments of the process), and return the exit code."""
    return run_command(
        lambda: run(parser().parse_intermixed_args(arguments)),
        stopped="stopped; if there is a checkpoint, the same command continues from it",
    )


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    command = argparse.ArgumentParser(
        prog=f"{program()} solve", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("deck", help="mini deck (mini7, mini8, mini10, mini12) or another small rule sheet")
    command.add_argument(
        "agents",
        nargs="*",
        default=[],  # else argparse names it, too, when the deck is missing
        metavar="AGENT",
        help="measure the exploitability of these agents, run folders or zip files of Stable-Baselines3, "
        "instead of solving the game; of a single one also the decisions that cost most",
    )
    command.add_argument("--count", action="store_true", help="only count the nodes and information sets")
    command.add_argument(
        "--until", type=float, metavar="PERCENT",
        help="solve until exploitability is below this percentage of the payoff range (default: "
        "0.0001 for games of up to 100,000 decisions, 0.001 for up to 10 million, which take "
        "seconds, else 0.1)",
    )  # fmt: skip
    command.add_argument(
        "--minutes", type=float,
        help="time limit in minutes; polishing the pruned game may add a quarter of the time of all "
        f"iterations, including those before the checkpoint (default: {_MINUTES:g})",
    )  # fmt: skip
    command.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="checkpoint to load, if it exists, and to save"
    )
    command.add_argument("--out", type=Path, metavar="FILE", help="output file for the policy (.npz)")
    command.add_argument(
        "--json", type=Path, metavar="FILE", help="output file for the value and its bounds (.json)"
    )
    command.add_argument(
        "--threads",
        type=int,
        help="threads for evaluating policies and for solving large decks (default: all processors)",
    )
    command.add_argument("--seed", type=int, help="seed of randomized agents (default: 0)")
    return command


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    _check(args)
    sheet = find_edition(with_its_game(args.deck))
    game: Solvable = game_of(sheet.game).hook("solving.solvable", "the command solve")(sheet)
    if args.count:
        print(
            words_of_counts(game, count_nodes(game, threads=args.threads, on_progress=progress("counting")))
        )
    elif args.agents:
        _judge_agents(args, game)
    else:
        _solve(args, game)


def _check(args: argparse.Namespace) -> None:
    if args.until is not None and not 0 < args.until <= 100:
        raise OptionError(f"--until is {args.until:g}: it is a percentage above 0, at most 100")
    if args.minutes is not None and not args.minutes > 0:
        raise OptionError(f"--minutes is {args.minutes:g}: it must be above 0")
    if args.threads is not None and args.threads < 1:
        raise OptionError(f"--threads is {args.threads}: it must be at least 1")
    files = [path.absolute() for path in (args.checkpoint, args.out, args.json) if path is not None]
    if (args.agents or args.count) and (files or args.until is not None or args.minutes is not None):
        raise OptionError(
            "--checkpoint, --out, --json, --until and --minutes are options for solving: leave them out when "
            "naming agents, and with --count"
        )
    if args.agents and args.count:
        raise OptionError("--count measures the deck: leave out the agents")
    if args.seed is not None and not args.agents:
        raise OptionError("--seed is for the random choices of agents, and none are named: leave it out")
    if len(set(files)) < len(files):
        raise OptionError("two of --checkpoint, --out and --json name the same file: give each its own")


def _judge_agents(args: argparse.Namespace, game: Solvable) -> None:
    from millebornes_env.solving.as_policy import policy_of  # noqa: PLC0415 - needed only here
    from millebornes_env.solving.report import COSTLY, exploitability  # noqa: PLC0415 - likewise

    policies = [policy_of(agent, game, args.seed or 0) for agent in args.agents]
    print(" | ".join(HEADINGS))
    for agent, policy in zip(args.agents, policies, strict=True):
        found = exploitability(policy, game, threads=args.threads, on_progress=progress(agent))
        print(" | ".join(cells_of(replace(found.judgement, name=agent))), flush=True)
    if len(args.agents) == 1 and found.costly:
        print(COSTLY, *found.costly, sep="\n")


def cells_of(judgement: Judgement) -> tuple[str, ...]:
    """Return a row of a table with `HEADINGS`."""
    return (
        judgement.name,
        f"{judgement.exploitability:.4g}",
        f"{100 * judgement.of_range:.3g} %",
        f"{judgement.value:+.4f}",
        *(f"{value:+.4f}" for value in judgement.best),
    )


def words_of_counts(game: Solvable, counts: Counts) -> str:
    """Describe the size of a game."""
    first, second = counts.infosets
    return (
        f"{game.name}: {counts.chance_nodes:,} chance nodes, {counts.play_nodes:,} decisions and "
        f"{counts.end_nodes:,} ends of (public history, hand, hand), {counts.public_nodes:,} public "
        f"histories; {first:,} + {second:,} information sets; at most {counts.most_actions} actions; seat 0 "
        f"wins {counts.lowest:+,} to {counts.highest:+,} points"
    )


# Solving ----------------------------------------------------------------------------------------------------


@dataclass
class _Run:
    """The schedule of a solver run: when it computes NashConv, polishes, reports and saves."""

    args: argparse.Namespace
    start: float
    next_check: int = 1
    next_report: float = 0.0
    next_save: float = 0.0
    next_polishing: int = _FIRST_POLISHING
    first: tuple[int, float] | None = None
    result: Judgement | None = None
    polished: Polished | None = None

    def __call__(self, solver: Solver) -> bool:
        now = time.monotonic()
        is_late = now - self.start > 60 * self.args.minutes
        if solver.iteration >= self.next_check or is_late:
            self.result, self.polished = solver.judge(), None
            self.first = self.first or (solver.iteration, self.result.of_range)
            self.next_check = max(solver.iteration + 1, int(solver.iteration * _CHECK_RATIO))
            if not self._is_enough() and (solver.iteration >= self.next_polishing or is_late):
                self.next_polishing = 2 * solver.iteration
                self._polish(solver)
        if self.args.checkpoint is not None and now > self.next_save:
            solver.save(self.args.checkpoint)
            saved = time.monotonic()
            self.next_save = saved + max(_SAVE_SECONDS, _SAVE_RATIO * (saved - now))
        if now > self.next_report and self.result is not None and sys.stderr.isatty():
            say(
                f"{solver.iteration:,} iterations, exploitability {100 * self.result.of_range:.3g} % of the "
                f"payoff range, about {self.seconds_left(solver.iteration, now - self.start):.0f} s left"
            )
            self.next_report = now + _REPORT_SECONDS
        return is_late or self._is_enough()

    def _is_enough(self) -> bool:
        return self.result is not None and 100 * self.result.of_range <= self.args.until

    def _polish(self, solver: Solver) -> None:
        """Polish the pruned game, and keep the result if it is better."""
        if sys.stderr.isatty():
            say(f"{solver.iteration:,} iterations; now polishing the pruned game")
        polished = solver.polish(2 * solver.counts.payoff_range * self.args.until / 100)
        if self.result is None or polished.judgement.nash_conv < self.result.nash_conv:
            self.result, self.polished = polished.judgement, polished

    def made_by(self, solver: Solver) -> str:
        """Describe how the policy was made."""
        words = f"{solver.iteration} iterations of predictive CFR+"
        if self.polished is not None:
            words += f" and {self.polished.iterations} on the pruned game"
        return words

    def seconds_left(self, iteration: int, seconds: float) -> float:
        """Estimate the seconds left, assuming that exploitability falls as a power of the iterations."""
        most = max(0.0, 60 * float(self.args.minutes) - seconds)
        if self.first is None or self.result is None or not 0 < self.result.of_range < self.first[1]:
            return most
        first_iteration, exploitability = self.first
        if iteration <= first_iteration:  # only polishing has reduced it
            return most
        power = math.log(exploitability / self.result.of_range) / math.log(iteration / first_iteration)
        further = math.log(100 * self.result.of_range / self.args.until) / power
        if further > _TOO_FAR:
            return most
        more = max(0.0, iteration * math.exp(further) - iteration)
        return min(most, more * seconds / (iteration - first_iteration))


def _solve(args: argparse.Namespace, game: Solvable) -> None:
    if args.out is not None and game.cards > WHOLE:
        raise OptionError(
            f"--out: a policy of {game.name} is too large for a policy file; save a checkpoint "
            "(--checkpoint), and the value and its bounds (--json)"
        )
    for path in (args.checkpoint, args.out, args.json):
        if path is not None:
            check_writable(path)
    if args.checkpoint is None:
        _solve_alone(args, game)
        return
    lock = args.checkpoint.with_name(f".{args.checkpoint.name}.lock")
    refusal = SolvingError(
        f"{args.checkpoint}: another process uses this checkpoint: wait for it, or give another file"
    )
    with locked(lock, refusal):
        _solve_alone(args, game)


def _solve_alone(args: argparse.Namespace, game: Solvable) -> None:
    """Solve, with the checkpoint locked."""
    if args.minutes is None:
        args.minutes = _MINUTES
    solver = solver_of(game, threads=args.threads, on_progress=progress("walking"))
    print(words_of_counts(game, solver.counts), flush=True)
    if args.until is None:
        decisions = solver.counts.play_nodes
        args.until = next((one for most, one in DEFAULT_UNTIL.items() if decisions <= most), _UNTIL_OF_LARGE)
    if args.checkpoint is not None and args.checkpoint.exists():
        solver.load(args.checkpoint)
        print(f"continuing after {solver.iteration:,} iterations from {args.checkpoint}", flush=True)
    run = _iterate(args, solver)
    result = run.result or solver.judge()
    low, high = -result.best[1], result.best[0]
    about: dict[str, Any] = {"made_by": run.made_by(solver), "value": result.value, "between": [low, high]}
    if args.out is not None:
        weights = solver.weights() if run.polished is None else solver.polished_weights(run.polished)
        write_policy(args.out, solver.tree, weights, about)
        print(f"wrote {args.out}")
    if args.json is not None:
        write_json_atomically(args.json, {"game": game.name, **about, "of_range": result.of_range})
        print(f"wrote {args.json}")


def words_of_value(solver: Solver, result: Judgement) -> str:
    """Describe the value, with as many digits as its bounds determine."""
    low, high = -result.best[1], result.best[0]
    sure = _MOST_DIGITS if high <= low else 1 - math.floor(math.log10(high - low))
    digits = min(max(sure, 0), _MOST_DIGITS)
    low, high = math.floor(low * 10**digits) / 10**digits, math.ceil(high * 10**digits) / 10**digits
    value, lowest, highest = (f"{number:+.{digits}f}" for number in (result.value, low, high))
    return (
        f"value of the game to seat 0, which begins: {value} points, between {lowest} and {highest}; "
        f"exploitability {result.exploitability:.3g} points, {100 * result.of_range:.2g} % of the payoff "
        f"range, after {solver.iteration:,} iterations and {solver.seconds:.1f} s"
    )


def _iterate(args: argparse.Namespace, solver: Solver) -> _Run:
    """Iterate until the policy is good enough or time is up, and save."""
    run = _Run(args, time.monotonic(), next_save=time.monotonic() + _SAVE_SECONDS)
    if solver.iteration:
        run.next_check = solver.iteration + 1
        run.next_polishing = max(run.next_polishing, run.next_check)
    try:
        with Stops() as stops:
            is_done = False
            while not is_done:
                with stops.deferred():  # half an iteration cannot be resumed
                    solver.run(1)
                is_done = run(solver)
        print(words_of_value(solver, run.result or solver.judge()), flush=True)
    finally:  # after printing the value: the disk may be full
        if args.checkpoint is not None and not solver.is_half_done:
            solver.save(args.checkpoint)
    return run


def progress(what: str) -> Callable[[int, int], None]:
    """Return a callback that reports progress and the time left on stderr, if that is a terminal."""
    start = time.monotonic()
    reported = [start]

    def on_progress(done: int, total: int) -> None:
        now = time.monotonic()
        if sys.stderr.isatty() and now - reported[0] > _REPORT_SECONDS:
            reported[0] = now
            say(f"{what}: {done} of {total}, {(now - start) * (total - done) / done:.0f} s left")

    return on_progress
