"""Agents that play the games, all with the interface of `agents.protocol`.

`load("holder:pile=30", env)` makes an agent by name; the path of a run folder loads the policy trained there,
`my_file.py:Class` makes an agent of your own, and `+search` after a compiled agent adds a lookahead search.
"""

from __future__ import annotations

import importlib

from millebornes_env._util.plugins import AGENT_MODULES
from millebornes_env.agents.champion import ChampionAgent
from millebornes_env.agents.compiled.agent import CompiledAgent
from millebornes_env.agents.millebornes.arnold.agent import ArnoldAgent
from millebornes_env.agents.millebornes.attacker import AttackerAgent
from millebornes_env.agents.millebornes.greedy import GreedyAgent
from millebornes_env.agents.millebornes.hoarder import HoarderAgent
from millebornes_env.agents.millebornes.holder import HolderAgent
from millebornes_env.agents.millebornes.racer import RacerAgent
from millebornes_env.agents.millebornes.strategist.agent import StrategistAgent
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.writing import fold_in_scale, save_policy_files
from millebornes_env.agents.protocol import Agent, BaseAgent, Table
from millebornes_env.agents.random import RandomAgent
from millebornes_env.agents.registry import AGENTS, Spec, load, make, name_of, names, register
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.specs import split_search
from millebornes_env.agents.wielerspel.bidder import BidderAgent
from millebornes_env.agents.wielerspel.escaper import EscaperAgent
from millebornes_env.agents.wielerspel.saver import SaverAgent
from millebornes_env.errors import AgentError

__all__ = [
    "AGENTS",
    "Agent",
    "AgentError",
    "ArnoldAgent",
    "AttackerAgent",
    "BaseAgent",
    "BidderAgent",
    "ChampionAgent",
    "CompiledAgent",
    "EscaperAgent",
    "GreedyAgent",
    "HoarderAgent",
    "HolderAgent",
    "PolicyAgent",
    "RacerAgent",
    "RandomAgent",
    "SaverAgent",
    "SearchAgent",
    "Spec",
    "StrategistAgent",
    "Table",
    "fold_in_scale",
    "load",
    "make",
    "name_of",
    "names",
    "register",
    "save_policy_files",
    "split_search",
]

for _module in AGENT_MODULES:  # after the rest: they import agents' modules
    importlib.import_module(_module)
