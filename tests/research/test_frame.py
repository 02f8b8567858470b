"""The frame of research questions: parts that are resumed, intervals, pages, and errors that teach."""

from __future__ import annotations

import json
import re
import shutil
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from millebornes_env._util.files import locked
from research import all as all_questions
from research.frame import LOCK_FILE, Options, Question, main
from research.intervals import over_seeds, over_tasks
from research.parts import Part, Record
from research.tables import Table

README = Path(__file__).parents[2] / "research" / "README.md"
MARKS = ("<!-- doubling: written by python -m research.doubling --docs -->\n", "<!-- end -->\n")


class Doubling:
    """A question whose measurements can be counted, and stopped."""

    def __init__(self, factor: int = 2) -> None:
        self.factor = factor
        self.measured: list[str] = []
        self.stop_at = ""

    def parts(self, options: Options) -> list[Part]:
        return [Part(f"seed-{seed}", seed, {"factor": self.factor}) for seed in options.all_seeds]

    def measure(self, part: Part, on_progress: object) -> Mapping[str, Any]:
        if part.name == self.stop_at:
            raise KeyboardInterrupt
        self.measured.append(part.name)
        return {"found": part.seed * part.config["factor"]}

    def tables(self, records: Sequence[Record]) -> list[Table]:
        result = over_seeds([record.result["found"] for record in records])
        return [Table(("what", "found"), (("`all`", result.text(".2f")),))]

    def plot(self, figure: Figure, records: Sequence[Record]) -> None:
        figure.add_subplot().plot([record.result["found"] for record in records])

    def question(self) -> Question[Options]:
        return Question(
            "doubling", "What is doubled?", Options, self.parts, self.measure, self.tables, self.plot
        )


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(question: Question[Any], *arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error message; it must be one sentence, with exit status 2."""
    assert main(question, arguments) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    return said[0]


def test_removed_parts_end_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    doubling = Doubling()
    measure = doubling.measure

    def remove(part: Part, on_progress: object) -> Mapping[str, Any]:
        if part.name == "seed-3":
            shutil.rmtree("results")
        return measure(part, on_progress)

    doubling.measure = remove  # type: ignore[method-assign]
    said = refused(doubling.question(), "--seeds", "4", capsys=capsys)
    assert "seed-1.json' was removed while other parts were measured: the run stops" in said
    assert not Path("results").exists()


def test_a_killed_run_goes_on_with_the_part_it_was_at(capsys: pytest.CaptureFixture[str]) -> None:
    doubling = Doubling()
    doubling.stop_at = "seed-3"
    assert main(doubling.question(), ["--seeds", "4"]) == 130
    assert "continues" in capsys.readouterr().err
    assert doubling.measured == ["seed-1", "seed-2"]
    doubling.stop_at = ""
    assert main(doubling.question(), ["--seeds", "4"]) == 0
    assert doubling.measured == ["seed-1", "seed-2", "seed-3", "seed-4"]
    assert "4 of 4 parts" in capsys.readouterr().out


def test_a_part_is_kept_with_all_that_it_depends_on() -> None:
    assert main(Doubling().question(), ["--seeds", "1", "--seed", "7"]) == 0
    kept = json.loads(Path("results/research/doubling/seed-7.json").read_text(encoding="utf-8"))
    assert kept["part"] == {"name": "seed-7", "seed": 7, "config": {"factor": 2}, "weight": 1.0}
    assert kept["result"] == {"found": 14}
    assert kept["about"]["command"] == "python -m research.doubling --seed 7 --seeds 1"
    assert {"numpy", "python"} <= set(kept["about"]["versions"])
    assert kept["seconds"] >= 0


def test_two_runs_in_one_folder_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with locked(Path("results/research/doubling") / LOCK_FILE, RuntimeError()):
        assert "another process measures into this folder" in refused(Doubling().question(), capsys=capsys)
        assert main(Doubling().question(), ["--dry-run"]) == 0


def test_a_part_of_another_configuration_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(Doubling().question(), ["--seeds", "1"]) == 0
    capsys.readouterr()
    said = refused(Doubling(factor=3).question(), "--seeds", "1", capsys=capsys)
    assert "seed-1.json" in said
    assert "factor 2, and now it is 3" in said
    assert "--no-resume" in said
    assert main(Doubling(factor=3).question(), ["--seeds", "1", "--no-resume"]) == 0


def test_a_damaged_part_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path("results/research/doubling/seed-1.json")
    path.parent.mkdir(parents=True)
    path.write_text('{"part": ', encoding="utf-8")
    assert "remove it" in refused(Doubling().question(), "--seeds", "1", capsys=capsys)


def test_no_part_begins_after_the_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    doubling = Doubling()
    assert main(doubling.question(), ["--minutes", "1e-9"]) == 0
    assert not doubling.measured
    capsys.readouterr()
    assert main(doubling.question(), ["--dry-run", "--seeds", "2"]) == 0
    assert "left: seed-1 (1), seed-2 (1)" in capsys.readouterr().out
    assert not doubling.measured


def test_the_docs_get_figures_a_picture_and_the_block(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path("research/notes/questions.md")
    page.parent.mkdir(parents=True)
    page.write_text("before\n" + MARKS[0] + "old\n" + MARKS[1] + "after\n", encoding="utf-8")
    assert main(Doubling().question(), ["--seeds", "2", "--docs", "--out", "elsewhere"]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n" + MARKS[0] + "| what | found |\n")
    assert text.endswith(MARKS[1] + "after\n")
    assert "old" not in text
    assert "python -m research.doubling --seeds 2`" in text
    assert "elsewhere" not in text
    assert Path("docs/images/research_doubling.png").read_bytes().startswith(b"\x89PNG")
    content = json.loads(Path("docs/research/doubling.json").read_text(encoding="utf-8"))
    assert [record["result"] for record in content["records"]] == [{"found": 2}, {"found": 4}]
    page.write_text("no place\n", encoding="utf-8")
    assert "has no marks for doubling" in refused(
        Doubling().question(), "--seeds", "2", "--docs", "--out", "elsewhere", capsys=capsys
    )


def test_all_questions_are_asked_and_one_that_fails_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Doubling()
    for name, question in (("good", asked.question()), ("bad", Doubling(factor=3).question())):
        module = types.ModuleType(f"research.{name}")
        module.QUESTION = question  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, f"research.{name}", module)
    assert main(asked.question(), ["--quick"]) == 0  # its parts are in the way of the bad one
    monkeypatch.setattr(all_questions, "QUESTIONS", ("bad", "good"))
    monkeypatch.setattr(sys, "argv", ["all", "--quick"])
    assert all_questions.main() == 2
    said = capsys.readouterr()
    assert "bad: " in said.err
    assert said.out.count("What is doubled?") == 2
    monkeypatch.setattr(sys, "argv", ["all", "--only", "other"])
    assert all_questions.main() == 2
    assert "'other': the questions are bad, good" in capsys.readouterr().err


def test_the_example_of_the_readme_works(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)[0]
    module = types.ModuleType("research.first_seat")
    exec(compile(example, "README.md", "exec"), module.__dict__)
    Path("research/notes").mkdir(parents=True)
    Path("research/notes/questions.md").write_text(
        MARKS[0].replace("doubling", "first_seat") + MARKS[1], encoding="utf-8"
    )
    assert main(module.QUESTION, ["--quick", "--seeds", "2", "--docs"]) == 0
    assert "mini7" in capsys.readouterr().out
    assert "`parker`" in Path("research/notes/questions.md").read_text(encoding="utf-8")


def test_an_interval_over_tasks_draws_the_seeds_of_each_task() -> None:
    """Differences between tasks are not noise: only seeds are resampled."""
    far_apart = [[1.0, 1.2, 1.1], [101.0, 101.2, 101.1]]
    mean, low, high = over_tasks(far_apart, np.mean)
    assert mean == pytest.approx(51.1)
    assert low is not None
    assert high is not None
    assert 51.0 <= low < mean < high <= 51.2
    assert over_tasks([[1.0], [3.0]], np.mean) == (2.0, None, None)
    assert over_seeds([3.0]).low is None
    assert over_seeds([1.0, 2.0, 4.0]) == over_seeds([1.0, 2.0, 4.0])
    random, shifts = np.random.default_rng(2), np.array([[-3.0], [-1.0], [1.0], [3.0]])
    covered = [
        result.low <= 0 <= result.high  # type: ignore[operator]
        for result in (over_tasks(random.normal(size=(4, 10)) + shifts, np.mean) for _ in range(200))
    ]
    assert 0.88 <= np.mean(covered) <= 0.98
