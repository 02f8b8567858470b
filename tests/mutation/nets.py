"""The nets: which tests are asked, in which order, whether they notice a fault, and asking them.

All run as plain Python (`NUMBA_DISABLE_JIT=1`), where a changed rulebook costs no compiling. The cheap and
readable ones come first: what catches a fault first is what a developer will see of it.
"""

from __future__ import annotations

import functools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
RULEBOOK = Path("millebornes_env", "millebornes")

CHAPTERS = {
    "hazards.py": ["tests/rules/test_hazards.py"],
    "remedies.py": ["tests/rules/test_remedies.py"],
    "safeties.py": ["tests/rules/test_safeties.py", "tests/rules/test_right_of_way.py"],
    "distance.py": ["tests/rules/test_distance.py"],
    "coup_fourre.py": ["tests/rules/test_coup_fourre.py"],
    "ending.py": ["tests/rules/test_ending.py", "tests/rules/test_extension.py"],
    "scoring.py": ["tests/rules/test_scoring.py"],
    "turn.py": [f"tests/rules/test_{name}.py" for name in ("turns", "safeties", "ending", "match")],
    "legality.py": ["tests/rules/test_turns.py", "tests/rules/test_discards.py"],
    "motion.py": ["tests/rules/test_right_of_way.py", "tests/rules/test_remedies.py"],
    "deal.py": ["tests/rules/test_deal.py"],
    "winning.py": ["tests/rules/test_match.py", "tests/rules/test_shared_win.py"],
    "determinize.py": ["tests/envs/test_determinize.py"],
    "observation.py": ["tests/laws/test_observations.py"],
}
"""The chapters of the rulebook that are mutated, and where the sentences of each are tested."""

SENTENCES = "tests/rules"
GOLDEN_GAMES = [
    "tests/golden/test_golden.py::test_the_recorded_rounds_come_out_the_same",
    "tests/golden/test_golden.py::test_the_recorded_seeds_deal_the_same_positions",
]
SOME_TABLES = (
    *("parker 2/2", "dujardin_classic 3/3", "winning_moves 6/3", "dutch 6/2"),
    *("dujardin 8/4", "dujardin_2014 4/4", "dujardin_2014 4/2"),
)
"""Of each edition at least one; every number of players, of teams, of players in a team."""
LAWS_OF_PLAY = [
    *(f"tests/laws/test_oracle_agrees.py::test_rounds_agree[{table}]" for table in SOME_TABLES),
    "tests/laws/test_laws.py",
]
LAWS = {
    "coup_fourre.py": ["tests/envs/test_rewards.py", *LAWS_OF_PLAY],
    "turn.py": ["tests/laws/test_matches_agree.py", *LAWS_OF_PLAY],
    "winning.py": ["tests/envs/test_shared_wins.py", "tests/laws/test_matches_agree.py"],
    "determinize.py": ["tests/laws/test_redeals.py"],
    "observation.py": ["tests/envs/test_vector.py"],
}
"""The oracle and the laws that have to do with a chapter; with the others, `LAWS_OF_PLAY`."""

NETS = ("chapter", "all sentences", "golden games", "oracle and laws")

NO_END = "no end"
"""Noted in place of a test where the tests came to no end: the fault is noticed."""
LIMITS = {"chapter": 60, "all sentences": 100, "golden games": 40, "oracle and laws": 600}
"""Seconds of processor time, more than twice what each net takes: it counts the same on a busy machine."""

_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
# Exit codes of pytest: all passed, none selected; some failed, none could be collected.
_PASSED = (0, 5)
_TOLD = (1, 2)
_WRONG_NAME = 4


class Answer(NamedTuple):
    """What a net says to a mutant.

    Attributes:
        test: the first test that failed; "" if all passed.
        seconds: processor time.
    """

    test: str
    seconds: float


def files_of(file: str, net: str, tree: Path) -> list[str]:
    """The test files of a net for faults in this file of the rulebook, as far as the tree has them."""
    names = {
        "chapter": CHAPTERS[file],
        "all sentences": [SENTENCES],
        "golden games": GOLDEN_GAMES,
        "oracle and laws": LAWS.get(file, LAWS_OF_PLAY),
    }[net]
    return [name for name in names if (tree / name.partition("::")[0]).exists()]


def unpack(commit: str, tree: Path) -> str:
    """Lay the files of a commit into an empty folder; the commit's short name."""
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(tree, filter="data")
    asked = ["git", "rev-parse", "--short", f"{commit}^{{commit}}"]
    return subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def ask(tree: Path, tests: list[str], limit: int = max(LIMITS.values())) -> Answer:
    """Run these tests in a tree until one fails, or until the processor time is used up.

    A test that is not there does not fail.

    Raises:
        RuntimeError: if pytest could not run them.
    """
    before = _processor_time()
    surroundings = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    surroundings |= {"NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tree)}
    options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-rfE"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=tree,
        env=surroundings,
        text=True,
        capture_output=True,
        check=False,
        preexec_fn=functools.partial(_limit_processor_time, limit),
    )
    return Answer(first_failed(ended), round(_processor_time() - before, 1))


def first_failed(ended: subprocess.CompletedProcess[str]) -> str:
    """The test that a run of pytest names as the first to fail; "" if there is none.

    Raises:
        RuntimeError: if pytest could not run the tests.
    """
    is_absent = ended.returncode == _WRONG_NAME and "ERROR: not found" in ended.stderr
    if is_absent or ended.returncode in _PASSED:
        return ""
    if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return NO_END
    failed = _FAILED.search(ended.stdout)
    if ended.returncode not in _TOLD or failed is None:
        raise RuntimeError(f"pytest could not be run:\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    return failed[1]


@contextmanager
def written(path: Path, text: str) -> Iterator[None]:
    """Put the text in place of what stands in the file, and that back at the end."""
    original = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(original, encoding="utf-8")


def has_test(tree: Path, test: str) -> bool:
    """Whether the tree has a test of this name; a parameter that it lacks is an error that pytest reports."""
    file, _, function = test.partition("::")
    name = function.partition("[")[0]
    return (
        bool(name) and (tree / file).exists() and f"def {name}(" in (tree / file).read_text(encoding="utf-8")
    )


def check(tree: Path) -> None:
    """Make sure that every net holds still when there is no fault.

    Raises:
        RuntimeError: if a test fails.
    """
    names = {name for file in CHAPTERS for net in NETS for name in files_of(file, net, tree)}
    for name in sorted(name for name in names if not name.startswith(f"{SENTENCES}/")):
        if test := ask(tree, [name]).test:
            raise RuntimeError(f"{test} fails without any fault in the rulebook")


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _limit_processor_time(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    os.nice(19)
