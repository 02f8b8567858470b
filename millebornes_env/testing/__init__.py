"""What users test with: their agents, editions and environments, their states and steps.

Each check returns if all is well and raises `ConformanceError`, an `AssertionError`, if not: what is wrong,
where, and what to do about it. docs/testing.md shows them all.
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
