"""The registry of named agents, and the parser of agent specs."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from millebornes_env._util.arguments import checked_seed
from millebornes_env.agents.champion import ChampionAgent
from millebornes_env.agents.compiled.agent import CompiledAgent
from millebornes_env.agents.millebornes.arnold.agent import ArnoldAgent
from millebornes_env.agents.millebornes.attacker import AttackerAgent
from millebornes_env.agents.millebornes.greedy import GreedyAgent
from millebornes_env.agents.millebornes.hoarder import HoarderAgent
from millebornes_env.agents.millebornes.holder import HolderAgent
from millebornes_env.agents.millebornes.racer import RacerAgent
from millebornes_env.agents.millebornes.strategist.agent import StrategistAgent
from millebornes_env.agents.options import defaults_of, signature_of
from millebornes_env.agents.own_classes import HOW_TO_NAME, find_class, make_own
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.memory import MemoryAgent, has_memory_network
from millebornes_env.agents.protocol import (
    Agent,
    CompiledFunction,
    Table,
    TableSource,
    check_declarations,
    game_of,
    is_compiled,
    made_for,
    plays,
)
from millebornes_env.agents.random import RandomAgent
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.over import search_over
from millebornes_env.agents.specs import (
    POLICY,
    ROLLOUT,
    SEARCH_SUFFIX,
    is_folder,
    is_path,
    options_of,
    rollout_spec,
    split_class,
    split_search,
)
from millebornes_env.agents.wielerspel.bidder import BidderAgent
from millebornes_env.agents.wielerspel.escaper import EscaperAgent
from millebornes_env.agents.wielerspel.saver import SaverAgent
from millebornes_env.errors import AgentError, shown

Spec = str | Path | Agent
"""A reference to an agent: its name with options, a run folder, or the agent itself."""

AGENTS: Final[dict[str, Callable[..., Agent]]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "holder": HolderAgent,
    "arnold": ArnoldAgent,
    "racer": RacerAgent,
    "attacker": AttackerAgent,
    "hoarder": HoarderAgent,
    "strategist": StrategistAgent,
    "saver": SaverAgent,
    "escaper": EscaperAgent,
    "bidder": BidderAgent,
    "search": SearchAgent,
    "policy": PolicyAgent,
    "champion": ChampionAgent,
}
"""The registered agents: a class or function for each name."""


def names(game: str | None = None) -> tuple[str, ...]:
    """Return the names of the registered agents.

    Args:
        game: name of a game, to list only agents that can play it; None: all.
    """
    return tuple(name for name, maker in AGENTS.items() if game is None or plays(maker, game))


def register(name: str, make: Callable[..., Agent]) -> None:
    """Register an agent of your own under a name, for `load`, `evaluate` and all other functions.

    Args:
        name: name of the agent; an existing name is replaced.
        make: called with a `Table`, a seed and the options after the colon.

    Raises:
        AgentError: the name is not a text that `load` could find, or `make` is not callable.
    """
    given: object = name
    named = given if isinstance(given, str) else ""
    if not named.isprintable() or not named.strip() or any(mark in named for mark in (":", SEARCH_SUFFIX)):
        raise AgentError(
            f"invalid agent name {shown(given)}: it must be printable text without ':' and {SEARCH_SUFFIX!r}"
        )
    if not callable(make):
        raise AgentError(f"the factory of the agent {shown(named)} is {shown(make)}, which is not callable")
    AGENTS[named] = make


def load(spec: Spec, env: Any, seed: int = 0) -> Agent:
    """Make an agent for the table of an environment.

    Args:
        spec: `name`, `name:option=value,option=value`, `policy:<run folder>`, the path of a run folder, or a
            class of your own as `my_file.py:Class:option=value` or `module:Class:option=value`. Compiled
            agents may be followed by `+search` or `+search:option=value`. A `Path` is always a run folder,
            whatever its name; an agent object is returned unchanged.
        env: the vector or AEC environment (`VectorEnv`, `raw_env`) to play in.
        seed: seed of the agent's own random numbers, 0 to 2**64 - 1.

    Returns:
        The agent; its `name` is the spec as given.

    Raises:
        AgentError: the agent or option does not exist; members of the agent contradict each other; an
            option has an invalid value; the run folder is missing, damaged or for another table; `+search`
            follows an agent that is not compiled, or has an invalid option; the agent plays another game or
            was made for another table; or `env` is not an environment.
        OptionError: the seed is invalid.
    """
    games = getattr(env, "vector", env)  # an AEC environment is a vector environment of one game
    if isinstance(games, type) or not isinstance(games, TableSource):
        raise AgentError(
            f"agents.load takes an environment made by vector_env(...) or millebornes_v0.env(...), not "
            f"{shown(env)}; gymnasium.make and make_vec take the name of an agent as opponent=..."
        )
    return make(spec, Table.of(games), seed)


def make(spec: Spec, table: Table, seed: int = 0) -> Agent:
    """Make an agent for a table; see `load`.

    Raises:
        AgentError: the table is not a `Table`; or as in `load`.
    """
    given: object = table
    if not isinstance(given, Table):
        raise AgentError(f"agents.make takes a Table, such as Table.of(env), not {shown(given)}")
    seed = checked_seed(seed)
    if isinstance(spec, Path):
        return _named(_of_folder(str(spec))(table, seed, folder=str(spec)), str(spec))
    if not isinstance(spec, str):
        return _checked(spec, table)
    rollout, search_options = split_search(spec)
    if search_options is not None:
        return _named(_search(spec, rollout, search_options, table, seed), spec)
    name, _, rest = spec.partition(":")
    if spec == POLICY and is_folder(spec):  # a run folder of that name, as the agent needs a folder anyway
        rest = spec
    if name in AGENTS:
        return _named(_registered(spec, AGENTS[name], rest, table, seed), spec)
    named = split_class(spec)
    maker = None if named is None else find_class(named)
    if named is not None and maker is not None:
        _check_game(spec, maker, table)
        options = _with_rollout_agent(maker, options_of(spec, maker, named.options), table, seed)
        return _named(make_own(spec, maker, table, seed, options), spec)
    if is_path(spec):
        return _named(_of_folder(spec)(table, seed, folder=spec), spec)
    close = difflib.get_close_matches(name, names(table.game), n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    module = "" if named is None else ", and no module of that name"
    raise AgentError(
        f"there is no agent {shown(name)}{module}; the agents are {', '.join(names(table.game))}, "
        f"the path of a run folder, or {HOW_TO_NAME}.{hint}"
    )


def _registered(spec: str, maker: Callable[..., Agent], text: str, table: Table, seed: int) -> Agent:
    """Make a registered agent."""
    _check_game(spec.partition(":")[0], maker, table)
    options = _with_rollout_agent(maker, options_of(spec, maker, text), table, seed)
    try:
        signature_of(maker).bind(table, seed, **options)
    except TypeError as error:
        raise AgentError(f"{shown(spec)}: {error}; its options are {', '.join(defaults_of(maker))}") from None
    if maker is PolicyAgent:
        maker = _of_folder(options.get("folder", ""))
    agent = maker(table, seed, **options)
    _check_game(spec, agent, table)
    return agent


def _of_folder(folder: str) -> Callable[..., Agent]:
    """Return the class that plays the network of a run folder."""
    return MemoryAgent if has_memory_network(folder) else PolicyAgent


def _check_game(name: str, agent: object, table: Table) -> None:
    """Raise an AgentError if an agent, or a class or function that makes one, plays another game."""
    if not plays(agent, table.game):
        raise AgentError(
            f"{shown(name)} plays {game_of(agent)}, not {table.game}; agents that play it: "
            f"{', '.join(names(table.game))}"
        )


def name_of(spec: Spec) -> str:
    """Return the name of an agent that is specified by name, by folder or as an object."""
    return spec if isinstance(spec, str) else str(spec) if isinstance(spec, Path) else spec.name


def _checked(agent: Agent, table: Table) -> Agent:
    """Return an existing agent; raise AgentError for another object, or an agent of another table."""
    try:
        has_name, can_act = isinstance(agent.name, str), callable(agent.act)
    except Exception:  # a missing member, or a property that raises
        has_name = can_act = False
    if isinstance(agent, type) or not (has_name and can_act):
        raise AgentError(
            f"{shown(agent)} is not an agent: expected the name of an agent, the path of a run folder, or an "
            "object with a name and a method act"
        )
    _check_game(agent.name, agent, table)
    own = made_for(agent)
    if own is not None and (own.game, own.rules, own.sections) != (table.game, table.rules, table.sections):
        raise AgentError(
            f"{shown(agent.name)} was made for {own.edition}, {own.rules.players} players; this table is "
            f"{table.edition}, {table.rules.players} players, or has other observations: make the agent for "
            "this table"
        )
    check_declarations(agent, agent.name)
    return agent


def _search(spec: str, rollout: str, text: str, table: Table, seed: int) -> Agent:
    """Make the searcher of a spec `X+search`."""
    _check_game("search", SearchAgent, table)
    options = options_of(spec, SearchAgent, text)
    if ROLLOUT in options:
        raise AgentError(f"{shown(spec)} names its rollout agent twice; omit the option rollout")
    return search_over(_compiled_agent(rollout, table, seed), table, seed, **options)


def _with_rollout_agent(
    maker: Callable[..., Agent], options: dict[str, Any], table: Table, seed: int
) -> dict[str, Any]:
    """Return the options of an agent, with the rollout agent of `search` in place of its name."""
    if not (ROLLOUT in options and inspect.isclass(maker) and issubclass(maker, SearchAgent)):
        return options
    return options | {ROLLOUT: rollout_agent(options[ROLLOUT], table, seed)}


def rollout_agent(text: str, table: Table, seed: int = 0) -> CompiledFunction:
    """Make the agent named by the option `rollout` of `search`; see `load`.

    Args:
        text: spec as for `load`, but with `+` or `;` between its options.
        table: the table to play at.
        seed: seed of the agent's own random numbers.

    Raises:
        AgentError: the agent is not compiled; the agent or option does not exist; or the policy is not
            playable.
    """
    agent = _compiled_agent(rollout_spec(text), table, seed)
    agent.name = text
    return agent


def _compiled_agent(spec: str, table: Table, seed: int) -> CompiledFunction:
    """Make a compiled agent for search; raises the same errors as `rollout_agent`."""
    name = spec.partition(":")[0]
    compiled = [known for known in names(table.game) if _makes_compiled(AGENTS[known])]
    is_found_elsewhere = name not in AGENTS and (is_path(spec) or split_class(spec) is not None)
    if name not in compiled and not is_found_elsewhere:
        raise AgentError(
            f"the rollout agent is {shown(spec)}; it must be one of the compiled agents: "
            f"{', '.join(compiled) or 'none is registered'} (with options as in 'holder:pile=30'; inside the "
            "option rollout, separate them by + instead of a comma)"
        )
    agent = make(spec, table, seed)
    if not is_compiled(agent):
        raise AgentError(f"the rollout agent is {shown(spec)}, which is not a compiled agent")
    return agent


def _makes_compiled(maker: Callable[..., Agent]) -> bool:
    return inspect.isclass(maker) and issubclass(maker, CompiledAgent) and maker.is_compiled


def _named(agent: Agent, spec: str) -> Agent:
    """Check the declarations of a new agent, and set its name to the spec."""
    check_declarations(agent, spec)
    try:
        agent.name = spec
    except AttributeError:
        raise AgentError(
            f"{shown(spec)}: the name of its agent cannot be set; make name a plain attribute"
        ) from None
    return agent
