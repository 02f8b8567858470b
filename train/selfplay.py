"""Learn a game by self-play: PPO (Schulman et al. 2017) at the speed of the environment.

    python -m train.selfplay --run-dir runs/first --minutes 5

One network plays all seats, and every decision of every seat is learned from. Several processes learn
together if `torchrun` starts them. docs/training.md explains the options, the run folder and the metrics.
"""

# Where is what:
#
#   the loop: rollout, update                 train() and _train() below
#   a rollout                                 Trainer.collect() below
#   an update: epochs and minibatches         Trainer.learn() and Trainer._step() below
#   the network, actor and critic             common/network.py  Perceptron.forward, actor_critic
#   sampling of actions                       common/ppo.py      sample_actions
#   advantages (GAE), a seat's own decisions  common/ppo.py      advantages_of_game
#   the loss and its gradient by the logits   common/ppo.py      gradient_of_row
#   its gradient by the weights, Adam         common/learners.py TorchLearner, common/sparse_learner.py
#   options; games, rewards; opponents        common/selfplay_options.py Args; games.py; opponents.py
#   evaluation, checkpoints, logging          common/runs.py     Run.after_update
#   several processes                         common/workers.py  Workers; follow() below

from __future__ import annotations

import contextlib
import copy
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from millebornes_env._util.command_line import say
from millebornes_env._util.signals import Stopped, Stops
from millebornes_env.agents.policy.writing import save_policy_files
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import key_of_seed
from train.common.checkpoints import (
    recorded_options,
    tensors_of_optimizer,
    tensors_to_optimizer,
    with_prefix,
)
from train.common.command import run_training
from train.common.errors import LossError, RunError
from train.common.games import ManyGames
from train.common.learners import MEANS, Critics, Learner, Policy, TorchLearner, TorchPolicy
from train.common.memory import keep_freed_memory
from train.common.network import (
    PRECISIONS,
    Perceptron,
    actor_critic,
    has_fast_bfloat16,
    oracle_critic,
    start_from,
)
from train.common.opponents import MEMORIES, Opponents
from train.common.options import linear_schedule
from train.common.ppo import (
    LossCoefs,
    Rollout,
    new_rollout,
    new_sampling,
    new_seat_memory,
    shuffled,
    write_advantages,
)
from train.common.progress import timed
from train.common.runs import Run
from train.common.selfplay_options import (
    CHOICES,
    Args,
    Choice,
    check,
    chosen_learner,
    opponent_options,
    table_options,
)
from train.common.sparse_learner import SparseLearner, SparsePolicy
from train.common.sparse_network import ROOM
from train.common.workers import ALONE, Order, Workers, joined, signals_ignored

CHECKPOINT_KIND: Final = "train.selfplay 2"
PARTS = ("env", "inference", "advantage", "update")
"""Parts of the work whose time is measured; the rest is "other"."""
_FIRST_UPDATES: Final = 10
_GAMES: Final = "games"


class Trainer:
    """The networks, the games that they learn from, and the optimizer.

    Attributes:
        network: the policy and its value function.
        ema_network: the exponential moving average of its weights, which plays better than the raw weights.
        workers: the processes that learn together, each from games of its own.
        updates: done so far.
        decisions: learned from so far, in all processes.
        seconds: of each of `PARTS`, since the run began.
    """

    def __init__(self, args: Args, workers: Workers = ALONE) -> None:
        """Begin the games of this process, and make new networks, the same in all processes.

        Raises:
            ValueError: there is no such table or opponent, or rows are too long for the sparse learner.
        """
        keep_freed_memory()
        torch.set_num_threads(args.threads)
        torch.manual_seed(args.seed)
        self.args, self.workers = args, workers
        self._seed = workers.seed(args.seed)
        options = replace(table_options(args), seed_of_games=self._seed)
        self.games = ManyGames(workers.share_of_games(args.num_envs), options)
        tables = self.games.tables
        self.network = actor_critic(tables, args.layers, self.games.num_inputs - self.games.obs_size)
        if args.start:
            start_from(self.network, args.start, tables[0], self.games.observation)
        self.ema_network = copy.deepcopy(self.network)
        self.magnet: Perceptron | None = None
        if args.magnet > 0:
            self.magnet = copy.deepcopy(self.network)
        self.oracle: Perceptron | None = oracle_critic(tables, args.layers) if args.oracle else None
        self._learner_name, self._precision = chosen_learner(args)
        if self._learner_name == "sparse" and self.games.num_inputs > ROOM:
            raise ValueError(
                f"the sparse learner takes rows of at most {ROOM} numbers, these have "
                f"{self.games.num_inputs}: give --learner torch"
            )
        self.opponents = self._new_opponents()
        parameters = [*self.network.parameters(), *(self.oracle.parameters() if self.oracle else ())]
        self.optimizer = torch.optim.Adam(parameters, args.learning_rate, eps=1e-5, fused=True)
        self.updates = self.decisions = 0
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._make_room()

    def _new_opponents(self) -> Opponents:
        """Build the opponents, who have seen no game yet."""
        snapshot = self._policy_of(copy.deepcopy(self.network), "float32")
        options = opponent_options(self.args)
        return Opponents(self.games, snapshot, options, self._seed, self.args.threads)

    def _policy_of(self, network: Perceptron, precision: str) -> Policy:
        """Build the policy wrapper of a network."""
        if self._learner_name == "sparse":
            return SparsePolicy(network, self.args.threads)
        return TorchPolicy(network, PRECISIONS[precision], self.args.threads)

    def _new_learner(self) -> Learner:
        """Build the learner of the network."""
        if self._learner_name == "sparse":
            return SparseLearner(self.network, self.optimizer, self._flat, self.args.threads)
        policy = TorchPolicy(self.network, PRECISIONS[self._precision], self.args.threads)
        critics = Critics(self.magnet, self.oracle, self._oracle_rows.flatten(0, 1))
        return TorchLearner(policy, self.optimizer, self._flat, critics)

    def _make_room(self) -> None:
        """Allocate all arrays, once."""
        args, games = self.args, self.games
        rows = args.num_steps * games.num_games
        self._rollout = new_rollout(
            args.num_steps, games.num_games, games.num_inputs, games.num_actions, games.players
        )
        self._oracle_rows = torch.zeros(
            (args.num_steps, games.num_games, games.oracle_size if self.oracle else 0), dtype=torch.int8
        )
        logits = np.zeros((games.num_games, games.num_actions + 1), np.float32)
        self._sampling = new_sampling(logits, self._rollout.masks[0], args.threads)
        self._seat_memory = new_seat_memory(args.threads, games.players)
        self._flat = Rollout._make(array.reshape(rows, *array.shape[2:]) for array in self._rollout)
        self._learner = self._new_learner()

    def collect(self) -> None:
        """Play a rollout, `num_steps` decisions of every game, and compute its advantages."""
        rollout, games = self._rollout, self.games
        rng = np.random.default_rng([self._seed, self.updates])
        self.opponents.begin(rng)
        self._learner.take()
        key_0, key_1 = key_of_seed(self._seed)
        for step in range(self.args.num_steps):
            with timed(self.seconds, "env"):
                games.write_decisions(rollout, step)
            with timed(self.seconds, "inference"):
                key = (key_0, random_word(key_1, key_0, self.updates * self.args.num_steps + step))
                actions = self._choose(step, key)
                self.opponents.decide(rollout, step, key, actions)
                rollout.actions[step] = actions
            with timed(self.seconds, "env"):
                games.step(actions, rollout, step)
        with timed(self.seconds, "advantage"):
            write_advantages(
                rollout, self._seat_memory, self.args.gamma, self.args.gae_lambda, self.args.threads
            )

    @torch.no_grad()
    def _choose(self, step: int, key: tuple[int, int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Sample actions for a step's rows from the policy; write their log-probabilities and the values."""
        rollout = self._rollout
        sampling = self._sampling._replace(
            mask=rollout.masks[step], log_probs=rollout.log_probs[step], values=rollout.values[step]
        )
        self._learner.choose(rollout.observations[step], sampling, key)
        if self.oracle is not None:
            self.games.write_oracle_rows(self._oracle_rows[step].numpy())
            values = self.oracle(self._oracle_rows[step], PRECISIONS[self._precision])
            rollout.values[step] = values.squeeze(1).numpy()
        return sampling.actions

    def learn(self, share: float) -> dict[str, float]:
        """Update the networks from the rollout; all processes do, at the same time.

        Args:
            share: how much of the run is done, 0 to 1.

        Returns:
            Means of the statistics, by name.

        Raises:
            LossError: a loss became NaN or infinite; the networks are as they were before this update.
            ValueError: the rollout has nothing to learn from.
        """
        args = self.args
        with timed(self.seconds, "advantage"):
            rows = np.flatnonzero(self._flat.loss_mask)
            learned_from, batches = self._sizes(rows)
            advantages = self._flat.advantages
            mean, deviation = self.workers.mean_and_std(advantages[rows])
            advantages -= mean
            advantages /= deviation + 1e-8
        for group in self.optimizer.param_groups:
            group["lr"] = linear_schedule(args.learning_rate, args.final_learning_rate, share)
        self._learner.begin()
        ent_coef = linear_schedule(args.ent_coef, args.final_ent_coef, share)
        coefs = LossCoefs(args.clip_range, ent_coef, args.vf_coef, args.magnet)
        rng = np.random.default_rng([self._seed, self.updates, 1])
        totals = np.zeros(len(MEANS))
        with timed(self.seconds, "update"):
            try:
                for _ in range(args.num_epochs):
                    for batch in shuffled(rows, batches, rng):
                        totals += self._step(batch, coefs)
            except LossError:
                self._learner.undo()
                raise
            self._learner.end()
        self.updates += 1
        self.decisions += learned_from
        self._update_copies()
        means = dict(zip(MEANS, (totals / (batches * args.num_epochs)).tolist(), strict=True))
        returns, values = self._flat.returns[rows], self._flat.values[rows]  # of this process
        unexplained = float((returns - values).var() / max(returns.var(), 1e-12))
        return {**means, "explained_variance": 1.0 - unexplained, "ent_coef": ent_coef}

    def _sizes(self, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[int, int]:
        """Return the number of rows of all processes, and of minibatches.

        Raises:
            ValueError: a process has too few; they all raise it.
        """
        args, workers = self.args, self.workers
        everywhere, empty = (int(number) for number in workers.sums(len(rows), not len(rows)))
        if empty:
            raise ValueError(f"no seat decides twice in --num-steps {args.num_steps}: give more steps")
        batches = max(-(-everywhere // args.batch_size), 1)
        if workers.sums(len(rows) < batches)[0]:
            raise ValueError(
                f"--batch-size {args.batch_size} is too small to be shared by {workers.count} processes"
            )
        return everywhere, batches

    def _step(self, rows: np.ndarray[tuple[int], np.dtype[np.int64]], coefs: LossCoefs) -> np.ndarray:
        """One step of gradient descent; means of the statistics."""
        means = self._learner.gradient(rows, coefs)
        means = self.workers.average(self._learner.gradients, means, len(rows))
        if not np.isfinite(means).all():
            found = ", ".join(f"{name} {mean:.4g}" for name, mean in zip(MEANS, means, strict=True))
            raise LossError(
                f"loss became NaN or infinite in update {self.updates + 1}: batch of {len(rows)} rows "
                f"beginning with row {int(rows[0])} ({found}); a lower --learning-rate may help",
                {name: torch.from_numpy(array[rows]) for name, array in self._flat._asdict().items()},
            )
        self._learner.descend(self.args.max_grad_norm)
        return means

    def save_policy(self, folder: Path) -> None:
        """Write the EMA of the policy as agents play it.

        Raises:
            OSError: it could not be written.
        """
        tables = self.games.tables
        save_policy_files(
            folder,
            self.ema_network.folded(),
            tables[0],
            editions=[table.edition for table in tables],
            input_spec=self.games.input_spec,
            value=self.args.chosen_reward,
            more={"trained_by": "train.selfplay", "decisions_trained": self.decisions},
        )

    def checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """All that learning depends on; random numbers are functions of the seed and of counters.

        Process 0 has the others send what only they have: their games, and what agents remember of them.
        """
        remembered, snapshots = self.opponents.checkpoint()
        tensors = self._learned() | remembered | {_GAMES: torch.from_numpy(self.games.save())}
        tensors |= self.workers.gathered(_rows_of_games(tensors))
        counters = {"updates": self.updates, "decisions": self.decisions, "pool": snapshots}
        return tensors, {**counters, "processes": self.workers.count, "parts": self.seconds}

    def restore(self, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        """Go on where `checkpoint` found a trainer of the same options; process 0 tells the others.

        Raises:
            RunError: the run was begun by another number of processes.
            KeyError, TypeError, RuntimeError, ValueError: the tensors are of another run.
        """
        processes = int(progress["processes"])
        if processes != self.workers.count:
            raise RunError(
                f"the games of this run are shared by {processes} processes, and this is one of "
                f"{self.workers.count}: start as many with torchrun, or choose another --run-dir"
            )
        self.workers.send(tensors, progress)
        own = {name: self.workers.own(rows) for name, rows in _rows_of_games(tensors).items()}
        self._put_back(tensors)
        self.games.put_back(own[_GAMES].numpy())
        self.opponents.restore({**tensors, **own}, int(progress["pool"]))
        self.updates, self.decisions = int(progress["updates"]), int(progress["decisions"])
        for part in self.seconds:
            self.seconds[part] = float(progress["parts"][part])

    def _learned(self) -> dict[str, Tensor]:
        """The tensors of the networks and the optimizer, by name."""
        tensors = {
            f"{name}.{key}": value
            for name, module in self._modules().items()
            for key, value in module.state_dict().items()
        }
        return tensors | tensors_of_optimizer(self.optimizer)

    def _put_back(self, tensors: dict[str, Tensor]) -> None:
        """Restore what `_learned` returned; other tensors may be among it."""
        for name, module in self._modules().items():
            module.load_state_dict(with_prefix(tensors, f"{name}."))
        tensors_to_optimizer(self.optimizer, tensors)

    def warm_up(self) -> None:
        """Play and learn once, so that everything is compiled, and begin again.

        Random numbers are functions of the seed and of counters: nothing of a run changes.
        """
        learned = copy.deepcopy(self._learned())
        workers, self.workers = self.workers, ALONE  # processes may take different times to compile
        try:
            if self.opponents.pool is not None:
                self.opponents.pool.add(self.network)
            self.collect()
            with contextlib.suppress(LossError):
                self.learn(0.0)
        finally:
            self.workers = workers
        self._put_back(learned)
        self.games.restart()
        self.opponents = self._new_opponents()
        self.updates = self.decisions = 0
        self.seconds = dict.fromkeys(PARTS, 0.0)

    def _modules(self) -> dict[str, nn.Module]:
        """The networks by the names that checkpoints have for them."""
        found = {"network": self.network, "average": self.ema_network}
        if self.oracle is not None:
            found["oracle"] = self.oracle
        if self.magnet is not None:
            found["magnet"] = self.magnet
        return dict(found)

    @torch.no_grad()
    def _update_copies(self) -> None:
        """Update the EMA, and copy the policy to the pool and to the magnet when it is time.

        At the beginning, when everything changes fast, the decay is lower.
        """
        decay = min(self.args.ema_decay, self.updates / (self.updates + _FIRST_UPDATES))
        for mean, value in zip(self.ema_network.parameters(), self.network.parameters(), strict=True):
            mean.lerp_(value, 1.0 - decay)
        if self.opponents.pool is not None and self.updates % self.args.pool_updates == 0:
            self.opponents.pool.add(self.network)
        if self.magnet is not None and self.updates % self.args.magnet_updates == 0:
            self.magnet.load_state_dict(self.network.state_dict())


def _rows_of_games(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors that have a row for each game: every process has rows of its own."""
    return {name: rows for name, rows in tensors.items() if name == _GAMES or name.startswith(MEMORIES)}


def as_begun(args: Args) -> Args:
    """Replace "auto" by the learner and the precision of the run that is resumed, if there is one.

    Raises:
        RunError: the checkpoint of the run is damaged or of another version.
    """
    begun = recorded_options(args.run_dir, CHECKPOINT_KIND) if args.resume else {}
    if (begun.get("learner"), begun.get("precision")) not in CHOICES:
        return args
    known = Choice(begun["learner"], begun["precision"])
    learner = known.learner if args.learner == "auto" else args.learner
    takes_precision = args.precision == "auto" and learner == known.learner
    return replace(args, learner=learner, precision=known.precision if takes_precision else args.precision)


def train(args: Args, workers: Workers = ALONE) -> Run:
    """Train, or go on training, until the budget is spent or a signal says to stop.

    Args:
        args: what to learn; the numbers of games and of rows are those of all processes together.
        workers: the processes that learn together, of which this is number 0; the others `follow`.

    Raises:
        RunError: the folder cannot be used as asked.
        ValueError: an option cannot be, or there is no such table or opponent.
        LossError: a loss became NaN; a checkpoint from before that update was written, and the batch.
        Stopped: by Ctrl-C, SIGTERM or SIGHUP; after the update that was going on, a checkpoint was written.
    """
    check(args)
    workers.share_of_games(args.num_envs)
    args = as_begun(args)
    if args.precision == "bfloat16" and not has_fast_bfloat16():
        say("note: this processor has no bfloat16, --precision float32 is several times faster")
    with Stops() as stops, workers.leading(), Run(args, CHECKPOINT_KIND, "PPO") as run:
        workers.tell(Order.BEGIN, CHOICES.index(chosen_learner(args)))
        trainer = Trainer(args, workers)
        trainer.warm_up()
        run.warm_up(trainer)
        run.begin(trainer)
        try:
            _train(run, trainer, stops)
        except Stopped as stop:
            if not stop.half_done:
                run.save()
            raise
    print(f"{run.summary()}, {trainer.updates:,} updates; run folder: {run.folder}")
    shares = ", ".join(f"{part} {100 * share:.0f} %" for part, share in run.time_shares().items())
    print(f"time: {shares}")
    return run


def _train(run: Run, trainer: Trainer, stops: Stops) -> None:
    """Updates until the budget is spent; a signal waits for the end of an update."""
    while (share := run.share) < 1.0:
        with stops.deferred():
            trainer.workers.tell(Order.UPDATE, share)
            trainer.collect()
            try:
                statistics = trainer.learn(share)
            except LossError as error:
                run.save(error.batch)
                raise
        run.after_update({f"train/{name}": value for name, value in statistics.items()})
    run.finish()


def follow(args: Args, workers: Workers) -> None:
    """Learn as one of several processes, but number 0, until that one says that it is over.

    Raises:
        ValueError: as in `train`.
        WorkerError: another process has ended.
    """
    check(args)
    workers.share_of_games(args.num_envs)
    with signals_ignored():
        order, choice = workers.told()
        if order is Order.END:
            return
        trainer = Trainer(replace(args, **CHOICES[int(choice)]._asdict()), workers)
        trainer.warm_up()
        while (told := workers.told())[0] is not Order.END:
            # What goes wrong goes wrong in process 0 too, which says what follows.
            with contextlib.suppress(LossError, KeyError, TypeError, RuntimeError, ValueError):
                if told[0] is Order.UPDATE:
                    trainer.collect()
                    trainer.learn(told[1])
                elif told[0] is Order.CHECKPOINT:
                    trainer.checkpoint()
                else:
                    trainer.restore(*workers.received())


def _command(args: Args) -> str | None:
    with joined() as workers:
        if workers.rank == 0:
            return train(args, workers).problem
        follow(args, workers)
        return None


def main() -> int:
    """The command line; returns the exit status."""
    return run_training(Args, __doc__, _command, lambda args: args.run_dir)


__all__ = [
    "CHECKPOINT_KIND",
    "PARTS",
    "Args",
    "Trainer",
    "check",
    "follow",
    "main",
    "train",
]

if __name__ == "__main__":
    sys.exit(main())
