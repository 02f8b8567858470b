"""The trainers compared by `benchmarks.training`, with equal networks, games and options."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from train import selfplay  # first: it says how PyTorch's threads wait  # isort: skip

import gymnasium
import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn
from torch import nn

from millebornes_env.agents.policy.agent import observation_scale
from millebornes_env.agents.protocol import Table
from millebornes_env.envs.sb3 import SB3VecEnv
from train.common.games import features_of
from train.common.runs import timed

OURS: Final = "train.selfplay"
THEIRS: Final = "MaskablePPO"
PARTS: Final = (*selfplay.PARTS, "other")
"""The parts that training time is divided into."""

Precision = Literal["float32", "bfloat16"]
Learner = Literal["torch", "sparse"]


@dataclass(frozen=True)
class Size:
    """Sizes of a rollout and of a batch.

    Attributes:
        games: number of parallel games.
        steps: decisions per game between two updates; for `THEIRS`, those of the learning seat only.
        batch: decisions in one gradient step.
    """

    games: int
    steps: int
    batch: int

    def __str__(self) -> str:
        return f"{self.games:,} x {self.steps}"


@dataclass(frozen=True)
class Work:
    """The task of both trainers.

    Attributes:
        edition: rule sheet.
        players: number of seats.
        episode: one of the game's episodes; rewards are points, or wins if the game has none.
        threads: number of threads of PyTorch and of the games.
    """

    edition: str
    players: int
    episode: str
    threads: int


def usual_options(edition: str, episode: str) -> selfplay.Args:
    """Return the options of `train.selfplay` for the game and the table."""
    return selfplay.Args(edition=(edition,), episode=episode)


@dataclass(frozen=True)
class Contender:
    """A trainer with its settings.

    Attributes:
        trainer: `OURS` or `THEIRS`.
        hidden: widths of the hidden layers, which policy and value share.
        epochs: times that each decision is learned from.
        size: of rollouts and batches.
        precision: of the products of the hidden layers.
        learner: `--learner` of `OURS`.
    """

    trainer: str
    hidden: tuple[int, ...]
    epochs: int
    size: Size
    precision: Precision = "float32"
    learner: Learner = "torch"

    @property
    def task(self) -> tuple[tuple[int, ...], int]:
        """Settings that must be equal in a comparison."""
        return self.hidden, self.epochs

    @property
    def network(self) -> str:
        """Description of the hidden layers."""
        return " - ".join(map(str, self.hidden))


@dataclass
class Progress:
    """Progress of a trainer since it was created.

    Attributes:
        learned: decisions learned from, each counted once however many epochs.
        played: decisions made in its games, those of opponents included.
        seconds: time by part of `selfplay.PARTS`.
    """

    learned: int = 0
    played: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(selfplay.PARTS, 0.0))

    def since(self, before: Progress) -> Progress:
        """Return the progress since an earlier one."""
        spent = {part: seconds - before.seconds[part] for part, seconds in self.seconds.items()}
        return Progress(self.learned - before.learned, self.played - before.played, spent)


class OurTrainer:
    """`train.selfplay` without pool and evaluations: every seat's decisions are learned from."""

    def __init__(self, contender: Contender, work: Work) -> None:
        """Make games and network."""
        self._args = selfplay.Args(
            edition=(work.edition,),
            players=work.players,
            episode=work.episode,
            observe_rules=False,
            oracle=False,
            pool_share=0.0,
            num_envs=contender.size.games,
            num_steps=contender.size.steps,
            batch_size=contender.size.batch,
            num_epochs=contender.epochs,
            hidden=contender.hidden,
            learner=contender.learner,
            precision=contender.precision,
            threads=work.threads,
        )
        selfplay.check(self._args)
        self._trainer = selfplay.Trainer(self._args)

    @property
    def parameters(self) -> int:
        """Number of trainable parameters."""
        return count_parameters(self._trainer.network)

    def update(self) -> None:
        """Play a rollout and learn from it."""
        self._trainer.collect()
        self._trainer.learn(0.0)

    def progress(self) -> Progress:
        """Progress so far."""
        trainer, args = self._trainer, self._args
        played = trainer.updates * args.num_steps * args.num_envs
        return Progress(trainer.decisions, played, dict(trainer.seconds))


class HiddenLayers(BaseFeaturesExtractor):
    """The hidden layers of `Perceptron`, for both heads of a policy of Stable-Baselines3."""

    def __init__(self, observation_space: gymnasium.Space[Any], widths: Sequence[int]) -> None:
        """Create the layers.

        Args:
            observation_space: space of the inputs.
            widths: widths of the layers.
        """
        super().__init__(observation_space, features_dim=widths[-1])
        assert observation_space.shape is not None
        before = observation_space.shape[0]
        layers: list[nn.Module] = []
        for width in widths:
            layers += [nn.Linear(before, width), nn.ReLU()]
            before = width
        self.layers = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the input of the heads."""
        hidden: torch.Tensor = self.layers(observations)
        return hidden


class TimedGames(SB3VecEnv):
    """A timed environment with the features of `train.selfplay` after the observations.

    Attributes:
        seconds: time in `step`, including opponents.
        scale: float32[D + F], factors of the inputs.
    """

    def __init__(self, num_envs: int, **options: Any) -> None:
        super().__init__(num_envs, **options)
        self.seconds = 0.0
        games = self.envs.games.vector
        features = features_of(games.game) if games.game.has("agents.features") else None
        self._write_rows = None if features is None else features.write_rows
        self._rules = games.games.game_rules
        self._spec = games.observation_spec
        size = 0 if features is None else features.size(games.rules, self._spec)
        self.scale = np.append(observation_scale(Table.of(games)), np.ones(size, np.float32))
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, self.scale.shape, np.float32)

    def scaled(self, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Convert observations int8[N, D] to network inputs float32[N, D + F]."""
        if self._write_rows is None:
            return observations * self.scale
        rows = np.empty((len(observations), len(self.scale)), np.int8)
        self._write_rows(self._rules, self._spec, observations, rows)
        return rows * self.scale

    def reset(self) -> npt.NDArray[np.float32]:
        """As `SB3VecEnv.reset`."""
        super().reset()
        return self.scaled(self.envs.games.buffers.observation)

    def step_wait(self) -> VecEnvStepReturn:
        """As `SB3VecEnv.step_wait`."""
        began = time.perf_counter()
        _, rewards, dones, infos = super().step_wait()
        observations = self.scaled(self.envs.games.buffers.observation)
        self.seconds += time.perf_counter() - began
        return observations, rewards, dones, infos


class TimedPPO(MaskablePPO):
    """A timed MaskablePPO.

    Attributes:
        seconds: time of inference, of advantages, and of updates.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.seconds = {"inference": 0.0, "advantage": 0.0, "update": 0.0}
        self._began = 0.0
        self.policy.register_forward_pre_hook(self._begin)
        self.policy.register_forward_hook(self._end)
        compute = self.rollout_buffer.compute_returns_and_advantage

        def compute_timed(*arguments: Any, **keywords: Any) -> None:
            with timed(self.seconds, "advantage"):
                compute(*arguments, **keywords)

        setattr(self.rollout_buffer, compute.__name__, compute_timed)

    def _begin(self, *_: Any) -> None:
        self._began = time.perf_counter()

    def _end(self, *_: Any) -> None:
        self.seconds["inference"] += time.perf_counter() - self._began

    def train(self) -> None:
        """As `MaskablePPO.train`."""
        with timed(self.seconds, "update"):
            super().train()


class TheirTrainer:
    """MaskablePPO on `SB3VecEnv`: one seat of each game learns, the policy plays the others."""

    def __init__(self, contender: Contender, work: Work) -> None:
        """Make games and network."""
        torch.distributions.Distribution.set_default_validate_args(False)
        self._env = TimedGames(
            contender.size.games,
            edition=work.edition,
            players=work.players,
            episode=work.episode,
            reward=usual_options(work.edition, work.episode).chosen_reward,
            num_threads=work.threads,
        )
        self._model = make_model(contender, self._env)
        self._opponent_rows, self._opponent_seconds = 0, 0.0
        self._env.set_opponent(self._opponent())
        self._rollout = contender.size.games * contender.size.steps

    def _opponent(self) -> Callable[..., npt.NDArray[np.int64]]:
        """Sample actions of the current policy, and measure the time."""
        policy = self._model.policy

        @torch.no_grad()
        def act(
            observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
        ) -> npt.NDArray[np.int64]:
            began = time.perf_counter()
            logits = policy.action_net(
                policy.features_extractor(torch.from_numpy(self._env.scaled(observations)))
            )
            noise = torch.empty_like(logits).exponential_().log_()
            noisy = (logits - noise).masked_fill_(torch.from_numpy(action_masks) == 0, -torch.inf)
            chosen: npt.NDArray[np.int64] = noisy.argmax(dim=1).numpy()
            self._opponent_rows += len(observations)
            self._opponent_seconds += time.perf_counter() - began
            return chosen

        return act

    @property
    def parameters(self) -> int:
        """Number of trainable parameters."""
        return count_parameters(self._model.policy)

    def update(self) -> None:
        """Play a rollout and learn from it."""
        self._model.learn(self._rollout, log_interval=None, reset_num_timesteps=False)  # type: ignore[arg-type]

    def progress(self) -> Progress:
        """Progress so far."""
        spent = self._model.seconds
        seconds = {
            **spent,
            "env": self._env.seconds - self._opponent_seconds,
            "inference": spent["inference"] + self._opponent_seconds,
        }
        learned = self._model.num_timesteps
        return Progress(learned, learned + self._opponent_rows, seconds)


Trainer = OurTrainer | TheirTrainer


def make(contender: Contender, work: Work) -> Trainer:
    """Create the trainer of a contender; options without effect on speed are those of `train.selfplay`."""
    torch.set_num_threads(work.threads)
    return OurTrainer(contender, work) if contender.trainer == OURS else TheirTrainer(contender, work)


def make_model(contender: Contender, env: SB3VecEnv) -> TimedPPO:
    """Create MaskablePPO with the network, the optimizer and the loss coefficients of `train.selfplay`."""
    usual = selfplay.Args()
    model = TimedPPO(
        "MlpPolicy",
        env,
        learning_rate=usual.learning_rate,
        n_steps=contender.size.steps,
        batch_size=contender.size.batch,
        n_epochs=contender.epochs,
        gamma=usual.gamma,
        gae_lambda=usual.gae_lambda,
        clip_range=usual.clip_range,
        ent_coef=usual.ent_coef,
        vf_coef=usual.vf_coef,
        max_grad_norm=usual.max_grad_norm,
        policy_kwargs={
            "features_extractor_class": HiddenLayers,
            "features_extractor_kwargs": {"widths": contender.hidden},
            "net_arch": [],
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        seed=usual.seed,
        device="cpu",
    )
    model.set_logger(Logger(None, []))
    return model


def count_parameters(network: nn.Module) -> int:
    """Count the trainable parameters of a network."""
    return sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)
