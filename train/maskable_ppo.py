"""Learn Mille Bornes by self-play with MaskablePPO of sb3-contrib.

    python -m train.maskable_ppo --run-dir runs/first --minutes 5

One seat of each game learns; the others are played by the policy as it stands (`SelfPlayVecEnv`). The run
folder can be played at once: `python -m train.evaluate --run-dir runs/first`. docs/training.md explains the
logged metrics.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
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
from stable_baselines3.common.logger import configure

from agents.policy import observation_scale
from agents.policy_files import check_description, read_description
from agents.protocol import Table
from arena.match import MatchConfig
from millebornes_env import vector_env
from millebornes_env.envs.sb3 import SelfPlayVecEnv
from train.checkpoints import (
    CHECKPOINT_FILE,
    CHECKPOINT_KIND,
    CONFIG_FILE,
    RunError,
    load_checkpoint,
    read_progress,
    refuse_other_options,
    refuse_second_run,
    save_checkpoint,
    save_policy,
)
from train.command_line import COULD_NOT_WRITE, INTERRUPTED, WRONG_ARGUMENTS, complain, one_line
from train.files import write_text_atomically
from train.gauntlet import (
    GAUNTLET,
    Gauntlet,
    Point,
    check_evaluation,
    curve_title,
    save_curve,
    seconds_to_next,
)
from train.progress import TrainingBar
from train.versions import versions

ACTIVATIONS = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


@dataclass(frozen=True)
class Args:
    """The options of the command line; each is saved in the run's config.json."""

    run_dir: Path = Path("runs/first")
    """folder that the run is written to"""
    minutes: float = 5.0
    """minutes to train, those before a resume included"""
    resume: bool = False
    """go on with the run in the folder, if there is one"""
    seed: int = 1
    """seed of the games, the network and the draws"""
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
    """decisions in one gradient step"""
    num_epochs: int = 3
    """times that each decision is learned from"""
    learning_rate: float = 1e-3
    """step size of Adam at the beginning; it falls to a tenth in a straight line"""
    gamma: float = 1.0
    """discount of a reward for each decision of the seat that it lies ahead"""
    gae_lambda: float = 0.95
    """how far the advantage looks ahead before it trusts the value function, 0 to 1"""
    clip_range: float = 0.2
    """how far an update may move the probability of an action"""
    entropy: float = 0.03
    """bonus for keeping the policy random, at the beginning; it falls to a tenth in a straight line"""
    value_coefficient: float = 0.5
    """weight of the value function's error"""
    hidden: Annotated[tuple[int, ...], tyro.conf.UseAppendAction] = ()
    """width of a hidden layer; give it once for each layer (default: two of 128)"""
    activation: Literal["tanh", "relu"] = "relu"
    """what comes after each hidden layer"""
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
    """The policy as it stands, drawing its actions: what plays the seats that do not learn."""
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

    def __init__(self, args: Args, table: Table, bar: TrainingBar) -> None:
        """Watch a run that has not begun."""
        super().__init__()
        self.args = args
        self.table = table
        config = MatchConfig(args.edition, args.players, seed=args.seed)
        self.gauntlet = Gauntlet([config], GAUNTLET, args.eval_deals)
        self.bar = bar
        self.seconds_before = 0.0
        self.curve: list[Point] = []
        self.problem: str | None = None
        self._began: float | None = None
        self._last_checkpoint = self._last_point = 0.0
        self._decisions_before = 0

    def take_up(self, progress: dict[str, Any]) -> None:
        """Go on from the progress that a checkpoint holds."""
        self.seconds_before = progress["seconds"]
        self.curve = [Point.of(point) for point in progress["curve"]]

    @property
    def seconds(self) -> float:
        """Seconds trained, those before a resume included."""
        return self.seconds_before + (0.0 if self._began is None else time.monotonic() - self._began)

    @property
    def share(self) -> float:
        """How much of the run is done, 0 to 1."""
        return min(self.seconds / (60.0 * self.args.minutes), 1.0)

    def _on_training_start(self) -> None:
        self._began = self._last_checkpoint = self._last_point = time.monotonic()
        self._decisions_before = self.num_timesteps

    def _on_rollout_start(self) -> None:
        self.model.ent_coef = linear_decay(self.share, self.args.entropy)  # type: ignore[attr-defined]
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
        return self.share < 1.0

    def _add_point(self) -> None:
        save_policy(self.model, self.table, self.args.activation, self.args.run_dir)  # type: ignore[arg-type]
        point = self.gauntlet.measure(f"policy:{self.args.run_dir}", self.seconds, self.num_timesteps)
        self.curve.append(point)
        for name, value in point.metrics().items():
            self.logger.record(name, value)
        self.bar.say(str(point))

    def save(self) -> None:
        """Write policy, checkpoint and curve; a disk that cannot take them is reported, not fatal."""
        progress = {
            "seconds": self.seconds,
            "curve": [dataclasses.asdict(point) for point in self.curve],
            "config": saved_config(self.args),
        }
        folder = self.args.run_dir
        try:
            save_checkpoint(self.model, progress, folder)  # type: ignore[arg-type]
            save_policy(self.model, self.table, self.args.activation, folder)  # type: ignore[arg-type]
            title = curve_title("MaskablePPO", [self.args.edition], self.args.players, self.num_timesteps)
            save_curve(self.curve, folder, title)
            self.problem = None
        except OSError as error:
            self.problem = f"could not write to {str(folder)!r}: {error}"
            self.bar.warn(f"{self.problem}; training goes on, the next checkpoint will try again")

    def finish(self) -> None:
        """The last point of the curve and the last checkpoint."""
        try:
            self._add_point()
        except OSError as error:
            self.problem = str(error)
        self.save()


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
    """Make the run folder, or find the run in it.

    Returns:
        The progress to go on from, or None for a new run.

    Raises:
        RunError: the folder holds a run and `resume` was not asked for, or cannot be written.
    """
    folder = args.run_dir
    refuse_second_run(folder, args.resume)
    if (folder / CHECKPOINT_FILE).exists():
        progress = read_progress(folder, CHECKPOINT_KIND)
        ours = json.loads(json.dumps(saved_config(args)))
        refuse_other_options(folder, ours, progress["config"], _FREE_OPTIONS)
        return progress
    config = {"args": saved_config(args), "versions": versions(), "command": sys.argv}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text_atomically(folder / CONFIG_FILE, json.dumps(config, indent=2, default=str) + "\n")
    except OSError as error:
        raise RunError(f"the run folder {str(folder)!r} cannot be written: {error}") from None
    return None


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
        ent_coef=args.entropy,
        vf_coef=args.value_coefficient,
        policy_kwargs={
            "net_arch": {"pi": args.layers, "vf": args.layers},
            "activation_fn": ACTIVATIONS[args.activation],
        },
        seed=args.seed,
        device="cpu",
    )
    model.set_logger(configure(str(args.run_dir / "tensorboard"), ["tensorboard"]))
    return model


def train(args: Args) -> RunCallback:
    """Train, or go on training, until the minutes are over.

    Raises:
        RunError: the folder cannot be used as asked.
        ValueError: the table or another option is wrong.
    """
    check_evaluation(args.eval_deals)
    torch.set_num_threads(args.threads)
    torch.distributions.Distribution.set_default_validate_args(False)
    games = vector_env(
        args.num_envs,
        args.edition,
        players=args.players,
        episode=args.episode,
        reward=args.reward,
    )
    table = Table.of(games)
    progress = prepare_folder(args)
    with TrainingBar() as bar:
        env = SelfPlayVecEnv(games)
        callback = RunCallback(args, table, bar)
        model = make_model(args, env, lambda: callback.share)
        if progress is not None:
            check_description(read_description(args.run_dir), table, args.run_dir)
            callback.take_up(load_checkpoint(model, args.run_dir))
            env.seed(args.seed + model.num_timesteps)  # other games than those already learned from
        env.set_policy(self_play_policy(model, table))
        if callback.share < 1.0:
            model.learn(total_timesteps=sys.maxsize, callback=callback, reset_num_timesteps=False)
            callback.finish()
    return callback


def main() -> int:
    """The command line; returns the exit status."""
    args = tyro.cli(Args, description=__doc__)
    try:
        callback = train(args)
    except ValueError as error:
        return complain(WRONG_ARGUMENTS, one_line(error))
    except KeyboardInterrupt:
        return complain(INTERRUPTED, f"stopped; go on with the same command and --resume ({args.run_dir})")
    if callback.problem is not None:
        return complain(COULD_NOT_WRITE, callback.problem)
    print(f"{callback.num_timesteps:,} decisions in {callback.seconds:.0f} s; run folder: {args.run_dir}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
