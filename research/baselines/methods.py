"""The methods that learn a deck, with evaluations of their policies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from millebornes_env.errors import MilleBornesError, MissingExtraError
from millebornes_env.solving.as_policy import policy_of
from millebornes_env.solving.cfr import Solver
from millebornes_env.solving.mccfr import Sampler
from research.baselines.deep_cfr import DeepCfrOptions, learn_by_deep_cfr
from research.baselines.judging import Task, is_small, part_name, small_tree
from research.baselines.nfsp import NfspOptions, learn_by_nfsp

_BLOCK: Final = 100  # traversals between two looks at the decisions


@dataclass(frozen=True)
class AgentOptions:
    """Options of an agent that does not learn."""

    agent: str = "random"
    """spec for `millebornes_env.agents.load`"""


@dataclass(frozen=True)
class CfrOptions:
    """Options of CFR+."""

    predictive: bool = False
    """predict that the last regrets occur again"""


@dataclass(frozen=True)
class McCfrOptions:
    """External-sampling MCCFR has no options."""


@dataclass(frozen=True)
class SelfplayOptions:
    """Options of `train.selfplay` that a plan can set; see `python -m train.selfplay --help`."""

    num_envs: int = 256
    num_steps: int = 32
    batch_size: int = 1024
    num_epochs: int = 2
    learning_rate: float = 1e-3
    final_learning_rate: float = 1e-4
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    ent_coef: float = 0.02
    final_ent_coef: float = 0.001
    vf_coef: float = 0.5
    hidden: tuple[int, ...] = (128,)
    features: bool = True
    magnet: float = 0.0
    magnet_updates: int = 100
    ema_decay: float = 0.98
    oracle: bool = False
    pool_share: float = 0.1


@dataclass(frozen=True)
class BestOptions:
    """Options of greedy play by the policy of another method with the same seed."""

    over: str = "ppo"
    """name of the method"""


@dataclass(frozen=True)
class SearchOptions(BestOptions):
    """Options of search over the policy of another method."""

    rollouts: int = 20
    """rollouts of each choice"""
    z: float = 2.0
    """standard errors by which a gain must exceed 0"""


def evaluate_agent(task: Task, options: AgentOptions) -> None:
    """Evaluate an agent that does not learn."""
    task.judge(0, policy_of(options.agent, task.game, task.seed))


def iterate_cfr(task: Task, options: CfrOptions) -> None:
    """Learn by CFR+; an iteration counts every decision of the game."""
    solver = Solver(task.game, predictive=options.predictive)
    decisions = solver.tree.counts.play_nodes
    for mark in task.marks():
        iterations = -(-mark // decisions) - solver.iteration
        if iterations > 0:
            with task.learning():
                solver.run(iterations)
            task.judge_table(solver.iteration * decisions, solver.tree, solver.weights())


def sample_cfr(task: Task, options: McCfrOptions) -> None:
    """Learn by external-sampling MCCFR."""
    sampler = Sampler(task.game, task.seed, small_tree(task.game.name) if is_small(task.game) else None)
    for mark in task.marks():
        with task.learning():
            while sampler.decisions < mark:
                sampler.run(_BLOCK)
        task.judge_table(sampler.decisions, sampler.tree, sampler.weights())


def learn_by_selfplay(task: Task, options: SelfplayOptions) -> None:
    """Learn by PPO of `train.selfplay`; the policy is the EMA of its weights."""
    try:
        from train.selfplay import Args, Trainer, check  # noqa: PLC0415 - PyTorch is slow to load
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("train.selfplay", missing, "research") from None
    args = Args(
        edition=(task.game.name,),
        seed=task.seed,
        episode="round",
        reward="points",
        total_timesteps=task.samples,
        threads=1,
        learner="torch" if options.magnet or options.oracle else "sparse",
        precision="float32",
        **dataclasses.asdict(options),
    )
    check(args)
    trainer = Trainer(args)
    trainer.warm_up()
    for mark in task.marks():
        with task.learning():
            while trainer.decisions < mark:
                trainer.collect()
                trainer.learn(trainer.decisions / task.samples)
        folder = network_folder(task.folder, task.name)
        trainer.save_policy(folder)
        policy = policy_of(f"policy:{folder},mode=sample", task.game, task.seed)
        task.judge(trainer.decisions, policy)


def network_folder(folder: Path, name: str) -> Path:
    """Return the folder of the network of a part."""
    return folder / "networks" / name


def best_of(task: Task, options: BestOptions) -> None:
    """Evaluate greedy play by a network."""
    task.judge(0, policy_of(f"policy:{_network_of(task, options)}", task.game, task.seed))


def search_over(task: Task, options: SearchOptions) -> None:
    """Evaluate one-step search over a network, queried once at each information set."""
    base = _network_of(task, options)
    spec = f"search:rollout=policy:{base},rollouts={options.rollouts},z={options.z:g}"
    task.judge(0, policy_of(spec, task.game, task.seed))


def _network_of(task: Task, options: BestOptions) -> Path:
    base = network_folder(task.folder, part_name(options.over, task.deck, task.seed))
    if not (base / "policy.json").is_file():
        raise MilleBornesError(
            f"it needs the network of {options.over} with the same seed, and {str(base)!r} holds no "
            f"network: run {options.over} first"
        )
    return base


Run = Callable[[Task, Any], None]

RUNS: Final[dict[str, tuple[type, Run]]] = {
    "agent": (AgentOptions, evaluate_agent),
    "selfplay": (SelfplayOptions, learn_by_selfplay),
    "best": (BestOptions, best_of),
    "search": (SearchOptions, search_over),
    "deep_cfr": (DeepCfrOptions, learn_by_deep_cfr),
    "nfsp": (NfspOptions, learn_by_nfsp),
    "es_mccfr": (McCfrOptions, sample_cfr),
    "cfr_plus": (CfrOptions, iterate_cfr),
}
"""Dataclass of options and function of each method, by its name in a plan."""
LEARNERS: Final = frozenset(RUNS) - {"agent", "best", "search"}
"""Methods with a budget of decisions."""
OPTIONS: Final = {name: options for name, (options, _) in RUNS.items()}
