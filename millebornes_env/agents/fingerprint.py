"""What an agent is made of, in sixteen hexadecimal digits: two agents with the same play the same."""

from __future__ import annotations

import hashlib
import json

from millebornes_env.agents.own_classes import sources_of_class
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.protocol import Agent
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.compile_cache import source_digest, sources_on_top


def fingerprint(agent: Agent, spec: str) -> str:
    """A digest of the agent's specification, of its sources with those of the rulebook, and of its network.

    Args:
        agent: loaded.
        spec: what it was loaded by.

    Returns:
        Sixteen hexadecimal digits. Of an agent of your own, the file of its class counts, and the files
        beside it that it imports.
    """
    module = type(agent).__module__
    files = sources_on_top(module) | sources_of_class(module)
    digest = hashlib.sha256(source_digest(files).encode())
    digest.update(spec.encode())
    if isinstance(agent, PolicyAgent):
        digest.update(json.dumps(agent.description, sort_keys=True).encode())
        for layer in agent.layers:
            for array in layer:
                digest.update(array.tobytes())
    if isinstance(agent, SearchAgent):
        digest.update(fingerprint(agent.rollout_agent, agent.rollout_agent.name).encode())
    return digest.hexdigest()[:16]
