"""Options of all trainers and of `train.selfplay`, with their checks."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, TypeVar

import tyro

from millebornes_env import editions
from millebornes_env._util.command_line import option_name
from millebornes_env.agents.policy.network import MAX_LAYERS, MAX_UNITS
from millebornes_env.arena.learning_curve import check_evaluation
from millebornes_env.cli.console import read_options
from millebornes_env.cli.editions import with_its_game
from millebornes_env.envs.options import USUAL
from millebornes_env.errors import shown
from millebornes_env.games.registry import Game
from millebornes_env.games.registry import game as game_named
from millebornes_env.games.variants import Split, sheets_of
from train.common.memory import check_address_space

Options = TypeVar("Options")
LearnerName = Literal["auto", "torch", "sparse"]
Precision = Literal["auto", "float32", "bfloat16"]
Teams = Literal["one", "others"]
"""Teams of the opponents in a game: one of them, or all but one."""

POINTS: Final = "points"
MATCH: Final = "match"
WIN_PROB: Final = "win_prob"
"""A reward of the trainer, beside those of the game's rulebook."""

WORTH_DENSE: Final = {"amx_bf16": 1 << 24, "avx512_bf16": 1 << 26}
"""Most products between the hidden layers, in a pass over a batch, for which sparse kernels are as fast as
bfloat16; by the units of the processor (measured in research/notes/training.md)."""


@dataclass(frozen=True)
class TrainingOptions:
    """Options of all trainers; each is saved in the run's config.json."""

    free: ClassVar[frozenset[str]] = frozenset({"run_dir", "resume", "total_timesteps", "minutes"}) | {
        *("eval_seconds", "eval_deals", "checkpoint_seconds", "wandb_project")
    }
    """Options that may differ between a run and its resumption."""

    run_dir: Path = Path("runs/first")
    """folder that the run is written to"""
    total_timesteps: int = 100_000_000
    """decisions to learn from, including those before a resume; rounded up to whole rollouts"""
    minutes: float = 0.0
    """if above 0, the budget in minutes instead, compiling excluded; the result depends on the machine"""
    resume: bool = False
    """continue the run in the folder, if there is one"""
    seed: int = 1
    """seed of the games, the network and the sampled actions"""
    players: int = 2
    """seats at the table"""
    teams: int | None = None
    """teams at the table (default: as usual for the sheet)"""
    episode: str = USUAL
    """unit of play: match (with its score), round, race ...; usual: the longest of the game"""
    reward: str = USUAL
    """reward: points of each round, or win of the episode; usual: points, if the game has any"""
    num_envs: int = 1024
    """number of parallel games"""
    num_steps: int = 64
    """steps of each game in a rollout"""
    batch_size: int = 1024
    """minibatch size in decisions"""
    num_epochs: int = 2
    """epochs per rollout"""
    learning_rate: float = 1e-3
    """initial learning rate of Adam"""
    final_learning_rate: float = 1e-4
    """final learning rate; the schedule is linear"""
    gamma: float = 1.0
    """discount factor, per decision of the seat"""
    gae_lambda: float = 0.95
    """lambda of generalized advantage estimation, 0 to 1; lower values trust the value function more"""
    clip_range: float = 0.2
    """clip range of PPO: largest change of an action's probability ratio from 1"""
    ent_coef: float = 0.02
    """initial entropy coefficient of the loss; a higher one keeps the policy random"""
    final_ent_coef: float = 0.001
    """final entropy coefficient; the schedule is linear"""
    vf_coef: float = 0.5
    """value function coefficient of the loss"""
    max_grad_norm: float = 0.5
    """gradient-norm clipping threshold"""
    hidden: Annotated[tuple[int, ...], tyro.conf.UseAppendAction] = ()
    """width of a hidden layer; repeat it for each layer (default: one of 128)"""
    threads: int = 2
    """CPU threads"""
    eval_seconds: float = 30.0
    """seconds between evaluations, shorter at the beginning; 0: no evaluations"""
    eval_deals: int = 500
    """deals per evaluation against each evaluation opponent, each played from all seats"""
    checkpoint_seconds: float = 60.0
    """seconds between checkpoints; a killed run loses at most this much; 0: only at the end"""
    wandb_project: str = ""
    """project of Weights & Biases to log to as well; the library must be installed"""

    @property
    def layers(self) -> list[int]:
        """Widths of the hidden layers."""
        return list(self.hidden) or [128]

    @property
    def sheets(self) -> tuple[str, ...]:
        """Names of the rule sheets."""
        raise NotImplementedError

    @property
    def game(self) -> Game:
        """The game of the rule sheets.

        Raises:
            EditionError: there is no such sheet.
            ValueError: the sheets belong to several games.
        """
        names = {name: sheets_of(name).game for name in self.sheets}
        first = names[self.sheets[0]]
        for name, other in names.items():
            if other != first:
                raise ValueError(
                    f"--edition {self.sheets[0]} belongs to the game {first!r}, --edition {name} to "
                    f"{other!r}: one network learns one game"
                )
        return game_named(first)

    @property
    def chosen_episode(self) -> str:
        """The episode, with "usual" resolved."""
        return self.game.module().EPISODES[-1] if self.episode == USUAL else self.episode

    @property
    def chosen_reward(self) -> str:
        """The reward, with "usual" resolved."""
        return self.game.module().REWARDS[0] if self.reward == USUAL else self.reward

    @property
    def rewards(self) -> tuple[str, ...]:
        """The rewards of the game that this trainer supports."""
        return tuple(self.game.module().REWARDS)

    @property
    def eval_opponents(self) -> tuple[str, ...]:
        """Names of the opponents in evaluations."""
        return self.game.eval_opponents

    def config(self) -> dict[str, Any]:
        """Return the options as JSON values, with defaults that depend on others filled in."""
        values = {**dataclasses.asdict(self), "run_dir": str(self.run_dir), "hidden": self.layers}
        values |= {"episode": self.chosen_episode, "reward": self.chosen_reward}
        resolved: dict[str, Any] = json.loads(json.dumps(values))
        return resolved


def linear_schedule(start: float, end: float, share: float) -> float:
    """Return a value between `start` and `end`, linear in `share` from 0 to 1."""
    return start + (end - start) * min(max(share, 0.0), 1.0)


def parse_options(options: type[Options], description: str | None) -> Options:
    """Parse the command line into a dataclass of options; the description is shown by --help.

    Raises:
        GameError: the module of a user's game cannot be imported.
        ValueError: a limit on the address space leaves too little memory to train.
        SystemExit: after --help, and after a wrong option, which tyro reports.
    """
    script = Path(sys.argv[0])
    prog = f"python -m train.{'tools.' if script.parent.name == 'tools' else ''}{script.stem}"
    args = read_options(options, prog, description=description)
    check_address_space()
    edition: object = getattr(args, "edition", None)  # `pig:fast`, with the module of a user's game
    if isinstance(edition, str):
        return dataclasses.replace(args, edition=with_its_game(edition))  # type: ignore[type-var]
    if isinstance(edition, tuple):
        return dataclasses.replace(args, edition=tuple(map(with_its_game, edition)))  # type: ignore[type-var]
    return args


def check_training(args: TrainingOptions) -> None:
    """Check the options that all trainers share, as `check_counts`."""
    check_counts(args, "total_timesteps", "num_envs", "num_steps", "batch_size", "num_epochs", "threads")
    check_shares(args, "gamma", "gae_lambda")
    check_amounts(args, "minutes", "eval_seconds", "checkpoint_seconds")
    check_amounts(args, "learning_rate", "final_learning_rate", "clip_range", "vf_coef", "max_grad_norm")
    if len(args.layers) >= MAX_LAYERS:
        raise ValueError(f"--hidden is given {len(args.layers)} times; agents play {MAX_LAYERS - 1} at most")
    for width in args.layers:
        if not 1 <= width <= MAX_UNITS:
            raise ValueError(f"--hidden is {width}; a layer has 1 to {MAX_UNITS} units")
    known = {"episode": (args.chosen_episode, args.game.module().EPISODES)}
    known["reward"] = (args.chosen_reward, args.rewards)
    for name, (chosen, valid) in known.items():
        if chosen not in valid:
            raise ValueError(
                f"{option_name(name)} is {shown(chosen)}; in the game {args.game.name!r} it may be "
                + " or ".join(valid)
            )
    if args.eval_seconds > 0:
        check_evaluation(args.eval_deals)
    if args.wandb_project and importlib.util.find_spec("wandb") is None:
        raise ValueError("--wandb-project needs Weights & Biases: pip install wandb, or leave the option out")


def check_counts(args: object, *names: str) -> None:
    """Check that options are 1 or more; raise a `ValueError` that names the option."""
    _check(args, names, lambda value: value >= 1, "it must be 1 or more")


def check_shares(args: object, *names: str) -> None:
    """Check as `check_counts` that options lie in 0 to 1; NaN does not."""
    _check(args, names, lambda value: 0.0 <= value <= 1.0, "it must lie in 0 to 1")


def check_amounts(args: object, *names: str) -> None:
    """Check as `check_counts` that options are finite and not negative."""
    _check(args, names, lambda value: 0.0 <= value < math.inf, "it must be a number, 0 or more")


def _check(args: object, names: Sequence[str], is_valid: Callable[[float], bool], rule: str) -> None:
    for name in names:
        if not is_valid(getattr(args, name)):
            raise ValueError(f"{option_name(name)} is {getattr(args, name)}; {rule}")


# train.selfplay --------------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """A learner, and the precision of its matrix products."""

    learner: LearnerName
    precision: Precision


CHOICES: Final = (Choice("torch", "float32"), Choice("torch", "bfloat16"), Choice("sparse", "float32"))
"""All choices; process 0 sends the others the index of its own."""


@dataclass(frozen=True)
class Args(TrainingOptions):
    """Options of `train.selfplay`; each is saved in the run's config.json."""

    edition: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """rule sheet; repeat it for several, "all" for those of Mille Bornes (default: parker)"""
    reward: str = USUAL
    """reward: points (lead in a round, in thousands), win, or win_prob (change of the match-win probability);
    usual: points, if there are any"""
    features: bool = True
    """append the features of the game to the observation, if it has any (Mille Bornes:
    agents/millebornes/features.py)"""
    observe_rules: bool = False
    """append the rules of the table to the observation; needed for several editions"""
    opponent: str = ""
    """agent to be beaten, which plays in every game, instead of self-play"""
    opponent_teams: Teams = "one"
    """teams of the opponents in their games: one, or all but one"""
    start: str = ""
    """policy folder to take the first weights from; at one table the policy may see the rules"""
    magnet: float = 0.0
    """coefficient of KL(policy, magnet), the distance to a slow copy of the policy (magnetic mirror
    descent)"""
    magnet_updates: int = 100
    """updates between copies of the policy to the magnet"""
    ema_decay: float = 0.98
    """EMA decay of the policy weights that are saved and evaluated; 0: the raw weights"""
    oracle: bool = False
    """train with an asymmetric critic that sees all hands and the cards to come"""
    q_boosting: bool = False
    """let the critic of --oracle value actions, and estimate advantages by Expected SARSA(lambda) (VRPO)"""
    pool_share: float = 0.1
    """share of the games in which the pool plays: frozen earlier selves, and the agents of --pool-agent"""
    pool_agent: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """agent in the pool, with as many games as the earlier selves; repeat it for several"""
    pool_size: int = 16
    """largest number of earlier selves"""
    pool_updates: int = 50
    """updates between earlier selves"""
    learner: LearnerName = "auto"
    """torch: dense products; sparse: kernels that skip zeros; auto: the faster one, by a rule on the
    processor, the hidden layers and the batch size (docs/agents/training.md)"""
    precision: Precision = "auto"
    """data type of PyTorch's matrix products; auto: bfloat16 if the processor has units for it"""

    @property
    def sheets(self) -> tuple[str, ...]:
        """Names of the rule sheets."""
        if "all" in self.edition:
            return editions()
        return self.edition or ("parker",)

    @property
    def rewards(self) -> tuple[str, ...]:
        """The rewards of the game, and `WIN_PROB` if rounds add up to a match by points."""
        game = self.game.module()
        has_win_prob = POINTS in game.REWARDS and MATCH in game.EPISODES
        return (*game.REWARDS, WIN_PROB) if has_win_prob else tuple(game.REWARDS)

    @property
    def has_features(self) -> bool:
        """True if the game has features and the observation includes them."""
        return self.features and self.game.has("agents.features")

    @property
    def eval_opponents(self) -> tuple[str, ...]:
        """Names of the opponents in evaluations: the agent to be beaten, or the usual ones without it."""
        return (self.opponent,) if self.opponent else super().eval_opponents

    def config(self) -> dict[str, Any]:
        """Return the options as JSON values, with defaults that depend on others filled in."""
        chosen = {"edition": list(self.sheets), "features": self.has_features}
        return {**super().config(), **chosen, **choose_learner(self)._asdict()}


def check(args: Args) -> None:
    """Check the options of `train.selfplay`, as `check_counts`."""
    check_training(args)
    check_counts(args, "pool_updates", "magnet_updates")
    check_shares(args, "pool_share", "ema_decay")
    if args.q_boosting and not args.oracle:
        raise ValueError("--q-boosting needs the critic of --oracle")
    if args.learner == "sparse" and args.precision == "bfloat16":
        raise ValueError(
            "--learner sparse does not support --precision bfloat16, which needs PyTorch: give --learner "
            "torch, or leave out one of the two"
        )
    if args.chosen_reward == WIN_PROB and args.chosen_episode != MATCH:
        raise ValueError("--reward win_prob needs --episode match")
    has_split = any(isinstance(sheets_of(name), Split) for name in args.sheets)
    if args.chosen_reward == WIN_PROB and has_split:
        raise ValueError(
            "--reward win_prob needs one goal, and the sheets of a split have several: give --reward points"
        )
    if (len(args.sheets) > 1 or has_split) and not args.observe_rules:
        raise ValueError("several rule sheets need --observe-rules, or the network cannot tell them apart")
    if args.opponent and args.pool_agent:
        raise ValueError(
            "--opponent plays in all games, so a --pool-agent would have none: leave out one of the two"
        )


def choose_learner(args: Args) -> Choice:
    """Choose the learner of a run; "auto" depends on the options and the processor."""
    is_dense = args.learner == "torch" or args.precision == "bfloat16"
    if args.learner == "auto" and args.precision == "auto":
        is_dense = _is_worth_dense(args)
    if not is_dense:
        return Choice("sparse", "float32")
    if args.precision != "auto":
        return Choice("torch", args.precision)
    return Choice("torch", "bfloat16" if bfloat16_units() else "float32")


def _is_worth_dense(args: Args) -> bool:
    """Return True if PyTorch in bfloat16 is faster; the first layer, of mostly zeros, does not count."""
    products = args.batch_size * sum(before * after for before, after in pairwise(args.layers))
    return products > WORTH_DENSE.get(bfloat16_units(), math.inf)


def bfloat16_units() -> str:
    """Return the best units of the processor for bfloat16 products, by PyTorch's name, such as "amx_bf16".

    "" if processor or PyTorch have none; then float32 is faster. This reads the processor's capabilities
    instead of measuring, so that the result is always the same.
    """
    import torch  # noqa: PLC0415 - slow to load, and not all tools need it

    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return ""
    get_capabilities = getattr(torch.cpu, "get_capabilities", None)
    if get_capabilities is not None:
        names = [name for name, has in get_capabilities().items() if has and "bf16" in name]
    else:  # older versions
        asked = {"amx_bf16": "_is_amx_tile_supported", "avx512_bf16": "_is_avx512_bf16_supported"}
        names = [name for name, question in asked.items() if getattr(torch.cpu, question, bool)()]
    return min(names, default="")  # "amx_bf16" before "avx512_bf16"
