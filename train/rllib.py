"""Learn a game by self-play with PPO of RLlib, on this machine or on a Ray cluster.

    python -m train.rllib --run-dir runs/rllib --minutes 5
    python -m train.rllib --run-dir runs/rllib --minutes 5 --cluster auto --workers 8

One policy plays all seats and learns from its decisions; in a part of the episodes, the other teams are
played by frozen copies of former times (the pool). The run folder can be played at once:
`python -m millebornes_env evaluate --run-dir runs/rllib`. docs/rllib.md explains it.

The checkpoint is a safetensors file, as those of all trainers: nothing here reads or writes a pickle. RLlib's
own checkpoints (`Algorithm.save_to_path`) are pickles, which can run any code when they are read.
"""

# Where is what:
#
#   the loop, the loss, sampling, restarted workers   RLlib; algorithm_config() below
#   the networks, and who plays which seat            common/rllib_module.py
#   what RLlib is shown of a game                     millebornes_env/envs/rllib.py   RLlibEnv
#   evaluation, checkpoints, logging                  common/runs.py             Run.after_update

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import torch
from torch import Tensor

from millebornes_env import vector_env
from millebornes_env._util.signals import Stops
from millebornes_env.agents.policy.agent import observation_scale
from millebornes_env.agents.policy.files import DESCRIPTION_FILE, check_description, read_description
from millebornes_env.agents.policy.writing import fold_in_scale, save_policy_files
from millebornes_env.agents.protocol import Table
from millebornes_env.arena.cluster.ray import connected
from millebornes_env.envs.rllib import RLlibEnv
from train.common.options import (
    TrainingOptions,
    check_counts,
    check_shares,
    check_training,
    linear_schedule,
)
from train.common.rllib_module import MAIN, Casting, FrozenPolicy, LearningPolicy, in_pool
from train.common.run_folder import LossError, tensors_of_optimizer, tensors_to_optimizer, with_prefix
from train.common.runs import Run, run_training

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Ray's modules warn of each other
    from ray.rllib.algorithms.algorithm import Algorithm
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.utils.schedules.scheduler import Scheduler

CHECKPOINT_KIND: Final = "train.rllib 1"
_NO_CLIPPING: Final = 1e6  # of the critic's error


@dataclass(frozen=True)
class Args(TrainingOptions):
    """The options of the command line; each is saved in the run's config.json."""

    free: ClassVar[frozenset[str]] = TrainingOptions.free | {"threads", "workers", "cluster"}

    num_envs: int = 64
    """games played at once, by all workers together"""
    num_steps: int = 32
    batch_size: int = 256
    num_epochs: int = 6
    edition: str = "parker"
    """rule sheet that is played"""
    workers: int = 0
    """processes that play (RLlib's env runners), one CPU each; 0: the learner plays itself"""
    cluster: str = ""
    """address of a Ray cluster, such as auto or 10.0.0.1:6379 (default: a Ray of its own, on this machine)"""
    pool_size: int = 3
    """frozen policies in the pool; 0: none"""
    pool_share: float = 0.2
    """share of the episodes in which the other teams are played by a policy of the pool"""
    pool_updates: int = 10
    """updates between two that put the policy as it stands into the pool, in place of the oldest there"""

    @property
    def sheets(self) -> tuple[str, ...]:
        """Name of the rule sheet."""
        return (self.edition,)


def algorithm_config(args: Args) -> PPOConfig:
    """PPO with the options of the run."""
    table = vector_env(1, args.edition, players=args.players)
    env_config = {
        "edition": args.edition,
        "players": args.players,
        "episode": args.chosen_episode,
        "reward": args.chosen_reward,
    }
    model = {"hidden": args.layers}
    modules = {MAIN: RLModuleSpec(module_class=LearningPolicy, model_config=model)}
    for number in range(args.pool_size):
        modules[in_pool(number)] = RLModuleSpec(module_class=FrozenPolicy, model_config=model)
    return (
        PPOConfig()
        .environment(RLlibEnv, env_config=env_config, disable_env_checking=True)
        .env_runners(
            num_env_runners=args.workers,
            num_envs_per_env_runner=args.num_envs // max(1, args.workers),
            rollout_fragment_length="auto",
        )
        .learners(num_learners=0)
        .multi_agent(
            policies=set(modules),
            policy_mapping_fn=Casting(table.teams, args.pool_size, args.pool_share),
            policies_to_train=[MAIN],
        )
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))
        .training(
            lr=args.learning_rate,
            gamma=args.gamma,
            lambda_=args.gae_lambda,
            clip_param=args.clip_range,
            entropy_coeff=args.ent_coef,
            vf_loss_coeff=args.vf_coef,
            vf_clip_param=_NO_CLIPPING,
            use_kl_loss=False,
            grad_clip=args.max_grad_norm,
            grad_clip_by="global_norm",
            num_epochs=args.num_epochs,
            minibatch_size=args.batch_size,
            train_batch_size_per_learner=args.num_envs * args.num_steps,
        )
        .fault_tolerance(restart_failed_env_runners=True, max_num_env_runner_restarts=sys.maxsize)
        .debugging(seed=args.seed % 2**31, log_level="ERROR")
    )


class Learner:
    """PPO of RLlib as a run keeps it: see `train.common.runs.Learner`.

    Attributes:
        algorithm: RLlib's.
        updates: how many there were.
        seconds: nothing: the times that RLlib measures overlap.
    """

    def __init__(self, algorithm: Algorithm, args: Args) -> None:
        """Nothing is learned yet."""
        self.algorithm = algorithm
        self.updates = 0
        self.seconds: dict[str, float] = {}
        self._args = args
        self._decisions = 0
        self._table = Table.of(vector_env(1, args.edition, players=args.players))
        self._copy_into_pool(*range(args.pool_size))

    @property
    def decisions(self) -> int:
        """Learned from so far."""
        return self._decisions

    def update(self, share: float) -> dict[str, float]:
        """Play, and learn from it.

        Args:
            share: of the run that is done, 0 to 1, which the schedules follow.

        Returns:
            Statistics, by the names of docs/training.md.

        Raises:
            LossError: the loss became NaN or infinite.
        """
        args = self._args
        learning_rate = linear_schedule(args.learning_rate, args.final_learning_rate, share)
        ent_coef = linear_schedule(args.ent_coef, args.final_ent_coef, share)
        self._in_learner(lambda learner: _set_schedules(learner, learning_rate, ent_coef))
        result = self.algorithm.train()
        played = result["env_runners"]
        self._decisions += int(played.get("num_env_steps_sampled", 0))
        self.updates += 1
        if args.pool_size and self.updates % args.pool_updates == 0:
            self._copy_into_pool(self.updates // args.pool_updates % args.pool_size)
        return self._statistics(result.get("learners", {}).get(MAIN, {}), learning_rate)

    def _statistics(self, losses: dict[str, Any], learning_rate: float) -> dict[str, float]:
        names = {
            "loss/total": "total_loss",
            "loss/policy": "policy_loss",
            "loss/value": "vf_loss",
            "policy/entropy": "entropy",
            "value/explained_variance": "vf_explained_var",
        }
        values = {ours: float(losses[theirs]) for ours, theirs in names.items() if theirs in losses}
        if not np.isfinite(values.get("loss/total", 0.0)):
            raise LossError(
                f"loss became NaN or infinite at timestep {self._decisions:,}; a lower --learning-rate may "
                "help; what was saved before is as it was"
            )
        return {**values, "policy/learning_rate": learning_rate}

    def _in_learner(self, do: Callable[[Any], Any]) -> Any:
        """Call a function with RLlib's learner."""
        return next(iter(self.algorithm.learner_group.foreach_learner(do))).get()

    def _modules(self) -> list[str]:
        return [MAIN, *(in_pool(number) for number in range(self._args.pool_size))]

    def _state(self) -> dict[str, Tensor]:
        """All weights, by "<module>.<parameter>"."""
        names = self._modules()

        def weights(learner: Any) -> dict[str, Tensor]:
            return {
                f"{name}.{parameter}": value.detach().clone()
                for name in names
                for parameter, value in learner.module[name].state_dict().items()
            }

        found: dict[str, Tensor] = self._in_learner(weights)
        return found

    def _set_state(self, tensors: dict[str, Tensor], names: list[str]) -> None:
        """Put weights of some modules back, and send them to all that play."""

        def load(learner: Any) -> None:
            for name in names:
                learner.module[name].load_state_dict(with_prefix(tensors, f"{name}."))

        self._in_learner(load)
        self.algorithm.env_runner_group.sync_weights(
            from_worker_or_learner_group=self.algorithm.learner_group, policies=names, inference_only=True
        )

    def _copy_into_pool(self, *numbers: int) -> None:
        """Let some places of the pool be the policy as it stands."""
        actor = with_prefix(self._state(), f"{MAIN}.actor.")
        places = [in_pool(number) for number in numbers]
        copies = {f"{place}.actor.{name}": value for place in places for name, value in actor.items()}
        self._set_state(copies, places)

    def save_policy(self, folder: Path) -> None:
        """Write the acting half of the network as agents play it.

        Raises:
            OSError: it could not be written.
        """
        actor = with_prefix(self._state(), f"{MAIN}.actor.")
        numbers = sorted({int(name.partition(".")[0]) for name in actor})
        layers = [(actor[f"{one}.weight"].numpy(), actor[f"{one}.bias"].numpy()) for one in numbers]
        save_policy_files(
            folder,
            fold_in_scale(layers, observation_scale(self._table)),
            self._table,
            activation="relu",
            more={"trained_by": "train.rllib", "decisions_trained": self.decisions},
        )

    def checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Weights of all policies, optimizer and counters; not the games, nor RLlib's random numbers."""
        tensors = self._state() | self._in_learner(lambda learner: tensors_of_optimizer(_optimizer(learner)))
        return tensors, {"decisions": self._decisions, "updates": self.updates}

    def restore(self, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        """Go on from what `checkpoint` returned.

        Raises:
            KeyError, TypeError, RuntimeError, ValueError: it is of another network.
        """
        self._set_state(tensors, self._modules())
        self._in_learner(lambda learner: tensors_to_optimizer(_optimizer(learner), tensors))
        self._decisions, self.updates = int(progress["decisions"]), int(progress["updates"])


def _optimizer(learner: Any) -> torch.optim.Optimizer:
    """Of the policy that learns."""
    ((_, optimizer),) = learner.get_optimizers_for_module(MAIN)
    found: torch.optim.Optimizer = optimizer
    return found


def _set_schedules(learner: Any, learning_rate: float, ent_coef: float) -> None:
    """Set the schedules by the completed share of the run; RLlib's step count restarts in a resume."""
    optimizer = _optimizer(learner)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    learner._optimizer_lr_schedules.pop(optimizer, None)
    learner.entropy_coeff_schedulers_per_module[MAIN] = Scheduler(fixed_value_or_schedule=ent_coef)


def check(args: Args) -> None:
    """Refuse options that cannot be.

    Raises:
        ValueError: the message names the option.
    """
    check_training(args)
    check_counts(args, "pool_updates")
    check_shares(args, "pool_share")
    for name, value in (("--workers", args.workers), ("--pool-size", args.pool_size)):
        if value < 0:
            raise ValueError(f"{name} is {value}; it must be 0 or more")
    if args.num_envs % max(1, args.workers):
        raise ValueError(
            f"--num-envs is {args.num_envs}, which {args.workers} --workers cannot share evenly: give a "
            "multiple of them"
        )
    if args.num_envs * args.num_steps < args.batch_size:
        raise ValueError(
            f"--batch-size is {args.batch_size}, more than the {args.num_envs * args.num_steps} decisions of "
            "a rollout (--num-envs times --num-steps)"
        )


@contextlib.contextmanager
def built(args: Args) -> Iterator[Algorithm]:
    """RLlib's algorithm, on a Ray that is connected to."""
    for name in ("ray", "ray.rllib", "ray.tune"):
        logging.getLogger(name).setLevel(logging.ERROR)
    cpus = max(1, args.workers) + 1
    with connected(args.cluster or None, cpus=cpus), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # RLlib's, of its own parts
        algorithm = algorithm_config(args).build_algo()
        try:
            yield algorithm
        finally:
            algorithm.stop()


def train(args: Args) -> Run:
    """Train, or go on training, until the budget is spent or a signal says to stop.

    Raises:
        RunError: the folder cannot be used as asked.
        ArenaError: there is no such cluster.
        ValueError: the table or another option is wrong.
        LossError: a loss became NaN or infinite.
        Stopped: by Ctrl-C, SIGTERM or SIGHUP; a checkpoint was written.
    """
    check(args)
    torch.set_num_threads(args.threads)
    with Stops() as stops, Run(args, CHECKPOINT_KIND, "PPO of RLlib") as run:
        if (args.run_dir / DESCRIPTION_FILE).exists():
            table = Table.of(vector_env(1, args.edition, players=args.players))
            check_description(read_description(args.run_dir), table, args.run_dir)
        with built(args) as algorithm:
            learner = Learner(algorithm, args)
            run.warm_up(learner)
            run.begin(learner)
            with stops.deferred():
                while run.share < 1.0 and not stops.is_waiting:
                    run.after_update(learner.update(run.share))
                if stops.is_waiting:
                    run.save()
                else:
                    run.finish()
    print(f"{run.summary()}; run folder: {run.folder}")
    return run


def main() -> int:
    """The command line; returns the exit status."""
    return run_training(Args, __doc__, lambda args: train(args).problem, lambda args: args.run_dir)


if __name__ == "__main__":
    sys.exit(main())
