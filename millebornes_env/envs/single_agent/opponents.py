"""Makes the opponents, agents in all seats but the learner's; `kernels.play_on` plays them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env._util.texts import items_of
from millebornes_env.agents import Spec, make
from millebornes_env.agents.compiled.agent import MAX_OPTIONS
from millebornes_env.agents.protocol import Agent, Table, ask, forget, is_compiled
from millebornes_env.engine.rulebook import StateArray, TableRules
from millebornes_env.envs.single_agent.kernels import MIN_FUNCTIONS, NOBODY, Others
from millebornes_env.errors import AgentError, OptionError, shown

Function = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8]], npt.ArrayLike]
"""Function from observations int8[N, D] and action masks int8[N, A] to actions [N]: an agent's `act`, say."""


class Model(Protocol):
    """A trained model that takes action masks, such as MaskablePPO of sb3-contrib."""

    def predict(self, observation: Any, *, action_masks: Any) -> tuple[npt.NDArray[Any], Any]:
        """Return actions for observations in the learner's format, and a state, which is ignored."""
        ...


OpponentSpec = Spec | Function | Model | Sequence[Spec | Function | Model]
"""One opponent for all seats, or a list."""

_MAX_OPPONENTS = 1 << 10


class FunctionAgent:
    """Agent that calls a function of observations and masks.

    Attributes:
        name: name of the function.
    """

    def __init__(self, function: Function) -> None:
        """Wrap a function that chooses actions."""
        self.name = str(getattr(function, "__name__", type(function).__name__))
        self._function = function

    def act(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """Return the actions of the function."""
        return self._function(observations, action_masks)  # type: ignore[return-value] # `ask` checks it


View = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8]], Any]
"""Function from observations and action masks to observations in the learner's format."""


class ModelAgent:
    """Agent that queries a trained model, with observations in the learner's format.

    Attributes:
        name: name of the model's class.
    """

    def __init__(self, model: Any, view: View) -> None:
        """Wrap a model whose `predict` takes `action_masks`, such as MaskablePPO of sb3-contrib.

        Raises:
            OptionError: `predict` takes no `action_masks`.
        """
        options = inspect.signature(model.predict).parameters.values()
        if not any(one.name == "action_masks" or one.kind is one.VAR_KEYWORD for one in options):
            raise OptionError(
                f"the opponent is {shown(model)}, but its predict() takes no action_masks, so it would play "
                "illegal actions; use MaskablePPO of sb3-contrib or a function of observations and masks"
            )
        self.name, self._model, self._view = type(model).__name__, model, view

    def act(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """Return the actions that the model predicts."""
        view, masks = self._view(observations, action_masks), action_masks.astype(np.bool_)
        return np.asarray(self._model.predict(view, action_masks=masks)[0])


def _as_spec(opponent: Any, view: View) -> Any:
    """Return an opponent in a form that `agents.make` takes: functions and models become agents."""
    if hasattr(opponent, "predict") and not hasattr(opponent, "act"):
        return ModelAgent(opponent, view)
    is_function = callable(opponent) and not isinstance(opponent, type) and not hasattr(opponent, "act")
    return FunctionAgent(opponent) if is_function else opponent


def specs_by_offset(opponent: object, partner: object, rules: TableRules, view: View) -> list[Spec]:
    """Return the specs of the other seats' agents, from the learner's left on.

    `opponent` and `partner` are as in `SingleAgentEnv`; `view` converts observations for models.

    Raises:
        OptionError: list of the wrong length, partner for a learner without one, or model without masks.
    """
    players, teams = rules.players, rules.teams
    listed = _listed(opponent)
    offsets = range(1, players)
    if partner is not None and players == teams:
        raise OptionError(
            f"partner is {shown(partner)}, but at this table each seat plays alone: leave it out"
        )
    if listed is None:
        chosen: list[Any] = [opponent] * len(offsets)
    elif len(listed) == players - 1:
        chosen = listed
    elif len(listed) == teams - 1:
        chosen = [listed[max(offset % teams, 1) - 1] for offset in offsets]
    else:
        by_team = "" if players == teams else f", or {teams - 1}, one for each other team"
        raise OptionError(
            f"opponent is a list of {len(listed)}; it must have {players - 1}, one for each other seat from "
            f"the learner's left on{by_team}; or be a single agent for all seats"
        )
    if partner is not None:
        seats = zip(offsets, chosen, strict=True)
        chosen = [partner if offset % teams == 0 else one for offset, one in seats]
    agents = {id(one): _as_spec(one, view) for one in chosen}  # a function in several seats is one agent
    return [agents[id(one)] for one in chosen]


def _listed(opponent: object) -> list[Any] | None:
    """Return a list of opponents as a list; None for a single opponent."""
    if isinstance(opponent, (str, Path)) or not isinstance(opponent, Sequence):
        return None
    return items_of(opponent, _MAX_OPPONENTS)


def _seed_of(seed: int, number: int) -> int:
    """Return a distinct seed for each agent's random numbers."""
    return int(np.random.SeedSequence((seed, number)).generate_state(1, np.uint64)[0])


class Opponents:
    """The agents in the other seats.

    Attributes:
        agents: the distinct agents; one agent can have several seats.
        all_compiled: True if all agents are compiled functions.
        others: the agents in the form that the compiled loop takes.
    """

    def __init__(self, specs: Sequence[Spec], table: Table, others: tuple[int, int]) -> None:
        """Create the agents from `specs_by_offset`; `others` are `fixed_seat` and `restarts` of `Others`.

        Raises:
            AgentError: no such agent, or it does not play this game.
            MilleBornesError: `agents.make` raised another error.
        """
        self._table = table
        self._specs: list[Spec] = []
        agent_at = np.full(len(specs) + 1, NOBODY, np.int32)
        for offset, spec in enumerate(specs, 1):
            number = next((n for n, known in enumerate(self._specs) if _is_same(known, spec)), -1)
            if number < 0:
                number = len(self._specs)
                self._specs.append(spec)
            agent_at[offset] = number
        self._agent_at, self._fixed_seat, self._restarts = agent_at, *others
        self.agents: list[Agent] = [make(spec, table) for spec in self._specs]
        self.all_compiled = all(map(is_compiled, self.agents))
        self.others = self._for_kernels()

    def begin(self, seed: int | None) -> None:
        """Reset the memory of all agents at the reset of all games.

        With a seed, agents that were given by name or path are created again; those that were passed as
        objects keep their random state.
        """
        for number, (spec, agent) in enumerate(zip(self._specs, self.agents, strict=True)):
            if is_compiled(agent):
                continue  # their random numbers and memories are stored with the games
            if seed is not None and isinstance(spec, (str, Path)):
                self.agents[number] = make(spec, self._table, _seed_of(seed, number))
            else:
                forget(agent)

    def forget_slots(self, slot_ids: npt.NDArray[np.int64]) -> None:
        """Let all agents that are not compiled forget some games."""
        for agent in self.agents:
            if not is_compiled(agent):
                forget(agent, slot_ids)

    def _for_kernels(self) -> Others:
        count = max(MIN_FUNCTIONS, len(self.agents))
        options = np.zeros((count, MAX_OPTIONS), np.int64)
        compiled = np.zeros(count, np.bool_)
        addresses: list[Any] = [0] * count
        for number, agent in enumerate(self.agents):
            if is_compiled(agent):
                compiled[number], options[number] = True, agent.options
                addresses[number] = agent.address
        return Others(tuple(addresses), options, compiled, self._agent_at, self._fixed_seat, self._restarts)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "others"}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self.others = self._for_kernels()  # addresses may be those of another process

    def choose(
        self,
        number: int,
        observations: npt.NDArray[np.int8],
        action_masks: npt.NDArray[np.int8],
        slot_ids: npt.NDArray[np.int64],
        get_states: Callable[[], StateArray],
    ) -> npt.NDArray[np.int64]:
        """Return an agent's actions for some games; see `agents.protocol.ask`.

        Raises:
            AgentError: the agent raised an error, or did not return an action for each row.
        """
        agent = self.agents[number]
        try:
            return ask(agent, observations, action_masks, slot_ids, get_states)
        except Exception as error:
            message = " ".join(str(error).split())
            raise AgentError(
                f"the opponent {shown(agent.name)} raised {type(error).__name__}: {message} (in "
                f"{len(slot_ids)} decisions). Its games cannot continue: call reset()"
            ) from error


def _is_same(known: Spec, spec: Spec) -> bool:
    """Return True if both specs denote the same agent."""
    if isinstance(known, (str, Path)) and isinstance(spec, (str, Path)):
        return type(known) is type(spec) and known == spec
    return known is spec
