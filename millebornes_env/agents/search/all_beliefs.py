"""The beliefs by the names that search's option `belief` gives them."""

from __future__ import annotations

from typing import Any, Final

from millebornes_env.agents.protocol import CompiledFunction, Table
from millebornes_env.agents.search.beliefs import POLICY, UNIFORM, Belief, PolicyBelief, UniformBelief
from millebornes_env.agents.search.hand_files import is_hand_network
from millebornes_env.agents.search.network_belief import NetworkBelief

NETWORK: Final = "network"
BELIEFS: Final = (UNIFORM, POLICY, NETWORK)
"""The values of search's option `belief`, besides the folder of a network."""


def is_belief(name: str) -> bool:
    """Return True if search accepts this value of its option `belief`."""
    return name in BELIEFS or is_hand_network(name)


def belief_named(name: str, table: Table, rollout: CompiledFunction, **options: Any) -> Belief:
    """The belief that search's option names.

    Args:
        name: one of BELIEFS, or the folder of a network that `train.tools.belief` has fitted.
        table: the table.
        rollout: the rollout agent.
        **options: of `PolicyBelief`.

    Raises:
        UnknownAgentError: there is no network for the table, or it is damaged.
    """
    if name == UNIFORM:
        return UniformBelief()
    if name == POLICY:
        return PolicyBelief(table, rollout, **options)
    return NetworkBelief(table, "" if name == NETWORK else name)
