"""Mutation testing of the rulebook, by hand: `python -m tests.mutation.run 22a5b60 HEAD`.

Draws mutants of the rulebook of the last commit named, and asks the tests of each commit, the last one first,
whether they notice the same faults. It takes half an hour of one core. Every answer is written down at once
under `--out`; the same command, given again, goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter
from pathlib import Path

from tests.mutation.mutants import Mutant, drawn, mutants_of
from tests.mutation.nets import (
    CHAPTERS,
    LIMITS,
    NETS,
    ROOT,
    RULEBOOK,
    Answer,
    ask,
    check,
    files_of,
    has_test,
    unpack,
    written,
)

JUDGED = Path(__file__).with_name("equivalent.toml")
"""Mutants that no test can notice, and why. The last net, which takes minutes, is not asked about them."""


class Round:
    """The mutants before the tests of one commit.

    Attributes:
        name: the commit.
        mutants: those whose source it has.
        absent: how many have no counterpart there.
        caught: which net noticed a mutant, and by which test.
        seconds: processor time.
    """

    def __init__(self, commit: str, out: Path) -> None:
        """Unpack a commit under `out`, and read what was written down about it before."""
        self.tree = out / "tree"
        self.name = unpack(commit, self.tree)
        self.texts = texts_of(self.tree)
        self.mutants: list[Mutant] = []
        self.absent = 0
        self.caught: dict[Mutant, tuple[str, str]] = {}
        self.seconds = 0.0
        self._notes = out / f"{self.name}.jsonl"
        self._noted: dict[tuple[Mutant, str], Answer] = {}
        if self._notes.exists():
            for mutant, net, answer in map(json.loads, self._notes.read_text(encoding="utf-8").splitlines()):
                self._noted[Mutant(*mutant), net] = Answer(*answer)

    def run(
        self, mutants: list[Mutant], known: dict[Mutant, tuple[str, str]], judged: dict[str, str]
    ) -> None:
        """Ask net after net about all mutants that were not noticed before.

        Args:
            mutants: the faults.
            known: what noticed them in another commit: here, that test is asked first, by itself.
            judged: which of them are equivalent.
        """
        self.mutants = [mutant for mutant in mutants if mutant in self.texts]
        self.absent = len(mutants) - len(self.mutants)
        for mutant in self.mutants:
            net, test = known.get(mutant, ("", ""))
            if has_test(self.tree, test) and self._fails(mutant, test, [test]):
                self.caught[mutant] = net, test
        for net in NETS:
            for mutant in self.mutants:
                if mutant in self.caught or (net == NETS[-1] and str(mutant) in judged):
                    continue
                if test := self._fails(mutant, net, files_of(mutant.file, net, self.tree)):
                    self.caught[mutant] = net, test

    def _fails(self, mutant: Mutant, net: str, tests: list[str]) -> str:
        """The first of the tests that notices the mutant; "" if none does."""
        if not tests:
            return ""
        answer = self._noted.get((mutant, net))
        if answer is None:
            with written(self.tree / RULEBOOK / mutant.file, self.texts[mutant]):
                answer = ask(self.tree, tests, LIMITS.get(net, LIMITS["chapter"]))
            with self._notes.open("a", encoding="utf-8") as file:
                file.write(json.dumps([mutant, net, answer]) + "\n")
            print(f"{self.name}, {net}: {mutant}: {answer.test or 'not noticed'}", flush=True)
        self.seconds += answer.seconds
        return answer.test

    def report(self, judged: dict[str, str]) -> str:
        """A Markdown table, a row for each file, a column for each net; below it, what nobody noticed."""
        survivors = [mutant for mutant in self.mutants if mutant not in self.caught]
        lines = [["file", "mutants", *NETS, "equivalent", "gaps"], ["---", *["--:"] * (len(NETS) + 3)]]
        for file in [*sorted(CHAPTERS), ""]:
            here = [mutant for mutant in self.mutants if file in ("", mutant.file)]
            nets = Counter(self.caught.get(mutant, ("", ""))[0] for mutant in here)
            excused = sum(mutant in survivors and str(mutant) in judged for mutant in here)
            counts = [len(here), *(nets[net] for net in NETS), excused, nets[""] - excused]
            lines.append([file or "all", *map(str, counts)])
        below = [f"- `{mutant}`: {judged.get(str(mutant), 'A GAP')}" for mutant in survivors]
        if self.absent:
            below.append(f"- {self.absent} more have no counterpart: the source is another.")
        table = ["| " + " | ".join(line) + " |" for line in lines]
        return "\n".join([f"{self.name} ({self.seconds:.0f} s)", "", *table, "", *below, ""])


def texts_of(tree: Path) -> dict[Mutant, str]:
    """All mutants of a tree, each with the text of its file."""
    made: dict[Mutant, str] = {}
    for file in CHAPTERS:
        made |= mutants_of(file, (tree / RULEBOOK / file).read_text(encoding="utf-8"))
    return made


def main() -> None:
    """Read the command line, ask, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("commits", nargs="+", help="whose tests are asked; mutants are drawn from the last")
    parser.add_argument("--per-file", type=int, default=8, help="mutants of each file (default 8)")
    parser.add_argument("--seed", type=int, default=13, help="of the draw (default 13)")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "mutation", help="where answers are kept")
    parser.add_argument("--unchecked", action="store_true", help="trust that all tests pass without a fault")
    args = parser.parse_args()
    out = args.out.resolve()
    judged = tomllib.loads(JUDGED.read_text(encoding="utf-8")) if JUDGED.exists() else {}
    mutants: list[Mutant] = []
    known: dict[Mutant, tuple[str, str]] = {}
    reports = []
    for commit in reversed(args.commits):
        asked = Round(commit, out)
        mutants = mutants or drawn(asked.texts, args.per_file, args.seed)
        if not args.unchecked:
            check(asked.tree)
        asked.run(mutants, known, judged)
        known |= asked.caught
        reports.append(asked.report(judged))
    print("\n" + "\n".join(reversed(reports)))


if __name__ == "__main__":
    main()
