"""The methods that learn a deck, with evaluations of their policies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from millebornes_env.agents.registry import load
from millebornes_env.envs.vector import vector_env
from millebornes_env.errors import MilleBornesError, MissingExtraError
from millebornes_env.solving.as_policy import policy_of
from millebornes_env.solving.cfr import Solver
from millebornes_env.solving.mccfr import Sampler
from research.baselines.deep_cfr import DeepCfrOptions, learn_by_deep_cfr
from research.baselines.escher import EscherOptions, learn_by_escher
from research.baselines.judging import Task, is_small, part_name, small_tree
from research.baselines.memoryless import Fit, SharedCfr, Table, fit
from research.baselines.nfsp import NfspOptions, learn_by_nfsp

if TYPE_CHECKING:
    from train.selfplay import Trainer

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
class AveragedOptions:
    """The equilibrium, averaged over what shows the same observation, has no options."""


@dataclass(frozen=True)
class SharedCfrOptions:
    """CFR+ with regrets by observation has no options."""


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
    q_boosting: bool = False
    pool_share: float = 0.1
    over: str = ""
    """name of a method with whose network it starts, with the same seed"""


@dataclass(frozen=True)
class RecurrentOptions:
    """Options of `train.recurrent_ppo` that a plan can set; see `python -m train.recurrent_ppo --help`."""

    memory: str = "gru"
    window: int = 16
    hidden: tuple[int, ...] = (128,)
    learning_rate: float = 1e-3
    final_learning_rate: float = 1e-4
    ent_coef: float = 0.02
    final_ent_coef: float = 0.001


@dataclass(frozen=True)
class FittedOptions(Fit):
    """Options of a network that is fitted to a policy without memory."""

    iterations: int = 60
    """iterations of CFR+ with regrets by observation, which make the policy"""
    hidden: tuple[int, ...] = (128,)


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


def average_equilibrium(task: Task, options: AveragedOptions) -> None:
    """Evaluate the mean of the equilibrium over the information sets that show the same observation."""
    table = Table(task.game)
    weights = policy_of("equilibrium", task.game).weights(table.tree)
    task.judge_table(0, table.tree, table.weights(table.normalized(table.reach(weights))))


def iterate_shared_cfr(task: Task, options: SharedCfrOptions) -> None:
    """Learn a policy without memory by CFR+; an iteration counts every decision of the game."""
    solver = SharedCfr(Table(task.game))
    tree = solver.table.tree
    for mark in task.marks():
        iterations = -(-mark // tree.counts.play_nodes) - solver.iteration
        if iterations > 0:
            with task.learning():
                solver.run(iterations)
            weights = solver.table.weights(solver.policy())
            task.judge_table(solver.iteration * tree.counts.play_nodes, tree, weights)


def fit_network(task: Task, options: FittedOptions) -> None:
    """Fit a network to a policy without memory, and evaluate it."""
    with task.learning():
        solver = SharedCfr(Table(task.game))
        solver.run(options.iterations)
        table, policy = solver.table, solver.last()
        trainer = _trainer(task, SelfplayOptions(hidden=options.hidden))
        folder = network_folder(task.folder, task.name)
        trainer.save_policy(folder)
        agent: Any = load(f"policy:{folder},mode=sample", vector_env(1, task.game.sheet, players=2))
        fit(trainer, agent.inputs(table.rows), table, policy, options)
        trainer.save_policy(folder)
    task.judge(0, policy_of(f"policy:{folder},mode=sample", task.game, task.seed))


def learn_by_selfplay(task: Task, options: SelfplayOptions) -> None:
    """Learn by PPO of `train.selfplay`; the policy is the EMA of its weights."""
    trainer = _trainer(task, options)
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


def learn_with_memory(task: Task, options: RecurrentOptions) -> None:
    """Learn by PPO of `train.recurrent_ppo`."""
    try:
        from train import recurrent_ppo  # noqa: PLC0415 - PyTorch is slow to load
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("train.recurrent_ppo", missing, "train") from None
    given: dict[str, Any] = dataclasses.asdict(options)
    args = recurrent_ppo.Args(
        edition=task.game.name,
        seed=task.seed,
        episode="round",
        reward="points",
        total_timesteps=task.samples,
        threads=1,
        **given,
    )
    recurrent_ppo.check(args)
    learner, folder = recurrent_ppo.Learner(args), network_folder(task.folder, task.name)
    for mark in task.marks():
        with task.learning():
            while learner.decisions < mark:
                learner.update(learner.decisions / task.samples)
                task.on_progress(learner.decisions / task.samples)
        learner.save_policy(folder)
        task.judge(learner.decisions, policy_of(f"policy:{folder},mode=sample", task.game))


def _trainer(task: Task, options: SelfplayOptions) -> Trainer:
    """Build the trainer of `train.selfplay` for a deck, on one thread.

    Raises:
        MissingExtraError: PyTorch is not installed.
    """
    try:
        from train.selfplay import Args, Trainer, check  # noqa: PLC0415 - PyTorch is slow to load
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("train.selfplay", missing, "train") from None
    given = dataclasses.asdict(options)
    over = given.pop("over")
    args = Args(
        edition=(task.game.name,),
        seed=task.seed,
        episode="round",
        reward="points",
        total_timesteps=max(task.samples, 1),
        threads=1,
        learner="sparse",
        precision="float32",
        start=str(_network_of(task, over)) if over else "",
        **given,
    )
    check(args)
    return Trainer(args)


def network_folder(folder: Path, name: str) -> Path:
    """Return the folder of the network of a part."""
    return folder / "networks" / name


def best_of(task: Task, options: BestOptions) -> None:
    """Evaluate greedy play by a network."""
    task.judge(0, policy_of(f"policy:{_network_of(task, options.over)}", task.game, task.seed))


def search_over(task: Task, options: SearchOptions) -> None:
    """Evaluate one-step search over a network, queried once at each information set."""
    base = _network_of(task, options.over)
    spec = f"search:rollout=policy:{base},rollouts={options.rollouts},z={options.z:g}"
    task.judge(0, policy_of(spec, task.game, task.seed))


def _network_of(task: Task, over: str) -> Path:
    base = network_folder(task.folder, part_name(over, task.deck, task.seed))
    if not (base / "policy.json").is_file():
        raise MilleBornesError(
            f"it needs the network of {over} with the same seed, and {str(base)!r} holds no "
            f"network: run {over} first"
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
    "escher": (EscherOptions, learn_by_escher),
    "es_mccfr": (McCfrOptions, sample_cfr),
    "recurrent": (RecurrentOptions, learn_with_memory),
    "averaged": (AveragedOptions, average_equilibrium),
    "shared_cfr": (SharedCfrOptions, iterate_shared_cfr),
    "fitted": (FittedOptions, fit_network),
    "cfr_plus": (CfrOptions, iterate_cfr),
}
"""Dataclass of options and function of each method, by its name in a plan."""
LEARNERS: Final = frozenset(RUNS) - {"agent", "averaged", "fitted", "best", "search"}
"""Methods with a budget of decisions."""
OPTIONS: Final = {name: options for name, (options, _) in RUNS.items()}
