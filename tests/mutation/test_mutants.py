"""The mutants are the faults that they say they are, and the same in every run."""

from __future__ import annotations

import ast
import signal
import subprocess
from pathlib import Path

import pytest

from tests.mutation.mutants import OPERATORS, drawn, mutants_of
from tests.mutation.nets import (
    CHAPTERS,
    NETS,
    NO_END,
    ROOT,
    RULEBOOK,
    ask,
    files_of,
    first_failed,
    has_test,
    written,
)

HEAD = "def f(state: State, team: int) -> bool:\n    "
FILES = {name: (ROOT / RULEBOOK / name).read_text(encoding="utf-8") for name in CHAPTERS}
EVERY = {mutant: text for name, source in FILES.items() for mutant, text in mutants_of(name, source).items()}


def faults(operator: str, body: str, head: str = HEAD) -> list[str]:
    """What an operator makes of a function's body."""
    made = mutants_of("x.py", head + body)
    return [text.removeprefix(head) for mutant, text in made.items() if mutant.operator == operator]


@pytest.mark.parametrize(
    ("operator", "body", "expected"),
    [
        ("comparison", "return 1 < 2", ["return 1 <= 2"]),
        ("comparison", "g(1 <= 2 < 3)", ["g(1 < 2 < 3)", "g(1 <= 2 <= 3)"]),
        ("comparison", "g(2 in (1, 2))", ["g(2 not in (1, 2))"]),
        ("constant", "g(0)", ["g(1)"]),
        ("constant", "g(4 * STOP)", ["g(5 * STOP)", "g(3 * STOP)", "g(4 * (STOP + 1))"]),
        ("constant", "x: Final[Literal[3]] = y", []),
        ("connective", "g(a and not b)", ["g((a or (not b)))"]),
        ("connective", "g((a or b) and c)", ["g(((a or b) or c))", "g(((a and b)) and c)"]),
        ("negation", "g(not a or b)", ["g((a) or b)"]),
        ("condition", "if a and b:\n        g()", ["if True:\n        g()", "if False:\n        g()"]),
        ("condition", "g(1 if a else 2)", ["g(1 if True else 2)", "g(1 if False else 2)"]),
        ("statement", "state.km[team] = 25", ["pass"]),
        ("statement", "km = 25", []),
        ("statement", "km += 25", ["pass"]),
        ("statement", "g(team)\n    return", ["pass\n    return", "g(team)\n    pass"]),
        ("statement", '"""What it says."""', []),
        ("arguments", "g(state, team, card, 1)", ["g(state, card, team, 1)", "g(state, team, 1, card)"]),
        ("arguments", "g(1, 1)", []),
        ("arithmetic", "g((a + 1) * 2)", ["g(((a + 1) // 2))", "g(((a - 1)) * 2)"]),
        ("arithmetic", "km += 25", ["km -= 25"]),
        ("answer", "return False", ["return True"]),
        ("answer", "return a or b", ["return not (a or b)"]),
    ],
)
def test_an_operator_makes_its_fault(operator: str, body: str, expected: list[str]) -> None:
    assert sorted(faults(operator, body)) == sorted(expected)


def test_another_answer_of_a_number_is_one_more() -> None:
    head = "def f() -> int:\n    "
    assert faults("answer", "return a if b else c", head) == ["return (a if b else c) + 1"]


def test_letters_of_more_than_one_byte_do_not_shift_the_place() -> None:
    assert faults("constant", 'g("coup fourré", 1)') == ['g("coup fourré", 2)', 'g("coup fourré", 0)']


def test_every_mutant_of_the_rulebook_is_another_program() -> None:
    """All files and operators are there; what is drawn is Python, and does not say the same as before."""
    originals = {name: ast.dump(ast.parse(source)) for name, source in FILES.items()}
    assert all(ast.dump(ast.parse(EVERY[one])) != originals[one.file] for one in drawn(EVERY, 11, seed=13))
    assert {mutant.file for mutant in EVERY} == set(CHAPTERS)
    assert {mutant.operator for mutant in EVERY} == {*OPERATORS, "answer"}


def test_a_mutant_is_known_again_when_other_lines_have_moved() -> None:
    """So faults of one commit are found in another; those whose own line has changed are not."""
    source = FILES["hazards.py"]
    moved = mutants_of("hazards.py", "# one line\n# and another\n" + source)
    assert list(moved) == list(mutants_of("hazards.py", source))
    changed = mutants_of(
        "hazards.py", source.replace("rules.attack_needs_roll == 0", "not rules.attack_needs_roll")
    )
    assert changed.keys() != moved.keys()


def test_names_of_mutants_are_unlike() -> None:
    """`equivalent.toml` names them."""
    assert len({str(mutant) for mutant in EVERY}) == len(EVERY)


def test_the_same_seed_draws_the_same_mutants_of_every_file() -> None:
    chosen = drawn(EVERY, 11, seed=13)
    assert chosen == drawn(EVERY, 11, seed=13)
    assert chosen != drawn(EVERY, 11, seed=14)
    assert [sum(mutant.file == name for mutant in chosen) for name in CHAPTERS] == [11] * len(CHAPTERS)
    assert len(set(chosen)) == len(chosen)


def test_every_chapter_has_its_nets() -> None:
    for file in CHAPTERS:
        for net in NETS:
            assert files_of(file, net, ROOT), f"{file} has no {net}"


def test_a_file_is_put_back(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt), written(path, "after"):  # noqa: PT012 - what happens in between
        assert path.read_text(encoding="utf-8") == "after"
        raise KeyboardInterrupt
    assert path.read_text(encoding="utf-8") == "before"


def test_a_test_is_found_by_its_name() -> None:
    here = "tests/mutation/test_mutants.py::"
    assert has_test(ROOT, here + "test_an_operator_makes_its_fault[a-b]")
    assert not has_test(ROOT, here + "test_of_another_commit")
    assert not has_test(ROOT, "tests/test_of_another_commit.py::test")
    assert not has_test(ROOT, "")


@pytest.mark.parametrize(
    ("code", "out", "err", "test"),
    [
        (0, "3 passed", "", ""),
        (5, "no tests ran", "", ""),
        (
            1,
            "F.\nFAILED t/test_x.py::test_it[a b] - assert 1 == 2",
            "",
            "t/test_x.py::test_it[a b]",
        ),
        (2, "ERROR t/test_x.py - ImportError: no\n1 error", "", "t/test_x.py"),
        (4, "", "ERROR: not found: t/test_x.py::test_of_another_commit", ""),
        (-signal.SIGXCPU, "", "", NO_END),
    ],
)
def test_pytest_says_which_test_failed_first(code: int, out: str, err: str, test: str) -> None:
    assert first_failed(subprocess.CompletedProcess([], code, out, err)) == test


def test_what_pytest_cannot_run_is_no_answer() -> None:
    with pytest.raises(RuntimeError, match="INTERNALERROR"):
        first_failed(subprocess.CompletedProcess([], 3, "INTERNALERROR", ""))


def test_a_test_that_fails_and_one_without_an_end_are_noticed(tmp_path: Path) -> None:
    """The limit is one of processor time: it is the same on a busy machine."""
    file = tmp_path / "test_x.py"
    file.write_text("def test_it():\n    assert 'so' == 'not so'\n", encoding="utf-8")
    assert ask(tmp_path, [file.name]).test == "test_x.py::test_it"
    file.write_text("def test_it():\n    while True:\n        pass\n", encoding="utf-8")
    assert ask(tmp_path, [file.name], limit=2).test == NO_END
