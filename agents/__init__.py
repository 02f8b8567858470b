"""Agents that play Mille Bornes: one file for each, one protocol for all.

`load("holder:pile=30", env)` makes one by name; a run folder's path makes the policy that was trained there,
and `+search` behind a compiled agent makes search that looks ahead with it.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from typing import Any, Final

from agents.arnold import ArnoldAgent
from agents.attacker import AttackerAgent
from agents.champion import ChampionAgent
from agents.greedy import GreedyAgent
from agents.hoarder import HoarderAgent
from agents.holder import HolderAgent
from agents.human import HumanAgent
from agents.policy import PolicyAgent, RunFolderError
from agents.policy_files import is_folder
from agents.protocol import Agent, Table
from agents.racer import RacerAgent
from agents.random import RandomAgent
from agents.search import SearchAgent, search_over
from agents.strategist import StrategistAgent
from millebornes_env import VectorEnv
from millebornes_env.envs.aec import raw_env

AGENTS: Final[dict[str, Callable[..., Agent]]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "holder": HolderAgent,
    "arnold": ArnoldAgent,
    "racer": RacerAgent,
    "attacker": AttackerAgent,
    "hoarder": HoarderAgent,
    "strategist": StrategistAgent,
    "search": SearchAgent,
    "policy": PolicyAgent,
    "champion": ChampionAgent,
    "human": HumanAgent,
}
"""Every agent that has a name."""

SEARCH_SUFFIX: Final = "+search"
"""Behind what a compiled agent is loaded by: search over it, with options of its own behind a colon."""


class UnknownAgentError(ValueError):
    """No agent of that name, or none with such an option; the message lists those there are."""


def register(name: str, make: Callable[..., Agent]) -> None:
    """Give an agent of your own a name, for `load`, `train.evaluate` and all who take names.

    Args:
        name: how it is called; a name that is taken is taken over.
        make: called with a `Table`, a seed and the options after the colon.
    """
    AGENTS[name] = make


def load(spec: str, env: VectorEnv | raw_env, seed: int = 0) -> Agent:
    """Make an agent for the table of an environment.

    Args:
        spec: `name`, `name:option=value,option=value`, `policy:<run folder>`, or the path of a run folder;
            each of them, if the agent is compiled, with `+search` or `+search:option=value` behind it.
        env: the vector or AEC environment whose table it will play at.
        seed: of the agent's own random numbers.

    Returns:
        The agent; its `name` is the spec as given.

    Raises:
        UnknownAgentError: no such agent or option.
        RunFolderError: a run folder that is missing, damaged or for another table.
        SearchOptionError: `+search` behind an agent that is not compiled, or an option that cannot be.
    """
    return make(spec, Table.of(env.vector if isinstance(env, raw_env) else env), seed)


def make(spec: str, table: Table, seed: int = 0) -> Agent:
    """Make an agent for a table; see `load`."""
    rollout, search_options = split_search(spec)
    if search_options is not None:
        return _named(_search(spec, rollout, search_options, table, seed), spec)
    name, _, rest = spec.partition(":")
    if name not in AGENTS:
        if spec and (is_folder(spec) or "/" in spec):
            return _named(PolicyAgent(table, seed, folder=spec), spec)
        close = difflib.get_close_matches(name, AGENTS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UnknownAgentError(
            f"there is no agent {name!r}; the agents are {', '.join(AGENTS)}, "
            f"or the path of a run folder.{hint}"
        )
    maker = AGENTS[name]
    options = _options(spec, maker, rest)
    try:
        inspect.signature(maker).bind(table, seed, **options)
    except TypeError as error:
        raise UnknownAgentError(f"{spec!r}: {error}; its options are {', '.join(_defaults(maker))}") from None
    return _named(maker(table, seed, **options), spec)


def split_search(spec: str) -> tuple[str, str | None]:
    """The agent that is searched over, and the options of the search; None if there is none.

    A run folder may have a name that ends in `+search`: it is meant if it is there.
    """
    rollout, found, options = spec.rpartition(SEARCH_SUFFIX)
    folder = spec.removeprefix("policy:").removeprefix("folder=").split(",")[0]
    if not (rollout and found) or options[:1] not in ("", ":") or is_folder(folder):
        return spec, None
    return rollout, options[1:]


def _search(spec: str, rollout: str, text: str, table: Table, seed: int) -> Agent:
    options = _options(spec, SearchAgent, text)
    if "rollout" in options:
        raise UnknownAgentError(f"{spec!r} names its rollout agent twice; leave the option rollout away")
    return search_over(rollout, table, seed, **options)


def _named(agent: Agent, spec: str) -> Agent:
    agent.name = spec
    return agent


def _options(spec: str, maker: Callable[..., Agent], text: str) -> dict[str, Any]:
    known = _defaults(maker)
    options: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals and "folder" in known and part not in known:
            name, value = "folder", part
        if name not in known:
            raise UnknownAgentError(
                f"{spec!r}: unknown option {name!r}; the options are {', '.join(known) or 'none'}"
            )
        try:
            options[name] = _value(value, known[name], equals)
        except (ValueError, KeyError):
            raise UnknownAgentError(
                f"{spec!r}: the option {name} is {value!r}; it must be like {known[name]!r}"
            ) from None
    return options


def _defaults(maker: Callable[..., Agent]) -> dict[str, Any]:
    """The options of an agent and their defaults; a text where there is none."""
    return {
        name: "" if parameter.default in (inspect.Parameter.empty, None) else parameter.default
        for name, parameter in inspect.signature(maker).parameters.items()
        if name not in ("table", "seed")
    }


def _value(text: str, default: Any, equals: str) -> Any:
    """The value of an option, of the type of its default; a yes-or-no option may stand alone."""
    if isinstance(default, bool):
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
            text.lower() if equals else "1"
        ]
    return type(default)(text)


__all__ = [
    "AGENTS",
    "Agent",
    "RunFolderError",
    "Table",
    "UnknownAgentError",
    "load",
    "make",
    "register",
    "split_search",
]
