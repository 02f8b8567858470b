"""Options of the trainers: those that all have, and what is refused, in words."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import tyro

from millebornes_env._util.command_line import option_name
from millebornes_env.agents.policy.network import MAX_LAYERS, MAX_UNITS
from millebornes_env.arena.gauntlet import check_evaluation
from millebornes_env.cli.console import read_options
from millebornes_env.cli.editions import with_its_game
from millebornes_env.envs.options import USUAL
from millebornes_env.errors import shown
from millebornes_env.games.registry import Game
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.games.registry import game as game_named
from train.common.memory import check_address_space

Options = TypeVar("Options")


@dataclass(frozen=True)
class TrainingOptions:
    """The options that every trainer has; each is saved in the run's config.json."""

    free: ClassVar[frozenset[str]] = frozenset(
        (
            *("run_dir", "resume", "total_timesteps", "minutes"),
            *("eval_seconds", "eval_deals", "checkpoint_seconds", "wandb_project"),
        )
    )
    """Names of the options that may differ between a run and its resumption."""

    run_dir: Path = Path("runs/first")
    """folder that the run is written to"""
    total_timesteps: int = 100_000_000
    """decisions to learn from, those before a resume included; rounded up to whole rollouts"""
    minutes: float = 0.0
    """if above 0, the budget in minutes instead, without compiling: what is learned depends on the machine"""
    resume: bool = False
    """go on with the run in the folder, if there is one"""
    seed: int = 1
    """seed of the games, the network and the sampled actions"""
    players: int = 2
    """seats at the table"""
    teams: int | None = None
    """teams at the table (default: as usual for the sheet)"""
    episode: str = USUAL
    """what is played: match (its score shows), round, race ...; usual: the longest that the game has"""
    reward: str = USUAL
    """what is rewarded: points, in each round, or win, of the episode; usual: points, if the game has any"""
    num_envs: int = 1024
    """games played at once"""
    num_steps: int = 64
    """steps of each game in a rollout, between two updates"""
    batch_size: int = 1024
    """minibatch size: decisions in one gradient step"""
    num_epochs: int = 2
    """epochs: passes over each rollout"""
    learning_rate: float = 1e-3
    """learning rate of Adam at the beginning"""
    final_learning_rate: float = 1e-4
    """learning rate at the end; the schedule is linear"""
    gamma: float = 1.0
    """discount factor, for each decision of the seat"""
    gae_lambda: float = 0.95
    """lambda of generalized advantage estimation, 0 to 1; lower ones trust the value function more"""
    clip_range: float = 0.2
    """clip range of PPO: how far an update may move the probability ratio of an action from 1"""
    ent_coef: float = 0.02
    """entropy coefficient of the loss at the beginning: a higher one keeps the policy random"""
    final_ent_coef: float = 0.001
    """entropy coefficient at the end; the schedule is linear"""
    vf_coef: float = 0.5
    """value function coefficient of the loss"""
    max_grad_norm: float = 0.5
    """norm at which gradients are clipped"""
    hidden: Annotated[tuple[int, ...], tyro.conf.UseAppendAction] = ()
    """width of a hidden layer; give it once for each layer (default: one of 128)"""
    threads: int = 2
    """CPU threads"""
    eval_seconds: float = 30.0
    """seconds between two evaluations; at the beginning they lie closer together; 0: none"""
    eval_deals: int = 500
    """deals of an evaluation against each agent of the gauntlet, each played from all seats"""
    checkpoint_seconds: float = 60.0
    """seconds between two checkpoints, the most that a killed run loses; 0: only at the end"""
    wandb_project: str = ""
    """also log to this project of Weights & Biases, which must be installed"""

    @property
    def layers(self) -> list[int]:
        """Widths of the hidden layers."""
        return list(self.hidden) or [128]

    @property
    def sheets(self) -> tuple[str, ...]:
        """Names of the rule sheets that are played."""
        raise NotImplementedError

    @property
    def game(self) -> Game:
        """The game that the rule sheets are of.

        Raises:
            UnknownEditionError: there is no such sheet.
            ValueError: they are of several games.
        """
        names = {name: find_edition(name).game for name in self.sheets}
        first = names[self.sheets[0]]
        for name, other in names.items():
            if other != first:
                raise ValueError(
                    f"--edition {self.sheets[0]} is of the game {first!r}, --edition {name} of {other!r}: "
                    "one network learns one game"
                )
        return game_named(first)

    @property
    def chosen_episode(self) -> str:
        """The episode, with the usual one filled in."""
        return self.game.module().EPISODES[-1] if self.episode == USUAL else self.episode

    @property
    def chosen_reward(self) -> str:
        """The reward, with the usual one filled in."""
        return self.game.module().REWARDS[0] if self.reward == USUAL else self.reward

    @property
    def rewards(self) -> tuple[str, ...]:
        """The rewards that this trainer supports in this game."""
        return tuple(self.game.module().REWARDS)

    @property
    def gauntlet(self) -> tuple[str, ...]:
        """Names of the agents that evaluations are against."""
        return self.game.eval_opponents

    def config(self) -> dict[str, Any]:
        """The options as JSON values, defaults that depend on others filled in."""
        values = {**dataclasses.asdict(self), "run_dir": str(self.run_dir), "hidden": self.layers}
        values |= {"episode": self.chosen_episode, "reward": self.chosen_reward}
        resolved: dict[str, Any] = json.loads(json.dumps(values))
        return resolved


def linear_schedule(start: float, end: float, share: float) -> float:
    """A value that goes in a straight line from `start` to `end` as `share` goes from 0 to 1."""
    return start + (end - start) * min(max(share, 0.0), 1.0)


def parse_options(options: type[Options], description: str | None) -> Options:
    """Read the command line.

    Args:
        options: the dataclass of the command's options.
        description: for --help.

    Raises:
        GameError: the module of a game of one's own cannot be imported.
        ValueError: a limit on the address space leaves too little to train.
        SystemExit: after --help, and after a wrong option, about which tyro has printed what is wrong.
    """
    script = Path(sys.argv[0])
    folder = "train.tools" if script.parent.name == "tools" else "train"
    prog = f"python -m {folder}.{script.stem}"
    args = read_options(options, prog, description=description)
    check_address_space()
    return with_games_imported(args)


def with_games_imported(args: Options) -> Options:
    """The options with the sheets alone, if they name a game's module before it: of `pig:fast`, `fast`.

    Raises:
        GameError: a module cannot be imported.
    """
    edition: object = getattr(args, "edition", None)
    if isinstance(edition, str):
        return dataclasses.replace(args, edition=with_its_game(edition))  # type: ignore[type-var]
    if isinstance(edition, tuple):
        return dataclasses.replace(args, edition=tuple(map(with_its_game, edition)))  # type: ignore[type-var]
    return args


def check_training(args: TrainingOptions) -> None:
    """Refuse what no trainer can do.

    Raises:
        ValueError: the message names the option.
    """
    check_counts(args, "total_timesteps", "num_envs", "num_steps", "batch_size", "num_epochs", "threads")
    check_shares(args, "gamma", "gae_lambda")
    check_amounts(args, "minutes", "eval_seconds", "checkpoint_seconds")
    check_amounts(args, "learning_rate", "final_learning_rate", "clip_range", "vf_coef", "max_grad_norm")
    check_hidden(args.layers)
    check_game(args)
    if args.eval_seconds > 0:
        check_evaluation(args.eval_deals)
    if args.wandb_project and importlib.util.find_spec("wandb") is None:
        raise ValueError("--wandb-project needs Weights & Biases: pip install wandb, or leave the option out")


def check_game(args: TrainingOptions) -> None:
    """Refuse episodes and rewards that the game does not have.

    Raises:
        ValueError: the message names the option, and says what there is.
    """
    known = {"episode": (args.chosen_episode, args.game.module().EPISODES)}
    known["reward"] = (args.chosen_reward, args.rewards)
    for name, (chosen, there_are) in known.items():
        if chosen not in there_are:
            raise ValueError(
                f"{option_name(name)} is {shown(chosen)}; in the game {args.game.name!r} it may be "
                + " or ".join(there_are)
            )


def check_counts(args: object, *names: str) -> None:
    """Refuse options that are less than 1.

    Raises:
        ValueError: the message names the option.
    """
    for name in names:
        if getattr(args, name) < 1:
            raise ValueError(f"{option_name(name)} is {getattr(args, name)}; it must be 1 or more")


def check_shares(args: object, *names: str) -> None:
    """Refuse options that do not lie in 0 to 1, NaN among them.

    Raises:
        ValueError: the message names the option.
    """
    for name in names:
        if not 0.0 <= getattr(args, name) <= 1.0:
            raise ValueError(f"{option_name(name)} is {getattr(args, name)}; it must lie in 0 to 1")


def check_amounts(args: object, *names: str) -> None:
    """Refuse options that are negative or not finite.

    Raises:
        ValueError: the message names the option.
    """
    for name in names:
        if not (math.isfinite(getattr(args, name)) and getattr(args, name) >= 0.0):
            raise ValueError(f"{option_name(name)} is {getattr(args, name)}; it must be a number, 0 or more")


def check_hidden(widths: Sequence[int]) -> None:
    """Refuse hidden layers that no agent could play.

    Raises:
        ValueError: too many, too wide, or of no width.
    """
    if len(widths) >= MAX_LAYERS:
        raise ValueError(f"--hidden is given {len(widths)} times; agents play {MAX_LAYERS - 1} at most")
    for width in widths:
        if not 1 <= width <= MAX_UNITS:
            raise ValueError(f"--hidden is {width}; a layer has 1 to {MAX_UNITS} units")
