"""Which learner a run takes: the fastest that can, and afterwards the one that it was begun with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from tests.train.test_selfplay import short, weights
from train import selfplay
from train.common import choosing
from train.common.checkpoints import read_progress
from train.common.choosing import CHOICES, Choice, as_begun, choices, fastest
from train.common.errors import RunError
from train.common.run_folder import CHECKPOINT_FILE
from train.selfplay import CHECKPOINT_KIND, Args, Trainer, train

FLOAT32, BFLOAT16, SPARSE = CHOICES


class Clock:
    """Goes on when somebody works.

    Attributes:
        now: seconds.
    """

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Worker:
    """A learner that takes so many seconds, one number for each of its rollouts."""

    def __init__(self, clock: Clock, seconds: list[float]) -> None:
        self._clock, self._seconds = clock, seconds

    def collect(self) -> None:
        self._clock.now += self._seconds.pop(0)

    def learn(self, share: float) -> None:
        self._clock.now += share


def test_the_fastest_in_its_best_round_is_taken_and_compiling_does_not_count() -> None:
    clock = Clock()
    seconds = {FLOAT32: [1.0, 3.0, 3.0, 3.0], BFLOAT16: [1.0, 9.0, 2.5, 9.0], SPARSE: [60.0, 7.0, 7.0, 2.0]}
    workers = {choice: Worker(clock, list(spent)) for choice, spent in seconds.items()}
    assert fastest(workers, clock) == SPARSE


@pytest.mark.parametrize(
    ("options", "has_bfloat16", "expected"),
    [
        ({}, True, [FLOAT32, BFLOAT16, SPARSE]),
        ({}, False, [FLOAT32, SPARSE]),
        ({"oracle": True}, True, [FLOAT32, BFLOAT16]),
        ({"precision": "float32"}, True, [FLOAT32, SPARSE]),
        ({"precision": "bfloat16"}, False, [BFLOAT16]),
        ({"learner": "torch"}, True, [FLOAT32, BFLOAT16]),
    ],
)
def test_what_can_learn_is_measured(
    options: dict[str, object],
    has_bfloat16: bool,
    expected: list[Choice],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """bfloat16 only where the processor has units for it: elsewhere it would take long to find it slow."""
    monkeypatch.setattr(choosing, "has_fast_bfloat16", lambda: has_bfloat16)
    assert choices(Args(**options)) == expected  # type: ignore[arg-type]


def test_the_choice_is_measured_recorded_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a real run: whatever is taken, it is one of them, and a resumed run does not measure again."""
    found: list[Choice] = []

    def noted(learners: dict[Choice, Trainer]) -> Choice:
        found.append(fastest(learners))
        return found[-1]

    monkeypatch.setattr(selfplay, "fastest", noted)
    args = short(tmp_path, learner="auto", total_timesteps=700)
    train(args)
    (choice,) = found
    recorded = json.loads((tmp_path / "config.json").read_text())["args"]
    assert (recorded["learner"], recorded["precision"]) == choice
    monkeypatch.setattr(selfplay, "fastest", lambda _: pytest.fail("it is known"))
    train(short(tmp_path, learner="auto", total_timesteps=1400, resume=True))
    assert read_progress(tmp_path, CHECKPOINT_KIND)["config"]["learner"] == choice.learner
    other = "torch" if choice.learner == "sparse" else "sparse"
    with pytest.raises(RunError, match=f"begun with .*, now it is '{other}'|begun with precision"):
        train(short(tmp_path, learner=other, resume=True))


def test_a_run_of_before_goes_on_with_pytorch(tmp_path: Path) -> None:
    """Its checkpoint knows nothing of learners; and its tensors are those of both."""
    folder = tmp_path / "run"
    train(short(folder, total_timesteps=700, learner="torch", precision="float32"))
    progress = read_progress(folder, CHECKPOINT_KIND)
    del progress["config"]["learner"]
    head = {"progress": json.dumps({"kind": CHECKPOINT_KIND, **progress})}
    save_file(load_file(folder / CHECKPOINT_FILE), folder / CHECKPOINT_FILE, head)
    args = short(folder, learner="auto", resume=True, total_timesteps=1400)
    assert as_begun(args, CHECKPOINT_KIND).learner == "torch"
    train(args)
    assert read_progress(folder, CHECKPOINT_KIND)["config"]["learner"] == "torch"


def test_both_learners_leave_the_same_tensors(tmp_path: Path) -> None:
    saved = []
    for learner in ("torch", "sparse"):
        train(short(tmp_path / learner, total_timesteps=700, learner=learner))
        tensors = weights(tmp_path / learner)
        saved.append({name: (value.shape, value.dtype) for name, value in tensors.items()})
    assert saved[0] == saved[1]


def test_both_learners_learn_the_same_at_first(tmp_path: Path) -> None:
    """One update of a rollout of the same decisions: the weights differ by rounding only."""
    trainers = [
        Trainer(short(tmp_path, learner=learner, precision="float32")) for learner in ("torch", "sparse")
    ]
    for trainer in trainers:
        trainer.collect()
        trainer.learn(0.0)
    dense, sparse = trainers
    assert (dense._rollout.actions == sparse._rollout.actions).mean() > 0.99
    ours = dict(sparse.network.named_parameters())
    for name, value in dense.network.named_parameters():
        apart = (value - ours[name]).detach().abs().max()
        assert float(apart) < 0.01 * float(value.detach().abs().max()), name


def test_rows_that_are_too_long_are_refused_or_left_to_pytorch() -> None:
    with pytest.raises(ValueError, match="at most 768 numbers, these have 769: give --learner torch"):
        choosing.is_sparse(Args(learner="sparse"), 769)
    assert not choosing.is_sparse(Args(), 769)
    assert choosing.is_sparse(Args(), 768)
    assert not choosing.is_sparse(Args(oracle=True), 100)
