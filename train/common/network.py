"""The networks of `train.selfplay`: perceptrons over rows of small integers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from millebornes_env._util.network_files import Layers
from millebornes_env.agents.policy.agent import PolicyAgent, observation_scale
from millebornes_env.agents.policy.writing import fold_in_scale
from millebornes_env.agents.protocol import Observations, Table
from train.common.oracle import oracle_scale

Precision = Literal["auto", "float32", "bfloat16"]
PRECISIONS: Final = {"float32": torch.float32, "bfloat16": torch.bfloat16}
"""Data types of the hidden layers; weights, their optimizer, logits and losses are float32 in any case."""

_POLICY_GAIN: Final = 0.01  # a new policy is nearly uniform (Andrychowicz et al. 2021, section 3.2)


class Perceptron(nn.Module):
    """Layers with ReLU between them.

    Integers up to 127 are exact in bfloat16, so rows go in as they are; that a number between 0 and 127 does
    not drown one between 0 and 1 is seen to by a scale on the first layer's weights.
    """

    scale: Tensor

    def __init__(self, scale: npt.NDArray[np.float32], hidden: Sequence[int], outputs: int) -> None:
        """Make a network.

        Args:
            scale: float32[D], what the numbers of a row are multiplied with.
            hidden: widths of the hidden layers.
            outputs: width of the last layer.
        """
        super().__init__()
        widths = [len(scale), *hidden, outputs]
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(widths))
        self.register_buffer("scale", torch.from_numpy(scale.copy()), persistent=False)
        for layer in self.linears:
            nn.init.orthogonal_(layer.weight, 2.0**0.5)
            nn.init.zeros_(layer.bias)

    @property
    def linears(self) -> list[nn.Linear]:
        """The layers, first to last."""
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    def forward(self, rows: Tensor, precision: torch.dtype = torch.float32) -> Tensor:
        """Evaluate the network.

        Args:
            rows: int8[N, D].
            precision: data type of the matrix products.

        Returns:
            float32[N, outputs].
        """
        first, *others = self.linears
        weight = (first.weight * self.scale).to(precision)
        values = F.linear(rows.to(precision), weight, first.bias.to(precision))
        for layer in others:
            values = F.linear(F.relu_(values), layer.weight.to(precision), layer.bias.to(precision))
        return values.float()

    def folded(self) -> Layers:
        """Weights and biases of all layers over raw rows: what `agents.policy` plays."""
        layers = [
            (layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy())
            for layer in self.linears
        ]
        return fold_in_scale(layers, self.scale.numpy())


def has_fast_bfloat16() -> bool:
    """True if the processor multiplies bfloat16 itself, and PyTorch lets it; elsewhere float32 is faster.

    Asked, not measured, so that the answer is the same every time.
    """
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    ask = getattr(torch.cpu, "get_capabilities", None)  # older versions have not
    if ask is not None:
        return any(bool(has) for name, has in ask().items() if "bf16" in name)
    older = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, bool)() for name in older)


def chosen_precision(precision: Precision) -> Precision:
    """A key of `PRECISIONS`: for "auto" the one that is faster here."""
    if precision != "auto":
        return precision
    return "bfloat16" if has_fast_bfloat16() else "float32"


def actor_critic(tables: Sequence[Table], hidden: Sequence[int], features: int = 0) -> Perceptron:
    """A policy and a value in one network: a logit for each action, then the value, from the same layers."""
    scale = np.append(common_scale(tables), np.ones(features, np.float32))
    network = Perceptron(scale, hidden, tables[0].num_actions + 1)
    head = network.linears[-1]
    nn.init.orthogonal_(head.weight[:-1], _POLICY_GAIN)
    nn.init.orthogonal_(head.weight[-1:], 1.0)
    return network


def start_from(network: Perceptron, folder: str, table: Table, observation: Observations) -> None:
    """Give a network the weights of a policy.

    A network that does not see the rules can start from one that does: it plays the same at this table.

    Args:
        network: a network made by `actor_critic`.
        folder: the run folder of the policy.
        table: at which it can be played.
        observation: int8[1, D], of any position of the table.

    Raises:
        UnknownAgentError: there is no such policy, or it is not for this table.
        ValueError: its layers are not those of the network.
    """
    policy = PolicyAgent(table, folder=folder)
    layers = layers_at(policy, observation)
    ours = [tuple(layer.weight.shape) for layer in network.linears]
    theirs = [weight.shape for weight, _ in layers]
    if ours != theirs:
        raise ValueError(
            f"the policy in {folder!r} has layers of {theirs} (outputs, inputs), the network to be trained "
            f"has {ours}: give its --hidden, and --features as it was trained"
        )
    with torch.no_grad():
        for number, (layer, (weight, bias)) in enumerate(zip(network.linears, layers, strict=True)):
            unfolded = weight / network.scale.numpy() if number == 0 else weight
            layer.weight.copy_(torch.from_numpy(unfolded))
            layer.bias.copy_(torch.from_numpy(bias))


def layers_at(policy: PolicyAgent, observation: Observations) -> Layers:
    """The layers of a policy without what it is shown of the rules, if the table does not show them.

    At one table these numbers never change, so what the first layer makes of them belongs to its biases.

    Args:
        policy: made for the table.
        observation: int8[1, D], of any position of the table.

    Returns:
        The layers; those of the policy where the table shows the rules too, or the policy does not see them.
    """
    seen, table = policy.input_spec.observation, policy.table
    shown = {section.name for section in table.sections}
    if getattr(seen, "rules", 0) == 0:
        return policy.layers
    others = {section.name for section in table.rulebook.sections(table.rules, seen._replace(rules=0))}
    columns = [
        column
        for section in table.rulebook.sections(table.rules, seen)
        if section.name not in others | shown
        for column in range(section.start, section.start + section.size)
    ]
    (weight, bias), *later = policy.layers
    added = weight[:, columns].astype(np.float64) @ policy.inputs(observation)[0, columns]
    return [(np.delete(weight, columns, axis=1), (bias + added).astype(np.float32)), *later]


def common_scale(tables: Sequence[Table]) -> npt.NDArray[np.float32]:
    """The scale of rows that may come from any of the tables: float32[D], so that all lie in 0..1."""
    scale: npt.NDArray[np.float32] = np.min([observation_scale(table) for table in tables], axis=0)
    return scale


def oracle_critic(tables: Sequence[Table], hidden: Sequence[int]) -> Perceptron:
    """A value of rows that show everything; see `train.common.oracle`."""
    network = Perceptron(oracle_scale(common_scale(tables), tables[0].rules.players), hidden, 1)
    nn.init.orthogonal_(network.linears[-1].weight, 1.0)
    return network
