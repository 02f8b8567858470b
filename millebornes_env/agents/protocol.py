"""The interface of agents: a batch of observations and masks in, a batch of actions out."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from millebornes_env._util.guard import Guard
from millebornes_env.agents.options import check_arguments
from millebornes_env.engine.kernels import SKIP
from millebornes_env.engine.layout import Section
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rulebook import Rulebook, StateArray
from millebornes_env.errors import AgentError, shown
from millebornes_env.games.registry import DEFAULT_GAME
from millebornes_env.games.registry import game as find_game
from millebornes_env.games.variants import Split

Observations = npt.NDArray[np.int8]
Masks = npt.NDArray[np.int8]
Actions = npt.NDArray[np.int64]
SlotIds = npt.NDArray[np.int64]


class Agent(Protocol):
    """An agent that chooses actions for a batch of games, from any seat: observations are relative.

    These members are required; `BaseAgent` has the optional ones.

    Attributes:
        name: name of the agent in tables of results.
    """

    name: str

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        """Choose an action for each row.

        Args:
            observations: int8[N, D], observations of the acting seats.
            action_masks: int8[N, A], 1 for legal actions; each row has at least one, unless its round is
                over.

        Returns:
            int64[N], a legal action for each row. For a finished round: any action that the mask allows, else
            SKIP (-1), which does not change the game.
        """
        ...


class BaseAgent:
    """The optional members of an agent with their defaults; a base class for your own agents.

    Deriving from it is optional. `agents.load` raises `AgentError` if members contradict each other.

    Two kinds of agents have additional members: a `StateAgent` receives states instead of observations, and a
    `CompiledAgent` is a compiled function that kernels call.

    Attributes:
        has_memory: True if the agent keeps a memory between calls. Then `act` takes a third argument
            `slot_ids`, int64[N] or None: one number for each game and seat (such as `game * players + seat`),
            which identifies the memory to use.
        sees_hidden_cards: True if the agent sees more than its seat does. Commands report this, and the arena
            rejects the agent unless cheating is allowed.
        is_compiled: True if the compiled function at `address`, called with `options`, chooses the same
            actions as `act` (`CompiledAgent`).
        table: the `Table` that the agent was made for, if any; `agents.load` rejects the agent at others.
        game: name of the game that the class plays; `agents.load` rejects it at tables of other games. None:
            any game, from observations and masks alone.
    """

    game: ClassVar[str | None] = None
    _guard: Guard
    """Detects concurrent calls of methods decorated with `alone` (`_util.guard`) or `one_or_many`."""
    has_memory: bool = False
    sees_hidden_cards: bool = False
    is_compiled: bool = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Raise an AgentError if an option is outside the range in its annotation (`options.Between`)."""
        check_arguments(cls, args, kwargs)
        agent = super().__new__(cls)
        object.__setattr__(agent, "_guard", Guard(kind="agent"))  # a frozen dataclass may derive from this
        return agent

    def forget(self) -> None:
        """Clear the memory of all slots; called before new matches start."""

    def forget_slots(self, slot_ids: SlotIds) -> None:
        """Clear the memory of some slots, int64[N], whose game has begun anew while others go on."""

    def loaded_arrays(self) -> Iterable[npt.NDArray[Any]]:
        """Return the arrays that it read from files: with its sources they make its fingerprint."""
        return ()


def one_or_many(act: Callable[[Any, Any, Any, Any], Actions]) -> Callable[..., Any]:
    """Extend the `act` of a `BaseAgent` with slot ids to single games.

    For an observation of shape [D], the method takes a mask [A] and one slot id, and returns an int. Only one
    thread may call it at a time.

    Raises:
        CallError: (the method) another call of the agent is in progress; that call is unaffected.
        AgentError: (the method) the argument is a dictionary instead of two arrays.
    """

    @functools.wraps(act)
    def call(self: BaseAgent, observations: Any, action_masks: Any = None, slot_ids: Any = None) -> Any:
        guard = self._guard
        if not guard.acquire(False):
            raise guard.error("act")
        try:
            if isinstance(observations, np.ndarray):
                is_one = observations.ndim == 1
            else:
                is_one = _is_one_row(self, observations)
            if not is_one:
                return act(self, observations, action_masks, slot_ids)
            masks = action_masks if np.ndim(action_masks) != 1 else np.asarray(action_masks)[np.newaxis]
            slots = slot_ids if slot_ids is None else np.asarray(slot_ids).reshape(-1)
            return int(act(self, np.asarray(observations)[np.newaxis], masks, slots)[0])
        finally:
            guard.release()

    return call


def _is_one_row(agent: Any, observations: Any) -> bool:
    """Return True for a flat sequence of numbers that is no array; raise an AgentError for a dictionary."""
    if isinstance(observations, Mapping):
        raise AgentError(
            f"{agent.name!r}: act takes arrays, not a dictionary: pass observations['observation'] and "
            "observations['action_mask']"
        )
    try:
        return np.ndim(observations) == 1 and len(observations) > 0
    except Exception:  # ragged rows, or an error in a user's `__array__`
        return False


@runtime_checkable
class StateAgent(Protocol):
    """An agent that takes game states, for playouts or to see hidden cards."""

    name: str

    def act_on(self, states: StateArray, seats: npt.NDArray[np.int32], slot_ids: SlotIds) -> Actions:
        """Choose an action for one seat of each game.

        Args:
            states: STATE[N], not modified.
            seats: int32[N], the acting seats.
            slot_ids: int64[N], see `BaseAgent.has_memory`.

        Returns:
            int64[N], a legal action for each game; SKIP (-1) where the round is over.
        """
        ...


class CompiledFunction(Agent, Protocol):
    """An agent with a compiled function that kernels can call.

    Attributes:
        options: int64[MAX_OPTIONS], settings passed to the function.
    """

    options: npt.NDArray[np.int64]

    @property
    def address(self) -> int:
        """The address of the function, for `call_at` in kernels."""
        ...


# Declared members; read only through these functions --------------------------------------------------------


def has_memory(agent: Agent) -> bool:
    """Return True if the agent's `act` takes slot ids."""
    return bool(getattr(agent, "has_memory", BaseAgent.has_memory))


def sees_hidden_cards(agent: Agent) -> bool:
    """Return True if the agent sees more than its seat does."""
    return bool(getattr(agent, "sees_hidden_cards", BaseAgent.sees_hidden_cards))


def is_compiled(agent: Agent) -> TypeGuard[CompiledFunction]:
    """Return True if kernels may call the agent's compiled function instead of `act`."""
    return bool(getattr(agent, "is_compiled", BaseAgent.is_compiled))


def is_state_agent(agent: object) -> TypeGuard[StateAgent]:
    """Return True if the agent takes game states (faster than `isinstance`, which checks every member)."""
    return hasattr(agent, "act_on")


def game_of(agent: object) -> str | None:
    """Return the game that an agent, or a class or function that makes one, declares; None: any."""
    named = getattr(agent if inspect.isclass(agent) else type(agent), "game", None)
    if named is None and inspect.isroutine(agent):
        named = getattr(agent, "game", None)
    return named if isinstance(named, str) else None


def plays(agent: object, game: str) -> bool:
    """Return True if an agent, or a class or function that makes one, does not rule out a game."""
    return game_of(agent) in (None, game)


def made_for(agent: Agent) -> Table | None:
    """Return the table that the agent was made for, if it declares one."""
    table = getattr(agent, "table", None)
    return table if isinstance(table, Table) else None


def forget(agent: Agent, slot_ids: SlotIds | None = None) -> None:
    """Call `forget` of an agent, or `forget_slots` for some slots, if it has that method."""
    name, arguments = ("forget", ()) if slot_ids is None else ("forget_slots", (slot_ids,))
    method = getattr(agent, name, None)
    if method is not None:
        method(*arguments)


def check_declarations(agent: Agent, name: str) -> None:
    """Raise if members of an agent contradict each other, or have names from an earlier version.

    Raises:
        AgentError: a member is wrong; the message says how to declare it.
    """
    problem = _problem_of_members(agent) or _problem_of_act(agent)
    if problem is not None:
        raise AgentError(f"{shown(name)}: {problem}")


def _problem_of_members(agent: Agent) -> str | None:
    if hasattr(agent, "is_honest"):
        return (
            "is_honest is called sees_hidden_cards now and means the opposite: instead of is_honest = False "
            "write sees_hidden_cards = True"
        )
    for flag in ("has_memory", "sees_hidden_cards", "is_compiled"):
        value = getattr(agent, flag, False)
        if not isinstance(value, (bool, np.bool_)):
            return f"{flag} is {shown(value)}; it must be True or False"
    game = getattr(type(agent), "game", None)
    if not (game is None or isinstance(game, str)):
        return (
            f"game is {shown(game)}; it must be the name of a game, such as {DEFAULT_GAME!r}, or None for all"
        )
    for method in ("forget", "forget_slots", "act_on"):
        if not callable(getattr(agent, method, len)):
            return f"{method} is {shown(getattr(agent, method))}; it must be a method"
    if is_compiled(agent) and not (hasattr(type(agent), "address") and hasattr(agent, "options")):
        return (
            "is_compiled is True, but it has no compiled function: omit is_compiled, or derive the class "
            "from millebornes_env.agents.compiled.agent.CompiledAgent"
        )
    return None


def _problem_of_act(agent: Agent) -> str | None:
    try:
        signature = inspect.signature(agent.act)
    except (TypeError, ValueError):  # a builtin without a signature
        return None
    if "places" in signature.parameters:
        return "places is now called slot_ids: rename the argument of act, and declare has_memory = True"
    if not has_memory(agent) and "slot_ids" in signature.parameters:
        return "act takes slot_ids, but has_memory is not declared: write has_memory = True in the class"
    slot_ids = {"slot_ids": None} if has_memory(agent) else {}
    try:
        signature.bind(None, None, **slot_ids)
    except TypeError as error:
        expected = "(self, observations, action_masks" + (", slot_ids" if slot_ids else "") + ")"
        declared = ", as has_memory is True" if slot_ids else ""
        return f"act must take {expected}{declared}: {error}"
    return None


# Choosing actions -------------------------------------------------------------------------------------------


def ask(
    agent: Agent,
    observations: Observations,
    action_masks: Masks,
    slot_ids: SlotIds,
    get_states: Callable[[], StateArray] | None = None,
    rulebook: Rulebook | None = None,
) -> Actions:
    """Return the actions of an agent; used for all agents that are not called by a kernel.

    Args:
        agent: any agent.
        observations: int8[N, D], observations of the acting seats.
        action_masks: int8[N, A].
        slot_ids: int64[N].
        get_states: returns STATE[N], copies of the games; called for a `StateAgent`. None: states are
            unavailable, so all agents receive observations.
        rulebook: rulebook of the games, if some rounds may be over; None: all are in progress.

    Returns:
        int64[N], not yet checked against the masks.

    Raises:
        AgentError: the agent did not return one action for each row. The agent's own errors pass through.
    """
    if get_states is not None and is_state_agent(agent):
        states = get_states()
        returned = agent.act_on(states, states["seat"].astype(np.int32), slot_ids)
        chosen = _as_actions("act_on", agent, returned, len(slot_ids))
        if rulebook is not None:
            fill_no_ops(action_masks, chosen, rounds_over(rulebook, states))
        return chosen
    if has_memory(agent):
        returned = agent.act(observations, action_masks, slot_ids=slot_ids)  # type: ignore[call-arg]
    else:
        returned = agent.act(observations, action_masks)
    return _as_actions("act", agent, returned, len(slot_ids))


def rounds_over(rulebook: Rulebook, states: StateArray) -> npt.NDArray[np.bool_]:
    """Return a mask of the games whose round is over, bool[N]."""
    is_over = plain(rulebook.is_round_over)
    return np.array([is_over(state) for state in states.view(np.recarray)], np.bool_)


def _as_actions(method: str, agent: Agent | StateAgent, returned: Any, count: int) -> Actions:
    """Convert the actions that an agent returned into a new array, int64[count]."""
    try:
        array = np.asarray(returned)
    except ValueError:  # rows of different lengths
        array = np.zeros(0, np.object_)
    if array.shape != (count,) or array.dtype.kind not in "iu":
        raise AgentError(
            f"{shown(agent.name)}: {method} returned {array.dtype}{list(array.shape)} for {count} rows; it "
            f"must be int64[{count}]"
        )
    return array.astype(np.int64)


def ask_in(env: GamesInPlay, agent: Agent, observations: dict[str, npt.NDArray[Any]]) -> Actions:
    """Return the actions of an agent, int64[N], for the acting seats of an environment; see `ask`.

    Args:
        env: the environment.
        agent: any agent.
        observations: observations from the environment's last step or reset.
    """
    slot_ids = np.arange(env.num_envs) * env.players + env.agent_selection
    rows, masks = observations["observation"], observations["action_mask"]
    return ask(agent, rows, masks, slot_ids, env.get_states, env.game.module())


def fill_no_ops(action_masks: Any, actions: Actions, ended: npt.NDArray[np.bool_]) -> None:
    """Fill in a no-op for finished rounds (`ended`, bool[N]): any legal action, else SKIP.

    An environment with autoreset accepts any action there; in others SKIP does not change the game.
    """
    actions[ended] = SKIP
    if action_masks is not None:
        masks: Masks = np.asarray(action_masks)
        allowed = ended & masks.any(axis=1)
        actions[allowed] = masks[allowed].argmax(axis=1)


@runtime_checkable
class TableSource(Protocol):
    """The members of the vector environment that a `Table` is made from."""

    edition: Any
    rules: Any
    observation_sections: tuple[Section, ...]
    observation_version: int
    single_action_space: Any

    @property
    def game(self) -> Any:
        """The game's entry in the registry."""


class GamesInPlay(TableSource, Protocol):
    """The members of the vector environment that `ask_in` uses."""

    num_envs: int
    players: int

    @property
    def agent_selection(self) -> npt.NDArray[Any]:
        """The acting seat in each game, int[N]."""
        ...

    def get_states(self) -> StateArray:
        """Return copies of the games, STATE[N]."""
        ...


@dataclass(frozen=True)
class Table:
    """A description of the table at which an agent plays.

    Attributes:
        edition: name of the rule sheet, with its overrides.
        rules: rules of the table, in the form of its game's rulebook.
        sections: layout of the observations.
        observation_version: version of that layout.
        num_actions: number of actions, A.
        game: name of the game.
        varies: True if each game has its own rules, drawn from the split `edition`; agents read them from
            observations, and `rules` has the largest values.
    """

    edition: str
    rules: Any
    sections: tuple[Section, ...]
    observation_version: int
    num_actions: int
    game: str = DEFAULT_GAME
    varies: bool = False

    @property
    def rulebook(self) -> Rulebook:
        """The rulebook of the game, for the engine.

        Raises:
            GameError: the game is no longer registered.
        """
        return find_game(self.game).module()

    @classmethod
    def of(cls, env: TableSource) -> Table:
        """Return the table of an environment.

        Raises:
            AgentError: the environment does not describe its table.
        """
        given: object = env
        if isinstance(given, type) or not isinstance(given, TableSource):
            raise AgentError(f"Table.of takes a vector environment, not {shown(given)}")
        return cls(
            edition=env.edition.label,
            rules=env.rules,
            sections=env.observation_sections,
            observation_version=env.observation_version,
            num_actions=int(env.single_action_space.n),
            game=env.game.name,
            varies=isinstance(env.edition, Split),
        )

    def section(self, observations: Observations, name: str) -> npt.NDArray[np.int64]:
        """Return one section of the observations as int64[N, size], wide enough for arithmetic."""
        for section in self.sections:
            if section.name == name:
                return observations[:, section.start : section.stop].astype(np.int64)
        raise KeyError(f"the observations have no section {name!r}")


def best_legal(preference: npt.NDArray[np.int64], action_masks: Masks) -> Actions:
    """Return the legal action with the highest preference, int64[N]; of equal ones the lowest.

    Args:
        preference: int64[A] or int64[N, A].
        action_masks: int8[N, A]; SKIP is returned for rows without a legal action.
    """
    is_legal = action_masks != 0
    chosen = np.where(is_legal, preference, np.iinfo(np.int64).min).argmax(axis=1)
    actions: Actions = np.where(is_legal.any(axis=1), chosen, SKIP)
    return actions
