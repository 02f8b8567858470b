"""Conformance checks of users' agents, editions, environments, states and steps.

Each check returns None if it passes, and otherwise raises `ConformanceError`, an `AssertionError` whose
message says what is wrong, where, and how to fix it. docs/environment/extend.md describes all checks.
"""

from millebornes_env.errors import ConformanceError
from millebornes_env.testing.agents import check_agent
from millebornes_env.testing.editions import check_edition
from millebornes_env.testing.envs import check_env
from millebornes_env.testing.states import check_state, check_step, perft

__all__ = [
    "ConformanceError",
    "check_agent",
    "check_edition",
    "check_env",
    "check_state",
    "check_step",
    "perft",
]
