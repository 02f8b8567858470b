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

AMX, AVX_512 = "amx_bf16", "avx512_bf16"


@each(
    ("options", "units", "expected"),
    [
        ({}, AMX, "sparse float32"),
        ({"hidden": (512,), "batch_size": 8192}, AMX, "sparse float32"),
        ({"hidden": (128, 128)}, AMX, "sparse float32"),
        ({"hidden": (128, 129)}, AMX, "torch bfloat16"),
        ({"hidden": (256, 128)}, AMX, "torch bfloat16"),
        ({"hidden": (256, 128)}, AVX_512, "sparse float32"),
        ({"hidden": (256, 128), "batch_size": 2048}, AVX_512, "sparse float32"),
        ({"hidden": (256, 128), "batch_size": 2049}, AVX_512, "torch bfloat16"),
        ({"hidden": (128, 128, 128), "batch_size": 2049}, AVX_512, "torch bfloat16"),
        ({"hidden": (512, 512)}, "", "sparse float32"),
        ({"hidden": (512, 512)}, "bf16", "sparse float32"),
        ({"hidden": (512, 512), "precision": "float32"}, AMX, "sparse float32"),
        ({"hidden": (512, 512), "learner": "sparse"}, AMX, "sparse float32"),
        ({"precision": "bfloat16"}, "", "torch bfloat16"),
        ({"learner": "torch"}, AVX_512, "torch bfloat16"),
        ({"learner": "torch"}, "", "torch float32"),
        ({"learner": "torch", "precision": "float32"}, AVX_512, "torch float32"),
        ({"oracle": True}, "", "sparse float32"),
        ({"magnet": 0.1}, AVX_512, "sparse float32"),
    ],
)
def test_the_learner_follows_from_options_and_processor(
    options: dict[str, object], units: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("train.common.options.bfloat16_units", lambda: units)
    args = Args(**options)  # type: ignore[arg-type]
    assert " ".join(choose_learner(args)) == expected
    assert f"{args.config()['learner']} {args.config()['precision']}" == expected


def test_a_resumed_run_keeps_its_learner_and_precision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another processor too, which would choose another one; `config.json` says which it was."""
    shape = {"hidden": (512, 512), "batch_size": 128}
    large = {**shape, "learner": "auto", "num_envs": 4, "total_timesteps": 100}
    monkeypatch.setattr("train.common.options.bfloat16_units", lambda: AMX)
    train(short(tmp_path, **large))
    recorded = json.loads((tmp_path / "config.json").read_text())["args"]
    assert (recorded["learner"], recorded["precision"]) == ("torch", "bfloat16")
    monkeypatch.setattr("train.common.options.bfloat16_units", str)
    assert Args(**shape).config()["learner"] == "sparse"
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
