"""Self-play: a run is made, goes on bit for bit after it was killed, and complains in words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from millebornes_env import agents, vector_env
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.engine.numba.compiling import IS_COMPILED
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC
from millebornes_env.solving import exploitability
from tests.agents.policies import rows_by_state
from tests.each import each
from tests.train.short_runs import WORDS, command, killed, read, same, short, weights
from train import selfplay
from train.common.run_folder import (
    CHECKPOINT_FILE,
    EVENTS_FOLDER,
    FAILED_BATCH,
    LossError,
    RunError,
    read_progress,
    with_prefix,
)
from train.common.runs import LOSS_NOT_FINITE
from train.selfplay import CHECKPOINT_KIND, Trainer, train


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished short run, with evaluations, in a folder whose name looks like options."""
    folder = tmp_path_factory.mktemp("runs") / "lr=1e-3,seed=2"
    train(short(folder, eval_seconds=0.01, eval_deals=4))
    return folder


def test_the_saved_policy_plays_as_the_ema_does(run: Path) -> None:
    trainer = Trainer(short(run))
    checkpoint = weights(run)
    trainer.ema_network.load_state_dict(with_prefix(checkpoint, "average."))
    env = vector_env(64, seed=3)
    observations, _ = env.reset()
    for _ in range(40):
        observations = env.step(env.sample_actions()).observations
    rows, mask = observations["observation"], observations["action_mask"]
    policy = agents.load(f"policy:{run}", env)
    assert isinstance(policy, PolicyAgent)
    inputs = rows_by_state(env, env.get_states(), DEFAULT_SPEC, features=True)
    with torch.no_grad():
        outputs = trainer.ema_network(torch.from_numpy(inputs)).numpy()
    expected = np.where(mask == 1, outputs[:, :-1], -np.inf).argmax(axis=1)
    assert (policy.act(rows, mask) == expected).all()
    assert policy.value == "points"
    assert policy.values(inputs) == pytest.approx(outputs[:, -1], rel=1e-3, abs=1e-4)


def test_learning_beats_not_learning(tmp_path: Path) -> None:
    options = {"total_timesteps": 200_000, "num_envs": 512, "num_steps": 32, "batch_size": 1024}
    finished = train(short(tmp_path / "run", eval_seconds=1e6, eval_deals=100, learning_rate=3e-3, **options))
    last = finished.curve[-1]
    assert last.scores["greedy"].win_rate > 0.15  # it wins 45 to 55 %, one that has learned nothing 1 %


def test_the_ema_follows_the_learner(tmp_path: Path) -> None:
    """Straight after a start it is the network's own mean over a few updates; with 0 it is the network."""
    for decay in (0.0, 0.98):
        trainer = Trainer(short(tmp_path, ema_decay=decay))
        weights, mean = [], trainer.network.linears[0].weight.detach().clone()
        for update in range(1, 4):
            trainer.collect()
            trainer.learn(0.0)
            weights.append(trainer.network.linears[0].weight.detach().clone())
            kept = min(decay, update / (update + 10))
            mean = kept * mean + (1 - kept) * weights[-1]
        assert torch.allclose(trainer.ema_network.linears[0].weight, mean, atol=1e-6)
        assert torch.equal(trainer.ema_network.linears[0].weight, weights[-1]) == (decay == 0.0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"oracle": True, "magnet": 0.1, "magnet_updates": 3, "reward": "win_prob"},
        {"oracle": True, "q_boosting": True, "pool_share": 0.5, "learner": "torch"},
        {"opponent": "arnold", "num_epochs": 2, "precision": "bfloat16"},
        {"hidden": (24, 16), "threads": 2, "num_epochs": 2, "pool_share": 0.5},
        {"edition": ("parker", "dutch"), "observe_rules": True, "reward": "win", "episode": "round"},
        {"players": 4, "threads": 2, "num_envs": 600, "num_steps": 8, "total_timesteps": 9000},
    ],
)
def test_a_resumed_run_is_the_same_bit_for_bit(tmp_path: Path, options: dict[str, object]) -> None:
    constant = {"final_learning_rate": 1e-3, "ent_coef": 0.005, "final_ent_coef": 0.005}  # in any budget
    options = {"total_timesteps": 2400, **constant, **options}
    part = {**options, "total_timesteps": int(str(options["total_timesteps"])) // 2}
    train(short(tmp_path / "whole", **options))
    train(short(tmp_path / "parts", **part))
    assert not same(weights(tmp_path / "whole"), weights(tmp_path / "parts"))
    train(short(tmp_path / "parts", resume=True, **options))
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "parts"))


OPTIONS_OF_KILLED = [
    *(*WORDS, "--total-timesteps=3000", "--learner=sparse"),
    *("--pool-share=0.5", "--pool-updates=1", "--pool-agent=arnold"),
]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[int, list[str]]]:
    """The folder of a killed run, and what it compiled."""
    folder = tmp_path_factory.mktemp("killed") / "run"
    return folder, killed("train.selfplay", folder, *OPTIONS_OF_KILLED)


def test_a_run_killed_in_the_middle_goes_on_bit_for_bit(
    stopped: tuple[Path, tuple[int, list[str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = stopped
    progress = read_progress(folder, CHECKPOINT_KIND)
    assert progress["updates"] == 3
    assert 0 < progress["decisions"] < 3000
    assert command(monkeypatch, *OPTIONS_OF_KILLED, "--run-dir", folder, "--resume") == 0
    assert command(monkeypatch, *OPTIONS_OF_KILLED, "--run-dir", tmp_path / "whole") == 0
    assert same(weights(folder), weights(tmp_path / "whole"))


def test_a_killed_run_on_a_split_goes_on_and_plays_sheets_that_it_never_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [*OPTIONS_OF_KILLED, "--edition", "variants-v1:train", "--observe-rules"]
    killed("train.selfplay", tmp_path / "killed", *options)
    assert command(monkeypatch, *options, "--run-dir", tmp_path / "killed", "--resume") == 0
    assert command(monkeypatch, *options, "--run-dir", tmp_path / "whole") == 0
    assert same(weights(tmp_path / "killed"), weights(tmp_path / "whole"))
    env = vector_env(4, "variants-v1:test/inside", seed=1)
    policy = agents.load(f"policy:{tmp_path / 'whole'}", env)
    observations, _ = env.reset()
    slots = np.arange(4) * 2
    for _ in range(100):
        rows, mask = observations["observation"], observations["action_mask"]
        observations = env.step(policy.act(rows, mask, slots + env.agent_selection)).observations


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_all_is_compiled_when_the_clock_starts(stopped: tuple[Path, tuple[int, list[str]]]) -> None:
    """For earlier selves, an agent and evaluations too."""
    _, (known, late) = stopped
    assert known > 20
    assert late == []


def test_a_run_on_a_mini_deck_measures_its_exploitability(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train(short(folder, edition=("mini7",), eval_seconds=1e-9, eval_deals=2))
    curve = json.loads((folder / "exploitability.json").read_text())
    assert curve["deck"] == "mini7-v0"
    assert len(curve["decisions_and_percent"]) > 2
    last = exploitability(f"policy:{folder},mode=sample", "mini7")
    decisions, percent = curve["decisions_and_percent"][-1]
    assert percent == pytest.approx(last.percent)
    logged = read(folder / EVENTS_FOLDER)["eval/exploitability_percent"][-1]
    assert logged == pytest.approx((decisions, percent))
    assert (folder / "exploitability.png").stat().st_size > 5_000


def test_a_run_is_not_overwritten_without_resume(run: Path) -> None:
    with pytest.raises(RunError, match="already holds a run"):
        train(short(run))


def test_a_resumed_run_keeps_its_options(run: Path) -> None:
    with pytest.raises(RunError, match=r"started with players 2, now it is 3"):
        train(short(run, players=3, resume=True))


def test_a_checkpoint_of_another_format_is_refused(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    save_file(weights(run), folder / CHECKPOINT_FILE, {"progress": json.dumps({"format": 1})})
    with pytest.raises(RunError, match=r"an unknown kind.*resumes 'train.selfplay 2' only"):
        train(short(folder, resume=True))


def test_a_loss_that_became_nan_stops_the_run_and_names_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nan"
    learn = Trainer.learn

    def spoiled(self: Trainer, share: float) -> dict[str, float]:
        if self.updates == 3:
            self._rollout.returns[5, 7] = np.nan
        return learn(self, share)

    monkeypatch.setattr(Trainer, "learn", spoiled)
    with monkeypatch.context() as patch:
        patch.setattr(selfplay, "train", lambda *_: train(short(tmp_path / "command")))
        assert command(patch) == LOSS_NOT_FINITE
    with pytest.raises(
        LossError, match=r"^loss became NaN or infinite in update 4: batch of \d+ rows beginning with row \d+"
    ):
        train(short(folder))
    saved = weights(folder)
    assert read_progress(folder, CHECKPOINT_KIND)["updates"] == 3
    assert all(torch.isfinite(value.float()).all() for value in saved.values())
    assert (folder / FAILED_BATCH).exists()


@each(
    ("options", "words"),
    [
        (("--players", "7"), "players"),
        (("--edition", "parkers"), "parker"),
        (("--edition", "parker", "--edition", "dutch"), "--observe-rules"),
        (("--edition", "variants-v1:train"), "--observe-rules"),
        (("--edition", "variants-v1:train", "--observe-rules", "--reward", "win_prob"), "needs one goal"),
        (("--opponent", "greedy", "--pool-agent", "holder"), "leave out one of the two"),
        (("--num-envs", "0"), "--num-envs is 0; it must be 1 or more"),
        (("--opponent", "arnodl"), "arnold"),
        (("--reward", "win_prob", "--episode", "round"), "--episode match"),
        (("--q-boosting",), "--q-boosting needs the critic of --oracle"),
        (("--ent-coeff", "0.1"), "--ent-coef"),
        (("--wandb-project", "x"), "pip install wandb"),
        (("--hidden", "0"), "--hidden is 0; a layer has 1 to 512 units"),
        (("--hidden", "8") * 5, "--hidden is given 5 times; agents play 4 at most"),
        (("--minutes", "nan"), "--minutes is nan; it must be a number, 0 or more"),
        (("--eval-seconds", "inf"), "--eval-seconds is inf"),
        (("--learner=sparse", "--precision=bfloat16"), "sparse does not support --precision bfloat16"),
    ],
)
def test_wrong_options_are_told_in_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    words: str,
) -> None:
    folder = tmp_path / "wrong"
    monkeypatch.setenv("COLUMNS", "200")
    assert command(monkeypatch, "--run-dir", str(folder), *options) == 2
    assert words in capsys.readouterr().err
    assert not (folder / CHECKPOINT_FILE).exists()
