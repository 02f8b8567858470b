"""Learn Mille Bornes by self-play with MaskablePPO of sb3-contrib.

    python -m train.maskable_ppo --run-dir runs/first --minutes 5

One seat of each game learns; the others are played by the policy as it stands (`SelfPlayVecEnv`). The run
folder can be played at once: `python -m millebornes_env evaluate --run-dir runs/first`. docs/training.md
explains the logged metrics.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

# Before PyTorch is imported: its threads sleep while they wait for each other instead of spinning. On a
# machine that others use too, spinning made training many times slower (4.6 against 33 k decisions/s).
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import numpy.typing as npt
import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger

from millebornes_env import VectorEnv, vector_env
from millebornes_env.agents.policy.agent import observation_scale
from millebornes_env.agents.policy.files import check_description, read_description
from millebornes_env.agents.protocol import Table
from millebornes_env.arena.gauntlet import (
    GAUNTLET,
    Gauntlet,
    Point,
    check_evaluation,
    curve_title,
    save_curve,
    seconds_to_next,
    warm_up,
)
from millebornes_env.arena.match import MatchConfig
from millebornes_env.command_line import carry_out, complain
from millebornes_env.envs.sb3 import SelfPlayVecEnv
from millebornes_env.files import write_text_atomically
from millebornes_env.stopping import Stops
from millebornes_env.versions import versions
from train.common.checkpoints import (
    CHECKPOINT_FILE,
    CHECKPOINT_KIND,
    CONFIG_FILE,
    does_not_fit,
    load_checkpoint,
    read_progress,
    recorded_config,
    refuse_other_options,
    refuse_second_run,
    save_checkpoint,
    save_policy,
)
from train.common.options import check_amounts, check_counts, check_hidden, check_shares, parse_options
from train.common.progress import TrainingBar, per_second
from train.common.run_folder import RunFolder, cannot_write
from train.common.scalars import Scalars

_NUMBERS = (int, float, np.integer, np.floating)
ACTIVATIONS = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


@dataclass(frozen=True)
class Args:
    """The options of the command line; each is saved in the run's config.json."""

    run_dir: Path = Path("runs/first")
    """folder that the run is written to"""
    minutes: float = 5.0
    """minutes to train, those before a resume included; compiling is not counted"""
    resume: bool = False
    """go on with the run in the folder, if there is one"""
    seed: int = 1
    """seed of the games, the network and the sampled actions"""
    edition: str = "parker"
    """rule sheet that is played"""
    players: int = 2
    """seats at the table"""
    episode: Literal["round", "match"] = "round"
    """what one episode is"""
    reward: Literal["points", "win"] = "points"
    """what is rewarded: the lead in thousands of points after each round, or winning the episode"""
    num_envs: int = 256
    """games played at once"""
    num_steps: int = 64
    """decisions of each learning seat between two updates"""
    batch_size: int = 2048
    """minibatch size: decisions in one gradient step"""
    num_epochs: int = 3
    """epochs: how often each decision is learned from"""
    learning_rate: float = 1e-3
    """learning rate of Adam at the beginning; it falls linearly to a tenth"""
    gamma: float = 1.0
    """discount factor, for each decision of the seat"""
    gae_lambda: float = 0.95
    """lambda of generalized advantage estimation, 0 to 1; lower ones trust the value function more"""
    clip_range: float = 0.2
    """clip range of PPO: how far an update may move the probability ratio of an action from 1"""
    ent_coef: float = 0.03
    """entropy coefficient of the loss at the beginning; it falls linearly to a tenth"""
    vf_coef: float = 0.5
    """value function coefficient of the loss"""
    hidden: Annotated[tuple[int, ...], tyro.conf.UseAppendAction] = ()
    """width of a hidden layer; give it once for each layer (default: two of 128)"""
    activation: Literal["tanh", "relu"] = "relu"
    """activation function after each hidden layer"""
    eval_seconds: float = 30.0
    """seconds between two evaluations; at the beginning they lie closer together"""
    eval_deals: int = 200
    """deals of an evaluation against each agent of the gauntlet, each played from all seats; 2 or more"""
    checkpoint_seconds: float = 30.0
    """seconds between two checkpoints: as much is lost when the run is killed"""
    threads: int = 2
    """CPU threads of PyTorch"""

    @property
    def layers(self) -> list[int]:
        """Widths of the hidden layers."""
        return list(self.hidden) or [128, 128]


def linear_decay(progress: float, start: float) -> float:
    """A value that falls in a straight line from `start` to a tenth of it as `progress` goes from 0 to 1."""
    return start * (1.0 - 0.9 * min(max(progress, 0.0), 1.0))


def self_play_policy(model: MaskablePPO, table: Table) -> Callable[..., npt.NDArray[np.int64]]:
    """The policy as it stands, which samples its actions: what plays the seats that do not learn."""
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


class RunCallback(BaseCallback):
    """Keeps the run's clock: schedules, progress bar, learning curve, checkpoints, and the end."""

    def __init__(self, args: Args, table: Table, folder: RunFolder, bar: TrainingBar, stops: Stops) -> None:
        """Watch a run that has not begun."""
        super().__init__()
        self.args = args
        self.table = table
        self.folder = folder
        self.gauntlet = Gauntlet([match_config(args)], GAUNTLET, args.eval_deals)
        self.scalars = Scalars(args.run_dir / "tensorboard", 0)
        self.bar = bar
        self.stops = stops
        self.seconds_before = 0.0
        self.curve: list[Point] = []
        self.problem: str | None = None
        self._began: float | None = None
        self._ended: float | None = None
        self._last_checkpoint = self._last_point = 0.0
        self._decisions_before = 0

    def take_up(self, progress: dict[str, Any]) -> None:
        """Go on from the progress that a checkpoint holds.

        Raises:
            RunError: it does not hold what it should.
        """
        try:
            self.seconds_before = float(progress["seconds"])
            self.curve = [Point.of(point) for point in progress["curve"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise does_not_fit(self.args.run_dir, error) from None

    @property
    def seconds(self) -> float:
        """Seconds trained, those before a resume included."""
        if self._began is None:
            return self.seconds_before
        return self.seconds_before + (self._ended or time.monotonic()) - self._began

    @property
    def share(self) -> float:
        """How much of the run is done, 0 to 1."""
        return min(self.seconds / (60.0 * self.args.minutes), 1.0)

    def _on_training_start(self) -> None:
        self._began = self._last_checkpoint = self._last_point = time.monotonic()
        self._decisions_before = self.num_timesteps
        self.bar.begin()

    def _on_rollout_start(self) -> None:
        if self.stops.is_waiting:
            return
        self.model.ent_coef = linear_decay(self.share, self.args.ent_coef)  # type: ignore[attr-defined]
        now = time.monotonic()
        wait = seconds_to_next(self.args.eval_seconds, self.seconds)
        if not self.curve or now - self._last_point >= wait:
            self._add_point()
            self._last_point = time.monotonic()
        if now - self._last_checkpoint >= self.args.checkpoint_seconds:
            self.save()
            self._last_checkpoint = time.monotonic()

    def _on_step(self) -> bool:
        if self.n_calls % 16 == 0:
            seconds = max(self.seconds - self.seconds_before, 1e-9)
            rate = (self.num_timesteps - self._decisions_before) / seconds
            self.bar.update(self.share, self.num_timesteps, rate)
        return self.share < 1.0 and not self.stops.is_waiting

    def _add_point(self) -> None:
        try:
            self._look_after_folder()
            save_policy(self.model, self.table, self.args.activation, self.args.run_dir)  # type: ignore[arg-type]
        except OSError as error:
            self._report(error)
            return
        point = self.gauntlet.measure(self.args.run_dir, self.seconds, self.num_timesteps)
        self.curve.append(point)
        for name, value in point.metrics().items():
            self.logger.record(name, value)
        self.bar.say(str(point))

    def _look_after_folder(self) -> None:
        """Make the run folder anew if somebody has removed it: what is learned is not to be lost with it.

        Raises:
            RunError: another process trains there now.
            OSError: it cannot be made.
        """
        if self.folder.is_ours():
            return
        self.folder.take()
        self.bar.warn(f"the run folder {str(self.folder.path)!r} was removed: it is made anew")
        self.scalars.begin_anew(self.num_timesteps)
        write_config(self.args)

    def save(self) -> None:
        """Write policy, checkpoint and curve; a disk that cannot take them is reported, not fatal."""
        progress = {
            "seconds": self.seconds,
            "curve": [dataclasses.asdict(point) for point in self.curve],
            "config": saved_config(self.args),
        }
        folder = self.args.run_dir
        try:
            self._look_after_folder()
            save_checkpoint(self.model, progress, folder)  # type: ignore[arg-type]
            save_policy(self.model, self.table, self.args.activation, folder)  # type: ignore[arg-type]
            title = curve_title("MaskablePPO", [self.args.edition], self.args.players, self.num_timesteps)
            save_curve(self.curve, folder, title)
            self.problem = None
        except OSError as error:
            self._report(error)

    def _report(self, error: OSError) -> None:
        self.problem = f"could not write to {str(self.args.run_dir)!r}: {error.strerror or error}"
        self.bar.warn(f"{self.problem}; training goes on, the next checkpoint will try again")

    def finish(self) -> None:
        """The last point of the curve and the last checkpoint."""
        self._add_point()
        self.save()

    def end(self) -> None:
        """Stop the clock, and write out what is left of the log."""
        self._ended = time.monotonic()
        self.scalars.close()


class ScalarsOutput(KVWriter):
    """Hands what Stable-Baselines3 logs to `Scalars`."""

    def __init__(self, scalars: Scalars) -> None:
        self.scalars = scalars

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        """Write what is a number."""
        numbers = {name: float(value) for name, value in key_values.items() if isinstance(value, _NUMBERS)}
        self.scalars.add(numbers, step)

    def close(self) -> None:
        """Close the event file."""
        self.scalars.close()


def match_config(args: Args) -> MatchConfig:
    """The table as the gauntlet plays it."""
    return MatchConfig(args.edition, args.players, seed=args.seed)


def saved_config(args: Args) -> dict[str, Any]:
    """The options as JSON values."""
    values = dataclasses.asdict(args)
    return {**values, "run_dir": str(args.run_dir), "hidden": args.layers}


# What may differ between a run and its resumption.
_FREE_OPTIONS = (
    "run_dir",
    "minutes",
    "resume",
    "threads",
    "checkpoint_seconds",
    "eval_seconds",
    "eval_deals",
)


def prepare_folder(args: Args) -> dict[str, Any] | None:
    """Begin a run in its folder, or find the run in it.

    Returns:
        The progress to go on from, or None for a new run.

    Raises:
        RunError: the run was begun with other options, is damaged, or the folder cannot be written.
    """
    folder = args.run_dir
    if (folder / CHECKPOINT_FILE).exists():
        progress = read_progress(folder, CHECKPOINT_KIND)
        ours = json.loads(json.dumps(saved_config(args)))
        refuse_other_options(folder, ours, recorded_config(folder, progress), _FREE_OPTIONS)
        return progress
    try:
        write_config(args)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return None


def write_config(args: Args) -> None:
    """Write the run's `config.json`.

    Raises:
        OSError: it could not be written.
    """
    config = {"args": saved_config(args), "versions": versions(), "command": sys.argv}
    write_text_atomically(args.run_dir / CONFIG_FILE, json.dumps(config, indent=2, default=str) + "\n")


def make_model(args: Args, env: SelfPlayVecEnv, callback_share: Callable[[], float]) -> MaskablePPO:
    """MaskablePPO with the options of the run."""
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=lambda _: linear_decay(callback_share(), args.learning_rate),
        n_steps=args.num_steps,
        batch_size=args.batch_size,
        n_epochs=args.num_epochs,
        gamma=args.gamma,
        gae_lambda=args.gae_lambda,
        clip_range=args.clip_range,
        ent_coef=args.ent_coef,
        vf_coef=args.vf_coef,
        policy_kwargs={
            "net_arch": {"pi": args.layers, "vf": args.layers},
            "activation_fn": ACTIVATIONS[args.activation],
        },
        seed=args.seed,
        device="cpu",
    )
    model.set_logger(Logger(None, []))
    return model


def check(args: Args) -> None:
    """Refuse options that cannot be.

    Raises:
        ValueError: the message names the option.
    """
    check_counts(args, "num_envs", "num_steps", "batch_size", "num_epochs", "threads")
    check_shares(args, "gamma", "gae_lambda")
    check_amounts(args, "minutes", "eval_seconds", "checkpoint_seconds")
    check_hidden(args.layers)
    check_evaluation(args.eval_deals)
    if args.num_envs * args.num_steps < 2:
        raise ValueError("--num-envs times --num-steps is 1; it must be 2 or more")


def new_games(args: Args) -> VectorEnv:
    """The games of a run."""
    return vector_env(
        args.num_envs,
        args.edition,
        players=args.players,
        episode=args.episode,
        reward=args.reward,
    )


def compile_all(args: Args, folder: RunFolder) -> None:
    """Let a learner in small do everything once, so that all of it is compiled before the clock starts."""
    few = min(args.num_envs, 4)
    small = replace(args, num_envs=few, num_steps=4, batch_size=4 * few, num_epochs=1)
    games = new_games(small)
    table = Table.of(games)
    env = SelfPlayVecEnv(games)
    model = make_model(small, env, lambda: 0.0)
    env.set_policy(self_play_policy(model, table))
    model.learn(total_timesteps=1)
    # A disk that takes no files is told of when something is to be kept.
    with contextlib.suppress(OSError), folder.scratch() as scratch:
        save_policy(model, table, args.activation, scratch)
        warm_up(Path(scratch), [match_config(args)], GAUNTLET)


def train(args: Args) -> RunCallback:
    """Train, or go on training, until the minutes are over or a signal says to stop.

    Raises:
        RunError: the folder cannot be used as asked.
        ValueError: the table or another option is wrong.
        Stopped: by Ctrl-C, SIGTERM or SIGHUP; a checkpoint was written.
    """
    check(args)
    torch.set_num_threads(args.threads)
    torch.distributions.Distribution.set_default_validate_args(False)
    games = new_games(args)
    table = Table.of(games)
    refuse_second_run(args.run_dir, args.resume)
    with Stops() as stops, RunFolder(args.run_dir) as folder, TrainingBar() as bar:
        progress = prepare_folder(args)
        compile_all(args, folder)
        env = SelfPlayVecEnv(games)
        callback = RunCallback(args, table, folder, bar, stops)
        model = make_model(args, env, lambda: callback.share)
        model.set_logger(Logger(None, [ScalarsOutput(callback.scalars)]))
        if progress is not None:
            check_description(read_description(args.run_dir), table, args.run_dir)
            callback.take_up(load_checkpoint(model, args.run_dir))
            callback.scalars.begin_anew(model.num_timesteps)
            env.seed(args.seed + model.num_timesteps)  # other games than those already learned from
        env.set_policy(self_play_policy(model, table))
        try:
            if callback.share < 1.0:
                with stops.deferred():
                    model.learn(total_timesteps=sys.maxsize, callback=callback, reset_num_timesteps=False)
                    if stops.is_waiting:
                        callback.save()
                    else:
                        callback.finish()
        finally:
            callback.end()
    return callback


def main() -> int:
    """The command line; returns the exit status."""
    return carry_out(_command, prints=False, stopped="stopped; go on with the same command and --resume")


def _command() -> int:
    args = parse_options(Args, __doc__)
    callback = train(args)
    if callback.problem is not None:
        return complain(callback.problem)
    rate = per_second(callback.num_timesteps / max(callback.seconds, 1e-9))
    took = f"{callback.num_timesteps:,} decisions in {callback.seconds:.0f} s ({rate})"
    print(f"{took}; run folder: {args.run_dir}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
