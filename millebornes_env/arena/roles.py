"""The agents of a lineup as compiled code takes them, and who stands in for those that are not compiled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from millebornes_env.agents import make
from millebornes_env.agents.compiled.agent import MEMORY
from millebornes_env.agents.errors import AgentArgumentError
from millebornes_env.agents.policy.files import RunFolderError
from millebornes_env.agents.protocol import Agent, CompiledFunction, Table, is_compiled
from millebornes_env.arena.batch import Lookahead, Roles, no_roles
from millebornes_env.engine.rulebook import StateArray

Deciders = Sequence[CompiledFunction | None]
"""Who says what the agents of a lineup would do, one for each role (`stand_in`); None: nobody does."""


def roles_of(agents: Deciders) -> Roles:
    """The functions and options of some agents; of None, zeros."""
    roles = no_roles(len(agents))
    for role, agent in enumerate(agents):
        if agent is not None:
            roles.choose[role] = agent.address
            roles.options[role] = agent.options
    return roles


def lookahead_of(deciders: Deciders, players: int, states: StateArray) -> Lookahead:
    """Room to try what the roles would do.

    Args:
        deciders: T, who says it.
        players: S, seats at the table.
        states: STATE[2], overwritten whenever something is tried.
    """
    return Lookahead(
        np.array([agent is not None for agent in deciders], np.bool_),
        roles_of(deciders),
        states,
        np.zeros((1, players, MEMORY), np.int16),
        np.zeros(1, np.int32),
    )


def stand_in(agent: Agent, table: Table) -> CompiledFunction | None:
    """The compiled agent that says best what an agent would do; None, if there is none.

    That is the agent itself, the one that its search plays rounds out with, or the table's champion.
    """
    for candidate in (agent, getattr(agent, "rollout_agent", None)):
        if candidate is not None and is_compiled(candidate):
            return candidate
    return champion_of(table)


def champion_of(table: Table) -> CompiledFunction | None:
    """The champion that plays the table; None, if there is none."""
    try:
        champion = make("champion", table)
    except (RunFolderError, AgentArgumentError):  # the table has none
        return None
    return champion if is_compiled(champion) else None
