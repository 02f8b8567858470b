"""Fingerprints of agents, sixteen hexadecimal digits: agents with equal fingerprints play the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from millebornes_env.agents.decoder import decoder_of
from millebornes_env.agents.own_classes import sources_of_class
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.memory import MemoryAgent
from millebornes_env.agents.policy.network import features_of
from millebornes_env.agents.protocol import Agent, BaseAgent, is_compiled, made_for
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.engine.numba.cache import source_digest, sources_on_top


def _sources_of_game(agent: Agent) -> frozenset[Path]:
    """Return the source files of a compiled agent's game: its rulebook, decoder and features."""
    table, files = made_for(agent), frozenset[Path]()
    if table is None or not is_compiled(agent):
        return files
    rulebook: Any = table.rulebook
    for part in (rulebook, decoder_of(rulebook), features_of(rulebook)):
        files = sources_on_top(part.__name__, files)
    return files


def fingerprint(agent: Agent, spec: str) -> str:
    """Return a digest of an agent's spec, its sources with those of the rulebook, and its networks.

    For an agent of your own, the sources are the file of its class and the files next to it that it imports.
    """
    module = type(agent).__module__
    files = sources_on_top(module) | sources_of_class(module) | _sources_of_game(agent)
    digest = hashlib.sha256(source_digest(files).encode())
    digest.update(spec.encode())
    if isinstance(agent, PolicyAgent | MemoryAgent):
        digest.update(json.dumps(agent.description, sort_keys=True).encode())
    if isinstance(agent, BaseAgent):
        for array in agent.loaded_arrays():
            digest.update(array.tobytes())
    if isinstance(agent, SearchAgent):
        digest.update(fingerprint(agent.rollout_agent, agent.rollout_agent.name).encode())
    return digest.hexdigest()[:16]
