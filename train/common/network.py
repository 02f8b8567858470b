"""Initial state of a network of `train.selfplay`: the scale of its inputs, the weights of another policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from millebornes_env._util.network_files import Layers
from millebornes_env.agents.policy.agent import PolicyAgent, observation_scale
from millebornes_env.agents.protocol import Observations, Table
from millebornes_env.errors import AgentError
from train.common.games import Float32Array


def common_scale(tables: Sequence[Table]) -> Float32Array:
    """Return factors float32[D] that bring the rows of all tables to 0..1."""
    scale: Float32Array = np.min([observation_scale(table) for table in tables], axis=0)
    return scale


def start_layers(folder: str, table: Table, observation: Observations) -> Layers:
    """Load the layers of a policy for a network to start from, given any observation int8[1, D] of its table.

    A network that does not see the rules can start from a policy that does. At one table these inputs never
    change, so their contribution to the first layer is added to its biases.

    Raises:
        AgentError: there is no such policy, it is not for this table, or its units are not ReLUs.
    """
    policy = PolicyAgent(table, folder=folder)
    activation = policy.description["activation"]
    if activation != "relu":
        raise AgentError(f"the units of the policy in {folder!r} are {activation}: start from one with relu")
    spec = policy.input_spec.observation
    if getattr(spec, "rules", 0) == 0:
        return policy.layers
    shown = {section.name for section in table.sections}
    others = {section.name for section in table.rulebook.sections(table.rules, spec._replace(rules=0))}
    columns = [
        column
        for section in table.rulebook.sections(table.rules, spec)
        if section.name not in others | shown
        for column in range(section.start, section.start + section.size)
    ]
    (weight, bias), *later = policy.layers
    added = weight[:, columns].astype(np.float64) @ policy.inputs(observation)[0, columns]
    return [(np.delete(weight, columns, axis=1), (bias + added).astype(np.float32)), *later]
