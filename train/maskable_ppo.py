"""Learn a game by self-play with MaskablePPO of sb3-contrib.

    python -m train.maskable_ppo --run-dir runs/first --minutes 5

One seat of each game learns; the current policy plays the others (`SB3VecEnv`). Evaluate the run folder with
`python -m millebornes_env evaluate --run-dir runs/first`. docs/agents/training.md explains the logged
metrics.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger
from torch import Tensor

from millebornes_env._util.signals import Stops
from millebornes_env.agents.policy.agent import observation_scale
from millebornes_env.agents.protocol import Table
from millebornes_env.envs.sb3 import SB3VecEnv
from train.common.libraries import LibraryLearner, LibraryOptions, numbers
from train.common.options import check_training, linear_schedule
from train.common.runs import Run, run_training

CHECKPOINT_KIND: Final = "train.maskable_ppo 4"
ACTIVATIONS: Final = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}
_PROGRESS_STEPS: Final = 16  # steps between updates of the progress bar


@dataclass(frozen=True)
class Args(LibraryOptions):
    """The options of the command line; each is saved in the run's config.json."""

    num_envs: int = 256
    num_steps: int = 64
    """decisions of each learning seat between two updates"""
    batch_size: int = 2048
    num_epochs: int = 3
    ent_coef: float = 0.03
    final_ent_coef: float = 0.003
    activation: Literal["tanh", "relu"] = "relu"
    """activation function after each hidden layer"""


def self_play_policy(model: MaskablePPO, table: Table) -> Callable[..., npt.NDArray[np.int64]]:
    """Return a function that samples actions of the current policy, for the seats that do not learn."""
    scale = torch.from_numpy(observation_scale(table))

    def act(observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        with torch.no_grad():
            scaled = torch.from_numpy(observations).float() * scale
            logits = model.policy.action_net(model.policy.mlp_extractor.forward_actor(scaled))
            noise = -torch.log(-torch.log(torch.rand_like(logits).clamp_(1e-10, 1 - 1e-7)))
            noisy = (logits + noise).masked_fill_(torch.from_numpy(action_masks) == 0, -torch.inf)
            chosen: npt.NDArray[np.int64] = noisy.argmax(dim=1).numpy()
            return chosen

    return act


class Learner(LibraryLearner):
    """MaskablePPO, `model`, as a learner of a run."""

    trained_by = "train.maskable_ppo"

    def __init__(self, model: MaskablePPO, table: Table, activation: str) -> None:
        policy = model.policy
        actor = [policy.mlp_extractor.policy_net, policy.action_net]
        super().__init__(policy, policy.optimizer, actor, table, activation)
        self.model = model

    @property
    def decisions(self) -> int:
        """Number of decisions learned from so far."""
        return int(self.model.num_timesteps)

    def checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return weights, optimizer, counters and PyTorch's random numbers; not the games."""
        tensors, progress = super().checkpoint()
        return tensors, {**progress, "updates": int(self.model._n_updates)}

    def restore(self, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        """Continue from the result of `checkpoint`."""
        super().restore(tensors, progress)
        self.model.num_timesteps = int(progress["decisions"])
        self.model._n_updates = int(progress["updates"])


class RunCallback(BaseCallback):
    """Notifies the run of each rollout, sets the entropy coefficient, and ends the training."""

    def __init__(self, run: Run, learner: Learner, stops: Stops) -> None:
        super().__init__()
        self.run = run
        self.learner = learner
        self.stops = stops

    def _on_rollout_start(self) -> None:
        if self.stops.is_waiting:
            return
        self._on_training_end()
        args = self.run.args
        ent_coef = linear_schedule(args.ent_coef, args.final_ent_coef, self.run.share)
        self.model.ent_coef = ent_coef  # type: ignore[attr-defined]
        self.run.after_update()

    def _on_training_end(self) -> None:
        """Check the loss of the last update, before anything is saved."""
        self.learner.check_loss(self.logger.name_to_value.get("train/loss", 0.0))

    def _on_step(self) -> bool:
        if self.n_calls % _PROGRESS_STEPS == 0:
            self.run.show_progress()
        is_over = self.run.args.minutes > 0 and self.run.share >= 1.0
        return not is_over and not self.stops.is_waiting


class RunOutput(KVWriter):
    """Forwards the log of Stable-Baselines3 to the run."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        """Write the numbers among the values."""
        self.run.add_scalars(numbers(key_values))

    def close(self) -> None:
        """Do nothing; the run closes its files."""


def check(args: Args) -> None:
    """Check the options; raise a `ValueError` that names the option."""
    check_training(args)
    if args.num_envs * args.num_steps < 2:
        raise ValueError("--num-envs times --num-steps is 1; it must be 2 or more")


def new_env(args: Args) -> SB3VecEnv:
    """Make the environment of a run."""
    return SB3VecEnv(args.num_envs, num_threads=args.threads, **args.env_options)


def warm_up(args: Args) -> Learner:
    """Compile everything by training a small learner once; return that learner."""
    few = min(args.num_envs, 4)
    small = replace(args, num_envs=few, num_steps=4, batch_size=4 * few, num_epochs=1)
    learner = new_learner(small, new_env(small), lambda: 0.0)
    learner.model.learn(total_timesteps=1)
    return learner


def new_learner(args: Args, env: SB3VecEnv, share: Callable[[], float]) -> Learner:
    """Make an untrained learner that plays all seats, of a run whose completed `share` is 0 to 1."""
    schedule = args.learning_rate, args.final_learning_rate
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=lambda _: linear_schedule(*schedule, share()),
        n_steps=args.num_steps,
        batch_size=args.batch_size,
        n_epochs=args.num_epochs,
        gamma=args.gamma,
        gae_lambda=args.gae_lambda,
        clip_range=args.clip_range,
        ent_coef=args.ent_coef,
        vf_coef=args.vf_coef,
        max_grad_norm=args.max_grad_norm,
        policy_kwargs={
            "net_arch": {"pi": args.layers, "vf": args.layers},
            "activation_fn": ACTIVATIONS[args.activation],
        },
        seed=args.seed,
        device="cpu",
    )
    model.set_logger(Logger(None, []))
    env.set_opponent(self_play_policy(model, args.table()))
    return Learner(model, args.table(), args.activation)


def train(args: Args) -> Run:
    """Train, or resume training, until the budget is spent or a signal stops the run.

    Raises:
        RunError: the folder cannot be used.
        ValueError: the table or another option is invalid.
        LossError: a loss became NaN or infinite.
        Stopped: a signal (Ctrl-C, SIGTERM or SIGHUP); a checkpoint was written.
    """
    check(args)
    torch.set_num_threads(args.threads)
    torch.distributions.Distribution.set_default_validate_args(False)
    env = new_env(args)
    with Stops() as stops, Run(args, CHECKPOINT_KIND, "MaskablePPO") as run:
        args.check_folder()
        run.warm_up(warm_up(args))
        learner = new_learner(args, env, lambda: run.share)
        learner.model.set_logger(Logger(None, [RunOutput(run)]))
        run.begin(learner)
        if learner.decisions > 0:
            env.seed(args.seed + learner.decisions)  # other games than those already learned from
        if run.share < 1.0:
            left = args.total_timesteps - learner.decisions if args.minutes == 0 else sys.maxsize
            with stops.deferred():  # a signal ends a rollout, but not an update
                learner.model.learn(left, RunCallback(run, learner, stops), reset_num_timesteps=False)
                run.finish(evaluate=not stops.is_waiting)
    print(f"{run.summary()}; run folder: {run.folder}")
    return run


def main() -> int:
    """Run the command line; return the exit status."""
    return run_training(Args, __doc__, lambda args: train(args).problem, lambda args: args.run_dir)


if __name__ == "__main__":
    sys.exit(main())
