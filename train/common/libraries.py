"""Shared code of the trainers on other libraries, `train.maskable_ppo` and `train.rllib`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Final

import torch
from torch import Tensor, nn

from millebornes_env.agents.policy.agent import observation_scale
from millebornes_env.agents.policy.files import DESCRIPTION_FILE, check_description, read_description
from millebornes_env.agents.policy.writing import fold_in_scale, save_policy_files
from millebornes_env.agents.protocol import Table
from millebornes_env.arena.match import MatchConfig
from train.common.options import TrainingOptions
from train.common.run_folder import LossError, tensors_of_optimizer, tensors_to_optimizer, with_prefix

_RANDOM: Final = "random.torch"


@dataclass(frozen=True)
class LibraryOptions(TrainingOptions):
    """The options of a trainer that plays one rule sheet."""

    free: ClassVar[frozenset[str]] = TrainingOptions.free | {"threads"}

    edition: str = "parker"
    """rule sheet that is played"""

    @property
    def sheets(self) -> tuple[str, ...]:
        """Name of the rule sheet."""
        return (self.edition,)

    @property
    def env_options(self) -> dict[str, Any]:
        """Options of the environment."""
        options = {name: getattr(self, name) for name in ("edition", "players", "teams")}
        return {**options, "episode": self.chosen_episode, "reward": self.chosen_reward}

    def table(self) -> Table:
        """Return the table of the run; raise a `MilleBornesError` if there is none."""
        return MatchConfig(self.edition, self.players, self.teams, episode=self.chosen_episode).table()

    def check_folder(self) -> None:
        """Check that the run folder has no policy of another table.

        Raises:
            AgentError: it has one; the message names the difference.
        """
        if (self.run_dir / DESCRIPTION_FILE).exists():
            check_description(read_description(self.run_dir), self.table(), self.run_dir)


class LibraryLearner:
    """Network and optimizer of a library as a learner of a run: see `train.common.runs.Learner`.

    Attributes:
        network: actor and critic, over scaled observations.
        optimizer: the optimizer of the network.
        seconds: empty; the libraries do not measure the parts of an update.
    """

    trained_by: ClassVar[str]
    """Name of the script, saved in policy.json."""

    def __init__(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        actor: Sequence[nn.Module],
        table: Table,
        activation: str,
    ) -> None:
        """Wrap an untrained network.

        The modules of the actor map scaled observations to logits, in order, with the activation function
        after each layer but the last.
        """
        self.network = network
        self.optimizer = optimizer
        self.seconds: dict[str, float] = {}
        self._layers = [
            layer for module in actor for layer in module.modules() if isinstance(layer, nn.Linear)
        ]
        self._table = table
        self._activation = activation
        self._decisions = 0

    @property
    def decisions(self) -> int:
        """Number of decisions learned from so far."""
        return self._decisions

    def save_policy(self, folder: Path) -> None:
        """Write the actor in the format that agents play."""
        layers = [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in self._layers]
        save_policy_files(
            folder,
            fold_in_scale(layers, observation_scale(self._table)),
            self._table,
            activation=self._activation,
            more={"trained_by": self.trained_by, "decisions_trained": self.decisions},
        )

    def checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return weights, optimizer, counters and PyTorch's random numbers; not the games."""
        tensors = {f"policy.{name}": value for name, value in self.network.state_dict().items()}
        tensors |= tensors_of_optimizer(self.optimizer)
        return {**tensors, _RANDOM: torch.get_rng_state()}, {"decisions": self.decisions}

    def restore(self, tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        """Continue from the result of `checkpoint`."""
        self.network.load_state_dict(with_prefix(tensors, "policy."))
        tensors_to_optimizer(self.optimizer, tensors)
        torch.set_rng_state(tensors[_RANDOM])
        self._decisions = int(progress["decisions"])

    def check_loss(self, loss: float) -> None:
        """Raise `LossError` if the loss of an update is not finite; the libraries do not check it."""
        if not math.isfinite(loss):
            raise LossError(
                f"loss became NaN or infinite at timestep {self.decisions:,}; a lower --learning-rate may "
                "help; the last saved files are unchanged"
            )


def numbers(logged: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers among the values that a library logs."""
    return {name: float(value) for name, value in logged.items() if isinstance(value, Real)}
