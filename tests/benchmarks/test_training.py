"""The training benchmark: everybody is measured, on the same network; its rates are those of its rounds."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest

from benchmarks import training
from benchmarks.trainers import OURS, PARTS, THEIRS, Contender, Progress, Size, Work, make
from benchmarks.training import Args, Runner, contenders, line_of, main, median_ratio

WORK = Work("parker", 2, "match", 1)
SMALL = Size(16, 8, 32)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `--quick --docs` writes to."""
    folder = tmp_path_factory.mktemp("checkout")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            main(Args(quick=True, rounds=1, threads=1, docs=True))
    (folder / "docs" / "printed.txt").write_text(printed.getvalue(), encoding="utf-8")
    return folder / "docs"


def test_every_contender_has_a_line_with_positive_figures(written: Path) -> None:
    content = json.loads((written / "benchmarks" / "training.json").read_text(encoding="utf-8"))
    lines = content["lines"]
    assert len(lines) == len(contenders(quick=True)) == 20
    for line in lines:
        for name in (
            "learned_per_second",
            "lowest",
            "highest",
            "played_per_second",
            "ratio",
            "default_ratio",
            "played_ratio",
        ):
            assert line[name] > 0, (line["contender"], name)
        assert tuple(line["shares"]) == PARTS
        assert sum(line["shares"].values()) == pytest.approx(1.0)
        assert min(line["shares"][part] for part in ("env", "inference", "advantage", "update")) > 0
    assert {"cpu", "torch", "sb3-contrib", "OMP_WAIT_POLICY"} <= set(content["environment"])
    assert content["arguments"]["quick"]
    assert content["load"].startswith("load average")


def test_those_that_are_compared_have_the_same_number_of_weights(written: Path) -> None:
    lines = json.loads((written / "benchmarks" / "training.json").read_text(encoding="utf-8"))["lines"]
    for hidden, epochs in training.TASKS:
        group = [
            line
            for line in lines
            if (tuple(line["contender"]["hidden"]), line["contender"]["epochs"]) == (hidden, epochs)
        ]
        assert {line["contender"]["trainer"] for line in group} == {OURS, THEIRS}
        assert len({line["parameters"] for line in group}) == 1
        assert [line["ratio"] for line in group if line["reference"]] == [1.0]
        for batch in (1024, 8192):  # an eighth and less of it here
            ours = [
                line["torch_ratio"]
                for line in group
                if line["contender"]["size"]["batch"] == max(batch // 64, 16)
                and line["contender"]["trainer"] == OURS
            ]
            assert len(ours) == 3
            assert max(ours[:2]) == 1.0, "to the faster one of PyTorch's precisions"
        default = next(line for line in group if line["contender"]["trainer"] == THEIRS)
        assert default["default_ratio"] == 1.0


def test_table_and_picture_are_made(written: Path) -> None:
    assert (written / "images" / "training.png").read_bytes().startswith(b"\x89PNG")
    printed = (written / "printed.txt").read_text(encoding="utf-8")
    rows = [line for line in printed.splitlines() if "float32" in line or "bfloat16" in line]
    assert len(rows) == 20
    assert sum(OURS in row for row in rows) == 12
    assert sum(" sparse " in row for row in rows) == 4
    assert printed.count("load average of the machine: ") == 1
    assert all(row.count(" %") == len(PARTS) for row in rows)


def test_ours_counts_what_it_learned_from() -> None:
    trainer = make(Contender(OURS, (16,), 2, SMALL), WORK)
    trainer.update()
    done = trainer.progress()
    assert done.played == 16 * 8
    # each seat's last decision leads nowhere yet, unless the game has ended
    assert 16 * (8 - 2) <= done.learned < done.played


def test_theirs_counts_the_learning_seats() -> None:
    trainer = make(Contender(THEIRS, (16,), 2, SMALL), WORK)
    trainer.update()
    before = trainer.progress()
    trainer.update()
    done = trainer.progress().since(before)
    assert done.learned == 16 * 8
    assert done.learned < done.played < 4 * done.learned
    assert all(seconds > 0 for seconds in done.seconds.values())


class Sleeper:
    """A trainer that has learned before the benchmark began, and forgets to take its time."""

    parameters = 7

    def __init__(self) -> None:
        self.updates = 100

    def update(self) -> None:
        self.updates += 1

    def progress(self) -> Progress:
        return Progress(self.updates, 2 * self.updates)


def test_ratios_are_within_rounds_to_the_fastest_of_their_sizes() -> None:
    """Rates of the first round are those of a slow machine, of the others of a fast one."""
    rates = {
        (OURS, 1): [20.0, 300.0, 200.0],
        (THEIRS, 1): [10.0, 100.0, 100.0],
        (THEIRS, 2): [9.0, 90.0, 90.0],
    }
    runners = []
    for (trainer, games), learned in rates.items():
        runner = Runner(Contender(trainer, (16,), 1, Size(games, 8, 32)), Sleeper())
        runner.learned = learned
        runner.played, runner.busy = [2 * rate for rate in learned], [1.0] * 3
        runner.shares = [dict.fromkeys(PARTS, 0.2)] * 3
        runners.append(runner)
    lines = [line_of(runner, runners, Args()) for runner in runners]
    assert [line.reference for line in lines] == [False, True, False]
    assert [line.ratio for line in lines] == pytest.approx([2.0, 1.0, 0.9])
    assert [line.default_ratio for line in lines] == pytest.approx([2.0, 1.0, 0.9]), "the first of theirs"
    assert lines[0].learned_per_second == 200.0
    assert (lines[0].lowest, lines[0].highest) == (20.0, 300.0)
    assert median_ratio([1.0, 4.0], [1.0, 1.0]) == 2.5
