"""The learner of a run: by a rule for a new one, and the recorded one for a resumed one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.each import each
from tests.train.short_runs import short
from train.common.options import choose_learner
from train.common.run_folder import RunError, read_progress
from train.selfplay import CHECKPOINT_KIND, Args, Trainer, train, with_recorded_choice


@each(
    ("options", "has_bfloat16", "expected"),
    [
        ({}, True, "sparse float32"),
        ({"hidden": (255, 128)}, True, "sparse float32"),
        ({"hidden": (256, 128)}, True, "torch bfloat16"),
        ({"hidden": (128, 256)}, True, "torch bfloat16"),
        ({"hidden": (512,)}, False, "sparse float32"),
        ({"hidden": (512,), "precision": "float32"}, True, "sparse float32"),
        ({"hidden": (512,), "learner": "sparse"}, True, "sparse float32"),
        ({"precision": "bfloat16"}, False, "torch bfloat16"),
        ({"learner": "torch"}, True, "torch bfloat16"),
        ({"learner": "torch"}, False, "torch float32"),
        ({"learner": "torch", "precision": "float32"}, True, "torch float32"),
        ({"oracle": True}, False, "sparse float32"),
        ({"magnet": 0.1}, True, "sparse float32"),
    ],
)
def test_the_learner_follows_from_options_and_processor(
    options: dict[str, object], has_bfloat16: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("train.common.options.has_fast_bfloat16", lambda: has_bfloat16)
    args = Args(**options)  # type: ignore[arg-type]
    assert " ".join(choose_learner(args)) == expected
    assert f"{args.config()['learner']} {args.config()['precision']}" == expected


def test_a_resumed_run_keeps_its_learner_and_precision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another processor too, which would choose another one; `config.json` says which it was."""
    large = {"hidden": (256,), "learner": "auto", "num_envs": 4, "total_timesteps": 100}
    monkeypatch.setattr("train.common.options.has_fast_bfloat16", lambda: True)
    train(short(tmp_path, **large))
    recorded = json.loads((tmp_path / "config.json").read_text())["args"]
    assert (recorded["learner"], recorded["precision"]) == ("torch", "bfloat16")
    monkeypatch.setattr("train.common.options.has_fast_bfloat16", lambda: False)
    assert Args(hidden=(256,)).config()["learner"] == "sparse"
    resumed = short(tmp_path, **large, resume=True)
    assert (with_recorded_choice(resumed).learner, with_recorded_choice(resumed).precision) == (
        "torch",
        "bfloat16",
    )
    train(short(tmp_path, **{**large, "total_timesteps": 200}, resume=True))
    assert read_progress(tmp_path, CHECKPOINT_KIND)["config"]["precision"] == "bfloat16"
    for other, words in (
        ({"learner": "sparse"}, "started with learner 'torch', now it is 'sparse': give --learner as before"),
        ({"precision": "float32"}, "started with precision 'bfloat16', now it is 'float32'"),
    ):
        with pytest.raises(RunError, match=words):
            train(short(tmp_path, **{**large, **other}, resume=True))


@pytest.mark.parametrize(
    "options", [{}, {"oracle": True, "magnet": 0.1}, {"oracle": True, "q_boosting": True}]
)
def test_both_learners_leave_the_same_tensors_and_learn_the_same_at_first(
    tmp_path: Path, options: dict[str, object]
) -> None:
    """After one update of a rollout of the same decisions the weights differ by rounding only."""
    learners = ("torch", "sparse")
    trainers = [
        Trainer(short(tmp_path, learner=learner, precision="float32", **options)) for learner in learners
    ]
    for trainer in trainers:
        trainer.collect()
        trainer.learn(0.0)
    dense, sparse = trainers
    assert (dense._rollout.actions == sparse._rollout.actions).mean() > 0.99
    saved = [trainer.checkpoint()[0] for trainer in trainers]
    for name, value in saved[0].items():
        if name.startswith(("network.", "oracle.")):
            assert float((value - saved[1][name]).abs().max()) < 0.01 * float(value.abs().max()), name
    kinds = [{name: (value.shape, value.dtype) for name, value in tensors.items()} for tensors in saved]
    assert kinds[0] == kinds[1]
