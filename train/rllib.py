"""Learn a game by self-play with PPO of RLlib, on this machine or on a Ray cluster.

    python -m train.rllib --run-dir runs/rllib --minutes 5
    python -m train.rllib --run-dir runs/rllib --minutes 5 --cluster auto --workers 8

One policy plays all seats and learns from its decisions. The loop, the loss, the network with its action mask
and the workers are RLlib's; `RLlibEnv` is the environment. Evaluate the run folder with
`python -m millebornes_env evaluate --run-dir runs/rllib`. See docs/environment/libraries.md.

The checkpoint is a safetensors file, as for all trainers. RLlib's own checkpoints (`Algorithm.save_to_path`)
are pickles, which can run any code when they are read, and are not used.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import torch
from torch import Tensor

from millebornes_env._util.signals import Stops
from millebornes_env.arena.cluster.ray import connected
from millebornes_env.envs.rllib import RLlibEnv
from train.common.libraries import LibraryLearner, LibraryOptions, numbers
from train.common.options import check_amounts, check_training, linear_schedule
from train.common.runs import Run, run_training

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Ray's modules emit deprecation warnings about each other
    for name in ("ray", "ray.rllib"):
        logging.getLogger(name).setLevel(logging.ERROR)
    from ray.rllib.algorithms.algorithm import Algorithm
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.rllib.utils.schedules.scheduler import Scheduler

CHECKPOINT_KIND: Final = "train.rllib 2"
_MAIN: Final = "main"  # RLlib's name of the policy


@dataclass(frozen=True)
class Args(LibraryOptions):
    """The options of the command line; each is saved in the run's config.json."""

    free: ClassVar[frozenset[str]] = LibraryOptions.free | {"workers", "cluster"}

    num_envs: int = 64
    """number of parallel games, of all workers together"""
    num_steps: int = 32
    batch_size: int = 256
    num_epochs: int = 6
    workers: int = 0
    """processes that play (RLlib's env runners), one CPU each; 0: the learner's process plays"""
    cluster: str = ""
    """address of a Ray cluster, such as auto or 10.0.0.1:6379 (default: start Ray on this machine)"""


def algorithm_config(args: Args) -> PPOConfig:
    """Return RLlib's PPO with the options of the run."""
    network = {"fcnet_hiddens": args.layers, "fcnet_activation": "relu", "vf_share_layers": False}
    processes = max(1, args.workers)
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=network)
    return (
        PPOConfig()
        .environment(RLlibEnv, env_config=args.env_options, disable_env_checking=True)
        .env_runners(num_env_runners=args.workers, num_envs_per_env_runner=args.num_envs // processes)
        .multi_agent(policies={_MAIN}, policy_mapping_fn=lambda agent, episode, **_: _MAIN)
        .rl_module(rl_module_spec=module)
        .training(
            lr=None,  # the schedules are set before each update
            gamma=args.gamma,
            lambda_=args.gae_lambda,
            clip_param=args.clip_range,
            vf_loss_coeff=args.vf_coef,
            vf_clip_param=float("inf"),
            use_kl_loss=False,
            grad_clip=args.max_grad_norm,
            num_epochs=args.num_epochs,
            minibatch_size=args.batch_size,
            train_batch_size_per_learner=args.num_envs * args.num_steps,
        )
        .debugging(seed=args.seed % 2**31, log_level="ERROR")
    )


class Learner(LibraryLearner):
    """PPO of RLlib, `algorithm`, as a learner of a run."""

    trained_by = "train.rllib"

    def __init__(self, algorithm: Algorithm, args: Args) -> None:
        (learner,) = algorithm.learner_group.foreach_learner(lambda learner: learner)
        self._learner: Any = learner.get()
        ((_, optimizer),) = self._learner.get_optimizers_for_module(_MAIN)
        network = self._learner.module[_MAIN]
        actor = [network.encoder.actor_encoder, network.pi]
        super().__init__(network, optimizer, actor, args.table(), "relu")
        self.algorithm = algorithm
        self._args = args

    def update(self, share: float) -> dict[str, float]:
        """Play a rollout and learn from it, at a completed share of the run; return RLlib's statistics."""
        args = self._args
        for group in self.optimizer.param_groups:
            group["lr"] = linear_schedule(args.learning_rate, args.final_learning_rate, share)
        ent_coef = Scheduler(linear_schedule(args.ent_coef, args.final_ent_coef, share))
        self._learner.entropy_coeff_schedulers_per_module[_MAIN] = ent_coef
        result = self.algorithm.train()
        self._decisions += int(result["env_runners"].get("num_env_steps_sampled", 0))
        found = result.get("learners", {}).get(_MAIN, {})
        self.check_loss(float(found.get("total_loss", 0.0)))
        return {f"train/{name}": value for name, value in numbers(found).items()}

    def restore(self, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        """Continue from the result of `checkpoint`, and send the weights to all workers."""
        super().restore(tensors, progress)
        self.algorithm.env_runner_group.sync_weights(
            from_worker_or_learner_group=self.algorithm.learner_group, inference_only=True
        )


def check(args: Args) -> None:
    """Check the options; raise a `ValueError` that names the option, or lists the tables."""
    check_training(args)
    args.table()
    check_amounts(args, "workers")
    if args.num_envs % max(1, args.workers):
        raise ValueError(f"--num-envs is {args.num_envs}; it must be a multiple of --workers, {args.workers}")
    rollout = args.num_envs * args.num_steps
    if args.batch_size > rollout:
        raise ValueError(
            f"--batch-size is {args.batch_size}; a rollout (--num-envs times --num-steps) has only {rollout}"
        )


def train(args: Args) -> Run:
    """Train, or resume training, until the budget is spent or a signal stops the run.

    Raises:
        RunError: the folder cannot be used.
        ArenaError: the cluster cannot be reached.
        ValueError: the table or another option is invalid.
        LossError: a loss became NaN or infinite.
        Stopped: a signal (Ctrl-C, SIGTERM or SIGHUP); a checkpoint was written.
    """
    check(args)
    torch.set_num_threads(args.threads)
    with Stops() as stops, Run(args, CHECKPOINT_KIND, "PPO of RLlib") as run, contextlib.ExitStack() as ends:
        args.check_folder()
        ends.enter_context(connected(args.cluster or None, cpus=max(1, args.workers) + 1))
        algorithm = algorithm_config(args).build_algo()
        ends.callback(algorithm.stop)
        learner = Learner(algorithm, args)
        run.warm_up(learner)
        run.begin(learner)
        with stops.deferred():
            while run.share < 1.0 and not stops.is_waiting:
                run.after_update(learner.update(run.share))
            run.finish(evaluate=not stops.is_waiting)
    print(f"{run.summary()}; run folder: {run.folder}")
    return run


def main() -> int:
    """Run the command line; return the exit status."""
    return run_training(Args, __doc__, lambda args: train(args).problem, lambda args: args.run_dir)


if __name__ == "__main__":
    sys.exit(main())
