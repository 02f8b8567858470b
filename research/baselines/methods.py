"""The methods: each learns a deck, and its policy is evaluated on the way."""

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
from millebornes_env.solving.values import Policy
from research.baselines.deep_cfr import DeepCfrOptions, learn_by_deep_cfr
from research.baselines.judging import Task, is_small, part_name, small_tree
from research.baselines.nfsp import NfspOptions, learn_by_nfsp

_BLOCK: Final = 100  # traversals between two looks at the decisions


@dataclass(frozen=True)
class AgentOptions:
    """An agent as it is."""

    agent: str = "random"
    """as `millebornes_env.agents.load` takes it"""


@dataclass(frozen=True)
class CfrOptions:
    """CFR+."""

    predictive: bool = False
    """expect the last regrets once more"""


@dataclass(frozen=True)
class McCfrOptions:
    """External-sampling MCCFR has none."""


@dataclass(frozen=True)
class SelfplayOptions:
    """Those of `train.selfplay` that a plan can set; see `python -m train.selfplay --help`."""

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
    """The most probable choice of a policy that a method of the plan has learned with the same seed."""

    over: str = "ppo"
    """the method"""


@dataclass(frozen=True)
class SearchOptions(BestOptions):
    """Search over that."""

    rollouts: int = 20
    """of each choice"""
    z: float = 2.0
    """standard errors by which a gain must exceed 0"""


def ask_agent(task: Task, options: AgentOptions) -> None:
    """Judge an agent as it is."""
    task.judge(0, policy_of(options.agent, task.game, task.seed))


def iterate_cfr(task: Task, options: CfrOptions) -> None:
    """CFR+: an iteration looks at every decision of the game."""
    solver = Solver(task.game, predictive=options.predictive)
    decisions = solver.tree.counts.play_nodes
    for mark in task.marks():
        iterations = -(-mark // decisions) - solver.iteration
        if iterations > 0:
            with task.learning():
                solver.run(iterations)
            task.judge_table(solver.iteration * decisions, solver.tree, solver.weights())


def sample_cfr(task: Task, options: McCfrOptions) -> None:
    """External-sampling MCCFR."""
    sampler = Sampler(task.game, task.seed, small_tree(task.game.name) if is_small(task.game) else None)
    for mark in task.marks():
        with task.learning():
            while sampler.decisions < mark:
                sampler.run(_BLOCK)
        task.judge_table(sampler.decisions, sampler.tree, sampler.weights())


def learn_by_selfplay(task: Task, options: SelfplayOptions) -> None:
    """PPO as `train.selfplay` has it; the policy is the average of its weights over the updates."""
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
        task.judge(trainer.decisions, network_policy(task, folder))


def network_folder(folder: Path, name: str) -> Path:
    """Return the folder of the network of a part."""
    return folder / "networks" / name


def network_policy(task: Task, folder: Path) -> Policy:
    """A network as the mixed policy that it is."""
    return policy_of(f"policy:{folder},mode=sample", task.game, task.seed)


def best_of(task: Task, options: BestOptions) -> None:
    """The most probable choice of a network, everywhere."""
    task.judge(0, policy_of(f"policy:{_network_of(task, options)}", task.game, task.seed))


def search_over(task: Task, options: SearchOptions) -> None:
    """Search one choice ahead over a network, asked once at each information set."""
    base = _network_of(task, options)
    spec = f"search:rollout=policy:{base},rollouts={options.rollouts},z={options.z:g}"
    task.judge(0, policy_of(spec, task.game, task.seed))


def _network_of(task: Task, options: BestOptions) -> Path:
    base = network_folder(task.folder, part_name(options.over, task.deck, task.seed))
    if not (base / "policy.json").is_file():
        raise MilleBornesError(
            f"it needs the network of {options.over} with the same seed, and {str(base)!r} holds no "
            f"network: measure {options.over} too, or first"
        )
    return base


Run = Callable[[Task, Any], None]

RUNS: Final[dict[str, tuple[type, Run]]] = {
    "agent": (AgentOptions, ask_agent),
    "selfplay": (SelfplayOptions, learn_by_selfplay),
    "best": (BestOptions, best_of),
    "search": (SearchOptions, search_over),
    "deep_cfr": (DeepCfrOptions, learn_by_deep_cfr),
    "nfsp": (NfspOptions, learn_by_nfsp),
    "es_mccfr": (McCfrOptions, sample_cfr),
    "cfr_plus": (CfrOptions, iterate_cfr),
}
"""By the names that a plan has for them: the options, and what is done."""
LEARNERS: Final = frozenset(RUNS) - {"agent", "best", "search"}
"""Those that look at decisions."""
OPTIONS: Final = {name: options for name, (options, _) in RUNS.items()}
