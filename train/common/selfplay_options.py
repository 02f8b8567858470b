"""The options of `train.selfplay`, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple

import tyro

from millebornes_env import editions
from millebornes_env.envs.options import USUAL
from train.common.games import EQUITY, MATCH, POINTS, TableOptions
from train.common.network import Precision, chosen_precision, has_fast_bfloat16
from train.common.opponents import OpponentOptions, Teams
from train.common.options import TrainingOptions, check_counts, check_shares, check_training

LearnerName = Literal["auto", "torch", "sparse"]


class Choice(NamedTuple):
    """A learner, and the precision of its matrix products."""

    learner: LearnerName
    precision: Precision


CHOICES: Final = (Choice("torch", "float32"), Choice("torch", "bfloat16"), Choice("sparse", "float32"))
"""All choices; process 0 sends the others the index of its own."""

LARGE: Final = 256
"""Width of a hidden layer from which dense products in bfloat16 are faster than sparse kernels."""


@dataclass(frozen=True)
class Args(TrainingOptions):
    """The options of the command line; each is saved in the run's config.json."""

    edition: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """rule sheet that is played; give it once for each, "all" for those of Mille Bornes (default: parker)"""
    reward: str = USUAL
    """points: a round's lead, in thousands; win; equity, of a match; usual: points, if the game has any"""
    features: bool = True
    """show the network the game's features too, if it has any (Mille Bornes: agents/policy/features.py)"""
    observe_rules: bool = False
    """show the network the table's rules; needed for several editions"""
    opponent: str = ""
    """an agent that plays in every game, to be beaten, instead of self-play"""
    opponent_teams: Teams = "one"
    """teams that opponents have in their games: one, or all others than one"""
    start: str = ""
    """policy folder whose weights to begin with, instead of random ones; at one table it may see the rules"""
    magnet: float = 0.0
    """weight of the distance KL(policy, magnet) to a slow copy of the policy (magnetic mirror descent)"""
    magnet_updates: int = 100
    """updates between two copies of the policy to the magnet"""
    ema_decay: float = 0.98
    """EMA decay of the policy weights that are saved and evaluated; 0: the raw weights"""
    oracle: bool = False
    """train with a second critic that sees all hands and the cards to come; it is clipped by itself"""
    pool_share: float = 0.1
    """share of the games in which the pool plays: frozen earlier selves, and the agents of --pool-agent"""
    pool_agent: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """an agent in the pool, which gets as many of its games as the earlier selves; give it once for each"""
    pool_size: int = 16
    """earlier selves that are kept"""
    pool_updates: int = 50
    """updates between two earlier selves"""
    learner: LearnerName = "auto"
    """torch: dense products; sparse: kernels that skip zeros; auto: torch if a layer has 256 units or more
    and the processor multiplies bfloat16, else sparse"""
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
        """Those of the game; and match equity, if rounds add up to a match by points."""
        game = self.game.module()
        has_equity = POINTS in game.REWARDS and MATCH in game.EPISODES
        return (*game.REWARDS, EQUITY) if has_equity else tuple(game.REWARDS)

    @property
    def has_features(self) -> bool:
        """True if the network's input includes the game's features."""
        return self.features and self.game.has("agents.features")

    @property
    def gauntlet(self) -> tuple[str, ...]:
        """The opponent that is to be beaten, if there is one; else the usual agents."""
        return (self.opponent,) if self.opponent else super().gauntlet

    def config(self) -> dict[str, Any]:
        """The options as JSON values, defaults that depend on others filled in."""
        chosen = {"edition": list(self.sheets), "features": self.has_features}
        return {**super().config(), **chosen, **chosen_learner(self)._asdict()}


def table_options(args: Args) -> TableOptions:
    """The tables, from the options of the command line."""
    played = args.sheets, args.players, args.teams, args.chosen_episode, args.chosen_reward
    return TableOptions(*played, args.observe_rules, args.has_features, args.seed, args.threads)


def opponent_options(args: Args) -> OpponentOptions:
    """The opponents, from the options of the command line."""
    who = args.opponent, args.opponent_teams
    return OpponentOptions(*who, args.pool_share, args.pool_size, args.pool_agent)


def check(args: Args) -> None:
    """Refuse options that cannot be.

    Raises:
        ValueError: the message names the option.
    """
    check_training(args)
    check_counts(args, "pool_updates", "magnet_updates")
    check_shares(args, "pool_share", "ema_decay")
    reason = why_dense(args)
    if args.learner == "sparse" and reason is not None:
        raise ValueError(
            f"--learner sparse does not know {reason}, which only PyTorch computes: give --learner torch, or "
            "leave out one of the two"
        )
    if args.chosen_reward == EQUITY and args.chosen_episode != MATCH:
        raise ValueError("--reward equity is what a round adds to winning a match: it needs --episode match")
    if len(args.sheets) > 1 and not args.observe_rules:
        raise ValueError("several editions need --observe-rules, or the network cannot tell them apart")


def why_dense(args: Args) -> str | None:
    """The option that only PyTorch's dense products know; None: the sparse kernels can learn."""
    if args.oracle:
        return "--oracle"
    if args.magnet > 0:
        return "--magnet"
    return "--precision bfloat16" if args.precision == "bfloat16" else None


def chosen_learner(args: Args) -> Choice:
    """The learner of a run: as given, or for "auto" by a rule of the options and the processor."""
    is_dense = args.learner == "torch" or why_dense(args) is not None
    if args.learner == "auto" and args.precision == "auto":
        is_dense = is_dense or (max(args.layers) >= LARGE and has_fast_bfloat16())
    return Choice("torch", chosen_precision(args.precision)) if is_dense else Choice("sparse", "float32")
