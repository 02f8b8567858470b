"""Compare the statistics of `arnold` with those of the program that it follows.

    python -m research.measurements.arnold
    python -m research.measurements.arnold --docs     # writes research/notes/arnold.md too

The known figures were measured on the BSD programs themselves (60,040 rounds of each against itself,
duplicate matches of one against the other). Here the same is played by the compiled agent, by the American
rules with options for the differences of BSD mille; differences without an option are listed in
docs/agents/agents.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import tyro

from benchmarks.results import environment_info
from millebornes_env._util.files import write_json_atomically, write_text_atomically
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.arena.millebornes import counters
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.statistics import Counts
from research.tables import Table

BSD: Final = "parker+roll_after_safety=0+points_extension_failed=0+discard_safeties=0+end_when_stuck=1"
"""The American rules as BSD mille plays them."""

KNOWN_ROUNDS: Final = 60_040
VERSIONS: Final = {"debian": "arnold:debian", "classic": "arnold"}

KNOWN_WINS: Final = 0.671
KNOWN_WINS_WITHIN: Final = 0.02


@dataclass(frozen=True)
class KnownCards:
    """A figure of the real program.

    Attributes:
        name: name of the figure.
        debian: value of Debian's version.
        classic: value of the classic version.
        within: half of a 95 % interval of the known figure; None: a share of rounds, whose interval follows.
        value: computes the figure from an outcome.
    """

    name: str
    debian: float
    classic: float
    within: float | None
    value: Callable[[Counts, Outcome], float]

    def tolerance(self, known: float, rounds: int) -> float:
        """Half-width of a 95 % interval of the difference of the known and the measured figure."""
        if self.within is not None:
            return self.within * math.sqrt(1 + KNOWN_ROUNDS / rounds)
        return 1.96 * math.sqrt(known * (1 - known) * (1 / KNOWN_ROUNDS + 1 / rounds)) + _ROUNDED


_ROUNDED: Final = 0.0005
"""Rounding error of known shares, which have three digits."""


def _share(above: str, below: str = "started") -> Callable[[Counts, Outcome], float]:
    return lambda counts, _: counts[above] / counts[below]


KNOWN: Final = (
    KnownCards("points per round", 1111, 1051, 3.9, lambda c, _: c["points"] / c["rounds"]),
    KnownCards("starter less other, points", 89, 76, 10,
               lambda c, _: (2 * c["points_starting"] - c["points"]) / c["started"]),
    KnownCards("starter scores more", 0.530, 0.520, None, _share("round_wins_starting")),
    KnownCards("trip completed by starter", 0.504, 0.502, None, _share("trips_completed_starting")),
    KnownCards("trip completed by other", 0.432, 0.457, None,
               lambda c, _: (c["trips_completed"] - c["trips_completed_starting"]) / c["started"]),
    KnownCards("safe trip", 0.233, 0.228, None, _share("safe_trips")),
    KnownCards("delayed action", 0.134, 0.016, None, _share("delayed_actions")),
    KnownCards("shut-out", 0.147, 0.235, None, _share("shutouts")),
    KnownCards("extension called", 0.054, 0.072, None, _share("extensions_called")),
    KnownCards("coups fourrés per round", 0.65, 0.64, 0.011, _share("coups_fourres")),
    KnownCards("safeties per round", 2.94, 2.55, 0.013, _share("safeties")),
    KnownCards("rounds per match", 4.25, 4.34, 0.017, lambda _, outcome: float(outcome.rounds.mean())),
    KnownCards("match won by first starter", 0.507, 0.505, 0.0087,
               _share("episodes_won_starting", "episodes_started")),
)  # fmt: skip


_BEYOND: Final = """\
The statistics are not all: by an outside measurement, with the program's own memory and dice each of 254,756
decisions was the same as the real program's. No command here repeats it, for the program is not part of this
project. What the rules of BSD mille have that no option has stands below.
"""
"""Text of the page after its figures."""
_RULES: Final = """
## Rules of BSD mille without an option

Another field of the rules would change what `observe_rules` shows, and with it every network that reads
it.

- Whoever completes an extended trip gets the 200 for the extension; here only the team that called it.
- A round is stuck there although a Speed Limit can still be laid, if the opponent is within 50 km of the
  target; with `end_when_stuck` here every card that can be laid counts.
- A Right of Way leaves a Roll on top of the battle pile there, laid on a Stop, an empty pile or a remedy
  that waits for a Roll; so no Roll can be laid afterwards. Here the Stop goes to the discard pile and
  what lay below shows, an empty pile and a remedy stay, and a Roll can be laid on those (E25). It
  changes neither who rolls nor who can be attacked.
- A Right of Way laid on an old Limit right after any new hazard counts as a coup fourré there.
- The starter of a match is not drawn by chance; its shuffle is slightly uneven.
- Extensions "completed" are those that anybody completed (.064 and .045 of rounds; here .066 and .045),
  not only the caller (here .062 and .037).
"""


@dataclass
class Args:
    """Compare `arnold` with the real program."""

    deals: int = 20_000
    """Deals of each comparison, two matches each."""
    seed: int = 1
    """Seed of the deals."""
    docs: bool = False
    """Write docs/benchmarks/arnold.json and research/notes/arnold.md."""


@dataclass(frozen=True)
class Line:
    """One figure, known and measured."""

    version: str
    name: str
    known: float
    measured: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """True if the difference is within the 95 % interval of both."""
        return abs(self.measured - self.known) <= self.tolerance


def self_play(version: str, args: Args) -> list[Line]:
    """Return the statistics of a version against itself, in plain deals (both rotations would be equal)."""
    config = MatchConfig(BSD, seed=args.seed, plain=True)
    outcome = play([VERSIONS[version]], config, args.deals)
    counts = Counts(outcome.counters.sum(axis=0), counters)
    rounds = int(outcome.rounds.sum())
    lines = []
    for known in KNOWN:
        figure, measured = getattr(known, version), known.value(counts, outcome)
        lines.append(Line(version, known.name, figure, measured, known.tolerance(figure, rounds)))
    return lines


def against_each_other(args: Args) -> Line:
    """Return the share of matches that the classic version wins against Debian's."""
    config = MatchConfig(BSD, seed=args.seed)
    outcome = play(list(VERSIONS.values())[::-1], config, args.deals)
    wins = float(np.mean(outcome.wins[:, :, 0]))
    return Line("classic", "matches won against debian", KNOWN_WINS, wins, KNOWN_WINS_WITHIN)


def main(args: Args) -> None:
    """Compare, print, and write the docs on request."""
    lines = [against_each_other(args), *self_play("debian", args), *self_play("classic", args)]
    headings = ("version", "figure", "known", "here", "95 % of the difference", "agrees")
    table = Table(
        headings, [*map(cells_of, lines)], f"arnold and BSD mille, {args.deals:,} deals", text_columns=2
    )
    table.print()
    if args.docs:
        write_docs(lines, replace(table, title=""), args)


def cells_of(line: Line) -> tuple[str, ...]:
    """Return the cells of a line."""
    digits = 0 if line.known > 20 else 3
    return (
        line.version,
        line.name,
        f"{line.known:.{digits}f}",
        f"{line.measured:.{digits}f}",
        f"± {line.tolerance:.{max(digits, 1)}f}",
        "yes" if line.agrees else "no",
    )


def write_docs(lines: Sequence[Line], table: Table, args: Args) -> None:
    """Write the figures with the environment, and the page."""
    content: dict[str, Any] = {
        "environment": environment_info(),
        "arguments": asdict(args),
        "rules": BSD,
        "lines": [{**asdict(line), "agrees": line.agrees} for line in lines],
    }
    write_json_atomically(Path("docs/benchmarks/arnold.json"), content)
    head = (
        "# Does `arnold` play like BSD mille?\n\nWritten by `python -m research.measurements.arnold --docs`: "
        f"{args.deals:,} deals each, rules `{BSD}`.\nKnown: measured on the real programs, "
        f"{KNOWN_ROUNDS:,} rounds of each against itself. With so many figures one or two\n"
        f"fall outside of their 95 % interval by chance.\n\n{_BEYOND}\n"
    )
    write_text_atomically(Path("research/notes/arnold.md"), head + table.markdown() + _RULES)
    print("wrote docs/benchmarks/arnold.json and research/notes/arnold.md")


if __name__ == "__main__":
    main(tyro.cli(Args, prog="python -m research.measurements.arnold"))
