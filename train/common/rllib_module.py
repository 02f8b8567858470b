"""The networks of `train.rllib`: a policy over legal actions, with a critic where it learns."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, Final

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.distribution.torch.torch_distribution import TorchCategorical
from ray.rllib.core.rl_module.apis import InferenceOnlyAPI, ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor, nn

from millebornes_env.envs.rllib import ACTION_MASK, OBSERVATIONS

MAIN: Final = "main"
"""Name of the policy that learns."""

_DRAWS: Final = 1 << 16


def in_pool(number: int) -> str:
    """Name of a policy of the pool, as RLlib knows it."""
    return f"pool_{number}"


class FrozenPolicy(TorchRLModule):  # type: ignore[misc] # ray has no types
    """A perceptron that gives illegal actions no probability, and does not learn.

    `model_config` has `hidden`, the widths of its hidden layers.
    """

    def setup(self) -> None:
        """Make the network; RLlib calls it."""
        self.actor = self._layers(int(self.action_space.n), 0.01)
        self.action_dist_cls = TorchCategorical

    def _layers(self, outputs: int, gain: float) -> nn.Sequential:
        width = int(self.observation_space[OBSERVATIONS].shape[0])
        modules: list[nn.Module] = []
        for units in self.model_config["hidden"]:
            modules += [_linear(width, units, 2**0.5), nn.ReLU()]
            width = units
        return nn.Sequential(*modules, _linear(width, outputs, gain))

    def _forward(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Tensor]:
        """Compute the outputs that RLlib needs to act and to learn."""
        seen = batch[Columns.OBS]
        logits = self.actor(seen[OBSERVATIONS])
        lowest = torch.finfo(logits.dtype).min
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen[ACTION_MASK] == 0, lowest)}


class LearningPolicy(FrozenPolicy, ValueFunctionAPI, InferenceOnlyAPI):  # type: ignore[misc]
    """The same with a critic, which only the learner has."""

    def setup(self) -> None:
        """Make both networks; RLlib calls it."""
        super().setup()
        self.critic = self._layers(1, 1.0)

    def compute_values(self, batch: Mapping[str, Any], embeddings: Any = None) -> Tensor:
        """float32[B], what the critic says of the observations."""
        values: Tensor = self.critic(batch[Columns.OBS][OBSERVATIONS])
        return values.squeeze(-1)

    def get_non_inference_attributes(self) -> list[str]:
        """Return the attributes that inference does not need."""
        return ["critic"]


def _linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Casting:
    """The policy of each seat: RLlib's `policy_mapping_fn`.

    In a share of the episodes one team learns and all others are played by one policy of the pool; in the
    others all seats learn. It is drawn from the episode's name by a hash that is the same in all processes.
    """

    def __init__(self, teams: int, pool_size: int, pool_share: float) -> None:
        """Remember the table.

        Args:
            teams: at the table; the team of seat s is s % teams.
            pool_size: policies in the pool.
            pool_share: of the episodes, 0 to 1.
        """
        self.teams = teams
        self.pool_size = pool_size
        self.pool_share = pool_share

    def __call__(self, agent_id: str, episode: Any, **_: Any) -> str:
        """The name of the policy for "player_3" in an episode."""
        draw = zlib.crc32(str(episode.id_).encode())
        if self.pool_size == 0 or draw % _DRAWS >= self.pool_share * _DRAWS:
            return MAIN
        draw //= _DRAWS
        team = int(agent_id.rpartition("_")[2]) % self.teams
        if team == draw % self.teams:
            return MAIN
        return in_pool(draw // self.teams % self.pool_size)
